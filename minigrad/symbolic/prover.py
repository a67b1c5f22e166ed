"""Prove a backward rule: compare formulas in each part without kinks, and run it on numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy
from sympy.core.relational import Relational

from minigrad.autograd.gradients import grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.nn import Module
from minigrad.symbolic import equality, regions
from minigrad.symbolic.array import OrderUnknown, SymbolicArray, entries, entrywise, needs_of
from minigrad.symbolic.equality import Refuted, Undecided, symbols_in
from minigrad.symbolic.formulas import named_array, symbolic_like, symbols, tensor_of
from minigrad.symbolic.proof import Evidence, Proof
from minigrad.symbolic.regions import EVERYWHERE, KINKS, Need, Region, condition_of, reduced
from minigrad.symbolic.trial import Outcome, Trial, compiled, drawn, outputs_of

# g is the gradient of the result, n stands for what is rounded, p for what is positive.
_NAMES = "xyzwvutsrq"
_PARTS = 256  # the most cuts of space
_POINTS, _OUTSIDE, _ON_BORDER, _IN_PART = 200, 50, 3, 2  # points at which the rule runs
_DRAWS = 4  # times as many points are drawn where not all are in the domain
_TRIES = 12  # points that are looked at entry by entry
_BY_MUCH = 0.1  # of a gradient is no rounding, for numbers that are not huge
_LARGE = 8  # beyond that, numbers overflow or round badly sooner or later
_ROUNDED = 1e-3  # a difference up to here may be rounding, where formulas agree


@dataclass(frozen=True)
class Claim:
    """That one entry of a gradient is the derivative, in a region.

    Attributes:
        place: The number of the input among those that are differentiated, and the entry's index.
        region: The region in which the operation was run.
        found: What the rule gives.
        due: What it should be.
        values: The entries of the result in which the entry occurs.
        of: What the formulas are of.
    """

    place: tuple[int, tuple[int, ...]]
    region: Region
    found: Any
    due: Any
    values: tuple[Any, ...]
    of: str


@dataclass
class Leaf:
    """A part of space without kinks, and whether a claim was proved in it.

    Attributes:
        claim: The claim.
        region: The part.
        sides: The formulas that are compared, as they are there.
        decision: As from `decide`.
    """

    claim: Claim
    region: Region
    sides: tuple[Any, Any]
    decision: equality.Decision


class Prover:
    """Checks a rule: by formulas, in each part of space without kinks, and by runs on numbers.

    It proves nothing unless runs agree in that part, and refutes nothing unless a run shows it.

    Args:
        call: Calls the operation, with tensors that hold symbols.
        inputs: The tensors that are differentiated.
        held: All tensors that hold symbols.
    """

    def __init__(
        self, call: Callable[[], Any], inputs: Sequence[Tensor], held: Sequence[Tensor]
    ) -> None:
        self._call, self._inputs, self._held = call, inputs, held
        self._entries = [entries(each) for each in inputs]
        self._jumps: dict[Any, None] = {}  # the conditions under which nothing jumps
        self._cotangents: list[Any] = []  # for each output the symbols of its gradient
        self._claims: list[Claim] = []
        self._needs: dict[Region, frozenset[Need]] = {}  # of the forward, in each region of a run
        self._rule_needs: dict[Region, list[Need]] = {}  # and of forward and backward
        self._holes: dict[Any, None] = {}  # what a rule needs and the forward does not
        self._results: list[Any] = []  # of the first run
        self._gradients: list[Any] = []
        self._explored: list[Any] = []  # the formulas at whose zeros the program takes turns
        self._trial: Trial

    def check(self) -> Proof:
        """Prove the rule.

        Raises:
            Refuted: If the rule is wrong.
            Undecided: If neither this nor a proof was found.
        """
        try:
            self._explore()
            self._trial = Trial(self._call, self._held, self._inputs, self._cotangents)
            with self._trial.running():
                return self._proof(*self._leaves())
        except (Refuted, Undecided):
            raise
        except equality.TROUBLE as error:
            if isinstance(error, ValueError) and not self._cotangents:
                raise
            raise equality.undecided(error) from error

    # ------------------------------------------------------------------ on symbols

    def _explore(self) -> None:
        """Run the function; where it asks for an order of symbols, run it in each of the orders."""
        waiting, seen = [EVERYWHERE], 0
        arrays = [each._array for each in self._held]
        while waiting:
            region = waiting.pop(0)
            try:
                for tensor, array in zip(self._held, arrays, strict=True):
                    tensor._array = _moved(array, region)
                self._run(region)
            except OrderUnknown as error:
                asked = self._original(error.formula, EVERYWHERE)
                kinks = regions.kinks_in([asked]) or [asked]
                seen += 1
                if seen > _PARTS or not kinks[0].free_symbols or asked != error.formula:
                    raise
                self._explored.append(region.original(kinks[0]))
                waiting = [*regions.cut(kinks[0], region), *waiting]
                if any(each.assumed for each in waiting):
                    raise  # without a substitution the program would ask again
            finally:
                for tensor, array in zip(self._held, arrays, strict=True):
                    tensor._array = array

    def _run(self, region: Region) -> None:
        """Run forward and backward in a region, and note what has to be proved."""
        outputs = outputs_of(self._call())
        if not outputs:
            raise ValueError("prove() needs a graph: is the result detached, or under no_grad()?")
        self._cotangents = self._cotangents or list(self._gradients_of(outputs))
        starts = _flat(self._cotangents)
        formulas = [self._original(each, region) for each in _flat(outputs)]
        pairs = list(zip(starts, formulas, strict=True))
        due = [
            entrywise(lambda s: sympy.Add(*(g * regions.slope(y, s) for g, y in pairs)), symbols)
            for symbols in self._entries
        ]
        try:
            starting = list(map(wrap, self._cotangents))
            found = grad(outputs, self._inputs, starting, allow_unused=True)
        except RuntimeError as error:
            if "invalid gradient" not in str(error):
                raise
            raise Refuted(note=str(error)) from error
        for input_nr, (gradient, right) in enumerate(zip(found, due, strict=True)):
            label = label_of(self._entries[input_nr])
            of = f"the gradient of {label}"
            array = entries(right * 0 if gradient is None else gradient)
            if array.shape != right.shape:
                shapes = f"{list(array.shape)} came for {label} of shape {list(right.shape)}"
                raise Refuted(of=of, note=f"a gradient of shape {shapes}")
            for entry in np.ndindex(right.shape):
                symbol = self._entries[input_nr][entry]
                values = tuple(each for each in formulas if symbol in each.free_symbols)
                place, here = (input_nr, entry), self._original(array[entry], region)
                self._claims.append(Claim(place, region, here, entries(right)[entry], values, of))
            if region is EVERYWHERE or len(self._gradients) < len(found):
                self._gradients.append(array)
        self._results = self._results or [entries(each) for each in outputs]
        self._needs[region] = needs_of(outputs)
        self._rule_needs[region] = self._read_needs(needs_of([*outputs, *found]), region)

    def _original(self, formula: Any, region: Region) -> Any:
        """Write a formula of a region in the symbols of the inputs, as it is beside its jumps."""
        whole = region.original(formula)
        self._jumps |= dict.fromkeys(regions.jumps_of(whole))
        return regions.beside_jumps(whole)

    def _read_needs(self, needs: Iterable[Need], region: Region) -> list[Need]:
        read = (Need(region.enter(self._original(n.of, region)), n.relation) for n in needs)
        return reduced(read, region.sign)

    def _gradients_of(self, outputs: Sequence[Tensor]) -> Iterator[Any]:
        """Make symbols for the gradients of the result: g, or g_1, g_2 and so on."""
        stems = {s.name.partition("_")[0] for each in self._held for s in symbols_in(_flat([each]))}
        name = next(name for name in ("g", "h", "e", "G", "H", "E", "dr") if name not in stems)
        for number, output in enumerate(outputs, 1):
            own = name if len(outputs) == 1 else f"{name}_{number}"
            yield named_array(own, tuple(output.shape), {"real": True})

    # ------------------------------------------------------------------ in parts

    def _leaves(self) -> tuple[list[Leaf], list[Any], list[Any]]:
        """Cut space at kinks; give the parts, the domain, and all conditions that divide space."""
        leaves: list[Leaf] = []
        domain: dict[Any, None] = {}
        conditions: dict[Any, None] = {}
        for region, all_needs in self._needs.items():
            needs = [n for n in self._read_needs(all_needs, region) if not _is_guarded(n)]
            if any(_never_holds(n, region.sign(n.of)) for n in needs):
                continue  # a step has no value in all of it
            domain |= dict.fromkeys(self._condition(need, region) for need in needs)
            known = {n.of: 1 for n in needs if n.relation == ">" and not n.of.has(*KINKS)}
            here = replace(region, assumed={**region.assumed, **known})
            rule_needs = reduced(self._rule_needs[region], here.sign)
            conditions |= dict.fromkeys(self._condition(n, here) for n in rule_needs)
            plain = [n for n in rule_needs if not n.of.has(*KINKS)]
            thin = [n for n in plain if n.relation == "!=" or n.of.is_nonnegative]
            self._holes |= dict.fromkeys(self._condition(n, here) for n in thin)
            for claim in (each for each in self._claims if each.region is region):
                for leaf in _leaves_of(claim, here):
                    self._confirm(leaf)
                    leaves.append(leaf)
                    conditions |= dict.fromkeys(leaf.region.conditions)
        conditions |= dict.fromkeys(condition_of(k, 1) for k in self._explored)
        every = dict.fromkeys([*domain, *conditions, *self._jumps])
        return leaves, list(domain), [e for e in every if isinstance(e, Relational)]

    def _condition(self, need: Need, region: Region) -> Any:
        sign = None if need.relation == "!=" else 1
        return condition_of(region.original(need.of), sign)

    def _confirm(self, leaf: Leaf) -> None:
        """Run at a point at which the formulas differ, if any; say so only if the runs do.

        Raises:
            Refuted: If they do.
        """
        if not isinstance(leaf.decision, dict):
            return
        substitution, symbols = leaf.region.substitution, self._trial.symbols
        named = [each for each in symbols if each in substitution or each in leaf.decision]
        point = equality.original_point(leaf.decision, leaf.region, named)
        if not all(each.is_number and each.is_finite and each.is_real for each in point.values()):
            return
        missing = {each for each in symbols if each not in point}
        for more in equality.points(missing, _TRIES if missing else 1):
            values = {**point, **more}
            row = np.array([float(values[each]) for each in symbols])
            decision = self._refuted_at(row, leaf.claim, point)
            if decision is not None:
                raise decision

    # ------------------------------------------------------------------ on numbers

    def _refuted_at(
        self, row: Any, claim: Claim | None = None, exact: Mapping[Any, Any] | None = None
    ) -> Refuted | None:
        """Run at a point, and refute a claim, or any one, if the run there does.

        Returns:
            The decision, if the rule gives something else there than the slope of the forward.
            One that formulas show, too, is the best.
        """
        if self._trial.outcome(row) is Outcome.NO_SLOPE:
            return None  # as where entries are tied: along one of them alone there may be a slope
        found = [
            self._decision((input_nr, entry), row, exact or {}, (got, slope))
            for input_nr, entry, got, slope in self._trial.wrong_entries(row)
            if claim is None or claim.place == (input_nr, entry)
        ]
        decisions = [decision for decision in found if decision is not None]
        return next((v for v in decisions if not v.ran), decisions[0] if decisions else None)

    def _decision(self, place: Any, row: Any, exact: Mapping[Any, Any], ran: Any) -> Refuted | None:
        """Tell a counterexample; None if it may be one of rounding only."""
        values = self._trial.values(row)
        claim = self._claim_at(place, values)
        found, due = claim.found, claim.due
        numbers = {symbol: exact.get(symbol, _written(value)) for symbol, value in values.items()}
        sides = [_number(each, numbers) for each in (found, due)]
        gap = abs(sides[0] - sides[1])
        formulas_tell = gap > 0 and all(
            abs(side - number) <= min(1e-6 * (1 + abs(number)), 0.2 * gap)
            for side, number in zip(sides, ran, strict=True)
        )
        rounding = (_BY_MUCH if _is_far(row) else _ROUNDED) * max(1.0, *map(abs, ran))
        if not formulas_tell and abs(ran[0] - ran[1]) <= rounding:
            return None
        shown = found.free_symbols | due.free_symbols
        if not formulas_tell or any(self._needs.values()):  # where it runs, others decide
            shown |= symbols_in(_flat(self._entries))
        at = {symbol: numbers[symbol] for symbol in sorted(shown & numbers.keys(), key=str)}
        return Refuted(place[1], found, due, at, claim.of, ran=None if formulas_tell else ran)

    def _claim_at(self, place: Any, values: Mapping[Any, float]) -> Claim:
        """Find the claim of an entry in the run whose region has a point."""
        claims = [each for each in self._claims if each.place == place]
        for claim in reversed(claims):
            if all(each.subs(values) == True for each in claim.region.conditions):  # noqa: E712
                return claim
        return claims[0]

    def _sampled(self, leaves: list[Leaf], domain: list[Any], conditions: list[Any]) -> Any:
        """Choose points in all parts and on their borders; say which are on the domain's edge."""
        trial, symbols = self._trial, self._trial.symbols
        formulas = list({sympy.expand(c.lhs - c.rhs): None for c in conditions})
        formulas = [f for k, f in enumerate(formulas) if sympy.expand(-f) not in formulas[:k]]
        batches = [drawn(symbols, formulas, seed) for seed in range(_DRAWS if domain else 1)]
        rows, on_border = (np.concatenate(each) for each in zip(*batches, strict=True))
        # from a gradient of zeros nothing would be seen
        zero = np.flatnonzero((rows == 0).all(1))
        rows[zero[:, None], [symbols.index(each) for each in trial.starting]] = 1.0
        fits = _holding(domain, symbols, rows)
        order = np.random.default_rng(1).permutation(len(rows))
        free = order[on_border[order] == -1]
        inside, outside = free[fits[free]], free[~fits[free]]
        places = []
        for cuts in {leaf.region.conditions: None for leaf in leaves}:
            here = _holding(cuts, symbols, rows)
            # the origin, too: no border may lead there
            places += [*np.flatnonzero(here[:1]), *inside[here[inside]][:_IN_PART]]
        places = list(dict.fromkeys([*places, *inside]))[: max(_POINTS, len(set(places)))]
        places += list(outside[:_OUTSIDE])
        for each in range(len(formulas)):
            on = np.flatnonzero(on_border == each)
            # those first at which the program can run, and whose numbers are not large
            large = np.abs(rows[on]).max(1) > _LARGE
            places += list(on[np.lexsort((large, ~fits[on]))][:_ON_BORDER])
        picked = rows[np.array(places, int)]
        edges = compiled([c.lhs - c.rhs for c in domain], symbols)(picked)
        return picked, (edges == 0).any(0)

    def _run_on_numbers(self, rows: Any, on_edge: Any) -> Any:
        """Run the rule at points, and give at which of them it agreed, and at which it had to.

        Raises:
            Refuted: If the rule is wrong at one of them.
            Undecided: If it is, but in which entry was not found.
        """
        outcomes = np.array([self._trial.outcome(row) for row in rows])
        spare: list[Refuted] = []
        wrong = [
            number
            for number, outcome in enumerate(outcomes)
            if outcome is Outcome.DIFFERS
            or (outcome is Outcome.NOTHING and not on_edge[number] and self._must_run(rows[number]))
        ]
        for number in sorted(wrong, key=lambda k: (_length(rows[k]), k))[: 4 * _TRIES]:
            short = np.array([float(_written(each)) for each in rows[number]])
            decision = self._refuted_at(short) or self._refuted_at(rows[number])
            if decision is not None and not decision.ran:
                raise decision
            if decision is not None:
                spare.append(decision)
            elif outcomes[number] is Outcome.DIFFERS:
                outcomes[number] = Outcome.CLOSE
        if spare:
            raise spare[0]
        if Outcome.DIFFERS in outcomes:
            raise Undecided(because="formulas and runs disagree, but it isn't known in which entry")
        return outcomes == Outcome.AGREES, outcomes != Outcome.NO_SLOPE

    def _must_run(self, row: Any) -> bool:
        """Say whether NaN is no accident of large numbers: near 0, or where a step fails."""
        values = self._trial.values(row)
        listed = ((region, need) for region, needs in self._rule_needs.items() for need in needs)
        numbers = ((_number(region.original(n.of), values), n.relation) for region, n in listed)
        return not _is_far(row) or any(not (v > 0 or (v < 0 and r == "!=")) for v, r in numbers)

    # ------------------------------------------------------------------ what is proved

    def _proof(self, leaves: list[Leaf], domain: list[Any], conditions: list[Any]) -> Proof:
        """Give a proof, of what both formulas and runs show.

        Raises:
            Refuted: If the rule is wrong.
            Undecided: If there is nothing left, or something that was not decided.
        """
        rows, on_edge = self._sampled(leaves, domain, conditions)
        agrees, ran = self._run_on_numbers(rows, on_edge)
        evidence: list[Evidence] = []
        for input_nr, entry in dict.fromkeys(claim.place for claim in self._claims):
            good = []
            for leaf in (each for each in leaves if each.claim.place == (input_nr, entry)):
                here = leaf.region.conditions
                inside = _holding(here, self._trial.symbols, rows)
                if leaf.decision is not None and ((inside & ran).any() or not inside.any()):
                    raise self._open(leaf)
                if leaf.decision is None and (inside & agrees).any():
                    good.append(leaf)
            if not good:
                failed = self._trial.failed and f" (the last one failed: {self._trial.failed})"
                raise Undecided(
                    because="no point was found at which the rule could be run on numbers and "
                    f"compared with the forward's slope{failed}"
                )
            regions = []
            for leaf in good:
                cuts = (*leaf.region.conditions, *self._jumps)
                regions.append(Region(leaf.region.substitution, cuts) if cuts else EVERYWHERE)
            label, claim = label_of(self._entries[input_nr]), good[0].claim
            evidence.append(Evidence(label, entry, claim.found, claim.due, tuple(regions)))
        named = {str(region): region for each in evidence for region in each.regions}
        return Proof(
            forward=_in_a_row(self._results),
            cotangent=_in_a_row([entries(each) for each in self._cotangents]),
            gradients=tuple(_in_a_row([each]) for each in self._gradients),
            regions=tuple(named.values()) or (EVERYWHERE,),
            inputs=tuple((label_of(each), each.shape) for each in self._entries),
            assumed=tuple(map(_assumption_of, self._entries)),
            evidence=tuple(evidence),
            domain=tuple(dict.fromkeys([*domain, *self._holes])),
            points=int(agrees.sum()),
        )

    def _open(self, leaf: Leaf) -> Undecided:
        """Say that a claim was not decided in a part of space."""
        claim = leaf.claim
        left, right = (leaf.region.original(each) for each in leaf.sides)
        if not isinstance(leaf.decision, dict):
            return Undecided(claim.place[1], left, right, leaf.decision, claim.of)
        at = ", ".join(f"{s} = {v}" for s, v in leaf.decision.items())
        because = (
            f"the formulas {left} and {right} differ at {at}, but no run shows it: either "
            "rounding hides it, or the program has no value there"
        )
        return Undecided(claim.place[1], left, right, left - right, claim.of, because)


