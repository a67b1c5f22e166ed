"""Make tensors from data, and of arrays; check what every function that makes one is given.

The data are numbers, nested sequences of them, NumPy's arrays, other tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.messages import can_require_grad, only_floats, type_name, warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.signatures.arguments import check_dtype, check_tensor, number, plain, sizes_given
from minigrad.signatures.faults import explained_call
from minigrad.signatures.out import shows

__all__ = ["as_tensor", "empty", "from_numpy", "is_tensor", "tensor"]

Array = np.ndarray[Any, Any]
# Gives the dtype that was asked for; a function that makes an array says what it is otherwise.
DtypeChoice = Callable[..., "np.dtype[Any]"]

_USUAL: dict[str, Any] = dict.fromkeys(("dtype", "layout", "device"))
_USUAL |= {"pin_memory": False, "requires_grad": False}
_USUAL_NUMBERS: frozenset[Any] = frozenset((int, float))
_NUMBERS: frozenset[Any] = frozenset((int, float, bool, complex))
_BOOL = np.dtype("bool")
_SYMBOLS = "The entries must be numbers; minigrad.symbolic.tensor_of makes tensors of symbols."
_MOST = {kind: float(np.finfo(kind).max) for kind in "efd"}  # what each type holds at most


def factory(function: Callable[..., Array]) -> Callable[..., Any]:
    """Let a function that makes an array make a tensor, and take what all such functions take.

    Args:
        function: Makes an array. `dtype_or(default)` gives it the dtype that was asked for, else
            the default, which is that of new tensors if it is left out.

    Returns:
        The function, which also takes `dtype`, `layout`, `device`, `pin_memory` and
        `requires_grad`.
    """
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
        check_place(device, layout, pin_memory)
        dtype_or = functools.partial(dtype_for, name, dtype)
        try:
            array: Any = make(*arguments, dtype_or=dtype_or, **own)
        except Exception as error:
            explained_call(error, name, make, arguments, own)
            raise
        return finish(array, requires_grad)

    return shows(call, _USUAL, dtype_or="")


def like(function: Callable[..., Array]) -> Callable[..., Any]:
    """Let a function that fills an array make a tensor in the shape and type of another.

    Its first argument is a new array, instead of the tensor `input` that is given; the others
    are those of `factory`, and `memory_format`.
    """

    @functools.wraps(function)
    def fill(
        input: Any, *arguments: Any, dtype_or: DtypeChoice, memory_format: Any = None, **own: Any
    ) -> Array:
        check_tensor(function.__name__, input)
        in_order = memory_format is not None and _devices().wants_contiguous(memory_format)
        order: Any = "C" if in_order else "K"
        new = np.empty_like(input._array, dtype_or(input._array.dtype), order)
        return function(new, *arguments, **own)

    return factory(shows(fill, {"memory_format": None}, new="input"))


@factory
def empty(*sizes: Any, size: Any = None, dtype_or: DtypeChoice) -> Array:
    """Make a tensor whose entries are not set.

    Example:
        >>> import minigrad as torch
        >>> torch.empty(2, 3).shape
        torch.Size([2, 3])
    """
    return np.empty(shape_of(sizes, size, "empty"), dtype_or())


# ------------------------------------------------------------------ tensors of arrays


def finish(array: Any, requires_grad: Any) -> Tensor:
    """Make a tensor of an array, which may require a gradient.

    Raises:
        TypeError: If `requires_grad` is no bool.
        RuntimeError: If a gradient is required of a type that is not floating point.
        NotImplementedError: If a gradient is required of complex numbers.
    """
    tensor: Tensor = array if isinstance(array, Tensor) else wrap(array)
    if requires_grad:
        if not can_require_grad(tensor._array.dtype):
            raise only_floats()
        tensor._edge = None
    return tensor


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
    check_place(device, None, pin_memory)
    asked = None if dtype is None else dtypes.asked("tensor", dtype)
    if isinstance(data, Tensor):
        data = array_of_tensor(data, "torch.tensor")
    return finish(copied(data, asked), requires_grad)


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
    if array.dtype.isnative:
        dtypes.of_array(array)
    if array.dtype.kind == "O" and type(array) is np.ndarray:
        raise TypeError(f"an array of Python objects holds no numbers. {_SYMBOLS}")
    if not array.dtype.isnative or any(step < 0 for step in array.strides):
        raise ValueError("copy it first: the memory counts backward, or is in foreign byte order")


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
    check_place(device, None, False)
    if dtype is not None:
        check_dtype("as_tensor", dtype, "dtype")
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
        warn("The given NumPy array is not writable: copy it first to change the tensor.")
    return wrap(ndarray)


def array_of(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array of a number or of nested sequences of numbers.

    Args:
        data: Numbers, sequences of them; arrays, and tensors with one entry, may be among them.
        dtype: The type of the array; None if it follows from the data.

    Raises:
        ValueError: If sequences differ in length.
        TypeError: If they differ in depth, or there are texts among the data, or complex numbers
            that would become real.
        RuntimeError: If there is something else, or a number does not fit into the dtype.
    """
    kinds: set[np.dtype[Any]] = set()
    entries = _entries(data, kinds)
    if dtype is None:
        dtype = functools.reduce(dtypes.promote, sorted(kinds, key=str))
    try:
        array = np.array(entries)
    except ValueError:
        raise ValueError("nested sequences of one depth must have one length") from None
    return _converted(array, dtype)


