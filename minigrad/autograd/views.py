"""Tensors that share memory: what a view is a view of, and what a change in place does to it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.node import NO_EDGE, Node, next_priority
from minigrad.autograd.saved import VersionCounter, counter_of
from minigrad.autograd.variable import Variable, resolve_edge

Replay = Callable[[Any], Any]

_WHY_FORBIDDEN = {
    "no_grad": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the no_grad block "
        "(if you don't want the inplace to be tracked) or both outside (if you want the inplace "
        "to be tracked)."
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


class View:
    """Says that a tensor shares the memory of another one.

    Attributes:
        base: The tensor that owns the memory; never a view itself.
        replay: Makes the same view of any array or tensor of the base's shape.
        origin: "recorded"; or why the view must not be changed: it was made under "no_grad", or
            a custom Function gave "one" view or "several".
        stale: Whether the memory was written to since the tensor's `_edge` was recorded.
        made_by: The name of the node that gave the view, and which output it was.
    """

    origin = "recorded"
    stale = False
    made_by: tuple[str, int] | None = None

    def __init__(self, base: Variable, replay: Replay) -> None:
        self.base = base
        self.replay = replay

    def check_may_change(self, what: str) -> None:
        """Refuse to change a view, or to use one after a change, whose gradient would be wrong."""
        if self.origin == "recorded":
            return
        why = _WHY_FORBIDDEN[self.origin]
        if self.made_by is None:
            raise RuntimeError(
                f"A view was created in no_grad mode and {what} modified inplace with grad mode "
                f"enabled. {why}"
            )
        name, output_nr = self.made_by
        raise RuntimeError(
            f"Output {output_nr} of {name} is a view and {what} modified inplace. {why}"
        )

    def regenerate(self, tensor: Variable) -> None:
        """Give a view of changed memory its new place in the graph."""
        self.check_may_change("its base or another view of its base has been")
        self.stale = False
        base = self.base
        if base.requires_grad:
            tensor._edge = (AsStridedBackward0(tensor, base, self.replay), 0)
        else:
            tensor._edge = NO_EDGE
        if tensor._meta is not None and tensor._meta.retains_grad:
            tensor.retain_grad()


def make_view(tensor: Variable, source: Variable, replay: Replay) -> None:
    """Note that `tensor` is the view `replay(source)`, and let the two share a version counter."""
    counter = counter_of(source)
    tensor._version_counter = counter
    outer = source._view
    if outer is None:
        tensor._view = View(source, replay)
    else:
        inner = outer.replay
        tensor._view = View(outer.base, lambda base: replay(inner(base)))
        tensor._view.origin = outer.origin
        tensor._view.made_by = outer.made_by
    if tensor._edge is NO_EDGE and source._edge is not NO_EDGE and source.requires_grad:
        # made under no_grad: it says that it requires a gradient, but has no history
        tensor._edge = None
        tensor._view.origin = "no_grad"
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


def check_inplace(tensor: Variable, *, recording: bool) -> None:
    """Raise if a tensor must not be changed in place.

    Raises:
        RuntimeError: If it is a leaf that requires a gradient, a view of one, or a view that
            a custom Function gave (such as the inputs and outputs of full backward hooks).
    """
    if not recording:
        return
    view = tensor._view
    if view is not None:
        if tensor.requires_grad:
            view.check_may_change("is being")
        if view.base.requires_grad and view.base.is_leaf:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation. Do it inside torch.no_grad() if the leaf itself is to change."
            )
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Do it "
            "inside torch.no_grad() if the leaf itself is to change."
        )


def rebase_history(tensor: Variable, node: Node) -> None:
    """Make `node`, whose first input is the tensor's old value, the tensor's new `grad_fn`.

    Args:
        tensor: A tensor whose memory was just written to by a recorded operation.
        node: The node of that operation.
    """
    view = tensor._view
    _stop_retaining(tensor)
    if view is None:
        tensor._edge = (node, 0)
        if tensor._meta is not None and tensor._meta.retains_grad:
            tensor.retain_grad()
    else:
        base = view.base
        old_edge = base._edge if base.requires_grad else NO_EDGE
        assert old_edge is not None
        base._edge = (CopySlices(base, old_edge, view.replay, node), 0)
        tensor._edge = None
        view.stale = True
    mark_views_stale(tensor)


def _stop_retaining(tensor: Variable) -> None:
    """Let the old version of a tensor no longer write to its `.grad`: the new version will."""
    edge = tensor._edge
    if tensor._meta is None or not tensor._meta.retains_grad or edge is None or edge[0] is None:
        return
    hooks = edge[0].hooks
    if hooks is not None:
        hooks.retained.pop(edge[1], None)


def mark_views_stale(changed: Variable) -> None:
    """Let all other views of the memory ask for their `grad_fn` anew when it is next read."""
    counter = changed._version_counter
    if counter is None or counter.views is None:
        return
    living = [view for view in (reference() for reference in counter.views) if view is not None]
    if not living:
        counter.views = None
        return
    for other in living:
        if other is changed or other._view is None:
            continue
        # None is a leaf's edge, or that of a view that is stale already
        if other._edge is not None and other._edge is not NO_EDGE:
            _stop_retaining(other)
            other._edge = None
            other._view.stale = True
        elif other._edge is NO_EDGE and other._view.base.requires_grad:
            other._edge = None
            other._view.stale = True
        elif other._view.origin == "no_grad":
            other._view.stale = True


class AsStridedBackward0(Node):
    """A view of changed memory: its gradient goes to its place in the base."""

    __slots__ = ("base_shape", "replay")

    replay: Replay

    def __init__(self, view: Variable, base: Variable, replay: Replay) -> None:
        self.next_functions = (base._edge or resolve_edge(base),)
        self.saved = ()
        self.broadcast = None
        self.hooks = None
        self._priority = next_priority()
        self.replay = replay
        self.base_shape = base._array.shape

    def _zeros(self, like: Any) -> Any:
        return np.zeros_like(like, shape=self.base_shape)

    def run(self, gradient: Any, keep: bool = True) -> Any:
        """Put the gradient into zeros of the base's shape; repeated entries add up."""
        result = self._zeros(gradient)
        places = self.replay(np.arange(result.size).reshape(result.shape))
        if np.unique(places).size == places.size:
            self.replay(result)[...] = gradient
        else:
            np.add.at(result.reshape(-1), places, gradient)
        return (result,)

    def run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Do the same on tensors; writing into the part is itself recorded."""
        result = self.wrap(self._zeros(gradient._array))
        self.replay(result)[...] = gradient
        return (result,)


class CopySlices(Node):
    """A part of a tensor was changed in place: that part's gradient goes through the change."""

    __slots__ = ("function", "replay")

    function: Node
    replay: Replay

    def __init__(self, base: Variable, edge: Any, replay: Replay, function: Node) -> None:
        self.next_functions = (edge, *function.next_functions[1:])
        self.saved = ()
        self.broadcast = None
        self.hooks = None
        self._priority = next_priority()
        self.function = function
        self.replay = replay

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::CopySlices"

    def run(self, gradient: Any, keep: bool = True) -> Any:
        """Send the changed part's gradient through the operation, the rest past it."""
        result = gradient.copy()
        part = self.replay(result)
        first, *others = self.function.run(part.copy(), keep)
        part[...] = 0 if first is None else first
        return (result, *others)

    def run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Do the same on tensors; writing into the part is then itself recorded."""
        result = gradient.clone()
        part = self.replay(result)
        first, *others = self.function.run_recorded(part.clone(), keep)
        part[...] = 0 if first is None else first
        return (result, *others)
