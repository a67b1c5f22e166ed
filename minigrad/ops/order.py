"""Find the positions of entries by their rank: all in order, the largest few, the middle one.

NaN counts as the largest, as in PyTorch. Which of several equal entries is found PyTorch leaves
open; in rows that are not too long it is the same one here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad.ops import selection
from minigrad.ops.parts import _along

Array = Any
LONGEST = 4096  # rows up to this length are searched with PyTorch's steps if entries are equal


def argsort(array: Array, dim: int, descending: bool = False) -> Array:
    """Give the positions of entries along a dimension in their order, equal ones as they were."""
    if not array.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, axis=dim, kind="stable")
    last = array.shape[dim] - 1
    turned = (slice(None),) * (dim % array.ndim) + (slice(None, None, -1),)
    return last - np.argsort(array[turned], axis=dim, kind="stable")[turned]


def _part(array: Array, dim: int, start: int, end: int) -> Array:
    return array[(slice(None),) * dim + (slice(start, end),)]


def _same(first: Array, second: Array) -> Array:
    """Tell where entries are equal, or both NaN."""
    return (first == second) | ((first != first) & (second != second))


def _rows(chosen: Array, array: Array, found: Array, dim: int) -> Iterator[tuple[Any, Any]]:
    """Give the chosen rows along a dimension, as lists, and what was found for them, to correct."""
    if not chosen.any():
        return
    array, found = np.moveaxis(array, dim, -1), np.moveaxis(found, dim, -1)
    for place in map(tuple, np.argwhere(np.moveaxis(chosen, dim, -1)[..., 0]).tolist()):
        yield array[place].tolist(), found[place]


def _smaller(row: Any) -> Callable[[int, int], bool]:
    return lambda i, j: row[i] < row[j] or (row[i] == row[i] and row[j] != row[j])


def _larger(row: Any) -> Callable[[int, int], bool]:
    return lambda i, j: row[i] > row[j] or (row[i] != row[i] and row[j] == row[j])


def extremes(array: Array, dim: int, number: int, largest: bool) -> Array:
    """Give the positions of the largest or smallest entries along a dimension, in order."""
    if not array.ndim:
        return np.zeros((), np.int64)
    size = array.shape[dim]
    ordered = _first_few(array, dim, number + 1, largest)
    if ordered is None:
        ordered = _part(argsort(array, dim, largest), dim, 0, number + 1)
    positions = np.ascontiguousarray(_part(ordered, dim, 0, number))
    if not number or size > LONGEST or not array.size:
        return positions
    entries = array[_along(dim, ordered)]
    last = ordered.shape[dim]
    equal = _same(_part(entries, dim, 0, last - 1), _part(entries, dim, 1, last))
    for row, found in _rows(equal.any(dim, keepdims=True), array, positions, dim):
        before, order = (_larger if largest else _smaller)(row), list(range(size))
        if number * 64 <= size:
            selection.partial_sort(order, before, number)
        else:
            selection.select(order, before, number - 1)
            selection.sort(order, before, number - 1)
        found[...] = order[:number]
    return positions


def _first_few(array: Array, dim: int, number: int, largest: bool) -> Array | None:
    """Find the largest or smallest one after the other; None if there is a quicker way."""
    if array.dtype.kind != "f" or number > 16 or array.shape[dim] < 8 * number:
        return None
    find, least = (np.argmax, -np.inf) if largest else (np.argmin, np.inf)
    rest, places = array.copy(), []
    for _ in range(number):
        place = np.expand_dims(find(rest, axis=dim), dim)
        places.append(place)
        np.put_along_axis(rest, place, least, dim)
    positions = np.concatenate(places, dim)
    # what was taken can't be told from an infinite entry, and NaN is found first of all
    return positions if np.isfinite(np.take_along_axis(array, positions, dim)).all() else None


def _of_rank(array: Array, dim: int, rank: Array) -> Array:
    """Give the position of the entry of a rank; equal ones keep their order."""
    if not array.ndim:
        return np.zeros((), np.int64)
    positions = np.argsort(array, axis=dim, kind="stable")
    sizes = tuple(1 if d == dim else size for d, size in enumerate(array.shape))
    return np.take_along_axis(positions, np.broadcast_to(rank, sizes), dim)


def kth(array: Array, dim: int, rank: int) -> Array:
    """Give the position of the entry of a rank, counted from 0, along a dimension."""
    found = _of_rank(array, dim, rank)
    if not array.ndim or array.shape[dim] > LONGEST:
        return found
    equal = _same(array, np.take_along_axis(array, found, dim))
    several = np.add.reduce(equal, axis=dim, keepdims=True) > 1
    for row, answer in _rows(several, array, found, dim):
        order = list(range(len(row)))
        selection.quick_select(order, _larger(row), rank)
        answer[0] = order[rank]
    return found


def middle(array: Array, dim: int, skips_nan: bool) -> Array:
    """Give the position of the median along a dimension; of the first NaN, if there is one.

    Args:
        array: The entries.
        dim: The dimension.
        skips_nan: Whether NaN does not count.
    """
    if not array.ndim:
        return np.zeros((), np.int64)

    size = array.shape[dim]
    missing = array != array
    if not skips_nan:
        found = _of_rank(array, dim, (size - 1) // 2)
        any_missing = np.logical_or.reduce(missing, axis=dim, keepdims=True)
        return np.where(any_missing, np.argmax(missing, axis=dim, keepdims=True), found)
    present = size - np.add.reduce(missing, axis=dim, keepdims=True, dtype=np.int64)
    found = _of_rank(array, dim, np.maximum(present - 1, 0) // 2)
    if present.all() or size > LONGEST:
        return found
    order = list(range(size))  # of nothing but NaN any would do: PyTorch finds this one
    selection.select(order, lambda i, j: False, 0)
    return np.where(present == 0, order[0], found)


def most_frequent(array: Array, dim: int) -> Array:
    """Give the last position of the most frequent entry along a dimension."""
    if not array.ndim:
        return np.zeros((), np.int64)
    size = array.shape[dim]
    positions = np.argsort(array, axis=dim, kind="stable")
    missing = np.logical_or.reduce(array != array, axis=dim, keepdims=True)
    chosen = missing if size <= 16 else np.ones_like(missing)
    if size <= LONGEST:
        for row, found in _rows(chosen, array, positions, dim):
            order = list(range(size))
            selection.sort(order, lambda i, j, row=row: row[i] < row[j], size)  # type: ignore[misc]
            found[...] = order
    entries = np.moveaxis(np.take_along_axis(array, positions, dim), dim, -1)
    places = np.arange(size)
    starts = np.ones(entries.shape, bool)
    starts[..., 1:] = entries[..., 1:] != entries[..., :-1]
    # how many equal ones came before; where that is most, the most frequent one ends
    run = places - np.maximum.accumulate(np.where(starts, places, 0), axis=-1)
    end = np.expand_dims(np.argmax(run, axis=-1), -1)
    return np.take_along_axis(positions, np.moveaxis(end, -1, dim), dim)
