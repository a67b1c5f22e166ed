"""Count what the tests hold minigrad to, and write the page that tells: `python3 -m tests.figures`.

Figures go into `tests/recorded/figures.json`. A test checks that there is at least so much; what is
added later is in the page when it is written again.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "tests" / "recorded" / "figures.json"
PAGE = ROOT / "lessons" / "reference" / "trust.md"
PROOFS = ROOT / "lessons" / "reference" / "proofs.md"
DIFFERENCES = ROOT / "lessons" / "reference" / "differences.md"

# The rooms of `python3 tests --search mutation`, and what survivors are.
WHERE = {
    "heart": "the heart, `minigrad/core`",
    "rules": "the backward rules",
    "module": "`nn.Module` and its hooks",
    "autograd": "what plugs into the heart, `minigrad/autograd`",
}
KINDS = {
    "equivalent": "the result is the same",
    "speed": "only the time differs",
    "message": "only the words of an error differ",
    "unlikely": "it takes an interpreter or a moment that tests can't arrange",
    "not examined": "nobody has looked at it yet",
}

TEXT = """\
<!-- Written by `python3 -m tests.figures`: change that, not this. -->

# Why you can trust the numbers

A course about gradients shouldn't ask you to just believe it. This page tells you how minigrad
is checked and how thoroughly, and what isn't promised. A command counted all figures in the
repository; none was typed. A test makes sure that the numbers never go down.

## PyTorch is the judge of behavior

PyTorch {torch} was recorded on **{scenarios} small programs** in {families} families. The
recordings have values, gradients, second derivatives, hooks and their order, graphs, warnings,
errors and printed forms. The tests run the same programs on minigrad and compare. If PyTorch is
installed, `python3 tests --all` also compares the recordings with it, to find wrong ones.

{passes} of these programs run backward. Both libraries record what such a pass does, event by
event: which node starts, which hook is called with what, what is sent where. In **{equal_passes}**
all events are equal, in the same order. The others are listed, each with the first event that
differs and the reason: mostly PyTorch has one node where minigrad has several. A test fails if
one has to be added to the list, or removed from it.

People test what they expect. So a command also makes random programs, as many as you like, and
compares the libraries: `python3 tests --search`. They have views, in-place changes, hooks that are
added while a pass runs, modules whose hooks replace gradients, passes that fail in the middle.
A difference is reduced and becomes one of the recorded programs.

## SymPy is the judge of mathematics

minigrad's book of derivatives has **{operations} operations with {rules} rules**. A rule is plain
NumPy, so it also runs on symbols, and then it writes a formula. SymPy compares that with the
derivative of the operation itself: {everywhere} operations are proved wherever they can run,
{by_region} region by region, because they have kinks, and {undecided} couldn't be decided.
[What is proved](proofs.md) lists each with its domain. The same rules are compared with small steps
on numbers. Three methods that share little give one result.

## A test that cannot fail proves nothing

So the tests plant mistakes, and these must be found:

- **{wrong_rules} rules doubled**, or with one added where they are 0. The proofs have to refute
  each.
- a bank of **{bank} claims** about derivatives, right and wrong ones, which the proofs have to tell
  apart.
- each of the {rules} rules **off by a thousandth**, once in the gradient and once in the second
  derivative. The check by small steps has to notice.
- **{classics} classic mistakes** in the engine, in hooks and in views.
- **{planted} small changes** in functions, made by a command: another operator, a condition that
  always holds, a statement that is left out. Tests that reach the line run until one fails. This
  takes hours; here are the latest results:

{mutation}

Where fewer were planted than possible, they are an even sample. Somebody examined and classified
each one that no test noticed:

{kinds}

Each run plants and compares all of this except the small changes. The recordings are compared with
PyTorch itself when they are made, on each push, and before a release.

## What must hold of any program

Some things are true for every program. **{properties} properties** are tested on random programs:
a pass is linear in the incoming gradient; several results give the sum of their gradients;
operations that don't need each other can be swapped; rules on numbers, rules on
tensors and small steps agree; the formula that a pass gives on symbols gives the numbers of a pass
on numbers; a hook that returns nothing changes nothing, to the last bit; a hook that does something
gives the same as a program that does this without hooks.

There is also a second engine, written as simply as possible, in {naive} lines that share nothing
with minigrad. A program makes tensors, adds and removes hooks, changes values in place and runs
passes in random order, on both. Numbers, gradients, the order of hooks, and errors have to agree.
PyTorch is compared with the same second engine: that's how we know that the engine is right.

## Errors

