"""Take nested sequences of numbers and tensors for an array, and say what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.tensor import Tensor


def without_tensors(data: Any) -> Any:
    """Replace tensors within nested sequences by their values."""
    if isinstance(data, Tensor):
        return data._array
    if isinstance(data, (list, tuple)):
        return [without_tensors(each) for each in data]
    return data


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
