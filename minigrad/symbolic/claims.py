"""Run an operation on symbols of its own, and compare formulas in each part without kinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.gradients import grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.symbolic.array import entries, entrywise, needs_of, vector_of
from minigrad.symbolic.equality import Refuted, Verdict, decide, decide_in, refuted_at
from minigrad.symbolic.formulas import named_array, symbols
from minigrad.symbolic.points import symbols_in
from minigrad.symbolic.regions import Integers, Region, condition_of, kink_nodes, narrowed, parts
from minigrad.symbolic.signs import Need, reduced

# g is the gradient of the result, n stands for what is rounded, p for what is positive.
_NAMES = "x y z w v u t s r q".split()  # noqa: SIM905 - in a row they read better


def name_of(operation: Any) -> str:
    """Say what is proved."""
    owner = getattr(operation, "__self__", None)
    if isinstance(owner, type):  # the apply of a custom function
        return f"{owner.__name__}.{operation.__name__}"
    name = getattr(operation, "__name__", type(operation).__name__)
    return "the function" if name == "<lambda>" else str(name)


def made(inputs: Sequence[Any], assumptions: dict[str, bool]) -> list[Any]:
    """Make symbols for shapes, and leave tensors as they are.

    Raises:
        TypeError: If an input is neither a shape nor a tensor.
        ValueError: If there are more shapes than names.
    """
    taken = {label_of(entries(each)) for each in inputs if isinstance(each, Tensor)}
    names = iter([name for name in _NAMES if name not in taken])
    return [
        each if isinstance(each, Tensor) else _made(each, names, assumptions) for each in inputs
    ]


def _made(shape: Any, names: Iterator[str], assumptions: dict[str, bool]) -> Any:
    sizes = (shape,) if isinstance(shape, int) else shape
    if isinstance(shape, bool) or not isinstance(sizes, tuple | list):
        raise TypeError(
            "prove() takes shapes, such as 2 or (2, 3), and tensors of symbols, but got "
            f"{type(shape).__name__}. What else the operation takes goes into settings=(...)."
        )
    name = next(names, None)
    if name is None:
        raise ValueError(f"prove() has names for {len(_NAMES)} inputs. Make symbols for more.")
    return symbols(name, tuple(sizes), requires_grad=True, **assumptions)


def assumptions_of(tensor: Any) -> str:
    """Say what is assumed of all symbols of a tensor beyond that they are real."""
    kinds = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer")
    flat = list(entries(tensor).flat)
    found = [kind for kind in kinds if all(each.assumptions0.get(kind) for each in flat)]
    return found[0] if found and flat else ""


def label_of(symbols: Any) -> str:
    """Name an array after its entries: x for x_{0} and x_{1}, w_0 for w_{0;0} and w_{0;1}."""
    listed = list(symbols.flat)
    if not listed:
        return "an empty input"
    stem, _, place = str(listed[0]).partition("_{")
    if len(listed) == 1:
        return str(listed[0])
    number, several, _ = place.partition(";")
    return f"{stem}_{number}" if several else stem


# ---------------------------------------------------------------------- runs


@dataclass(frozen=True)
class Claim:
    """That one entry of a gradient is the derivative.

    Attributes:
        place: The place of the input among those that are differentiated.
        entry: The index of the entry.
        region: The region in which the operation was run.
        found: What the rule gives.
        due: What it should be.
        values: The entries of the result in which the entry occurs.
        carriers: Parts of the result's formula in which there are kinks.
        note: What else has to be said if it is not so.
    """

    place: int
    entry: tuple[int, ...]
    region: Region
    found: Any
    due: Any
    values: tuple[Any, ...]
    carriers: tuple[Any, ...]
    note: str = ""


@dataclass(frozen=True)
class Run:
    """What came of running an operation on symbols, forward and backward, in a region.

    Attributes:
        region: The region.
        claims: What has to be proved.
        results: The formulas of each output.
        gradients: What the engine gave.
        needs: What the steps of the forward need.
        rule_needs: What those of forward and backward need.
    """

    region: Region
    claims: list[Claim]
    results: list[Any]
    gradients: list[Any]
    needs: frozenset[Need]
    rule_needs: frozenset[Need]


@dataclass
class Case:
    """An operation on tensors of symbols, and what came of running it.

    Attributes:
        call: Calls it, with tensors that hold symbols of the proof's own.
        wanted: The tensors that are differentiated.
        held: All tensors that hold symbols.
        reading: How formulas are read.
        cotangents: For each output the symbols of its gradient, once it was run.
        runs: The runs, each in a region of its own.
    """

    call: Callable[[], Any]
    wanted: Sequence[Tensor]
    held: Sequence[Tensor]
    reading: Integers
    cotangents: list[Any] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inputs = [entries(each) for each in self.wanted]

    def original(self, formula: Any, region: Region) -> Any:
        """Write a formula of a region in the symbols of the inputs."""
        return self.reading.back(region.original(formula))

    def label(self, place: int) -> str:
        """Name an input."""
        return label_of(self.inputs[place])

    def of(self, place: int) -> str:
        """Say of what the formulas of an input's gradient are."""
        return f"the gradient of {self.label(place)}"

    def claim_at(self, place: int, entry: Any, values: dict[Any, float]) -> Claim:
        """Find the claim of an entry in the run whose region has a point."""
        of_all = [claim for run in self.runs for claim in run.claims]
        claims = [each for each in of_all if (each.place, each.entry) == (place, entry)]
        for claim in reversed(claims):
            if all(_truth(self.reading.back(each), values) for each in claim.region.conditions):
                return claim
        return claims[0]

    def run(self, region: Region) -> None:
        """Run forward and backward; the tensors hold what they are in a region meanwhile."""
        held = self.held
        arrays = [each._array for each in held]
        try:
            for tensor in held:
                tensor._array = _moved(tensor._array, region)
            self.runs.append(self._run(region))
        finally:
            for tensor, array in zip(held, arrays, strict=True):
                tensor._array = array

    def _run(self, region: Region) -> Run:
        result = self.call()
        several = result if isinstance(result, (tuple, list)) else (result,)
        outputs = [each for each in several if isinstance(each, Tensor) and each.requires_grad]
        if not outputs:
            raise ValueError(self._no_graph(several))
        self.cotangents = self.cotangents or list(self._gradients_of(outputs))
        formulas, starts = _flat(outputs), _flat(self.cotangents)
        read = [self.reading.read(each) for each in formulas]
        due = _derivatives([entries(each) for each in self.wanted], read, starts)
        try:
            found = grad(outputs, self.wanted, list(map(wrap, self.cotangents)), allow_unused=True)
        except RuntimeError as error:
            if "invalid gradient" not in str(error):
                raise
            place = min(int(str(error).split("at index ")[1].split()[0]), len(due) - 1)
            note = f"{error}. There is no gradient of this shape to compare: "
            raise self._wrong_shape(place, _zeros((1,)), due[place], note) from error
        pairs = zip(found, due, strict=True)
        gradients = [_zeros(d.shape) if f is None else entries(f) for f, d in pairs]
        claims: list[Claim] = []
        for place, (gradient, right) in enumerate(zip(gradients, due, strict=True)):
            note, name = "", self.label
            if found[place] is None:
                why = "a rule gave None, or the graph does not lead there; "
                note = f"no gradient came for {name(place)}: {why}"
            if gradient.shape != right.shape:
                came, wanted = list(gradient.shape), list(right.shape)
                shapes = f"{came} came for {name(place)} of shape {wanted}; "
                raise self._wrong_shape(place, gradient, right, f"a gradient of shape {shapes}")
            claims += self._claims(place, region, gradient, right, read, note)
        needs = needs_of(outputs)
        results = [entries(each) for each in outputs]
        return Run(region, claims, results, gradients, needs, needs | needs_of(found))

    def _claims(
        self, place: int, region: Region, gradient: Any, due: Any, results: list[Any], note: str
    ) -> Iterator[Claim]:
        reading, symbols = self.reading, entries(self.wanted[place])
        nodes = [node for each in results for node in kink_nodes(each)]
        for entry in np.ndindex(due.shape):
            inside = symbols[entry].free_symbols
            carriers = dict.fromkeys(node for node in nodes if node.free_symbols & inside)
            values = tuple(each for each in results if each.free_symbols & inside)
            yield Claim(
                place, entry, region, reading.read(gradient[entry]), due[entry], values,
                tuple(carriers), note,
            )  # fmt: skip

    def _gradients_of(self, outputs: Sequence[Tensor]) -> Iterator[Any]:
        """Make symbols for the gradients of the result: g, or g_1, g_2 and so on."""
        stems = {s.name.partition("_")[0] for each in self.held for s in symbols_in(_flat([each]))}
        name = next(name for name in ("g", "h", "e", "G", "H", "E", "dr") if name not in stems)
        for number, output in enumerate(outputs, 1):
            shape = tuple(output.shape)
            own = name if len(outputs) == 1 else f"{name}_{number}"
            yield named_array(own, shape, {"real": True})

    def _no_graph(self, results: Sequence[Any]) -> str:
        """Say why there is nothing to prove of results that require no gradient."""
        inside = symbols_in(_flat([each for each in results if isinstance(each, Tensor)]))
        places = [k for k, each in enumerate(self.wanted) if inside & symbols_in(_flat([each]))]
        if not places:
            return "prove() needs a function whose result depends on its inputs"
        said = " and ".join(map(self.label, places))
        return (
            f"prove() needs a graph from the result to its inputs. It is computed from {said}, but "
            f"its graph does not lead to {said}: it was detached, or computed under no_grad()"
        )

    def _wrong_shape(self, place: int, found: Any, due: Any, note: str) -> Refuted:
        """Refute a gradient of a wrong shape, if possible by an entry at which it differs."""
        entry, left, right, at = (), sympy.Integer(0), sympy.Integer(0), {}
        for entry, wrong in product(np.ndindex(due.shape), np.ndindex(found.shape)):
            left, right = found[wrong], self.reading.back(due[entry])
            point = decide(left, right)
            if isinstance(point, dict):
                at = point
                break
        return Refuted(entry, left, right, at, self.of(place), note)


