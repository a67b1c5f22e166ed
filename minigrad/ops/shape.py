"""The derivatives of operations that rearrange entries: reshape, transpose, expand, select, join.

No entry changes its value, so the rules only bring gradients back to the places the entries came
from. Most results are views: they share the memory of the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.reduce import sum_to_shape
from minigrad.ops.tape import Array, differentiable
from minigrad.tensor import Tensor


def _zeros(like: Any, shape: tuple[int, ...]) -> Any:
    """Give zeros of the same kind of array: numbers or symbols."""
    if type(like) is np.ndarray:
        return np.zeros(shape, like.dtype)
    return np.zeros_like(like, shape=shape)


# ------------------------------------------------------------------- the same entries, other shape


def _viewed(array: Any, size: tuple[int, ...]) -> Any:
    """Reshape without copying."""
    result = array.reshape(size)
    if result.size and not np.may_share_memory(result, array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return result


@differentiable(
    "ViewBackward0", view=True, self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes)
)
def view(self: Array, size: tuple[int, ...]) -> Array:
    """The same entries in another shape: the gradient goes back to the old shape."""
    return _viewed(self, size)


@differentiable(
    "UnsafeViewBackward0", self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes)
)
def unsafe_view(self: Array, size: tuple[int, ...]) -> Array:
    """A view of a tensor that nobody else will see."""
    return self.reshape(size)


@differentiable("AliasBackward0", view=True, self=lambda grad: grad)
def alias(self: Array) -> Array:
    """The same tensor as a view: the gradient passes as it is."""
    return self[...]


@differentiable("CloneBackward0", self=lambda grad: grad)
def clone(self: Array) -> Array:
    """Copy: the gradient passes as it is."""
    return np.copy(self, order="K", subok=True)


@differentiable("CloneBackward0", self=lambda grad: grad)
def clone_contiguous(self: Array) -> Array:
    """Copy in the order of printing: the gradient passes as it is."""
    return np.copy(self, order="C", subok=True)


@differentiable("ToCopyBackward0", self=lambda grad: grad)
def to_copy(self: Array, dtype: Any) -> Array:
    """Copy in another type: the gradient is converted back."""
    return self.astype(dtype)


@differentiable("CopyBackwards", self=lambda grad: grad * 0, src=lambda grad: grad)
def copy_values(self: Array, src: Array) -> Array:
    """Write one tensor's values over another's: the gradient goes to the source alone."""
    return np.broadcast_to(src, self.shape, subok=True).astype(self.dtype)


# ---------------------------------------------------------------------- order of dimensions


def _t(matrix: Any) -> Any:
    return t(matrix) if isinstance(matrix, Tensor) else matrix.T


@differentiable("TBackward0", view=True, self=_t)
def t(self: Array) -> Array:
    """Transpose of a matrix: so is the gradient."""
    return self.T


@differentiable(
    "TransposeBackward0", view=True, self=lambda grad, dim0, dim1: np.swapaxes(grad, dim0, dim1)
)
def transpose(self: Array, dim0: int, dim1: int) -> Array:
    """Exchange two dimensions: the rule exchanges them again."""
    return self.swapaxes(dim0, dim1)


@differentiable(
    "PermuteBackward0",
    view=True,
    self=lambda grad, dims: np.transpose(grad, tuple(int(d) for d in np.argsort(dims))),
)
def permute(self: Array, dims: tuple[int, ...]) -> Array:
    """Reorder dimensions: the rule applies the inverse permutation."""
    return self.transpose(dims)


@differentiable("FlipBackward0", self=lambda grad, dims: np.flip(grad, dims))
def flip(self: Array, dims: tuple[int, ...]) -> Array:
    """Reverse the order along dimensions: the rule reverses it again."""
    return np.flip(self, dims)


# ------------------------------------------------------------------- dimensions of size 1, repeats


@differentiable(
    "SqueezeBackward0", view=True, self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes)
)
def squeeze_all(self: Array) -> Array:
    """Leave out all dimensions of size 1."""
    return self.reshape([size for size in self.shape if size != 1])


@differentiable(
    "SqueezeBackward1", view=True, self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes)
)
def squeeze_dim(self: Array, dim: Any) -> Array:
    """Leave out a dimension of size 1."""
    return self.squeeze(dim) if self.shape[dim] == 1 else self[...]


@differentiable("SqueezeBackward4", self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
def squeeze_product(self: Array, dim: Any) -> Array:
    """Leave out the dimension that a product of vector and matrix had to add."""
    return self.squeeze(dim)


@differentiable("UnsqueezeBackward0", view=True, self=lambda grad, dim: np.squeeze(grad, dim))
def unsqueeze(self: Array, dim: Any) -> Array:
    """Add a dimension of size 1: the rule leaves it out again."""
    return np.expand_dims(self, dim)


@differentiable(
    "ExpandBackward0",
    view=True,
    self=lambda grad, self_sym_sizes: sum_to_shape(grad, self_sym_sizes),
)
def expand(self: Array, size: tuple[int, ...]) -> Array:
    """Repeat entries without copying: an entry collects the gradients of all its repeats."""
    return np.broadcast_to(self, size, subok=True)


@differentiable(
    "RepeatBackward0",
    self=lambda grad, self_sym_sizes, repeats: _fold_repeats(grad, self_sym_sizes, repeats),
)
def repeat(self: Array, repeats: tuple[int, ...]) -> Array:
    """Copy the tensor side by side: an entry collects the gradients of all its copies."""
    return np.tile(self, repeats)


def _fold_repeats(grad: Any, sizes: tuple[int, ...], repeats: tuple[int, ...]) -> Any:
    padded = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    pairs = [n for pair in zip(repeats, padded, strict=True) for n in pair]
    copies = tuple(range(0, len(pairs), 2))
    return np.add.reduce(grad.reshape(tuple(pairs)), axis=copies).reshape(sizes)


# ---------------------------------------------------------------------- parts of a tensor


def _placed(grad: Any, sizes: tuple[int, ...], key: Any) -> Any:
    """Put a gradient into zeros, at the place that was selected."""
    return (place if isinstance(grad, Tensor) else place.forward)(grad, sizes, key)


@differentiable("SelectBackwardBackward0", self=lambda grad, key: grad[key])
def place(self: Array, sizes: tuple[int, ...], key: Any) -> Array:
    """Zeros with the input at a selected place: the rule selects that place."""
    whole = _zeros(self, sizes)
    whole[key] = self
    return whole


@differentiable(
    "SelectBackward0",
    view=True,
    self=lambda grad, self_sym_sizes, dim, index: _placed(
        grad, self_sym_sizes, (slice(None),) * dim + (index,)
    ),
)
def select(self: Array, dim: Any, index: int) -> Array:
    """One entry along a dimension: the rest of the input gets no gradient."""
    return self[(slice(None),) * dim + (index, ...)]


@differentiable(
    "SliceBackward0",
    view=True,
    self=lambda grad, self_sym_sizes, dim, start, end, step: _placed(
        grad, self_sym_sizes, (slice(None),) * dim + (slice(start, end, step),)
    ),
)
def slice_dim(self: Array, dim: Any, start: int, end: int, step: int) -> Array:
    """A range along a dimension: the rest of the input gets no gradient."""
    return self[(slice(None),) * dim + (slice(start, end, step),)]


def _added(grad: Any, sizes: tuple[int, ...], indices: Any) -> Any:
    """Add a gradient into zeros: an entry that was taken twice collects both gradients."""
    operation = add_at if isinstance(grad, Tensor) else add_at.forward
    return operation(grad, sizes, indices)


@differentiable("IndexPutBackward0", self=lambda grad, indices: grad[indices])
def add_at(self: Array, sizes: tuple[int, ...], indices: Any) -> Array:
    """Zeros with the input added at indices: the rule takes what is at these indices."""
    whole = _zeros(self, sizes)
    np.add.at(whole, indices, self)
    return whole


@differentiable(
    "IndexBackward0",
    self=lambda grad, self_sym_sizes, indices: _added(grad, self_sym_sizes, indices),
)
def index(self: Array, indices: Any) -> Array:
    """Entries at index arrays or under a mask: the rule adds each gradient where it came from."""
    return self[indices]


def _emptied(grad: Any, indices: Any) -> Any:
    operation = without if isinstance(grad, Tensor) else without.forward
    return operation(grad, indices)


@differentiable("IndexPutBackward0", self=lambda grad, indices: _emptied(grad, indices))
def without(self: Array, indices: Any) -> Array:
    """The input with zeros at indices: so is the gradient."""
    emptied = self.copy()
    emptied[indices] = 0
    return emptied


@differentiable(
    "IndexPutBackward0",
    broadcasts=True,
    self=lambda grad, indices: _emptied(grad, indices),
    values=lambda grad, indices: grad[indices],
)
def index_put(self: Array, values: Array, indices: Any) -> Array:
    """The input with other values at indices: these get the gradient of their places."""
    result = self.copy()
    result[indices] = values
    return result
