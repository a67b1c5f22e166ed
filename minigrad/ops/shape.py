"""The derivatives of operations that rearrange entries: reshape, transpose, squeeze, expand.

No entry changes its value, so the rules only bring gradients back to the places the entries came
from. Most results are views: they share the memory of the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.reduce import sum_to_shape
from minigrad.ops.tape import Array, differentiable
from minigrad.tensor import Tensor

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
    "ReshapeAliasBackward0",
    view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)
def reshape_alias(self: Array, size: tuple[int, ...]) -> Array:
    """A view in another shape of a tensor that does not lie in memory in order."""
    return self.reshape(size)


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
    repeats = 0 in self.strides and self.size  # NumPy's order of memory is another one there
    return np.copy(self, order="C" if repeats else "K", subok=True)


@differentiable("CloneBackward0", self=lambda grad: grad)
def clone_contiguous(self: Array) -> Array:
    """Copy in the order of printing: the gradient passes as it is."""
    return np.copy(self, order="C", subok=True)


@differentiable("ToCopyBackward0", broadcasts=True, self=lambda grad: grad)
def to_copy(self: Array, dtype: Any) -> Array:
    """Copy in another type: the gradient is converted back."""
    return self.astype(dtype)


@differentiable(
    "CopyBackwards",
    broadcasts=True,
    self=lambda grad: np.zeros_like(grad),
    src=lambda grad: grad,
)
def copy_values(self: Array, src: Array) -> Array:
    """Write one tensor's values over another's: the gradient goes to the source alone."""
    return np.broadcast_to(src, self.shape, subok=True).astype(self.dtype)


copy_values.node.name = lambda node: "torch::autograd::CopyBackwards"  # as PyTorch calls it


@differentiable("ZeroBackward0", self=lambda grad: np.zeros_like(grad))
def zeros(self: Array) -> Array:
    """Zeros in the place of a tensor: no gradient passes."""
    return np.zeros_like(self)


@differentiable("FillBackward2", self=lambda grad: np.zeros_like(grad))
def filled(self: Array, value: Any) -> Array:
    """One number in the place of all entries: no gradient passes."""
    return np.full_like(self, value)


@differentiable(
    "FillBackward3",
    broadcasts=True,
    self=lambda grad: np.zeros_like(grad),
    value=lambda grad: grad,
)
def filled_with(self: Array, value: Array) -> Array:
    """One tensor's only entry in the place of all entries: it collects their gradients."""
    return np.broadcast_to(value, self.shape, subok=True).astype(self.dtype)


# ---------------------------------------------------------------------- order of dimensions


def _t(matrix: Any) -> Any:
    return t(matrix) if isinstance(matrix, Tensor) else matrix.T


@differentiable("TBackward0", view=True, self=_t)
def t(self: Array) -> Array:
    """Transpose of a matrix: so is the gradient."""
    return self.T


@differentiable(
    "TransposeBackward0",
    view=True,
    self=lambda grad, dim0, dim1: np.swapaxes(grad, dim0, dim1) if grad.ndim else grad,
)
def transpose(self: Array, dim0: int, dim1: int) -> Array:
    """Exchange two dimensions: the rule exchanges them again."""
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


@differentiable(
    "PermuteBackward0",
    view=True,
    self=lambda grad, dims: np.transpose(
        grad, tuple(sorted(range(len(dims)), key=dims.__getitem__))
    ),
)
def permute(self: Array, dims: tuple[int, ...]) -> Array:
    """Reorder dimensions: the rule applies the inverse permutation."""
    return self.transpose(dims)


@differentiable("FlipBackward0", self=lambda grad, dims: np.flip(grad, dims))
def flip(self: Array, dims: tuple[int, ...]) -> Array:
    """Reverse the order along dimensions: the rule reverses it again."""
    return np.flip(self, dims).copy()


# ------------------------------------------------------------------- dimensions of size 1, repeats


def _unsqueezed(grad: Any, sizes: tuple[int, ...], dim: int | tuple[int, ...] | None = None) -> Any:
    """Bring back the dimensions of size 1 that were left out."""
    dims = range(len(sizes)) if dim is None else sorted(dim if isinstance(dim, tuple) else (dim,))
    left_out = tuple(d for d in dims if sizes[d : d + 1] == (1,))
    return np.expand_dims(grad, left_out) if left_out else grad


@differentiable(
    "SqueezeBackward0",
    view=True,
    self=lambda grad, self_sym_sizes: _unsqueezed(grad, self_sym_sizes),
)
def squeeze_all(self: Array) -> Array:
    """Leave out all dimensions of size 1."""
    return self.reshape([size for size in self.shape if size != 1])


@differentiable(
    "SqueezeBackward1",
    view=True,
    self=lambda grad, self_sym_sizes, dim: _unsqueezed(grad, self_sym_sizes, dim),
)
def squeeze_dim(self: Array, dim: Any) -> Array:
    """Leave out a dimension, if its size is 1."""
    return self.squeeze(dim) if self.shape[dim : dim + 1] == (1,) else self[...]


@differentiable(
    "SqueezeBackward2",
    view=True,
    self=lambda grad, self_sym_sizes, dim: _unsqueezed(grad, self_sym_sizes, dim),
)
def squeeze_dims(self: Array, dim: Any) -> Array:
    """Leave out those of several dimensions whose size is 1."""
    return self.reshape([size for d, size in enumerate(self.shape) if d not in dim or size != 1])


@differentiable("SqueezeBackward4", self=lambda grad, dim: np.expand_dims(grad, dim))
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
    repeated = np.broadcast_to(self, size, subok=True)
    if type(self) is not np.ndarray:
        return repeated
    return np.lib.stride_tricks.as_strided(self, size, repeated.strides)  # can be written to


@differentiable(
    "RepeatBackward0",
    self=lambda grad, self_sym_sizes, repeats: _fold_repeats(grad, self_sym_sizes, repeats),
)
def repeat(self: Array, repeats: tuple[int, ...]) -> Array:
    """Copy the tensor side by side: an entry collects the gradients of all its copies."""
    return np.tile(self, repeats)


def _fold_repeats(grad: Any, sizes: tuple[int, ...], repeats: tuple[int, ...]) -> Any:
    """Add up the gradients of all copies: first along new dimensions, then along the others."""
    if 0 in repeats:
        return np.zeros_like(grad, shape=sizes)
    added = len(repeats) - len(sizes)
    for _ in range(added):
        grad = np.add.reduce(grad, axis=0)
    apart: list[int] = []
    copies: list[int] = []
    for count, size in zip(repeats[added:], sizes, strict=True):
        if count != 1:
            copies.append(len(apart))
            apart.append(count)
        apart.append(size)
    return np.add.reduce(grad.reshape(tuple(apart)), axis=tuple(copies)) if copies else grad
