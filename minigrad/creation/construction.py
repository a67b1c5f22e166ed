"""Make tensors from data, and of arrays; check what every function that makes one is given.

The data are numbers, nested sequences of them, NumPy's arrays, other tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import can_require_grad, only_floats, type_name, warn, wrong_type
from minigrad.core.node import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces.arguments import check_dtype, check_tensor, number, sizes_given, wholes
from minigrad.faces.faults import explained_call
from minigrad.faces.out import fit, refuse_gradient, shows

__all__ = ["as_tensor", "empty", "from_numpy", "is_tensor", "tensor"]

Array = np.ndarray[Any, Any]
# Gives the dtype that was asked for; a function that makes an array says what it is otherwise.
DtypeChoice = Callable[..., "np.dtype[Any]"]

_USUAL: dict[str, Any] = dict.fromkeys(("dtype", "layout", "device"))
_USUAL |= {"pin_memory": False, "requires_grad": False}
_USUAL_NUMBERS: frozenset[Any] = frozenset((int, float))
_MOST = {kind: float(np.finfo(kind).max) for kind in "efd"}  # what each type holds at most


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
        try:
            array: Any = make(*arguments, dtype_or=dtype_or, **own)
        except Exception as error:
            explained_call(error, name, make, arguments, own)
            raise
        if place is not None:
            array = write_new(place, array, warns=name == "arange")
        return finish(array, requires_grad, name)

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


@factory
def empty(*sizes: Any, size: Any = None, memory_format: Any = None, dtype_or: DtypeChoice) -> Array:
    """Make a tensor whose entries are not set.

    Example:
        >>> import minigrad as torch
        >>> torch.empty(2, 3).shape
        torch.Size([2, 3])
    """
    keeps_order("empty", memory_format)
    return np.empty(shape_of(sizes, size, "empty"), dtype_or())


# ------------------------------------------------------------------ tensors of arrays


def finish(array: Any, requires_grad: Any, caller: str = "tensor") -> Tensor:
    """Make a tensor of an array, which may require a gradient.

    Raises:
        TypeError: If `requires_grad` is no bool.
        RuntimeError: If a gradient is required of a type that is not floating point.
        NotImplementedError: If a gradient is required of complex numbers.
    """
    tensor: Tensor = array if isinstance(array, Tensor) else wrap(array)
    if requires_grad is not False:
        none_is_false = requires_grad is None and caller != "tensor"
        if not (isinstance(requires_grad, bool) or none_is_false):
            raise wrong_type(caller, "requires_grad", "bool", requires_grad)
        if requires_grad and not can_require_grad(tensor._array.dtype):
            raise only_floats()
        if requires_grad:
            tensor._edge = None
    return tensor


def write_new(out: Tensor, array: Any, warns: bool = False) -> Tensor:
    """Write an array that a function like `zeros` made into a tensor, whatever its shape was."""
    if warns and out._array.size not in (0, array.size):
        warn(
            f"The number of elements in the out tensor of shape {list(out._array.shape)} is "
            f"{out._array.size} which does not match the computed number of elements {array.size}. "
            "Note that this may occur as a result of rounding error. The out tensor will be "
            f"resized to a tensor of shape ({array.size},)."
        )
    with no_grad():
        fit(out, array.shape, told=False)
        out._array[...] = array
        out._bump_version()
    return out


# ------------------------------------------------------------------ tensors of data


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Make a tensor from data; the data are copied.

    Args:
        data: A number, nested sequences of numbers, or an array. Python floats become the default
            dtype, Python integers int64; an array keeps its dtype, and so do NumPy's numbers and
            tensors with one entry within sequences.
        dtype: The type of the entries, if not the one that follows from the data.
        device: The CPU, if any.
        requires_grad: Whether operations on the tensor are recorded.
        pin_memory: False.

    Raises:
        ValueError: If sequences have different lengths.
        RuntimeError: If a gradient is required of a type that is not floating point, or the data
            are neither numbers nor text.
        NotImplementedError: If a gradient is required of complex numbers.
        TypeError: If the data are text.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor(0.5, requires_grad=True)
        tensor(0.5000, requires_grad=True)
    """
    check_place("tensor", device, None, pin_memory)
    wanted = None if dtype is None else dtypes.asked("tensor", dtype)
    if isinstance(data, Tensor):
        data = array_of_tensor(data, "torch.tensor")
    return finish(copied(data, wanted), requires_grad)


