"""Refute a rule by a counterexample: a point at which it was run, and told as formulas do."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import Refuted
from minigrad.symbolic.points import points
from minigrad.symbolic.proofs.claims import Case, Claim, Leaf
from minigrad.symbolic.proofs.witness import Outcome, Record, Witnessing, is_far
from minigrad.symbolic.regions import Region

_ROUNDED = 1e-3  # what a run is off by where formulas agree may come of rounding up to here
_SMALL = 1 / 2048  # numbers below that are not read easily
_FEW = 8  # inputs: so many are told
_TRIES = 12  # points at which symbols that no formula has get numbers


class Counterexamples:
    """Looks for a counterexample, and says it only if the run at that point shows it.

    Args:
        witnessing: Runs the rule on numbers.
        case: What came of running it on symbols.
    """

    def __init__(self, witnessing: Witnessing, case: Case) -> None:
        self._witnessing, self._case = witnessing, case

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
            said = self._at(values, claim, point)
            if said is not None:
                raise said

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

    def _at(
        self, values: dict[Any, float], claim: Claim | None = None, exact: Any = None
    ) -> Refuted | None:
        """Run at a point, and refute a claim, or any one, if the run there does.

        Returns:
            The verdict, if the rule gives something else there than the slope of the forward.
            One that formulas tell, too, is the best.
        """
        verdicts = [
            self._verdict(place, entry, values, exact, (got, slope))
            for place, entry, got, slope, differs in self._witnessing.entries_at(values)
            if differs and (claim is None or (claim.place, claim.entry) == (place, entry))
        ]
        said = [verdict for verdict in verdicts if verdict is not None]
        return next((each for each in said if not each.ran), said[0] if said else None)

    def _verdict(
        self, place: int, entry: Any, values: dict[Any, float], exact: Any, ran: Any
    ) -> Refuted | None:
        """Tell a counterexample; None if it may be one of rounding only."""
        case, claim = self._case, self.claim_at(place, entry, values)
        found, due = (case.shown(each, claim.region) for each in (claim.found, claim.due))
        numbers = {
            case.names.show(symbol): (exact or {}).get(symbol, written(value))
            for symbol, value in values.items()
        }
        sides = [_value(each, numbers) for each in (found, due)]
        gap = abs(sides[0] - sides[1])
        told = gap > 0 and all(
            abs(side - number) <= min(1e-6 * (1 + abs(number)), 0.2 * gap)
            for side, number in zip(sides, ran, strict=True)
        )
        if not told and abs(ran[0] - ran[1]) <= _ROUNDED * max(1.0, *map(abs, ran)):
            return None
        if not told and np.isfinite(ran[0]) and is_far(np.array(list(values.values()))):
            return None
        inside = found.free_symbols | due.free_symbols
        if not told or any(run.needs for run in case.runs):  # where it runs, others decide
            started = {case.names.show(s) for each in case.cotangents for s in entries(each).flat}
            inputs = numbers.keys() - started
            inside |= inputs if len(inputs) <= _FEW else set()
        at = {symbol: numbers[symbol] for symbol in sorted(inside & numbers.keys(), key=str)}
        return Refuted(entry, found, due, at, case.of(place), claim.note, None if told else ran)

    def _has_unmet_need(self, values: dict[Any, float]) -> bool:
        """Tell whether a step of the rule has no value at a point."""
        for run in self._case.runs:
            for need in run.rule_needs:
                number = _value(self._case.original(need.of, run.region), values)
                if not (number > 0 or (number < 0 and need.relation == "!=")):
                    return True
        return False

    def claim_at(self, place: int, entry: Any, values: dict[Any, float]) -> Claim:
        """Find the claim of an entry in the run whose region has a point."""
        claims = [
            claim
            for run in self._case.runs
            for claim in run.claims
            if (claim.place, claim.entry) == (place, entry)
        ]
        back = self._case.reading.back
        for claim in reversed(claims):
            if all(_truth(back(each), values) for each in claim.region.conditions):
                return claim
        return claims[0]

    def by_runs(self, record: Record) -> None:
        """Refute the rule if the runs did so at some point.

        Raises:
            Refuted: If so.
        """
        rows = record.points.rows
        spare: list[Refuted] = []
        for outcome, most in ((Outcome.DIFFERS, 4 * _TRIES), (Outcome.NOTHING, _TRIES)):
            places = np.flatnonzero(record.where(outcome))
            for place in sorted(places, key=lambda k: (_complexity(rows[k]), k))[:most]:
                values = self._witnessing.values(rows[place])
                if record.is_jump(record.points.border[place]):
                    continue  # smooth at one of the jumps is no more than chance
                if outcome is Outcome.NOTHING:
                    if record.points.border[place] >= 0:
                        continue
                    if is_far(rows[place]) and not self._has_unmet_need(values):
                        continue  # a number overflows, or is rounded to where there is a pole
                    said = self._at(values)
                else:
                    short = {s: float(written(v)) for s, v in values.items()}
                    said = self._at(short) or self._at(values)
                    record.outcomes[place] = Outcome.CLOSE
                if said is not None and not said.ran:
                    raise said
                spare += [] if said is None else [said]
        if spare:
            raise spare[0]


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
