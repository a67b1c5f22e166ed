"""Equal means proved, different means refuted with numbers; else it is undecided, and said so."""

import pytest
import sympy

from minigrad.symbolic import (
    Refuted,
    Undecided,
    equal,
    equality,
    symbols,
    tensor_of,
)

x, y = sympy.symbols("x y", real=True)
p, q = sympy.symbols("p q", positive=True)

EQUAL = [
    ((x + y) ** 2, x**2 + 2 * x * y + y**2),
    (1 / (1 + sympy.exp(-x)), sympy.exp(x) / (1 + sympy.exp(x))),
    (sympy.tanh(x), 2 / (1 + sympy.exp(-2 * x)) - 1),
    (sympy.sin(x) ** 2 + sympy.cos(x) ** 2, 1),
    (sympy.log(p * q), sympy.log(p) + sympy.log(q)),
    (sympy.sqrt(x**2), sympy.Abs(x)),
    (sympy.Max(x, 0), sympy.Piecewise((x, x > 0), (0, True))),
    (sympy.Abs(x), x * sympy.sign(x)),
    (0.5, sympy.Rational(1, 2)),
    (sympy.Max(-1, sympy.Min(1, x)), sympy.Piecewise((-1, x <= -1), (1, x >= 1), (x, True))),
    (sympy.Abs(x * y - 1), sympy.Piecewise((1 - x * y, x * y < 1), (x * y - 1, True))),
    (sympy.Max(x, y), (x + y + sympy.Abs(x - y)) / 2),
    (x * sympy.Min(1, 1 / sympy.Abs(x)), sympy.Max(-1, sympy.Min(1, x))),
]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_proved(a, b):
    assert equal(a, b) is True
    assert equal(b, a) is True


DIFFERENT = [
    (x**2, 2 * x), (sympy.exp(x), 1 + x), (x, sympy.Abs(x)), (sympy.Max(x, y), x),
    (x, sympy.Float(0.1) + x), (p / 3, p * 0.3333), (sympy.sign(x), 1), (1, 2),
    (sympy.log(p), sympy.log(2 * p) - 0.6931471805599),
    (sympy.Max(-1, sympy.Min(1, x)), sympy.Piecewise((-1, x < -1), (1, x > 1), (0, True))),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_refuted(a, b):
    with pytest.raises(Refuted) as refuted:
        equal(a, b)
    point = refuted.value.counterexample
    sides = [sympy.sympify(side).subs(point) for side in (refuted.value.left, refuted.value.right)]
    assert abs((sides[0] - sides[1]).evalf(40)) > 0


ON_AN_EDGE = [
    (sympy.Piecewise((1, x > y), (0, True)), sympy.Piecewise((1, x >= y), (0, True))),
    (sympy.Piecewise((1, x * y > 3), (0, True)), sympy.Piecewise((1, x * y >= 3), (0, True))),
    (sympy.Piecewise((1, sympy.Eq(x, sympy.Rational(12345, 678))), (0, True)), 0),
    (0 ** sympy.Abs(x), 0),
    (-sympy.atan2(-sympy.Abs(x), y), sympy.Abs(sympy.atan2(x, y))),
]


@pytest.mark.parametrize(("a", "b"), ON_AN_EDGE)
def test_what_differs_on_an_edge_alone_is_not_proved(a, b):
    with pytest.raises((Refuted, Undecided)):
        equal(a, b)


def test_undecided_is_neither(monkeypatch):
    monkeypatch.setattr(equality, "_steps", (sympy.expand,))
    with pytest.raises(Undecided, match="undecided whether") as undecided:
        equal(sympy.sin(x) ** 2, 1 - sympy.cos(x) ** 2)
    assert undecided.value.difference != 0
    assert "they agree wherever numbers were tried" in str(undecided.value)


def test_entries_are_named():
    a = symbols("a", (2, 2))
    assert equal(a + 1, [[a[0, 0] + 1, a[0, 1] + 1], [a[1, 0] + 1, a[1, 1] + 1]])
    with pytest.raises(Refuted, match=r"entry \[1, 0\]: a_\{1,0\} is not a_\{0,1\}") as refuted:
        equal(a, tensor_of([[a[0, 0], a[0, 1]], [a[0, 1], a[1, 1]]]))
    assert refuted.value.entry == (1, 0)


def test_shapes_must_fit():
    a = symbols("a", 3)
    with pytest.raises(ValueError, match="shapes"):
        equal(a, symbols("a", 2))
    with pytest.raises(ValueError, match="shapes"):
        equal(symbols("a", (2, 3)), symbols("a", (3, 2)))
    assert equal(a, sympy.Matrix([entry._array.item() for entry in a]))


@pytest.mark.parametrize(
    "assumptions",
    [{"positive": True}, {"negative": True}, {"integer": True}, {"nonzero": True}, {"even": True},
     {"nonnegative": True}, {"rational": True}, {"prime": True}],
)  # fmt: skip
def test_counterexamples_respect_assumptions(assumptions):
    z = sympy.Symbol("z", **assumptions)
    with pytest.raises(Refuted) as refuted:
        equal(z, z + 1)
    value = refuted.value.counterexample[z]
    assert all(getattr(value, f"is_{kind}") is truth for kind, truth in assumptions.items())
