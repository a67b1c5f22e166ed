"""Convert tensors: to another dtype, to the CPU where they are, into another order in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.rules import ignore_errstate
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.ops import shape
from minigrad.signatures import attach, variants
from minigrad.signatures.arguments import cast, check_tensor


def to(
    input: Tensor,
    *arguments: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Convert to another dtype, or to that of another tensor; the only device is the CPU.

    Args:
        input: The tensor.
        *arguments: A dtype; or a device and perhaps a dtype; or another tensor. After these
            `non_blocking` and `copy` may follow.
        dtype: The dtype, by name.
        device: The CPU, by name.
        non_blocking: Anything; there is nothing to wait for.
        copy: Whether to copy where there is nothing to convert.
        memory_format: `contiguous_format` for entries in order.

    Returns:
        The tensor itself, if there is nothing to convert.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([1.5, 2.5]).to(torch.int64)
        tensor([1, 2])
    """
    if arguments:
        first, *rest = arguments
        alone = not rest and not copy and dtype is device is memory_format is None
        if alone and first.__class__ is dtypes.dtype:
            return _cast(input, first.numpy)
        if isinstance(first, Tensor):
            dtype = first.dtype
        elif isinstance(first, (dtypes.dtype, type)):
            dtype = first
        else:
            if first is not None:
                _check_device(first, "to")
            dtype = rest.pop(0) if rest and not isinstance(rest[0], bool) else dtype
        copy = rest[1] if len(rest) == 2 else copy
    if device is not None:
        _check_device(device, "to")
    check_tensor("to", input)
    result = input
    if dtype is not None:
        result = _cast(input, dtypes.asked("to", dtype))
    if copy and result is input:
        result = shape.to_copy(input, input._array.dtype)
    if memory_format is not None and _wants_order(memory_format, "to") and result is not input:
        result = contiguous(result)
    return result


def _cast(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Convert to a NumPy dtype; say so if imaginary parts get lost."""
    own = tensor._array.dtype
    if own.kind == "c" and dtype.kind in "iuf":
        warnings.warn("Casting complex values to real discards the imaginary part", stacklevel=4)
        return wrap(tensor._array.real.astype(dtype, order="C"))
    if own.kind == "f" and (dtype.kind in "iu" or dtype.itemsize < own.itemsize):
        return _cast_quietly(tensor, dtype)
    return cast(tensor, dtype)


_cast_quietly = ignore_errstate(cast)  # infinities and NaN are as silent as in PyTorch


def _check_device(device: Any, caller: str) -> None:
    if isinstance(device, np.ndarray) or device != "cpu":
        import_module("minigrad.creation.devices").refuse_other_places(device)


def _wants_order(memory_format: Any, caller: str) -> bool:
    devices = import_module("minigrad.creation.devices")
    return bool(devices.wants_contiguous(memory_format))


def _type(name: str, dtype: dtypes.dtype) -> Callable[..., Tensor]:
    """Make the method that converts to a dtype: `x.double()`."""
    wanted = dtype.numpy

    def method(input: Tensor, *, memory_format: Any = None) -> Tensor:
        if memory_format is not None:
            return to(input, dtype, memory_format=memory_format)
        return input if input._array.dtype == wanted else _cast(input, wanted)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Convert to {dtype}."
    return method


@variants()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Copy the values; gradients pass through."""
    if memory_format is not None and _wants_order(memory_format, "clone"):
        return shape.clone_contiguous(input)
    return shape.clone(input)


def contiguous(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor itself if its memory is in order, else a copy that is."""
    if memory_format is not None:
        _wants_order(memory_format, "contiguous")
    return input if input.is_contiguous() else shape.clone_contiguous(input)


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Give the tensor itself: it is on the CPU."""
    return self if memory_format is None else to(self, memory_format=memory_format)


_NAMED_BY_TYPE = "float double half long int short bool cfloat cdouble"
attach(
    __name__,
    {
        "to": to,
        "contiguous": contiguous,
        "cpu": cpu,
        "_check_memory_format": lambda self, given, caller: _wants_order(given, caller),
        **{name: _type(name, getattr(dtypes, name)) for name in _NAMED_BY_TYPE.split()},
        "char": _type("char", dtypes.int8),
        "byte": _type("byte", dtypes.uint8),
    },
)
