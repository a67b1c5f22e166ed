"""Prove that a backward rule gives the derivative of its forward, wherever the program can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from minigrad.core.tensor import Tensor
from minigrad.nn import Module
from minigrad.symbolic.array import OrderUnknown, entries
from minigrad.symbolic.equality import Refuted
from minigrad.symbolic.formulas import symbolic_like, tensor_of
from minigrad.symbolic.points import symbols_in
from minigrad.symbolic.proofs import claims
from minigrad.symbolic.proofs.claims import Case, Leaf, Names, Run
from minigrad.symbolic.proofs.conclusion import TROUBLE, Conclusion, not_decided, written
from minigrad.symbolic.proofs.proof import Proof
from minigrad.symbolic.proofs.trial import Outcome, Record, Trial
from minigrad.symbolic.regions import (
    EVERYWHERE,
    Integers,
    Region,
    condition_of,
    cut,
    is_kinky,
    kinks_in,
    region_of,
)
from minigrad.symbolic.signs import Need, reduced

_PARTS = 256  # of more parts than these the regions should be given
_VISITS, _FEW = 40, 12  # of so many parts more, points in each
_TRIES = 12  # points that are looked at entry by entry


class Judge:
    """Hears both sides, formulas and numbers, and comes to a verdict.

    Args:
        case: The operation.
        given: The regions to prove it in.
    """

    def __init__(self, case: Case, given: Sequence[Region]) -> None:
        self._case, self._reading = case, case.reading
        self._given = [_taken_in(region, case.names) for region in given]
        self._trial: Trial | None = None
        self._explored: list[Any] = []  # the formulas at whose zeros the program takes turns
        self._known: dict[int, Region] = {}  # the regions to begin with, and what is known there

    def verdict(self) -> Proof:
        """Come to a verdict.

        Raises:
            Refuted: If the rule is wrong.
            Undecided: If neither this nor a proof was found.
        """
        case = self._case
        try:
            self._explore()
            self._starts = self._given
            if len(case.runs) > 1 or case.runs[0].region is not EVERYWHERE:
                self._starts = [run.region for run in case.runs]
            case.names.meet(e for run in case.runs for c in run.claims for e in (c.found, c.due))
        except (TypeError, AttributeError, RuntimeError, LookupError, ArithmeticError) as error:
            about = isinstance(error, OrderUnknown) or "symbols" in str(error)
            if isinstance(error, TypeError) and not about:
                raise
            raise self._not_decided(error) from error
        trial = self._trial = self._made_trial()
        self._conclusion = Conclusion(trial, case, self._starts)
        try:
            with trial.running():
                return self._hear(trial)
        except TROUBLE as error:
            raise self._not_decided(error) from error

    def _made_trial(self) -> Trial:
        """Make a trial of the operation.

        Raises:
            ValueError: If there are symbols in it that are none of its inputs'.
        """
        case = self._case
        formulas = [e for run in case.runs for c in run.claims for e in (c.found, c.due, *c.values)]
        known = symbols_in(e for each in case.names.held for e in entries(each).flat)
        known.update(self._reading.symbols(), *(entries(each).flat for each in case.cotangents))
        known.update(*(each.meaning for each in self._starts))
        outside = sorted(map(str, symbols_in(formulas) - known))
        if outside:
            raise ValueError(
                f"the operation has symbols of its own: {', '.join(outside)}. prove() also runs it "
                "on numbers, so give it all symbols as inputs: as settings=(...) or as tensors, "
                "which need not require a gradient."
            )
        placed = symbols_in(e for region in self._given for e in region.place.values())
        trial = _trial_of(case, sorted(placed - known, key=str))
        trial.still = [
            {symbol for symbol, value in region.place.items() if value.is_number}
            for region in self._starts
        ]
        return trial

    # ------------------------------------------------------------------ on symbols

    def _explore(self) -> None:
        """Run the function; where it asks for an order of symbols, run it in each of the orders."""
        waiting, seen = [EVERYWHERE], 0
        while waiting:
            region = waiting.pop(0)
            try:
                self._case.run(region)
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

    def _run_in(self, start: int) -> Run:
        return self._case.runs[0 if len(self._case.runs) == 1 else start]

    def _needed(self, needs: frozenset[Need], region: Region) -> list[Need]:
        """Give what is needed in a region, in symbols of the integers too."""
        read = [Need(region.enter(self._reading.read(n.of)), n.relation) for n in needs]
        return reduced(read, region.sign)

    def _with_facts(self, region: Region, needs: Sequence[Need]) -> Region:
        """Give a region to cut, with what is known there of integers and of the forward's needs."""
        known = {region.enter(each): sign for each, sign in self._reading.facts.items()}
        signs = {n.of: 1 for n in needs if n.relation == ">"}
        return replace(region, conditions=(), assumed={**region.assumed, **known, **signs})

    # ------------------------------------------------------------------ both

    def _hear(self, trial: Trial) -> Proof:
        leaves: list[Leaf] = []
        domain: dict[Need, None] = {}
        for start, region in enumerate(self._starts):
            run = self._run_in(start)
            needs = self._needed(run.needs, region)
            if any(region.sign(n.of) is not None for n in needs):
                continue  # a step has no value in all of it
            split = [need for need in needs if is_kinky(need.of)]
            needs = [need for need in needs if need not in split]
            domain |= {Need(self._case.original(n.of, region), n.relation): None for n in needs}
            known = self._known[start] = self._with_facts(region, needs)
            for claim in run.claims:
                found = claims.leaves_of(claim, start, known, split)
                for leaf in found:
                    self._conclusion.confirm(leaf)
                leaves += found
        strict = [condition_of(need.of, need.sign) for need in domain]
        conditions = self._conditions(leaves, strict)
        starts = [replace(each, conditions=()) for each in self._starts]
        if self._starts is not self._given:
            starts.append(EVERYWHERE)  # also between the regions that were explored
        record = trial.record(trial.draw(starts, conditions, strict), conditions, strict)
        self._conclusion.by_runs(record, strict)
        for leaf in leaves:  # in earnest, once runs have not refuted the rule
            leaf.settle()
            self._conclusion.confirm(leaf)
        leaves = self._visit(trial, record, leaves)
        return self._conclusion.proof(record, leaves, strict)

    def _conditions(self, leaves: Sequence[Leaf], strict: Sequence[Any]) -> list[Any]:
        """List all that divides space: domains, kinks, jumps, and what the rule needs."""
        found: dict[Any, None] = dict.fromkeys(strict)
        for start, region in enumerate(self._starts):
            run = self._run_in(start)
            for need in self._needed(run.rule_needs, self._known.get(start, region)):
                original = self._case.original(need.of, region)
                found[condition_of(original, need.sign)] = None
        for kink in self._explored:
            found[condition_of(self._reading.back(kink), 1)] = None
        for leaf in leaves:
            found |= dict.fromkeys(self._conclusion.cuts(leaf))
        found |= dict.fromkeys(self._reading.jumps())
        return [each for each in found if isinstance(each, sympy.core.relational.Relational)]

    def _visit(self, trial: Trial, record: Record, leaves: list[Leaf]) -> list[Leaf]:
        """Run at points of the parts that have had none; leave out those that have no points."""
        kept, visits = [], 0
        for leaf in leaves:
            if not self._conclusion.inside(record, leaf).any() and visits < _VISITS:
                visits += 1
                start = replace(leaf.region, conditions=())
                extra = trial.record(trial.draw([start], ()), (), (), _FEW)
                extra.points.start[:] = leaf.start
                record.add(extra)
                self._conclusion.by_runs(extra)
            met = self._conclusion.inside(record, leaf).any()
            if met or leaf.verdict is None:
                kept.append(leaf)
            elif not self._reading.symbols():  # of integers, not all that is written down can be
                raise self._conclusion.open(leaf)
        return kept

    def _not_decided(self, error: Exception) -> Exception:
        """Say why there is no verdict; but refute the rule if numbers alone do that."""
        case = self._case
        if not case.cotangents:
            return not_decided(error)
        trial = self._trial or _trial_of(case)
        trial.still = []
        with trial.running():
            record = trial.record(trial.draw([EVERYWHERE], ()), ())
            for row in record.points.rows[record.where(Outcome.DIFFERS)][:_TRIES]:
                values = trial.values(row)
                for number, entry, got, slope in trial.wrong_entries(values):
                    at = {case.names.show(s): written(v) for s, v in values.items()}
                    nan, of = sympy.nan, case.of(number)
                    return Refuted(entry, nan, nan, at, of, "", (got, slope))
        return not_decided(error)


