"""The derivatives of taking parts of a tensor: select, slice, index, gather, and their reverses.

The reverse of taking a part is to put a gradient into zeros, at the place that was taken. It is an
operation with a rule of its own, which takes that part of the next gradient.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied, quietly
from minigrad.ops.tape import Array, differentiable


def _zeros(like: Any, shape: tuple[int, ...]) -> Any:
    """Give zeros of the same kind of array: numbers or symbols."""
    if type(like) is np.ndarray:
        return np.zeros(shape, like.dtype)
    return np.zeros_like(like, shape=shape)


# ---------------------------------------------------------------------- one entry, a range


def _at(dim: int, index: int) -> tuple[Any, ...]:
    return (slice(None),) * dim + (index, ...)


def _between(dim: int, start: int, end: int, step: int) -> tuple[Any, ...]:
    return (slice(None),) * dim + (slice(start, end, step),)


@differentiable(
    "SelectBackwardBackward0",
    grad_output=lambda grad, dim, index: applied(select, grad, dim, index),
)
def select_backward(grad_output: Array, self_sym_sizes: Any, dim: Any, index: int) -> Array:
    """Rule of select: zeros, and the gradient where the entry was."""
    whole = _zeros(grad_output, self_sym_sizes)
    whole[_at(dim, index)] = grad_output
    return whole


@differentiable("SelectBackward0", view=True, self=select_backward)
def select(self: Array, dim: Any, index: int) -> Array:
    """One entry along a dimension: the rest of the input gets no gradient."""
    return self[_at(dim, index)]


@differentiable(
    "SliceBackwardBackward0",
    grad_output=lambda grad, dim, start, end, step: applied(slice_dim, grad, dim, start, end, step),
)
def slice_backward(
    grad_output: Array, self_sym_sizes: Any, dim: Any, start: int, end: int, step: int
) -> Array:
    """Rule of slice: zeros, and the gradient where the range was."""
    whole = _zeros(grad_output, self_sym_sizes)
    whole[_between(dim, start, end, step)] = grad_output
    return whole


@differentiable("SliceBackward0", view=True, self=slice_backward)
def slice_dim(self: Array, dim: Any, start: int, end: int, step: int) -> Array:
    """A range along a dimension: the rest of the input gets no gradient."""
    return self[_between(dim, start, end, step)]


# ---------------------------------------------------------------------- index arrays and masks


@differentiable(
    "IndexPutImplBackward0",
    self=lambda grad: grad,
    values=lambda grad, indices: applied(index, grad, indices),
)
def index_add(self: Array, values: Array, indices: Any) -> Array:
    """Values added at indices: an entry that is named twice collects both."""
    whole = self.copy()
    kinds = [i.dtype.kind if isinstance(i, np.ndarray) else "" for i in indices]
    if kinds == ["i"]:
        add_rows(whole, indices[0], values)
    elif kinds == ["b"]:
        whole[indices] += values  # under a mask no entry is named twice
    else:
        np.add.at(whole, indices, values)
    return whole


def add_rows(whole: Any, positions: Any, values: Any) -> None:
    """Add values to the listed entries along the first dimension, in place, in their order.

    `np.add.at` does it, but slowly if the entries are rows. So first all rows get their first
    value, then those that are listed again their second one, and so on.
    """
    if positions.size < 16 or whole.ndim == 1:
        np.add.at(whole, positions, values)
        return
    values = np.broadcast_to(values, (*positions.shape, *whole.shape[1:]))
    values = values.reshape(-1, *whole.shape[1:])
    positions = positions.reshape(-1) % len(whole)
    order = np.argsort(positions, kind="stable")
    ordered, places = positions[order], np.arange(positions.size)
    is_first = np.ones(places.shape, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    turns = places - np.maximum.accumulate(places * is_first)
    by_turn = np.argsort(turns, kind="stable")
    ends = np.cumsum(np.bincount(turns))
    for chosen in np.split(order[by_turn], ends[:-1]):
        whole[positions[chosen]] += values[chosen]


@differentiable(
    "IndexBackward0",
    self=lambda grad, self_sym_sizes, indices: applied(
        index_add, _zeros(grad, self_sym_sizes), grad, indices
    ),
)
def index(self: Array, indices: Any) -> Array:
    """Entries at index arrays or under a mask: the rule adds each gradient where it came from."""
    return self[indices]


@differentiable(
    "IndexPutBackward0",
    broadcasts=True,
    self=lambda grad, indices: applied(index_put, grad, _zeros(grad, ()), indices),
    values=lambda grad, indices: applied(index, grad, indices),
)
def index_put(self: Array, values: Array, indices: Any) -> Array:
    """The input with other values at indices: these get the gradient of their places."""
    result = self.copy()
    result[indices] = values
    return result


# ---------------------------------------------------------------------- along one dimension

_MANY = 4096  # so many entries are found sooner by their numbers in a row


def _along(dim: int, positions: Any) -> tuple[Any, ...]:
    """Give the indices of the entries whose places along one dimension are listed."""
    sizes = positions.shape
    return tuple(
        positions
        if d == dim
        else np.arange(size).reshape((1,) * d + (size,) + (1,) * (len(sizes) - d - 1))
        for d, size in enumerate(sizes)
    )


def _flat(shape: tuple[int, ...], dim: int, positions: Any) -> Any:
    """Give the same places in an array of a shape as numbers of its entries in a row."""
    offsets: Any = 0
    step = along = 1
    for d in reversed(range(len(shape))):
        if d == dim:
            along = step
        else:
            size = positions.shape[d]
            row = np.arange(0, size * step, step) if step else np.zeros(size, np.int64)
            offsets = offsets + row.reshape((size,) + (1,) * (len(shape) - d - 1))
        step *= shape[d]
    return (positions if along == 1 else positions * along) + offsets


@differentiable(
    "GatherBackward0",
    self=lambda grad, self, dim, positions: applied(
        scatter_add, _zeros(grad, self.shape), dim, positions, grad
    ),
)
def gather(self: Array, dim: Any, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    if not positions.size:
        return _zeros(self, positions.shape)
    if self.ndim != positions.ndim:  # without dimensions is like one of one entry
        return self[positions] if self.ndim else np.full_like(self, self[()], shape=positions.shape)
    if positions.size < _MANY:
        return self[_along(dim, positions)]
    return self.reshape(-1)[_flat(self.shape, dim, positions)]


@differentiable(
    "ScatterAddBackward0",
    self=lambda grad: grad,
    src=lambda grad, dim, positions: applied(gather, grad, dim, positions),
)
@quietly
def scatter_add(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values added at listed places along a dimension: they get the gradient of their places."""
    result = np.array(self, order="C", subok=True)  # also if it is one number
    if not positions.size:
        return result
    if self.ndim == positions.ndim:
        if src.shape == positions.shape:
            np.add.at(result.reshape(-1), _flat(self.shape, dim, positions).ravel(), src.ravel())
        else:
            np.add.at(result, _along(dim, positions), src)
    elif self.ndim:
        result[positions] += src
    else:
        result += np.add.reduce(src, axis=None)
    return result


@differentiable(
    "ScatterBackward0",
    self=lambda grad, dim, positions: applied(scatter_number, grad, dim, positions, 0),
    src=lambda grad, dim, positions: applied(gather, grad, dim, positions),
)
def scatter(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values written to listed places along a dimension: they get the gradient of their places."""
    result = np.array(self, order="C", subok=True)  # also if it is one number
    if src.shape == positions.shape and positions.size >= _MANY:
        result.reshape(-1)[_flat(self.shape, dim, positions)] = src
    else:
        result[_along(dim, positions)] = src
    return result


@differentiable(
    "ScatterBackward1",
    self=lambda grad, dim, positions: applied(scatter_number, grad, dim, positions, 0),
)
def scatter_number(self: Array, dim: Any, positions: Any, value: Any) -> Array:
    """A number written to listed places along a dimension: no gradient passes there."""
    result = np.array(self, subok=True)  # also if it is one number
    result[_along(dim, positions)] = value
    return result
