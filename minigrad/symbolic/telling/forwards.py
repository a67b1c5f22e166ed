"""Write the forward of a node again, from the book: a value through the values it was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.function_node import FunctionNode
from minigrad.autograd.node import Node
from minigrad.ops.tape import book
from minigrad.ops.writing import _arguments
from minigrad.symbolic.telling.local import own_copy, saved_values

# These give the same entries in the same order in another shape; which one is the result's.
_RESHAPING = frozenset(
    f"{name}Backward{number}"
    for name in ("View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Alias", "Clone")
    for number in range(4)
)
_REARRANGING = _RESHAPING | frozenset(
    f"{name}Backward{number}"
    for name in ("T", "Transpose", "Permute", "Expand", "ToCopy", "Flip", "Movedim")
    for number in range(2)
)

_by_node: dict[type, Any] = {}


def passes_on(node: Node) -> bool:
    """Tell whether a node only passes entries on, each of them once or several times."""
    return node.name() in _REARRANGING or _is_identity(node)


def _is_identity(node: Node) -> bool:
    return isinstance(node, FunctionNode) and node.name() == "BackwardHookFunctionBackward"


def _operation(node: Node) -> Any:
    kind = type(node)
    if kind not in _by_node:
        _by_node.update((each.node, each) for each in book.values())
    return _by_node.get(kind)


def forward_of(
    node: Node,
    output_nr: int,
    shape: tuple[int, ...],
    value_at: Callable[[Any], Any],
    constant: Callable[[Any], Any],
    arrays: Callable[[tuple[Node, int]], Any],
) -> Any:
    """Compute an output of a node anew from its inputs, where the book and the node tell enough.

    Args:
        node: The node.
        output_nr: Which output.
        shape: The shape of the output.
        value_at: Gives the inputs, as arrays of numbers or of symbols; raises `NotTold`.
        constant: Gives what to compute with in the place of an array without gradient.
        arrays: Gives the true array of a value, or None; an operand that the node did not save is
            the difference of two of them.

    Returns:
        An array, or None if the node does not tell enough.
    """
    edges = node.next_functions
    if _is_identity(node):
        return value_at(edges[output_nr])
    if node.name() in _RESHAPING and len(edges) == 1:
        return value_at(edges[0]).reshape(shape)
    if node.name() == "ExpandBackward0":
        return np.broadcast_to(value_at(edges[0]), shape)
    operation = _operation(node)
    if operation is None or output_nr != 0:
        return None
    given = _given(node, operation, value_at, constant)
    missing = [name for name in _arguments(operation.forward) if name not in given]
    if missing == ["other"]:
        given["other"] = _operand(node, operation, shape, arrays)
    elif missing == ["self"] and "other" in given:
        given["self"] = _operand(node, operation, shape, arrays, first=True)
    elif missing:
        return None
    if any(value is None for value in (given.get("self", 0), given.get("other", 0))):
        return None
    try:
        with np.errstate(all="ignore"):
            result = operation.forward(**given)
    except (TypeError, ValueError, NotImplementedError):
        return None  # symbols can't go through it: the value gets a name of its own instead
    return result if getattr(result, "shape", None) == shape else None


def _given(node: Node, operation: Any, value_at: Any, constant: Any) -> dict[str, Any]:
    """Collect the arguments of an operation: through edges, and what was saved."""
    differentiable = list(operation.rules)
    tensors = {place: array for place, _, array in saved_values(node)}
    given: dict[str, Any] = {}
    for name in _arguments(operation.forward):
        edge = node.next_functions[differentiable.index(name)] if name in differentiable else None
        place = node._names_of_saved.index(name) if name in node._names_of_saved else None
        if edge is not None and edge[0] is not None:
            given[name] = value_at(edge)
        elif place in tensors:
            given[name] = constant(tensors[place])
        elif place is not None and node._saved is not None and name not in differentiable:
            given[name] = own_copy(node._saved[place])
    return given


_DIFFERENCES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda result, operand: result - operand,
    "sub": lambda result, operand: operand - result,
    "rsub_number": lambda result, operand: result + operand,
}


def _operand(
    node: Node, operation: Any, shape: tuple[int, ...], arrays: Any, first: bool = False
) -> Any:
    """Find the operand of a sum or difference that the node did not need to save."""
    difference = _DIFFERENCES.get(operation.__name__)
    if difference is None:
        return None
    known = arrays(node.next_functions[1 if first else 0])
    result = arrays((node, 0))
    if known is None or result is None or known.shape != shape:
        return None
    if first and operation.__name__ == "sub":
        difference = np.add
    operand = difference(result, known)
    if operand.dtype.kind == "f":  # take the rounding off again
        unit = 4 * np.finfo(operand.dtype).eps * (np.abs(result) + np.abs(known))
        near = np.round(operand.astype(np.float64), 6)
        operand = np.where(np.abs(near - operand) <= unit, near, operand).astype(np.float64)
    single = operand.reshape(-1)
    if single.size > 1 and len(set(single.tolist())) == 1:
        return single[:1].reshape(())
    return operand
