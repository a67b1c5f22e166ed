"""Make new tensors of the type of one that is there: `x.new_zeros(2, 3)`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.construction import check_place, finish, number, sequence_of_sizes, shape_of
from minigrad.from_data import copied
from minigrad.ops.calling.arguments import entry
from minigrad.ops.calling.less_usual_creation import empty_strided
from minigrad.tensor import Tensor

__all__: list[str] = []


def _new(name: str, make: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make a method that gives a new tensor of the same type: `x.new_zeros(2, 3)`."""

    def method(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
    ) -> Tensor:
        check_place(name, device, layout, pin_memory)
        array = make(shape_of(sizes, size, name), dtypes.asked(name, dtype, self.dtype))
        return finish(array, requires_grad, name)

    method.__name__ = name
    method.__doc__ = f"Make a tensor as `{name[4:]}` does, of this tensor's type."
    return method


def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor of a shape, filled with one number, of this tensor's type."""
    check_place("new_full", device, layout, pin_memory)
    value, wanted = (
        number(fill_value, "new_full", "fill_value", 2),
        dtypes.asked("new_full", dtype, self.dtype),
    )
    filling = entry(value, wanted) if wanted.kind != "c" else value
    array = np.full(sequence_of_sizes(size, "new_full"), filling, wanted)
    return finish(array, requires_grad, "new_full")


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor from data, of this tensor's type unless another is given."""
    check_place("new_tensor", device, layout, pin_memory)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
            ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "tensor.new_tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        data = data._array
    wanted = dtypes.asked("new_tensor", dtype, self.dtype)
    return finish(copied(data, wanted), requires_grad, "new_tensor")


def new_empty_strided(
    self: Tensor,
    size: Any,
    stride: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor whose entries are not set, with given steps in memory, of this type."""
    return empty_strided(
        size,
        stride,
        dtype=dtype or self.dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        requires_grad=requires_grad,
    )


methods: dict[str, Callable[..., Any]] = {
    "new_empty": _new("new_empty", np.empty),
    "new_empty_strided": new_empty_strided,
    "new_full": new_full,
    "new_ones": _new("new_ones", np.ones),
    "new_tensor": new_tensor,
    "new_zeros": _new("new_zeros", np.zeros),
}