def _is_guarded(need: Need) -> bool:
    """Tell whether a choice between formulas takes care that a need holds in each of them."""
    if not isinstance(need.of, sympy.Piecewise):
        return False
    return all(formula.is_positive or when == (formula > 0) for formula, when in need.of.args)


def _never_holds(need: Need, sign: int | None) -> bool:
    """Tell whether a need fails all over a region, where its formula has one sign."""
    return sign is not None and not (sign > 0 or (sign < 0 and need.relation == "!="))


def _leaves_of(claim: Claim, region: Region) -> Iterator[Leaf]:
    """Cut a region at the kinks of a claim."""
    bent = [node for each in claim.values for node in regions.kink_nodes(each)]

    def formulas_in(here: Region) -> regions.Formulas:
        return [list(map(here.enter, bent)), list(map(here.enter, (claim.found, claim.due)))]

    for here, (_, sides) in regions.parts(region, formulas_in, _PARTS):
        yield Leaf(claim, here, (sides[0], sides[1]), equality.decide(sides[0], sides[1], here))


def _holding(conditions: Iterable[Any], symbols: Sequence[Any], rows: Any) -> Any:
    """Tell at which points conditions hold; on their borders they do not."""
    compare = {
        sympy.Gt: np.greater, sympy.Ge: np.greater, sympy.Lt: np.less, sympy.Le: np.less,
        sympy.Eq: np.equal, sympy.Ne: np.not_equal,
    }  # fmt: skip
    listed, fits = list(conditions), np.full(len(rows), True)
    values = compiled([each.lhs - each.rhs for each in listed], symbols)(rows)
    for condition, value in zip(listed, values, strict=True):
        fits &= compare[type(condition)](value, 0) & ~np.isnan(value)
    return fits


