"""The graph that a computation leaves behind: nodes, and the edges between them.

A node stands for one recorded operation. It knows where the gradients of the operation's inputs
have to go (`_edges`), keeps what its backward rule needs (`_saved`), and can run the rule
(`_run`). The leaves of the graph are `AccumulateGrad` nodes, which add to a tensor's `.grad`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, ClassVar

import numpy as np

from minigrad.core import extensions
from minigrad.core.hooks import NodeHooks, RemovableHandle, add

Edge = tuple["Node | None", int]

# The edge of a tensor that needs no gradient: always this very one.
NO_EDGE: Edge = (None, 0)

# Counts downward, so that the latest node is the smallest: what a heap gives first.
next_priority = count(-1, -1).__next__


_ones = lru_cache(16)(np.ones)

# Other rooms attach attributes such as `_saved_self`: a type checker must not look here alone.
_Attached: Any = object


class Node(_Attached):
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
        _numbers: Once `_saved` was released, what of it was no tensor: it can still be read.
        _watched: Index tensors that must not have changed; see `autograd.custom_nodes`.

    The names begin with an underscore because the node of a custom function is its `ctx` too, on
    which users put attributes of their own: `ctx.shape = x.shape`.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> node = (x * x).grad_fn
        >>> node.name(), isinstance(node, torch.autograd.graph.Node)
        ('MulBackward0', True)
        >>> [after.name() for after, _ in node.next_functions]
        ['torch::autograd::AccumulateGrad', 'torch::autograd::AccumulateGrad']
    """

    __slots__: Any = (
        "__weakref__ _broadcast _dtype _edges _hooks _metadata _numbers _priority _saved _shape"
        " _watched"
    ).split()

    _multiple: ClassVar[bool] = False  # more than one output
    _runs_without_gradient: ClassVar[bool] = False  # also when None arrives at every output
    # Whether it computes a gradient that leads to no input asked for: no; if another one is
    # computed ("together"); or "always".
    _computes: ClassVar[str] = "asked"
    _chooses: ClassVar[bool] = False  # `_run` takes the edges that gradients are asked for
    _takes_detached: ClassVar[bool] = False  # a saved tensor may have been detached in place
    _keeps_tensors: ClassVar[bool] = False  # `_saved` is released after use, and needed to run
    _names_of_saved: ClassVar[tuple[str, ...]] = ()
    _numbers_at: ClassVar[tuple[int, ...]] = ()  # the places of what can be read after release
    _optional: ClassVar[tuple[int, ...]] = ()  # the saved tensors, if it may be that none is needed

    _edges: tuple[Edge, ...]
    _saved: tuple[Any, ...] | None
    _hooks: NodeHooks | None

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
                node._materialize_fused()
        return self._edges

    def _materialize_fused(self) -> None:
        """Become the nodes that this one stands for as long as nobody looks: see `fast`."""

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

    def _check_saved(self) -> None:
        """Raise if the saved values that the rule needs were released."""
        if self._saved is None:
            raise extensions.messages.released()

    def _release(self) -> None:
        """Let go of the saved values; where none was needed there is none to miss the next time."""
        if self._saved and self._optional and all(self._saved[i] is None for i in self._optional):
            return
        if self._saved is not None:
            self._numbers = tuple(self._saved[place] for place in self._numbers_at)
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
        self._hooks = self._hooks or NodeHooks()
        return self._hooks

    def __lt__(self, other: Node) -> bool:
        """Break a tie in the engine's heap: neither node comes first."""
        return False

    def _result_nr(self, place: int) -> int:
        """Tell which output of the node the result is that it saved at a place."""
        return 0


# ------------------------------------------------------------------ broadcasting undone


def reduce_gradient(gradient: Any, layout: tuple[Any, Any] | None) -> Any:
    """Reduce a gradient to a shape and a dtype, if there is one."""
    if gradient is None or layout is None:
        return gradient
    shape, dtype = layout
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
    if len(shape) == 1 and gradient.shape[1:] == shape and type(gradient) is np.ndarray:
        # a bias: quickest as a product
        return _ones(len(gradient), gradient.dtype).dot(gradient)
    axes = [*range(added)]
    axes += [axis for axis, size in enumerate(shape, added) if size == 1 != gradient.shape[axis]]
    if axes:
        gradient = np.add.reduce(gradient, axis=tuple(axes), keepdims=True)
    return gradient.reshape(shape) if added else gradient
