"""The derivatives of taking and writing entries whose places are listed: index_select, take, put.

Taking and adding are each other's rules: an entry that was taken twice collects both gradients, and
a value that was added gets the gradient of its place.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied, quietly
from minigrad.ops.parts import _zeros, add_rows, index
from minigrad.ops.tape import Array, differentiable

# ---------------------------------------------------------------------- along one dimension


def _key(array: Any, dim: int, positions: Any) -> Any:
    """Give the index of the listed places along a dimension."""
    return (slice(None),) * dim + (positions,) if array.ndim else ...


def _add_at(whole: Any, key: Any, positions: Any, values: Any) -> None:
    """Add values at places; NumPy's `+=` does it quickly, but once for a place that is repeated."""
    if not values.size:
        return
    if key is ...:
        whole[...] += np.add.reduce(values, axis=None)
    elif positions.size == np.unique(positions).size:
        whole[key] += values
    elif whole.ndim > 1:
        dim = len(key) - 1
        add_rows(np.moveaxis(whole, dim, 0), positions, np.moveaxis(values, dim, 0))
    else:
        np.add.at(whole, key, values)


@differentiable(
    "IndexSelectBackward0",
    self=lambda grad, self_sym_sizes, dim, positions: applied(
        index_add_dim, _zeros(grad, self_sym_sizes), grad, dim, positions, 1
    ),
)
def index_select(self: Array, dim: int, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    return np.take(self, positions, axis=dim) if self.ndim else self.copy()


def _selected(grad: Any, sizes: Any, dim: int, positions: Any, alpha: Any = 1) -> Any:
    """Give what was written to listed places the gradient of these."""
    part = np.broadcast_to(applied(index_select, grad, dim, positions), sizes)
    return part if alpha == 1 else part * alpha


@differentiable(
    "IndexAddBackward0",
    self=lambda grad: grad,
    source=lambda grad, source_sym_sizes, dim, positions, alpha: _selected(
        grad, source_sym_sizes, dim, positions, alpha
    ),
)
@quietly
def index_add_dim(self: Array, source: Array, dim: int, positions: Any, alpha: Any) -> Array:
    """Entries, times alpha, added at listed places along a dimension."""
    result = np.array(self, subok=True)  # also if it is one number
    values = source if alpha == 1 else (source * alpha).astype(self.dtype)
    _add_at(result, _key(self, dim, positions), positions, values)
    return result


@differentiable(
    "IndexFillBackward0",
    self=lambda grad, dim, positions: applied(index_fill_number, grad, dim, positions, 0),
)
def index_fill_number(self: Array, dim: int, positions: Any, value: Any) -> Array:
    """A number at listed places along a dimension: no gradient passes there."""
    result = np.array(self, subok=True)  # also if it is one number
    if positions.size:
        result[_key(self, dim, positions)] = value
    return result


@differentiable(
    "IndexFillBackward1",
    self=lambda grad, dim, positions: applied(index_fill_number, grad, dim, positions, 0),
    value=lambda grad, dim, positions: np.add.reduce(
        applied(index_select, grad, dim, positions), axis=None
    ),
)
def index_fill(self: Array, value: Array, dim: int, positions: Any) -> Array:
    """One value at listed places along a dimension: it collects their gradients."""
    result = np.array(self, subok=True)  # also if it is one number
    if positions.size:
        result[_key(self, dim, positions)] = value
    return result


@differentiable(
    "IndexCopyBackward0",
    self=lambda grad, dim, positions: applied(index_fill_number, grad, dim, positions, 0),
    source=lambda grad, source_sym_sizes, dim, positions: _selected(
        grad, source_sym_sizes, dim, positions
    ),
)
def index_copy(self: Array, source: Array, dim: int, positions: Any) -> Array:
    """Entries written to listed places along a dimension."""
    result = np.array(self, subok=True)  # also if it is one number
    if source.size:
        result[_key(self, dim, positions)] = source if self.ndim else source.reshape(())
    return result


# ---------------------------------------------------------------------- in the whole tensor


@differentiable(
    "IndexPutBackward0",
    broadcasts=("values",),
    self=lambda grad: grad,
    values=lambda grad, indices: applied(index, grad, indices),
)
@quietly
def index_put_add(self: Array, values: Array, indices: Any) -> Array:
    """Values added at index arrays: an entry that is named twice collects both."""
    result = np.array(self, subok=True)  # also if it is one number
    np.add.at(result, indices, values)
    return result


@differentiable(
    "TakeBackward0",
    self=lambda grad, self, positions: applied(  # PyTorch saves the tensor, not its shape
        put_add, _zeros(grad, self.shape), grad, positions
    ),
)
def take(self: Array, positions: Any) -> Array:
    """Entries of the tensor as a row, at listed places of any shape."""
    return self.reshape(-1)[positions]


def _taken(grad: Any, sizes: Any, positions: Any) -> Any:
    return applied(take, grad, positions).reshape(sizes)


@differentiable(
    "PutBackward0",
    self=lambda grad, source_sym_sizes, positions: applied(
        put, grad, _zeros(grad, source_sym_sizes), positions
    ),
    source=lambda grad, source_sym_sizes, positions: _taken(grad, source_sym_sizes, positions),
)
def put(self: Array, source: Array, positions: Any) -> Array:
    """Values written to listed places of the tensor as a row: these get the places' gradient."""
    result = self.copy("C")
    result.reshape(-1)[positions] = source.reshape(positions.shape)
    return result


@differentiable(
    "PutBackward0",
    self=lambda grad: grad,
    source=lambda grad, source_sym_sizes, positions: _taken(grad, source_sym_sizes, positions),
)
@quietly
def put_add(self: Array, source: Array, positions: Any) -> Array:
    """Values added at listed places of the tensor as a row: these get the places' gradient."""
    result = self.copy("C")
    np.add.at(result.reshape(-1), positions, source.reshape(positions.shape))
    return result
