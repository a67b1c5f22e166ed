"""A wrong rule is refuted, with the entry, the two formulas, and numbers at which they differ."""

import numpy as np
import pytest

from minigrad.autograd import Function
from minigrad.symbolic import Refuted, prove, symbols
from tests.planting import plant

from .book import ATTEMPTS, BOOK, CASES, called, left, made
from .wrong_rules import WRONG

ALL = [
    pytest.param(kind, wrong, id=f"{kind}-{wrong.operation}-{wrong.argument}-{place}")
    for kind, rows in WRONG.items()
    for place, wrong in enumerate(rows)
]


def leave_out_the_reduction(monkeypatch, name):
    """Give gradients in the shape of the result, whatever the shape of the input."""

    def unreduced(gradient, wanted):
        return gradient

    monkeypatch.setitem(BOOK[name].__globals__, "reduce_gradient", unreduced)
    monkeypatch.setattr("minigrad.core.operation.reduce_gradient", unreduced)


def proved(name, place=0):
    """Prove an operation in one of its cases, which test_book does with the rules as they are."""
    inputs, settings, *_ = CASES[name][place] if name in CASES else ATTEMPTS[name]
    return prove(called(name, settings), *made(inputs), settings=left(settings))


def test_as_many_as_promised():
    assert len(ALL) >= 180
    assert all(len(rows) >= 10 for rows in WRONG.values())
    assert len({wrong.operation for rows in WRONG.values() for wrong in rows}) >= 120


@pytest.mark.examples
@pytest.mark.parametrize(("kind", "wrong"), ALL)
def test_a_planted_wrong_rule_is_refuted(kind, wrong, monkeypatch):
    if wrong.rule is None:
        leave_out_the_reduction(monkeypatch, wrong.operation)
    else:
        plant(monkeypatch, BOOK[wrong.operation], wrong.argument, wrong.rule)
    with pytest.raises(Refuted) as refuted:
        proved(wrong.operation, wrong.case)
    hold_to(refuted.value)


def hold_to(verdict):
    """Put the counterexample in again: the numbers are different, and all is in the message."""
    if verdict.left is None:
        assert "of shape" in str(verdict) or "invalid gradient" in str(verdict)
        return
    first, second = (
        complex(side.subs(verdict.counterexample).doit().evalf(20))
        for side in (verdict.left, verdict.right)
    )
    assert abs(first - second) > 1e-9
    assert [complex(number) for number in verdict.numbers] == pytest.approx([first, second])
    said = str(verdict)
    assert f"{verdict.left} is not {verdict.right}" in said
    assert said.startswith("the gradient of ")
    assert verdict.of in said
    assert f"entry {list(verdict.entry)}" in said if verdict.entry else "entry" not in said
    assert all(f"{symbol} = {value}" in said for symbol, value in verdict.counterexample.items())


# Each takes seconds: its proof cuts the plane in many regions. Others of its kind are left.
LONG = {
    "div_trunc", "safe_softmax",
}  # fmt: skip
PLANTED = {(wrong.operation, wrong.argument) for rows in WRONG.values() for wrong in rows}
OTHERS = {
    name: others
    for name in CASES
    if name not in LONG and (others := [e for e in BOOK[name].rules if (name, e) not in PLANTED])
}


@pytest.mark.examples
@pytest.mark.parametrize("name", OTHERS)
def test_each_other_rule_of_the_book_made_wrong_is_refuted(name, monkeypatch):
    """Doubled, or one more where it is 0: whatever rule it is, the proof would not go through."""
    for argument in OTHERS[name]:
        with monkeypatch.context() as patch:
            plant(patch, BOOK[name], argument, doubled)
            with pytest.raises(Refuted) as refuted:
                proved(name)
            hold_to(refuted.value)


def doubled(right, *_):
    return right * 2 if np.any(np.asarray(right, object) != 0) else right + 1


def test_a_missing_unbroadcast_tells_the_shapes(monkeypatch):
    leave_out_the_reduction(monkeypatch, "add")
    with pytest.raises(Refuted, match=r"gradient of shape \[2\] came for y of shape \[\]") as e:
        prove(BOOK["add"], 2, ())
    assert e.value.of == "the gradient of y"


class _SumOverRows(Function):
    """Its rule spreads the gradient along the wrong axis."""

    @staticmethod
    def forward(ctx, matrix):
        return matrix.sum(0)

    @staticmethod
    def backward(ctx, grad):
        return grad.reshape(2, 1).expand(2, 2)


def test_an_error_that_a_gradient_of_ones_would_not_show():
    matrix = symbols("x", (2, 2), requires_grad=True)
    _SumOverRows.apply(matrix).sum().backward()
    assert matrix.grad.tolist() == [[1, 1], [1, 1]]  # as it should be
    with pytest.raises(Refuted, match=r"entry \[0, 1\]: g_\{0\} is not g_\{1\}"):
        prove(_SumOverRows.apply, matrix)


class _WrongShape(Function):
    """Its rule gives the gradient of a row where that of the matrix is due."""

    @staticmethod
    def forward(ctx, matrix):
        return matrix * 2

    @staticmethod
    def backward(ctx, grad):
        return grad[0] * 2


def test_a_custom_function_with_a_gradient_of_the_wrong_shape_is_refuted():
    with pytest.raises(Refuted, match="invalid gradient"):
        prove(_WrongShape.apply, (2, 3))
