"""The tensor: an array that knows its place in the graph, with its gradient and its hooks.

Here is the part that autograd needs. Everything else, operations, shapes, printing, conversions,
is attached by the packages that hold it.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from minigrad.core import extensions
from minigrad.core.hooks import RemovableHandle, Table, add
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Edge, Node


class VersionCounter:
    """How often the memory of a tensor was written to; views and `detach()` share one counter.

    A tensor gets its counter when it first needs one. Until then it has version 0.
    """

    __slots__ = ("__weakref__", "value", "views")

    detached: ClassVar[bool] = False  # whether its tensor was taken out of its graph in place

    def __init__(self, tensor: Tensor) -> None:
        self.value = 0  # and weak references to the views of this memory
        self.views: Any = None if tensor._view is None else [weakref.ref(tensor)]

    def count(self) -> None:
        """Count a change of the memory; its views ask again for their place in the graph."""
        self.value += 1
        if self.views is not None:
            extensions.memory_changed(self)


class AutogradMeta:
    """What only some tensors need: the hooks of a leaf, and its accumulate node.

    Attributes:
        accumulator: A weak reference to the leaf's `AccumulateGrad`.
        hooks: The tensor hooks of a leaf. Those of other tensors sit on the node that made them.
        post_accumulate_hooks: Called with the leaf after its `.grad` was updated.
        retains_grad: Whether a tensor that isn't a leaf keeps its gradient.
    """

    __slots__ = ("accumulator", "hooks", "post_accumulate_hooks", "retains_grad")

    def __init__(self) -> None:
        self.accumulator: weakref.ref[Node] | None = None
        self.hooks: Table | None = None
        self.post_accumulate_hooks: Table | None = None
        self.retains_grad = False

    def living_accumulator(self) -> Node | None:
        """Give the leaf's accumulate node, if anything holds it."""
        return None if self.accumulator is None else self.accumulator()

    def table(self, name: str) -> Any:
        """Give one of the leaf's tables of hooks, for a hook that is to be added."""
        if getattr(self, name) is None:
            setattr(self, name, OrderedDict())
        self.attach_hooks()
        return getattr(self, name)

    def attach_hooks(self) -> None:
        """Let the leaf's hooks be found from its accumulate node, if that is there."""
        node = self.living_accumulator()
        if node is not None:  # with hooks, even none, the engine looks at the leaf before it runs
            hooks = node._ensure_hooks()
            if self.hooks is not None:
                hooks.tensor_pre = {0: self.hooks}
            hooks.post_accumulate = self.post_accumulate_hooks


