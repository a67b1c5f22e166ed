"""What a gradient of the wrong shape, or one that only ones would not show, is refuted by.

That each rule of the book is refuted if it is made wrong is tested in tests/operations.
"""

import operator

import pytest

from minigrad.autograd import Function
from minigrad.core.operation import registry
from minigrad.symbolic import Refuted, prove, symbols


def custom(forward, backward):
    """Make a function of a matrix with a rule."""

    class Rule(Function):
        @staticmethod
        def forward(ctx, matrix):
            return forward(matrix)

        @staticmethod
        def backward(ctx, grad):
            return backward(grad)

    return Rule.apply


def test_a_missing_unbroadcast_tells_the_shapes(monkeypatch):
    monkeypatch.setitem(registry["add"].__globals__, "reduce_gradient", lambda g, wanted: g)
    monkeypatch.setattr("minigrad.core.operation.reduce_gradient", lambda g, wanted: g)
    with pytest.raises(Refuted, match=r"gradient of shape \[2\] came for y of shape \[\]") as e:
        prove(operator.add, 2, ())
    assert e.value.of == "the gradient of y"


def test_an_error_that_a_gradient_of_ones_would_not_show():
    sums = custom(lambda matrix: matrix.sum(0), lambda grad: grad.reshape(2, 1).expand(2, 2))
    matrix = symbols("x", (2, 2), requires_grad=True)
    sums(matrix).sum().backward()
    assert matrix.grad.tolist() == [[1, 1], [1, 1]]  # as it should be
    with pytest.raises(Refuted, match=r"entry \[0, 1\]: g_\{0\} is not g_\{1\}"):
        prove(sums, matrix)


def test_a_gradient_of_the_wrong_shape_is_refuted():
    with pytest.raises(Refuted, match="invalid gradient"):
        prove(custom(lambda matrix: matrix * 2, lambda grad: grad[0] * 2), (2, 3))
