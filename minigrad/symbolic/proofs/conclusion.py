"""Conclude what was both proved on formulas and witnessed on numbers, and where it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.equality import Undecided
from minigrad.symbolic.points import condition_sides
from minigrad.symbolic.proofs.claims import Case, Leaf
from minigrad.symbolic.proofs.counterexample import Counterexamples
from minigrad.symbolic.proofs.proof import Evidence, Hole
from minigrad.symbolic.proofs.witness import Outcome, Record, Witness, Witnessing, is_far
from minigrad.symbolic.regions import (
    EVERYWHERE,
    Region,
    condition_of,
    cut,
    is_kinky,
    kinks_in,
)

_OVERFLOW = 25  # beyond that, NaN may come of numbers that are too large
_CUTS = 40  # of space, to see that a count is never 0
ADVICE = (
    "Give regions in which there is no kink (regions=[{x: d}, {x: -d}] with a positive d), or "
    "stronger assumptions on the symbols (positive=True)."
)


@dataclass(frozen=True)
class Finding:
    """What a hearing came to, if it was a proof; see `Proof`."""

    evidence: list[Evidence]
    domain: tuple[Any, ...]
    holes: tuple[Hole, ...]
    witness: Witness


class Conclusion:
    """Puts together what is proved.

    Args:
        witnessing: Runs the rule on numbers.
        counterexamples: Knows the claims.
        case: What came of running it on symbols.
        starts: The regions that are begun with.
    """

    def __init__(
        self,
        witnessing: Witnessing,
        counterexamples: Counterexamples,
        case: Case,
        starts: Sequence[Region],
    ) -> None:
        self._witnessing, self._counterexamples = witnessing, counterexamples
        self._case, self._starts, self._show = case, starts, case.names.show

    def cuts(self, leaf: Leaf) -> list[Any]:
        """Give the conditions by which a leaf was cut out, in the symbols of the inputs."""
        return list(map(self._case.reading.back, leaf.region.conditions))

    def inside(self, record: Record, leaf: Leaf) -> Any:
        """Tell which points, but those on borders, lie in the part of a leaf."""
        fits = (record.points.start == leaf.start) & (record.points.border < 0)
        return np.logical_and.reduce([fits, *map(record.holds, self.cuts(leaf))])

    def finding(self, record: Record, leaves: list[Leaf], strict: Sequence[Any]) -> Finding:
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
        witness = Witness(count, len(seen), record.runs, self._witnessing.trial.on_formulas)
        domain = (*self._domain_told(strict, leaves), *self._not_examined(record, strict))
        return Finding(evidence, domain, self._holes(record), witness)

    def _domain_told(self, strict: Sequence[Any], leaves: Sequence[Leaf]) -> tuple[Any, ...]:
        """Give the domain, without what was found not to be needed after all."""
        flipped = {condition for leaf in leaves for condition in self.cuts(leaf)}
        told = []
        for each in strict:
            left = each.lhs - each.rhs
            reverse = condition_of(left if isinstance(each, sympy.Gt) else -left, -1)
            if reverse not in flipped:
                told.append(self._show(each))
        return tuple(told)

    def _not_examined(self, record: Record, strict: Sequence[Any]) -> list[Any]:
        """List what the rule needs to be other than 0, where no point was found at which it is."""
        borders = (record.conditions[k] for k in set(record.points.border) if k >= 0)
        met = {condition_sides(each)[0] for each in borders}
        met |= {sympy.expand(-each) for each in met}
        return [
            self._show(each)
            for each in record.conditions
            if isinstance(each, sympy.Ne) and not each.has(sympy.floor)
            if each not in strict and condition_sides(each)[0] not in met
            if not self._is_met(condition_sides(each)[0])
        ]

    def _is_met(self, formula: Any) -> bool:
        """Tell whether an expression is known not to be 0 between its kinks, such as a count."""
        read, waiting = self._case.reading.read(formula), [EVERYWHERE]
        for _ in range(_CUTS if is_kinky(read) else 0):
            if not waiting:
                return True
            region = waiting.pop()
            here = region.enter(read)
            kink = next((k for k in kinks_in([here]) if region.sign(k) is None), None)
            if kink is not None:
                waiting += cut(kink, region)
            elif not region.sign(here):
                return False
        return False

    def _evidence(self, good: Sequence[Leaf]) -> Evidence:
        claim, show = good[0].claim, self._show
        found, due = (self._case.shown(each, claim.region) for each in (claim.found, claim.due))
        jumps = self._case.reading.jumps([claim.found, claim.due, *claim.carriers, *claim.rounded])
        regions = []
        for leaf in good:
            conditions = (*self._starts[leaf.start].conditions, *self.cuts(leaf), *jumps)
            place = {show(s): show(e) for s, e in leaf.region.place.items()}
            regions.append(Region(place, tuple(map(show, conditions))))
        name = self._case.names.label(claim.place)
        return Evidence(name, claim.entry, found, due, tuple(regions))

    def _holes(self, record: Record) -> tuple[Hole, ...]:
        """Find the borders inside of the domain on which the rule gives no number."""
        nothing = record.where(Outcome.NOTHING) & (record.points.border >= 0)
        holes: dict[Any, Hole] = {}
        for place in np.flatnonzero(nothing):
            border = record.conditions[record.points.border[place]]
            condition = self._show(condition_of(border.lhs - border.rhs, 0))
            if condition in holes or is_far(record.points.rows[place], _OVERFLOW):
                continue
            values = self._witnessing.values(record.points.rows[place])
            for number, entry, got, slope, wrong in self._witnessing.entries_at(values):
                if wrong and not np.isfinite(got):
                    claim = self._counterexamples.claim_at(number, entry, values)
                    due = self._case.shown(claim.due, claim.region)
                    holes[condition] = Hole(condition, got, _there(due, condition, slope))
                    break
        return tuple(holes.values())

    def open(self, leaf: Leaf) -> Undecided:
        """Say that a claim was not decided in a part of space."""
        case, claim = self._case, leaf.claim
        left, right = (case.shown(each, leaf.region) for each in leaf.sides)
        if isinstance(leaf.verdict, dict):
            at = ", ".join(f"{s} = {v}" for s, v in leaf.verdict.items())
            because = (
                f"the formulas {left} and {right} differ at {at}, but no run shows it: either "
                "rounding hides it, or the program has no value there. Where a float stands for an "
                "exact number, name that number (constants=)"
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
        failed = self._witnessing.trial.failed
        regions = [
            Region(conditions=(*self._starts[leaf.start].conditions, *self.cuts(leaf)))
            for leaf in leaves[:3]
        ]
        where = " or ".join(dict.fromkeys(map(str, regions)))
        return undecided(
            "no point was found at which the rule could be run on numbers and compared with the "
            f"forward's slope{f', where {where}' if where else ''}"
            f"{f' (the last one failed: {failed})' if failed else ''}. {ADVICE}"
        )


def undecided(because: str) -> Undecided:
    """Say why something could not be decided."""
    return Undecided((), sympy.nan, sympy.nan, sympy.nan, because=because)


def _there(due: Any, condition: Any, slope: float) -> Any:
    """Give the derivative on a border, as a formula if that has a value there."""
    variable, value = condition.args
    if variable.is_Symbol and not value.has(variable):
        try:
            found = sympy.simplify(due.subs(variable, value))
        except (TypeError, ValueError):
            found = sympy.nan
        if not found.has(sympy.nan, sympy.zoo, sympy.oo):
            return found
    return due if not due.is_number else sympy.Float(slope, 6)