class Tensor:
    """An array of numbers that records the operations it takes part in.

    `minigrad.tensor(data)` makes one. Operations are methods (`x.sum()`), functions
    (`minigrad.sum(x)`) and operators (`x * y`); they live in `minigrad.ops`.

    Args:
        *data: Nested sequences of numbers, or an array; converted to the default dtype. Or, as in
            PyTorch, the sizes of a tensor whose entries are not set.

    Attributes:
        _array: The values: a NumPy array.
        _edge: Where the tensor's gradient goes. `NO_EDGE` if it needs none, `(grad_fn, output_nr)`
            if an operation made it, and None if the edge must be asked for (`resolve_edge`): for
            a leaf that requires a gradient, and for a view whose memory was written to.
        _version_counter: Counts in-place changes; None as long as it was never needed.
        _view: None, or what knows the tensor that this one shares memory with: see
            `autograd.views`.
        _grad: The gradient.
        _meta: None, or an `AutogradMeta`.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    __slots__: Any = "__dict__ __weakref__ _array _edge _grad _meta _version_counter _view".split()

    if TYPE_CHECKING:  # what other rooms attach
        attached: Any = None
        data = __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = __matmul__ = __neg__ = attached
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __getitem__ = attached
        __setitem__ = __len__ = __iter__ = __float__ = __int__ = __index__ = attached

        def __init__(self, *data: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    _array: Any
    _view: Any
    _edge: Edge | None
    _grad: Self | None
    _meta: AutogradMeta | None
    _version_counter: VersionCounter | None

    def _autograd_meta(self) -> AutogradMeta:
        self._meta = self._meta or AutogradMeta()
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
        extensions.set_requires_grad(self, value)

    def _has_node(self) -> bool:
        """Tell whether a recorded operation made this tensor, without asking a view again."""
        return self._last_edge()[0] is not None

    def _last_edge(self) -> Edge:
        """Give the edge, or that which a view had before its memory was written to."""
        return self._edge or (self._view and self._view.edge) or NO_EDGE

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
        node = (self._edge or self._resolved_edge() or NO_EDGE)[0]
        if node is not None:
            node._materialize_fused()
        return node

    @property
    def output_nr(self) -> int:
        """Which output of its `grad_fn` this tensor is."""
        return self._last_edge()[1]

    def _resolved_edge(self) -> Edge | None:
        """Give the edge, asking the base again if this is a view of changed memory."""
        if self._edge is None and self._view is not None:
            return self._view.resolve(self)
        return self._edge

    def _bump_version(self) -> None:
        """Note that the memory is written to."""
        (self._version_counter or counter_of(self)).count()

    # ------------------------------------------------------------------ the gradient

    @property
    def grad(self) -> Self | None:
        """The gradient that `backward()` accumulated; None before the first.

        Reading it on a tensor that isn't a leaf and does not retain its gradient warns.

        Raises:
            TypeError: If what is assigned is neither a tensor nor None.
            RuntimeError: If it is of another shape or dtype than the tensor, or the tensor itself.
        """
        if self._grad is None and self._has_node() and not self.retains_grad:
            extensions.messages.warn_no_gradient()
        return self._grad

    @grad.setter  # `autograd.attributes` looks at what is assigned
    def grad(self, value: Any) -> None:
        self._grad = value

    @property
    def retains_grad(self) -> bool:
        """Whether this tensor isn't a leaf and keeps its gradient nevertheless."""
        return self._meta is not None and self._meta.retains_grad

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that isn't a leaf; on a leaf this does nothing.

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
            node: Any = self.grad_fn
            self._autograd_meta().retains_grad = True
            node._ensure_hooks().retained[self.output_nr] = weakref.ref(self)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradient of this tensor with respect to the leaves of its graph.

        The gradients are added to the leaves' `.grad`.

        Args:
            gradient: The gradient of what is differentiated with respect to this tensor; may be
                left out if this tensor has one entry.
            retain_graph: Keep the saved values, so that the graph can be run again. By default
                they are released, unless `create_graph`.
            create_graph: Record the backward pass, for derivatives of derivatives.
            inputs: The tensors whose gradient to compute; by default all leaves.

        Raises:
            RuntimeError: If this tensor has no graph or more than one entry and no `gradient`, or
                if the graph was released.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> (x**2).backward()
            >>> x.grad
            tensor([6.])
        """
        extensions.backward(self, gradient, retain_graph, create_graph, inputs)

    # ------------------------------------------------------------------ hooks

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(grad)` during backward, when the gradient of this tensor is complete.

        On a leaf that is before it is added to `.grad`. A tensor that was used several times
        calls its hooks once, with the sum.

        Args:
            hook: Gets the gradient. May return a tensor to take its place for the hooks after it
                and from there toward the inputs, or None. It must not change its argument.

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
        node, output_nr = self._edge or self._resolved_edge() or NO_EDGE
        if node is not None and (self._meta is None or self._meta.hooks is None):
            table = node._ensure_hooks().tensor_pre.setdefault(output_nr, OrderedDict())
            accumulator = None if self._meta is None else self._meta.living_accumulator()
            if accumulator is not None:  # it was a leaf once, and PyTorch looks for hooks here
                accumulator._ensure_hooks().tensor_pre = {0: table}
            return add(table, hook)
        return add(self._autograd_meta().table("hooks"), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> RemovableHandle:
        """Call `hook(tensor)` after a backward pass has updated this leaf's `.grad`.

        Args:
            hook: Gets the tensor itself, not the gradient; returns None.

        Returns:
            A handle whose `remove()` takes the hook off.

        Raises:
            RuntimeError: If the tensor isn't a leaf or does not require a gradient.

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
            raise extensions.messages.hook_on_result()
        return add(self._autograd_meta().table("post_accumulate_hooks"), hook)


