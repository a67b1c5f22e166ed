"""Tensors that share memory: what a view is a view of, and what a change in place does to it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from minigrad.autograd.leaves import (
    attend_accumulation,
    forget_leaf,
    living_views,
    resolve_edge,
    update_views,
)
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import NO_EDGE, Edge, Node
from minigrad.autograd.saved import forward_name
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import INFERENCE, VersionCounter, counter_of
from minigrad.autograd.view_nodes import AsStridedBackward0, CopySlices, Replay

_WHY_FORBIDDEN = {
    "no_grad": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the no_grad block "
        "(if you don't want the inplace to be tracked) or both outside (if you want the inplace "
        "to be tracked)."
    ),
    "inference": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the inference_mode "
        "block (if you don't want the inplace to be tracked) or both outside (if you want the "
        "inplace to be tracked)."
    ),
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
_MODES = {
    "no_grad": ("no_grad", "with grad mode enabled"),
    "inference": ("inference", "in normal mode"),
}


class View:
    """Says that a tensor shares the memory of another one.

    The tensor's `_edge` is None while it must be asked for: `resolve` knows.

    Attributes:
        base: The tensor that owns the memory; never a view itself.
        replay: Makes the same view of any array or tensor of the base's shape.
        origin: "recorded"; or why the view must not be changed: it was made under "no_grad" or
            in "inference" mode, or a custom Function gave "one" view or "several".
        stale: Whether the memory was written to since the tensor's `_edge` was recorded.
        edge: While the tensor's `_edge` is None: the one that it had, or None.
        flag: Whether this view was itself asked to require a gradient, as a leaf.
    """

    origin = "recorded"
    stale = False
    edge: Edge | None = None
    flag = False
    made_by: Any = None

    def __init__(self, base: Variable, replay: Replay) -> None:
        self.base = base
        self.replay = replay

    @property
    def requires_grad(self) -> bool:
        """Whether a view whose `_edge` is None requires a gradient: it does if its base does."""
        return self.flag or self.edge is not None or self.base.requires_grad

    def own_edge(self, tensor: Variable) -> Edge | None:
        """Give the place in the graph that the view had last, or None if it had none."""
        edge = tensor._edge
        return self.edge if edge is None else None if edge is NO_EDGE else edge

    def check_may_change(self, tensor: Variable, what: str) -> None:
        """Refuse to change a view, or to use one after a change, whose gradient would be wrong."""
        if self.origin == "recorded":
            return
        why = _WHY_FORBIDDEN[self.origin]
        edge = self.own_edge(tensor)
        name = "" if edge is None or edge[0] is None else forward_name(edge[0])
        output = f"Output {0 if edge is None else edge[1]} of {name} is a view"
        if name and self.origin not in _MODES:
            raise RuntimeError(f"{output} and {what} modified inplace. {why}")
        made = f"{output} of a view which was created" if name else "A view was created"
        mode, outside = _MODES.get(self.origin, _MODES["no_grad"])
        raise RuntimeError(f"{made} in {mode} mode and {what} modified inplace {outside}. {why}")

    def resolve(self, tensor: Variable) -> Edge | None:
        """Find the place in the graph of a view whose `_edge` is None.

        Returns:
            Its edge; None if it requires a gradient like a leaf: made under no_grad of a tensor
            that requires one, or asked to require one itself.
        """
        edge, base = self.edge, self.base
        if edge is None and not base.requires_grad:
            if not self.flag:
                tensor._edge = NO_EDGE
        elif self.stale:
            self.check_may_change(tensor, "its base or another view of its base has been")
            self.regenerate(tensor)
        elif edge is not None:
            tensor._edge, self.edge = edge, None
        return tensor._edge

    def regenerate(self, tensor: Variable) -> None:
        """Give a view of changed memory its new place in the graph."""
        old = self.own_edge(tensor)
        tensor._edge = (AsStridedBackward0(tensor, self.base, self.replay), 0)
        self.stale, self.edge = False, None
        _move_retained(tensor, old, True)

    def let_go(self, tensor: Variable) -> None:
        """Let a view ask for its place in the graph when it is next needed."""
        edge = tensor._edge
        if edge is None:
            if self.flag:
                attend_accumulation(tensor)
            return
        if edge is not NO_EDGE:
            self.edge = edge
        elif not self.base.requires_grad:
            return  # as it needs no gradient, it need not ask either
        tensor._edge = None


def make_view(tensor: Variable, source: Variable, replay: Replay) -> None:
    """Note that `tensor` is the view `replay(source)`, and let the two share a version counter."""
    counter = counter_of(source)
    tensor._version_counter = counter
    if counter is INFERENCE:  # nobody keeps count of those, and no gradient flows through them
        tensor._edge = NO_EDGE
        return
    outer = source._view
    if outer is None:
        tensor._view = View(source, replay)
    else:
        inner = outer.replay
        tensor._view = View(outer.base, lambda base: replay(inner(base)))
        tensor._view.origin = outer.origin
    if tensor._edge is NO_EDGE:
        if not grad_mode.enabled and tensor._view.origin != "inference":
            tensor._view.origin = "inference" if grad_mode.enabled is None else "no_grad"
        if tensor._view.base.requires_grad:  # it says that it does too, but has no history
            tensor._edge = None
    list_view(tensor, counter)


def list_view(tensor: Variable, counter: VersionCounter) -> None:
    """Enter a view in the list of those that share a memory."""
    views = counter.views
    if views is None:
        counter.views = [weakref.ref(tensor)]
        return
    views.append(weakref.ref(tensor))
    # drop references to views that are gone whenever the list has doubled
    if len(views) & (len(views) - 1) == 0 and len(views) > 16:
        counter.views = [view for view in views if view() is not None]


# Called with a tensor just before its memory is written to.
write_watchers: list[Callable[[Variable], None]] = []


def check_inplace(tensor: Variable, *, recording: bool) -> None:
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
        view.check_may_change(tensor, "is being")
        _refuse_view_of_leaf(tensor, view)
    if tensor.requires_grad and not tensor._has_node():
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Do it "
            "inside torch.no_grad() if the leaf itself is to change."
        )


def _refuse_view_of_leaf(tensor: Variable, view: View) -> None:
    if tensor.requires_grad and view.base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Do it inside torch.no_grad() if the leaf itself is to change."
        )


def rebase_history(
    tensor: Variable, node: Node, output_nr: int = 0, retains_here: bool = True
) -> None:
    """Make `node`, whose first input is the tensor's old value, the tensor's new `grad_fn`.

    Args:
        tensor: A tensor whose memory was just written to by a recorded operation.
        node: The node of that operation.
        output_nr: Which output of the node the tensor is.
        retains_here: Whether a retained gradient is that of the new value from now on. Not where
            only the shape changed: there PyTorch keeps that of the old one.
    """
    view = tensor._view
    changed = tensor if view is None else view.base
    if view is not None:
        view.check_may_change(tensor, "is being")
        _refuse_view_of_leaf(tensor, view)
    old = changed._edge
    edge: Edge = (node, output_nr)
    if view is not None:
        old_edge = old or resolve_edge(changed)
        edge = (CopySlices(changed, old_edge, view.replay, node), 0)
    mark_views_stale(tensor)
    changed._edge = edge
    if changed._meta is not None and old is not None and old[0] is not None:
        forget_leaf(changed._meta)
    _move_retained(changed, old, retains_here)
    if view is not None:
        view.let_go(tensor)
        view.regenerate(tensor)
    if tensor._version_counter is not None and tensor._version_counter.views is not None:
        update_views(tensor)


def _move_retained(tensor: Variable, old: Edge | None, moves: bool) -> None:
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


def mark_views_stale(changed: Variable) -> None:
    """Let all views of the memory ask for their `grad_fn` anew when it is next read."""
    for other in living_views(changed):
        other._view.stale = True
        other._view.let_go(other)


def as_strided(base: Any, replay: Replay) -> Any:
    """Give a view of a tensor, whatever its strides, as one step in the graph."""
    view = Node.wrap(replay(base._array))
    if base.requires_grad and grad_mode.enabled:
        view._edge = (AsStridedBackward0(view, base, replay), 0)
    make_view(view, base, replay)
    return view


AsStridedBackward0.view_of = staticmethod(as_strided)  # type: ignore[method-assign]
