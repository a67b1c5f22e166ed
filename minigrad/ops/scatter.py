"""Take entries at listed places along a dimension, and write there; triangles and diagonals.

A place has an entry of its own in gather, scatter and scatter_add, and a slice in index_select and
index_add. Taking and adding are each other's rules: what was taken twice collects both gradients,
and a value that was written or added gets the gradient of its place. So do triangles and diagonals:
an entry that is taken gets its gradient back at its place, and what is left out gets none.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched
from minigrad.autograd.rules import dispatch, ignore_errstate, zeros_for
from minigrad.core.operation import Array, operation, registry
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import entry
from minigrad.ops.parts import index_add, part
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import numpy_protocols, variants
from minigrad.signatures.arguments import cast, dimension, no_combination, number, plain
from minigrad.signatures.signature import Dim, Number


def _along(dim: int, positions: Any) -> tuple[Any, ...]:
    """Give the indices of the entries whose places along one dimension are listed."""
    sizes = positions.shape
    return tuple(
        positions
        if d == dim
        else np.arange(size).reshape((1,) * d + (size,) + (1,) * (len(sizes) - d - 1))
        for d, size in enumerate(sizes)
    )


@operation(
    "GatherBackward0",
    self=lambda grad, self, dim, positions: dispatch(
        scatter_add, zeros_for(grad, self.shape), dim, positions, grad
    ),
)
def gather(self: Array, dim: Any, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    return self[_along(dim, positions)]


@operation(
    "ScatterAddBackward0",
    self=lambda grad: grad,
    src=lambda grad, dim, positions: dispatch(gather, grad, dim, positions),
)
@ignore_errstate
def scatter_add(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values added at listed places along a dimension: they get the gradient of their places."""
    result = np.copy(self, order="C", subok=True)  # also if it is one number
    np.add.at(result, _along(dim, positions), src)
    return result


