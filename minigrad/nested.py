"""Take nested sequences of numbers and tensors for an array, and say what is wrong with them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.tensor import Tensor


def without_tensors(data: Any, found: set[np.dtype[Any]]) -> Any:
    """Replace tensors within nested sequences by their values.

    A tensor with one entry counts as a number, whatever its shape, and warns if it requires a
    gradient: the new tensor will have no graph.

    Args:
        data: Sequences of numbers, arrays and tensors.
        found: Gets the dtypes of the tensors, arrays and NumPy scalars.

    Raises:
        ValueError: If a tensor of floating-point numbers has not one entry.
        TypeError: If a tensor of integers has not one entry.
    """
    kind = data.__class__
    if kind is float or kind is int:
        return data
    if isinstance(data, (list, tuple)):
        return [without_tensors(each, found) for each in data]
    if isinstance(data, (np.ndarray, np.generic)):
        found.add(data.dtype)
    elif isinstance(data, Tensor):
        array = data._array
        found.add(array.dtype)
        if array.dtype.kind == "O":
            return array
        if array.size != 1 and array.dtype.kind in "iub":
            raise TypeError(
                "only integer tensors of a single element can be converted to an index. Use "
                "stack() to make one tensor of several."
            )
        return data._single("number")
    return data


def dtype_of_numbers(data: Any, found: set[np.dtype[Any]]) -> np.dtype[Any]:
    """Give the dtype in which the entries of nested sequences meet.

    Args:
        data: Sequences of numbers, arrays and tensors.
        found: The dtypes of those that have one.
    """
    kinds = set(found)
    level = [data]
    while level:
        for each in level:
            if isinstance(each, (bool, int, float, complex)) and not isinstance(each, np.generic):
                kinds.add(dtypes.scalar_dtype(each, np.dtype("bool")))
        level = [inner for each in level if isinstance(each, (list, tuple)) for inner in each]
    return functools.reduce(dtypes.promote, sorted(kinds, key=str))


def _is_sequence(data: Any) -> bool:
    return isinstance(data, (list, tuple)) or (isinstance(data, np.ndarray) and data.ndim > 0)


def refuse_ragged(data: Any) -> None:
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
        kind = type(each).__name__
        what = (
            f"'{kind}' object cannot be interpreted as an integer"
            if isinstance(first, int)
            else f"must be real number, not {kind}"
        )
        raise TypeError(f"{what}: the nested lists have different depths")
