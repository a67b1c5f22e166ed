"""Tensors that share memory: what a view is a view of, and what a change in place does to it.

First come the nodes that such a change leaves: they say where the gradient of a view belongs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.messages import RELEASED, SHARED, forward_name
from minigrad.core.engine import resolve_edge
from minigrad.core.node import NO_EDGE, Edge, Node, grad_mode
from minigrad.core.plugs import attach, plugs
from minigrad.core.tensor import Tensor, VersionCounter, View, make_view, wrap_as_normal

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

    def __init__(self, base: Tensor, replay: Replay) -> None:
        self._set_up([base._edge or resolve_edge(base)])
        self.replay = replay
        self.layout = Layout(base._array)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Put the gradient into zeros of the base's shape; repeated entries add up."""
        memory = self.layout.zeros(gradient)
        part = self.replay(self.layout.shaped(memory))
        repeated, windows = repeated_dims(part), _overlaps(part)
        if not repeated and not windows:
            part[...] = gradient
        elif type(memory) is np.ndarray and not windows:
            dims = range(part.ndim)
            once = tuple(slice(0, 1) if dim in repeated else slice(None) for dim in dims)
            part[once] = gradient.sum(axis=repeated, keepdims=True)
        else:  # windows, or symbols
            np.add.at(memory, self.replay(self.layout.shaped(np.arange(memory.size))), gradient)
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
        repeated = repeated_dims(part)
        for dim in reversed(range(part.ndim)):
            if part.shape[dim] == 1:
                gradient = gradient.squeeze(dim)
            elif dim in repeated:
                gradient = gradient.sum(dim)
        dims = enumerate(part.shape)
        once = tuple(0 if n == 1 or dim in repeated else slice(None) for dim, n in dims)
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


def repeated_dims(view: Any) -> tuple[int, ...]:
    """Give the dimensions along which a view repeats its entries."""
    pairs = enumerate(zip(view.strides, view.shape, strict=True))
    return tuple(dim for dim, (step, size) in pairs if not step and size > 1)


# In the place of the operation of a `CopySlices` that has run: so the old graph can go.
_RELEASED = Node()


class CopySlices(Node):
    """A part of a tensor was changed in place: that part's gradient goes through the change."""

    __slots__ = ("function", "layout", "replay")

    _keeps_tensors = True

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
        if repeated_dims(part):  # zero_() of an expanded tensor; PyTorch notices only here
            raise RuntimeError(SHARED.format("more than one element of the written-to tensor", "s"))
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


# ------------------------------------------------------------------ what must not be changed

_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {} block (if you don't "
    "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_WHY_FORBIDDEN = {
    "no_grad": _AMBIGUOUS.format("no_grad"),
    "inference": _AMBIGUOUS.format("inference_mode"),
    "one": (
        "This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function."
    ),
    "several": (
        "This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        "by an out-of-place one."
    ),
}

# the modes in which a view may have been made, and how PyTorch calls being outside of them
_MODES = {"no_grad": "with grad mode enabled", "inference": "in normal mode"}


def own_edge(tensor: Tensor, view: View) -> Edge | None:
    """Give the place in the graph that a view had last, or None if it had none."""
    edge = tensor._edge
    return view.edge if edge is None else None if edge is NO_EDGE else edge


def check_may_change(tensor: Tensor, view: View, what: str) -> None:
    """Refuse to change a view, or to use one after a change, whose gradient would be wrong."""
    if view.origin == "recorded":
        return
    why = _WHY_FORBIDDEN[view.origin]
    edge = own_edge(tensor, view)
    name = "" if edge is None or edge[0] is None else forward_name(edge[0])
    output = f"Output {0 if edge is None else edge[1]} of {name} is a view"
    if name and view.origin not in _MODES:
        raise RuntimeError(f"{output} and {what} modified inplace. {why}")
    made = f"{output} of a view which was created" if name else "A view was created"
    mode = view.origin if view.origin in _MODES else "no_grad"
    raise RuntimeError(f"{made} in {mode} mode and {what} modified inplace {_MODES[mode]}. {why}")


def regenerate(view: View, tensor: Tensor) -> None:
    """Give a view of changed memory its new place in the graph.

    Raises:
        RuntimeError: If that would override a custom Function, or is ambiguous.
    """
    check_may_change(tensor, view, "its base or another view of its base has been")
    old = own_edge(tensor, view)
    tensor._edge = (AsStridedBackward0(view.base, view.replay), 0)
    view.stale, view.edge = False, None
    _move_retained(tensor, old, True)


# Called with a tensor just before its memory is written to.
write_watchers: list[Callable[[Tensor], None]] = []


_A_LEAF = (
    "a {}leaf Variable that requires grad is being used in an in-place operation. Do it inside "
    "torch.no_grad() if the leaf itself is to change."
)


