"""Decide part by part whether two expressions are equal: beside their kinks, and on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from minigrad.symbolic.deciding import Verdict, decide, refuted_at
from minigrad.symbolic.evaluation import symbols_in
from minigrad.symbolic.integers import ROUNDED, Integers, is_steady
from minigrad.symbolic.own import own
from minigrad.symbolic.points import Comparison, compare, differ, points
from minigrad.symbolic.regions import (
    EVERYWHERE,
    Region,
    cut,
    cut_at_residues,
    kinks_in,
    one_factor,
    substituted,
)
from minigrad.symbolic.signs import sign_of
from minigrad.symbolic.simplification import numerator

_PARTS = 32  # the most cuts of space
_DEEP = 3  # on the edge of a part there may be kinks again, and so on
_LONGEST_EDGE = 20  # operations in an expression that is solved for a variable
_CASES = (sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.Abs, sympy.Mod, *ROUNDED)
_REAL = sympy.Symbol("r", real=True).assumptions0.keys()


@dataclass
class Outcome:
    """What came of comparing two expressions part by part.

    Attributes:
        verdict: As from `decide`, for all parts; a point has the symbols of the expressions.
        kinks: Expressions at whose zeros space was cut; what is equal there too is not among them.
        on_a_kink: A point on one of those kinks at which the two differ, if one was found.
    """

    verdict: Verdict = None
    kinks: list[Any] = field(default_factory=list)
    on_a_kink: dict[Any, Any] | None = None


def in_cases(*formulas: Any) -> bool:
    """Tell whether there are functions in formulas that have kinks or jumps."""
    return any(formula.has(sympy.Max, sympy.Min, *_CASES) for formula in formulas)


def decide_in_parts(
    left: Any,
    right: Any,
    deep: int = _DEEP,
    on_kinks: bool = True,
    around: Region = EVERYWHERE,
) -> Outcome:
    """Decide whether two expressions are equal, on both sides of each of their kinks.

    Where space is cut at a kink, the expressions are compared at the kink itself as well, with a
    variable replaced by what it is there. As everywhere with formulas, what counts is where both
    have a value.

    Args:
        left: An expression.
        right: An expression.
        deep: How often edges of edges are looked at.
        on_kinks: Whether they are different if they differ on a kink only.
        around: A region in which they are compared.
    """
    outcome = Outcome()
    if left == right:
        return outcome
    outcome.verdict = refuted_at(left, right) if on_kinks else None
    if outcome.verdict is not None:
        return outcome
    integers = Integers()
    read = [integers.read(formula) for formula in (left, right)]
    waiting, cuts = [replace(around, assumed={**around.assumed, **integers.facts})], 0
    while waiting:
        region = waiting.pop()
        sides = [region.enter(formula) for formula in read]
        if sides[0] == sides[1]:
            continue
        rests = cut_at_residues(sides, region) if cuts < _PARTS else None
        if rests is not None:
            cuts += 1
            waiting += rests
            continue
        if not any(side.has(*_CASES) for side in sides) and numerator(sides[0] - sides[1]) == 0:
            continue
        found = [kink for kink in kinks_in(sides) if region.sign(kink) is None]
        if found and cuts < _PARTS:
            cuts += 1
            kink = one_factor(found[0], region)
            if not is_steady(kink):  # of integers alone, where it is 0 is a part of its own
                _note(integers.back(region.original(kink)), outcome.kinks)
            waiting += cut(found[0], region)
            continue
        also = set().union(*(each.free_symbols for each in region.assumed))
        verdict = decide(sides[0], sides[1], region.admits, also)
        if verdict is not None and not isinstance(verdict, dict):
            verdict = None if numerator(region.settle(verdict[0])) == 0 else verdict
            for narrower in substituted(region) if verdict else ():
                if decide(*map(narrower.enter, sides)) is None:
                    verdict = None
        if isinstance(verdict, dict):
            verdict = _in_originals(verdict, region, left, right)
            if not differ(left, right, verdict):  # an integer has its own value at a point
                compared = compare(left, right, around.admits)
                if isinstance(compared, Comparison):
                    verdict = (sides[0] - sides[1], compared)
                else:
                    verdict = compared
        if verdict is not None:
            outcome.verdict = verdict
            return outcome
    met, outcome.kinks = outcome.kinks, []
    for jump in integers.jumps([sympy.Tuple(*integers.symbols())]):
        edge = _jump_edge(jump.lhs)
        there = Outcome(kinks=[jump]) if edge is None else _at(edge, left, right, deep)
        if there.verdict is not None or there.kinks:
            _note(jump.lhs - jump.rhs, outcome.kinks)
            outcome.on_a_kink = outcome.on_a_kink or there.on_a_kink
    for kink in met:
        short = deep > 0 and kink.count_ops() <= _LONGEST_EDGE and not kink.has(*ROUNDED)
        edge = _edge(kink) if short else None
        there = Outcome(kinks=[kink]) if edge is None else _at(edge, left, right, deep)
        if there.verdict is not None or there.kinks:
            outcome.kinks.append(kink)
            outcome.on_a_kink = outcome.on_a_kink or there.on_a_kink
    return outcome


def _note(kink: Any, kinks: list[Any]) -> None:
    """Add an expression to a list, with 1 in front of its first term, unless it is in there."""
    terms = sympy.Add.make_args(sympy.expand(kink))
    first = next((t for t in sympy.Add(*terms).as_ordered_terms("grlex") if not t.is_number), None)
    if first is not None:
        kink = sympy.Add(*(term / first.as_coeff_Mul()[0] for term in terms))
    if kink not in kinks:
        kinks.append(kink)


def _at(edge: dict[Any, Any], left: Any, right: Any, deep: int) -> Outcome:
    """Compare two expressions where a variable has a value; they may have none there."""
    try:
        sides = [formula.subs(edge) for formula in (left, right)]
    except (TypeError, ValueError):
        return Outcome()  # SymPy can't compare what becomes infinite there
    if any(side.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) for side in sides):
        return Outcome()
    outcome = decide_in_parts(sides[0], sides[1], deep - 1)
    point = outcome.verdict if isinstance(outcome.verdict, dict) else outcome.on_a_kink
    if point is not None:
        ((variable, root),) = edge.items()
        whole = {**next(points(root.free_symbols - point.keys()), {}), **point}
        outcome.on_a_kink = {**whole, variable: root.subs(whole)}
    return outcome


def _jump_edge(argument: Any) -> dict[Any, Any] | None:
    """Solve for a symbol where what is rounded is an integer, any at all."""
    whole = own("k", integer=True)
    for variable in sorted(argument.free_symbols, key=str):
        slope = sympy.diff(argument, variable)
        if slope.is_number and variable.assumptions0.keys() <= _REAL:
            return {variable: sympy.expand((whole - argument.subs(variable, 0)) / slope)}
    return None


def _edge(kink: Any) -> dict[Any, Any] | None:
    """Solve for a symbol where an expression is 0, if it has a value there."""
    for variable in sorted(kink.free_symbols, key=str):
        slope = sympy.diff(kink, variable)
        if variable in slope.free_symbols:
            continue
        rest = sympy.expand(kink.subs(variable, 0))
        if not sign_of(slope) and not sign_of(rest):
            continue  # the slope may be 0, and then any value will do
        root = sympy.cancel(-rest / slope)
        if _allowed(root, variable):
            return {variable: root}
    return None


def _allowed(root: Any, variable: Any) -> bool:
    """Tell whether a symbol can have a value, as far as its assumptions go."""
    if variable.assumptions0.keys() <= _REAL and all(s.is_real for s in root.free_symbols):
        return True
    assumed = variable.assumptions0.items()
    return all(getattr(root, f"is_{kind}") is truth for kind, truth in assumed)


def _in_originals(
    point: Mapping[Any, Any], region: Region, left: Any, right: Any
) -> dict[Any, Any]:
    """Write a counterexample in the symbols of the formulas."""
    symbols = sorted(symbols_in([left, right]), key=str)
    values = {symbol: region.place.get(symbol, symbol) for symbol in symbols}
    free = set().union(*(value.free_symbols for value in values.values())) - {*point}
    whole = {**next(points(free), {}), **point}
    return {symbol: value.subs(whole) for symbol, value in values.items()}