def array_of_tensor(data: Tensor, caller: str) -> Any:
    """Give the array of a tensor, and say that there are better ways to copy one."""
    warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
        ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
        f"{caller}(sourceTensor)."
    )
    return data._array


def copied(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array of data, with a memory of its own."""
    if not isinstance(data, (np.ndarray, np.generic)):
        return array_of(data, dtype)
    array = np.asanyarray(data)
    _check_array(array)
    if dtype is None or dtype == array.dtype:
        return array.copy(order="K")
    if isinstance(data, np.generic):
        return array_of([data], dtype).reshape(())
    if array.dtype.kind == "c" and dtype.kind in "iuf":
        warn("Casting complex values to real discards the imaginary part")
        array = array.real
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _check_array(array: Any) -> None:
    """Raise if tensors cannot have the memory of an array."""
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion "
            "between byte orders is currently not supported."
        )
    dtypes.of_array(array)
    if array.dtype.kind == "O" and type(array) is np.ndarray:
        raise TypeError(
            "can't convert np.ndarray of type numpy.object_. The only supported types are: "
            f"{dtypes.PYTORCH_HAS}. minigrad.symbolic.tensor_of makes tensors of symbols."
        )
    for step in array.strides:
        if step < 0:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with "
                "negative strides are not currently supported. (You can probably work around this "
                "by making a copy of your array  with array.copy().) "
            )


def is_tensor(obj: Any, /) -> bool:
    """Tell whether something is a tensor.

    Example:
        >>> import minigrad as torch
        >>> torch.is_tensor(torch.ones(2)), torch.is_tensor(1.0)
        (True, False)
    """
    return isinstance(obj, Tensor)


def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Make a tensor that shares the memory of the data, if it can.

    Args:
        data: A tensor, an array, a number, or nested sequences of numbers.
        dtype: The type of the entries, if not the one that follows from the data.
        device: The CPU, if any.

    Returns:
        The data themselves if they are a tensor of that type; a tensor with the memory of an
        array; else a new tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> torch.as_tensor(x) is x
        True
    """
    check_place("as_tensor", device, None, False)
    if dtype is not None:
        check_dtype("as_tensor", dtype, "dtype", 0)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        return from_numpy(data) if dtype is None else from_numpy(data).to(dtype)
    return finish(copied(data, dtypes.asked("as_tensor", dtype)), False)


def from_numpy(ndarray: np.ndarray[Any, Any], /) -> Tensor:
    """Make a tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: If it is not an array, or tensors have no such dtype.
        ValueError: If the array counts backward in memory, or its bytes are in foreign order.

    Example:
        >>> import minigrad as torch
        >>> array = np.array([1.0, 2.0])
        >>> tensor = torch.from_numpy(array)
        >>> array[0] = 7
        >>> tensor
        tensor([7., 2.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    _check_array(ndarray)
    if not ndarray.flags.writeable:
        warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You may "
            "want to copy the array to protect its data or make it writable before converting it "
            "to a tensor. This type of warning will be suppressed for the rest of this program. "
            "(minigrad refuses to write to it.)"
        )
    return wrap(ndarray)


def array_of(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array of a number or of nested sequences of numbers.

    Args:
        data: Numbers, sequences of them; arrays, and tensors with one entry, may be among them.
        dtype: The type of the array; None if it follows from the data.

    Raises:
        ValueError: If sequences differ in length, or a whole number is too large.
        TypeError: If there are texts among the data, or sequences differ in depth.
        RuntimeError: If there is something else, or a number does not fit into the dtype.
    """
    array = _of_plain_numbers(data, dtype)
    if array is not None:
        return array
    sequences = import_module("minigrad.creation.sequences")  # loaded when it is first needed
    return sequences.array_of_sequences(data, dtype)


@np.errstate(all="ignore")
def _floats(data: Any, dtype: np.dtype[Any]) -> Any:
    return np.array(data, dtype)


def _of_plain_numbers(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array where the data are as usual: floats and ints, alone, in a list or a list of it.

    Returns:
        The array, or None if the data are something else, perhaps wrong.
    """
    kinds: set[Any] = {data.__class__}
    if data.__class__ is list:
        kinds = set(map(type, data))
        if kinds == {list}:
            kinds = set()
            for row in data:
                kinds.update(map(type, row))
    if not kinds or not kinds <= _USUAL_NUMBERS:
        return None
    if dtype is None:
        dtype = dtypes.default.dtype.numpy if float in kinds else np.dtype(np.int64)
    try:
        if dtype.kind == "f":
            return _floats(data, dtype)
        if dtype == np.int64 and float not in kinds:
            return np.array(data, dtype)
    except (OverflowError, ValueError):  # explained by those who look at each entry
        return None
    return None


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
        return dtypes.default.dtype.numpy if default is None else default
    wanted = dtypes.asked(caller, dtype)
    if out is None:
        return wanted
    if not isinstance(out, Tensor):
        raise wrong_type(caller, "out", "Tensor", out)
    own: np.dtype[Any] = out._array.dtype
    if wanted is not None and wanted != own:
        names = [dtypes.scalar_name(np.empty(0, each)) for each in (wanted, own)]
        raise RuntimeError(f"dtype {names[0]} does not match dtype of out parameter ({names[1]})")
    if is_grad_enabled():
        refuse_gradient(f"aten::{caller}", out)
    return own


def check_place(caller: str, device: Any, layout: Any, pin_memory: Any) -> None:
    """Raise if a tensor is wanted anywhere but on the CPU; do next to nothing otherwise."""
    usual = device is None or (device.__class__ is not np.ndarray and device == "cpu")
    if usual and layout is None and pin_memory is False:
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
    if sizes and size is None:
        first = sizes[0]
        alone = first.__class__ is not int and len(sizes) == 1 and isinstance(first, (tuple, list))
        given: tuple[Any, ...] = tuple(first) if alone else sizes
        for each in given:
            if each.__class__ is not int or each >> 63:
                break
        else:
            return given
        places = enumerate(given, 1)
        whole = tuple(_whole(caller, each, position, alone) for position, each in places)
    else:
        whole = sizes_given(caller, "size", sizes, size)
    for each in whole:
        if each < 0:
            raise RuntimeError(
                f"zeros: Dimension size must be non-negative. It is {each} in {list(whole)}."
                if caller == "zeros"
                else f"Trying to create tensor with negative dimension {each}: {list(whole)}"
            )
    return whole


def _whole(caller: str, size: Any, position: int, in_sequence: bool) -> int:
    try:
        return wholes(caller, (size,) if position == 1 else (1, size), "size")[-1]
    except TypeError:
        told = f"{caller}(): argument 'size'"
        if position > 1 or size.__class__ is int:
            told += f' failed to unpack the object at pos {position} with error "type'
            raise TypeError(f'{told} must be tuple of ints,but got {type_name(size)}"') from None
        if in_sequence:
            told += " (position 1) must be tuple of ints, but found element of type"
            raise TypeError(f"{told} {type_name(size)} at pos 0") from None
        raise wrong_type(caller, "size", "tuple of ints", size, 1) from None


def sequence_of_sizes(size: Any, caller: str) -> tuple[int, ...]:
    """Take sizes that must stand in one sequence.

    Raises:
        TypeError: If they do not, or one is no whole number.
        RuntimeError: If one is negative.
    """
    if not isinstance(size, (tuple, list)):
        raise wrong_type(caller, "size", "tuple of ints", size, 1)
    return shape_of((size,), None, caller)


# ------------------------------------------------------------------ a number among others


def real_number(value: Any, dtype: np.dtype[Any]) -> Any:
    """Give a number that takes a place among real ones: a complex number as a real one.

    Args:
        value: A number.
        dtype: The type of the numbers that it comes among; complex ones take any.

    Raises:
        RuntimeError: If it has an imaginary part, or is finite and too large to be of that type.
    """
    if dtype.kind in "iuf" and isinstance(value, (complex, np.complexfloating)):
        if value.imag:
            raise RuntimeError(
                f"{_overflow(dtype)} It is {value}, and its imaginary part would be lost."
            )
        value = value.real
    if isinstance(value, (int, float)) and _MOST.get(dtype.char, np.inf) < abs(value) < np.inf:
        raise RuntimeError(_overflow(dtype))
    return value


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
    usual = value.__class__ in _USUAL_NUMBERS and -(2.0**63) < value < 2.0**63
    value = real_number(value if usual else number(value, "fill_", "value", 0), dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        smallest = limits.min or (0 if isinstance(value, float) else -limits.max)
        if not smallest <= value <= limits.max:  # nor is NaN
            raise RuntimeError(_overflow(dtype))
        return np.asarray(int(value)).astype(dtype)
    return np.asarray(value).astype(dtype)