An error about hooks, the graph, the engine, views, modes or modules has PyTorch's type and begins
with PyTorch's words. Other errors have PyTorch's type, and the tests check that they happen in the
same place; their words may be our own.

## What comes with it

minigrad itself needs NumPy and nothing else. Everything that the commands install is pinned to
exact versions with hashes: {pins} packages for the tests, fewer for the lessons. Their licenses
are listed, with the place where each was found. A test watches what importing minigrad touches: it
opens no socket, starts no thread and no process, and writes nothing. Training, saving, loading and
a lesson don't use the network. Nothing in a file that `torch.load` reads is executed.

## What is not promised

- **That everything is the same as in PyTorch.** [{differences} differences](differences.md) are
  known. Each is listed with its reason and with lines that show it.
- **Proofs for all shapes.** They hold for the shapes in the list, without the kinks.
- **That tests find everything.** They find what was planted; nobody has planted every mistake.
- **Speed, and size.** minigrad is for learning and for small models.
  [Where the time goes](speed.md) shows what it costs.

If a number looks wrong to you, it may be. Ask PyTorch: change the import, run it again, and tell
us.
"""


def counted() -> dict[str, Any]:
    """Count."""
    sys.path[:0] = [path for path in (str(ROOT / "lessons"),) if path not in sys.path]
    recorded = [
        json.loads(path.read_text(encoding="utf-8"))
        for part in ("oracle", "operations")
        for path in sorted((ROOT / "tests" / part / "recorded").glob("*.json"))
    ]
    proofs = PROOFS.read_text(encoding="utf-8")
    found = {
        name: int(re.search(pattern, proofs)[1])  # type: ignore[index]
        for name, pattern in (
            ("operations", r"(\d+) operations with"),
            ("rules", r"operations with (\d+) rules"),
            ("everywhere", r"- proved: (\d+)"),
            ("by_region", r"region by region: (\d+)"),
            ("undecided", r"not decided: (\d+)"),
        )
    }
    properties = ROOT / "tests" / "properties"
    passes = import_module("tests.oracle.passes")
    proved = import_module("tests.operations.proofs")
    with_passes, equal_passes = passes.figures(passes.stored())
    return {
        "torch": recorded[0]["torch"],
        "scenarios": sum(len(each["scenarios"]) for each in recorded),
        "families": len(recorded),
        "passes": with_passes,
        "equal_passes": equal_passes,
        **found,
        "wrong_rules": sum(len(proved.BOOK[name].rules) for name in proved.CASES),
        "bank": len(import_module("tests.symbolic.test_not_fooled").ROWS),
        "classics": len(import_module("tests.mutation.test_classics").CLASSICS),
        "properties": (properties / "test_properties.py")
        .read_text(encoding="utf-8")
        .count("\ndef test_"),
        "naive": import_module("tests.test_heart").code_lines(properties / "naive.py"),
        "pins": len(import_module("tests.packaging.licenses").locked()),
        "differences": DIFFERENCES.read_text(encoding="utf-8").count("\n## "),
    }


def mutation() -> dict[str, Any]:
    """Report the mutants that `python3 tests --search mutation` planted, in a table."""
    rooms = json.loads((ROOT / "tests" / "recorded" / "mutation.json").read_text(encoding="utf-8"))
    lines = ["| Where | Possible | Planted | Noticed | Not noticed |", "|---|--:|--:|--:|---|"]
    for room, counts in rooms.items():
        reasons = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if kind in counts)
        noticed = 100 * counts["killed"] / counts["planted"]
        told = [WHERE[room], f"{counts['mutants']:,}", f"{counts['planted']:,}"]
        lines.append("| " + " | ".join([*told, f"{noticed:.1f} %", reasons or "none"]) + " |")
    planted = sum(counts["planted"] for counts in rooms.values())
    used = [kind for kind in KINDS if any(kind in counts for counts in rooms.values())]
    kinds = "\n".join(f"- *{kind}*: {KINDS[kind]}." for kind in used)
    return {"planted": f"{planted:,}", "mutation": "\n".join(lines), "kinds": kinds}


def page(figures: dict[str, Any]) -> str:
    """Write the page."""
    told = {name: f"{each:,}" if isinstance(each, int) else each for name, each in figures.items()}
    return TEXT.format(**told, **mutation())


def main() -> int:
    """Write figures and page."""
    figures = counted()
    text = json.dumps(figures, indent=2) + "\n"
    FIGURES.write_text(text, encoding="utf-8", newline="\n")
    PAGE.write_text(page(figures), encoding="utf-8", newline="\n")
    print(text, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
