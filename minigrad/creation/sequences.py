"""Make an array of any nested sequences: of truth values, NumPy's numbers, arrays, tensors.

What is usual, floats and whole numbers in lists, `construction` does by itself.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes

_NUMBERS = frozenset((int, float, bool, complex))
_SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)
_SYMBOLS = "The entries must be numbers; minigrad.symbolic.tensor_of makes tensors of symbols."


def array_of_sequences(data: Any, dtype: np.dtype[Any] | None) -> Any:
    """Do what `construction.array_of` does, for data that are not nested plain numbers."""
    sizes = _sizes(data)
    kinds: set[Any] = set()
    entries = _plain(data, kinds)
    if dtype is None:
        dtype = _meeting(kinds)
    if dtype.kind in "iub":
        _refuse_kinds(kinds, dtype)
    if 0 in sizes:
        return np.empty(sizes, dtype)
    try:
        array = np.array(entries)
    except ValueError:
        _refuse_ragged(entries, sizes, dtype)
        raise
    # NumPy makes floats of whole numbers that go into no integer together
    floats_of_integers = array.dtype.kind == "f" and dtype.kind in "iu"
    if array.dtype.kind not in "biufc" or array.dtype == np.uint64 or floats_of_integers:
        _refuse_entries(np.array(entries, object).ravel().tolist(), dtype)
    return _converted(array, dtype)


def _is_sequence(data: Any) -> bool:
    odd = isinstance(data, (dict, str, bytes, Tensor)) or getattr(data, "ndim", 1) == 0
    return hasattr(type(data), "__getitem__") and hasattr(type(data), "__len__") and not odd


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
        kinds: Gets the types of the entries: classes of Python, and dtypes; NumPy's dtypes are
            those of its own numbers and arrays.
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
        kinds.add(data.dtype)
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
        warn(_SLOW)
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
        elif isinstance(kind, dtypes.dtype):
            found.add(kind.numpy)
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


def _refuse_kinds(kinds: set[Any], dtype: np.dtype[Any]) -> None:
    """Raise PyTorch's error if there are entries that are taken for no integer.

    NumPy's float64 is one of Python's floats, which are cut off.
    """
    for kind in kinds:
        if isinstance(kind, dtypes.dtype) and kind.numpy.kind in "fc":
            raise TypeError(
                "only integer tensors of a single element can be converted to an index. Convert "
                "the tensors with long()."
            )
        if isinstance(kind, np.dtype) and kind.char in "efF?" and kind != dtype:
            raise TypeError(f"'numpy.{kind.name}' object cannot be interpreted as an integer")


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
        # a negative whole number counts from the largest down
        least = limits.min or (0 if kind == "f" else -limits.max)
        with np.errstate(all="ignore"):
            fits = ((array >= least) & (array <= limits.max)).all()  # NaN does not
        if not fits:
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _refuse_ragged(data: Any, sizes: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise PyTorch's error where nested sequences differ in length or in depth.

    Raises:
        ValueError: If they differ in length.
        TypeError: If some are nested more deeply than others.
    """
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
