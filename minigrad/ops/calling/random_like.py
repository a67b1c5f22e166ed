"""Make tensors of random numbers in the shape of another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.construction import check_place, finish, keeps_order
from minigrad.random import Generator, stream
from minigrad.random_creation import integer_array, normal_array, uniform_array
from minigrad.tensor import Tensor

__all__ = ["rand_like", "randint_like", "randn_like"]


def _like(
    make: Any, caller: str, input: Tensor, dtype: Any, options: dict[str, Any], memory_format: Any
) -> Tensor:
    """Draw in the shape of another tensor and, as a rule, in the order of its memory."""
    kind = input._array.dtype if dtype is None else dtype.numpy
    generator, requires_grad = options["generator"], options["requires_grad"]
    check_place(caller, options["device"], options["layout"], options["pin_memory"])
    if input._array.flags.c_contiguous or not keeps_order(caller, memory_format):
        return finish(make(input._array.shape, kind, generator), requires_grad)
    array = np.empty_like(input._array, kind)
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    in_memory = array.transpose(order)
    if make is normal_array:  # memory in another order has no blocks
        in_memory[...] = stream(generator).normals_in_order(array.size).reshape(in_memory.shape)
    else:
        in_memory[...] = make(in_memory.shape, kind, generator)
    return finish(array, requires_grad)


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor of uniform random numbers in the shape and type of another."""
    options = {"generator": generator, "requires_grad": requires_grad}
    options |= {"device": device, "layout": layout, "pin_memory": pin_memory}
    return _like(uniform_array, "rand_like", input, dtype, options, memory_format)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor of normal random numbers in the shape and type of another."""
    options = {"generator": generator, "requires_grad": requires_grad}
    options |= {"device": device, "layout": layout, "pin_memory": pin_memory}
    return _like(normal_array, "randn_like", input, dtype, options, memory_format)


def randint_like(
    input: Tensor,
    *bounds: Any,
    low: int = 0,
    high: int | None = None,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor of random integers, as `randint`, in the shape and type of another."""
    if bounds:
        *lower, high = bounds
        low = lower[0] if lower else low
    if high is None:
        raise TypeError('randint_like() missing 1 required positional arguments: "high"')
    first, end = int(low), int(high)

    def make(shape: tuple[int, ...], kind: np.dtype[Any], source: Any) -> Any:
        return integer_array(first, end, shape, kind, source)

    options = {"generator": generator, "requires_grad": requires_grad}
    options |= {"device": device, "layout": layout, "pin_memory": pin_memory}
    return _like(make, "randint_like", input, dtype, options, memory_format)


methods: dict[str, Any] = {}
