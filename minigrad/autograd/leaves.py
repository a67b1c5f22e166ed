"""Find what belongs to a leaf or hangs on it: its accumulate node, its hooks, its views."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad.autograd.accumulate import AccumulateGrad, attach_leaf_hooks
from minigrad.autograd.node import NO_EDGE, Edge, Node

if TYPE_CHECKING:
    from minigrad.autograd.variable import Variable


class AutogradMeta:
    """What only some tensors need: the hooks of a leaf, and its accumulate node.

    Attributes:
        accumulator: A weak reference to the leaf's `AccumulateGrad`.
        hooks: The tensor hooks of a leaf. Those of other tensors sit on the node that made them.
        post_accumulate_hooks: Called with the leaf after its `.grad` was updated.
        retains_grad: Whether a tensor that is no leaf keeps its gradient.
    """

    __slots__ = ("accumulator", "hooks", "post_accumulate_hooks", "retains_grad")

    def __init__(self) -> None:
        self.accumulator: weakref.ref[Node] | None = None
        self.hooks: OrderedDict[int, Callable[..., Any]] | None = None
        self.post_accumulate_hooks: OrderedDict[int, Callable[..., Any]] | None = None
        self.retains_grad = False

    def living_accumulator(self) -> Node | None:
        """Give the leaf's accumulate node, if anything holds it."""
        return None if self.accumulator is None else self.accumulator()


# The `_meta` of a Python number that became a tensor to meet another one.
wrapped_number = AutogradMeta()


def resolve_edge(tensor: Variable) -> Edge:
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
    meta = tensor._meta
    if meta is None:
        meta = tensor._meta = AutogradMeta()
    elif meta.accumulator is not None:
        held = meta.accumulator()
        if held is not None:
            return (held, 0)
    node = AccumulateGrad()
    node.variable = tensor
    node._hooks = None
    meta.accumulator = weakref.ref(node)
    if meta.hooks is not None or meta.post_accumulate_hooks is not None:
        attach_leaf_hooks(node, meta)
    return (node, 0)


def forget_leaf(meta: AutogradMeta) -> None:
    """Take the hooks off what was a leaf once, and is changed in place for the second time.

    After the first time PyTorch still runs the hooks of the leaf, until it notices.
    """
    accumulator = meta.living_accumulator()
    if accumulator is not None and accumulator._hooks is not None:
        accumulator._hooks.tensor_pre = {}


def living_views(tensor: Variable) -> list[Any]:
    """Give the views that share a tensor's memory, and are still there."""
    counter = tensor._version_counter
    if counter is None or counter.views is None:
        return []
    living = [view for view in (reference() for reference in counter.views) if view is not None]
    if not living:
        counter.views = None
    return [view for view in living if view._view is not None]


def update_views(base: Variable) -> None:
    """Let views ask again whether they require a gradient: their base has changed its mind."""
    for view in living_views(base):
        if view._edge is NO_EDGE:
            view._view.let_go(view)
        elif view._edge is None and not view._view.requires_grad:
            view._edge = NO_EDGE


def attend_accumulation(leaf: Variable) -> None:
    """Let the engine look at a leaf before a gradient is added to it: it may be none any more."""
    if leaf._meta is not None:
        node = leaf._meta.living_accumulator()
        if node is not None:  # with hooks, even none, it is looked at before it runs
            node._ensure_hooks()
