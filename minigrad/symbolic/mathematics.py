"""What each NumPy function means for one entry: `np.exp` is `sympy.exp`, `np.maximum` is `Max`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from sympy import And, Eq, Max, Min, Or

from minigrad.symbolic.exact import condition, indicator

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


# The comparisons and tests give expressions that are 1 or 0.
ENTRYWISE: dict[Any, Callable[..., Any]] = {
    np.add: plus,
    np.subtract: lambda a, b: a - b,
    np.multiply: times,
    np.true_divide: lambda a, b: times(a, 1 / b),
    np.power: lambda a, b: a**b,
    np.float_power: lambda a, b: a**b,
    np.negative: lambda a: -a,
    np.positive: lambda a: a,
    np.square: lambda a: a**2,
    np.reciprocal: lambda a: 1 / a,
    np.sqrt: sympy.sqrt,
    np.exp: sympy.exp,
    np.exp2: lambda a: 2**a,
    np.expm1: lambda a: sympy.exp(a) - 1,
    np.log: sympy.log,
    np.log1p: lambda a: sympy.log(1 + a),
    np.log2: lambda a: sympy.log(a, 2),
    np.log10: lambda a: sympy.log(a, 10),
    np.logaddexp: lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b)),
    np.logaddexp2: lambda a, b: sympy.log(2**a + 2**b, 2),
    np.sin: sympy.sin,
    np.cos: sympy.cos,
    np.tan: sympy.tan,
    np.arcsin: sympy.asin,
    np.arccos: sympy.acos,
    np.arctan: sympy.atan,
    np.arctan2: sympy.atan2,
    np.sinh: sympy.sinh,
    np.cosh: sympy.cosh,
    np.tanh: sympy.tanh,
    np.arcsinh: sympy.asinh,
    np.arccosh: sympy.acosh,
    np.arctanh: sympy.atanh,
    np.hypot: lambda a, b: sympy.sqrt(a**2 + b**2),
    np.absolute: sympy.Abs,
    np.fabs: sympy.Abs,
    np.sign: sympy.sign,
    np.heaviside: lambda a, b: sympy.Piecewise((0, a < 0), (b, Eq(a, 0)), (1, True)),
    np.floor: sympy.floor,
    np.ceil: sympy.ceiling,
    np.trunc: truncated,
    np.rint: to_even,
    np.remainder: sympy.Mod,
    np.fmod: lambda a, b: a - b * truncated(a / b),
    np.floor_divide: lambda a, b: sympy.floor(a / b),
    np.conjugate: sympy.conjugate,
    np.maximum: Max,
    np.minimum: Min,
    np.fmax: Max,
    np.fmin: Min,
    np.copysign: lambda a, b: times(sympy.Abs(a), sympy.Piecewise((-1, b < 0), (1, True))),
    np.equal: _comparison(Eq),
    np.not_equal: _comparison(sympy.Ne),
    np.less: _comparison(sympy.Lt),
    np.less_equal: _comparison(sympy.Le),
    np.greater: _comparison(sympy.Gt),
    np.greater_equal: _comparison(sympy.Ge),
    np.logical_and: _logic(And),
    np.logical_or: _logic(Or),
    np.logical_xor: _logic(sympy.Xor),
    np.logical_not: _logic(sympy.Not),
    np.bitwise_and: _logic(And),
    np.bitwise_or: _logic(Or),
    np.bitwise_xor: _logic(sympy.Xor),
    np.invert: _logic(sympy.Not),
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
    np.logical_and: _logic(And),
    np.logical_or: _logic(Or),
    np.bitwise_and: _logic(And),
    np.bitwise_or: _logic(Or),
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
