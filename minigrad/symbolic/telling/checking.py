"""Prove that told gradients are the engine's, and the engine's SymPy's, on all sides of kinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import Refuted, Undecided, decide
from minigrad.symbolic.regions import EVERYWHERE, Region, cut, kinks_in
from minigrad.symbolic.simplification import numerator

_PARTS = 32  # the most parts that space is cut into
TOO_LONG = 1500  # operations in two formulas; SymPy would take minutes for more


@dataclass(frozen=True)
class Checked:
    """What `Derivation.check` proved.

    Attributes:
        steps: For which gradients: the told steps multiply to what the engine gave.
        sympy: For which gradients: the engine gave what `sympy.diff` gives.
        apart_from: Expressions that are 0 where a formula has a kink; there nothing is proved.
        open: What was not proved, and why.
    """

    steps: tuple[str, ...]
    sympy: tuple[str, ...]
    apart_from: tuple[Any, ...] = ()
    open: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = []
        if self.steps:
            told = "the steps multiply to the engine's gradient"
            lines.append(f"proved: {told}, for {_and(self.steps)}")
        if self.sympy:
            lines.append(f"proved: the engine's gradient is sympy.diff's, for {_and(self.sympy)}")
        if self.apart_from:
            lines.append(f"  apart from where {_and(tuple(f'{k} = 0' for k in self.apart_from))}")
        return "\n".join([*lines, *(f"not proved: {each}" for each in self.open)])

    __repr__ = __str__


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def prove_equal(left: Any, right: Any, kinks: list[Any]) -> None:
    """Prove that two arrays of formulas are equal, on both sides of each of their kinks.

    Args:
        left: An array of formulas.
        right: Another one, of its shape.
        kinks: Takes the expressions at whose zeros space was cut.

    Raises:
        Refuted: If they differ somewhere.
        Undecided: If that was neither proved nor refuted.
    """
    first, second = entries(left), entries(right).reshape(np.shape(left))
    for entry in np.ndindex(first.shape):
        place = entry if first.size > 1 else ()
        waiting, parts = [EVERYWHERE], 0
        while waiting:
            region = waiting.pop()
            sides = [region.enter(formula[entry]) for formula in (first, second)]
            if sides[0] == sides[1]:
                continue
            if not any(map(_in_cases, sides)) and numerator(sides[0] - sides[1]) == 0:
                continue
            found = [kink for kink in kinks_in(sides) if not region.sign(kink)]
            if found and parts < _PARTS:
                parts += 1
                original = region.original(found[0])
                original = -original if original.could_extract_minus_sign() else original
                kinks += [] if original in kinks else [original]
                waiting += cut(found[0], region)
                continue
            _settle(place, sides, region, first[entry], second[entry])


def _in_cases(formula: Any) -> bool:
    return bool(formula.has(sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.Abs))


def _settle(
    entry: tuple[int, ...], sides: list[Any], region: Region, left: Any, right: Any
) -> None:
    verdict = decide(sides[0], sides[1], region.admits)
    if isinstance(verdict, dict):
        raise Refuted(entry, left, right, _in_originals(verdict, region, left, right))
    if verdict is not None:
        raise Undecided(entry, left, right, *verdict)


def _in_originals(
    point: Mapping[Any, Any], region: Region, left: Any, right: Any
) -> dict[Any, Any]:
    """Write a counterexample in the symbols of the formulas."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    values = {symbol: region.place.get(symbol, symbol) for symbol in symbols}
    free = set().union(*(value.free_symbols for value in values.values())) - {*point}
    whole = {**dict.fromkeys(free, sympy.Integer(1)), **point}
    return {symbol: value.subs(whole) for symbol, value in values.items()}
