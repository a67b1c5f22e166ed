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
KINDS = ("equivalent", "speed", "message", "unlikely", "not examined")

TEXT = """\
<!-- Written by `python3 -m tests.figures`: change that, not this. -->

# Why you can trust the numbers

A course about gradients should not ask you to believe it. This page tells who checks minigrad, how
much is checked, and what nobody promises. All figures were counted in the repository by a command;
none was typed. A test sees to it that there is never less.

## PyTorch is the judge of behavior

What PyTorch {torch} does was recorded: **{scenarios} small programs** in {families} families. They
hold values, gradients, second derivatives, hooks and their order, graphs, warnings, errors and
printed forms. The tests run the same programs on minigrad and compare. Where PyTorch is installed,
`python3 tests --all` compares the recordings with it, too, so that a wrong one would be found.

{passes} of these programs run backward. Both libraries write down what such a pass does, event by
event: which node starts, which hook is called with what, what is sent where. In **{equal_passes}**
all events are equal, in their order. The others are listed, each with its first event that differs
and with the reason: mostly PyTorch has one node where minigrad has several. A test fails if one
comes to the list, and if one should leave it.

People think of what they expect. So a command also makes random programs, as many as you like, and
compares the libraries: `python3 tests --search`. They have views, changes in place, hooks that are
added while a pass runs, modules whose hooks replace what comes by, passes that fail in the middle.
A difference is made small and becomes one of the recorded programs.

## SymPy is the judge of mathematics

minigrad's book of derivatives has **{operations} operations with {rules} rules**. A rule is plain
NumPy, so it also runs on symbols, and then it writes a formula. SymPy compares that with the
derivative of the operation itself: {everywhere} operations are proved wherever they can run,
{by_region} region by region, as they have kinks, and {undecided} could not be decided.
[What is proved](proofs.md) lists each with its domain. The same rules are compared with small steps
on numbers. Three routes that share little, and one result.

## A test that cannot fail proves nothing

So mistakes are planted on purpose, to see them found:

- **{wrong_rules} rules doubled**, or with one added where they are 0. The proofs have to refute
  each.
- a bank of **{bank} claims** about derivatives, right and wrong ones, which the proofs have to tell
  apart.
- each of the {rules} rules **off by a thousandth**, once in the gradient and once in the second
  derivative. The check by small steps has to notice.
- **{classics} classic mistakes** in the engine, in hooks and in views.
- **{planted} small changes** in functions, made by a command: another operator, a condition that
  always holds, a statement that is left out. Tests that reach the line run until one fails. This
  takes hours; when it was last done, this came out:

{mutation}

Where fewer were planted than possible, these are an even sample. Each that no test noticed was
looked at, and what it is was written down. *Equivalent* means that the same comes out; *speed*,
that it comes more slowly; *message*, that only the words of an error differ; *unlikely*, that it
takes an interpreter or a moment that tests cannot bring about.

Each run plants and compares all of this but the small changes. The recordings are compared with
PyTorch itself when they are made, on each push, and before a release.

## What must hold of any program

Some things are true whatever a program computes. **{properties} properties** are tried on random
programs: a pass is linear in what comes in; several results give the sum of their gradients;
operations that do not need each other may change places; a hook that returns nothing changes
nothing, to the last bit; a hook that does something gives what a program without hooks gives that
does the same.

And there is a second engine, written as plainly as possible, in {naive} lines that share nothing
with minigrad. A machine makes tensors, adds and removes hooks, changes values in place and runs
passes in any order it likes, on both. Numbers, gradients, the order of hooks, and errors have to
agree. PyTorch is held to the same second engine: that is how we know that it is right.

## Errors

Where hooks, the graph, the engine, views, modes and modules are concerned, an error has PyTorch's
type and begins with PyTorch's words. Elsewhere the tests hold it to PyTorch's type and place; its
words may be our own.

## What comes with it

minigrad itself needs NumPy and nothing else. Whatever the commands install is pinned to exact
versions with hashes: {pins} packages for the tests, fewer for the lessons. Their licenses are
listed, each with the place where it was found. A test watches what importing minigrad touches: it
opens no socket, starts no thread and no process, and writes nothing. Training, saving, loading and
a lesson reach for no network. Nothing in a file that `torch.load` reads is executed.

## What is not promised

- **The same as PyTorch in everything.** [{differences} differences](differences.md) are known. Each
  is listed with its reason and with lines that show it.
- **Proofs for all shapes.** They are for the shapes that the list names. Kinks are left out.
- **That tests find everything.** They find what was planted; nobody has planted every mistake.
- **Speed, and size.** minigrad is for learning and for small models.
  [Where the time goes](speed.md) tells what it costs.

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
    """Say what became of the mutants that `python3 tests --search mutation` planted, in a table."""
    rooms = json.loads((ROOT / "tests" / "recorded" / "mutation.json").read_text(encoding="utf-8"))
    lines = ["| Where | Possible | Planted | Noticed | Not noticed |", "|---|--:|--:|--:|---|"]
    for room, counts in rooms.items():
        reasons = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if kind in counts)
        noticed = 100 * counts["killed"] / counts["planted"]
        told = [WHERE[room], f"{counts['mutants']:,}", f"{counts['planted']:,}"]
        lines.append("| " + " | ".join([*told, f"{noticed:.1f} %", reasons or "none"]) + " |")
    planted = sum(counts["planted"] for counts in rooms.values())
    return {"planted": f"{planted:,}", "mutation": "\n".join(lines)}


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
