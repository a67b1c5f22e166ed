"""A wrong rule is refuted, with the entry, the two formulas, and numbers at which they differ."""

import numpy as np
import pytest

from minigrad.autograd import Function
from minigrad.symbolic import Refuted, prove, symbols

from .book import BOOK, called, made
from .regions import broadcast, on_both_sides, pair, vector, x

square = [("x", 2, 2)]


# what is wrong: (operation, what takes the rule's place, inputs, settings, regions)
WRONG = {
    "sign": ("sub", lambda rule, grad: (grad, grad), pair, ()),
    "factor": ("mul", lambda rule, grad: [2 * g for g in rule(grad)], broadcast, ()),
    "missing term": ("tanh", lambda rule, grad: (grad,), vector, ()),
    "inputs exchanged": ("div", lambda rule, grad: rule(grad)[::-1], [("x", 2), ("y", 2)], ()),
    "transposed": ("t", lambda rule, grad: (grad,), square, ()),
    "wrong axis": ("flip", lambda rule, grad: (np.flip(grad, 0),), square, ((1,),)),
    "an entry left out": (
        "sum_all", lambda rule, grad: (rule(grad)[0] * np.array([1, 0]),), vector, (),
    ),
    "forgotten count": ("mean_all", lambda rule, grad: (rule(grad)[0] * 2,), vector, ()),
    "other side of the kink": (
        "relu", lambda rule, grad: (grad - rule(grad)[0],), vector, (), on_both_sides(x(0), x(1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_planted_wrong_rule_is_refuted(kind, monkeypatch):
    name, wrong, inputs, settings, *regions = WRONG[kind]
    node, regions = BOOK[name].node, regions[0] if regions else ({},)
    prove(called(name, settings), *made(inputs), regions=regions)
    run = node._run
    monkeypatch.setattr(
        node, "_run", lambda node, grad: wrong(lambda gradient: run(node, gradient), grad)
    )
    with pytest.raises(Refuted) as refuted:
        prove(called(name, settings), *made(inputs), regions=regions)
    verdict = refuted.value
    at = [float(side.subs(verdict.counterexample)) for side in (verdict.left, verdict.right)]
    assert at[0] != at[1]
    assert f"{verdict.left} is not {verdict.right}" in str(verdict)


def test_a_missing_unbroadcast_is_found(monkeypatch):
    def run(node, grad):
        node._broadcast = None
        return (grad, grad)

    monkeypatch.setattr(BOOK["add"].node, "_run", run)
    with pytest.raises(ValueError, match="gradient of shape"):
        prove(BOOK["add"], *made(broadcast))


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


def test_prove_needs_something_to_differentiate():
    with pytest.raises(ValueError, match="requires a gradient"):
        prove(lambda x: x * 2, symbols("x"))
