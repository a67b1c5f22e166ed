"""Write the reference's pages in Markdown: an overview, the differences, a page for each room."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from _tools.reference_demonstrations import Difference, Shown
from _tools.reference_facts import Entry, Room
from _tools.reference_rooms import PAGES, TOPICS, Page
from _tools.reference_scenarios import Use

_MADE = "<!-- Written by `python3 lessons/_tools reference`: change that, not this. -->"


def overview(rooms: dict[str, Room], use: Use, version: str, differences: int) -> str:
    """Write the first page: what the marks mean, how it was made, how much there is.

    Args:
        rooms: what was compared.
        use: what the oracle's scenarios use.
        version: PyTorch's.
        differences: how many entries the list of differences has.
    """
    rows = []
    for page in PAGES:
        for name in page.rooms:
            room = rooms[name]
            counts = _counts(room)
            rows.append(f"| [`{name}`]({page.stem}.md#{_anchor(name)}) | " + " | ".join(counts))
    topics = [
        f"| {topic.title} | {topic.why} | {count} |"
        for topic in TOPICS
        if (count := sum(len(room.left_out.get(topic.title, ())) for room in _all(rooms)))
    ]
    text = _OVERVIEW.format(
        made=_MADE,
        version=version,
        differences=differences,
        scenarios=use.scenarios,
    )
    return "\n".join(
        [
            text,
            "| room | here | called alike | with a difference | not here | left out | only here |",
            "|---|---:|---:|---:|---:|---:|---:|",
            *(f"{row} |" for row in rows),
            "",
            "A class with methods of its own is counted with the room that it is in.",
            "",
            "## Topics that are left out",
            "",
            "PyTorch is far larger than a course about gradients. These topics are out of scope.",
            "Each name that belongs to one of them is listed with its room, folded away.",
            "",
            "| topic | why | names |",
            "|---|---|---:|",
            *topics,
            "",
        ]
    )


_OVERVIEW = """\
{made}

# What minigrad has of PyTorch

minigrad uses PyTorch's names, so that what you learn here holds there. These pages tell how far
that goes: every name that minigrad has, next to PyTorch {version}, and every difference that we
know of.

| page | what it lists |
|---|---|
| [torch](torch.md) | functions, classes, dtypes, random numbers, files |
| [torch.Tensor](tensor.md) | methods, attributes, operators |
| [torch.autograd and torch.func](autograd.md) | graph, custom functions, modes, gradcheck |
| [torch.nn](nn.md) | modules and their hooks, layers, losses, initialization, tools |
| [torch.optim](optim.md) | optimizers, schedules |
| [torch.linalg and torch.special](linalg.md) | matrices; special functions |
| [torch.utils](utils.md) | hook handles, checkpoints, data |
| [Differences](differences.md) | what differs, why, and lines that show it: {differences} entries |
| [Proofs](proofs.md) | which derivatives are proved, on what shapes, in which regions |
| [Why you can trust the numbers](trust.md) | who checks what, how much, and what is not promised |
| [Where the time goes](speed.md) | what operations, nodes and hooks cost, beside PyTorch |
| [Your own model](own_model.md) | a model in PyTorch drawn and played; which hook does what |

## How to read the tables

- **called**: `same` where parameters, their order, their defaults and their kinds agree. Else it
  says what differs. `without` a parameter means that PyTorch has it and minigrad has not; `there`
  means in PyTorch. `not told` means that PyTorch gives no signature to compare with. The cell is
  empty for what is not called.
- **differs**: links to the entries that explain a difference, in how the name is called or in what
  it does.
- **scenarios**: how many of the oracle's {scenarios} scenarios use the name themselves. A scenario
  is a small program that runs on minigrad and on PyTorch, and writes down all that happens: values,
  graphs, hooks, warnings, errors. The two logs have to agree. `0` means that no scenario uses the
  name; other tests may.
- **Not here**: names of PyTorch in the course's scope that minigrad does not have. Using one is an
  error that says so, never a wrong number.
- **Left out**: names that belong to a topic that is out of scope.
- **Only here**: names without an underscore that PyTorch does not have. Code that is to run on
  PyTorch has to do without them.

## How it was made

A program went through both libraries. Which names are public is taken from `__all__`, or, where
there is none, from what a module defines itself. Signatures come from Python where PyTorch is
written in Python. Those of its C++ functions come from the list of ways to call them that PyTorch
prints when they are called wrongly, from the schemas of its operations, and from its documentation.

The list of differences is kept by hand, and checked. The lines of each entry run on both libraries
and have to give different results. A difference in how a name is called that no entry explains is
an error, and so is a scenario that differs and stands in no entry. What no scenario and no
signature shows can still differ: then it is a bug in one of the two, or in this list.

To write the pages again, install PyTorch {version} beside minigrad, and run
`python3 lessons/_tools reference`. With `--check` it writes nothing, and says whether they are up
to date.

