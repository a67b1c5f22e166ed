"""The graph that a computation leaves behind: nodes, the edges between them, the hooks on them.

A node stands for one recorded operation. It knows where the gradients of the operation's inputs
have to go (`_edges`), keeps what its backward rule needs (`_saved`), and can run the rule
(`_run`). The leaves of the graph are `AccumulateGrad` nodes, which add to a tensor's `.grad`.

A backward pass calls the hooks of one node in this order: the tensor hooks of each of its outputs,
retained gradients, node pre-hooks, then the backward rule, then node hooks. At a leaf the rule is
the accumulation into `.grad`, and the post-accumulate hooks follow it.

What operations look at before they record themselves are the modes of a thread, which stand first;
`minigrad.autograd.grad_mode` has their switches: `no_grad`, `enable_grad`, `set_grad_enabled`.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, MutableMapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad.core.plugs import plugs

# ------------------------------------------------------------------ modes


class _GradMode(threading.local):
    """What operations look at before they record; each thread has its own.

    Attributes:
        enabled: True to record and False not to; None in inference mode. Truthy but not True is
            an `Attention`: record, and show it each new node.
        attention: None, or who wants to see each new node (saved-tensor hooks, anomaly mode).
        asked: In inference mode, whether recording was asked for nevertheless.
        task: The backward pass that runs in this thread, if one does.
        levels_left: How many more passes may nest in this thread before a new one takes over.
        saved_hooks: The pairs of saved-tensor hooks in force, the innermost last.
        hooks_forbidden: Why no such hooks may be entered; None if they may.
        recorder: None, or what writes down what the passes of this thread do.
    """

    def __init__(self) -> None:  # called in each thread that asks
        self.enabled: Any = True
        self.attention: Any = None
        self.asked = False
        self.task: Any = None
        self.levels_left = 16
        self.saved_hooks: tuple[Any, ...] = ()
        self.hooks_forbidden: str | None = None
        self.recorder: Any = None

    def set(self, recording: bool) -> None:
        """Record from now on, or do not."""
        if self.enabled is None:
            self.asked = recording
        else:
            self.enabled = recording and (self.attention or True)


grad_mode = _GradMode()

# Called with each new node and the tensors that are its outputs.
Watcher = Callable[..., None]


class Attention:
    """Shows each new node to those who watch; in the place of True in `grad_mode.enabled`."""

    __slots__ = ("bits", "watchers")

    def __init__(self, watchers: tuple[Watcher, ...], bits: int) -> None:
        self.watchers, self.bits = watchers, bits  # a bit for each, see `autograd.grad_mode`

    def attend(self, node: Any, *outputs: Any) -> None:
        """Show a node that was just recorded."""
        for watcher in self.watchers:
            watcher(node, outputs)


def attend(node: Any, *outputs: Any) -> None:
    """Show a new node to those who watch; for nodes that are recorded by hand."""
    if grad_mode.attention is not None and grad_mode.enabled:
        grad_mode.attention.attend(node, *outputs)


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded in this thread at this moment.

    Example:
        >>> is_grad_enabled()
        True
    """
    enabled = grad_mode.enabled
    return grad_mode.asked if enabled is None else bool(enabled)


# ------------------------------------------------------------------ hooks

Table = OrderedDict[int, Callable[..., Any]]


class RemovableHandle:
    """The receipt for a registered hook: call `remove()` and the hook is gone.

    A handle does not keep the table of hooks alive. It may be removed twice, also from inside
    its own hook, and it is a context manager that removes the hook at the end of the block.

    Args:
        hooks_dict: The table that holds the hook, keyed by the handle's `id`.
        extra_dict: One more table, or several, in which the same id stands.

    Example:
        >>> from collections import OrderedDict
        >>> table = OrderedDict()
        >>> handle = RemovableHandle(table)
        >>> table[handle.id] = print
        >>> with handle:
        ...     len(table)
        1
        >>> len(table)
        0
        >>> handle.remove()
    """

    next_id: ClassVar[int] = 0

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref: weakref.ref[Any] = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.extra_dict_ref: tuple[weakref.ref[Any], ...] = ()
        if extra_dict is not None:
            extras = extra_dict if isinstance(extra_dict, list) else [extra_dict]
            self.extra_dict_ref = tuple(weakref.ref(e) for e in extras if isinstance(e, dict))

    def remove(self) -> None:
        """Remove the hook. Doing so again is harmless."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        """Enter a block at whose end the hook is removed."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the hook."""
        self.remove()


