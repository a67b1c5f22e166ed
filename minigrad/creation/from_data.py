"""Make tensors from data: numbers, nested sequences of them, NumPy's arrays, other tensors."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import DtypeChoice, check_place, factory, finish

__all__ = ["as_tensor", "from_numpy", "is_tensor", "tensor"]

_NUMBERS = frozenset((int, float, bool, complex))
_USUAL = frozenset((int, float))
_SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)
_SYMBOLS = "The entries must be numbers; minigrad.symbolic.tensor_of makes tensors of symbols."


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
    wanted = None if dtype is None else dtypes.asked("tensor", dtype, dtypes.float32)
    if isinstance(data, Tensor):
        data = _copied_tensor(data, "torch.tensor", stacklevel=3)
    return finish(copied(data, wanted), requires_grad)


def _copied_tensor(data: Tensor, caller: str, stacklevel: int) -> Any:
    """Give the array of a tensor, and say that there are better ways to copy one."""
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach()"
        ".clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
        f"{caller}(sourceTensor).",
        UserWarning,
        stacklevel=stacklevel,
    )
    return data._array


@factory(out=False)
def new_tensor(self: Tensor, data: Any, *, dtype_or: DtypeChoice) -> Any:
    """Make a tensor from data, of this tensor's type unless another is given."""
    if isinstance(data, Tensor):
        data = _copied_tensor(data, "tensor.new_tensor", stacklevel=4)
    return copied(data, dtype_or(self._array.dtype))


