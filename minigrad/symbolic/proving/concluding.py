"""Conclude what was both proved on formulas and witnessed on numbers, and where it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.equality import Undecided
from minigrad.symbolic.integers import Integers
from minigrad.symbolic.proving.borrowing import Names
from minigrad.symbolic.proving.evidence import Evidence, Hole
from minigrad.symbolic.proving.leaves import Leaf
from minigrad.symbolic.proving.refuting import Refuting
from minigrad.symbolic.proving.running import Run
from minigrad.symbolic.proving.witness import Outcome, Record, Witness, Witnessing, is_far
from minigrad.symbolic.regions import (
    EVERYWHERE,
    Region,
    condition_of,
    cut,
    is_kinky,
    kinks_in,
)
from minigrad.symbolic.sampling import condition_sides

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


class Concluding:
    """Puts together what is proved.

    Args:
        witnessing: Runs the rule.
        refuting: Knows the claims.
        names: How symbols are shown.
        integers: What stands for what is rounded.
        runs: The runs on symbols.
    """

    def __init__(
        self,
        witnessing: Witnessing,
        refuting: Refuting,
        names: Names,
        integers: Integers,
        runs: Sequence[Run],
    ) -> None:
        self._witnessing, self._refuting, self._names = witnessing, refuting, names
        self._integers, self._back, self._runs = integers, integers.back, runs

    def in_words(self, leaf: Leaf) -> Region:
        """Give the region of a leaf with its conditions in the symbols of the inputs."""
        conditions = leaf.region.conditions
        mine = [self._back(each) for each in conditions[leaf.given :]]
        return replace(leaf.region, conditions=(*conditions[: leaf.given], *mine))

    def inside(self, record: Record, leaf: Leaf) -> Any:
        """Tell which points, but those on borders, lie in the part of a leaf."""
        fits = record.inside(self.in_words(leaf), leaf.start, leaf.given)
        return fits & (record.points.border < 0)

    def finding(self, record: Record, leaves: list[Leaf], strict: Sequence[Any]) -> Finding:
        """Give a proof, of what was both proved and witnessed.

        Raises:
            Undecided: If there is nothing left, or something that was not decided.
        """
        agrees = record.where(Outcome.AGREES)
        ran = agrees | record.where(Outcome.CLOSE, Outcome.NOTHING, Outcome.DIFFERS)
        differs = record.where(Outcome.DIFFERS) & (record.points.border < 0)
        evidence, seen = [], set()
        for claim in dict.fromkeys((c.place, c.entry) for run in self._runs for c in run.claims):
            mine = [leaf for leaf in leaves if (leaf.claim.place, leaf.claim.entry) == claim]
            good = []
            for leaf in mine:
                region = self.in_words(leaf)
                inside = self.inside(record, leaf)
                if (
                    leaf.verdict is None
                    and (inside & agrees).any()
                    and not (inside & differs).any()
                ):
                    good.append((leaf, region))
                    seen.add(region.conditions)
                elif leaf.verdict is not None and (inside & ran).any():
                    raise self.open(leaf)
            if not good:
                raise self._unwitnessed(mine, record)
            evidence.append(self._evidence(good))
        if (differs & (record.points.border < 0)).any():
            raise Undecided((), sympy.nan, sympy.nan, sympy.nan, because=(
                "formulas and runs do not tell the same: at a point the rule gives something else "
                "than the slope of the forward, and it was not found which entry"))  # fmt: skip
        count = int((agrees & (record.points.border < 0)).sum())
        witness = Witness(count, len(seen), record.runs, self._witnessing.trial.on_formulas)
        domain = (*self._domain_told(strict, leaves), *self._not_examined(record, strict))
        return Finding(evidence, domain, self._holes(record, strict), witness)

    def _domain_told(self, strict: Sequence[Any], leaves: Sequence[Leaf]) -> tuple[Any, ...]:
        """Give the domain, without what was found not to be needed after all."""
        flipped = set()
        for leaf in leaves:
            flipped |= set(self.in_words(leaf).conditions[leaf.given :])
        told = []
        for each in strict:
            left = each.lhs - each.rhs
            reverse = condition_of(left if isinstance(each, sympy.Gt) else -left, -1)
            if reverse not in flipped:
                told.append(self._names.show(each))
        return tuple(told)

    def _not_examined(self, record: Record, strict: Sequence[Any]) -> list[Any]:
        """List what the rule needs to be other than 0, where no point was found at which it is."""
        met = {
            condition_sides(record.conditions[k])[0] for k in set(record.points.border) if k >= 0
        }
        met |= {sympy.expand(-each) for each in met}
        return [
            self._names.show(each)
            for each in record.conditions
            if isinstance(each, sympy.Ne) and not each.has(sympy.floor)
            if each not in strict and condition_sides(each)[0] not in met
            if not self._is_met(condition_sides(each)[0])
        ]

    def _is_met(self, formula: Any) -> bool:
        """Tell whether an expression is known not to be 0 between its kinks, such as a count."""
        read, waiting = self._integers.read(formula), [EVERYWHERE]
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

    def _evidence(self, good: Sequence[tuple[Leaf, Region]]) -> Evidence:
        show = self._names.show
        leaf = good[0][0]
        found, due = (
            show(self._back(leaf.explored.original(e))) for e in (leaf.claim.found, leaf.claim.due)
        )
        claim = leaf.claim
        jumps = self._integers.jumps([claim.found, claim.due, *claim.carriers, *claim.rounded])
        regions = [
            Region(
                {show(s): show(e) for s, e in region.place.items()},
                tuple(map(show, (*region.conditions, *jumps))),
            )
            for _, region in good
        ]
        return Evidence(self._names.label(claim.place), claim.entry, found, due, tuple(regions))

    def _holes(self, record: Record, strict: Sequence[Any]) -> tuple[Hole, ...]:
        """Find the borders inside of the domain on which the rule gives no number."""
        nothing = record.where(Outcome.NOTHING) & (record.points.border >= 0)
        holes: dict[Any, Hole] = {}
        for place in np.flatnonzero(nothing):
            border = record.conditions[record.points.border[place]]
            condition = self._names.show(condition_of(border.lhs - border.rhs, 0))
            if condition in holes or is_far(record.points.rows[place], _OVERFLOW):
                continue
            values = self._witnessing.values(record.points.rows[place])
            for number, entry, got, slope, wrong in self._witnessing.entries_at(values):
                if wrong and not np.isfinite(got):
                    claim = self._refuting.claim_at(number, entry, values)
                    due = self._names.show(self._back(claim.region.original(claim.claim.due)))
                    holes[condition] = Hole(condition, got, _there(due, condition, slope))
                    break
        return tuple(holes.values())

    def open(self, leaf: Leaf) -> Undecided:
        """Say that a claim was not decided in a part of space."""
        show, claim = self._names.show, leaf.claim
        of = f"the gradient of {self._names.label(claim.place)}"
        left, right = (show(self._back(leaf.region.original(e))) for e in leaf.sides)
        if isinstance(leaf.verdict, dict):
            at = ", ".join(f"{s} = {v}" for s, v in leaf.verdict.items())
            return Undecided(claim.entry, left, right, left - right, None, of, because=(
                f"the formulas {left} and {right} differ at {at}, but no run shows it: either "
                "rounding hides it, or the program has no value there. Where a float stands for an "
                "exact number, name that number (constants=)"))  # fmt: skip
        assert leaf.verdict is not None
        difference, comparison = leaf.verdict
        return Undecided(claim.entry, left, right, show(difference), comparison, of, ADVICE)

    def _unwitnessed(self, leaves: Sequence[Leaf], record: Record) -> Undecided:
        failed = (
            f" (the last one failed: {self._witnessing.trial.failed})"
            if self._witnessing.trial.failed
            else ""
        )
        where = " or ".join(dict.fromkeys(str(self.in_words(leaf)) for leaf in leaves[:3]))
        return Undecided((), sympy.nan, sympy.nan, sympy.nan, because=(
            "no point was found at which the rule could be run on numbers and compared with the "
            f"forward's slope{f', where {where}' if where else ''}{failed}. {ADVICE}"))  # fmt: skip


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
