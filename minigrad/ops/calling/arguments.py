"""Bring the arguments of an operation into one form: dimensions, sizes, types."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.complex_numbers import refuse_complex
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.type_name import type_name
from minigrad.ops import shape
from minigrad.tensor import Tensor, wrap


def dimension(dim: int, ndim: int) -> int:
    """Bring a dimension's number into the range from 0 on."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], "
            f"but got {dim})"
        )
    return dim % limit


def dimensions(dim: Any, ndim: int) -> tuple[int, ...]:
    """Bring one dimension's number or several into a sorted tuple."""
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    numbers = tuple(dimension(int(d), ndim) for d in dims) or tuple(range(ndim))
    if len(set(numbers)) != len(numbers):
        repeated = next(n for i, n in enumerate(numbers) if n in numbers[:i])
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return () if ndim == 0 else tuple(sorted(numbers))


def sizes_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Accept sizes one by one or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return tuple(int(size) for size in sizes)


def check_tensor(name: str, value: Any, argument: str = "input", position: int = 1) -> None:
    """Raise if an argument that must be a tensor is none."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
            f"{type_name(value)}"
        )


def real_number(value: Any, dtype: np.dtype[Any]) -> Any:
    """Give a number that takes a place among real ones: a complex number as a real one.

    Args:
        value: A number.
        dtype: The type of the numbers that it comes among; complex ones take any.

    Raises:
        RuntimeError: If it has an imaginary part.
    """
    if dtype.kind not in "iuf" or not isinstance(value, (complex, np.complexfloating)):
        return value
    if value.imag:
        raise RuntimeError(
            f"{_overflow(dtype)} It is {value}, and its imaginary part would be lost."
        )
    return value.real


def _overflow(dtype: np.dtype[Any]) -> str:
    names = {"float16": "c10::Half", "float32": "float", "float64": "double"}
    name = names.get(dtype.name, f"{dtype.name}_t")
    return f"value cannot be converted to type {name} without overflow."


def entry(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Make an array of one number that is to be written among others.

    A negative number among unsigned ones counts from the largest down.

    Args:
        value: A number.
        dtype: The type of the others.

    Raises:
        RuntimeError: If it is too large for them, or has an imaginary part.
    """
    value = real_number(value, dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        smallest = limits.min or -limits.max
        if not smallest <= value <= limits.max:  # nor is NaN
            raise RuntimeError(_overflow(dtype))
        return np.asarray(int(value)).astype(dtype)
    if dtype.kind == "f" and float(np.finfo(dtype).max) < abs(value) < np.inf:
        raise RuntimeError(_overflow(dtype))
    return np.asarray(value).astype(dtype)


def cast(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Convert to a NumPy dtype, recorded where both types are floating point.

    Raises:
        NotImplementedError: If the conversion to complex numbers would be recorded.
    """
    from_kind, to_kind = tensor._array.dtype.kind, dtype.kind
    if tensor._array.dtype == dtype:
        return tensor
    if tensor.requires_grad and to_kind not in "iub" and from_kind not in "iub":
        if grad_mode.enabled:
            refuse_complex(dtype)
        return shape.to_copy(tensor, dtype)  # type: ignore[no-any-return]
    return wrap(tensor._array.astype(dtype))