@operation(
    "ScatterBackward0",
    self=lambda grad, dim, positions: dispatch(scatter_number, grad, dim, positions, 0),
    src=lambda grad, dim, positions: dispatch(gather, grad, dim, positions),
)
def scatter(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values written to listed places along a dimension: they get the gradient of their places."""
    result = np.copy(self, order="C", subok=True)  # also if it is one number
    result[_along(dim, positions)] = src
    return result


@operation(
    "ScatterBackward1",
    self=lambda grad, dim, positions: dispatch(scatter_number, grad, dim, positions, 0),
)
def scatter_number(self: Array, dim: Any, positions: Any, value: Any) -> Array:
    """A number written to listed places along a dimension: no gradient passes there."""
    result = np.copy(self, subok=True)  # also if it is one number
    result[_along(dim, positions)] = value
    return result


@operation(
    "IndexSelectBackward0",
    self=lambda grad, self_sym_sizes, dim, positions: dispatch(
        index_add_dim, zeros_for(grad, self_sym_sizes), grad, dim, positions, 1
    ),
)
def index_select(self: Array, dim: int, positions: Any) -> Array:
    """Slices at listed places along a dimension: the rule adds each gradient where it was."""
    # NumPy takes by numbers as wide as an address, which in a browser has 32 bits
    return np.take(self, np.asarray(positions, np.intp), axis=dim)


@operation(
    "IndexAddBackward0",
    self=lambda grad: grad,
    source=lambda grad, dim, positions, alpha: dispatch(index_select, grad, dim, positions) * alpha,
)
def index_add_dim(self: Array, source: Array, dim: int, positions: Any, alpha: Any) -> Array:
    """Slices added at listed places: they get the gradient of the place that they went to."""
    whole, added = self.reshape(self.shape or 1), source.reshape(source.shape or 1) * alpha
    return index_add.forward(whole, added, (slice(None),) * dim + (positions,)).reshape(self.shape)


# ---------------------------------------------------------------------- what one calls


def _check_listed(name: str, places: Any, size: int, error: Any = RuntimeError) -> None:
    """Raise if an array does not list places from 0 on, before a size."""
    if places.size and (places.dtype.kind != "i" or places.itemsize < 4):
        raise RuntimeError(f"{name}(): index must be int64, not {places.dtype}: use long()")
    if places.size and (places.min() < 0 or places.max() >= size):
        raise error(f"{name}(): index out of bounds for a dimension of size {size}")


def _check_places(
    name: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None = None
) -> None:
    """Raise if places, one for each entry, do not fit to a tensor or to what is written there."""
    own, sizes = input._array.shape, index._array.shape
    limits = tuple(math.inf if d == dim else size for d, size in enumerate(own))
    for other in (limits, limits if src is None else src._array.shape):
        if len(sizes) != len(other) or any(a > b for a, b in zip(sizes, other, strict=True)):
            raise RuntimeError(f"{name}(): index of size {list(sizes)} does not fit: {list(own)}")
    _check_listed(name, index._array, own[dim] if own else 1)


def _values_for(name: str, input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Check places and values; of these there may be more than places, and the first are taken."""
    if src._array.dtype != input._array.dtype:
        raise RuntimeError(f"{name}(): src is {src.dtype}, not {input.dtype}: use .to(dtype)")
    _check_places(name, input, dim, index, src)
    if src._array.shape == index._array.shape:
        return src
    return src[tuple(map(slice, index._array.shape))]


_writing = partial(variants, out="none", in_place=True)


@variants("gather", out="none")
def gathered(input: Tensor, dim: Dim, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Give the entries at listed places along a dimension: `x[index[i, j], j]` for `dim=0`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        sparse_grad: False, as minigrad has no sparse tensors.

    Returns:
        A tensor of the shape of `index`.

    Raises:
        RuntimeError: If the index has another number of dimensions or another type, or names a
            place that is not there.

    Example:
        >>> import minigrad as torch
        >>> scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.gather(scores, 1, torch.tensor([[0], [1]]))
        tensor([[1.],
                [4.]])
    """
    if sparse_grad:
        raise NotImplementedError("gather has no sparse_grad=True: there are no sparse tensors")
    _check_places("gather", input, dim, index)
    return watched(gather(input, dim, index._array), index)


@_writing("scatter")
def scattered(
    input: Tensor, dim: Dim, index: Tensor, src: Any = None, *, value: Any = None
) -> Tensor:
    """Write values to listed places along a dimension: `x[index[i, j], j] = src[i, j]`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        src: The values, at least as many as places; or one number.
        value: One number, by name.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.scatter(torch.zeros(2, 3), 1, torch.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    if src is not None and value is not None:
        raise no_combination("scatter", input, index, src, value)
    if isinstance(src, Tensor):
        values = _values_for("scatter", input, dim, index, src)
        return watched(scatter(input, dim, index._array, values), index)
    _check_places("scatter", input, dim, index)
    given = src if value is None else number(value, "scatter", "value", kind="Scalar")
    filling = entry(plain(given), input._array.dtype)
    return watched(scatter_number(input, dim, index._array, filling), index)


@_writing("scatter_add")
def scatter_added(input: Tensor, dim: Dim, index: Tensor, src: Tensor) -> Tensor:
    """Add values at listed places along a dimension: `x[index[i, j], j] += src[i, j]`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        src: The values, at least as many as places.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 0, 1]), torch.ones(3))
        tensor([2., 1., 0.])
    """
    values = _values_for("scatter_add", input, dim, index, src)
    result = scatter_add(input, dim, index._array, values)
    return watched(result, index) if src.requires_grad else result


@variants("index_select", out="none")
def index_selected(input: Tensor, dim: Dim, index: Tensor) -> Tensor:
    """Give a copy of the slices at listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension.
        index: A vector of whole numbers.

    Raises:
        IndexError: If there is no such place, or the index is no vector.
        RuntimeError: If the index holds no whole numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1, 1]))
        tensor([[2, 2],
                [4, 4]])
    """
    places = index._array
    if places.ndim > 1:
        raise IndexError("index_select(): index must be a vector")
    _check_listed("index_select", places, input._array.shape[dim] if input.ndim else 1, IndexError)
    return watched(index_select(input, dim, places.reshape(-1)), index)


@_writing("index_add")
def index_added(
    input: Tensor, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """Add slices of a source, times `alpha`, at listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension.
        index: For each slice of the source its place.
        source: What is added.
        alpha: A factor.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
        tensor([3., 0., 0.])
    """
    places, own = index._array.reshape(-1), input._array.shape
    check_one_type(source._array, input._array)
    expected = (*own[:dim], places.size, *own[dim + 1 :])
    if index.ndim > 1 or source._array.shape != expected:
        raise RuntimeError(f"index_add() takes a vector, and a source of size {list(expected)}")
    _check_listed("index_add", places, own[dim] if own else 1)
    result = index_add_dim(input, source, dim, places, alpha)
    return watched(result, index) if source.requires_grad else result


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


@variants("trace")
def trace_of(input: Tensor) -> Tensor:
    """Add up the main diagonal of a matrix.

    Raises:
        RuntimeError: If it isn't a matrix.

    Example:
        >>> import minigrad as torch
        >>> torch.trace(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    if input._array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, got {input._array.ndim} dimensions")
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


_numpy: dict[Any, Any] = {
    np.diag: lambda v, k=0: diag(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal_of(a, offset, axis1, axis2),
    np.trace: lambda a: trace_of(a),
    np.tril: lambda m, k=0: tril(m, k),
    np.triu: lambda m, k=0: triu(m, k),
}
numpy_protocols.functions.update(_numpy)
