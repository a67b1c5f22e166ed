"""Change tensors in place, `x.add_(y)` or `x[0] = y`, and keep the graph right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import NO_EDGE
from minigrad.autograd.saved import SavedTensor
from minigrad.autograd.variable import resolve_edge
from minigrad.autograd.views import check_inplace, mark_views_stale, rebase_history
from minigrad.ops import activations, choices, elementwise, shape
from minigrad.ops.meeting import broadcast_error, scalar
from minigrad.tensor import Tensor, wrap


def write(operation: Callable[..., Any], tensor: Tensor, *others: Any) -> Tensor:
    """Compute an operation and write its result into its first input.

    The old value stays in the graph as the operation's input; the tensor itself becomes the
    operation's result. Its version goes up, so that a rule that needed the old value notices.

    Args:
        operation: A differentiable operation.
        tensor: Its first input, which is changed.
        *others: Its other arguments.

    Raises:
        RuntimeError: If the tensor must not be changed (see `check_inplace`), or the result has
            another shape or a higher kind of dtype.
    """
    recording = grad_mode.enabled
    check_inplace(tensor, recording=recording)
    array = tensor._array
    if not array.flags.writeable:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    old = tensor
    if recording:
        old = wrap(array.copy())
        if tensor.requires_grad:
            old._edge = tensor._edge or resolve_edge(tensor)
        others = tuple(old if other is tensor else other for other in others)
    result = operation(old, *others)
    if result is NotImplemented:
        raise TypeError(
            f"unsupported operand type for an in-place operation: {type(others[0]).__name__}"
        )
    computed = result._array
    if computed.shape != array.shape:
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape "
            f"{list(computed.shape)}"
        )
    if computed.dtype != array.dtype:
        if dtypes.kind_of(computed.dtype) > dtypes.kind_of(array.dtype):
            names = [dtypes.of_array(a).tensor_type for a in (computed, array)]
            raise RuntimeError(
                f"result type {names[0]} can't be cast to the desired output type {names[1]}"
            )
        computed = computed.astype(array.dtype)
    array[...] = computed
    tensor._bump_version()
    edge = result._edge if recording else NO_EDGE
    if edge is not None and edge[0] is not None:
        node = edge[0]
        if "result" in node.saved_names and node.saved is not None:
            node.saved = tuple(
                SavedTensor(tensor, is_result=True)
                if isinstance(s, SavedTensor) and s.tensor is None
                else s
                for s in node.saved
            )
        rebase_history(tensor, node)
    else:
        mark_views_stale(tensor)
    return tensor


def copy_(tensor: Tensor, source: Any, non_blocking: bool = False) -> Tensor:
    """Write the values of another tensor, broadcast to this one's shape, into this one.

    Raises:
        RuntimeError: If the source does not broadcast to this shape.
    """
    array = source._array
    sizes = tensor._array.shape
    if array.shape != sizes:
        try:
            fits = np.broadcast_shapes(array.shape, sizes)
        except ValueError:
            raise broadcast_error(sizes, array.shape) from None
        if fits != sizes:
            raise RuntimeError(
                f"output with shape {list(sizes)} doesn't match the broadcast shape {list(fits)}"
            )
    if not (grad_mode.enabled and (source.requires_grad or tensor.requires_grad)):
        check_inplace(tensor, recording=grad_mode.enabled)
        tensor._array[...] = array
        tensor._bump_version()
        mark_views_stale(tensor)
        return tensor
    return write(shape.copy_values, tensor, source)


def fill_(tensor: Tensor, value: Any) -> Tensor:
    """Set all entries to one number, or to the only entry of a tensor without dimensions.

    Raises:
        RuntimeError: If the value is a tensor with dimensions.
    """
    if not isinstance(value, Tensor):
        return write(shape.filled, tensor, value)
    if value._array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value._array.ndim} dimensions."
        )
    return write(shape.filled_with, tensor, value)


def zero_(tensor: Tensor) -> Tensor:
    """Set all entries to 0."""
    return write(shape.zeros, tensor)


def _inplace(operation: Callable[..., Any]) -> Callable[..., Tensor]:
    def method(tensor: Tensor, *others: Any) -> Tensor:
        return write(operation, tensor, *others)

    method.__name__ = f"{operation.__name__}_"
    method.__doc__ = f"Do what `{operation.__name__}` does, in place."
    return method


def _plain_arrays(tensor: Tensor, other: Any) -> bool:
    """Tell whether two tensors hold floating-point numbers of one shape and type."""
    if not isinstance(other, Tensor):
        return False
    a, b = tensor._array, other._array
    return a.dtype is b.dtype and a.dtype.kind == "f" and a.shape == b.shape


def _write_directly(ufunc: Any, tensor: Tensor, other: Tensor, alpha: Any) -> Tensor:
    """Do what an optimizer does: change numbers without a detour through a new array."""
    array, operand = tensor._array, other._array
    ufunc(array, operand if alpha == 1 else operand * alpha, array)
    counter = tensor._version_counter
    if counter is None:
        tensor._bump_version()
    else:
        counter.value += 1
        if counter.views is not None:
            mark_views_stale(tensor)
    return tensor


def add_(tensor: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Add another tensor, times `alpha`, in place."""
    if not grad_mode.enabled and _plain_arrays(tensor, other):
        return _write_directly(np.add, tensor, other, alpha)
    if alpha == 1:
        return write(elementwise.add, tensor, other)
    if not isinstance(other, Tensor):
        other = scalar(other, tensor._array.dtype)
    return write(elementwise.add_scaled, tensor, other, alpha)


def sub_(tensor: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Subtract another tensor, times `alpha`, in place."""
    if not grad_mode.enabled and _plain_arrays(tensor, other):
        return _write_directly(np.subtract, tensor, other, alpha)
    if alpha == 1:
        return write(elementwise.sub, tensor, other)
    if not isinstance(other, Tensor):
        other = scalar(other, tensor._array.dtype)
    return write(elementwise.sub_scaled, tensor, other, alpha)


def pow_(tensor: Tensor, exponent: Any) -> Tensor:
    """Raise to a power, in place."""
    number = not isinstance(exponent, Tensor)
    return write(elementwise.pow_number if number else elementwise.pow_tensor, tensor, exponent)


def clamp_(tensor: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit to an interval, in place."""
    return write(choices.clamp, tensor, min, max)


def masked_fill_(tensor: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Set the entries under a mask to one number, in place."""
    number = not isinstance(value, Tensor)
    operation = choices.masked_fill_number if number else choices.masked_fill
    return write(operation, tensor, mask, value)


methods: dict[str, Callable[..., Any]] = {
    "add_": add_,
    "sub_": sub_,
    "pow_": pow_,
    "clamp_": clamp_,
    "copy_": copy_,
    "masked_fill_": masked_fill_,
    "fill_": fill_,
    "zero_": zero_,
    **{
        f"{operation.__name__}_": _inplace(operation)
        for operation in (
            elementwise.mul,
            elementwise.div,
            elementwise.neg,
            elementwise.exp,
            elementwise.log,
            elementwise.sqrt,
            elementwise.sin,
            elementwise.cos,
            activations.tanh,
            activations.sigmoid,
            activations.relu,
            choices.abs,
            elementwise.reciprocal,
        )
    },
    "__iadd__": add_,
    "__isub__": sub_,
    "__imul__": _inplace(elementwise.mul),
    "__itruediv__": _inplace(elementwise.div),
    "__ipow__": pow_,
}
