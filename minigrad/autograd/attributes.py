"""Read, assign and delete what autograd keeps of a tensor: `grad`, `data`, `detach()`, hooks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from minigrad.autograd.grad_mode import INFERENCE
from minigrad.autograd.messages import can_require_grad, type_name, warn
from minigrad.autograd.rules import attach
from minigrad.autograd.views import update_views
from minigrad.core import extensions
from minigrad.core.hooks import RemovableHandle
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE
from minigrad.core.tensor import Tensor, VersionCounter, counter_of, wrap_as_normal
from minigrad.creation import dtypes

Hooks = OrderedDict[int, Callable[..., Any]]

_NO_VIEWS = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
    "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
    "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
    "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)


def _shared(name: str) -> Any:
    """Make an attribute that the memory's own counter keeps."""
    return property(
        lambda self: getattr(self.shared, name),
        lambda self, value: setattr(self.shared, name, value),
    )


class DetachedCounter(VersionCounter):
    """The counter of a tensor that was taken out of its graph in place.

    It counts with the memory's own counter. That it is another object tells those who saved the
    tensor before that its gradient edge is lost.
    """

    __slots__ = ("shared",)

    detached = True

    def __init__(self, shared: VersionCounter) -> None:
        self.shared = shared

    value = _shared("value")
    views = _shared("views")


# ------------------------------------------------------------------ what becomes `.grad`


def own(variable: Tensor, gradient: Any) -> Any:
    """Copy the gradient that arrives first at a leaf, in the order in which the leaf's entries lie.

    Raises:
        RuntimeError: If it does not have the leaf's shape.
    """
    leaf, array = variable._array, getattr(gradient, "_array", gradient)
    if array.shape != leaf.shape:
        raise RuntimeError(
            f"Function AccumulateGrad got an invalid gradient - got {list(array.shape)} but "
            f"expected shape compatible with {list(leaf.shape)}"
        )
    if leaf.flags.c_contiguous:
        copied = array.copy()
    else:
        copied = np.empty_like(leaf, array.dtype)
        copied[...] = array
    return gradient._copied_to(copied) if isinstance(gradient, Tensor) else copied


extensions.register(own=own)


