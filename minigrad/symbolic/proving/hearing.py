"""Hear both sides, formulas and numbers, and come to a verdict on a backward rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import OrderUnknown, entries
from minigrad.symbolic.equality import Refuted, Undecided
from minigrad.symbolic.needs import Need, reduced
from minigrad.symbolic.proving.borrowing import Names
from minigrad.symbolic.proving.concluding import Concluding, Finding
from minigrad.symbolic.proving.formula_trial import FormulaTrial
from minigrad.symbolic.proving.leaves import Leaf, leaves_of
from minigrad.symbolic.proving.reading import Reading
from minigrad.symbolic.proving.refuting import Refuting, written
from minigrad.symbolic.proving.running import Claim, Run, run
from minigrad.symbolic.proving.trial import Trial
from minigrad.symbolic.proving.witness import Outcome, Record, Witnessing
from minigrad.symbolic.regions import (
    EVERYWHERE,
    Region,
    condition_of,
    cut,
    is_kinky,
    kinks_in,
    narrowed,
)
from minigrad.tensor import Tensor

_PARTS = 256  # of more parts than these the regions should be given
_TROUBLE = (RecursionError, AttributeError, TypeError, ValueError, NotImplementedError)
_VISITS, _FEW = 40, 12  # of so many parts more, points in each
_TRIES = 12  # points that are looked at entry by entry


class Hearing:
    """Runs an operation on symbols and on numbers, and compares.

    Args:
        function: The operation.
        tensors: What it is called with; they hold symbols of the proof's own.
        settings: What comes after these.
        wanted: The tensors that are differentiated.
        constants: Exact numbers that are meant where there is the float next to them.
        names: How symbols are shown.
        given: The regions to prove it in.

    Attributes:
        runs: The runs on symbols; the first one is in the first region that had to be told apart.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        tensors: Sequence[Any],
        settings: Sequence[Any],
        wanted: Sequence[Tensor],
        constants: Sequence[Any],
        names: Names,
        given: Sequence[Region],
    ) -> None:
        self._function, self._tensors, self._settings = function, tensors, settings
        self._wanted, self.names = wanted, names
        self._given = [_taken_in(region, names) for region in given]
        self._reading = Reading(constants, names.name_for_gradients())
        self._trial = Trial(function, tensors, settings, wanted)
        self._cotangents: list[Any] = []
        self._explored: list[Any] = []  # the formulas at whose zeros the program takes turns
        self.runs: list[Run] = []
        self._known: dict[int, Region] = {}  # the regions to begin with, and what is known there

    def verdict(self) -> Finding:
        """Come to a verdict.

        Raises:
            Refuted: If the rule is wrong.
            Undecided: If neither this nor a proof was found.
        """
        try:
            self._explore()
            self._starts = self._start_regions()
            self.names.meet(
                each for run in self.runs for c in run.claims for each in (c.found, c.due)
            )
        except (OrderUnknown, RecursionError, AttributeError, NotImplementedError) as error:
            raise self._not_decided(error) from error
        except TypeError as error:
            if "symbols" not in str(error):
                raise
            raise self._not_decided(error) from error
        with self._trial.running():
            inside = {s for run in self.runs for c in run.claims
                      for e in (c.found, c.due, *c.values) for s in e.free_symbols}  # fmt: skip
            inside |= {s for region in self._given for e in region.place.values()
                       for s in e.free_symbols}  # fmt: skip
            known = set(self._trial.symbols) | {
                s for each in self._cotangents for s in entries(each).flat
            }
            made = {s for each in self._starts for s in each.meaning}
            made |= set(self._reading.symbols())
            others = sorted(inside - known - made, key=str)
            if not set(others) <= self._trial.settings_symbols:
                self._trial = FormulaTrial(
                    self._function, self._tensors, self._settings, self._wanted,
                    self.runs, self._cotangents, self._reading.back,
                )  # fmt: skip
            self._witnessing = Witnessing(self._trial, self._cotangents, others)
            self._witnessing.still = [
                {symbol for symbol, value in region.place.items() if value.is_number}
                for region in self._starts
            ]
            self._refuting = Refuting(
                self._witnessing, self.names, self._reading.back, self.runs, self._cotangents
            )
            self._concluding = Concluding(
                self._witnessing, self._refuting, self.names, self._reading, self.runs
            )
            return self._hear()

    # ------------------------------------------------------------------ on symbols

    def _explore(self) -> None:
        """Run the function; where it asks for an order of symbols, run it in each of the orders."""
        waiting, seen = [EVERYWHERE], 0
        while waiting:
            region = waiting.pop(0)
            try:
                self.runs.append(
                    run(
                        self._function, self._tensors, self._settings, self._wanted,
                        self._reading, region, self._cotangents, self.names.held,
                    )
                )  # fmt: skip
            except OrderUnknown as error:
                asked = self._reading.read(error.formula)
                kinks = kinks_in([asked]) or [asked]
                seen += 1
                if seen > _PARTS or not kinks[0].free_symbols or asked != error.formula:
                    raise
                self._explored.append(region.original(kinks[0]))
                waiting = [*cut(kinks[0], region), *waiting]
                if any(each.assumed for each in waiting):
                    raise  # without a substitution the program would ask again

    def _start_regions(self) -> list[Region]:
        """Give the regions to begin with: those that are given, or those that were explored."""
        if len(self.runs) == 1 and self.runs[0].region is EVERYWHERE:
            return self._given
        return [run.region for run in self.runs]

    def _claims_in(self, start: int) -> Run:
        return self.runs[0 if len(self.runs) == 1 else start]

    def _needed(self, needs: frozenset[Need], region: Region) -> list[Need]:
        """Give what is needed in a region, in symbols of the integers too."""
        read = [Need(region.enter(self._reading.read(n.of)), n.relation) for n in needs]
        return reduced(read, region.sign)

    def _with_facts(self, region: Region, needs: Sequence[Need], flipped: Any = ()) -> Region:
        """Add what is known in a region: of integers, and of what the forward needs."""
        known = {region.enter(each): sign for each, sign in self._reading.facts.items()}
        signs = {n.of: -1 if n in flipped else 1 for n in needs if n.relation == ">"}
        return replace(region, assumed={**region.assumed, **known, **signs})

    # ------------------------------------------------------------------ both

    def _hear(self) -> Finding:
        leaves: list[Leaf] = []
        domain: dict[Need, None] = {}
        for start, region in enumerate(self._starts):
            run = self._claims_in(start)
            needs = self._needed(run.needs, region)
            if any(region.sign(n.of) is not None for n in needs):
                continue  # a step has no value in all of it
            split = [need for need in needs if is_kinky(need.of)]
            needs = [need for need in needs if need not in split]
            domain |= {
                Need(self._reading.back(region.original(n.of)), n.relation): None for n in needs
            }
            known = self._known[start] = self._with_facts(region, needs)
            for claim in run.claims:
                try:
                    found = leaves_of(
                        claim, run.region, start, known, len(region.conditions), split
                    )
                except _TROUBLE as error:
                    raise self._not_decided(error, claim) from error
                for leaf in found:
                    if isinstance(leaf.verdict, dict):
                        self._refuting.confirm(leaf)
                leaves += found
        strict = [condition_of(need.of, need.sign) for need in domain]
        record = self._record(leaves, strict)
        self._refuting.by_runs(record)
        self._settle(leaves)
        leaves = self._visit(record, leaves)
        leaves = self._beyond(record, strict, leaves)
        return self._concluding.finding(record, leaves, strict)

    def _settle(self, leaves: Sequence[Leaf]) -> None:
        """Compare the formulas in earnest, once runs have not refuted the rule."""
        for leaf in leaves:
            try:
                leaf.settle()
            except _TROUBLE as error:
                raise self._not_decided(error, leaf.claim) from error
            if isinstance(leaf.verdict, dict):
                self._refuting.confirm(leaf)

    def _conditions(self, leaves: Sequence[Leaf], strict: Sequence[Any]) -> list[Any]:
        """List all that divides space: domains, kinks, jumps, and what the rule needs."""
        found: dict[Any, None] = dict.fromkeys(strict)
        for start, region in enumerate(self._starts):
            run = self._claims_in(start)
            known = self._known.get(start, region)
            for need in self._needed(run.rule_needs, known):
                original = self._reading.back(region.original(need.of))
                found[condition_of(original, need.sign)] = None
        for kink in self._explored:
            found[condition_of(self._reading.back(kink), 1)] = None
        for leaf in leaves:
            found |= dict.fromkeys(self._concluding.in_words(leaf).conditions[leaf.given :])
        for jump in self._reading.jumps([sympy.Tuple(*self._reading.symbols())]):
            found[jump] = None
        return [each for each in found if isinstance(each, sympy.core.relational.Relational)]

    def _record(self, leaves: Sequence[Leaf], strict: Sequence[Any]) -> Record:
        conditions = self._conditions(leaves, strict)
        starts = [replace(r, conditions=()) for r in self._starts]
        if self._starts is not self._given:
            starts.append(EVERYWHERE)  # also between the regions that were explored
        drawn = self._witnessing.draw(starts, conditions, strict)
        return self._witnessing.record(drawn, conditions, strict)

    def _visit(self, record: Record, leaves: list[Leaf]) -> list[Leaf]:
        """Run at points of the parts that have had none; leave out those that have no points."""
        kept, visits = [], 0
        for leaf in leaves:
            if not self._concluding.inside(record, leaf).any() and visits < _VISITS:
                visits += 1
                start = replace(leaf.region, conditions=())
                extra = self._witnessing.record(self._witnessing.draw([start], ()), (), (), _FEW)
                extra.points.start[:] = leaf.start
                record.add(extra)
                self._refuting.by_runs(extra)
            met = self._concluding.inside(record, leaf).any()
            if met or leaf.verdict is None:
                kept.append(leaf)
            elif not self._reading.symbols():  # of integers, not all that is written down can be
                raise self._concluding.open(leaf)
        return kept

    def _strictly(self, record: Record, strict: Sequence[Any]) -> Any:
        return np.logical_and.reduce(
            [np.full(len(record.outcomes), True), *map(record.holds, strict)]
        )

    def _beyond(self, record: Record, strict: Sequence[Any], leaves: list[Leaf]) -> list[Leaf]:
        """Prove it also where a step has no value, but the result has: as behind a `where`.

        Returns:
            The leaves, those outside of the domain among them.
        """
        outside = record.where(Outcome.AGREES) & ~self._strictly(record, strict)
        if not outside.any():
            return leaves
        for start, region in enumerate(self._starts):
            run = self._claims_in(start)
            needs = self._needed(run.needs, region)
            for need in [n for n in needs if n.relation == ">"]:
                condition = condition_of(self._reading.back(region.original(need.of)), 1)
                if not (outside & ~record.holds(condition)).any():
                    continue
                other = narrowed(self._with_facts(region, [n for n in needs if n != need]),
                                 need.of, -1)  # fmt: skip
                found = [
                    leaf
                    for claim in run.claims
                    for leaf in leaves_of(claim, run.region, start, other, len(region.conditions))
                ]
                self._settle(found)
                if all(leaf.verdict is None for leaf in found):
                    for leaf in leaves:
                        if leaf.start == start:
                            leaf.region = narrowed(leaf.region, leaf.region.enter(need.of), 1)
                    leaves = [*leaves, *found]
        return leaves

    def _not_decided(self, error: Exception, claim: Claim | None = None) -> Exception:
        """Say why there is no verdict; but refute the rule if numbers alone do that."""
        with self._trial.running():
            if not self._cotangents:
                return error if isinstance(error, TypeError) else _because(error)
            witnessing = Witnessing(self._trial, self._cotangents, ())
            self._witnessing = witnessing
            record = witnessing.record(witnessing.draw([EVERYWHERE], ()), ())
            for place in np.flatnonzero(record.where(Outcome.DIFFERS))[:_TRIES]:
                values = witnessing.values(record.points.rows[place])
                for number, entry, got, slope, wrong in witnessing.entries_at(values):
                    if wrong:
                        nan = sympy.nan
                        at = {self.names.show(s): written(v) for s, v in values.items()}
                        of = f"the gradient of {self.names.label(number)}"
                        return Refuted(entry, nan, nan, at, of, "", (got, slope))
        return _because(error)


def _taken_in(region: Region, names: Names) -> Region:
    """Write a region that a user gave in the symbols of the proof."""
    if region is EVERYWHERE:
        return region
    put = names.taken_in
    return Region(
        {put(symbol): put(value) for symbol, value in region.place.items()},
        tuple(map(put, region.conditions)),
        {},
        {put(formula): sign for formula, sign in region.assumed.items()},
    )


def _because(error: Exception) -> Undecided:
    kind = (
        ""
        if isinstance(error, OrderUnknown | TypeError)
        else f"SymPy gave up on it ({type(error).__name__}): "
    )
    said = str(error) or type(error).__name__
    return Undecided((), sympy.nan, sympy.nan, sympy.nan, because=f"{kind}{said}")