## How much there is
"""


def differences_page(shown: Sequence[Shown], found: Iterable[tuple[str, str]], version: str) -> str:
    """Write the list of known differences.

    Args:
        shown: the entries, with what happened on both.
        found: the differences in how names are called.
        version: PyTorch's.
    """
    pairs = list(found)
    parts = [
        _MADE,
        "",
        "# Where minigrad differs from PyTorch",
        "",
        f"Each entry says what differs from PyTorch {version} and why, and shows it by a few lines",
        "that were run on both. Where PyTorch itself crashes, contradicts itself, or leaves the",
        "result to chance, nothing is run: [this file](../../tests/oracle/search/running.py)",
        "says what random programs leave out for that reason. Back to the [overview](pytorch.md).",
        "",
    ]
    for each in shown:
        entry = each.difference
        names = [full for full, said in pairs if entry.explains(full, said)]
        parts += [
            f"## {entry.slug}",  # a link leads here on GitHub and in JupyterLab alike
            "",
            *textwrap.wrap(f"**{entry.title}.** {entry.what} {entry.why}", 100),
            "",
            "```py",
            entry.code.strip(),
            "```",
            "",
            "```text",
            *_labeled("PyTorch", each.there),
            *_labeled("minigrad", each.here),
            "```",
            "",
        ]
        if names:
            unique = list(dict.fromkeys(f"`{name}`" for name in names))
            parts += [
                f"Called differently because of this ({len(unique)}): {', '.join(unique)}.",
                "",
            ]
    return "\n".join(parts)


def room_page(page: Page, rooms: dict[str, Room], differences: Sequence[Difference]) -> str:
    """Write the page of one room, or of several that belong together.

    Args:
        page: which.
        rooms: what was compared.
        differences: the list of known differences.
    """
    parts = [
        _MADE,
        "",
        f"# {page.title}",
        "",
        "What the columns mean is told in the [overview](pytorch.md).",
        "",
    ]
    for name in page.rooms:
        parts += [f"## {name}", ""]
        for room in rooms[name].everything():
            if room.name != name:
                parts += [f"### Members of {room.name}", ""]
            if room.entries:
                parts += [
                    "| name | is a | called | differs | scenarios |",
                    "|---|---|---|---|---:|",
                    *(_row(entry, differences) for entry in room.entries),
                    "",
                ]
            parts += _rest(room)
    return "\n".join(parts)


def _row(entry: Entry, differences: Sequence[Difference]) -> str:
    about = [
        each
        for each in differences
        if each.concerns(entry.full) or any(each.explains(entry.full, s) for s in entry.differs)
    ]
    links = ", ".join(f"[{each.slug}](differences.md#{each.slug})" for each in about)
    called = "; ".join(entry.differs) or ("same" if entry.told else "not told")
    if entry.kind in ("attribute", "operator", "module", "dtype", "value") and not entry.differs:
        called = ""
    cells = (f"`{entry.name}`", entry.kind, called.replace("|", "\\|"), links)
    return f"| {' | '.join(cells)} | {entry.scenarios} |"


def _rest(room: Room) -> list[str]:
    parts = []
    if room.missing:
        parts += [*_folded(f"Not here, of {room.name}", room.missing), ""]
    for topic, names in sorted(room.left_out.items()):
        parts += [*_folded(f"Left out of {room.name}: {topic}", names), ""]
    if room.only_here:
        parts += [*_folded(f"Only here, in {room.name}", room.only_here), ""]
    return parts


def _folded(title: str, names: Sequence[str]) -> list[str]:
    listed = textwrap.wrap(", ".join(f"`{name}`" for name in names), 118)
    return [f"<details><summary>{title} ({len(names)})</summary>", "", *listed, "", "</details>"]


def _labeled(label: str, text: str) -> list[str]:
    first, *others = [
        wrapped
        for line in text.splitlines()
        for wrapped in textwrap.wrap(line, 100, break_on_hyphens=False, break_long_words=False)
        or [""]
    ] or [""]
    return [f"{label + ':':<9} {first}", *(" " * 10 + line for line in others)]


def _counts(room: Room) -> list[str]:
    every = list(room.everything())
    entries = [entry for each in every for entry in each.entries]
    alike = sum(not entry.differs for entry in entries)
    return [
        str(number)
        for number in (
            len(entries),
            alike,
            len(entries) - alike,
            sum(len(each.missing) for each in every),
            sum(len(names) for each in every for names in each.left_out.values()),
            sum(len(each.only_here) for each in every),
        )
    ]


def _all(rooms: dict[str, Room]) -> list[Room]:
    return [each for room in rooms.values() for each in room.everything()]


def _anchor(heading: str) -> str:
    """Give the link to a heading, as GitHub makes it."""
    return "".join(letter for letter in heading.lower() if letter.isalnum() or letter in "-_")