def _entries(data: Any, kinds: set[np.dtype[Any]]) -> Any:
    """Give nested sequences as lists of numbers; note the dtypes of what is in them.

    A tensor with one entry counts as a number, whatever its shape, and warns if it requires a
    gradient: the new tensor will have no graph.
    """
    if isinstance(data, (np.ndarray, np.generic)):
        kinds.add(dtypes.of_array(data).numpy)
        return data
    if isinstance(data, Tensor):
        kinds.add(data._array.dtype)
        return data._single("number")
    kind = type(data)
    if kind in _NUMBERS:
        kinds.add(dtypes.scalar_dtype(data, _BOOL))
        return data
    is_text = isinstance(data, (str, bytes))
    if (
        hasattr(kind, "__getitem__")
        and hasattr(kind, "__len__")
        and not (is_text or isinstance(data, dict))
    ):
        entries = [data[place] for place in range(len(data))]
        if (flat := set(map(type, entries))) <= _NUMBERS:
            kinds.update(dtypes.scalar_dtype(each(), _BOOL) for each in flat or {float})
            return entries
        if flat & _NUMBERS and flat & {list, tuple}:
            raise TypeError("the nested sequences have different depths")
        return [_entries(each, kinds) for each in entries]
    if isinstance(data, (int, float, complex)):  # of a subclass
        return _entries(plain(data), kinds)
    refused: type[Exception] = TypeError if is_text else RuntimeError
    raise refused(f"a {type_name(data)} is no number, nor a sequence of numbers. {_SYMBOLS}")


def _converted(array: Any, dtype: np.dtype[Any]) -> Any:
    """Convert numbers that were given one by one.

    Raises:
        TypeError: If there are complex numbers that would have to become real.
        RuntimeError: If a number does not fit.
    """
    kind = array.dtype.kind
    if kind == "c" and dtype.kind in "iuf":
        raise TypeError(f"complex numbers cannot become entries of a tensor of {dtype}")
    with np.errstate(all="ignore"):
        if dtype.kind in "iu" and kind in "iufO" and array.dtype != dtype:
            limits = np.iinfo(dtype)
            least = limits.min or -limits.max  # a negative number counts from the largest down
            if not ((array >= least) & (array <= limits.max)).all():  # NaN does not fit
                raise RuntimeError(_overflow(dtype))
        return array.astype(dtype)


# ------------------------------------------------------------------ types and places


def dtype_for(caller: str, dtype: Any, default: np.dtype[Any] | None = None) -> np.dtype[Any]:
    """Give the dtype in which a new tensor is made: the one asked for, or else the default.

    Args:
        caller: The name of the function that makes it.
        dtype: The dtype that was asked for, or None.
        default: The dtype otherwise; None for the one that `set_default_dtype` set.
    """
    if dtype is None:
        return dtypes.default.dtype.numpy if default is None else default
    asked: np.dtype[Any] = dtypes.asked(caller, dtype)
    return asked


def check_place(device: Any, layout: Any, pin_memory: Any) -> None:
    """Raise if a tensor is asked for anywhere but on the CPU; do next to nothing otherwise."""
    usual = device is None or (device.__class__ is not np.ndarray and device == "cpu")
    if usual and layout is None and pin_memory is False:
        return
    _devices().refuse_other_places(device)
    _devices().refuse_other_layouts(layout, pin_memory)


def _devices() -> Any:
    """Give the file that knows of places, which is loaded when it is first needed."""
    return import_module("minigrad.creation.devices")


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
    whole = sizes_given(caller, "size", sizes, size)
    if any(each < 0 for each in whole):
        raise RuntimeError(f"{caller}(): sizes must not be negative, got {list(whole)}")
    return whole


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
            raise RuntimeError(f"{_overflow(dtype)}: the imaginary part of {value} would be lost")
        value = value.real
    if isinstance(value, (int, float)) and _MOST.get(dtype.char, np.inf) < abs(value) < np.inf:
        raise RuntimeError(_overflow(dtype))
    return value


def _overflow(dtype: np.dtype[Any]) -> str:
    return f"value cannot be converted to type {dtype.name} without overflow"


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
    value = real_number(value if usual else number(value, "fill_", "value", 0, "Scalar"), dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not (limits.min or -limits.max) <= value <= limits.max:  # nor is NaN
            raise RuntimeError(_overflow(dtype))
        return np.asarray(int(value)).astype(dtype)
    return np.asarray(value).astype(dtype)
