"""Make tensors in the less usual ways: logarithmically spaced, complex, with steps in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.construction import (
    check_place,
    default_or,
    finish,
    keeps_order,
    number,
    sequence_of_sizes,
)
from minigrad.ops.calling.arguments import check_tensor, entry
from minigrad.ops.calling.out import with_out, write_new
from minigrad.spacing import line, line_ends, ranged
from minigrad.tensor import Tensor, wrap

__all__ = [
    "complex",
    "empty_like",
    "empty_strided",
    "logspace",
    "range",
    "scalar_tensor",
]


def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor in the shape and type of another whose entries are not set."""
    check_tensor("empty_like", input)
    check_place("empty_like", device, layout, pin_memory)
    wanted = dtypes.asked("empty_like", dtype, input.dtype)
    order: Any = "K" if keeps_order("empty_like", memory_format) else "C"
    return finish(np.empty_like(input._array, wanted, order), requires_grad, "empty_like")


def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor whose entries are not set, with given steps in memory.

    Args:
        size: The shape.
        stride: The step in memory, in entries, along each dimension.
        dtype: The type of the entries, if not the default.
        layout: Strided, if anything.
        device: The CPU, if anything.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Example:
        >>> import minigrad as torch
        >>> torch.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    check_place("empty_strided", device, layout, pin_memory)
    sizes, wanted = sequence_of_sizes(size, "empty_strided"), default_or(dtype, "empty_strided")
    steps = sequence_of_sizes(stride, "empty_strided")
    if len(sizes) != len(steps):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(steps)} strides, {len(sizes)} sizes"
        )
    count = 1 + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
    memory = np.empty(0 if 0 in sizes else count, wanted)
    array: Any = np.lib.stride_tricks.as_strided(
        memory, sizes, [step * wanted.itemsize for step in steps]
    )
    return finish(array, requires_grad, "empty_strided")


def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor without dimensions, of the default dtype unless another is given."""
    check_place("scalar_tensor", device, layout, pin_memory)
    value, wanted = number(s, "scalar_tensor", "s", 1), default_or(dtype, "scalar_tensor")
    array = entry(value, wanted) if wanted.kind != "c" else np.array(value, wanted)
    return finish(array, requires_grad, "scalar_tensor")


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of powers of a base whose exponents are evenly spaced.

    Args:
        start: The first exponent.
        end: The last exponent.
        steps: How many numbers.
        base: What is raised to the powers.
        out: A tensor to write the numbers into.
        dtype: The type of the entries, if not the default.
        layout: Strided, if anything.
        device: The CPU, if anything.
        pin_memory: False.
        requires_grad: Whether operations on the tensor are recorded.

    Example:
        >>> import minigrad as torch
        >>> torch.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    check_place("logspace", device, layout, pin_memory)
    first, last, wanted = line_ends("logspace", start, end, steps, out, dtype)
    with np.errstate(all="ignore"):
        exponents = line(first, last, steps, wanted)
        array = np.power(exponents.dtype.type(base), exponents).astype(wanted)
    return finish(array, requires_grad, "logspace") if out is None else write_new(out, array)


def range(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of numbers with the end included; deprecated, `arange` is the way."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    check_place("range", device, layout, pin_memory)
    bounds = [
        number(value, "range", name, position)
        for position, (name, value) in enumerate((("start", start), ("end", end), ("step", step)))
    ]
    return ranged("range", tuple(bounds), out, dtype, requires_grad)


@with_out(conversion="none")
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Make complex numbers of their real and imaginary parts.

    Raises:
        RuntimeError: If the two are not of one floating-point dtype.
        NotImplementedError: If one requires a gradient, or they are of dtype float16.

    Example:
        >>> import minigrad as torch
        >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
        tensor([1.+2.j])
    """
    check_tensor("complex", real, "real")
    check_tensor("complex", imag, "imag", 2)
    names = real.dtype.tensor_type, imag.dtype.tensor_type
    if not (real.dtype.is_floating_point and imag.dtype.is_floating_point):
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{names[0]} and {names[1]}"
        )
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second "
            "argument"
        )
    if real.dtype is dtypes.float16:
        raise NotImplementedError("minigrad has no complex32. Convert the parts with float().")
    if real.requires_grad or imag.requires_grad:
        raise NotImplementedError(
            "minigrad does not differentiate complex numbers: detach() the parts first."
        )
    first, second = np.broadcast_arrays(real._array, imag._array)
    array = np.empty(first.shape, real.dtype.to_complex().numpy)
    array.real, array.imag = first, second
    return wrap(array)


methods: dict[str, Callable[..., Any]] = {}
