"""Run an operation on symbols, and write down what has to be proved of each gradient's entries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.gradients import grad
from minigrad.symbolic.array import entries, needs_of, symbolic, vector_of
from minigrad.symbolic.deciding import decide
from minigrad.symbolic.equality import Refuted
from minigrad.symbolic.making import entry_names
from minigrad.symbolic.needs import Need
from minigrad.symbolic.own import own
from minigrad.symbolic.proving.operations import label
from minigrad.symbolic.proving.reading import Reading
from minigrad.symbolic.regions import Region, kink_nodes
from minigrad.tensor import Tensor, wrap


@dataclass(frozen=True)
class Claim:
    """That one entry of a gradient is the derivative.

    Attributes:
        input: The name of the input.
        entry: The index of the entry.
        found: What the rule gives.
        due: What it should be.
        values: The entries of the result in which the entry occurs.
        carriers: Parts of the result's formula in which there are kinks.
        note: What else has to be said if it is not so.
        place: The place of the input among those that are differentiated.
        rounded: What stands for rounded things that the rule has, also where they cancel.
    """

    input: str
    entry: tuple[int, ...]
    found: Any
    due: Any
    values: tuple[Any, ...] = ()
    carriers: tuple[Any, ...] = ()
    note: str = ""
    place: int = 0
    rounded: tuple[Any, ...] = ()

    @property
    def of(self) -> str:
        """What the formulas are of."""
        return f"the gradient of {self.input}"


@dataclass(frozen=True)
class Run:
    """What came of running an operation on symbols, forward and backward, in a region.

    Attributes:
        region: The region.
        claims: What has to be proved.
        result: The formulas of the result.
        cotangent: The symbols of its gradient.
        gradients: What the engine gave.
        needs: What the steps of the forward need.
        rule_needs: What those of forward and backward need.
    """

    region: Region
    claims: list[Claim]
    result: Any
    cotangent: Any
    gradients: list[Any]
    needs: frozenset[Need]
    rule_needs: frozenset[Need]


def run(
    function: Callable[..., Any],
    tensors: Sequence[Any],
    settings: Sequence[Any],
    wanted: Sequence[Tensor],
    reading: Reading,
    region: Region,
    cotangents: list[Any],
    held: Sequence[Tensor],
) -> Run:
    """Run forward and backward in a region.

    Args:
        function: The operation.
        tensors: What it is called with; they hold symbols.
        settings: What comes after these.
        wanted: The tensors that are differentiated.
        reading: How formulas are read.
        region: The region.
        cotangents: For each output the symbols of its gradient. They are made in the first run.
        held: All tensors of symbols; they hold what these are in the region meanwhile.
    """
    arrays = [each._array for each in held]
    try:
        for tensor in held:
            tensor._array = _moved(tensor._array, region)
        return _run(function, tensors, settings, wanted, reading, region, cotangents)
    finally:
        for tensor, array in zip(held, arrays, strict=True):
            tensor._array = array


def _run(
    function: Callable[..., Any],
    tensors: Sequence[Any],
    settings: Sequence[Any],
    wanted: Sequence[Tensor],
    reading: Reading,
    region: Region,
    cotangents: list[Any],
) -> Run:
    result = function(*tensors, *settings)
    several = result if isinstance(result, (tuple, list)) else (result,)
    outputs = [each for each in several if isinstance(each, Tensor) and each.requires_grad]
    if not outputs:
        raise ValueError(_no_graph(several, wanted))
    if not cotangents:
        name = reading.gradients
        names = [name] if len(outputs) == 1 else [f"{name}_{k + 1}" for k in range(len(outputs))]
        cotangents += [
            symbolic(vector_of(own(n, real=True) for n in entry_names(name, shape)).reshape(shape))
            for name, shape in zip(names, (tuple(each.shape) for each in outputs), strict=True)
        ]
    labels = [label(each) for each in wanted]
    formulas, starts = _flat(outputs), _flat(cotangents)
    read = [reading.read(each) for each in formulas]
    due = _derivatives([entries(each) for each in wanted], read, starts)
    try:
        found = grad(outputs, wanted, list(map(wrap, cotangents)), allow_unused=True)
    except RuntimeError as error:
        if "invalid gradient" not in str(error):
            raise
        place = int(str(error).split("at index ")[1].split()[0])
        zeros = sympy.Integer(0)
        shape = due[min(place, len(due) - 1)].shape
        entry = next(np.ndindex(shape), ())
        right = due[min(place, len(due) - 1)][entry]
        point = decide(zeros, right)
        raise Refuted(
            entry,
            zeros,
            right,
            point if isinstance(point, dict) else {},
            f"the gradient of {labels[min(place, len(labels) - 1)]}",
            f"{error}. There is no gradient of this shape to compare: ",
        ) from error
    claims: list[Claim] = []
    gradients = [
        vector_of([sympy.Integer(0)] * right.size).reshape(right.shape)
        if each is None
        else entries(each)
        for each, right in zip(found, due, strict=True)
    ]
    for place, (name, tensor, gradient, right, came) in enumerate(
        zip(labels, wanted, gradients, due, found, strict=True)
    ):
        note = "" if came is not None else _nothing_came(name)
        if gradient.shape != right.shape:
            _refute_shape(name, gradient, right, reading)
        symbols = entries(tensor)
        for entry in np.ndindex(right.shape):
            inside = symbols[entry].free_symbols
            carriers = (*_carriers(read, inside), *reading.stands_for(inside))
            values = tuple(each for each in read if each.free_symbols & inside)
            given = reading.read(gradient[entry])
            rounded = tuple(reading.symbols_in(gradient[entry]))
            claims.append(
                Claim(name, entry, given, right[entry], values, carriers, note, place, rounded)
            )
    one = len(outputs) == 1
    whole = entries(outputs[0]) if one else vector_of(formulas)
    start = entries(cotangents[0]) if one else vector_of(starts)
    needs = needs_of(outputs)
    return Run(region, claims, whole, start, gradients, needs, needs | needs_of(found))


def _no_graph(results: Sequence[Any], wanted: Sequence[Tensor]) -> str:
    """Say why there is nothing to prove of results that require no gradient."""
    formulas = [
        each for result in results if isinstance(result, Tensor) for each in _flat([result])
    ]
    inside: set[Any] = set().union(*(each.free_symbols for each in formulas))
    names = [label(each) for each in wanted if inside & set().union(*_symbols_of(each))]
    if not names:
        return "prove() needs a function whose result depends on its inputs"
    said = " and ".join(names)
    return (
        f"prove() needs a graph from the result to its inputs. The result is computed from {said}, "
        f"but its graph does not lead to {said}: it was detached, or computed under no_grad()"
    )


def _symbols_of(tensor: Any) -> list[set[Any]]:
    return [each.free_symbols for each in entries(tensor).flat]


def _nothing_came(name: str) -> str:
    return f"no gradient came for {name}: a rule gave None, or the graph does not lead there; "


def _moved(array: Any, region: Region) -> Any:
    """Give an array as it is in a region; itself if that is the same."""
    if not any(each.free_symbols & region.place.keys() for each in entries(array).flat):
        return array
    found = vector_of(each.subs(region.place, simultaneous=True) for each in entries(array).flat)
    return symbolic(found.reshape(array.shape))


def _flat(arrays: Sequence[Any]) -> list[Any]:
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
        found = {symbol: total(symbol) for symbol in flat}
        columns = [found[symbol] for symbol in flat]
    else:
        free = sorted(set().union(*(each.free_symbols for each in flat)), key=str)
        jacobian = sympy.Matrix([[sympy.diff(each, symbol) for each in flat] for symbol in free])
        columns = list(jacobian.LUsolve(sympy.Matrix([total(symbol) for symbol in free])))
    arrays, start = [], 0
    for each in inputs:
        size = math.prod(each.shape)
        arrays.append(vector_of(columns[start : start + size]).reshape(each.shape))
        start += size
    return arrays


def _carriers(formulas: Sequence[Any], symbols: set[Any]) -> tuple[Any, ...]:
    nodes: dict[Any, None] = {}
    for formula in formulas:
        for node in kink_nodes(formula):
            if node.free_symbols & symbols:
                nodes[node] = None
    return tuple(nodes)


def _refute_shape(name: str, found: Any, due: Any, reading: Reading) -> None:
    """Raise: a gradient must have the shape of its input.

    Raises:
        Refuted: Always; with an entry at which the formulas differ if there is one.
    """
    note = f"a gradient of shape {list(found.shape)} came for {name} of shape {list(due.shape)}; "
    of = f"the gradient of {name}"
    entry, left, right = (), sympy.Integer(0), sympy.Integer(0)
    for entry, wrong in product(np.ndindex(due.shape), np.ndindex(found.shape)):
        left, right = found[wrong], reading.back(due[entry])
        point = decide(left, right)
        if isinstance(point, dict):
            raise Refuted(entry, left, right, point, of, note)
    raise Refuted(entry, left, right, {}, of, note)
