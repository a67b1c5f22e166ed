"""Refute a rule by a point at which it was run; or conclude what was both proved and witnessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import Refuted, Undecided, original_point, shaped
from minigrad.symbolic.points import random_points
from minigrad.symbolic.proofs.claims import Case, Claim, Leaf, assumptions_of
from minigrad.symbolic.proofs.proof import Evidence, Proof, Witness
from minigrad.symbolic.proofs.trial import Outcome, Record, Trial, is_far
from minigrad.symbolic.regions import EVERYWHERE, Region

_ROUNDED = 1e-3  # what a run is off by where formulas agree may come of rounding up to here
_SMALL = 1 / 2048  # numbers below that are not read easily
_FEW = 8  # inputs: so many are told
# what may go wrong in a run on symbols, or in SymPy
TROUBLE = (AttributeError, TypeError, ValueError, RuntimeError, LookupError, ArithmeticError)
_TRIES = 12  # points at which symbols that no formula has get numbers
ADVICE = (
    "Give regions in which there is no kink (regions=[{x: d}, {x: -d}] with a positive d), or "
    "stronger assumptions on the symbols (positive=True)."
)


class Conclusion:
    """Says a counterexample only if the run at that point shows it; puts together what is proved.

    Args:
        trial: Runs the rule on numbers.
        case: What came of running it on symbols.
        starts: The regions that are begun with.
    """

    def __init__(self, trial: Trial, case: Case, starts: Sequence[Region]) -> None:
        self._trial, self._case, self._starts = trial, case, starts
        self._show = case.names.show

    def confirm(self, leaf: Leaf) -> None:
        """Run at a point at which the formulas differ, if any; say so only if the runs do.

        Raises:
            Refuted: If they do.
        """
        if not isinstance(leaf.verdict, dict):
            return
        place, symbols = leaf.region.place, self._trial.symbols
        told = [each for each in symbols if each in place or each in leaf.verdict]
        point = original_point(leaf.verdict, leaf.region, told)
        if not all(each.is_number and each.is_finite and each.is_real for each in point.values()):
            return
        missing = {each for each in symbols if each not in point}
        for drawn in random_points(missing, _TRIES if missing else 1, 3):
            values = {each: float(value) for each, value in {**point, **drawn}.items()}
            said = self._at(values, leaf.claim, point)
            if said is not None:
                raise said

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
            for place, entry, got, slope in self._trial.wrong_entries(values)
            if claim is None or (claim.place, claim.entry) == (place, entry)
        ]
        said = [verdict for verdict in verdicts if verdict is not None]
        return next((each for each in said if not each.ran), said[0] if said else None)

    def _verdict(
        self, place: int, entry: Any, values: dict[Any, float], exact: Any, ran: Any
    ) -> Refuted | None:
        """Tell a counterexample; None if it may be one of rounding only."""
        case, claim = self._case, self._case.claim_at(place, entry, values)
        found, due = (case.shown(each, claim.region) for each in (claim.found, claim.due))
        numbers = {
            self._show(symbol): (exact or {}).get(symbol, written(value))
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
            # rounding spoils what is beside the point too; what is wrong there alone is wrong
            beside = self._trial.beside(self._trial.place(values), place, entry)
            if any(abs(b - ran[1]) > 0.1 * abs(ran[0] - ran[1]) for b in beside) or not beside:
                return None
        inside = found.free_symbols | due.free_symbols
        if not told or any(run.needs for run in case.runs):  # where it runs, others decide
            started = {self._show(s) for each in case.cotangents for s in entries(each).flat}
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

    def by_runs(self, record: Record, domain: Sequence[Any] = ()) -> None:
        """Refute the rule if the runs did so at some point.

        Args:
            record: The runs.
            domain: Conditions under which the program can run.

        Raises:
            Refuted: If so.
        """
        rows = record.points.rows
        spare: list[Refuted] = []
        for outcome, most in ((Outcome.DIFFERS, 4 * _TRIES), (Outcome.NOTHING, _TRIES)):
            places = np.flatnonzero(record.where(outcome))
            for place in sorted(places, key=lambda k: (_complexity(rows[k]), k))[:most]:
                values = self._trial.values(rows[place])
                if record.is_jump(record.points.border[place]):
                    continue  # smooth at one of the jumps is no more than chance
                if outcome is Outcome.NOTHING:
                    border = record.points.border[place]
                    if border >= 0 and record.conditions[border] in domain:
                        continue  # as at 0 in 1 / (1 / x)
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

    # ------------------------------------------------------------------ what is proved

    def cuts(self, leaf: Leaf) -> list[Any]:
        """Give the conditions by which a leaf was cut out, in the symbols of the inputs."""
        return list(map(self._case.reading.back, leaf.region.conditions))

    def inside(self, record: Record, leaf: Leaf) -> Any:
        """Tell which points, but those on borders, lie in the part of a leaf."""
        fits = (record.points.start == leaf.start) & (record.points.border < 0)
        return np.logical_and.reduce([fits, *map(record.holds, self.cuts(leaf))])

    def proof(self, record: Record, leaves: list[Leaf], strict: Sequence[Any]) -> Proof:
        """Give a proof, of what was both proved and witnessed.

        Raises:
            Undecided: If there is nothing left, or something that was not decided.
        """
        agrees = record.where(Outcome.AGREES)
        ran = agrees | record.where(Outcome.CLOSE, Outcome.NOTHING, Outcome.DIFFERS)
        differs = record.where(Outcome.DIFFERS) & (record.points.border < 0)
        evidence, seen = [], set()
        by_claim: dict[Any, list[Leaf]] = {}
        for run in self._case.runs:
            by_claim |= {(claim.place, claim.entry): [] for claim in run.claims}
        for leaf in leaves:
            by_claim[leaf.claim.place, leaf.claim.entry].append(leaf)
        for mine in by_claim.values():
            good = []
            for leaf in mine:
                inside = self.inside(record, leaf)
                if leaf.verdict is not None and (inside & ran).any():
                    raise self.open(leaf)
                if leaf.verdict is None and (inside & agrees).any():
                    good += [] if (inside & differs).any() else [leaf]
            if not good:
                raise self._unwitnessed(mine)
            seen |= {(leaf.start, *self.cuts(leaf)) for leaf in good}
            evidence.append(self._evidence(good))
        if differs.any():
            raise undecided(
                "formulas and runs do not tell the same: at a point the rule gives something else "
                "than the slope of the forward, and it was not found which entry"
            )
        count = int((agrees & (record.points.border < 0)).sum())
        case, run = self._case, self._case.runs[0]
        regions = {str(region): region for each in evidence for region in each.regions}
        return Proof(
            forward=self._told(run.results),
            cotangent=self._told([entries(each) for each in case.cotangents]),
            gradients=tuple(self._told([each]) for each in run.gradients),
            regions=tuple(regions.values()) or (EVERYWHERE,),
            inputs=tuple(
                (case.names.label(place), each.shape)
                for place, each in enumerate(case.names.inputs)
            ),
            assumed=tuple(map(assumptions_of, case.names.inputs)),
            evidence=tuple(evidence),
            domain=tuple(map(self._show, strict)),
            witness=Witness(count, len(seen), self._trial.runs),
        )

    def _told(self, arrays: Sequence[Any]) -> Any:
        """Show formulas as SymPy has them: those of several arrays in a row."""
        flat = [self._show(entry) for array in arrays for entry in array.flat]
        return shaped(flat, arrays[0].shape if len(arrays) == 1 else (len(flat),))

    def _evidence(self, good: Sequence[Leaf]) -> Evidence:
        claim, show = good[0].claim, self._show
        found, due = (self._case.shown(each, claim.region) for each in (claim.found, claim.due))
        jumps = self._case.reading.jumps()
        regions = []
        for leaf in good:
            conditions = (*self._starts[leaf.start].conditions, *self.cuts(leaf), *jumps)
            place = {show(s): show(e) for s, e in leaf.region.place.items()}
            regions.append(Region(place, tuple(map(show, conditions))))
        name = self._case.names.label(claim.place)
        return Evidence(name, claim.entry, found, due, tuple(regions))

    def open(self, leaf: Leaf) -> Undecided:
        """Say that a claim was not decided in a part of space."""
        case, claim = self._case, leaf.claim
        left, right = (case.shown(each, leaf.region) for each in leaf.sides)
        if isinstance(leaf.verdict, dict):
            at = ", ".join(f"{s} = {v}" for s, v in leaf.verdict.items())
            because = (
                f"the formulas {left} and {right} differ at {at}, but no run shows it: either "
                "rounding hides it, or the program has no value there"
            )
            of = case.of(claim.place)
            return Undecided(claim.entry, left, right, left - right, None, of, because=because)
        assert leaf.verdict is not None
        difference, comparison = leaf.verdict
        difference = self._show(difference)
        return Undecided(
            claim.entry, left, right, difference, comparison, case.of(claim.place), ADVICE
        )

    def _unwitnessed(self, leaves: Sequence[Leaf]) -> Undecided:
        where = " or ".join(dict.fromkeys(str(leaf.region) for leaf in leaves[:3]))
        failed = f" (the last one failed: {self._trial.failed})" if self._trial.failed else ""
        return undecided(
            "no point was found at which the rule could be run on numbers and compared with the "
            f"forward's slope{f', where {where}' if where else ''}{failed}. {ADVICE}"
        )


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


def not_decided(error: Exception) -> Undecided:
    """Say that something could not be decided because a run on symbols, or SymPy, failed."""
    if isinstance(error, Undecided):
        return error
    told = (str(error) or type(error).__name__).removeprefix("could not decide, because ")
    by_sympy = isinstance(error, (RecursionError, AttributeError, ValueError, NotImplementedError))
    gave_up = f"SymPy gave up on it ({type(error).__name__}): "
    return undecided(gave_up + told if by_sympy else told)


def undecided(because: str) -> Undecided:
    """Say why something could not be decided."""
    return Undecided((), sympy.nan, sympy.nan, sympy.nan, because=because)
