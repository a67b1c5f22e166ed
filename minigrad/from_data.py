"""Make tensors from data: numbers, nested sequences of them, and NumPy's arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import dtypes, nested
from minigrad.autograd.type_name import type_name
from minigrad.construction import check_place, finish
from minigrad.tensor import Tensor, wrap

__all__ = ["as_tensor", "from_numpy", "is_tensor", "tensor"]


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor from data; the data are copied.

    Args:
        data: A number, nested sequences of numbers, or an array. Python floats become the default
            dtype, Python integers int64; an array keeps its dtype, and so do NumPy's numbers and
            tensors with one entry within sequences.
        dtype: The type of the entries, if not the one that follows from the data.
        device: The CPU, if any.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Raises:
        ValueError: If sequences have different lengths.
        RuntimeError: If a gradient is required of a type that is not floating point, or the data
            are neither numbers nor text.
        NotImplementedError: If a gradient is required of complex numbers.
        TypeError: If the data are text.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor(0.5, requires_grad=True)
        tensor(0.5000, requires_grad=True)
    """
    check_place("tensor", device, None, pin_memory)
    wanted = None if dtype is None else dtypes.asked("tensor", dtype, dtypes.float32)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
            ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data._array
    return finish(copied(data, wanted), requires_grad)


def copied(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array of data, with a memory of its own."""
    if not isinstance(data, (np.ndarray, np.generic)):
        return nested.array_of(data, dtype)
    array = np.asanyarray(data)
    _check_array(array)
    if dtype is None or dtype == array.dtype:
        return array.copy(order="K")
    if isinstance(data, np.generic):
        return nested.array_of(data.item(), dtype)
    if array.dtype.kind == "c" and dtype.kind in "iuf":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4
        )
        array = array.real
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _check_array(array: Any) -> None:
    """Raise if tensors cannot have the memory of an array."""
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion "
            "between byte orders is currently not supported."
        )
    dtypes.of_array(array)
    if array.dtype.kind == "O" and type(array) is np.ndarray:
        raise TypeError(
            "can't convert np.ndarray of type numpy.object_. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
            "uint32, uint16, uint8, and bool. minigrad.symbolic.tensor_of makes tensors of symbols."
        )
    for step in array.strides:
        if step < 0:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with "
                "negative strides are not currently supported. (You can probably work around this "
                "by making a copy of your array  with array.copy().) "
            )


def is_tensor(obj: Any, /) -> bool:
    """Tell whether something is a tensor.

    Example:
        >>> import minigrad as torch
        >>> torch.is_tensor(torch.ones(2)), torch.is_tensor(1.0)
        (True, False)
    """
    return isinstance(obj, Tensor)


def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Make a tensor that shares the memory of the data, if it can.

    Args:
        data: A tensor, an array, a number, or nested sequences of numbers.
        dtype: The type of the entries, if not the one that follows from the data.
        device: The CPU, if any.

    Returns:
        The data themselves if they are a tensor of that type; a tensor with the memory of an
        array; else a new tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> torch.as_tensor(x) is x
        True
    """
    check_place("as_tensor", device, None, False)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        return from_numpy(data) if dtype is None else from_numpy(data).to(dtype)
    wanted = None if dtype is None else dtypes.asked("as_tensor", dtype, dtypes.float32)
    return finish(copied(data, wanted), False)


def from_numpy(ndarray: np.ndarray[Any, Any], /) -> Tensor:
    """Make a tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: If it is not an array, or tensors have no such dtype.
        ValueError: If the array counts backward in memory, or its bytes are in foreign order.

    Example:
        >>> import minigrad as torch
        >>> array = np.array([1.0, 2.0])
        >>> tensor = torch.from_numpy(array)
        >>> array[0] = 7
        >>> tensor
        tensor([7., 2.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    _check_array(ndarray)
    if not ndarray.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You may "
            "want to copy the array to protect its data or make it writable before converting it "
            "to a tensor. This type of warning will be suppressed for the rest of this program. "
            "(minigrad refuses to write to it.)",
            UserWarning,
            stacklevel=2,
        )
    return wrap(ndarray)
