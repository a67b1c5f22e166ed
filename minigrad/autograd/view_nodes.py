"""The nodes that a change of shared memory leaves: where the gradient of a view belongs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.messages import RELEASED
from minigrad.core.leaves import resolve_edge
from minigrad.core.modes import grad_mode
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor, make_view, wrap_as_normal

Replay = Callable[[Any], Any]


class Layout:
    """The shape of a tensor, and the order in which its dimensions lie in memory.

    Views are made anew of gradients, and not every view of a tensor can be made of one that lies
    in memory in another order.
    """

    __slots__ = ("order", "shape")

    def __init__(self, array: Any) -> None:
        self.shape = array.shape
        self.order: tuple[int, ...] | None = None
        if not array.flags.c_contiguous:
            steps = [-step for step in array.strides]
            self.order = tuple(int(dim) for dim in np.argsort(steps, kind="stable"))

    def shaped(self, memory: Any) -> Any:
        """Give a vector of all entries this shape."""
        if self.order is None:
            return memory.reshape(self.shape)
        ordered = memory.reshape(tuple(self.shape[dim] for dim in self.order))
        return ordered.transpose(tuple(int(dim) for dim in np.argsort(self.order)))

    def zeros(self, like: Any) -> Any:
        """Give a vector of as many zeros, of the dtype and kind of another array."""
        return np.zeros_like(like, shape=(math.prod(self.shape),))

    def copied(self, array: Any) -> Any:
        """Copy an array of this shape into this order."""
        result = self.shaped(self.zeros(array))
        result[...] = array
        return result


class AsStridedBackward0(Node):
    """A view of changed memory: its gradient goes to its place in the base."""

    __slots__ = ("layout", "replay")

    layout: Layout
    replay: Replay

    def __init__(self, base: Tensor, replay: Replay) -> None:
        self._set_up([base._edge or resolve_edge(base)])
        self.replay = replay
        self.layout = Layout(base._array)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Put the gradient into zeros of the base's shape; repeated entries add up."""
        memory = self.layout.zeros(gradient)
        part = self.replay(self.layout.shaped(memory))
        repeated, windows = _repeated(part), _overlaps(part)
        if not repeated and not windows:
            part[...] = gradient
        elif type(memory) is np.ndarray and not windows:
            dims = range(part.ndim)
            once = tuple(slice(0, 1) if dim in repeated else slice(None) for dim in dims)
            part[once] = gradient.sum(axis=repeated, keepdims=True)
        else:  # windows, or symbols
            places = self.replay(self.layout.shaped(np.arange(memory.size)))
            np.add.at(memory, places, gradient)
        return (self.layout.shaped(memory),)

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Do the same on tensors; writing into the part is itself recorded."""
        layout, replay = self.layout, self.replay
        memory = wrap_as_normal(layout.zeros(gradient._array))
        part = replay(layout.shaped(memory._array))
        if not part.size:
            return (wrap_as_normal(layout.shaped(memory._array)),)
        if _overlaps(part):
            places = replay(layout.shaped(np.arange(memory._array.size)))
            flat = wrap_as_normal(np.ascontiguousarray(places).reshape(-1))
            filled = memory.index_add(0, flat, gradient.reshape(-1))
            return (as_strided(filled, layout.shaped),)
        repeated = _repeated(part)
        for dim in reversed(range(part.ndim)):
            if part.shape[dim] == 1:
                gradient = gradient.squeeze(dim)
            elif dim in repeated:
                gradient = gradient.sum(dim)
        once = tuple(
            0 if size == 1 or dim in repeated else slice(None)
            for dim, size in enumerate(part.shape)
        )
        as_strided(memory, lambda base: replay(layout.shaped(base))[(*once, ...)]).copy_(gradient)
        return (as_strided(memory, layout.shaped),)


def as_strided(base: Any, replay: Replay) -> Any:
    """Give a view of a tensor, whatever its strides, as one step in the graph."""
    view = wrap_as_normal(replay(base._array))
    if base.requires_grad and grad_mode.enabled:
        view._edge = (AsStridedBackward0(base, replay), 0)
    make_view(view, base, replay)
    return view


def _overlaps(view: Any) -> bool:
    """Tell whether entries of a view may share memory though no dimension repeats them."""
    reach = 0
    for step, size in sorted(zip(view.strides, view.shape, strict=True)):
        if step and size > 1:
            if step <= reach:
                return True
            reach += step * (size - 1)
    return False


def _repeated(view: Any) -> tuple[int, ...]:
    """Give the dimensions along which a view repeats its entries."""
    pairs = enumerate(zip(view.strides, view.shape, strict=True))
    return tuple(dim for dim, (step, size) in pairs if not step and size > 1)


# In the place of the operation of a `CopySlices` that has run: so the old graph can go.
_RELEASED = Node()


class CopySlices(Node):
    """A part of a tensor was changed in place: that part's gradient goes through the change."""

    __slots__ = ("function", "layout", "replay")

    _keeps_tensors = True
    function: Node
    layout: Layout
    replay: Replay

    def __init__(self, base: Tensor, edge: Any, replay: Replay, function: Node) -> None:
        self._set_up([edge, *function.next_functions[1:]])
        if function._broadcast is not None:  # what the part gets is written into it as it is
            function._broadcast = (None, *function._broadcast[1:])
        self.function = function
        self.replay = replay
        self.layout = Layout(base._array)

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::CopySlices"

    def _release(self) -> None:
        self._saved = None
        self.function = _RELEASED

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Send the changed part's gradient through the operation, the rest past it."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        result = self.layout.copied(np.asanyarray(gradient))
        part = self.replay(result)
        first, *others = self.function._run(part.copy(), keep)
        if not keep:
            self._release()
        if first is None:
            return (None, *others)
        if _repeated(part):  # zero_() of an expanded tensor; PyTorch notices only here
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to "
                "a single memory location. Please clone() the tensor before performing the "
                "operation."
            )
        part[...] = first
        return (result, *others)

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Do the same on tensors; writing into the part is then itself recorded."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        memory = self.layout.zeros(gradient._array)
        result = wrap_as_normal(self.layout.shaped(memory)).copy_(gradient)
        part = as_strided(result, self.replay)
        first, *others = self.function._run_recorded(part.clone(), keep)
        if first is None:
            return (None, *others)
        part.copy_(first)
        return (result, *others)
