"""Tell the sign of a formula from what is assumed of its symbols."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy

from minigrad.symbolic.own import own


@lru_cache(maxsize=20_000)
def sign_of(formula: Any) -> int | None:
    """Give 1, -1 or 0 if the formula has this sign at all values of its symbols, else None.

    Example:
        >>> import sympy
        >>> p = sympy.Symbol("p", positive=True)
        >>> sign_of(-p / (1 + p)), sign_of(1 / (1 + p) - 1), sign_of(p - 1)
        (-1, -1, None)
    """
    if not isinstance(formula, sympy.Expr):
        return None
    formula = _bounds_shown(formula)
    for form in (lambda: formula, lambda: sympy.factor_terms(formula), lambda: _factored(formula)):
        shape = form()
        if shape.is_extended_positive:
            return 1
        if shape.is_extended_negative:
            return -1
        if shape.is_zero:
            return 0
    return None


def _bounds_shown(formula: Any) -> Any:
    """Write error functions so that their bounds are seen: erfc(x) is 2 p/(p + 1) with p > 0."""
    if not formula.has(sympy.erf, sympy.erfc):
        return formula
    found = sorted(formula.atoms(sympy.erf, sympy.erfc), key=sympy.default_sort_key)
    shares = {
        each.args[0]: 2 * p / (p + 1)
        for each in found
        if each.args[0].is_real
        for p in [own("p", positive=True)]
    }
    put = {
        each: shares[each.args[0]] - (1 if isinstance(each, sympy.erf) else 0)
        for each in found
        if each.args[0] in shares
    }
    # erf(x) = 1 - erfc(x): with the sign of its own
    return formula.xreplace({e: -v if isinstance(e, sympy.erf) else v for e, v in put.items()})


def _factored(formula: Any) -> Any:
    if formula.has(sympy.Piecewise, sympy.Max, sympy.Min, sympy.Abs):
        return formula
    try:
        return sympy.factor(sympy.together(formula))
    except (sympy.PolynomialError, NotImplementedError):
        return formula  # it is no quotient of polynomials in anything