def _flat(arrays: Iterable[Any]) -> list[Any]:
    return [each for array in arrays for each in entries(array).flat]


def _moved(array: Any, region: Region) -> Any:
    """Give an array as it is in a region; itself if that is the same."""
    if not symbols_in(entries(array).flat) & region.substitution.keys():
        return array
    return entrywise(lambda each: each.subs(region.substitution, simultaneous=True), array)


def _in_a_row(arrays: Sequence[Any]) -> Any:
    """Show formulas as SymPy has them: those of several arrays in a row."""
    flat = _flat(arrays)
    return equality.shaped(flat, arrays[0].shape if len(arrays) == 1 else (len(flat),))


def _written(value: float) -> Any:
    """Write a number as a fraction, with few digits where it is one of few."""
    fraction = sympy.Rational(str(value))
    return fraction if fraction.q <= 10**6 else sympy.Rational(str(round(value, 6)))


def _number(formula: Any, numbers: Mapping[Any, Any]) -> float:
    try:
        return float(formula.subs(numbers).doit().evalf(20))
    except (TypeError, ValueError):
        return float("nan")


def _length(row: Any) -> float:
    """Tell how long numbers are to be read: short ones make the better counterexample."""
    return sum(len(str(abs(float(each)))) + 4 * (0 < abs(each) < 1 / 2048) for each in row)


