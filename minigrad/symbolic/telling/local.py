"""Ask a node's own rule for its formula: let it run on symbols in the place of what it saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from minigrad.autograd.function_node import FunctionNode
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import no_grad
from minigrad.autograd.node import Node
from minigrad.autograd.saved import PackedTensor, SavedTensor, unpack_array
from minigrad.autograd.variable import Variable
from minigrad.tensor import wrap

# A value of the graph: the node that made it, and which output of that node it is.
Value = tuple[Node, int]


class NotTold(Exception):
    """There is no formula to be had: a value is too large for symbols, or a rule can't take them.

    The text says why, as the end of a sentence.
    """


def value_of(tensor: Variable) -> Value | None:
    """Tell which value of the graph a tensor is; None if no gradient goes there."""
    if not tensor.requires_grad:
        return None
    node, output_nr = tensor._resolved_edge() or resolve_edge(tensor)
    return None if node is None else (node, output_nr)


def saved_values(node: Node) -> Iterator[tuple[int, Value | None, Any]]:
    """Yield for each tensor that a node saved its place, which value of the graph it is, its array.

    Raises:
        RuntimeError: If it was written to since.
    """
    for place, saved in enumerate(node._saved or ()):
        if hasattr(saved, "_version_counter"):
            yield place, _source(saved, node, place), _array(saved, node)


def _array(saved: Any, node: Node) -> Any:
    return saved._array if saved._version_counter is None else unpack_array(saved, node)


def _source(saved: Any, node: Node, place: int) -> Value | None:
    if isinstance(saved, PackedTensor):
        if not saved.requires_grad:
            return None
        return (node if saved.node is None else saved.node, saved.output_nr)
    tensor = saved
    if isinstance(saved, SavedTensor):
        if saved.tensor is None:
            made_by = getattr(saved, "place", None)
            number = getattr(node, "_result_nr", lambda _: 0)(place)
            return ((made_by and made_by()) or node, number)
        tensor = saved.tensor
    return value_of(tensor)


def own_copy(saved: Any) -> Any:
    """Copy what a forward leaves to its rules, such as weights; give anything else as it is.

    Who computes with symbols in the place of numbers must not leave symbols there.
    """
    return copy(saved) if type(saved).__module__.startswith("minigrad.ops.") else saved


Replacement = Callable[[Value | None, Any], Any]


_SYMBOLS = np.dtype(object)


def stand_in(node: Node, replacement: Replacement, dtype: Any = _SYMBOLS) -> Node:
    """Copy a node, with other arrays in the place of those that it saved.

    Args:
        node: The node; it is not changed, and neither copied hooks nor edges are.
        replacement: Gets which value of the graph a saved tensor is (None for a constant) and its
            array, and gives the array to be put in its place.
        dtype: The type of these arrays' entries.
    """
    twin = object.__new__(type(node))
    for kind in type(node).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot != "__weakref__" and hasattr(node, slot):
                setattr(twin, slot, getattr(node, slot))
    if hasattr(node, "__dict__"):
        twin.__dict__.update(node.__dict__)
    if isinstance(getattr(node, "function", None), Node):  # a part was changed in place
        twin.function = stand_in(node.function, replacement, dtype)  # type: ignore[attr-defined]
    replaced = [own_copy(saved) for saved in node._saved or ()]
    for place, value, array in saved_values(node):
        new = wrap(replacement(value, array))
        own = isinstance(replaced[place], SavedTensor) and replaced[place].tensor is None
        replaced[place] = SavedTensor(new, is_result=own)
    twin._saved = tuple(replaced)
    _let_through(twin, dtype)
    return twin


def _let_through(twin: Any, dtype: Any) -> None:
    """Let a stand-in's gradients be arrays of another type than those that the node wants."""
    if getattr(twin, "_broadcast", None) is not None:
        twin._broadcast = tuple(wanted and (wanted[0], dtype) for wanted in twin._broadcast)
    if isinstance(twin, FunctionNode):
        twin._tensor_slots = [slot and (slot[0], dtype) for slot in twin._tensor_slots]
    if twin._multiple:
        twin._dtype = [each and dtype for each in twin._dtype]


def run_rule(node: Node, gradients: Sequence[Any]) -> list[Any]:
    """Run the rule of a node, or of its stand-in, on gradients of its outputs.

    Args:
        node: The node.
        gradients: An array for each output; None where none arrives.

    Returns:
        An array for each input, or None.
    """
    if all(gradient is None for gradient in gradients) and not node._runs_without_gradient:
        return [None] * len(node.next_functions)
    given: Any = list(gradients) if node._multiple else gradients[0]
    with no_grad(), np.errstate(all="ignore"):
        return list(node._run(given, True))