@attach(Tensor)
class TensorAttributes(Tensor):
    """The attributes of a tensor that reach around the graph, or into it."""

    __slots__ = ()

    def __init_subclass__(cls, **others: Any) -> None:
        """Say of a class of the user's that what it overrides will never be called."""
        super(Tensor, cls).__init_subclass__(**others)
        for name in ("__torch_function__", "__torch_dispatch__"):
            if hasattr(cls, name):
                warn(
                    f"{cls.__name__}.{name} is never called: operations of minigrad take any "
                    "tensor alike, and give plain tensors. See tensor hooks instead."
                )

    # ------------------------------------------------------------------ the gradient

    @Tensor.grad.setter
    def grad(self, value: Any) -> None:
        """Put a gradient in its place."""
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                "assigned grad expected to be a Tensor or None but got grad of type "
                f"{type_name(value)}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value._array.dtype != self._array.dtype:
            raise RuntimeError(
                "attempting to assign a gradient with dtype "
                f"'{dtypes.c_name(value._array)}' to a tensor with grad_dtype "
                f"'{self.type().removeprefix('torch.').removesuffix('Tensor')}'. The gradient must "
                "match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
                "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
                "Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient "
                "may break downstream systems that assume they match. (minigrad has no grad_dtype: "
                "convert the gradient with .to(tensor.dtype).)"
            )
        if value._array.shape != self._array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value._array.shape)}' to a "
                f"tensor of size '{list(self._array.shape)}'. Please ensure that the gradient and "
                "the tensor are the same size"
            )
        self._grad = value

    @grad.deleter  # type: ignore[no-redef]
    def grad(self) -> None:
        self._grad = None

    # ------------------------------------------------------------------ flags and versions

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set `requires_grad` of a leaf and give the tensor back.

        Raises:
            RuntimeError: If the dtype is not floating point, or if the tensor isn't a leaf.
            NotImplementedError: If the dtype is complex.
        """
        if requires_grad and not can_require_grad(self._array.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if not (requires_grad and self._has_node()):  # a result requires a gradient already
            self.requires_grad = requires_grad
        return self

    @property
    def _version(self) -> int:
        """How often this tensor's memory was changed in place."""
        if self._version_counter is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._version_counter is None else self._version_counter.value

    def is_inference(self) -> bool:
        """Tell whether this tensor was made in inference mode, and must not become part of a graph.

        Example:
            >>> import minigrad as torch
            >>> with torch.inference_mode():
            ...     y = torch.ones(2)
            >>> y.is_inference()
            True
        """
        return self._version_counter is INFERENCE

    # ------------------------------------------------------------------ without the graph

    def detach(self) -> Any:
        """Give a tensor with the same memory that is not part of any graph.

        The two share one version counter, so a backward rule that saved one of them notices when
        the other is changed in place.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
            >>> (x * 3).detach()
            tensor([3., 6.])
        """
        result = wrap_as_normal(self._array)
        result._version_counter = counter_of(self)
        return result

    def detach_(self) -> Any:
        """Take this tensor out of its graph: it becomes a leaf that requires no gradient.

        Raises:
            RuntimeError: If it is a view.

        In inference mode, and on a tensor that was made there, it does nothing.

        Example:
            >>> import minigrad as torch
            >>> y = torch.tensor([1.0, 2.0], requires_grad=True) * 3
            >>> y.detach_()
            tensor([3., 6.])
        """
        if modes.inference or self._version_counter is INFERENCE:
            return self
        if self._view is not None:
            raise RuntimeError(_NO_VIEWS)
        if self._has_node():  # those who saved it with its edge must notice
            self._version_counter = DetachedCounter(counter_of(self))
            edge = self._edge
            if edge is not None and edge[0] is not None and edge[0]._hooks is not None:
                # its hooks wait for the tensor to be a leaf that requires a gradient
                self._autograd_meta().hooks = edge[0]._hooks.tensor_pre.get(edge[1])
        elif self._edge is None:
            self.requires_grad = False
        self._edge = NO_EDGE
        update_views(self)
        return self

    @property
    def data(self) -> Any:
        """A tensor with the same memory, outside of the graph and of version counting.

        Changes through it go unnoticed: gradients can become wrong without an error. `detach()` is
        the safe way. Assigning gives the tensor another memory, which may have another shape.

        Raises:
            TypeError: If what is assigned is no tensor.
            RuntimeError: If integers are assigned to a tensor that requires a gradient.
            NotImplementedError: If complex numbers are.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
            >>> x.data = torch.tensor([5.0])
            >>> x
            tensor([5.], requires_grad=True)
        """
        result = wrap_as_normal(self._array)
        result._version_counter = INFERENCE if self._version_counter is INFERENCE else None
        return result

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        dtype = value._array.dtype
        if self.requires_grad and not can_require_grad(dtype):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        if self._meta is not None and dtype != self._array.dtype:
            self._meta.accumulator = None  # the old graph's gradients are of the old dtype
        self._array = value._array

    # ------------------------------------------------------------------ views

    @property
    def _base(self) -> Any:
        """The tensor that owns the memory of this view; None if this isn't a view."""
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        """Tell whether this tensor shares another one's memory, and takes part in its graph."""
        return self._view is not None

    # ------------------------------------------------------------------ into the graph

    @property
    def _backward_hooks(self) -> Hooks | None:
        """The hooks that `register_hook` put on this tensor; None before the first."""
        node, meta = self.grad_fn, self._meta
        if node is None or node._hooks is None or (meta is not None and meta.hooks is not None):
            return None if meta is None else meta.hooks
        return node._hooks.tensor_pre.get(self.output_nr)

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: Hooks | None) -> None:
        meta = self._autograd_meta()
        meta.hooks = OrderedDict() if hooks is None else hooks
        meta.attach_hooks()
        meta.hooks = hooks

    @property
    def _post_accumulate_grad_hooks(self) -> Hooks | None:
        """The hooks of `register_post_accumulate_grad_hook`; None before the first."""
        return None if self._meta is None else self._meta.post_accumulate_hooks

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self, hooks: Hooks | None) -> None:
        meta = self._autograd_meta()
        meta.post_accumulate_hooks = hooks
        meta.attach_hooks()


@attach(RemovableHandle)
class HandleOfCopies(RemovableHandle):
    """How a handle is pickled and copied, together with the tables of hooks."""

    def __getstate__(self) -> tuple[Any, ...]:
        """Give what a pickle or a deep copy needs: the tables themselves, and the id."""
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Attach the copied handle to the copied tables."""
        table, self.id, extras = state if len(state) == 3 else (*state, ())
        # The copy may come from another process: its id must not be given out again here.
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        self.hooks_dict_ref = ref(OrderedDict() if table is None else table)
        self.extra_dict_ref = tuple(ref(extra) for extra in extras if extra is not None)
