"""Tell the signs of formulas, and which signs the steps of a computation need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy


class OwnSymbol(sympy.Dummy):
    """A symbol that is equal to no other, also to none of its name; it prints like its name."""

    __slots__ = ()

    def _sympystr(self, printer: Any) -> str:
        return str(self.name)


def own(name: str, **assumptions: bool) -> Any:
    """Make a symbol that is equal to no other.

    Example:
        >>> own("g"), own("g") == own("g"), own("g") == sympy.Symbol("g")
        (g, False, False)
    """
    return OwnSymbol(name, **assumptions)


@lru_cache(maxsize=20_000)
def sign_of(formula: Any) -> int | None:
    """Give 1, -1 or 0 if the formula has this sign at all values of its symbols, else None.

    Example:
        >>> import sympy
        >>> p = sympy.Symbol("p", positive=True)
        >>> sign_of(-p / (1 + p)), sign_of(1 / (1 + p) - 1), sign_of(p - 1)
        (-1, -1, None)
    """
    bent = formula.has(sympy.Piecewise, sympy.Max, sympy.Min, sympy.Abs)
    for write in (lambda e: e, sympy.factor_terms, (lambda e: e) if bent else factored):
        shape = write(formula)
        if shape.is_extended_positive:
            return 1
        if shape.is_extended_negative:
            return -1
        if shape.is_zero:
            return 0
    return None


def factored(formula: Any) -> Any:
    """Write a formula as a product, if it is a quotient of polynomials in anything."""
    try:
        return sympy.factor(sympy.together(formula))
    except (sympy.PolynomialError, NotImplementedError):
        return formula


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
        return bool((self.of.is_Number or self.of.is_Symbol) and self.holds(self.of))

    def holds(self, value: Any) -> bool | None:
        """Tell whether an expression has this sign; None if that is not known."""
        facts = {">": "is_positive", ">=": "is_nonnegative", "!=": "is_nonzero"}
        return getattr(value, facts[self.relation])

    @property
    def sign(self) -> int | None:
        """Give 1 where the expression has to be positive, apart from borders; else None."""
        return None if self.relation == "!=" else 1


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
    **dict.fromkeys(
        (np.true_divide, np.floor_divide, np.remainder, np.fmod), lambda a, b: (Need(b, "!="),)
    ),
    np.reciprocal: lambda a: (Need(a, "!="),),
    **dict.fromkeys((np.power, np.float_power), _power),
    np.sqrt: lambda a: (Need(a, ">="),),
    **dict.fromkeys((np.log, np.log2, np.log10), lambda a: (Need(a, ">"),)),
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
        product = factored(formula)
        return [Need(product, relation)] if product.is_Mul or product.is_Pow else None
    if relation == "!=":
        return [Need(factor, "!=") for factor in formula.args]
    signs = [(factor, sign_of(factor)) for factor in formula.args]
    unknown = [factor for factor, sign in signs if sign is None]
    if len(unknown) == len(signs) or 0 in dict(signs).values():
        return None
    minus = sum(sign == -1 for _, sign in signs) % 2
    rest = sympy.Mul(*unknown)
    return [Need(-rest if minus else rest, relation)]