def _trial_of(case: Case, others: Sequence[Any] = ()) -> Trial:
    return Trial(case.call, case.names.held, case.wanted, case.cotangents, others)


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


def prove(
    operation: Callable[..., Any],
    *inputs: Any,
    regions: Sequence[Any] | None = None,
    settings: Sequence[Any] = (),
    **assumptions: bool,
) -> Proof:
    r"""Prove that the engine's gradient of an operation is the derivative of its forward.

    The operation runs on symbols, backward from a gradient of symbols $g$. What arrives at each
    input is compared with $\sum_k g_k\, \partial r_k / \partial x_i$, for which SymPy
    differentiates the result's formula itself. Where formulas have kinks (relu, max, abs), space
    is cut at them, and each part is proved on its own; the kinks themselves are left out.

    A proof holds where the program can run: where the forward and every step of it is real and
    finite. This domain is found along the run, and told. Before anything is said, the rule itself
    runs on numbers, in float64, at some two hundred points spread over all regions, and is compared
    with difference quotients of the forward: some thousand runs of the operation.

    Args:
        operation: A function of tensors, such as `torch.mul`, a lambda, the `apply` of a custom
            function, or a module, whose parameters are differentiated too. What it prints is not
            shown.
        *inputs: Shapes, each an integer or a tuple, for which symbols x, y, z, ... are made; or
            tensors of symbols, of which those that require a gradient are differentiated.
        regions: For functions with kinks, the parts of space to prove it in: substitutions such
            as `{x: d}` and `{x: -d}` with a positive `d`, or conditions such as `x > 0`. They are
            found where none are given.
        settings: What the operation takes after the tensors, such as a dimension. A SymPy symbol
            stands for any number, such as an exponent.
        **assumptions: What SymPy may assume of the symbols that are made, such as
            `positive=True`. Without any: `real=True`.

    Returns:
        The evidence, which can be printed.

    Raises:
        Refuted: If the rule is wrong; it names the entry, both formulas and a counterexample, at
            which the rule was run.
        Undecided: If SymPy finds neither a proof nor a counterexample.
        ValueError: If no input requires a gradient, or a symbol of the operation is no input.

    Example:
        >>> import minigrad as torch
        >>> prove(torch.tanh, ()).gradients
        (g*(1 - tanh(x)**2),)
        >>> prove(torch.relu, ()).where
        'region by region: x > 0; x < 0'
        >>> prove(torch.log, ()).where
        'for all values of the symbols with x > 0'
    """
    function = symbolic_like(operation) if isinstance(operation, Module) else operation
    tensors = claims.made(inputs, assumptions)
    wanted = [each for each in tensors if isinstance(each, Tensor) and each.requires_grad]
    if isinstance(function, Module):
        wanted += [each for each in function.parameters() if each.requires_grad]
    if not wanted:
        raise ValueError("prove() needs an input that requires a gradient")
    given = [EVERYWHERE] if regions is None else [region_of(_of_symbols(each)) for each in regions]
    numbers = {k: tensor_of(s) for k, s in enumerate(settings) if isinstance(s, sympy.Symbol)}

    def call() -> Any:
        given = (
            numbers[k]._array.item() if k in numbers else each for k, each in enumerate(settings)
        )
        return function(*tensors, *given)

    with claims.borrowed(function, [*tensors, *numbers.values()], wanted) as names:
        case = Case(call, wanted, names, Integers())
        proof = Judge(case, given).verdict()
    return replace(proof, name=claims.name_of(operation))


def _of_symbols(region: Any) -> Any:
    """Let tensors stand for the only symbol in them."""
    if isinstance(region, tuple):
        return tuple(map(_of_symbols, region))
    if not isinstance(region, Mapping):
        return entries(region).item() if isinstance(region, Tensor) else region
    pairs = [[entries(each).item() for each in pair] for pair in region.items()]
    return dict(pairs)
