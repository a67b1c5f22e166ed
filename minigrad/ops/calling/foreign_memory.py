"""Make tensors of memory that something else owns: buffers, arrays of other libraries, anything."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.construction import check_place, finish
from minigrad.from_data import copied, from_numpy
from minigrad.interchange import from_dlpack
from minigrad.tensor import Tensor, wrap

__all__ = ["asarray", "from_dlpack", "frombuffer"]

_NOT_WRITABLE = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This "
    "means you can write to the underlying (supposedly non-writable) buffer using the tensor. You "
    "may want to copy the buffer to protect its data or make it writable before converting it to a "
    "tensor. This type of warning will be suppressed for the rest of this program. (minigrad "
    "refuses to write to it.)"
)


def frombuffer(
    buffer: Any,
    *,
    dtype: Any,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector that shares the memory of bytes, such as a `bytearray`.

    Args:
        buffer: An object that offers its memory.
        dtype: The type of the entries.
        count: How many entries; -1 for all there are.
        offset: How many bytes to leave out at the beginning.
        requires_grad: Whether operations on the tensor are recorded.

    Raises:
        ValueError: If the object offers no memory, or the bytes do not make up whole entries.

    Example:
        >>> import minigrad as torch
        >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
        tensor([1, 2], dtype=torch.int16)
    """
    wanted = dtypes.asked("frombuffer", dtype, dtypes.uint8)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size, each = memory.nbytes, wanted.itemsize
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % each:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({each})"
        )
    if count > 0 and offset + count * each > size:
        raise ValueError(
            f"requested buffer length ({count} * {each} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({size} bytes)"
        )
    if memory.readonly:
        warnings.warn(_NOT_WRITABLE, UserWarning, stacklevel=2)
    return finish(np.frombuffer(memory, wanted, count, offset), requires_grad, "frombuffer")


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Make a tensor of anything: a tensor, an array, a number, bytes, nested sequences.

    Args:
        obj: The data.
        dtype: The type of the entries, if not the one that follows from the data.
        device: The CPU, if any.
        copy: True for memory of its own, False for the memory of the data, None for the latter if
            it can be.
        requires_grad: Whether operations on the tensor are recorded; by default as the data do.

    Raises:
        ValueError: If the memory must not be copied but has to be.

    Example:
        >>> import minigrad as torch
        >>> torch.asarray([1, 2])
        tensor([1, 2])
    """
    check_place("asarray", device, None, False)
    if isinstance(obj, (np.ndarray, np.generic)) and not isinstance(obj, Tensor):
        obj = from_numpy(obj) if isinstance(obj, np.ndarray) else wrap(np.asarray(obj))
    if isinstance(obj, Tensor):
        return _tensor_of(obj, dtype, copy, requires_grad)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        shared = frombuffer(obj, dtype=dtypes.get_default_dtype() if dtype is None else dtype)
        return _tensor_of(shared, None, copy, requires_grad)
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    wanted = None if dtype is None else dtypes.asked("asarray", dtype, dtypes.float32)
    return finish(copied(obj, wanted), bool(requires_grad), "asarray")


def _tensor_of(tensor: Tensor, dtype: Any, copy: bool | None, requires_grad: bool | None) -> Tensor:
    wanted = tensor.dtype if dtype is None else dtype
    result = tensor.to(wanted)
    if copy is False and result is not tensor:
        names = tensor.dtype.tensor_type, result.dtype.tensor_type
        raise ValueError(f"can't alias tensor with dtype '{names[0]}' into dtype '{names[1]}'.")
    if requires_grad is None and tensor.requires_grad:
        warnings.warn(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of "
            "False. Pass requires_grad=False explicitly to get the old behavior and silence this "
            "warning.",
            UserWarning,
            stacklevel=3,
        )
    if copy and result is tensor:
        result = tensor.clone()
    if requires_grad is False and result.requires_grad:
        return result.detach()
    if requires_grad and not result.requires_grad:
        return result.requires_grad_()
    return result


methods: dict[str, Callable[..., Any]] = {}
