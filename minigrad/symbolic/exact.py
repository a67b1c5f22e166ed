"""Read numbers as exact ones: 0.1 as 1/10, 2 / 3 as 2/3, whatever binary digits stand for them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

# For each type: a decimal of so many digits is taken for what somebody wrote, and a fraction with a
# denominator up to the limit for what somebody computed. Among these no two round to one number.
_DIGITS = {np.float64: 12, np.float32: 5, np.float16: 3}
_DENOMINATOR = {np.float64: 10_000, np.float32: 100, np.float16: 10}
# Roots, multiples of pi and logarithms are recognized by small fractions only, in float64.
_SMALL = 100


def exact(value: Any) -> sympy.Expr:
    """Give a number, or an expression with numbers in it, as an exact SymPy expression.

    A floating-point number becomes its shortest decimal: 0.1 is 1/10. Only where that has more
    than 12 digits (in float32: 5), and a fraction with a denominator of at most 10,000 (100) rounds
    to the same number, it becomes that: 2 / 3 is 2/3. Likewise in float64 the roots, logarithms
    and multiples of pi that somebody computed of small fractions: `math.sqrt(0.5)` is sqrt(2)/2.
    Integers stay as they are; a truth value becomes 1 or 0; a SymPy condition becomes the
    expression that is 1 where it holds, else 0.

    Args:
        value: A Python or NumPy number, a `Fraction`, a `Decimal`, or a SymPy expression.

    Raises:
        TypeError: If it is none of these.

    Example:
        >>> exact(0.1), exact(2 / 3), exact(3)
        (1/10, 2/3, 3)
        >>> exact(0.5**0.5)
        sqrt(2)/2
        >>> exact(0.1 + 0.2)
        7500000000000001/25000000000000000
    """
    if isinstance(value, sympy.Expr):
        if not _is_exact(value):
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


# Parts of formulas that were found to have no floating-point number in them. A formula grows out of
# others that were looked at before, and the same part may stand in it a thousand times.
_exact_parts: set[Any] = set()
_MANY_PARTS = 200_000


def _is_exact(expression: Any) -> bool:
    """Tell whether there is no floating-point number in an expression."""
    if expression in _exact_parts:
        return True
    if len(_exact_parts) > _MANY_PARTS:
        _exact_parts.clear()
    new: set[Any] = set()
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if part in new or part in _exact_parts:
            continue
        if part.is_Float:
            return False
        new.add(part)
        waiting.extend(part.args)
    _exact_parts.update(new)
    return True


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
        elif kind is np.float64:
            found = _irrational(number)
            if found is not None:
                return found
    return sympy.Rational(meant.numerator, meant.denominator)


# what somebody may have computed of a small fraction, and how to get that back
_IRRATIONAL: tuple[tuple[Callable[[Any], Any], Callable[[float], float]], ...] = (
    (sympy.sqrt, lambda number: number**2),
    (lambda r: r * sympy.pi, lambda number: number / math.pi),
    (lambda r: r * sympy.pi / 180, math.degrees),
    (lambda r: r * 180 / sympy.pi, math.radians),
    (lambda r: sympy.sqrt(r / sympy.pi), lambda number: number**2 * math.pi),
    (lambda r: sympy.sqrt(r * sympy.pi), lambda number: number**2 / math.pi),
    (lambda r: r ** sympy.Rational(1, 4), lambda number: number**4),
    (sympy.log, math.exp),
)


@functools.lru_cache(maxsize=4096)
def _irrational(number: float) -> Any:
    """Give the root, logarithm or multiple of pi of a small fraction that rounds to a number."""
    size = abs(number)
    if not 1e-3 < size < 1e2:
        return None
    for make, undo in _IRRATIONAL:
        power = undo(number if make is sympy.log else size)
        simple = Fraction(power).limit_denominator(_SMALL)
        if not 0 < simple < _SMALL or abs(power - simple) > 4e-15 * power:
            continue
        candidate = make(sympy.Rational(simple.numerator, simple.denominator))
        signed = candidate if make is sympy.log or number > 0 else -candidate
        # a root that somebody multiplied with may be off by a unit in the last place
        if not signed.is_Rational and abs(float(signed) - number) <= math.ulp(number):
            return signed
    return None


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
