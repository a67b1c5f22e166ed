"""Write the page that tells of every operation whether its rule is proved, by proving it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Row:
    """What is known of one operation.

    Attributes:
        name: The operation's name in the book.
        node: The name of its nodes in the graph.
        rules: How many rules it has.
        cases: How many cases were proved.
        shapes: The shapes of their inputs.
        regions: The regions in which they were proved; none if everywhere.
        domains: Where the program can run, for each case in which that is not everywhere.
        verdict: Whether it is proved.
        says: What else is to be said.
    """

    name: str
    node: str
    rules: int
    cases: int
    shapes: tuple[str, ...]
    regions: tuple[str, ...]
    domains: tuple[str, ...]
    verdict: str
    says: str = ""

    def line(self) -> str:
        """Give the row of the table."""
        says = "; ".join(filter(None, [_some(self.regions), self.says]))
        cells = (self.name, self.node, self.cases, ", ".join(self.shapes), self.verdict)
        return f"| {' | '.join(map(str, cells))} | {_some(self.domains)} | {says} |"


def _some(told: tuple[str, ...]) -> str:
    """Write the first few of some conditions."""
    where = "; ".join(f"`{each}`" for each in told[:_TOLD])
    more = len(told) - _TOLD
    return where + (f" and {more} more" if more > 0 else "")


def tables() -> Any:
    """Give the module with the cases of the suite."""
    if str(places.ROOT) not in sys.path:
        sys.path.insert(0, str(places.ROOT))
    return import_module("tests.operations.proofs")


def row_of(book: Any, name: str) -> Row:
    """Prove all cases of an operation.

    Args:
        book: The module with the cases.
        name: The operation.

    Raises:
        AssertionError: If a case is not proved: `Refuted` or `Undecided`.
    """
    symbolic = import_module("minigrad.symbolic")
    operation = book.BOOK[name]
    node, rules = operation.node.__name__, len(operation.rules)
    if name in book.RESERVED:
        said = f"{book.RESERVED[name]}. In its place: gradcheck in tests/operations"
        return Row(name, node, rules, 0, (), (), (), UNDECIDED, said)
    shapes: dict[str, None] = {}
    regions: dict[str, None] = {}
    domains: dict[str, None] = {}
    for case in book.CASES[name]:
        proof = symbolic.prove(book.function_of(case), *book.made(case))
        given = zip(proof.inputs, proof.assumed, strict=True)
        shapes["·".join(f"{list(shape)} {kind}".strip() for (_, shape), kind in given)] = None
        if proof.domain:
            domains[proof.limits] = None
        if not proof.everywhere:
            regions |= dict.fromkeys(map(str, proof.regions))
    verdict = BY_REGION if regions else EVERYWHERE
    return Row(
        name, node, rules, len(book.CASES[name]), tuple(shapes), tuple(regions), tuple(domains),
        verdict,
    )  # fmt: skip


def page(rows: Iterable[Row]) -> str:
    """Write the page."""
    listed = sorted(rows, key=lambda row: row.name)
    counted = {
        v: sum(row.verdict == v for row in listed) for v in (EVERYWHERE, BY_REGION, UNDECIDED)
    }
    start = _START.format(
        operations=len(listed),
        rules=sum(row.rules for row in listed),
        everywhere=counted[EVERYWHERE],
        by_region=counted[BY_REGION],
        undecided=counted[UNDECIDED],
        cases=sum(row.cases for row in listed),
    )
    head = ["| operation | node | cases | shapes | verdict | domain | where, and what else |"]
    head += ["|---|---|---:|---|---|---|---|"]
    return "\n".join([start, *head, *(row.line() for row in listed)]) + "\n"


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
    book = tables()
    rows = []
    for name in sorted(book.BOOK):
        try:
            rows.append(row_of(book, name))
        except AssertionError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    text = page(rows)
    if check:
        stored = path.read_text(encoding="utf-8") if path.exists() else None
        print("up to date" if stored == text else f"out of date: {path.name}")
        return int(stored != text)
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"written: {path.name}, {len(rows)} operations")
    return 0
