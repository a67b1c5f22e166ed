"""Every rule in the book of derivatives is proved: its gradient is SymPy's derivative, exactly.

The gradient of the result is a symbol for each entry, so a proof holds for all gradients at once.
Operations with kinks are proved in each region around the kinks. While it is proved, each program
also runs on numbers, and is compared with its own formula.
"""

from __future__ import annotations

import numpy as np
import pytest

from _tools import proofs
from minigrad.symbolic import Refuted, prove, prover
from tests.planting import plant

from .proofs import BOOK, CASES, RESERVED, function_of, made

pytestmark = pytest.mark.filterwarnings("ignore:Using a target size")  # of a loss that broadcasts
AGAIN = "write the page again: python3 lessons/_tools proofs"
ALL = [(f"{name}-{k}", row) for name, rows in CASES.items() for k, row in enumerate(rows)]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in proofs.PAGE.read_text(encoding="utf-8").splitlines()
    if " | " in line
]
TOLD = {row[0]: (int(row[2]), row[4]) for row in ROWS if row[2].isdecimal()}


@pytest.fixture(autouse=True)
def _fewer_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run at a third of the points: here formulas prove, and gradcheck runs, too."""
    monkeypatch.setattr(prover, "_POINTS", 60)


@pytest.mark.parametrize("row", [row for _, row in ALL], ids=[name for name, _ in ALL])
def test_rule_is_the_derivative(row) -> None:
    proof = prove(function_of(row), *made(row))
    assert len(proof.gradients) == len(row.shapes)
    assert proof.everywhere or TOLD[row.name][1] == proofs.BY_REGION


def test_every_operation_of_the_book_is_proved_or_the_reason_is_named() -> None:
    """And the page tells of each what the table says."""
    assert set(CASES) | set(RESERVED) == set(BOOK)
    assert all(RESERVED.values())
    assert list(TOLD) == sorted(BOOK), AGAIN
    for name, (count, verdict) in TOLD.items():
        assert count == len(CASES.get(name, ())), f"{name}: {AGAIN}"
        assert (verdict == proofs.UNDECIDED) == (name in RESERVED), f"{name}: {AGAIN}"
    text = proofs.PAGE.read_text(encoding="utf-8")
    assert all(reason in text for reason in RESERVED.values()), AGAIN


def doubled(right, *_):
    return right * 2 if np.any(np.asarray(right, object) != 0) else right + 1


@pytest.mark.parametrize("name", CASES)
def test_each_rule_made_wrong_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubled, or one more where it is 0; the counterexample is put in again, and it is one."""
    row = CASES[name][0]
    for argument in BOOK[name].rules:
        with monkeypatch.context() as patch:
            plant(patch, BOOK[name], argument, doubled)
            with pytest.raises(Refuted) as refuted:
                prove(function_of(row), *made(row))
            verdict = refuted.value
            first, second = (
                complex(side.subs(verdict.counterexample).doit().evalf(20))
                for side in (verdict.left, verdict.right)
            )
            assert abs(first - second) > 1e-9
            assert [complex(number) for number in verdict.numbers] == pytest.approx([first, second])
            assert f"{verdict.left} is not {verdict.right}" in str(verdict)