def _is_far(row: Any) -> bool:
    """Tell whether a point is so far out that numbers may overflow there."""
    return bool(np.abs(row).max(initial=0) > _LARGE)


# ---------------------------------------------------------------------- what is proved of what


def prove(
    operation: Callable[..., Any], *inputs: Any, settings: Sequence[Any] = (), **assumptions: bool
) -> Proof:
    r"""Prove that the engine's gradient of an operation is the derivative of its forward.

    The operation runs on symbols, backward from a gradient of symbols $g$. What arrives at each
    input is compared with $\sum_k g_k\, \partial r_k / \partial x_i$, for which SymPy
    differentiates the result's formula itself. Where formulas have kinks (relu, max, abs), space
    is cut at them, and each part is proved on its own; the kinks themselves are left out.

    A proof holds where the program can run: where the forward and every step of it is real and
    finite. This domain is found along the run. Before anything is proved, the rule itself
    runs on numbers, in float64, at some two hundred points spread over all regions, and is compared
    with difference quotients of the forward: some thousand runs of the operation.

    Args:
        operation: A function of tensors, such as `torch.mul`, a lambda, the `apply` of a custom
            function, or a module, whose parameters are differentiated too. What it prints is not
            shown.
        *inputs: Shapes, each an integer or a tuple, for which symbols x, y, z, ... are made; or
            tensors of symbols, of which those that require a gradient are differentiated.
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
        ValueError: If no input requires a gradient, or the result does not depend on them.

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
    tensors = _made(inputs, assumptions)
    differentiated = [each for each in tensors if each.requires_grad]
    held = list(tensors)
    if isinstance(function, Module):
        differentiated += [each for each in function.parameters() if each.requires_grad]
        held += [*function.parameters(), *function.buffers()]
    if not differentiated:
        raise ValueError("prove() needs an input that requires a gradient")
    numbers = {k: tensor_of(s) for k, s in enumerate(settings) if isinstance(s, sympy.Symbol)}
    held = list({id(each): each for each in (*held, *numbers.values())}.values())
    held = [each for each in held if isinstance(each._array, SymbolicArray)]

    def call() -> Any:
        given = (numbers[k]._array.item() if k in numbers else s for k, s in enumerate(settings))
        return function(*tensors, *given)

    _check_symbols(held, differentiated)
    return replace(Prover(call, differentiated, held).check(), name=_name_of(operation))


def _made(inputs: Sequence[Any], assumptions: dict[str, bool]) -> list[Tensor]:
    """Make symbols for shapes, and leave tensors as they are."""
    taken = {label_of(entries(each)) for each in inputs if isinstance(each, Tensor)}
    names = [name for name in _NAMES if name not in taken]
    tensors: list[Tensor] = []
    for each in inputs:
        if not isinstance(each, int | tuple | list | Tensor):
            raise TypeError("prove() takes shapes and tensors of symbols. The rest: settings=(...)")
        if not isinstance(each, Tensor):
            each = symbols(names.pop(0), each, requires_grad=True, **assumptions)
        tensors.append(each)
    return tensors


def _check_symbols(held: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
    """Refuse to prove anything of inputs that are no symbols, or that share the name of one.

    Raises:
        ValueError: If an input is a formula.
        Undecided: If two symbols have one name: in formulas they would be one.
    """
    if not all(entry.is_Symbol for entry in _flat(inputs)):
        raise ValueError("prove() takes inputs whose entries are symbols, not formulas or numbers")
    names = Counter(s.name for each in held for s in symbols_in(entries(each).flat))
    shared = next((name for name, count in names.items() if count > 1), None)
    if shared is not None:
        raise Undecided(because=f"two inputs have a symbol {shared}. Choose other names")


def _name_of(operation: Any) -> str:
    """Say what is proved."""
    owner = getattr(operation, "__self__", None)
    if isinstance(owner, type):  # the apply of a custom function
        return f"{owner.__name__}.{operation.__name__}"
    name = getattr(operation, "__name__", type(operation).__name__)
    return "the function" if name == "<lambda>" else str(name)


def _assumption_of(array: Any) -> str:
    """Say what is assumed of all symbols of an array beyond that they are real."""
    kinds = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer")
    flat = list(array.flat)
    found = [kind for kind in kinds if all(each.assumptions0.get(kind) for each in flat)]
    return found[0] if found and flat else ""


def label_of(symbols: Any) -> str:
    """Name an array after its entries: x for x_{0} and x_{1}, w_0 for w_{0;0} and w_{0;1}."""
    listed = list(symbols.flat)
    if not listed:
        return "an empty input"
    if len(listed) == 1:
        return str(listed[0])
    stem, _, place = str(listed[0]).partition("_{")
    number, several, _ = place.partition(";")
    return f"{stem}_{number}" if several else stem