def add(table: Table, hook: Callable[..., Any]) -> RemovableHandle:
    """Put a hook into a table."""
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


class NodeHooks:
    """All hooks of one node.

    Attributes:
        tensor_pre: For each output number the table of hooks registered on that tensor.
        retained: For each output number a weak reference to the tensor that retains its gradient.
        pre: Node pre-hooks, called with the gradients of the outputs.
        post: Node hooks, called with the gradients of the inputs and of the outputs.
        post_accumulate: At a leaf: hooks called with the leaf after accumulation.
        gate: The hook in `post` of a module's gate, while one tensor goes through and nobody has
            registered any other hook. A pass that nobody looks at calls it directly.
    """

    __slots__ = ("gate", "post", "post_accumulate", "pre", "retained", "tensor_pre")

    def __init__(self) -> None:
        self.tensor_pre: dict[int, Table] = {}
        self.retained: dict[int, Any] = {}
        self.pre: Table = OrderedDict()
        self.post: Table = OrderedDict()
        self.post_accumulate: Table | None = None
        self.gate: Callable[..., Any] | None = None

    def run_tensor_hooks(self, gradients: list[Any]) -> None:
        """Call the tensor hooks, which may replace gradients in the list, then retain."""
        for output_nr, table in list(self.tensor_pre.items()):
            for hook in _to_call("tensor pre-hook", table, output_nr):
                result = hook(gradients[output_nr])
                if result is not None:
                    gradients[output_nr] = _checked(gradients[output_nr], result, hook)
        for output_nr, reference in self.retained.items():
            tensor, gradient = reference(), gradients[output_nr]
            if tensor is not None and gradient is not None:
                total = tensor._grad
                tensor._grad = gradient.clone() if total is None else total + gradient

    def run_node_hooks(self, kind: str, table: Table, gradients: Any, *seen: Any) -> Any:
        """Call the node's pre-hooks, or its hooks; each sees what the one before it returned.

        Args:
            kind: Which of the two.
            table: `pre` or `post`.
            gradients: What they may replace.
            *seen: What the hooks are shown as well: what arrived at the node, a tuple.
        """
        for hook in _to_call(kind, table):
            result = hook(tuple(gradients), *seen)
            if result is not None:
                gradients = all_checked(gradients, result, hook)
        return gradients

    def run_post_accumulate_hooks(self, variable: Any) -> None:
        """Call the hooks that wait for the leaf's `.grad`.

        A hook that returns a tensor is told off only after all were called; until then the next
        hook gets that tensor, as in PyTorch.
        """
        given = variable
        for hook in _to_call("post-accumulate", self.post_accumulate):
            result = hook(given)
            if result is not None and result is not given:
                given = _checked(given, result, hook)
        if given is not variable:
            raise plugs.messages.returned_by_post_accumulate_hook()


def _to_call(kind: str, table: Table | None, output_nr: int = 0) -> Any:
    """List the hooks that are in a table now: one that a hook adds waits, one it removes runs."""
    hooks, task = [*table.values()] if table else (), grad_mode.task
    if not hooks or task is None:  # without a task somebody called a leaf's node by hand
        return hooks
    return task.hooks_to_call(kind, hooks, output_nr)


def _checked(original: Any, result: Any, hook: Callable[..., Any]) -> Any:
    """Give a replaced gradient if it fits in the place of the original: a tensor of its form.

    Raises:
        TypeError: If the hook returned something that is not a tensor.
        RuntimeError: If there was no gradient, or one of another shape or dtype.
    """
    new: Any = getattr(result, "_array", None)
    old: Any = getattr(original, "_array", None)
    if old is None or not hasattr(new, "dtype") or new.dtype != old.dtype or new.shape != old.shape:
        raise plugs.messages.wrong_replacement(original, result, hook)
    return result


