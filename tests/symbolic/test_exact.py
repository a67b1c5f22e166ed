"""Numbers become the exact ones that were meant."""

import math

import numpy as np
import pytest
import sympy

from minigrad.symbolic.mathematics import condition, exact, indicator


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (0.1, "1/10"), (0.5, "1/2"), (2 / 3, "2/3"), (1 / 7, "1/7"), (-0.3, "-3/10"),
        (0.0, "0"), (3.0, "3"), (1e-5, "1/100000"), (1 / 8192, "1/8192"),
        (0.123456789, "123456789/1000000000"), (1e300, "1" + "0" * 300), (3, "3"), (True, "1"),
        (np.float32(0.1), "1/10"), (np.float32(1 / 3), "1/3"), (np.float32(0.12345), "2469/20000"),
        (123456789.1, "1234567891/10"),
        (np.float16(0.1), "1/10"), (np.int64(7), "7"), (np.bool_(False), "0"),
        (sympy.Float("0.1"), "1/10"),
    ],
)  # fmt: skip
def test_meant(value, meant):
    result = exact(value)
    assert result == sympy.Rational(meant)
    assert result.is_Rational


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (2**0.5, "sqrt(2)"), (-(0.5**0.5), "-sqrt(2)/2"), (1 / 3**0.5, "sqrt(3)/3"),
        (2**-0.25, "2**(3/4)/2"), (math.pi, "pi"), (-2 * math.pi / 3, "-2*pi/3"),
        (math.log(2), "log(2)"), (math.log(0.3), "log(3/10)"),
        (math.sqrt(2 / math.pi), "sqrt(2/pi)"),
        (1 / math.sqrt(2 * math.pi), "sqrt(1/(2*pi))"), (math.sqrt(math.pi), "sqrt(pi)"),
    ],
)  # fmt: skip
def test_roots_logarithms_and_multiples_of_pi(value, meant):
    assert exact(value) == sympy.sympify(meant)
    assert exact(np.float32(value)).is_Rational  # seven digits do not tell


def test_random_numbers_are_taken_for_no_root():
    generator = np.random.default_rng(2)
    assert all(exact(value).is_Rational for value in generator.normal(0, 3, 2000))


def test_every_float_rounds_back():
    generator = np.random.default_rng(0)
    for kind in (np.float64, np.float32):
        for value in kind(np.exp(generator.normal(0, 5, 200)) * generator.choice([-1, 1], 200)):
            assert kind(float(exact(value))) == value


def test_short_decimals_are_read_as_decimals():
    generator = np.random.default_rng(1)
    for digits in range(1, 9):
        text = f"0.{generator.integers(10**digits):0{digits}d}"
        assert exact(float(text)) == sympy.Rational(text)


def test_others():
    x = sympy.Symbol("x", real=True)
    assert exact(0.5 * x) == x / 2
    assert exact(float("inf")) is sympy.oo
    assert exact(-float("inf")) == -sympy.oo
    assert exact(float("nan")) is sympy.nan
    assert exact(x > 0) == indicator(x > 0)
    for wrong in ("x", None, [x]):
        with pytest.raises(TypeError, match="expected a number or a SymPy expression"):
            exact(wrong)


def test_conditions_and_indicators_undo_each_other():
    x = sympy.Symbol("x", real=True)
    assert condition(indicator(x > 1)) == (x > 1)
    assert condition(indicator(x > 1) * indicator(x < 2)) == sympy.And(x > 1, x < 2)
    assert condition(True) == sympy.true
    assert condition(2) == sympy.true
    assert condition(0) == sympy.false
    assert condition(x) == sympy.Ne(x, 0)
    cases = sympy.Piecewise((1, x > 2), (0, x > 1), (3, True))
    for value in (0, sympy.Rational(3, 2), 3):
        assert bool(condition(cases).subs(x, value)) == (cases.subs(x, value) != 0)
