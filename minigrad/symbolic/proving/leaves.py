"""Compare what a rule gives with the derivative as formulas, in parts of space without kinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from minigrad.symbolic.deciding import Verdict, decide, refuted_at
from minigrad.symbolic.needs import Need, reduced
from minigrad.symbolic.proving.running import Claim
from minigrad.symbolic.regions import (
    Region,
    condition_of,
    cut,
    cut_at_residues,
    kinks_in,
    narrowed,
    substituted,
)
from minigrad.symbolic.simplification import numerator

_PARTS = 256  # of more parts than these the regions should be given


@dataclass
class Leaf:
    """A part of space without kinks, and whether a claim was proved in it.

    Attributes:
        claim: The claim.
        region: The part.
        start: The place of the region that it was cut out of.
        given: How many conditions that region has.
        verdict: None if it was proved; else as from `decide`. Until `settle` was called only a
            point at which the formulas differ is looked for.
        sides: The formulas that were compared, as they are there.
        explored: The region in which the program was run on symbols.
    """

    claim: Claim
    region: Region
    start: int
    given: int
    verdict: Verdict
    sides: tuple[Any, Any]
    explored: Region

    def settle(self) -> None:
        """Bring the formulas together, if that is possible: this may take long."""
        if not isinstance(self.verdict, dict):
            self.verdict = _compared(self.claim, self.region, *self.sides)


def leaves_of(
    claim: Claim,
    explored: Region,
    start: int,
    region: Region,
    given: int,
    needs: Sequence[Need] = (),
) -> list[Leaf]:
    """Compare the formulas of a claim in a region, which is cut at kinks until there are none.

    Args:
        claim: The claim.
        explored: The region in which the program was run.
        start: The place of the region among those that are begun with.
        region: The region, with what is known in it.
        given: How many conditions it began with.
        needs: What the forward needs that has kinks itself.
    """
    waiting = [region]
    leaves: list[Leaf] = []
    while waiting:
        here = waiting.pop()
        left, right = here.enter(claim.found), here.enter(claim.due)
        carriers = [here.enter(each) for each in (*claim.carriers, *(n.of for n in needs))]
        if len(waiting) + len(leaves) < _PARTS:
            rests = cut_at_residues([left, right, *carriers], here)
            if rests is not None:
                waiting += reversed(rests)
                continue
            kinks = [*kinks_in(carriers), *kinks_in([left, right])]
            kink = next((each for each in kinks if here.sign(each) is None), None)
            if kink is not None:
                waiting += reversed(cut(kink, here))
                continue
        inside = _where_met(needs, here)
        if inside is None:
            continue  # a step has no value in here
        here = inside
        differ_at = _differing(claim, here, left, right)
        leaves.append(Leaf(claim, here, start, given, differ_at, (left, right), explored))
    return leaves


def _differing(claim: Claim, region: Region, left: Any, right: Any) -> dict[Any, Any] | None:
    if left == right:
        return None
    return refuted_at(left, right, _Domain(claim, region).admits, _symbols(claim, region))


def _compared(claim: Claim, region: Region, left: Any, right: Any) -> Verdict:
    domain = _Domain(claim, region)
    verdict = decide(left, right, domain.admits, _symbols(claim, region))
    if verdict is None or isinstance(verdict, dict):
        return verdict
    if numerator(region.settle(verdict[0])) == 0:
        return None
    for narrower in substituted(region):  # symbols that are positive help SymPy
        if decide(narrower.enter(left), narrower.enter(right)) is None:
            return None
    return verdict


class _Domain:
    """Tells at which points a rule has to be right: in the region, where the result is real."""

    def __init__(self, claim: Claim, region: Region) -> None:
        self._claim, self._region = claim, region

    def admits(self, point: Any) -> bool:
        """Tell whether the rule has to be right at a point."""
        if not self._region.admits(point):
            return False
        values = (self._region.enter(each).subs(point) for each in self._claim.values)
        return not any(value.is_real is False for value in values)


def _symbols(claim: Claim, region: Region) -> set[Any]:
    """List the symbols that need values to tell whether a point is in the domain."""
    found: set[Any] = set().union(*(each.free_symbols for each in region.assumed))
    for symbol in set().union(*(each.free_symbols for each in claim.values)):
        found |= region.place.get(symbol, symbol).free_symbols
    return found


def _where_met(needs: Sequence[Need], region: Region) -> Region | None:
    """Give the part of a region without kinks where needs are met; None if there is none."""
    for need in reduced([Need(region.enter(n.of), n.relation) for n in needs], region.sign):
        sign = region.sign(need.of)
        if sign == 0 or sign == -1:
            return None
        if need.relation == ">":
            region = narrowed(region, need.of, 1)
        else:
            said = condition_of(region.original(need.of), None)
            region = replace(region, conditions=(*region.conditions, said))
    return region
