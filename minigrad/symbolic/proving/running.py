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
from minigrad.symbolic.array import entries, symbolic, vector_of
from minigrad.symbolic.deciding import decide
from minigrad.symbolic.equality import Refuted
from minigrad.symbolic.making import named_array
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
    """

    input: str
    entry: tuple[int, ...]
    found: Any
    due: Any
    values: tuple[Any, ...] = ()
    carriers: tuple[Any, ...] = ()
    note: str = ""

    @property
    def of(self) -> str:
        """What the formulas are of."""
        return f"the gradient of {self.input}"


def run(
    function: Callable[..., Any],
    tensors: Sequence[Any],
    settings: Sequence[Any],
    wanted: Sequence[Tensor],
    reading: Reading,
    region: Region,
) -> tuple[list[Claim], Any, Any, list[Any]]:
    """Run forward and backward in a region.

    Returns:
        What has to be proved, the formula of the result, the symbols of its gradient, and the
        gradients that the engine gave.
    """
    moved = {id(each): _moved(each, region) if region.place else each for each in wanted}
    result = function(*(moved.get(id(each), each) for each in tensors), *settings)
    several = result if isinstance(result, (tuple, list)) else (result,)
    outputs = [each for each in several if isinstance(each, Tensor) and each.requires_grad]
    if not outputs:
        raise ValueError(_no_graph(several, wanted))
    names = ["g"] if len(outputs) == 1 else [f"g_{place + 1}" for place in range(len(outputs))]
    cotangents = [
        named_array(name, tuple(each.shape), {"real": True})
        for name, each in zip(names, outputs, strict=True)
    ]
    inputs = [moved[id(each)] for each in wanted]
    labels = [label(each) for each in wanted]
    formulas, starts = _flat(outputs), _flat(cotangents)
    read = [reading.read(each) for each in formulas]
    due = _derivatives([entries(each) for each in inputs], read, starts)
    try:
        found = grad(outputs, inputs, list(map(wrap, cotangents)), allow_unused=True)
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
    for name, tensor, gradient, right, came in zip(
        labels, inputs, gradients, due, found, strict=True
    ):
        note = "" if came is not None else _nothing_came(name)
        if gradient.shape != right.shape:
            _refute_shape(name, gradient, right, reading)
        symbols = entries(tensor)
        for entry in np.ndindex(right.shape):
            own = symbols[entry].free_symbols
            carriers = (*_carriers(read, own), *reading.stands_for(own))
            values = tuple(each for each in read if each.free_symbols & own)
            given = reading.read(gradient[entry])
            claims.append(Claim(name, entry, given, right[entry], values, carriers, note))
    one = len(outputs) == 1
    whole = entries(outputs[0]) if one else vector_of(formulas)
    start = entries(cotangents[0]) if one else vector_of(starts)
    return claims, whole, start, gradients


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


def _moved(tensor: Tensor, region: Region) -> Tensor:
    """Give a tensor as it is in a region; itself if that is the same."""
    array = entries(tensor)
    if not any(each.free_symbols & region.place.keys() for each in array.flat):
        return tensor
    found = vector_of(each.subs(region.place, simultaneous=True) for each in array.flat)
    return wrap(symbolic(found.reshape(array.shape))).requires_grad_()  # type: ignore[no-any-return]


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