def _truth(condition: Any, values: dict[Any, float]) -> bool:
    try:
        return bool(condition.subs(values))
    except TypeError:
        return False


def _zeros(shape: tuple[int, ...]) -> Any:
    return vector_of([sympy.Integer(0)] * math.prod(shape)).reshape(shape)


def _moved(array: Any, region: Region) -> Any:
    """Give an array as it is in a region; itself if that is the same."""
    if not symbols_in(entries(array).flat) & region.place.keys():
        return array
    return entrywise(lambda each: each.subs(region.place, simultaneous=True), array)


def _flat(arrays: Iterable[Any]) -> list[Any]:
    return [each for array in arrays for each in entries(array).flat]


def _derivatives(inputs: Sequence[Any], formulas: list[Any], starts: list[Any]) -> list[Any]:
    """Differentiate the formulas of the result by SymPy, each times its gradient's symbol.

    Where the inputs are expressions of other symbols, as in a region, the chain rule is solved
    for the derivatives with respect to the inputs.
    """
    pairs = list(zip(starts, formulas, strict=True))

    def total(symbol: Any) -> Any:
        return sympy.Add(*(g * sympy.diff(y, symbol) for g, y in pairs if symbol in y.free_symbols))

    flat = _flat(inputs)
    if all(each.is_Symbol for each in flat):
        columns = map(total, flat)
    else:
        free = sorted(symbols_in(flat), key=str)
        jacobian = sympy.Matrix([[sympy.diff(each, symbol) for each in flat] for symbol in free])
        columns = iter(jacobian.LUsolve(sympy.Matrix([total(symbol) for symbol in free])))
    return [vector_of(next(columns) for _ in each.flat).reshape(each.shape) for each in inputs]


