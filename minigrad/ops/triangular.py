"""The derivatives of taking triangles and diagonals of matrices, and of building matrices of them.

An entry that is taken gets its gradient back at its place; what is left out gets none.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.parts import _zeros
from minigrad.ops.tape import Array, differentiable

# ---------------------------------------------------------------------- triangles


@differentiable("TrilBackward0", self=lambda grad, diagonal: applied(tril, grad, diagonal))
def tril(self: Array, diagonal: int) -> Array:
    """Lower triangle: so is the gradient."""
    return np.tril(self, diagonal)


@differentiable("TriuBackward0", self=lambda grad, diagonal: applied(triu, grad, diagonal))
def triu(self: Array, diagonal: int) -> Array:
    """Upper triangle: so is the gradient."""
    return np.triu(self, diagonal)


# ---------------------------------------------------------------------- diagonals


def _diagonal(array: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Give a diagonal as a view that can be written to."""
    view = array.diagonal(offset, dim1, dim2)
    if array.flags.writeable:
        view.setflags(write=True)
    return view


@differentiable(
    "DiagonalBackwardBackward0",
    grad_output=lambda grad, offset, dim1, dim2: applied(diagonal, grad, offset, dim1, dim2),
)
def diagonal_backward(
    grad_output: Array, self_sym_sizes: Any, offset: int, dim1: int, dim2: int
) -> Array:
    """Rule of diagonal: zeros, and the gradient on the diagonal."""
    whole = _zeros(grad_output, self_sym_sizes)
    _diagonal(whole, offset, dim1, dim2)[...] = grad_output
    return whole


@differentiable("DiagonalBackward0", view=True, self=diagonal_backward)
def diagonal(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Diagonal of two dimensions, which becomes the last dimension: the rest gets no gradient."""
    return _diagonal(self, offset, dim1, dim2)


@differentiable("DiagonalBackward0_copy", self=diagonal_backward)
def diagonal_copy(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Diagonal in a memory of its own."""
    return _diagonal(self, offset, dim1, dim2).copy()


@differentiable(
    "DiagEmbedBackward0",
    self=lambda grad, offset, dim1, dim2: applied(diagonal, grad, offset, dim1, dim2),
)
def diag_embed(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """The last dimension as the diagonal of two: the rule takes the diagonal."""
    sizes = list(self.shape[:-1])
    for dim in sorted((dim1, dim2)):
        sizes.insert(dim, self.shape[-1] + abs(offset))
    return diagonal_backward.forward(self, tuple(sizes), offset, dim1, dim2)


@differentiable(
    "DiagonalScatterBackward0",
    self=lambda grad, src_sym_sizes, offset, dim1, dim2: applied(
        diagonal_scatter, grad, np.zeros_like(grad, shape=src_sym_sizes), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: applied(diagonal, grad, offset, dim1, dim2),
)
def diagonal_scatter(self: Array, src: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Copy with another diagonal: that diagonal's gradient goes to the source."""
    whole = self.copy()
    _diagonal(whole, offset, dim1, dim2)[...] = src
    return whole


@differentiable(
    "TraceBackward0",
    self=lambda grad, self_sym_sizes: applied(
        diagonal_backward,
        np.broadcast_to(grad, (min(self_sym_sizes),)),
        self_sym_sizes,
        0,
        0,
        1,
    ),
)
def trace(self: Array) -> Array:
    """Sum of the diagonal: each of its entries gets the gradient."""
    return np.add.reduce(self.diagonal(), axis=0)
