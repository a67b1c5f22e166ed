"""Take triangles and diagonals of matrices, and build matrices of them.

An entry that is taken gets its gradient back at its place; what is left out gets none.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch
from minigrad.core.operation import Array, operation, registry
from minigrad.core.tensor import Tensor
from minigrad.ops.parts import part
from minigrad.signatures import numpy_protocols, variants
from minigrad.signatures.arguments import cast, dimension

# ---------------------------------------------------------------------- triangles


def _matrices(array: Array) -> Array:
    if array.ndim < 2:
        raise RuntimeError("tril and triu take a tensor with at least 2 dimensions")
    return array


@variants(out="none", in_place=True)
@operation("TrilBackward0", self=lambda grad, diagonal: dispatch(tril, grad, diagonal))
def tril(self: Array, diagonal: int = 0) -> Array:
    """Lower triangle of each matrix, and 0 elsewhere: so is the gradient.

    `diagonal` says where the triangle ends; diagonals above the main one are positive.
    """
    return np.tril(_matrices(self), diagonal)


@variants(out="none", in_place=True)
@operation("TriuBackward0", self=lambda grad, diagonal: dispatch(triu, grad, diagonal))
def triu(self: Array, diagonal: int = 0) -> Array:
    """Upper triangle of each matrix, and 0 elsewhere: so is the gradient.

    `diagonal` says where the triangle ends; diagonals above the main one are positive.
    """
    return np.triu(_matrices(self), diagonal)


# ---------------------------------------------------------------------- diagonals


@part("Diagonal")
def diagonal(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Diagonal of two dimensions, which becomes the last dimension: the rest gets no gradient."""
    sizes = self.shape  # NumPy crashes far beyond them
    view = self.diagonal(max(-sizes[dim1], min(offset, sizes[dim2])), dim1, dim2)
    if self.flags.writeable:
        view.setflags(write=True)
    return view


diagonal_backward = registry["diagonal_backward"]


@operation("DiagonalBackward0_copy", self=diagonal_backward)
def diagonal_copy(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Diagonal in a memory of its own."""
    return diagonal.forward(self, offset, dim1, dim2).copy()


@operation(
    "DiagEmbedBackward0",
    self=lambda grad, offset, dim1, dim2: dispatch(diagonal, grad, offset, dim1, dim2),
)
def diag_embed(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """The last dimension as the diagonal of two: the rule takes the diagonal."""
    sizes = list(self.shape[:-1])
    for dim in sorted((dim1, dim2)):
        sizes.insert(dim, self.shape[-1] + abs(offset))
    return diagonal_backward.forward(self, tuple(sizes), offset, dim1, dim2)


@operation(
    "TraceBackward0",
    self=lambda grad, self_sym_sizes: dispatch(
        diagonal_backward, np.broadcast_to(grad, (min(self_sym_sizes),)), self_sym_sizes, 0, 0, 1
    ),
)
def trace(self: Array) -> Array:
    """Sum of the diagonal: each of its entries gets the gradient."""
    return np.add.reduce(self.diagonal(), axis=0)


# ---------------------------------------------------------------------- what one calls


@variants("trace")
def trace_of(input: Tensor) -> Tensor:
    """Add up the main diagonal of a matrix.

    Raises:
        RuntimeError: If it is no matrix.

    Example:
        >>> import minigrad as torch
        >>> torch.trace(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    if input._array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    if input._array.dtype.kind in "iub":
        input = cast(input, np.dtype(np.int64))
    return trace(input)


def _planes(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    first, second = dimension(dim1, ndim), dimension(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@variants("diagonal")
def diagonal_of(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Show a diagonal of two dimensions, as a view; it becomes the last dimension.

    Args:
        input: The tensor.
        offset: Which diagonal; those above the main one are positive.
        dim1: The dimension that counts rows.
        dim2: The dimension that counts columns.

    Example:
        >>> import minigrad as torch
        >>> torch.diagonal(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([1., 4.])
    """
    first, second = _planes(dim1, dim2, input._array.ndim)
    return diagonal(input, offset, first, second)


@variants("linalg_diagonal", function=False, method=False)
def _diagonal_of_matrices(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Show the diagonals of matrices, as a view; see `torch.diagonal`."""
    return diagonal_of(A, offset, dim1, dim2)


@variants(out="kind")
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Make a matrix with a vector on its diagonal, or take the diagonal of a matrix.

    Raises:
        RuntimeError: If it is neither.

    Example:
        >>> import minigrad as torch
        >>> torch.diag(torch.tensor([1.0, 2.0]))
        tensor([[1., 0.],
                [0., 2.]])
    """
    ndim = input._array.ndim
    if ndim == 1:
        return diagonals_embedded(input, diagonal, -2, -1)
    if ndim == 2:
        return diagonal_copy(input, diagonal, 0, 1)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")


@variants("diag_embed")
def diagonals_embedded(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Put the last dimension on the diagonal of two, which are 0 elsewhere.

    Example:
        >>> import minigrad as torch
        >>> torch.diag_embed(torch.ones(3, 2)).shape
        torch.Size([3, 2, 2])
    """
    ndim = input._array.ndim
    first, second = _planes(dim1, dim2, ndim + 1 if ndim else 1)
    return diag_embed(input, offset, first, second)


def _numpy_trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    if offset == 0 and a._array.ndim == 2:
        return trace_of(a)
    return diagonal_of(a, offset, axis1, axis2).sum(-1)


_numpy: dict[Any, Any] = {
    np.diag: lambda v, k=0: diag(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal_of(a, offset, axis1, axis2),
    np.trace: _numpy_trace,
    np.tril: lambda m, k=0: tril(m, k),
    np.triu: lambda m, k=0: triu(m, k),
}
numpy_protocols.functions.update(_numpy)
