"""Tensors that share memory: what a view is a view of, and what a change in place does to it.

First comes how tensors lie in memory: it says where the gradient of a view belongs, however its
base has been reshaped since the view was made.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import INFERENCE
from minigrad.autograd.messages import RELEASED, SHARED, forward_name, refuse_requires_grad
from minigrad.autograd.rules import zeros_for
from minigrad.core import extensions
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Edge, Node
from minigrad.core.operation import registry
from minigrad.core.tensor import Tensor, VersionCounter, set_requires_grad, wrap_as_normal

# ------------------------------------------------------------------ how tensors lie in memory


def root_of(array: Any) -> Any:
    """Give the array that owns the memory which an array is a part of."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):  # NumPy keeps a strided array's base one step away
            base = getattr(base, "base", None)
        if not isinstance(base, np.ndarray) or base.dtype != array.dtype:
            return array
        array = base


def strides_of(array: Any) -> tuple[int, ...]:
    """Give the steps in memory, in entries, along each dimension."""
    itemsize, shape = array.itemsize, array.shape
    steps = [step // itemsize for step in array.strides]
    # NumPy's steps are 0 where there are no entries, and where a size of 1 was broadcast to 1
    for dim in range(array.ndim - 1, -1, -1):
        if not array.size or (shape[dim] == 1 and not steps[dim]):
            last = dim + 1 == array.ndim
            steps[dim] = 1 if last else max(shape[dim + 1], 1) * steps[dim + 1]
    return tuple(steps)


class Geometry:
    """How an array lies in memory: its shape, its strides, and where in its memory it starts."""

    __slots__ = ("shape", "start", "strides")

    def __init__(self, array: Any) -> None:
        self.shape, self.strides = array.shape, strides_of(array)
        root, self.start = root_of(array), 0
        if root is not array and array.size:
            first, own = (each.__array_interface__["data"][0] for each in (root, array))
            self.start = (own - first) // array.itemsize


def needed(shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> int:
    """Tell how many entries a memory must have for an array."""
    pairs = zip(shape, strides, strict=True)
    return 0 if 0 in shape else start + 1 + sum((size - 1) * step for size, step in pairs)


def seen(memory: Any, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
    """Look at a vector, which may be a tensor, with a shape and strides."""
    if isinstance(memory, Tensor):
        return registry["as_strided"](memory, shape, strides, start, Geometry(memory._array))
    itemsize = memory.itemsize
    steps = [step * itemsize for step in strides]
    if type(memory) is np.ndarray and not memory.dtype.hasobject:  # quicker
        return np.ndarray(shape, memory.dtype, memory, start * itemsize, steps)
    return np.lib.stride_tricks.as_strided(memory[start:], shape, steps, subok=True)


def check_strides(array: Any, shape: Any, strides: Any, start: int, count: int) -> None:
    """Raise if an array of a shape and strides would reach outside of a memory of so many entries.

    Raises:
        RuntimeError: If it would.
    """
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    size = array.itemsize
    reach, there = needed(shape, strides, start) * size, count * size
    if reach > there:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {start}, "
            f"and itemsize {size} requiring a storage size of {reach} are out of bounds for "
            f"storage of size {there}"
        )


def _view_edge(tensor: Tensor, base: Tensor) -> Edge:
    """Give the edge in the graph of a view of changed memory, as both lie there now."""
    node = registry["as_strided"].node()
    node._set_up([base._edge or resolve_edge(base)])
    view = Geometry(tensor._array)
    node._saved = (Geometry(base._array), view.shape, view.start, view.strides)
    return (node, 0)


# Stands for the operation of a `CopySlices` that has run: so the old graph can go.
_RELEASED = Node()
_REPEATED = SHARED.format("more than one element of the written-to tensor", "s")


class CopySlices(Node):
    """A part of a tensor was changed in place: that part's gradient goes through the change."""

    __slots__ = ("base", "function", "part")

    _keeps_tensors = True

    def __init__(self, base: Tensor, edge: Any, view: Tensor, function: Node) -> None:
        self._set_up([edge, *function.next_functions[1:]])
        if function._broadcast is not None:  # what the part gets is written into it as it is
            function._broadcast = (None, *function._broadcast[1:])
        self.function = function
        self.base, self.part = Geometry(base._array), Geometry(view._array)

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::CopySlices"

    def _release(self) -> None:
        self._saved = None
        self.function = _RELEASED

    def _memory(self, gradient: Any) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """Give a memory for the base's gradient, and how that and the part's lie there."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        base, part = self.base, self.part
        if repeated_dims(base):
            raise RuntimeError(_REPEATED)
        count, start = needed(base.shape, base.strides, 0), part.start - base.start
        check_strides(gradient, part.shape, part.strides, start, count)
        memory = zeros_for(gradient, (count,))
        return memory, (base.shape, base.strides, 0), (part.shape, part.strides, start)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Send the changed part's gradient through the operation, the rest past it."""
        return self._through(np.asanyarray(gradient), keep, self.function._run)

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Do the same on tensors; writing into the part is then itself recorded."""
        return self._through(gradient, keep, self.function._run_recorded)

    def _through(self, gradient: Any, keep: bool, run: Callable[..., Any]) -> Any:
        is_tensor = isinstance(gradient, Tensor)
        memory, whole, changed = self._memory(gradient._array if is_tensor else gradient)
        result = seen(memory, *whole)
        if is_tensor:
            memory = result = wrap_as_normal(result)
        result[...] = gradient
        part = seen(memory, *changed)
        given = part.clone() if is_tensor else part.copy()
        first, *others = run([given] if self.function._multiple else given, keep)
        if not keep:
            self._release()
        if first is None:
            return (None, *others)
        if repeated_dims(self.part):  # zero_() of an expanded tensor; PyTorch notices only here
            raise RuntimeError(_REPEATED)
        part[...] = first
        return (result, *others)


def repeated_dims(view: Any) -> tuple[int, ...]:
    """Give the dimensions along which an array, or its geometry, repeats its entries."""
    pairs = enumerate(zip(view.strides, view.shape, strict=True))
    return tuple(dim for dim, (step, size) in pairs if not step and size > 1)


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
    """Give the edge in the graph that a view had last, or None if it had none."""
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
    """Give a view of changed memory its new edge in the graph.

    Raises:
        RuntimeError: If that would override a custom Function, or is ambiguous.
    """
    check_may_change(tensor, view, "its base or another view of its base has been")
    old = own_edge(tensor, view)
    tensor._edge = _view_edge(tensor, view.base)
    view.stale, view.edge = False, None
    _move_retained(tensor, old)


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


def rebase_history(tensor: Tensor, node: Node, output_nr: int = 0) -> None:
    """Make `node`, whose first input is the tensor's old value, the tensor's new `grad_fn`.

    Args:
        tensor: A tensor whose memory was just written to by a recorded operation, and this counted.
        node: The node of that operation.
        output_nr: Which output of the node the tensor is.
    """
    view = tensor._view
    changed = tensor if view is None else view.base
    if view is not None:
        check_may_change(tensor, view, "is being")
        _refuse_view_of_leaf(tensor, view)
    old = changed._edge
    edge: Edge = (node, output_nr)
    if view is not None:
        edge = (CopySlices(changed, old or resolve_edge(changed), tensor, node), 0)
    changed._edge = edge
    _move_retained(changed, old)
    if view is not None:
        view.let_go(tensor)
        regenerate(view, tensor)
    update_views(tensor)


def _move_retained(tensor: Tensor, old: Edge | None) -> None:
    """Let a tensor that retains its gradient do so at its new node, and no longer at the old."""
    meta = tensor._meta
    if meta is None:
        return
    meta.hooks = None  # those of a leaf, which it is no more
    if meta.retains_grad:
        meta.retains_grad = False
        node, output_nr = old or NO_EDGE
        if node is not None:
            node._ensure_hooks().retained.pop(output_nr, None)
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


def set_flag(tensor: Tensor, value: bool) -> None:
    """Let a tensor require a gradient, or no more; tell its views, and a view its base."""
    usual = tensor._array.dtype.kind == "f" and tensor._version_counter is not INFERENCE
    if value.__class__ is not bool or tensor._has_node() or (value and not usual):
        refuse_requires_grad(tensor, value)
    set_requires_grad(tensor, value)
    if tensor._view is not None:
        tensor._view.flag, tensor._edge = value, None
    elif getattr(tensor._version_counter, "views", None):
        update_views(tensor)


def memory_changed(counter: VersionCounter) -> None:
    """Let the views of a memory ask again for their `grad_fn`: it was written to."""
    for view in living_views(counter):
        view._view.stale = True
        view._view.let_go(view)


class View:
    """Says that a tensor shares the memory of another one.

    The tensor's `_edge` is None while it must be asked for: `resolve` knows.

    Attributes:
        base: The tensor that owns the memory; never a view itself.
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

    def __init__(self, base: Tensor) -> None:
        self.base = base

    @property
    def requires_grad(self) -> bool:
        """Whether a view whose `_edge` is None requires a gradient: it does if its base does."""
        return self.flag or self.edge is not None or self.base.requires_grad

    def resolve(self, tensor: Tensor) -> Edge | None:
        """Find the edge in the graph of a view whose `_edge` is None.

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
        """Let a view ask for its edge in the graph when it is next needed."""
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


def new_view(tensor: Tensor, source: Tensor) -> None:
    """Note that `tensor` is a view of `source`; the two share a version counter already."""
    counter: Any = tensor._version_counter
    if counter is INFERENCE:  # nobody keeps count of those, and no gradient flows through them
        tensor._edge = NO_EDGE
        return
    outer = source._view
    view = tensor._view = View(source if outer is None else outer.base)
    if outer is not None:
        view.origin = outer.origin
    if tensor._edge is NO_EDGE:
        if not modes.recording and view.origin != "inference":
            view.origin = "inference" if modes.inference is not None else "no_grad"
        if view.base.requires_grad:  # it says that it does too, but has no history
            tensor._edge = None
    if counter.views is None:
        counter.views = []
    counter.views.append(weakref.ref(tensor))
    count = len(counter.views)
    # drop references to views that are gone whenever the list has doubled
    if count & (count - 1) == 0 and count > 16:
        counter.views = [view for view in counter.views if view() is not None]


extensions.register(memory_changed=memory_changed, new_view=new_view, set_requires_grad=set_flag)
