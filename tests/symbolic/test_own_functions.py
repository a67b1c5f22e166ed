"""Symbols answer what NumPy has no function for, and LAPACK's functions: no rule has to ask."""

import numpy as np
import pytest
import sympy

import minigrad as torch
from minigrad.autograd.rules import overridable
from minigrad.nn import functional as F
from minigrad.symbolic import equal, expression, prove, symbols
from minigrad.symbolic.mathematics import exact

X, Y = sympy.symbols("x y", real=True)


@overridable
def doubled(array, times):
    return array * 2 * times


class Answering(np.ndarray):
    def __array_function__(self, function, types, arguments, options):
        return function, types, arguments[1:], options


def test_numbers_are_computed_and_others_are_asked():
    assert doubled(np.ones(2), 3).tolist() == [6, 6]
    assert doubled(np.float32(1), 3) == 6
    assert doubled(np.ones(2).view(Answering), 3) == (doubled, (Answering,), (3,), {})
    indifferent = type("Indifferent", (np.ndarray,), {})
    assert doubled(np.ones(2).view(indifferent), 3).tolist() == [6, 6]
    with pytest.raises(TypeError, match=r"^NumPy's doubled is not known for arrays of symbols"):
        doubled(symbols("x", 2)._array, 3)


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        (torch.deg2rad, sympy.pi * X / 180),
        (torch.rad2deg, 180 * X / sympy.pi),
    ],
)
def test_formulas_are_exact(function, formula):
    x = symbols("x", (), requires_grad=True)
    result = function(x)
    assert equal(result, formula)
    (slope,) = torch.autograd.grad(result, x)
    assert equal(slope, sympy.diff(formula, X))


def test_a_choice_between_equals_is_none():
    formula = expression(torch.lerp(symbols("x"), symbols("y"), symbols("w")))
    assert not formula.has(sympy.Piecewise)


def test_degrees_are_recognized_and_nothing_near_them():
    assert exact(np.pi / 180) == sympy.pi / 180
    assert exact(180 / np.pi) == 180 / sympy.pi
    assert exact(np.pi / 180 * (1 + 1e-14)).is_Rational


def test_logarithms_of_determinants_are_proved():
    m = symbols("m", (2, 2), requires_grad=True)
    a, b, c, d = m._array.flat
    assert expression(torch.det(m).abs().log()) == sympy.log(sympy.Abs(a * d - b * c))
    assert prove(lambda m: torch.det(m).abs().log(), m)


def test_the_largest_of_a_window_can_be_differentiated_twice():
    x = symbols("x", (1, 1, 2), positive=True).cumsum(2).requires_grad_()
    second = x._array.flat[1]
    loss = (F.max_pool2d(x, (1, 2)) ** 3).sum()
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope[0, 0, 1], x)
    assert slope._array.tolist() == [[[0, 3 * second**2]]]
    assert equal(curvature, [[[0, 6 * second]]])
    with pytest.raises(TypeError, match=r"argmax has to know which is larger"):
        F.max_pool2d(symbols("x", (1, 1, 2)), (1, 2))