def wrap(array: Any, kind: Any = Tensor) -> Any:
    """Put an array, or a number that NumPy made of one, into a tensor that needs no gradient.

    Args:
        array: The array, which the tensor will share.
        kind: `Tensor`, or a subclass.
    """
    tensor = object.__new__(kind)
    tensor._array = array if isinstance(array, np.ndarray) else np.asarray(array)
    tensor._edge = NO_EDGE
    tensor._grad = tensor._meta = tensor._view = None
    tensor._version_counter = modes.inference
    return tensor


def wrap_as_normal(array: Any, kind: Any = Tensor) -> Any:
    """Do what `wrap` does, but give a normal tensor also in inference mode."""
    tensor = wrap(array, kind)
    tensor._version_counter = None
    return tensor


def counter_of(tensor: Tensor) -> VersionCounter:
    """Give the version counter of a tensor, making it if there is none yet."""
    counter = tensor._version_counter = tensor._version_counter or VersionCounter(tensor)
    return counter


def make_view(tensor: Tensor, source: Tensor) -> None:
    """Note that `tensor` is a view of `source`, and let the two share a version counter."""
    tensor._version_counter = source._version_counter or counter_of(source)
    extensions.new_view(tensor, source)


def set_requires_grad(tensor: Tensor, value: bool) -> None:
    """Let a leaf require a gradient, or no more."""
    tensor._edge = None if value else NO_EDGE
    if not value and tensor._meta is not None:
        tensor._meta.attach_hooks()  # so that nothing is added to its gradient any more


extensions.register(set_requires_grad=set_requires_grad)

# ------------------------------------------------------------------ saved for backward


class SavedTensor:
    """A tensor as it was when an operation saved it, with the version that it had then.

    An operation's own result is saved without the tensor around it: the tensor refers to the
    node, so a node that referred to the tensor would keep both alive for ever. If the operation
    changed a view in place, `owner` is a weak reference to the node that the view came from then.
    """

    __slots__ = ("_version_counter", "array", "owner", "tensor", "version")

    owner: Any

    def __init__(self, tensor: Tensor, is_result: bool = False) -> None:
        self._version_counter = counter = tensor._version_counter or counter_of(tensor)
        self.version = counter.value
        self.array = tensor._array
        self.tensor = None if is_result else tensor

    def unpack_array(self, node: Node) -> Any:
        """Give the array, or raise if it was written to since."""
        counter, tensor = self._version_counter, self.tensor
        detached = tensor is not None and tensor._version_counter is not counter
        if detached or counter.value != self.version:
            extensions.messages.refuse_stale(self, node)
        return self.array if tensor is None else tensor._array  # `.data` may be another one now

    def unpack_tensor(self, node: Node) -> Tensor:
        """Give the tensor with its place in the graph, or raise if it was written to since."""
        array = self.unpack_array(node)
        if self.tensor is not None:
            return self.tensor
        tensor = wrap_as_normal(array)
        tensor._edge = (made_by(self, node), 0)
        tensor._version_counter = self._version_counter
        return tensor


def unpack_array(saved: Any, node: Node) -> Any:
    """Give back the array of a saved value, or raise if it was written to since.

    Args:
        saved: A `SavedTensor` or the like, or a tensor that had version 0 when it was saved.
        node: The node that saved it.

    Raises:
        RuntimeError: If the value was modified by an in-place operation, or detached.
    """
    if not isinstance(saved, Tensor):
        return saved.unpack_array(node)
    counter = saved._version_counter
    if counter is not None and (counter.detached or counter.value != 0):
        extensions.messages.refuse_stale(saved, node)
    return saved._array


def unpack_tensor(saved: Any, node: Node) -> Any:
    """Give back a saved value as a tensor with its place in the graph, or raise if it is stale."""
    if isinstance(saved, Tensor):
        unpack_array(saved, node)
        return saved
    return saved.unpack_tensor(node)


def made_by(result: Any, node: Node) -> Node:
    """Tell which node a result comes from that `node` saved."""
    owner = getattr(result, "owner", None)
    return (owner and owner()) or node
