"""Collect the values of a graph that its nodes have saved, and those that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.symbolic.telling.forwards import passes_on
from minigrad.symbolic.telling.local import Value, run_rule, saved_values
from minigrad.symbolic.telling.passage import Passage


def read_values(
    passages: Sequence[Passage], known: dict[Value, Any], shape: dict[Value, tuple[int, ...]]
) -> None:
    """Add the arrays of all values that are known, and the shapes of all that got a gradient.

    Args:
        passages: The backward pass.
        known: Takes the arrays.
        shape: Takes the shapes.
    """
    for passage in passages:
        node = passage.node
        for output_nr, gradient in enumerate(passage.arrived):
            if gradient is not None:
                shape[node, output_nr] = gradient.shape
        if isinstance(node, AccumulateGrad):
            known[node, 0] = node.variable._array
            shape[node, 0] = node.variable._array.shape
            continue
        for _, value, array in saved_values(node):
            if value is not None:
                known[value] = array
                shape[value] = array.shape
    for value, array in list(known.items()):
        _read_origin(value, array, known, shape)


def _read_origin(
    value: Value, array: Any, known: dict[Value, Any], shape: dict[Value, tuple[int, ...]]
) -> None:
    """Know the value of which a known one is only another view; its rule puts things back."""
    node, output_nr = value
    while passes_on(node) and node.name() != "ExpandBackward0":
        number = output_nr if node._multiple else 0
        gradients = [None] * len(node._shape) if node._multiple else [None]
        gradients[output_nr] = array
        try:
            array = run_rule(node, gradients)[number]
        except (TypeError, RuntimeError):
            return  # released, or not on these: then it is not known
        source, output_nr = node.next_functions[number]
        if source is None or array is None or (source, output_nr) in known:
            return
        node = source
        known[node, output_nr] = array
        shape.setdefault((node, output_nr), array.shape)
