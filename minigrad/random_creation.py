"""Make tensors of random numbers: uniform, normal, whole, or in random order.

A seed gives the numbers that it gives in PyTorch; see `minigrad.streams`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.construction import check_place, default_or, finish, number, shape_of
from minigrad.ops.calling.out import write_new
from minigrad.random import Generator, stream
from minigrad.tensor import Tensor

__all__ = [
    "rand",
    "randint",
    "randn",
    "randperm",
]


def _not_for(kernel: str, dtype: np.dtype[Any]) -> NotImplementedError:
    name = dtypes.of_array(np.empty(0, dtype)).tensor_type
    return NotImplementedError(
        f"\"{kernel}\" not implemented for '{name}'. Random numbers of this kind are floats."
    )


def uniform_array(shape: tuple[int, ...], dtype: np.dtype[Any], generator: Any) -> Any:
    """Draw uniform numbers from 0 to 1, real or complex."""
    if dtype.kind not in "fc":
        raise _not_for("check_uniform_bounds", dtype)
    if dtype.kind == "f":
        return stream(generator).uniform(shape, dtype)
    parts = np.dtype(f"f{dtype.itemsize // 2}")
    return stream(generator).uniform((*shape, 2), parts).view(dtype).reshape(shape)


def normal_array(shape: tuple[int, ...], dtype: np.dtype[Any], generator: Any) -> Any:
    """Draw standard normal numbers; complex ones have half the variance in each part."""
    if dtype.kind not in "fc":
        raise _not_for("normal_kernel_cpu", dtype)
    if dtype.kind == "f":
        return stream(generator).normal(shape, dtype)
    parts = np.dtype(f"f{dtype.itemsize // 2}")
    drawn = stream(generator).normal((*shape, 2), parts, 0.0, 0.5**0.5)
    return drawn.view(dtype).reshape(shape)


def rand(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: dtypes.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor of random numbers, uniform from 0 up to but not including 1.

    Args:
        *sizes: The shape.
        size: The shape, given by its name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        out: A tensor to write to.
        dtype: The type of the entries.
        layout: Strided, if any.
        device: The CPU, if any.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Raises:
        NotImplementedError: If the type is not floating point.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.rand(3)
        tensor([0.4963, 0.7682, 0.0885])
    """
    check_place("rand", device, layout, pin_memory)
    shape = shape_of(sizes, size, "rand")
    if out is not None:
        array = uniform_array(shape, out._array.dtype, generator)
        return write_new(out, array)
    return finish(uniform_array(shape, default_or(dtype, "rand"), generator), requires_grad)


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: dtypes.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor of random numbers from the standard normal distribution.

    Args:
        *sizes: The shape.
        size: The shape, given by its name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        out: A tensor to write to.
        dtype: The type of the entries.
        layout: Strided, if any.
        device: The CPU, if any.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Raises:
        NotImplementedError: If the type is not floating point.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.randn(3)
        tensor([ 1.5410, -0.2934, -2.1788])
    """
    check_place("randn", device, layout, pin_memory)
    shape = shape_of(sizes, size, "randn")
    if out is not None:
        array = normal_array(shape, out._array.dtype, generator)
        return write_new(out, array)
    return finish(normal_array(shape, default_or(dtype, "randn"), generator), requires_grad)


def integer_array(
    low: int, high: int, shape: tuple[int, ...], dtype: np.dtype[Any], generator: Any
) -> Any:
    """Draw whole numbers from `low` up to but not including `high`, in a dtype.

    Raises:
        RuntimeError: If there is none, or the dtype does not hold the last.
    """
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if dtype.kind in "iu":
        limits, name = np.iinfo(dtype), dtypes.c_name(np.empty(0, dtype))
        for what, value in (("from", low), ("to - 1", high - 1)):
            if not limits.min <= value <= limits.max:
                raise RuntimeError(f"{what} is out of bounds for {name}")
    return stream(generator).integers(low, high, shape).astype(dtype)


def randint(
    *arguments: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: dtypes.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor of random integers: `randint(low, high, size)` or `randint(high, size)`.

    Args:
        *arguments: The lowest number, 0 if left out; the one after the highest; the shape.
        low: The lowest number, by name.
        high: The one after the highest, by name.
        size: The shape, by name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        out: A tensor to write to.
        dtype: The type of the entries: int64 if left out.
        layout: Strided, if any.
        device: The CPU, if any.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Raises:
        RuntimeError: If there is no number in the range, or the type does not hold the last.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.randint(0, 10, (3,))
        tensor([4, 9, 3])
    """
    check_place("randint", device, layout, pin_memory)
    if size is None and arguments:
        *arguments, size = arguments  # type: ignore[assignment]
    if high is None and arguments:
        *arguments, high = arguments  # type: ignore[assignment]
    if high is None or size is None or len(arguments) > 1 or not isinstance(size, (tuple, list)):
        raise TypeError(
            "randint() received an invalid combination of arguments; expected "
            "randint(high, size) or randint(low, high, size), where size is a tuple"
        )
    if arguments:
        (low,) = arguments
    low, high = (
        number(bound, "randint", name, position)
        for position, (name, bound) in enumerate((("low", low), ("high", high)), 1)
    )
    shape = shape_of((size,), None, "randint")
    numpy_dtype = np.dtype(np.int64) if dtype is None else dtype.numpy
    if out is not None:
        array = integer_array(int(low), int(high), shape, out._array.dtype, generator)
        return write_new(out, array)
    return finish(integer_array(int(low), int(high), shape, numpy_dtype, generator), requires_grad)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: dtypes.dtype = dtypes.int64,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a vector of the numbers from 0 to n - 1 in random order.

    Args:
        n: How many numbers.
        generator: The source of the order, if not the one that `manual_seed` starts.
        out: A tensor to write to.
        dtype: The type of the entries.
        layout: Strided, if any.
        device: The CPU, if any.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Raises:
        RuntimeError: If n is negative, or the type does not hold the last number.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.randperm(4)
        tensor([0, 1, 3, 2])
    """
    check_place("randperm", device, layout, pin_memory)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    numpy_dtype = dtype.numpy if out is None else out._array.dtype
    if numpy_dtype.kind in "iu" and n > np.iinfo(numpy_dtype).max + 1:
        raise RuntimeError(
            f"value cannot be converted to type {numpy_dtype.name}_t without overflow"
        )
    array = stream(generator).permutation(n).astype(numpy_dtype)
    if out is not None:
        return write_new(out, array)
    return finish(array, requires_grad)