def all_checked(originals: Sequence[Any], results: Any, hook: Callable[..., Any]) -> list[Any]:
    """Give replaced gradients of a node hook if each fits, or is None."""
    if not isinstance(results, tuple) or len(results) != len(originals):
        raise plugs.messages.wrong_replacements(originals, results, hook)
    pairs = zip(originals, results, strict=True)
    return [new if new is None else _checked(old, new, hook) for old, new in pairs]


# ------------------------------------------------------------------ nodes

Edge = tuple["Node | None", int]

# The edge of a tensor that needs no gradient: always this very one.
NO_EDGE: Edge = (None, 0)

# Counts downward, so that the latest node is the smallest: what a heap gives first.
next_priority = count(-1, -1).__next__


class Node:
    """One recorded operation in the backward graph; `tensor.grad_fn` gives it.

    Attributes:
        _edges: One edge `(node, input_nr)` for each input of the operation, saying where the
            gradient of that input goes; `NO_EDGE` for an input that needs none.
        _saved: The values that the backward rule needs, or None once they were released.
        _shape: If the node has several outputs, the shape of each.
        _dtype: If the node has several outputs, the NumPy dtype of each.
        _broadcast: None, or for each input None or the shape and dtype that its gradient must be
            reduced to, because the operation broadcast or converted that input.
        _hooks: None, or the hooks that sit on this node.
        _told: Once `_saved` was released, what of it was no tensor: who asks may still read it.
        _watched: Index tensors that must not have changed; see `autograd.own_nodes`.

    The names begin with an underscore because the node of a custom function is its `ctx` too, on
    which users put attributes of their own: `ctx.shape = x.shape`.
    """

    __slots__ = (
        "__weakref__",
        "_broadcast",
        "_dtype",
        "_edges",
        "_hooks",
        "_metadata",
        "_priority",
        "_saved",
        "_shape",
        "_told",
        "_watched",
    )

    _multiple: ClassVar[bool] = False  # more than one output
    _runs_without_gradient: ClassVar[bool] = False  # also when None arrives at every output
    # Whether it computes a gradient that leads to no input asked for: no; if another one is
    # computed ("together"); or "always".
    _computes: ClassVar[str] = "asked"
    _chooses: ClassVar[bool] = False  # `_run` takes the edges that gradients are asked for
    _takes_detached: ClassVar[bool] = False  # a saved tensor may have been detached in place
    _keeps_tensors: ClassVar[bool] = False  # `_saved` is released after use, and needed to run
    _names_of_saved: ClassVar[tuple[str, ...]] = ()
    _lasting: ClassVar[tuple[int, ...]] = ()  # the places of what is told after release
    _optional: ClassVar[tuple[int, ...]] = ()  # the saved tensors, if it may be that none is needed

    _edges: tuple[Edge, ...]
    _saved: tuple[Any, ...] | None
    _shape: Any
    _dtype: Any
    _broadcast: tuple[Any, ...] | None
    _hooks: NodeHooks | None
    _priority: int
    _watched: tuple[Any, ...]
    _told: tuple[Any, ...]

    if TYPE_CHECKING:  # what `autograd.saved_names` attaches

        def __getattr__(self, name: str) -> Any: ...

    def _set_up(self, edges: Sequence[Edge]) -> None:
        """Give a new node its edges and its place in the order of recording; it saves nothing."""
        self._edges = tuple(edges)
        self._saved = ()
        self._broadcast = self._hooks = None
        self._priority = next_priority()

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """The edges along which the gradients of the inputs go on, as PyTorch has them."""
        for node, _ in self._edges:
            if node is not None:
                node._unfold()
        return self._edges

    def _unfold(self) -> None:
        """Become the nodes that this one stands for as long as nobody looks: see `ops`."""

    def name(self) -> str:
        """Give the node's name, for example `MulBackward0`."""
        return type(self).__name__

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Give the gradients of the inputs from the gradient of the result, as arrays.

        Args:
            gradient: The gradient of the result, or a list of the gradients of several.
            keep: Whether the saved values are kept; otherwise they are released.

        Returns:
            One gradient for each of `_edges`, in the shape and dtype of that input.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward rule")

    # Does what `_run` does on tensors, so that the rule is recorded as well.
    _run_recorded = _run

    def _release(self) -> None:
        """Let go of the saved values; where none was needed there is none to miss the next time."""
        if self._saved and self._optional and all(self._saved[i] is None for i in self._optional):
            return
        if self._saved is not None:
            self._told = tuple(self._saved[place] for place in self._lasting)
        self._saved = None

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run.

        Args:
            hook: Gets two tuples of gradients; may return a tuple that replaces `grad_inputs`.

        Returns:
            A handle whose `remove()` takes the hook off the node.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * x
            >>> handle = y.grad_fn.register_hook(lambda gi, go: print(gi))
            >>> y.backward()
            (tensor([3.]), tensor([3.]))
        """
        return add(self._ensure_hooks().post, hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs.

        Args:
            hook: Gets a tuple of gradients; may return a tuple that replaces them.

        Returns:
            A handle whose `remove()` takes the hook off the node.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * 2
            >>> handle = y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
            >>> y.backward()
            >>> x.grad
            tensor([20.])
        """
        return add(self._ensure_hooks().pre, hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def _ensure_hooks(self) -> NodeHooks:
        if self._hooks is None:
            self._hooks = NodeHooks()
        self._hooks.gate = None  # who asks is about to add a hook
        return self._hooks

    def __lt__(self, other: Node) -> bool:
        """Break a tie in the engine's heap: neither node comes first."""
        return False

    def _result_nr(self, place: int) -> int:
        """Tell which output of the node the result is that it saved at a place."""
        return 0

    def _place(self, tensor: Any, output_nr: int) -> None:
        """Let a tensor be an output of this node."""
        tensor._edge = (self, output_nr)


# ------------------------------------------------------------------ broadcasting undone


def reduce_gradient(gradient: Any, wanted: tuple[Any, Any] | None) -> Any:
    """Reduce a gradient to a shape and a dtype, if there is one and something is wanted of it."""
    if gradient is None or wanted is None:
        return gradient
    shape, dtype = wanted
    if gradient.shape != shape:
        narrow = getattr(gradient.dtype, "char", "") == "e"  # add float16 up in float32
        gradient = sum_to_shape(gradient.astype(np.float32) if narrow else gradient, shape)
    if gradient.dtype is dtype:
        return gradient
    if hasattr(gradient, "_array"):
        return gradient._to_numpy_dtype(dtype)
    return gradient if gradient.dtype == dtype else gradient.astype(dtype)


def sum_to_shape(gradient: Any, shape: tuple[int, ...]) -> Any:
    r"""Sum a gradient over the axes that broadcasting added or stretched.

    If :math:`b_{ij} = a_j`, then :math:`\partial L / \partial a_j = \sum_i \partial L / \partial
    b_{ij}`: a value that was used several times collects the gradients of all its uses.

    Args:
        gradient: An array or tensor of a shape that `shape` broadcasts to.
        shape: The shape to go back to.

    Example:
        >>> import numpy as np
        >>> sum_to_shape(np.ones((3, 2)), (1, 2))
        array([[3., 3.]])
    """
    if not shape:
        return np.add.reduce(gradient, axis=None)
    added = gradient.ndim - len(shape)
    if added == 1 and type(gradient) is np.ndarray and gradient.shape[1:] == shape:
        return np.add.reduce(gradient, axis=0)  # a bias: the commonest case, in one step
    axes = tuple(range(added)) + tuple(
        axis + added
        for axis, size in enumerate(shape)
        if size == 1 and gradient.shape[axis + added] != 1
    )
    if axes:
        gradient = np.add.reduce(gradient, axis=axes, keepdims=True)
    return gradient.reshape(shape) if added else gradient
