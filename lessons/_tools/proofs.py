"""Write into a page, for every operation, whether its rule is proved, by proving it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from _tools import pictures, places

PAGE = places.LESSONS / "reference" / "proofs.md"
EVERYWHERE, BY_REGION, UNDECIDED = "proved", "proved region by region", "not decided"
_TOLD = 2  # regions are listed in full up to this number
_HEAD = """| operation | node | cases | shapes | verdict | domain | where, and what else |
|---|---|---:|---|---|---|---|"""


def row(book: Any, name: str) -> tuple[str, ...]:
    """Prove all cases of an operation, and give its row of the table.

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
    node, shown = book.BOOK[name].node.__name__, ", ".join(shapes)
    return name, node, str(len(cases)), shown, verdict, _some(domains), says


def _some(told: Iterable[str]) -> str:
    """Write the first few of some conditions."""
    listed = list(told)
    more = len(listed) - _TOLD
    where = "; ".join(f"`{each}`" for each in listed[:_TOLD])
    return where + (f" and {more} more" if more > 0 else "")


def main(check: bool = False, path: Path = PAGE) -> int:
    """Write the table into the page, or compare it with what is there.

    Args:
        check: Write nothing.
        path: Where it is.

    Returns:
        0 where all is well, 1 otherwise: an exit code.
    """
    book = import_module("tests.operations.proofs")
    try:
        rows = [row(book, name) for name in sorted(book.BOOK)]
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    rules = sum(len(each.rules) for each in book.BOOK.values())
    cases = sum(int(each[2]) for each in rows)
    verdicts = Counter(each[4] for each in rows)
    counts = [f"- {verdict}: {verdicts[verdict]}" for verdict in (EVERYWHERE, BY_REGION, UNDECIDED)]
    told = f"\n{len(rows)} operations with {rules} rules, proved in {cases} cases:\n"
    lines = [f"| {' | '.join(each)} |" for each in rows]
    return pictures.put(path, "\n".join([told, *counts, "", _HEAD, *lines, "", ""]), check)
