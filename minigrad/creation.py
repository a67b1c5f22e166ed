"""Make tensors: from data, filled with a number, evenly spaced, or random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import dtypes, nested
from minigrad.random import Generator, source
from minigrad.tensor import Tensor, wrap

__all__ = [
    "arange",
    "as_tensor",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "is_tensor",
    "linspace",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "tensor",
    "zeros",
    "zeros_like",
]

# the name by which other rooms know it
generator = source


def _finish(array: Any, requires_grad: bool) -> Tensor:
    tensor = wrap(array)
    if requires_grad:
        if array.dtype.kind not in "fcO":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        tensor._edge = None
    return tensor


def _default(dtype: dtypes.dtype | None) -> np.dtype[Any]:
    return (dtypes.get_default_dtype() if dtype is None else dtype).numpy


def _numpy(dtype: dtypes.dtype | None) -> Any:
    return None if dtype is None else dtype.numpy


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    return tuple(int(n) for n in size)


def tensor(data: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor from data; the data are copied.

    Args:
        data: A number, nested sequences of numbers, or an array. Python floats become the default
            dtype, Python integers int64; an array keeps its dtype.
        dtype: The type of the entries, if not the one that follows from the data.
        requires_grad: Whether operations on the tensor are recorded.

    Raises:
        ValueError: If sequences have different lengths.
        RuntimeError: If a gradient is required of a type that is not floating point.
        TypeError: If the data are no numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor(0.5, requires_grad=True)
        tensor(0.5000, requires_grad=True)
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
            ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data._array
    given = isinstance(data, (np.ndarray, np.generic))
    if not given:
        data = nested.without_tensors(data)
    try:
        array = np.array(data, subok=True)
    except ValueError:
        nested.refuse_ragged(data)
        raise
    if dtype is not None:
        array = array.astype(dtype.numpy)
    elif not given:
        if array.dtype == np.float64:
            array = array.astype(_default(None))
        elif array.dtype == np.complex128:
            wide = dtypes.get_default_dtype() is dtypes.float64
            array = array.astype(np.complex128 if wide else np.complex64)
        elif array.dtype.kind == "i":
            array = array.astype(np.int64)
    if array.dtype.kind not in "biufcO" or (type(array) is np.ndarray and array.dtype.kind == "O"):
        kind = type(array.flat[0]).__name__.removesuffix("_") if array.size else str(array.dtype)
        raise TypeError(
            f"new(): invalid data type '{kind}'; the entries must be numbers. "
            "minigrad.symbolic.tensor_of makes tensors of symbols."
        )
    return _finish(array, requires_grad)


def is_tensor(obj: Any) -> bool:
    """Tell whether something is a tensor.

    Example:
        >>> import minigrad as torch
        >>> torch.is_tensor(torch.ones(2)), torch.is_tensor(1.0)
        (True, False)
    """
    return isinstance(obj, Tensor)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None) -> Tensor:
    """Make a tensor that shares the memory of the data, if it can."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        return from_numpy(data) if dtype is None else from_numpy(data).to(dtype)
    return tensor(data, dtype=dtype)


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """Make a tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: If it is not an array, or tensors have no such dtype.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of_array(array)
    return wrap(array)


def full(
    size: Any, fill_value: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Make a tensor of a shape, filled with one number."""
    numpy_dtype = tensor(fill_value).dtype.numpy if dtype is None else dtype.numpy
    return _finish(np.full(_shape((size,)), fill_value, numpy_dtype), requires_grad)


def zeros(*size: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor of zeros."""
    return _finish(np.zeros(_shape(size), _default(dtype)), requires_grad)


def ones(*size: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor of ones."""
    return _finish(np.ones(_shape(size), _default(dtype)), requires_grad)


def empty(*size: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor whose entries are not set."""
    return _finish(np.empty(_shape(size), _default(dtype)), requires_grad)


def zeros_like(
    input: Tensor,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of zeros in the shape and type of another."""
    return _finish(np.zeros_like(input._array, _numpy(dtype)), requires_grad)


def ones_like(
    input: Tensor,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of ones in the shape and type of another."""
    return _finish(np.ones_like(input._array, _numpy(dtype)), requires_grad)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor in the shape and type of another, filled with one number."""
    return _finish(np.full_like(input._array, fill_value, _numpy(dtype)), requires_grad)


def arange(*bounds: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Make a vector of numbers from a start (or 0) up to but not including an end.

    Example:
        >>> import minigrad as torch
        >>> torch.arange(2, 8, 2)
        tensor([2, 4, 6])
    """
    whole = all(isinstance(bound, int) for bound in bounds)
    numpy_dtype = (np.dtype("int64") if whole else _default(None)) if dtype is None else dtype.numpy
    return _finish(np.arange(*bounds).astype(numpy_dtype), requires_grad)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of evenly spaced numbers, both ends included."""
    return _finish(np.linspace(start, end, steps).astype(_default(dtype)), requires_grad)


def eye(
    n: int, m: int | None = None, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Make a matrix with ones on the diagonal and zeros elsewhere."""
    return _finish(np.eye(n, m, dtype=_default(dtype)), requires_grad)


def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of random numbers, uniform between 0 and 1.

    Args:
        *size: The shape.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        dtype: The type of the entries.
        requires_grad: Whether operations on the tensor are recorded.
    """
    array = np.asarray(source(generator).random(_shape(size))).astype(_default(dtype))
    return _finish(array, requires_grad)


def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of random numbers from the standard normal distribution.

    Args:
        *size: The shape.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        dtype: The type of the entries.
        requires_grad: Whether operations on the tensor are recorded.
    """
    array = np.asarray(source(generator).standard_normal(_shape(size))).astype(_default(dtype))
    return _finish(array, requires_grad)


def randint(
    *arguments: Any, generator: Generator | None = None, dtype: dtypes.dtype | None = None
) -> Tensor:
    """Make a tensor of random integers: `randint(low, high, size)` or `randint(high, size)`."""
    *bounds, size = arguments
    low, high = bounds if len(bounds) == 2 else (0, bounds[0])
    array = source(generator).integers(low, high, _shape((size,)))
    return _finish(np.asarray(array).astype(np.int64 if dtype is None else dtype.numpy), False)


def randperm(n: int, *, generator: Generator | None = None) -> Tensor:
    """Make a vector of the numbers from 0 to n - 1 in random order."""
    return _finish(source(generator).permutation(n).astype(np.int64), False)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, requires_grad: bool = False
) -> Tensor:
    """Make a tensor of uniform random numbers in the shape and type of another."""
    return rand(input.shape, generator=generator, dtype=input.dtype, requires_grad=requires_grad)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, requires_grad: bool = False
) -> Tensor:
    """Make a tensor of normal random numbers in the shape and type of another."""
    return randn(input.shape, generator=generator, dtype=input.dtype, requires_grad=requires_grad)