def check_inplace(tensor: Tensor, *, recording: bool) -> None:
    """Raise if a tensor must not be changed in place.

    Args:
        tensor: The tensor that is about to be changed.
        recording: Whether the change will be recorded: grad mode is on, and the tensor or what
            it is changed by requires a gradient.

    Raises:
        RuntimeError: If it is a leaf that requires a gradient, a view of one, or a view that
            a custom Function gave (such as the inputs and outputs of full backward hooks).
    """
    for watcher in write_watchers:
        watcher(tensor)
    if not recording:
        return
    view = tensor._view
    if view is not None:
        check_may_change(tensor, view, "is being")
        _refuse_view_of_leaf(tensor, view)
    if tensor.requires_grad and not tensor._has_node():
        raise RuntimeError(_A_LEAF.format(""))


def _refuse_view_of_leaf(tensor: Tensor, view: View) -> None:
    if tensor.requires_grad and view.base.is_leaf:
        raise RuntimeError(_A_LEAF.format("view of a "))


def rebase_history(
    tensor: Tensor, node: Node, output_nr: int = 0, retains_here: bool = True
) -> None:
    """Make `node`, whose first input is the tensor's old value, the tensor's new `grad_fn`.

    Args:
        tensor: A tensor whose memory was just written to by a recorded operation, and this counted.
        node: The node of that operation.
        output_nr: Which output of the node the tensor is.
        retains_here: Whether a retained gradient is that of the new value from now on. Not where
            only the shape changed: there PyTorch keeps that of the old one.
    """
    view = tensor._view
    changed = tensor if view is None else view.base
    if view is not None:
        check_may_change(tensor, view, "is being")
        _refuse_view_of_leaf(tensor, view)
    old = changed._edge
    edge: Edge = (node, output_nr)
    if view is not None:
        edge = (CopySlices(changed, old or resolve_edge(changed), view.replay, node), 0)
    changed._edge = edge
    if changed._meta is not None and (view is None or (old or NO_EDGE)[0] is not None):
        accumulator = changed._meta.living_accumulator()
        if accumulator is not None and accumulator._hooks is not None:
            # of a former leaf PyTorch runs the hooks after one change of a view of it, but no more
            accumulator._hooks.tensor_pre = {}
    _move_retained(changed, old, retains_here)
    if view is not None:
        view.let_go(tensor)
        regenerate(view, tensor)
    update_views(tensor)


def _move_retained(tensor: Tensor, old: Edge | None, moves: bool) -> None:
    """Let a tensor that retains its gradient do so at its new node, and no longer at the old."""
    meta = tensor._meta
    if meta is None:
        return
    meta.hooks = None  # those of a leaf, which it is no more
    if meta.retains_grad and moves:
        meta.retains_grad = False
        if old is not None and old[0] is not None and old[0]._hooks is not None:
            old[0]._hooks.retained.pop(old[1], None)
        tensor.retain_grad()


def living_views(counter: VersionCounter) -> list[Any]:
    """Give the views that share a memory, and are still there; if none is, forget the list."""
    found = [v for ref in counter.views or () if (v := ref()) is not None and v._view is not None]
    counter.views = counter.views if found else None
    return found


def update_views(base: Tensor) -> None:
    """Let views ask again whether they require a gradient: their base has changed its mind."""
    for view in () if base._version_counter is None else living_views(base._version_counter):
        if view._edge is NO_EDGE:
            view._view.let_go(view)
        elif view._edge is None and not view._view.requires_grad:
            view._edge = NO_EDGE


def flag_changed(tensor: Tensor, value: bool) -> None:
    """Let a tensor that is a view, or has views, have changed its mind on requiring a gradient."""
    if tensor._view is not None:
        tensor._view.flag, tensor._edge = value, None
    else:
        update_views(tensor)


@attach(VersionCounter)
class ViewsOfMemory(VersionCounter):
    """What the counter of a memory can do for the views of it."""

    __slots__ = ()

    def let_views_go(self) -> None:
        """Let the views of the memory ask for their `grad_fn` anew: it was written to."""
        for view in living_views(self):
            view._view.stale = True
            view._view.let_go(view)


@attach(View)
class ViewInTheGraph(View):
    """How a view finds its place in the graph anew after its memory was written to."""

    @property
    def requires_grad(self) -> bool:
        """Whether a view whose `_edge` is None requires a gradient: it does if its base does."""
        return self.flag or self.edge is not None or self.base.requires_grad

    def resolve(self, tensor: Tensor) -> Edge | None:
        """Find the place in the graph of a view whose `_edge` is None.

        Returns:
            Its edge; None if it requires a gradient like a leaf: made under no_grad of a tensor
            that requires one, or asked to require one itself.
        """
        edge = self.edge
        if edge is None and not self.base.requires_grad:
            if not self.flag:
                tensor._edge = NO_EDGE
        elif self.stale:
            regenerate(self, tensor)
        else:
            tensor._edge, self.edge = edge, None
        return tensor._edge

    def let_go(self, tensor: Tensor) -> None:
        """Let a view ask for its place in the graph when it is next needed."""
        edge = tensor._edge
        if edge is None:
            if self.flag and tensor._meta is not None:
                tensor._meta.attach_hooks()
            return
        if edge is not NO_EDGE:
            self.edge = edge
        elif not self.base.requires_grad:
            return  # as it needs no gradient, it need not ask either
        tensor._edge = None


plugs.fill(flag_changed=flag_changed)
