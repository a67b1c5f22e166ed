"""Find how formulas were made of others: multiplied by a factor, or as a function of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.equality import Refuted, Undecided, equal
from minigrad.symbolic.evaluation import numbers_of, symbols_in
from minigrad.symbolic.own import own
from minigrad.symbolic.points import points

_CASES = (sympy.Piecewise, sympy.Max, sympy.Min, sympy.Heaviside, sympy.sign, sympy.Abs)
_PRECISE = sympy.Float("1e-30")  # of the forty digits that formulas are computed with


# ---------------------------------------------------------------------- factors


def factor_between(before: Any, after: Any) -> Any:
    """Find what entries were multiplied by.

    Args:
        before: An array of expressions.
        after: What was made of it, in the same shape.

    Returns:
        One factor for all entries, or an array with one for each; None if there are none.
    """
    found = []
    for old, new in zip(before.flat, after.flat, strict=True):
        factor = _factor_of(old, new)
        if factor is None:
            return None
        found.append((old, factor))
    told = {factor for old, factor in found if old != 0}
    if len(told) == 1:
        return told.pop()
    return SymbolicArray([factor for _, factor in found]).reshape(before.shape)


def _factor_of(old: Any, new: Any) -> Any:
    if new == 0:
        return sympy.Integer(0)
    if old == 0:
        return None
    inside, ratio = symbols_in([old]), new / old
    if not symbols_in([ratio]) & inside:
        return ratio
    if symbols_in([new]) - inside:  # perhaps it was multiplied by a symbol from elsewhere
        ratio = sympy.cancel(ratio) if is_small(ratio) else ratio
        return None if symbols_in([ratio]) & inside else ratio
    if _parts(new, _CASES) - _parts(old, _CASES):
        return None  # it was cut off somewhere
    tried = (_ratio_at(point, old, new) for point in points(inside))
    ratios = list(islice((ratio for ratio in tried if ratio is not None), 2))
    if len(ratios) < 2 or abs(ratios[0] - ratios[1]) > _PRECISE * abs(ratios[0]):
        return None
    guess = sympy.Rational(ratios[0]).limit_denominator(10**6)
    if abs(guess - ratios[0]) > _PRECISE * abs(guess):
        guess = sympy.nsimplify(ratios[0])
    return guess if _proved(new, guess * old) else None


def _ratio_at(point: Mapping[Any, Any], old: Any, new: Any) -> Any:
    try:
        bottom, top = numbers_of([old, new], point)
    except (TypeError, ValueError, ArithmeticError):
        return None  # there is no value there
    if bottom == 0 or not bottom.is_finite or not top.is_finite:
        return None
    ratio = top / bottom
    ratio = ratio if ratio.is_Rational else ratio.evalf(40, chop=True)  # of complex numbers too
    return ratio if ratio.is_real else None


def _proved(one: Any, other: Any) -> bool:
    if one == other:
        return True
    try:
        return is_small(one) and equal(one, other)
    except (Refuted, Undecided):
        return False


def is_small(formula: Any, parts: int = 300) -> bool:
    """Tell whether a formula has few parts, so that SymPy can be asked to do algebra with it."""
    return sum(1 for _ in islice(sympy.preorder_traversal(formula), parts + 1)) <= parts


def _parts(formula: Any, kinds: Any) -> set[Any]:
    """Give the parts of a formula that are of some kinds; each is looked at once."""
    seen, waiting = {formula}, [formula]
    while waiting:
        new = set(waiting.pop().args) - seen
        seen |= new
        waiting += new
    return {part for part in seen if isinstance(part, kinds)}


def replaced(formulas: Iterable[Any], given: Mapping[Any, Any]) -> list[Any]:
    """Do what `xreplace` does, but with a part that occurs often only once."""
    known = dict(given)

    def found(part: Any) -> Any:
        if part not in known:
            arguments = [found(each) for each in part.args]
            same = all(new is old for new, old in zip(arguments, part.args, strict=True))
            known[part] = part if same else part.func(*arguments)
        return known[part]

    return [found(formula) for formula in formulas]


# ---------------------------------------------------------------------- functions


def function_between(before: Any, after: Any, entry: Any) -> tuple[tuple[Any, ...], Any]:
    """Write what was made of entries as a function of them, if nothing else of theirs is in it.

    Args:
        before: An array of expressions.
        after: What was made of it.
        entry: A symbol; those for several entries are called `g_{0}`, `g_{1}` if it is `g`.

    Returns:
        The symbols for the entries, and the function of these as an array; None if that is not
        known.
    """
    names = [entry.name]
    if before.size != 1:
        names = [f"{entry.name}_{{{','.join(map(str, at))}}}" for at in np.ndindex(before.shape)]
    arguments = tuple(sympy.Symbol(name, real=True) for name in names)
    inside = symbols_in(before.flat)
    pairs = zip(before.flat, arguments, strict=True)
    given = {old: argument for old, argument in pairs if symbols_in([old])}
    function = []
    for place, made in enumerate(after.flat):
        first = before.flat[place] if before.size == after.size else None
        if first in given:  # of equal entries, the one in the same place
            given[first] = arguments[place]
        (written,) = replaced([made], given)
        if symbols_in([written]) & inside:
            written = _solved(made, given)
        if written is None or symbols_in([written]) & inside:
            return arguments, None
        function.append(written)
    return arguments, SymbolicArray(function).reshape(after.shape)


def _solved(made: Any, given: Mapping[Any, Any]) -> Any:
    """Put arguments in where SymPy has merged what they stand for with something else.

    The large parts of the formulas get symbols first, so that there is little to compute with.
    """
    parts = {part: own("d", real=True) for old in given for part in _large_parts(old)}
    powers = {}
    for part, symbol in parts.items():
        for power in _parts(made, sympy.exp) if isinstance(part, sympy.exp) else ():
            times = power.args[0] / part.args[0]
            if times.is_Integer:  # SymPy writes exp(x)**3 as exp(3*x)
                powers[power] = symbol**times
    (written,) = replaced([made], powers | parts)
    for old, argument in zip(replaced(given, parts), given.values(), strict=True):
        written = _put_in(written, old, argument)
    return None if symbols_in([written]) & {*parts.values()} else written


def _large_parts(formula: Any) -> Iterable[Any]:
    """List what is multiplied and added up in a formula, as far as it is more than symbols."""
    for term in sympy.Add.make_args(formula):
        for factor in sympy.Mul.make_args(term):
            whole = factor.is_Pow and factor.exp.is_Integer
            part = factor.base if whole else factor
            if not part.is_Symbol and not part.is_number:
                yield part


def _put_in(formula: Any, old: Any, argument: Any) -> Any:
    """Put an argument in the place of a formula, also where that stands multiplied or shifted."""
    (found,) = replaced([formula], {old: argument})
    if not is_small(found) or not is_small(old):
        return found
    found = found.subs(old, argument)
    left = found.free_symbols & old.free_symbols
    if not left:
        return found
    # solve for a symbol that occurs in it to the first power: then it can be put in exactly
    for symbol in sorted(left, key=str):
        plain = sympy.expand(old)
        if not plain.is_polynomial(symbol) or sympy.degree(plain, symbol) != 1:
            continue
        slope = plain.coeff(symbol, 1)
        solved = (argument - plain.coeff(symbol, 0)) / slope
        tried = sympy.simplify(formula.subs(symbol, solved))
        if not tried.free_symbols & old.free_symbols:
            return tried
    return found
