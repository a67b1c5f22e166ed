"""Know what functions need of their arguments: a logarithm that they are positive, for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import sympy


class Need(NamedTuple):
    """That an expression has a certain sign; else a step gives no real and finite number.

    Attributes:
        of: The expression.
        relation: ">", ">=" or "!=", to be followed by 0.
    """

    of: Any
    relation: str

    @property
    def is_met(self) -> bool:
        """Whether that is plain to see, as for numbers."""
        if self.of.is_Number or self.of.is_Symbol:
            return bool(self.holds(self.of))
        return False

    def holds(self, value: Any) -> bool | None:
        """Tell whether an expression has this sign; None if that is not known."""
        if self.relation == ">":
            return value.is_positive  # type: ignore[no-any-return]
        if self.relation == ">=":
            return value.is_nonnegative  # type: ignore[no-any-return]
        return value.is_nonzero  # type: ignore[no-any-return]

    @property
    def sign(self) -> int | None:
        """Give 1 where the expression has to be positive, apart from borders; else None."""
        return None if self.relation == "!=" else 1


def _divided(a: Any, b: Any) -> Iterable[Need]:
    return (Need(b, "!="),)


def _positive(a: Any) -> Iterable[Need]:
    return (Need(a, ">"),)


def _inside(relation: str) -> Callable[[Any], Iterable[Need]]:
    """Need an argument between -1 and 1."""
    return lambda a: (Need(1 - a, relation), Need(1 + a, relation))


def _power(base: Any, exponent: Any) -> Iterable[Need]:
    """A negative base has integer powers only, and 0 no negative ones."""
    if exponent.is_integer:
        return () if exponent.is_nonnegative else (Need(base, "!="),)
    if exponent.is_number:
        return (Need(base, ">=" if exponent.is_nonnegative else ">"),)
    return (Need(base, ">"),)


# For functions of NumPy, and for minigrad's own that minigrad.symbolic.special adds, what they
# need of an entry of each argument.
NEEDS: dict[Any, Callable[..., Iterable[Need]]] = {
    np.true_divide: _divided,
    np.floor_divide: _divided,
    np.remainder: _divided,
    np.fmod: _divided,
    np.reciprocal: lambda a: (Need(a, "!="),),
    np.power: _power,
    np.float_power: _power,
    np.sqrt: lambda a: (Need(a, ">="),),
    np.log: _positive,
    np.log2: _positive,
    np.log10: _positive,
    np.log1p: lambda a: (Need(1 + a, ">"),),
    np.tan: lambda a: (Need(sympy.cos(a), "!="),),
    np.arcsin: _inside(">="),
    np.arccos: _inside(">="),
    np.arctanh: _inside(">"),
    np.arccosh: lambda a: (Need(a - 1, ">="),),
    np.arctan2: lambda a, b: (Need(a**2 + b**2, "!="),),
}


def reduced(needs: Iterable[Need], sign_of: Callable[[Any], int | None]) -> list[Need]:
    """Say what is needed as simply as possible, and leave out what is so anyway.

    Args:
        needs: What is needed.
        sign_of: Gives the sign of an expression where it is known.

    Returns:
        The needs that are left, `x != 0` for `2*sqrt(x) != 0`; where one can't be met, it is
        among them as it is. A border counts as left out: `>` stands for `>=`.

    Example:
        >>> from minigrad.symbolic.signs import sign_of
        >>> x = sympy.Symbol("x", real=True)
        >>> reduced([Need(x * sympy.exp(x), ">="), Need(1 + x**2, "!="), Need(x**2, ">=")], sign_of)
        [Need(of=x, relation='>')]
    """
    found: dict[Need, None] = {}
    taken_apart: set[Need] = set()
    waiting = sorted(needs, key=lambda need: (sympy.default_sort_key(need.of), need.relation))
    while waiting:
        need = waiting.pop(0)
        sign = sign_of(need.of)
        if need.relation == ">=" and _never_negative(need.of):
            continue
        if sign == 1 or (sign == -1 and need.relation == "!="):
            continue
        parts = None if sign is not None or need in taken_apart else _parts(need, sign_of)
        taken_apart.add(need)
        if parts is None:
            found[Need(need.of, "!=" if need.relation == "!=" else ">")] = None
        else:
            waiting = [*parts, *waiting]
    return [need for need in found if need.relation == ">" or Need(need.of, ">") not in found]


def _never_negative(formula: Any) -> bool:
    if formula.is_nonnegative is None and formula.is_polynomial():
        formula = sympy.factor(formula)
    return bool(formula.is_nonnegative)


def _parts(need: Need, sign_of: Callable[[Any], int | None]) -> list[Need] | None:
    """Say a need by simpler ones; None if there are none."""
    formula, relation = need
    if formula.is_Pow and formula.exp.is_number and formula.exp.is_extended_real:
        even = formula.exp.is_even
        if relation == "!=" or even:
            return [] if even and relation == ">=" else [Need(formula.base, "!=")]
        return [Need(formula.base, ">")]
    if isinstance(formula, sympy.Abs):
        return [] if relation == ">=" else [Need(formula.args[0], "!=")]
    if isinstance(formula, sympy.sign):
        return [Need(formula.args[0], relation)]
    if not formula.is_Mul:
        try:
            factored = sympy.factor(sympy.together(formula))
        except (sympy.PolynomialError, NotImplementedError):
            return None
        if not factored.is_Mul and not factored.is_Pow:
            return None
        formula = factored
        return [Need(formula, relation)]
    if relation == "!=":
        return [Need(factor, "!=") for factor in formula.args]
    signs = [(factor, sign_of(factor)) for factor in formula.args]
    unknown = [factor for factor, sign in signs if sign is None]
    if len(unknown) == len(signs) or 0 in dict(signs).values():
        return None
    minus = sum(sign == -1 for _, sign in signs) % 2
    rest = sympy.Mul(*unknown)
    return [Need(-rest if minus else rest, relation)]
