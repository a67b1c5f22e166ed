"""The part of a tensor that autograd owns: its place in the graph, its gradient, its hooks."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from minigrad.autograd.accumulate import attach_leaf_hooks
from minigrad.autograd.complex_numbers import can_require_grad
from minigrad.autograd.inference import (
    is_inference,
    refuse_to_change,
    refuse_to_require_grad,
    version_of,
)
from minigrad.autograd.leaves import AutogradMeta, attend_accumulation, update_views
from minigrad.autograd.node import NO_EDGE, Edge, Node
from minigrad.autograd.versions import INFERENCE, VersionCounter, counter_of
from minigrad.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from minigrad.autograd.views import View


class Variable:
    """A tensor as autograd sees it.

    Attributes:
        _array: The values: a NumPy array.
        _edge: Where the tensor's gradient goes. `NO_EDGE` if it needs none, `(grad_fn, output_nr)`
            if an operation made it, and None if the edge must be asked for (`resolve_edge`): for
            a leaf that requires a gradient, and for a view whose memory was written to.
        _version_counter: Counts in-place changes; None as long as it was never needed.
        _view: None, or what this tensor is a view of.
        _grad: The gradient.
        _meta: None, or an `AutogradMeta`.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_edge",
        "_grad",
        "_meta",
        "_version_counter",
        "_view",
    )

    if TYPE_CHECKING:  # the operations, which are attached upstairs

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Self: ...

    # the engine puts itself here
    _execution_engine: ClassVar[Any]

    _array: Any
    _edge: Edge | None
    _grad: Self | None
    _meta: AutogradMeta | None
    _version_counter: VersionCounter | None
    _view: View | None

    def _autograd_meta(self) -> AutogradMeta:
        if self._meta is None:
            self._meta = AutogradMeta()
        return self._meta

    # ------------------------------------------------------------------ place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient flows to this tensor.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0], requires_grad=True)
            >>> (x * 2).requires_grad, x.detach().requires_grad
            (True, False)
        """
        edge = self._edge
        if edge is None:
            return self._view is None or self._view.requires_grad
        return edge is not NO_EDGE

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self._has_node():
            advice = (
                " If you want to use a computed variable in a subgraph that doesn't require "
                "differentiation use var_no_grad = var.detach()."
            )
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables."
                + ("" if value else advice)
            )
        if value and not can_require_grad(self._array.dtype):
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        if value and self._version_counter is INFERENCE:
            refuse_to_require_grad()
        self._edge = None if value else NO_EDGE
        if not value:
            attend_accumulation(self)
        if self._view is not None:
            self._view.flag = value
            self._edge = None
        elif self._version_counter is not None and self._version_counter.views is not None:
            update_views(self)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool; it can't be deleted")

    def _has_node(self) -> bool:
        """Tell whether a recorded operation made this tensor, without asking a view anew."""
        edge = self._edge
        if edge is None and self._view is not None:
            edge = self._view.edge
        return edge is not None and edge[0] is not None

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of a leaf and give the tensor back.

        Raises:
            TypeError: If `requires_grad` is no bool.
            RuntimeError: If the dtype is not floating point, or if the tensor is no leaf.
            NotImplementedError: If the dtype is complex.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if requires_grad and not can_require_grad(self._array.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if not (requires_grad and self._has_node()):  # a result requires a gradient already
            self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self.grad_fn is None

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that made this tensor; None for a leaf.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0], requires_grad=True)
            >>> (x * 2).grad_fn.name()
            'MulBackward0'
            >>> x.grad_fn is None
            True
        """
        edge = self._edge
        if edge is None:
            edge = self._resolved_edge()
        return None if edge is None else edge[0]

    @property
    def output_nr(self) -> int:
        """Which output of its `grad_fn` this tensor is."""
        edge = self._edge
        if edge is None and self._view is not None:
            edge = self._view.edge
        return 0 if edge is None else edge[1]

    def _resolved_edge(self) -> Edge | None:
        """Give the edge, asking the base anew if this is a view of changed memory."""
        if self._edge is None and self._view is not None:
            return self._view.resolve(self)
        return self._edge

    # ------------------------------------------------------------------ the gradient

    @property
    def retains_grad(self) -> bool:
        """Whether this tensor is no leaf and keeps its gradient nevertheless."""
        return self._meta is not None and self._meta.retains_grad

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that is no leaf; on a leaf this does nothing.

        Raises:
            RuntimeError: If the tensor does not require a gradient.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * 2
            >>> y.retain_grad()
            >>> (y * y).backward()
            >>> y.grad
            tensor([12.])
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._has_node() and not self.retains_grad:
            node = self.grad_fn
            assert node is not None
            self._autograd_meta().retains_grad = True
            node._ensure_hooks().retained[self.output_nr] = weakref.ref(self)

    # ------------------------------------------------------------------ hooks

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(grad)` during backward, when the gradient of this tensor is complete.

        On a leaf that is before it is added to `.grad`. A tensor that was used several times
        calls its hooks once, with the sum.

        Args:
            hook: Gets the gradient. May return a tensor to take its place for the hooks after it
                and for everything upstream, or None. It must not change its argument.

        Returns:
            A handle whose `remove()` takes the hook off.

        Raises:
            RuntimeError: If the tensor does not require a gradient.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
            >>> handle = x.register_hook(lambda grad: grad * 10)
            >>> x.sum().backward()
            >>> x.grad
            tensor([10., 10.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node = self.grad_fn
        if node is not None:
            tables = node._ensure_hooks().tensor_pre
            table = tables.setdefault(self.output_nr, OrderedDict())
            accumulator = None if self._meta is None else self._meta.living_accumulator()
            if accumulator is not None:  # it was a leaf once, and PyTorch looks for hooks here
                accumulator._ensure_hooks().tensor_pre = {0: table}
        else:
            meta = self._autograd_meta()
            if meta.hooks is None:
                meta.hooks = OrderedDict()
            table = meta.hooks
            self._attach_to_accumulator(meta)
        handle = RemovableHandle(table)
        table[handle.id] = hook
        return handle

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(tensor)` after a backward pass has updated this leaf's `.grad`.

        Args:
            hook: Gets the tensor itself, not the gradient; returns None.

        Returns:
            A handle whose `remove()` takes the hook off.

        Raises:
            RuntimeError: If the tensor is no leaf or does not require a gradient.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
            >>> handle = x.register_post_accumulate_grad_hook(lambda x: print(x.grad))
            >>> (x * 3).sum().backward()
            tensor([3., 3.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        meta = self._autograd_meta()
        if meta.post_accumulate_hooks is None:
            meta.post_accumulate_hooks = OrderedDict()
        self._attach_to_accumulator(meta)
        handle = RemovableHandle(meta.post_accumulate_hooks)
        meta.post_accumulate_hooks[handle.id] = hook
        return handle

    def _attach_to_accumulator(self, meta: AutogradMeta) -> None:
        node = meta.living_accumulator()
        if node is not None:
            attach_leaf_hooks(node, meta)

    # ------------------------------------------------------------------ versions

    @property
    def _version(self) -> int:
        """How often this tensor's memory was changed in place."""
        return 0 if self._version_counter is None else version_of(self._version_counter)

    def _bump_version(self) -> None:
        counter = counter_of(self)
        if counter is INFERENCE:
            refuse_to_change()
        else:
            counter.value += 1

    def is_inference(self) -> bool:
        """Tell whether this tensor was made in inference mode, and must not become part of a graph.

        Example:
            >>> import minigrad as torch
            >>> with torch.inference_mode():
            ...     y = torch.ones(2)
            >>> y.is_inference()
            True
        """
        return is_inference(self)
