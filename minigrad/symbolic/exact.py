"""Read numbers as exact ones: 0.1 as 1/10, 2 / 3 as 2/3, whatever binary digits stand for them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

# For each type: a decimal of so many digits is taken for what somebody wrote, and a fraction with a
# denominator up to the limit for what somebody computed. Among these no two round to one number.
_DIGITS = {np.float64: 12, np.float32: 5, np.float16: 3}
_DENOMINATOR = {np.float64: 10_000, np.float32: 100, np.float16: 10}


def exact(value: Any) -> sympy.Expr:
    """Give a number, or an expression with numbers in it, as an exact SymPy expression.

    A floating-point number becomes its shortest decimal: 0.1 is 1/10. Only where that has more
    than 12 digits (in float32: 5), and a fraction with a denominator of at most 10,000 (100) rounds
    to the same number, it becomes that: 2 / 3 is 2/3. Integers stay as they are; a truth value
    becomes 1 or 0; a SymPy condition becomes the expression that is 1 where it holds, else 0.

    Args:
        value: A Python or NumPy number, a `Fraction`, a `Decimal`, or a SymPy expression.

    Raises:
        TypeError: If it is none of these.

    Example:
        >>> exact(0.1), exact(2 / 3), exact(3)
        (1/10, 2/3, 3)
        >>> exact(0.1 + 0.2)
        7500000000000001/25000000000000000
    """
    if isinstance(value, sympy.Expr):
        if value.has(sympy.Float):
            value = value.xreplace({each: exact(float(each)) for each in value.atoms(sympy.Float)})
        return value
    if isinstance(value, (bool, np.bool_)):
        return sympy.Integer(int(value))
    if isinstance(value, (int, np.integer)):
        return sympy.Integer(int(value))
    if isinstance(value, (float, np.floating)):
        return _exact_float(value)
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, Decimal):
        return sympy.Rational(str(value))
    if isinstance(value, (complex, np.complexfloating)):
        return exact(value.real) + sympy.I * exact(value.imag)
    if isinstance(value, sympy.logic.boolalg.Boolean):
        return indicator(value)
    raise TypeError(
        f"expected a number or a SymPy expression, but got {type(value).__name__}. "
        "Entries of a symbolic tensor are numbers or expressions."
    )


def _exact_float(value: Any) -> sympy.Expr:
    kind = type(value) if type(value) in _DIGITS else np.float64
    number = float(value)
    if number != number:
        return sympy.nan
    if number in (float("inf"), -float("inf")):
        return sympy.oo if number > 0 else -sympy.oo
    shortest = Decimal(str(kind(number)))
    meant = Fraction(shortest)
    if len(shortest.normalize().as_tuple().digits) > _DIGITS[kind]:
        simple = Fraction(number).limit_denominator(_DENOMINATOR[kind])
        unmistakable = simple.denominator**2 * float(np.spacing(kind(abs(number)))) < 1e-3
        if unmistakable and kind(float(simple)) == kind(number):
            meant = simple
    return sympy.Rational(meant.numerator, meant.denominator)


def indicator(condition: Any) -> sympy.Expr:
    """Give the expression that is 1 where a condition holds and 0 elsewhere.

    Example:
        >>> import sympy
        >>> x = sympy.Symbol("x", real=True)
        >>> indicator(x > 0)
        Piecewise((1, x > 0), (0, True))
        >>> indicator(x**2 >= 0)
        1
    """
    if condition in (True, False):
        return sympy.Integer(int(bool(condition)))
    return sympy.Piecewise((1, condition), (0, True))


def condition(value: Any) -> Any:
    """Give the condition under which an expression is not 0: undo `indicator`.

    Example:
        >>> import sympy
        >>> x = sympy.Symbol("x", real=True)
        >>> condition(indicator(x > 0) * indicator(x < 1))
        (x > 0) & (x < 1)
    """
    if isinstance(value, (bool, np.bool_)):
        return sympy.true if value else sympy.false
    value = exact(value)
    if isinstance(value, sympy.Mul):
        return sympy.And(*map(condition, value.args))
    if isinstance(value, sympy.Piecewise) and value.args[-1][1] == True:  # noqa: E712 - SymPy's true
        alternatives, before = [], sympy.false
        for result, case in value.args:
            alternatives.append(sympy.And(condition(result), case, sympy.Not(before)))
            before = sympy.Or(before, case)
        return sympy.Or(*alternatives)
    return sympy.Ne(value, 0)