def copied(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array of data, with a memory of its own."""
    if not isinstance(data, (np.ndarray, np.generic)):
        return array_of(data, dtype)
    array = np.asanyarray(data)
    _check_array(array)
    if dtype is None or dtype == array.dtype:
        return array.copy(order="K")
    if isinstance(data, np.generic):
        return array_of(data.item(), dtype)
    if array.dtype.kind == "c" and dtype.kind in "iuf":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4
        )
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
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
            "uint32, uint16, uint8, and bool. minigrad.symbolic.tensor_of makes tensors of symbols."
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
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        return from_numpy(data) if dtype is None else from_numpy(data).to(dtype)
    wanted = None if dtype is None else dtypes.asked("as_tensor", dtype, dtypes.float32)
    return finish(copied(data, wanted), False)


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
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You may "
            "want to copy the array to protect its data or make it writable before converting it "
            "to a tensor. This type of warning will be suppressed for the rest of this program. "
            "(minigrad refuses to write to it.)",
            UserWarning,
            stacklevel=2,
        )
    return wrap(ndarray)


methods: dict[str, Any] = {"new_tensor": new_tensor}

# ------------------------------------------------------------------ nested sequences


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
    sizes = _sizes(data)
    kinds: set[Any] = set()
    entries = _plain(data, kinds)
    if dtype is None:
        dtype = _meeting(kinds)
    if 0 in sizes:
        return np.empty(sizes, dtype)
    try:
        array = np.array(entries)
    except ValueError:
        _refuse_ragged(entries, dtype)
        raise
    if array.dtype.kind not in "biufc" or array.dtype == np.uint64:
        _refuse_entries(array.ravel().tolist(), dtype)
    return _converted(array, dtype)


@np.errstate(all="ignore")
def _floats(data: Any, dtype: np.dtype[Any]) -> Any:
    return np.array(data, dtype)


def _of_plain_numbers(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Make an array where the data are as usual: floats and ints, alone, in a list or a list of it.

    Returns:
        The array, or None if the data are something else, perhaps wrong.
    """
    kind = data.__class__
    kinds: set[Any]
    if kind is float or kind is int:
        kinds = {kind}
    elif kind is list and data:
        kinds = set(map(type, data))
        if kinds == {list}:
            kinds = set()
            for row in data:
                kinds.update(map(type, row))
    else:
        return None
    if not kinds or not kinds <= _USUAL:
        return None
    if dtype is None:
        dtype = dtypes.get_default_dtype().numpy if float in kinds else np.dtype(np.int64)
    try:
        if dtype.kind == "f":
            return _floats(data, dtype)
        if dtype == np.int64 and float not in kinds:
            return np.array(data, dtype)
    except (OverflowError, ValueError):  # explained by those who look at each entry
        return None
    return None


def _is_sequence(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return True
    if isinstance(data, np.ndarray):
        return data.ndim > 0
    return hasattr(data, "__getitem__") and hasattr(data, "__len__") and not _is_odd(data)


def _is_odd(data: Any) -> bool:
    return isinstance(data, (dict, str, bytes, Tensor, np.generic, np.ndarray))


def _sizes(data: Any) -> tuple[int, ...]:
    """Give the lengths of the first sequences at each depth."""
    sizes: list[int] = []
    while not isinstance(data, (int, float)):
        if isinstance(data, np.ndarray) and not data.ndim:
            raise TypeError("len() of unsized object")
        if isinstance(data, str) and sizes:
            raise ValueError(f"too many dimensions 'str'. {_SYMBOLS}")
        if isinstance(data, np.ndarray):
            return (*sizes, *data.shape)
        if not _is_sequence(data):
            break
        sizes.append(len(data))
        if not sizes[-1]:
            break
        data = _entry(data, 0)
    return tuple(sizes)


def _entry(data: Any, place: int) -> Any:
    """Take an entry out of a sequence."""
    try:
        return data[place]
    except (KeyError, IndexError):
        raise ValueError(
            f"could not determine the shape of object type '{type(data).__name__}'"
        ) from None


def _plain(data: Any, kinds: set[Any]) -> Any:
    """Replace tensors within nested sequences by their values, and other sequences by lists.

    A tensor with one entry counts as a number, whatever its shape, and warns if it requires a
    gradient: the new tensor will have no graph.

    Args:
        data: Sequences of numbers, arrays and tensors.
        kinds: Gets the types of the entries: classes of Python, and dtypes of NumPy.
    """
    kind = data.__class__
    if kind in _NUMBERS:
        kinds.add(kind)
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        kinds.add(data.dtype)
        return data
    if isinstance(data, Tensor):
        array = data._array
        kinds.add(array.dtype)
        if array.size != 1 and array.dtype.kind in "iub":
            raise TypeError(
                "only integer tensors of a single element can be converted to an index. Use "
                "stack() to make one tensor of several."
            )
        return data._single("number")
    if not _is_sequence(data):
        kinds.add(kind)
        return data
    if kind is not list and kind is not tuple:
        data = [_entry(data, place) for place in range(len(data))]
    flat = set(map(type, data))
    if flat <= _NUMBERS:
        kinds |= flat or {None}
        return data
    if isinstance(data[0], np.ndarray):
        warnings.warn(_SLOW, UserWarning, stacklevel=5)
    return [_plain(each, kinds) for each in data]


def _meeting(kinds: set[Any]) -> np.dtype[Any]:
    """Give the dtype in which numbers of several types meet.

    Raises:
        TypeError: If there is a text among them.
        RuntimeError: If there is something else.
    """
    own = {bool: True, int: 0, float: 0.5, complex: 1j, None: 0.5}  # None: an empty sequence
    found: set[np.dtype[Any]] = set()
    for kind in sorted(kinds, key=str):
        if kind in own:
            found.add(dtypes.scalar_dtype(own[kind], np.dtype("bool")))
        elif isinstance(kind, np.dtype):
            found.add(dtypes.of_array(np.empty(0, kind)).numpy)
        elif issubclass(kind, (int, float, complex)):
            base = next(base for base in (int, float, complex) if issubclass(kind, base))
            found.add(dtypes.scalar_dtype(own[base], np.dtype("bool")))
        elif issubclass(kind, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{kind.__name__}'. {_SYMBOLS}")
        else:
            raise RuntimeError(f"Could not infer dtype of {kind.__name__}. {_SYMBOLS}")
    return functools.reduce(dtypes.promote, sorted(found, key=str))


def _not_a_number(value: Any, dtype: np.dtype[Any]) -> str:
    """Say that something cannot be an entry of a type."""
    kind = type(value).__name__
    if dtype.kind in "iu":
        return f"'{kind}' object cannot be interpreted as an integer"
    return f"must be real number, not {kind}"


def _refuse_entries(entries: list[Any], dtype: np.dtype[Any]) -> None:
    """Raise PyTorch's error if there is no number, or too large a one, among the entries."""
    for entry in entries:
        if not isinstance(entry, (int, float, complex)):
            raise TypeError(f"{_not_a_number(entry, dtype)}. {_SYMBOLS}")
        if dtype.kind in "iu" and isinstance(entry, int) and not -(2**63) <= entry < 2**63:
            raise ValueError("Overflow when unpacking long long")


def _converted(array: Any, dtype: np.dtype[Any]) -> Any:
    """Convert numbers that were given one by one.

    Raises:
        TypeError: If there are complex numbers that would have to become real.
        RuntimeError: If a number does not fit.
    """
    if array.dtype == dtype:
        return array
    kind = array.dtype.kind
    if dtype.kind in "iuf" and kind == "c":
        raise TypeError(_not_a_number(1j, dtype))
    if dtype.kind in "iu" and kind in "iufO":
        limits = np.iinfo(dtype)
        least = limits.min or -limits.max  # a negative number counts from the largest down
        with np.errstate(all="ignore"):
            fits = ((array >= least) & (array <= limits.max)).all()  # NaN does not
        if not fits:
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _refuse_ragged(data: Any, dtype: np.dtype[Any]) -> None:
    """Raise PyTorch's error where nested sequences differ in length or in depth.

    Raises:
        ValueError: If they differ in length.
        TypeError: If some are nested more deeply than others.
    """
    sizes, first = [], data
    while _is_sequence(first):
        sizes.append(len(first))
        first = first[0] if len(first) else None
    level = [data]
    for depth, size in enumerate(sizes):
        for each in level:
            if not _is_sequence(each):
                raise TypeError("not a sequence: the nested lists have different depths")
            if len(each) != size:
                raise ValueError(
                    f"expected sequence of length {size} at dim {depth} (got {len(each)}). All "
                    "lists of one depth must have one length."
                )
        level = [inner for each in level for inner in each]
    for each in filter(_is_sequence, level):
        raise TypeError(f"{_not_a_number(each, dtype)}: the nested lists have different depths")
