"""Bring what every function that makes a tensor is given into one form: sizes, types, flags."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.complex_numbers import can_require_grad
from minigrad.autograd.type_name import type_name
from minigrad.tensor import Tensor, wrap


def finish(array: Any, requires_grad: bool, caller: str = "tensor") -> Tensor:
    """Make a tensor of an array, which may require a gradient.

    Raises:
        TypeError: If `requires_grad` is no bool.
        RuntimeError: If a gradient is required of a type that is not floating point.
        NotImplementedError: If a gradient is required of complex numbers.
    """
    tensor = wrap(array)
    if requires_grad is not False:
        if not isinstance(requires_grad, bool) and requires_grad is not None:
            raise TypeError(
                f"{caller}(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}"
            )
        if requires_grad and not can_require_grad(array.dtype):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        if requires_grad:
            tensor._edge = None
    return tensor


def default_or(dtype: Any, caller: str = "tensor") -> np.dtype[Any]:
    """Give the NumPy dtype that is asked for, or that of the default."""
    default = dtypes.get_default_dtype()
    return default.numpy if dtype is None else dtypes.asked(caller, dtype, default)


def check_place(caller: str, device: Any, layout: Any, pin_memory: Any) -> None:
    """Raise if a tensor is wanted anywhere but on the CPU; do next to nothing otherwise."""
    if (device is None or device == "cpu") and layout is None and pin_memory is False:
        return
    devices = import_module("minigrad.devices")  # loaded when it is first needed
    devices.refuse_other_places(device, caller)
    devices.refuse_other_layouts(layout, pin_memory, caller)


def keeps_order(caller: str, memory_format: Any) -> bool:
    """Tell whether a tensor like another shall lie in memory as that does."""
    if memory_format is None:
        return True
    wants_contiguous = import_module("minigrad.devices").wants_contiguous
    return not wants_contiguous(memory_format, caller)


def shape_of(sizes: tuple[Any, ...], size: Any = None, caller: str = "zeros") -> tuple[int, ...]:
    """Take sizes one by one, or in one sequence that may be given by its name.

    Args:
        sizes: What was given by position.
        size: What was given by name.
        caller: The function that was given it, for messages.

    Raises:
        TypeError: If one is no whole number.
        RuntimeError: If one is negative.
    """
    for number in sizes:
        if number.__class__ is not int or number < 0:
            break
    else:
        if sizes:
            return sizes
    if not sizes:
        if size is None:
            raise TypeError(f'{caller}() missing 1 required positional arguments: "size"')
        sizes = (size,)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
        whole = tuple(_whole(size, position, caller) for position, size in enumerate(sizes))
    else:
        if not _is_whole(sizes[0]):
            raise TypeError(
                f"{caller}(): argument 'size' (position 1) must be tuple of ints, not "
                f"{type_name(sizes[0])}"
            )
        whole = tuple(_whole(size, position, caller) for position, size in enumerate(sizes))
    for size in whole:
        if size < 0:
            if caller == "zeros":
                raise RuntimeError(
                    f"zeros: Dimension size must be non-negative. It is {size} in {list(whole)}."
                )
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {size}: {list(whole)}"
            )
    return whole


def _is_whole(size: Any) -> bool:
    if isinstance(size, bool):
        return False
    if isinstance(size, Tensor):
        return size._array.ndim == 0 and size._array.dtype.kind in "iu"
    return isinstance(size, (int, np.integer))


def _whole(size: Any, position: int, caller: str) -> int:
    if size.__class__ is int or _is_whole(size):
        return int(size)
    raise TypeError(
        f"{caller}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
        f'"type must be tuple of ints,but got {type_name(size)}"'
    )


def sequence_of_sizes(size: Any, caller: str) -> tuple[int, ...]:
    """Take sizes that must stand in one sequence.

    Raises:
        TypeError: If they do not, or one is no whole number.
        RuntimeError: If one is negative.
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"{caller}(): argument 'size' (position 1) must be tuple of ints, not {type_name(size)}"
        )
    if size and not _is_whole(size[0]):
        raise TypeError(
            f"{caller}(): argument 'size' (position 1) must be tuple of ints, but found element of "
            f"type {type_name(size[0])} at pos 0"
        )
    return shape_of((size,), None, caller)


def number(value: Any, caller: str, argument: str, position: int) -> Any:
    """Take an argument that must be a number, as a Python number.

    Raises:
        TypeError: If it is none.
    """
    if value.__class__ is int or value.__class__ is float:
        return value
    if isinstance(value, Tensor) and not value._array.ndim and not value.requires_grad:
        return value._array.item()
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(
            f"{caller}(): argument '{argument}' (position {position}) must be Number, not "
            f"{type_name(value)}"
        )
    return value
