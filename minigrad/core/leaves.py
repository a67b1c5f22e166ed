"""The end of the graph at a leaf: add what arrives to `.grad`, and copy only where one must."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core.node import NO_EDGE, Edge, Node
from minigrad.core.tensor import Tensor, wrap

# Passes in several threads may add to the gradient of one leaf: nothing must be lost.
_accumulation = threading.RLock()


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the arriving gradient to the leaf's `.grad`."""

    __slots__ = ("variable",)

    # the same for every leaf, so that making one costs little
    next_functions = ()
    _saved = ()
    _broadcast = None
    _priority = -sys.maxsize

    variable: Tensor

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::AccumulateGrad"

    def _place(self, tensor: Tensor, output_nr: int) -> None:
        """Let a tensor be a leaf whose gradient is added up here."""
        tensor._edge = None
        tensor._autograd_meta().accumulator = weakref.ref(self)

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add an array to `.grad`: in place if there is a gradient already."""
        variable = self.variable
        with _accumulation:
            total = variable._grad
            if total is None:
                array = variable._array
                if (
                    array.ndim > 1
                    and gradient.strides != array.strides
                    and not (gradient.flags.c_contiguous and array.flags.c_contiguous)
                ):
                    gradient = _laid_out_like(array, gradient)
                elif not (
                    _references(gradient) <= _SOLE_OWNER
                    and (gradient.base is None or _owns_all(gradient))
                ):
                    gradient = gradient.copy("K")
                variable._grad = wrap(gradient)
            elif total._array.flags.writeable:
                array = total._array
                total._bump_version()  # which an inference tensor refuses outside of its mode
                if array.size == 1:  # Python is faster than NumPy here, and rounds as it does
                    array.fill(array.item() + gradient.item())
                else:
                    array += gradient
            else:
                variable._grad = wrap(total._array + gradient)
        return ()

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add a tensor to `.grad`, out of place, so that the sum is recorded."""
        variable = self.variable
        with _accumulation:
            total = variable._grad
            if total is None:
                memory = _laid_out_like(variable._array, gradient._array)
                variable._grad = gradient._copied_to(memory)
            else:
                variable._grad = total + gradient
        return ()


def resolve_edge(tensor: Tensor) -> Edge:
    """Give the edge that an operation on this tensor must record, if `_edge` is None.

    For a leaf that is the edge to its `AccumulateGrad`: one and the same node while anything holds
    it. The node refers to the leaf; so the leaf refers to the node weakly.
    """
    if tensor._view is not None:
        edge = tensor._resolved_edge()
        if edge is not None:
            return edge
        if not tensor._view.flag:  # made under no_grad: no gradient can reach its base
            return NO_EDGE
    meta = tensor._meta or tensor._autograd_meta()
    if meta.accumulator is not None:
        held = meta.accumulator()
        if held is not None:
            return (held, 0)
    node = AccumulateGrad()
    node.variable = tensor
    node._hooks = None
    meta.accumulator = weakref.ref(node)
    if meta.hooks is not None or meta.post_accumulate_hooks is not None:
        meta.attach_hooks()
    return (node, 0)


def _laid_out_like(leaf: Any, gradient: Any) -> Any:
    """Copy a gradient into the order in which the entries of its leaf lie in memory.

    So that `leaf.grad.view(...)` can do what `leaf.view(...)` can. The gradient of a leaf whose
    entries share memory, or lie apart, lies in the order of printing.
    """
    if leaf.flags.c_contiguous or 0 in leaf.strides or gradient.ndim != leaf.ndim:
        return gradient.copy()
    order = sorted(range(leaf.ndim), key=lambda dim: -leaf.strides[dim])
    if not leaf.transpose(order).flags.c_contiguous:
        return gradient.copy()
    places = sorted(range(leaf.ndim), key=order.__getitem__)
    return gradient.transpose(order).copy().transpose(places)


# A gradient that nobody else holds becomes the memory of `.grad`; any other is copied, because
# `.grad` is added to in place. How many references an array has that only the engine holds differs
# between interpreters, so ask this one, through the same chain of calls.
_references: Callable[[Any], int] = getattr(sys, "getrefcount", lambda _: sys.maxsize)


class _Probe:
    def _run(self, gradient: Any, keep: bool = True) -> tuple[int, int]:
        return _references(gradient), _references(gradient.base)


def _count_for_sole_owner() -> tuple[int, int]:
    leaves = [(_Probe(), np.empty((2, 3)).T)]
    while leaves:
        node, gradient = leaves.pop()
        counts = node._run(gradient, True)
    return counts


_SOLE_OWNER, _SOLE_VIEW = _count_for_sole_owner()


def _owns_all(view: Any) -> bool:
    """Tell whether an array is another form of the whole of a memory that nobody else holds."""
    return (
        view.flags.carray
        and _references(view.base) <= _SOLE_VIEW
        and isinstance(view.base, np.ndarray)
        and view.base.base is None
        and view.base.size == view.size
    )
