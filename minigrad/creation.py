"""Make tensors filled with one number; here are also those from data, evenly spaced and random."""

from __future__ import annotations

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
    shape_of,
)
from minigrad.from_data import as_tensor, from_numpy, is_tensor, tensor
from minigrad.ops.calling.arguments import check_tensor, entry
from minigrad.ops.calling.out import dtype_for, write_new
from minigrad.random_creation import rand, randint, randn, randperm
from minigrad.spacing import arange, eye, linspace
from minigrad.tensor import Tensor

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
    "randint",
    "randn",
    "randperm",
    "tensor",
    "zeros",
    "zeros_like",
]


def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of a shape, filled with one number.

    Example:
        >>> import minigrad as torch
        >>> torch.full((2, 2), 7)
        tensor([[7, 7],
                [7, 7]])
    """
    check_place("full", device, layout, pin_memory)
    value = number(fill_value, "full", "fill_value", 2)
    own = dtypes.scalar_dtype(value, np.dtype("bool"))
    wanted = dtype_for("full", out, dtype, own)
    array = np.full(sequence_of_sizes(size, "full"), _entry(value, wanted), wanted)
    return finish(array, requires_grad, "full") if out is None else write_new(out, array)


def _entry(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert one number."""
    return value if dtype.kind in "cO" else entry(value, dtype)


def _dtype(caller: str, out: Any, dtype: Any) -> np.dtype[Any]:
    return dtype_for(caller, out, dtype, dtypes.float32.numpy)


def zeros(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of zeros.

    Example:
        >>> import minigrad as torch
        >>> torch.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    check_place("zeros", device, layout, pin_memory)
    shape = shape_of(sizes, size, "zeros")
    if out is not None:
        return write_new(out, np.zeros(shape, _dtype("zeros", out, dtype)))
    return finish(np.zeros(shape, default_or(dtype, "zeros")), requires_grad, "zeros")


def ones(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of ones.

    Example:
        >>> import minigrad as torch
        >>> torch.ones(2)
        tensor([1., 1.])
    """
    check_place("ones", device, layout, pin_memory)
    shape = shape_of(sizes, size, "ones")
    if out is not None:
        return write_new(out, np.ones(shape, _dtype("ones", out, dtype)))
    return finish(np.ones(shape, default_or(dtype, "ones")), requires_grad, "ones")


def empty(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor whose entries are not set.

    Example:
        >>> import minigrad as torch
        >>> torch.empty(2, 3).shape
        torch.Size([2, 3])
    """
    check_place("empty", device, layout, pin_memory)
    keeps_order("empty", memory_format)
    shape = shape_of(sizes, size, "empty")
    if out is not None:
        return write_new(out, np.empty(shape, _dtype("empty", out, dtype)))
    return finish(np.empty(shape, default_or(dtype, "empty")), requires_grad, "empty")


def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor of zeros in the shape and type of another."""
    wanted, order = _alike("zeros_like", input, dtype, layout, device, pin_memory, memory_format)
    return finish(np.zeros_like(input._array, wanted, order), requires_grad, "zeros_like")


def _alike(
    caller: str,
    input: Any,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: bool,
    memory_format: Any,
) -> tuple[Any, Any]:
    """Give the dtype and the order in memory of a tensor like another."""
    check_tensor(caller, input)
    check_place(caller, device, layout, pin_memory)
    wanted = None if dtype is None else dtypes.asked(caller, dtype, dtypes.float32)
    return wanted, "K" if keeps_order(caller, memory_format) else "C"


def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor of ones in the shape and type of another."""
    wanted, order = _alike("ones_like", input, dtype, layout, device, pin_memory, memory_format)
    return finish(np.ones_like(input._array, wanted, order), requires_grad, "ones_like")


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor in the shape and type of another, filled with one number."""
    wanted, order = _alike("full_like", input, dtype, layout, device, pin_memory, memory_format)
    value = number(fill_value, "full_like", "fill_value", 2)
    value = _entry(value, input._array.dtype if wanted is None else wanted)
    return finish(np.full_like(input._array, value, wanted, order), requires_grad, "full_like")
