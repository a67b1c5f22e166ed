"""Write the page that tells of every operation whether its rule is proved, by proving it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from _tools import places

PAGE = places.LESSONS / "reference" / "proofs.md"
EVERYWHERE, BY_REGION, UNDECIDED = "proved", "proved region by region", "not decided"
_TOLD = 2  # regions are told in full up to this number

_START = """\
<!-- Written by `python3 lessons/_tools proofs`: change that, not this. -->

# What is proved of minigrad's derivatives

minigrad's book of derivatives has {operations} operations with {rules} rules. Each operation
was run on symbols, forward and backward, from a gradient of symbols, and what came out was compared
with what SymPy gives for the derivative of the forward's formula: exactly, entry by entry, for all
gradients at once. Then the rule itself ran on numbers, at some two hundred points in each case, and
was compared with difference quotients of the forward. [What minigrad has of PyTorch](pytorch.md)
tells about names and behavior.

- **proved**: {everywhere} operations, for all values of the symbols in their domain;
- **proved region by region**: {by_region} operations. They have kinks or jumps, such as relu at 0.
  They are proved in each region around them, and the kinks themselves are left out;
- **not decided**: {undecided}. There is no proof. A check with numbers stands in, and
  the reason is told below.

The domain is where the program can run: where the forward and each of its steps is real and finite.
It was found along the run. Nothing stands there where it is all of space. Borders are left out.

{cases} cases were proved, which tell of these shapes. A proof on small shapes is no proof for all
shapes; `minigrad.symbolic.prove` proves the shapes that you ask for. Shapes are those of the inputs
that have a gradient; where it says positive, they were assumed to be.
"""


HEAD = """| operation | node | cases | shapes | verdict | domain | where, and what else |
|---|---|---:|---|---|---|---|
"""


def row(book: Any, name: str) -> str:
    """Prove all cases of an operation, and write its row of the table.

    Args:
        book: The module with the cases.
        name: The operation.

    Raises:
        AssertionError: If a case is not proved: `Refuted` or `Undecided`.
    """
    prove = import_module("minigrad.symbolic").prove
    cases = book.CASES.get(name, ())
    shapes: dict[str, None] = {}  # as ordered sets
    regions: dict[str, None] = {}
    domains: dict[str, None] = {}
    for case in cases:
        proof = prove(book.function_of(case), *book.made(case))
        given = zip(proof.inputs, proof.assumed, strict=True)
        shapes["·".join(f"{list(shape)} {kind}".strip() for (_, shape), kind in given)] = None
        if proof.domain:
            domains[proof.limits] = None
        if not proof.everywhere:
            regions |= dict.fromkeys(map(str, proof.regions))
    verdict, says = BY_REGION if regions else EVERYWHERE, _some(regions)
    if name in book.RESERVED:
        verdict = UNDECIDED
        says = f"{book.RESERVED[name]}. Instead: gradcheck in tests/operations"
    cells = (name, book.BOOK[name].node.__name__, len(cases), ", ".join(shapes), verdict)
    return f"| {' | '.join(map(str, cells))} | {_some(domains)} | {says} |"


def _some(told: Iterable[str]) -> str:
    """Write the first few of some conditions."""
    listed = list(told)
    more = len(listed) - _TOLD
    where = "; ".join(f"`{each}`" for each in listed[:_TOLD])
    return where + (f" and {more} more" if more > 0 else "")


def told(text: str) -> dict[str, tuple[int, str]]:
    """Read the page: for each operation the number of its cases and the verdict."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 7 and cells[2].isdecimal():
            found[cells[0]] = (int(cells[2]), cells[4])
    return found


def main(check: bool = False, path: Path = PAGE) -> int:
    """Write the page, or compare it with what is there.

    Args:
        check: Write nothing.
        path: Where it is.

    Returns:
        0 where all is well, 1 otherwise: an exit code.
    """
    book = import_module("tests.operations.proofs")
    try:
        table = HEAD + "".join(f"{row(book, name)}\n" for name in sorted(book.BOOK))
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    known = told(table)
    verdicts = Counter(verdict for _, verdict in known.values())
    start = _START.format(
        operations=len(known),
        rules=sum(len(each.rules) for each in book.BOOK.values()),
        everywhere=verdicts[EVERYWHERE],
        by_region=verdicts[BY_REGION],
        undecided=verdicts[UNDECIDED],
        cases=sum(count for count, _ in known.values()),
    )
    text = f"{start}\n{table}"
    if check:
        stored = path.read_text(encoding="utf-8") if path.exists() else None
        print("up to date" if stored == text else f"out of date: {path.name}")
        return int(stored != text)
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"written: {path.name}, {len(known)} operations")
    return 0
