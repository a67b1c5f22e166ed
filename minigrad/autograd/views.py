"""Tensors that share memory: what a view is a view of, and what a change in place does to it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad.autograd.modes import enable_grad
from minigrad.autograd.node import NO_EDGE, Node, next_priority
from minigrad.autograd.reduce import reduce_gradients
from minigrad.autograd.saved import counter_of

if TYPE_CHECKING:
    from minigrad.autograd.variable import Variable

Replay = Callable[[Any], Any]

_MADE_BY_FUNCTION = {
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
        by_function: None, or how a function gave this view ("one" or "several" of them); then it
            must not be changed.
        stale: Whether the memory was written to since the tensor's `_edge` was recorded.
        made_by: The name of the node that gave the view, and which output it was.
    """

    __slots__ = ("base", "by_function", "made_by", "replay", "stale")

    def __init__(self, base: Variable, replay: Replay) -> None:
        self.base = base
        self.replay = replay
        self.by_function: str | None = None
        self.stale = False
        self.made_by: tuple[str, int] | None = None

    def check_not_by_function(self, what: str) -> None:
        """Refuse to change, or to use after a change, what a custom Function gave."""
        if self.by_function is not None and self.made_by is not None:
            name, output_nr = self.made_by
            raise RuntimeError(
                f"Output {output_nr} of {name} is a view and {what} modified inplace. "
                f"{_MADE_BY_FUNCTION[self.by_function]}"
            )

    def regenerate(self, tensor: Variable) -> None:
        """Give a view of changed memory its new place in the graph."""
        self.check_not_by_function("its base or another view of its base has been")
        self.stale = False
        if self.base.requires_grad:
            with enable_grad():
                tensor._edge = self.replay(self.base)._edge
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
        tensor._view.by_function = outer.by_function
        tensor._view.made_by = outer.made_by
    views = counter.views
    if views is None:
        counter.views = [weakref.ref(tensor)]
    else:
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
            view.check_not_by_function("is being")
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


def mark_views_stale(changed: Variable) -> None:
    """Let all other views of the memory ask for their `grad_fn` anew when it is next read."""
    counter = changed._version_counter
    for reference in (counter.views or ()) if counter is not None else ():
        other = reference()
        if other is None or other is changed or other._view is None:
            continue
        if other._edge is not None:  # None is a leaf's, or of a view that is stale already
            other._edge = None
            other._view.stale = True


class CopySlices(Node):
    """A part of a tensor was changed in place: that part's gradient goes through the change."""

    __slots__ = ("function", "replay")

    function: Node
    replay: Replay

    def __init__(self, base: Variable, edge: Any, replay: Replay, function: Node) -> None:
        self.next_functions = (edge, *function.next_functions[1:])
        self.saved = ()
        self.shape = base._array.shape
        self.dtype = base._array.dtype
        self.broadcast = None
        self.hooks = None
        self._priority = next_priority()
        self.function = function
        self.replay = replay

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::CopySlices"

    def run(self, gradient: Any) -> Any:
        """Send the changed part's gradient through the operation, the rest past it."""
        result = gradient.copy()
        part = self.replay(result)
        first, *others = self._through(self.function.run(part.copy()))
        part[...] = 0 if first is None else first
        return (result, *others)

    def run_recorded(self, gradient: Any) -> Any:
        """Do the same on tensors; writing into the part is then itself recorded."""
        result = gradient.clone()
        part = self.replay(result)
        first, *others = self._through(self.function.run_recorded(part.clone()))
        part[...] = 0 if first is None else first
        return (result, *others)

    def _through(self, results: Any) -> Any:
        node = self.function
        return results if node.broadcast is None else reduce_gradients(node, results)

    def release(self) -> None:
        """Let go of what the operation saved."""
        self.function.release()
