"""Make tensors of arrays, and check what every function that makes one is given: sizes, types."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import can_require_grad, type_name
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces.arguments import check_tensor
from minigrad.faces.out import fit, refuse_gradient, shows

Array = np.ndarray[Any, Any]
# Gives the dtype that was asked for; a function that makes an array says what it is otherwise.
DtypeChoice = Callable[..., "np.dtype[Any]"]

_USUAL: dict[str, Any] = {
    "dtype": None,
    "layout": None,
    "device": None,
    "pin_memory": False,
    "requires_grad": False,
}
# Functions that count how many numbers there are, and warn of a tensor with place for others.
_COUNTED = ("arange", "range")


def factory(
    function: Callable[..., Array] | None = None, *, out: bool = True
) -> Callable[..., Any]:
    """Let a function that makes an array make a tensor, and take what all such functions take.

    Those arguments are `out`, `dtype`, `layout`, `device`, `pin_memory` and `requires_grad`. The
    function itself takes the others, and `dtype_or`: called with a default, it gives the dtype.

    Args:
        function: The function.
        out: Whether the result may be written into another tensor.

    Example:
        >>> @factory
        ... def sevens(*sizes, dtype_or):
        ...     return np.full(shape_of(sizes), 7, dtype_or())
        >>> sevens(2, requires_grad=True)
        tensor([7., 7.], requires_grad=True)
    """
    if function is None:
        return functools.partial(factory, out=out)
    make, name = function, function.__name__

    @functools.wraps(make)
    def call(
        *arguments: Any,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = False,
        requires_grad: Any = False,
        **own: Any,
    ) -> Tensor:
        check_place(name, device, layout, pin_memory)
        place = own.pop("out", None) if out else None
        dtype_or = functools.partial(dtype_for, name, place, dtype)
        array = make(*arguments, dtype_or=dtype_or, **own)
        if place is None:
            return finish(array, requires_grad, name)
        return write_new(place, array, warns=name in _COUNTED)

    return shows(call, ({"out": None} if out else {}) | _USUAL, dtype_or="")


def like(function: Callable[..., Array]) -> Callable[..., Any]:
    """Let a function that fills an array make a tensor in the shape and type of another.

    Its first argument is a new array, in the place of the tensor `input` that is given; the others
    are those of `factory`, and `memory_format`.
    """

    @functools.wraps(function)
    def fill(
        input: Any, *arguments: Any, dtype_or: DtypeChoice, memory_format: Any = None, **own: Any
    ) -> Array:
        check_tensor(function.__name__, input)
        order: Any = "K" if keeps_order(function.__name__, memory_format) else "C"
        new = np.empty_like(input._array, dtype_or(input._array.dtype), order)
        return function(new, *arguments, **own)

    return factory(shows(fill, {"memory_format": None}, new="input"), out=False)


# ------------------------------------------------------------------ tensors of arrays


def finish(array: Any, requires_grad: Any, caller: str = "tensor") -> Tensor:
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


def write_new(out: Tensor, array: Any, warns: bool = False) -> Tensor:
    """Write an array that a function like `zeros` made into a tensor, whatever its shape was."""
    if warns and out._array.size not in (0, array.size):
        warnings.warn(
            f"The number of elements in the out tensor of shape {list(out._array.shape)} is "
            f"{out._array.size} which does not match the computed number of elements {array.size}. "
            "Note that this may occur as a result of rounding error. The out tensor will be "
            f"resized to a tensor of shape ({array.size},).",
            UserWarning,
            stacklevel=3,
        )
    with no_grad():
        fit(out, array.shape, warn=False)
        out._array[...] = array
        out._bump_version()
    return out


# ------------------------------------------------------------------ types and places


def dtype_for(
    caller: str, out: Any, dtype: Any, default: np.dtype[Any] | None = None
) -> np.dtype[Any]:
    """Give the dtype in which a new tensor is made that may be written into another.

    Args:
        caller: The name of the function that makes it.
        out: The other tensor, or None.
        dtype: The dtype that was asked for, or None.
        default: The dtype otherwise; None for the one that `set_default_dtype` set.

    Raises:
        TypeError: If `out` is no tensor.
        RuntimeError: If `out` requires a gradient, or has another dtype than was asked for.
    """
    if dtype is None and out is None:
        return dtypes.get_default_dtype().numpy if default is None else default
    wanted = None if dtype is None else dtypes.asked(caller, dtype, dtypes.float32)
    if out is None:
        assert wanted is not None
        return wanted
    if not isinstance(out, Tensor):
        raise TypeError(f"{caller}(): argument 'out' must be Tensor, not {type_name(out)}")
    own: np.dtype[Any] = out._array.dtype
    if wanted is not None and wanted != own:
        names = [dtypes.scalar_name(np.empty(0, each)) for each in (wanted, own)]
        raise RuntimeError(f"dtype {names[0]} does not match dtype of out parameter ({names[1]})")
    if is_grad_enabled():
        refuse_gradient(f"aten::{caller}", out)
    return own


def check_place(caller: str, device: Any, layout: Any, pin_memory: Any) -> None:
    """Raise if a tensor is wanted anywhere but on the CPU; do next to nothing otherwise."""
    if (device is None or device == "cpu") and layout is None and pin_memory is False:
        return
    devices = import_module("minigrad.creation.devices")  # loaded when it is first needed
    devices.refuse_other_places(device, caller)
    devices.refuse_other_layouts(layout, pin_memory, caller)


def keeps_order(caller: str, memory_format: Any) -> bool:
    """Tell whether a tensor like another shall lie in memory as that does."""
    if memory_format is None:
        return True
    wants_contiguous = import_module("minigrad.creation.devices").wants_contiguous
    return not wants_contiguous(memory_format, caller)


# ------------------------------------------------------------------ sizes, numbers, tensors


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
    for each in sizes:
        if each.__class__ is not int or each < 0:
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
    elif not _is_whole(sizes[0]):
        raise TypeError(
            f"{caller}(): argument 'size' (position 1) must be tuple of ints, not "
            f"{type_name(sizes[0])}"
        )
    whole = tuple(_whole(each, position, caller) for position, each in enumerate(sizes, 1))
    for each in whole:
        if each < 0:
            raise RuntimeError(
                f"zeros: Dimension size must be non-negative. It is {each} in {list(whole)}."
                if caller == "zeros"
                else f"Trying to create tensor with negative dimension {each}: {list(whole)}"
            )
    return whole


def _is_whole(size: Any) -> bool:
    if isinstance(size, Tensor):
        return size._array.ndim == 0 and size._array.dtype.kind in "iu"
    return isinstance(size, (int, np.integer)) and not isinstance(size, bool)


def _whole(size: Any, position: int, caller: str) -> int:
    if _is_whole(size):
        return int(size)
    raise TypeError(
        f"{caller}(): argument 'size' failed to unpack the object at pos {position} with error "
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


def whole_number(value: Any, caller: str, argument: str, position: int) -> int:
    """Take an argument that must be a whole number.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(
            f"{caller}(): argument '{argument}' (position {position}) must be int, not "
            f"{type_name(value)}"
        )
    return int(value)


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
