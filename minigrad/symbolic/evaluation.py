"""Compute the numbers that formulas give, in 40 digits, each part that occurs often only once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy

# Rounding errors of forty digits vanish in a double's sixteen, unless nearly all digits cancel.
_DIGITS = 40
_ROUNDS_NOTHING = (sympy.Integer, sympy.Rational)
_BINDING = (sympy.Derivative, sympy.Integral, sympy.Subs, sympy.Sum, sympy.Lambda)


def numbers_of(formulas: Iterable[Any], values: Mapping[Any, Any]) -> list[Any]:
    """Give the number that each formula is, once all its symbols have values.

    Fractions stay exact as long as nothing irrational comes in. A formula that has no value there,
    or no real one, gives what SymPy says: `nan`, or a complex number.

    Args:
        formulas: SymPy expressions.
        values: A SymPy number for each symbol.
    """
    known = dict(values)
    return [_value(formula, known) for formula in formulas]


def symbols_in(formulas: Iterable[Any]) -> set[Any]:
    """Give the symbols in formulas; a part that occurs often is looked at once.

    Example:
        >>> x, y = sympy.symbols("x y")
        >>> sorted(symbols_in([x + 1, x * y]), key=str)
        [x, y]
    """
    seen: set[Any] = set()
    found: set[Any] = set()
    waiting = list(formulas)
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        if part.is_Symbol or isinstance(part, _BINDING):
            found |= part.free_symbols
        else:
            waiting.extend(part.args)
    return found


def _value(part: Any, known: dict[Any, Any]) -> Any:
    found = known.get(part)
    if found is None:
        found = known[part] = _computed(part, known)
    return found


def _computed(part: Any, known: dict[Any, Any]) -> Any:
    if isinstance(part, sympy.Piecewise):
        return _case(part, known)
    if isinstance(part, _BINDING):  # has symbols of its own, which stand for no value
        given = {s: known[s] for s in part.free_symbols}
        return _rounded(part.subs(given, simultaneous=True).doit())
    if not part.args:
        return _rounded(part)
    arguments = [_value(each, known) for each in part.args]
    if isinstance(part, sympy.core.relational.Relational):
        return _relation(part, arguments)
    return _rounded(part.func(*arguments))


def _case(part: Any, known: dict[Any, Any]) -> Any:
    """Compute only the case that holds: the others may have no value here."""
    for value, condition in part.args:
        if _value(condition, known) == True:  # noqa: E712 - SymPy's true
            return _value(value, known)
    return sympy.nan


def _relation(part: Any, sides: list[Any]) -> Any:
    if any(side in (sympy.nan, sympy.zoo) for side in sides):
        return sympy.true if isinstance(part, sympy.Ne) else sympy.false  # as for numbers
    return part.func(*sides)


def _rounded(value: Any) -> Any:
    """Write what is not a fraction with forty digits."""
    if isinstance(value, _ROUNDS_NOTHING) or not isinstance(value, sympy.Expr):
        return value
    if value.is_Float or value.is_infinite or value is sympy.nan:
        return value
    return value.evalf(_DIGITS)