_PARTS = 256  # of more cuts than these the regions should be given


@dataclass
class Leaf:
    """A part of space without kinks, and whether a claim was proved in it.

    Attributes:
        claim: The claim.
        region: The part; of its conditions only those by which it was cut out.
        start: The place of the region that it was cut out of.
        sides: The formulas that are compared, as they are there.
        verdict: None if it was proved; else as from `decide`. Until `settle` was called only a
            point at which the formulas differ is looked for.
    """

    claim: Claim
    region: Region
    start: int
    sides: tuple[Any, Any]
    verdict: Verdict = None

    def __post_init__(self) -> None:
        if self.sides[0] != self.sides[1]:
            self.verdict = refuted_at(*self.sides, self._admits, self._symbols())

    def settle(self) -> None:
        """Bring the formulas together, if that is possible: this may take long."""
        if isinstance(self.verdict, dict):
            return
        self.verdict = decide_in(self.region, self.sides, self._admits, self._symbols())

    def _admits(self, point: Any) -> bool:
        """Tell whether the rule has to be right at a point: there the result is real."""
        if not self.region.admits(point):
            return False
        values = (self.region.enter(each).subs(point) for each in self.claim.values)
        return not any(value.is_real is False for value in values)

    def _symbols(self) -> set[Any]:
        """List the symbols that need values to tell whether a point is in the domain."""
        place = self.region.place
        placed = symbols_in(place.get(s, s) for s in symbols_in(self.claim.values))
        return symbols_in(self.region.assumed) | placed


def leaves_of(claim: Claim, start: int, region: Region, needs: Sequence[Need] = ()) -> list[Leaf]:
    """Compare the formulas of a claim in a region, which is cut at kinks until there are none.

    Args:
        claim: The claim.
        start: The place of the region among those that are begun with.
        region: The region, with what is known in it, and no conditions.
        needs: What the forward needs that has kinks itself.
    """

    def formulas_in(here: Region) -> list[list[Any]]:
        bent = (*claim.carriers, *(need.of for need in needs))
        return [list(map(here.enter, bent)), [here.enter(claim.found), here.enter(claim.due)]]

    leaves: list[Leaf] = []
    for here, (_, sides) in parts(region, formulas_in, _PARTS):
        inside = _where_met(needs, here)
        if inside is not None:  # else a step has no value in here
            leaves.append(Leaf(claim, inside, start, (sides[0], sides[1])))
    return leaves


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
