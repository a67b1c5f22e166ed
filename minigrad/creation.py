"""Make tensors: from data, filled with a number, evenly spaced, or random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import dtypes, nested
from minigrad.autograd.complex_numbers import can_require_grad
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
        if not can_require_grad(array.dtype):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        tensor._edge = None
    return tensor


def _default(dtype: dtypes.dtype | None) -> np.dtype[Any]:
    return (dtypes.get_default_dtype() if dtype is None else dtype).numpy


def _numpy(dtype: dtypes.dtype | None) -> Any:
    return None if dtype is None else dtype.numpy


def _shape(sizes: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """Take sizes one by one, or in one sequence that may be given by its name."""
    if size is not None and not sizes:
        sizes = (size,)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return tuple(int(n) for n in sizes)


def tensor(data: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Make a tensor from data; the data are copied.

    Args:
        data: A number, nested sequences of numbers, or an array. Python floats become the default
            dtype, Python integers int64; an array keeps its dtype, and so do NumPy's numbers and
            tensors with one entry within sequences.
        dtype: The type of the entries, if not the one that follows from the data.
        requires_grad: Whether operations on the tensor are recorded.

    Raises:
        ValueError: If sequences have different lengths.
        RuntimeError: If a gradient is required of a type that is not floating point.
        NotImplementedError: If a gradient is required of complex numbers.
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
    found: set[np.dtype[Any]] = set()
    entries = data
    if not given:
        data = nested.without_tensors(data, found)
    try:
        array = np.array(data, subok=True)
    except ValueError:
        nested.refuse_ragged(data)
        raise
    if dtype is not None:
        array = array.astype(dtype.numpy)
    elif found and not given and array.dtype.kind != "O":
        array = array.astype(nested.dtype_of_numbers(entries, found))
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


def is_tensor(obj: Any, /) -> bool:
    """Tell whether something is a tensor.

    Example:
        >>> import minigrad as torch
        >>> torch.is_tensor(torch.ones(2)), torch.is_tensor(1.0)
        (True, False)
    """
    return isinstance(obj, Tensor)


def as_tensor(data: Any, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """Make a tensor that shares the memory of the data, if it can."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        return from_numpy(data) if dtype is None else from_numpy(data).to(dtype)
    return tensor(data, dtype=dtype)


def from_numpy(ndarray: np.ndarray[Any, Any], /) -> Tensor:
    """Make a tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: If it is not an array, or tensors have no such dtype.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.of_array(ndarray)
    return wrap(ndarray)


def full(
    size: Any, fill_value: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Make a tensor of a shape, filled with one number."""
    numpy_dtype = tensor(fill_value).dtype.numpy if dtype is None else dtype.numpy
    return _finish(np.full(_shape((size,)), fill_value, numpy_dtype), requires_grad)


def zeros(
    *sizes: Any,
    size: Any = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of zeros."""
    return _finish(np.zeros(_shape(sizes, size), _default(dtype)), requires_grad)


def ones(
    *sizes: Any,
    size: Any = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of ones."""
    return _finish(np.ones(_shape(sizes, size), _default(dtype)), requires_grad)


def empty(
    *sizes: Any,
    size: Any = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor whose entries are not set."""
    return _finish(np.empty(_shape(sizes, size), _default(dtype)), requires_grad)


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


def arange(
    *bounds: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of numbers from a start (or 0) up to but not including an end.

    Args:
        *bounds: The end; or start and end; or start, end and step.
        start: The first number, given by name.
        end: Where to stop, given by name.
        step: The distance between two numbers, given by name.
        dtype: The type of the entries.
        requires_grad: Whether operations on the tensor are recorded.

    Example:
        >>> import minigrad as torch
        >>> torch.arange(2, 8, 2)
        tensor([2, 4, 6])
    """
    if end is not None:
        bounds = (*(bounds or (start,)), end, step)
    elif step != 1:
        bounds = (*((start,) if len(bounds) == 1 else ()), *bounds, step)
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
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of random numbers, uniform between 0 and 1.

    Args:
        *sizes: The shape.
        size: The shape, given by its name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        dtype: The type of the entries.
        requires_grad: Whether operations on the tensor are recorded.
    """
    array = np.asarray(source(generator).random(_shape(sizes, size))).astype(_default(dtype))
    return _finish(array, requires_grad)


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of random numbers from the standard normal distribution.

    Args:
        *sizes: The shape.
        size: The shape, given by its name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        dtype: The type of the entries.
        requires_grad: Whether operations on the tensor are recorded.
    """
    array = np.asarray(source(generator).standard_normal(_shape(sizes, size))).astype(
        _default(dtype)
    )
    return _finish(array, requires_grad)


def randint(
    *arguments: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of random integers: `randint(low, high, size)` or `randint(high, size)`."""
    if size is None:
        *arguments, size = arguments  # type: ignore[assignment]
    if high is None:
        *arguments, high = arguments  # type: ignore[assignment]
    if arguments:
        (low,) = arguments
    array = source(generator).integers(low, high, _shape((size,)))
    numpy_dtype = np.int64 if dtype is None else dtype.numpy
    return _finish(np.asarray(array).astype(numpy_dtype), requires_grad)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype = dtypes.int64,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of the numbers from 0 to n - 1 in random order."""
    return _finish(source(generator).permutation(n).astype(dtype.numpy), requires_grad)


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of uniform random numbers in the shape and type of another."""
    kind = dtype or input.dtype
    return rand(input.shape, generator=generator, dtype=kind, requires_grad=requires_grad)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of normal random numbers in the shape and type of another."""
    kind = dtype or input.dtype
    return randn(input.shape, generator=generator, dtype=kind, requires_grad=requires_grad)
