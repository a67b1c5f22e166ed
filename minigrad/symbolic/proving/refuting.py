"""Refute a rule by a counterexample: a point at which it was run, and told as formulas do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import Refuted
from minigrad.symbolic.points import points
from minigrad.symbolic.proving.borrowing import Names
from minigrad.symbolic.proving.leaves import Leaf
from minigrad.symbolic.proving.running import Claim, Run
from minigrad.symbolic.proving.witness import Outcome, Record, Witnessing, is_far
from minigrad.symbolic.regions import Region

_ROUNDED = 1e-3  # what a run is off by where formulas agree may come of rounding up to here
_SMALL = 1 / 2048  # numbers below that are not read easily
_TRIES = 12  # points at which symbols that no formula has get numbers


class Refuting:
    """Looks for a counterexample, and says it only if the run at that point shows it.

    Args:
        witnessing: Runs the rule.
        names: How symbols are shown.
        back: Puts back what stands for rounded things in a formula.
        runs: The runs on symbols.
        cotangents: For each output the symbols of its gradient.
    """

    def __init__(
        self,
        witnessing: Witnessing,
        names: Names,
        back: Callable[[Any], Any],
        runs: Sequence[Run],
        cotangents: Sequence[Any],
    ) -> None:
        self._witnessing, self._names, self._back = witnessing, names, back
        self._runs, self._cotangents = runs, cotangents

    def confirm(self, leaf: Leaf) -> None:
        """Run at a point at which the formulas differ; say so only if the runs do.

        Raises:
            Refuted: If they do.
        """
        claim, region = leaf.claim, leaf.region
        assert isinstance(leaf.verdict, dict)
        point = self._in_originals(leaf.verdict, region)
        if point is None:
            return
        symbols = self._witnessing.symbols
        missing = [each for each in symbols if each not in point]
        generator = np.random.default_rng(3)
        for _ in range(_TRIES if missing else 1):
            values = {each: float(value) for each, value in point.items()}
            for symbol in missing:
                drawn = next(iter(points({symbol})), {}).get(symbol, 1)
                near = float(generator.integers(-128, 129)) / 64
                fits = not (symbol.is_nonnegative or symbol.is_nonpositive or symbol.is_integer)
                values[symbol] = (
                    near if fits else abs(near) + 0.5 if symbol.is_positive else float(drawn)
                )
            self.at(values, claim, point)

    def _in_originals(self, point: dict[Any, Any], region: Region) -> dict[Any, Any] | None:
        """Write a point in the symbols that the program is run with."""
        values: dict[Any, Any] = {}
        for symbol in self._witnessing.symbols:
            value = region.place.get(symbol, symbol)
            if value.free_symbols - point.keys():
                if symbol in point or symbol in region.place:
                    spare = next(points(value.free_symbols - point.keys()), {})
                    values[symbol] = value.subs({**spare, **point})
                continue
            values[symbol] = value.subs(point)
        fits = all(each.is_number and each.is_finite and each.is_real for each in values.values())
        return values if fits else None

    def at(self, values: dict[Any, float], claim: Claim | None, exact: Any = None) -> bool:
        """Refute a claim, or any one, at a point, if the run there does.

        Raises:
            Refuted: If the rule gives something else there than the slope of the forward.
        """
        wrong = [
            (place, entry, got, slope)
            for place, entry, got, slope, differs in self._witnessing.entries_at(values)
            if differs and (claim is None or (claim.place, claim.entry) == (place, entry))
        ]
        if not wrong:
            return False
        for place, entry, got, slope in wrong:
            said = self._refuted(place, entry, values, exact, (got, slope))
            if said is not None:
                raise said
        return False

    def _refuted(
        self, place: int, entry: Any, values: dict[Any, float], exact: Any, ran: Any
    ) -> Refuted | None:
        """Tell a counterexample; None if it may be one of rounding only."""
        claim = self.claim_at(place, entry, values)
        original = claim.region.original
        found, due = (
            self._names.show(self._back(original(each)))
            for each in (claim.claim.found, claim.claim.due)
        )
        numbers = {
            self._names.show(symbol): (exact or {}).get(symbol, written(value))
            for symbol, value in values.items()
        }
        told = found.free_symbols | due.free_symbols
        symbols = sorted(numbers, key=str)
        if len(symbols) > 8:
            told |= {self._names.show(s) for s in (exact or {})}
            symbols = [each for each in symbols if each in told] or symbols
        else:
            symbols = [s for s in symbols if s in told or not self._spare(s, found, due)]
        at = {symbol: numbers[symbol] for symbol in symbols}
        of = f"the gradient of {self._names.label(place)}"
        sides = [_value(each, numbers) for each in (found, due)]
        told_by_formulas = all(
            abs(side - number) <= 1e-6 * (1 + abs(number))
            for side, number in zip(sides, ran, strict=True)
        )
        if told_by_formulas and abs(sides[0] - sides[1]) > 0:
            return Refuted(entry, found, due, at, of, claim.claim.note)
        if np.isfinite(ran[0]) and abs(ran[0] - ran[1]) <= _ROUNDED * max(1.0, *map(abs, ran)):
            return None
        return Refuted(entry, found, due, at, of, claim.claim.note, ran)

    def _spare(self, symbol: Any, *formulas: Any) -> bool:
        """Tell whether a symbol of a gradient is in no formula: then any number will do."""
        gradients = {self._names.show(s) for each in self._cotangents for s in entries(each).flat}
        return symbol in gradients

    def claim_at(self, place: int, entry: Any, values: dict[Any, float]) -> Heard:
        """Find the claim of an entry in the run whose region has a point."""
        best: Heard | None = None
        for run in self._runs:
            for claim in run.claims:
                if (claim.place, claim.entry) != (place, entry):
                    continue
                here = all(_truth(self._back(each), values) for each in run.region.conditions)
                best = Heard(claim, run.region) if here or best is None else best
        assert best is not None
        return best

    def by_runs(self, record: Record) -> None:
        """Refute the rule if the runs did so at some point.

        Raises:
            Refuted: If so.
        """
        rows = record.points.rows
        simple = sorted(np.flatnonzero(record.where(Outcome.DIFFERS)),
                        key=lambda k: (_complexity(rows[k]), k))  # fmt: skip
        for place in simple[: 4 * _TRIES]:
            values = self._witnessing.values(rows[place])
            self.at({s: float(written(v)) for s, v in values.items()}, None)
            self.at(values, None)
            record.outcomes[place] = Outcome.CLOSE
        nothing = record.where(Outcome.NOTHING) & (record.points.border < 0)
        simple = sorted(np.flatnonzero(nothing), key=lambda k: (_complexity(rows[k]), k))
        for place in simple[:_TRIES]:
            if not is_far(rows[place]):
                self.at(self._witnessing.values(rows[place]), None)


@dataclass(frozen=True)
class Heard:
    """A claim, and the region in which it was made."""

    claim: Claim
    region: Region


def written(value: float) -> Any:
    """Write a number as a fraction, with few digits where it is one of few."""
    for number in (value, round(value, 6)):
        fraction = sympy.Rational(str(number)) if abs(number) > 1e-6 else sympy.Rational(number)
        if fraction.q <= 10**6:
            return fraction
    return sympy.Rational(str(round(value, 9)))


def _complexity(row: Any) -> float:
    """Tell how long numbers are to be read: short ones make the better counterexample."""
    sizes = [abs(float(each)) for each in row]
    return sum(len(str(each)) + 4 * (0 < each < _SMALL) for each in sizes)


def _value(formula: Any, numbers: dict[Any, Any]) -> float:
    try:
        return float(formula.subs(numbers).doit().evalf(20))
    except (TypeError, ValueError):
        return float("nan")


def _truth(condition: Any, values: dict[Any, float]) -> bool:
    try:
        return bool(condition.subs(values))
    except TypeError:
        return False
