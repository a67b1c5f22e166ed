"""Prove a backward rule: compare formulas region by region, and let the rule run on numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy
from sympy.core.relational import Relational

from minigrad.core.tensor import Tensor
from minigrad.nn import Module
from minigrad.symbolic import claims
from minigrad.symbolic.array import OrderUnknown, SymbolicArray, entries
from minigrad.symbolic.claims import Case, Claim, Leaf, Run
from minigrad.symbolic.equality import Refuted, Undecided, original_point, shaped
from minigrad.symbolic.formulas import symbolic_like, tensor_of
from minigrad.symbolic.points import borders_at, draw, holds, random_points, symbols_in
from minigrad.symbolic.proof import Evidence, Proof, Witness
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
from minigrad.symbolic.trial import Outcome, Trial

_PARTS = 256  # of more parts than these the regions should be given
_POINTS, _OUTSIDE, _ON_BORDER, _IN_PART = 200, 50, 3, 2  # points at which the rule runs
_DRAWS = 6  # of points, if few of them are in the domain
_TRIES = 12  # points that are looked at entry by entry
_LARGE = 8  # beyond that, numbers overflow or round badly sooner or later
_ROUNDED = 1e-3  # what a run is off by where formulas agree may come of rounding up to here
_FEW = 8  # inputs: so many are told
# what may go wrong in a run on symbols, or in SymPy
TROUBLE = (AttributeError, TypeError, ValueError, RuntimeError, LookupError, ArithmeticError)
ADVICE = (
    "Give regions in which there is no kink (regions=[{x: d}, {x: -d}] with a positive d), or "
    "stronger assumptions on the symbols (positive=True)."
)


@dataclass
class Runs:
    """What runs at points showed.

    Attributes:
        rows: The points, a row each.
        start: For each point which of the regions it was drawn in.
        border: For each point which border it lies on: -1 for none, -2 for several.
        outcomes: What each run showed.
    """

    rows: Any
    start: Any
    border: Any
    outcomes: list[Outcome]

    def where(self, *outcomes: Outcome) -> Any:
        """Tell at which points a run showed one of some outcomes."""
        return np.array([each in outcomes for each in self.outcomes], bool)


class Prover:
    """Checks a rule: by formulas, in each part of space without kinks, and by runs on numbers.

    Nothing is said to be proved unless runs agree in that part, and nothing to be refuted unless a
    run shows it.

    Args:
        case: The operation.
        given: The regions to prove it in.
    """

    def __init__(self, case: Case, given: Sequence[Region]) -> None:
        self._case, self._reading, self._given = case, case.reading, list(given)
        self._starts = self._given
        self._explored: list[Any] = []  # the formulas at whose zeros the program takes turns
        self._conditions: list[Any] = []  # what divides space
        self._borders: list[Any] = []  # formulas that are 0 on its borders
        self._trial: Trial

    def check(self) -> Proof:
        """Prove the rule.

        Raises:
            Refuted: If the rule is wrong.
            Undecided: If neither this nor a proof was found.
        """
        try:
            self._explore()
        except (TypeError, AttributeError, RuntimeError, LookupError, ArithmeticError) as error:
            about = isinstance(error, OrderUnknown) or "symbols" in str(error)
            if isinstance(error, TypeError) and not about:
                raise
            raise self._not_decided(error) from error
        runs = self._case.runs
        if len(runs) > 1 or runs[0].region is not EVERYWHERE:
            self._starts = [run.region for run in runs]
        self._trial = self._made_trial()
        try:
            with self._trial.running():
                return self._proof(*self._leaves())
        except TROUBLE as error:
            raise self._not_decided(error) from error

    def _made_trial(self) -> Trial:
        """Make a trial of the operation.

        Raises:
            ValueError: If there are symbols in it that are none of its inputs'.
        """
        case = self._case
        formulas = [e for run in case.runs for c in run.claims for e in (c.found, c.due, *c.values)]
        known = symbols_in(e for each in case.held for e in entries(each).flat)
        known.update(self._reading.symbols(), *(entries(each).flat for each in case.cotangents))
        known.update(*(each.meaning for each in self._starts))
        outside = sorted(map(str, symbols_in(formulas) - known))
        if outside:
            raise ValueError(
                f"the operation has symbols of its own: {', '.join(outside)}. prove() also runs it "
                "on numbers, so give it all symbols as inputs: as settings=(...) or as tensors, "
                "which need not require a gradient."
            )
        return Trial(case.call, case.held, case.wanted, case.cotangents)

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

    def _leaves(self) -> tuple[list[Leaf], list[Any]]:
        """Compare all formulas, in parts without kinks; give these, and the domain."""
        leaves: list[Leaf] = []
        domain: dict[Any, None] = {}
        conditions: dict[Any, None] = {}
        for start, region in enumerate(self._starts):
            run = self._run_in(start)
            needs = self._needed(run.needs, region)
            if any(region.sign(n.of) is not None for n in needs):
                continue  # a step has no value in all of it
            split = [need for need in needs if is_kinky(need.of)]
            needs = [need for need in needs if need not in split]
            domain |= dict.fromkeys(self._said(need, region) for need in needs)
            known = {region.enter(each): sign for each, sign in self._reading.facts.items()}
            known |= {n.of: 1 for n in needs if n.relation == ">"}
            here = replace(region, conditions=(), assumed={**region.assumed, **known})
            conditions |= dict.fromkeys(
                self._said(n, here) for n in self._needed(run.rule_needs, here)
            )
            for claim in run.claims:
                found = claims.leaves_of(claim, start, here, split)
                for leaf in found:
                    self._confirm(leaf)
                    conditions |= dict.fromkeys(self._cuts(leaf))
                leaves += found
        conditions |= dict.fromkeys(condition_of(self._reading.back(k), 1) for k in self._explored)
        every = [*domain, *conditions, *self._reading.jumps()]
        self._conditions = [e for e in dict.fromkeys(every) if isinstance(e, Relational)]
        return leaves, list(domain)

    def _said(self, need: Need, region: Region) -> Any:
        return condition_of(self._case.original(need.of, region), need.sign)

    def _cuts(self, leaf: Leaf) -> list[Any]:
        """Give the conditions by which a leaf was cut out, in the symbols of the inputs."""
        return list(map(self._reading.back, leaf.region.conditions))

    # ------------------------------------------------------------------ on numbers

    def _inside(self, leaf: Leaf, rows: Any) -> Any:
        """Tell which points lie in the part of a leaf."""
        cuts = [holds(each, self._trial.symbols, rows) for each in self._cuts(leaf)]
        return np.logical_and.reduce([np.full(len(rows), True), *cuts])

    def _run(self, leaves: Sequence[Leaf], domain: Sequence[Any]) -> Runs:
        """Run the rule at points of all parts, and on their borders."""
        trial, symbols = self._trial, self._trial.symbols
        starts: list[Region] = [replace(each, conditions=()) for each in self._starts]
        if self._starts is not self._given:
            starts.append(EVERYWHERE)  # also between the regions that were explored
        formulas = list({sympy.expand(c.lhs - c.rhs): None for c in self._conditions})
        formulas = [f for k, f in enumerate(formulas) if sympy.expand(-f) not in formulas[:k]]
        rows, start, fits = np.zeros((0, len(symbols))), np.zeros(0, int), np.zeros(0, bool)
        for seed in range(_DRAWS):
            for number, region in enumerate(starts):
                more = draw(symbols, region, formulas, seed)
                rows, start = np.concatenate([rows, more]), np.append(start, [number] * len(more))
            fits = np.full(len(rows), True)
            for each in domain:
                fits &= holds(each, symbols, rows)
            if fits.sum() >= 2 * _POINTS:
                break
        # from a gradient of zeros nothing would be seen
        zero = np.flatnonzero((rows == 0).all(1))
        rows[zero[:, None], [symbols.index(each) for each in trial.starting]] = 1.0
        border = borders_at(formulas, symbols, rows)
        places: list[int] = []
        order = np.random.default_rng(1).permutation(len(rows))
        free = order[border[order] == -1]
        for leaf in leaves:
            if leaf.region.conditions or leaf.start:
                mine = free[fits[free] & (start[free] == leaf.start)]
                places += list(mine[self._inside(leaf, rows[mine])][:_IN_PART])
        inside, outside = free[fits[free]], free[~fits[free]]
        places = list(dict.fromkeys([*places, *inside]))[: max(_POINTS, len(set(places)))]
        places += list(outside[:_OUTSIDE])
        for each in range(len(formulas)):
            on = np.flatnonzero(border == each)
            # those first at which the program can run, and whose numbers are not large
            large = np.abs(rows[on]).max(1) > _LARGE
            places += list(on[np.lexsort((large, ~fits[on]))][:_ON_BORDER])
        self._borders = formulas
        picked = np.array(places, int)
        if len(picked):
            trial.keep_draws(rows[picked[0]])
        outcomes = [trial.outcome(rows[k], bool(border[k] >= 0)) for k in picked]
        return Runs(rows[picked], start[picked], border[picked], outcomes)

    def _confirm(self, leaf: Leaf) -> None:
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
            values = {**point, **drawn}
            row = np.array([float(values[each]) for each in symbols])
            said = self._refuted_at(row, leaf.claim, point)
            if said is not None:
                raise said

    def _refuted_at(
        self, row: Any, claim: Claim | None = None, exact: Mapping[Any, Any] | None = None
    ) -> Refuted | None:
        """Run at a point, and refute a claim, or any one, if the run there does.

        Returns:
            The verdict, if the rule gives something else there than the slope of the forward.
            One that formulas tell, too, is the best.
        """
        found = [
            self._verdict(place, entry, row, exact or {}, (got, slope))
            for place, entry, got, slope in self._trial.wrong_entries(row)
            if claim is None or (claim.place, claim.entry) == (place, entry)
        ]
        said = [verdict for verdict in found if verdict is not None]
        return next((each for each in said if not each.ran), said[0] if said else None)

    def _verdict(
        self, place: int, entry: Any, row: Any, exact: Mapping[Any, Any], ran: Any
    ) -> Refuted | None:
        """Tell a counterexample; None if it may be one of rounding only."""
        case, values = self._case, self._trial.values(row)
        claim = case.claim_at(place, entry, values)
        found, due = (case.original(each, claim.region) for each in (claim.found, claim.due))
        numbers = {symbol: exact.get(symbol, written(value)) for symbol, value in values.items()}
        sides = [_value(each, numbers) for each in (found, due)]
        gap = abs(sides[0] - sides[1])
        told = gap > 0 and all(
            abs(side - number) <= min(1e-6 * (1 + abs(number)), 0.2 * gap)
            for side, number in zip(sides, ran, strict=True)
        )
        if not told and abs(ran[0] - ran[1]) <= _ROUNDED * max(1.0, *map(abs, ran)):
            return None
        if not told and np.isfinite(ran[0]) and _is_far(row):
            # rounding spoils what is beside the point too; what is wrong there alone is wrong
            beside = self._trial.beside(row, place, entry)
            if any(abs(b - ran[1]) > 0.1 * abs(ran[0] - ran[1]) for b in beside) or not beside:
                return None
        inside = found.free_symbols | due.free_symbols
        if not told or any(run.needs for run in case.runs):  # where it runs, others decide
            inputs = numbers.keys() - set(self._trial.starting)
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

    def _refute_by(self, runs: Runs, domain: Sequence[Any]) -> None:
        """Refute the rule if a run did so.

        Raises:
            Refuted: If so.
        """
        spare: list[Refuted] = []
        limits = {sympy.expand(c.lhs - c.rhs) for c in domain}
        jumps = {  # the forward jumps somewhere on these: smooth at one of them is but chance
            border
            for border, outcome in zip(runs.border, runs.outcomes, strict=True)
            if border >= 0 and outcome is Outcome.ROUGH and self._borders[border].has(sympy.floor)
        }
        for outcome, most in ((Outcome.DIFFERS, 4 * _TRIES), (Outcome.NOTHING, _TRIES)):
            places = np.flatnonzero(runs.where(outcome))
            for place in sorted(places, key=lambda k: (_complexity(runs.rows[k]), k))[:most]:
                row, border = runs.rows[place], runs.border[place]
                if border in jumps:
                    continue
                if outcome is Outcome.NOTHING:
                    edge = self._borders[border] if border >= 0 else None
                    if edge is not None and {edge, sympy.expand(-edge)} & limits:
                        continue  # as at 0 in 1 / (1 / x)
                    if _is_far(row) and not self._has_unmet_need(self._trial.values(row)):
                        continue  # a number overflows, or is rounded to where there is a pole
                    said = self._refuted_at(row)
                else:
                    short = np.array([float(written(each)) for each in row])
                    said = self._refuted_at(short) or self._refuted_at(row)
                    runs.outcomes[place] = Outcome.CLOSE
                if said is not None and not said.ran:
                    raise said
                spare += [] if said is None else [said]
        if spare:
            raise spare[0]

    # ------------------------------------------------------------------ what is proved

    def _proof(self, leaves: list[Leaf], domain: list[Any]) -> Proof:
        """Give a proof, of what both formulas and runs show.

        Raises:
            Refuted: If the rule is wrong.
            Undecided: If there is nothing left, or something that was not decided.
        """
        runs = self._run(leaves, domain)
        self._refute_by(runs, domain)
        for leaf in leaves:  # in earnest, once runs have not refuted the rule
            leaf.settle()
            self._confirm(leaf)
        apart = runs.border < 0
        agrees = runs.where(Outcome.AGREES) & apart
        differs = runs.where(Outcome.DIFFERS) & apart
        ran = agrees | differs | (runs.where(Outcome.CLOSE, Outcome.NOTHING) & apart)
        if differs.any():
            raise undecided(
                "formulas and runs do not tell the same: at a point the rule gives something else "
                "than the slope of the forward, and it was not found which entry"
            )
        evidence, seen = [], set()
        by_claim: dict[Any, list[Leaf]] = {}
        for run in self._case.runs:
            by_claim |= {(claim.place, claim.entry): [] for claim in run.claims}
        for leaf in leaves:
            by_claim[leaf.claim.place, leaf.claim.entry].append(leaf)
        for mine in by_claim.values():
            good = []
            for leaf in mine:
                inside = self._inside(leaf, runs.rows) & (runs.start == leaf.start)
                if leaf.verdict is not None and ((inside & ran).any() or not inside.any()):
                    raise self._open(leaf)
                if leaf.verdict is None and (inside & agrees).any():
                    good.append(leaf)
            if not good:
                raise self._unwitnessed(mine)
            seen |= {(leaf.start, *self._cuts(leaf)) for leaf in good}
            evidence.append(self._evidence(good))
        case, run = self._case, self._case.runs[0]
        regions = {str(region): region for each in evidence for region in each.regions}
        return Proof(
            forward=_told(run.results),
            cotangent=_told([entries(each) for each in case.cotangents]),
            gradients=tuple(_told([each]) for each in run.gradients),
            regions=tuple(regions.values()) or (EVERYWHERE,),
            inputs=tuple((case.label(k), each.shape) for k, each in enumerate(case.inputs)),
            assumed=tuple(map(claims.assumptions_of, case.inputs)),
            evidence=tuple(evidence),
            domain=tuple(domain),
            witness=Witness(int(agrees.sum()), len(seen), self._trial.runs),
        )

    def _evidence(self, good: Sequence[Leaf]) -> Evidence:
        claim = good[0].claim
        found, due = (self._case.original(e, claim.region) for e in (claim.found, claim.due))
        jumps, regions = self._reading.jumps(), []
        for leaf in good:
            conditions = (*self._starts[leaf.start].conditions, *self._cuts(leaf), *jumps)
            regions.append(Region(leaf.region.place, conditions))
        return Evidence(self._case.label(claim.place), claim.entry, found, due, tuple(regions))

    # ------------------------------------------------------------------ what is not decided

    def _open(self, leaf: Leaf) -> Undecided:
        """Say that a claim was not decided in a part of space."""
        case, claim = self._case, leaf.claim
        left, right = (case.original(each, leaf.region) for each in leaf.sides)
        of = case.of(claim.place)
        if not isinstance(leaf.verdict, dict):
            assert leaf.verdict is not None
            return Undecided(claim.entry, left, right, *leaf.verdict, of, ADVICE)
        at = ", ".join(f"{s} = {v}" for s, v in leaf.verdict.items())
        because = (
            f"the formulas {left} and {right} differ at {at}, but no run shows it: either "
            "rounding hides it, or the program has no value there"
        )
        return Undecided(claim.entry, left, right, left - right, None, of, because=because)

    def _unwitnessed(self, leaves: Sequence[Leaf]) -> Undecided:
        where = " or ".join(dict.fromkeys(str(leaf.region) for leaf in leaves[:3]))
        failed = f" (the last one failed: {self._trial.failed})" if self._trial.failed else ""
        return undecided(
            "no point was found at which the rule could be run on numbers and compared with the "
            f"forward's slope{f', where {where}' if where else ''}{failed}. {ADVICE}"
        )

    def _not_decided(self, error: Exception) -> Exception:
        """Say why there is no verdict; but refute the rule if numbers alone do that."""
        case = self._case
        if not case.cotangents:
            return not_decided(error)
        trial = Trial(case.call, case.held, case.wanted, case.cotangents)
        with trial.running():
            rows = draw(trial.symbols, EVERYWHERE, [])[:_POINTS]
            trial.keep_draws(rows[0])
            wrong = (row for row in rows if trial.outcome(row, False) is Outcome.DIFFERS)
            for row, _ in zip(wrong, range(_TRIES), strict=False):
                for place, entry, got, slope in trial.wrong_entries(row):
                    at = {s: written(v) for s, v in trial.values(row).items()}
                    nan, of = sympy.nan, case.of(place)
                    return Refuted(entry, nan, nan, at, of, "", (got, slope))
        return not_decided(error)


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
    return sum(len(str(each)) + 4 * (0 < each < 1 / 2048) for each in sizes)


def _is_far(row: Any) -> bool:
    """Tell whether a point is so far out that numbers may overflow there."""
    return bool(np.abs(row).max(initial=0) > _LARGE)


def _value(formula: Any, numbers: Mapping[Any, Any]) -> float:
    try:
        return float(formula.subs(numbers).doit().evalf(20))
    except (TypeError, ValueError):
        return float("nan")


def _told(arrays: Sequence[Any]) -> Any:
    """Show formulas as SymPy has them: those of several arrays in a row."""
    flat = [entry for array in arrays for entry in array.flat]
    return shaped(flat, arrays[0].shape if len(arrays) == 1 else (len(flat),))


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

    held = [*wanted, *(each for each in tensors if isinstance(each, Tensor)), *numbers.values()]
    if isinstance(function, Module):
        held += [*function.parameters(), *function.buffers()]
    held = [e for e in {id(e): e for e in held}.values() if isinstance(e._array, SymbolicArray)]
    _refuse_shared_names(held, wanted)
    proof = Prover(Case(call, wanted, held, Integers()), given).check()
    return replace(proof, name=claims.name_of(operation))


def _refuse_shared_names(held: Sequence[Tensor], wanted: Sequence[Tensor]) -> None:
    """Refuse to prove anything of inputs that are no symbols, or that share the name of one.

    Raises:
        ValueError: If an input is a formula.
        Undecided: If two symbols have one name: in formulas they would be one.
    """
    if not all(entry.is_Symbol for each in wanted for entry in entries(each).flat):
        raise ValueError("prove() takes inputs whose entries are symbols, not formulas or numbers")
    names = Counter(s.name for each in held for s in symbols_in(entries(each).flat))
    shared = next((name for name, count in names.items() if count > 1), None)
    if shared is not None:
        raise undecided(f"two inputs have a symbol {shared}. Choose other names")


def _of_symbols(region: Any) -> Any:
    """Let tensors stand for the only symbol in them."""
    if isinstance(region, tuple):
        return tuple(map(_of_symbols, region))
    if not isinstance(region, Mapping):
        return entries(region).item() if isinstance(region, Tensor) else region
    pairs = [[entries(each).item() for each in pair] for pair in region.items()]
    return dict(pairs)
