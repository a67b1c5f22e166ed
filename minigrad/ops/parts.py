"""The derivatives of taking parts of a tensor: select, slice, index, gather, and their reverses.

The reverse of taking a part is to put a gradient into zeros, at the place that was taken. It is an
operation with a rule of its own, which takes that part of the next gradient.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
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
    np.add.at(whole, indices, values)
    return whole


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


def _along(dim: int, positions: Any) -> tuple[Any, ...]:
    """Give the indices of the entries whose places along one dimension are listed."""
    sizes = positions.shape
    return tuple(
        positions
        if d == dim
        else np.arange(size).reshape((1,) * d + (size,) + (1,) * (len(sizes) - d - 1))
        for d, size in enumerate(sizes)
    )


@differentiable(
    "GatherBackward0",
    self=lambda grad, self, dim, positions: applied(
        scatter_add, _zeros(grad, self.shape), dim, positions, grad
    ),
)
def gather(self: Array, dim: Any, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    if self.ndim != positions.ndim:  # without dimensions is like one of one entry
        return self[positions] if self.ndim else np.full_like(self, self[()], shape=positions.shape)
    return self[_along(dim, positions)]


@differentiable(
    "ScatterAddBackward0",
    self=lambda grad: grad,
    src=lambda grad, dim, positions: applied(gather, grad, dim, positions),
)
def scatter_add(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values added at listed places along a dimension: they get the gradient of their places."""
    result = self.copy()
    if self.ndim == positions.ndim:
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
    result = self.copy()
    result[_along(dim, positions)] = src
    return result


@differentiable(
    "ScatterBackward1",
    self=lambda grad, dim, positions: applied(scatter_number, grad, dim, positions, 0),
)
def scatter_number(self: Array, dim: Any, positions: Any, value: Any) -> Array:
    """A number written to listed places along a dimension: no gradient passes there."""
    result = self.copy()
    result[_along(dim, positions)] = value
    return result
