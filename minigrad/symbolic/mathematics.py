"""Say what numbers, conditions and NumPy's functions are for one entry: `np.exp` is `sympy.exp`.

Numbers are read as exact ones: 0.1 as 1/10, 2 / 3 as 2/3, whatever binary digits stand for them.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from sympy import And, Eq, Max, Min, Or

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
        value: A real number of Python or NumPy, or a SymPy expression.

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
    if isinstance(value, (int, np.integer, np.bool_)):
        return sympy.Integer(int(value))
    if isinstance(value, (float, np.floating)):
        return _exact_float(value)
    if isinstance(value, sympy.logic.boolalg.Boolean):
        return indicator(value)
    raise TypeError(f"expected a number or a SymPy expression, but got {type(value).__name__}")


@functools.lru_cache(maxsize=200_000)
def _is_exact(expression: Any) -> bool:
    """Tell whether there is no floating-point number in an expression.

    A formula grows out of others that were looked at before, and the same part may stand in it a
    thousand times.
    """
    return not expression.is_Float and all(map(_is_exact, expression.args))


def _exact_float(value: Any) -> sympy.Expr:
    kind = type(value) if type(value) in _DIGITS else np.float64
    number = float(value)
    if not math.isfinite(number):
        return sympy.sympify(number)
    shortest = Decimal(str(kind(number)))
    meant = Fraction(shortest)
    if len(shortest.normalize().as_tuple().digits) > _DIGITS[kind]:
        simple = Fraction(number).limit_denominator(_DENOMINATOR[kind])
        unmistakable = simple.denominator**2 * float(np.spacing(kind(abs(number)))) < 1e-3
        if unmistakable and kind(float(simple)) == kind(number):
            meant = simple
        elif kind is np.float64 and (found := _irrational(number)) is not None:
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


# ---------------------------------------------------------------------- functions


_REVERSED = {sympy.Gt: sympy.Lt, sympy.Ge: sympy.Le, sympy.Lt: sympy.Gt, sympy.Le: sympy.Ge}


def compare(relation: Any, a: Any, b: Any) -> Any:
    """Give the condition that a relation holds, with largest and smallest taken apart.

    `Max(x, y) > 0` says the same as `(x > 0) | (y > 0)`, and `Eq(x, Max(x, y))` as `x >= y`; the
    latter forms SymPy can decide where it knows the signs.
    """
    if relation is sympy.Ne:
        return sympy.Not(compare(Eq, a, b))
    if relation is Eq:
        for one, other in ((a, b), (b, a)):
            if isinstance(other, (Max, Min)) and one in other.args:
                order = sympy.Ge if isinstance(other, Max) else sympy.Le
                return And(*(compare(order, one, each) for each in other.args))
        return Eq(a, b)
    if isinstance(a, (Max, Min)):
        some = isinstance(a, Max) == (relation in (sympy.Gt, sympy.Ge))
        return (Or if some else And)(*(compare(relation, each, b) for each in a.args))
    if isinstance(b, (Max, Min)):
        return compare(_REVERSED[relation], b, a)
    return relation(a, b)


def times(a: Any, b: Any) -> Any:
    """Multiply, and leave 2 (x + y) as it is: SymPy alone would make 2 x + 2 y of it."""
    for number, other in ((a, b), (b, a)):
        if number.is_Rational:
            factor, rest = other.as_coeff_Mul(rational=True)
            if rest.is_Add and number * factor not in (-1, 0, 1):
                return sympy.Mul(number * factor, rest, evaluate=False)
    return a * b


def plus(a: Any, b: Any) -> Any:
    """Add; (x + y) + (x + y) is 2 (x + y), for the same reason."""
    return times(sympy.Integer(2), a) if a == b else a + b


def truncated(a: Any) -> Any:
    """Round toward 0."""
    return sympy.Piecewise((sympy.floor(a), a > 0), (sympy.ceiling(a), True))


def to_even(a: Any) -> Any:
    """Round to the nearest integer, and halves to the even one."""
    half = sympy.Rational(1, 2)
    return sympy.floor(a + half) - indicator(Eq(sympy.Mod(a - half, 2), 0))


def _comparison(relation: Any) -> Callable[[Any, Any], Any]:
    return lambda a, b: indicator(compare(relation, a, b))


def _logic(combine: Any) -> Callable[..., Any]:
    return lambda *values: indicator(combine(*map(condition, values)))


_NAMED_ALIKE = "sqrt exp log sin cos tan sinh cosh tanh sign floor".split()  # noqa: SIM905
_INVERSES = "sin cos tan tan2 sinh cosh tanh".split()  # noqa: SIM905 - in a row they read better

_COMPARISONS = {"equal": Eq, "not_equal": sympy.Ne, "less": sympy.Lt, "less_equal": sympy.Le}
_COMPARISONS |= {"greater": sympy.Gt, "greater_equal": sympy.Ge}
_AND_OR = dict.fromkeys((np.logical_and, np.bitwise_and), _logic(And))
_AND_OR |= dict.fromkeys((np.logical_or, np.bitwise_or), _logic(Or))

# The comparisons and tests give expressions that are 1 or 0.
ENTRYWISE: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): getattr(sympy, name) for name in _NAMED_ALIKE},
    **{getattr(np, f"arc{name}"): getattr(sympy, f"a{name}") for name in _INVERSES},
    np.add: plus,
    np.subtract: operator.sub,
    np.multiply: times,
    np.true_divide: lambda a, b: times(a, 1 / b),
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.square: lambda a: a**2,
    np.reciprocal: lambda a: 1 / a,
    np.exp2: lambda a: 2**a,
    np.expm1: lambda a: sympy.exp(a) - 1,
    np.log1p: lambda a: sympy.log(1 + a),
    np.log2: lambda a: sympy.log(a, 2),
    np.log10: lambda a: sympy.log(a, 10),
    np.absolute: sympy.Abs,
    np.ceil: sympy.ceiling,
    np.trunc: truncated,
    np.rint: to_even,
    np.remainder: sympy.Mod,
    np.fmod: lambda a, b: a - b * truncated(a / b),
    np.floor_divide: lambda a, b: sympy.floor(a / b),
    np.maximum: Max,
    np.minimum: Min,
    np.copysign: lambda a, b: times(sympy.Abs(a), sympy.Piecewise((-1, b < 0), (1, True))),
    **{getattr(np, name): _comparison(relation) for name, relation in _COMPARISONS.items()},
    **_AND_OR,
    np.bitwise_xor: _logic(sympy.Xor),
    **dict.fromkeys((np.logical_not, np.invert), _logic(sympy.Not)),
    np.isnan: lambda a: sympy.Integer(int(a is sympy.nan)),
    np.isinf: lambda a: sympy.Integer(int(a.is_infinite is True)),
    np.isfinite: lambda a: sympy.Integer(int(a.is_finite is not False and a is not sympy.nan)),
}

# Those that can take any number of entries, and do so better at once than two by two.
OF_MANY: dict[Any, Callable[..., Any]] = {
    np.add: sympy.Add,
    np.multiply: sympy.Mul,
    np.maximum: Max,
    np.minimum: Min,
    **_AND_OR,
}


def choose(where: Any, a: Any, b: Any) -> Any:
    """Give `a` where a condition holds, else `b`, as one expression."""
    case = condition(where)
    if case in (True, False):
        return a if case else b
    return a if a == b or _same_sums(a, b) else sympy.Piecewise((a, case), (b, True))


def _same_sums(a: Any, b: Any) -> bool:
    """Tell whether two short sums are one: a + w (b - a) and b - (1 - w) (b - a) are no choice."""
    short = a.is_Add and b.is_Add and len(a.args) == len(b.args) == 2
    return short and sympy.expand(a - b) == 0
