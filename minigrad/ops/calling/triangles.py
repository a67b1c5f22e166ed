"""Call operations on triangles and diagonals of matrices, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import inplace, triangular
from minigrad.ops.calling import shaping
from minigrad.ops.calling.arguments import cast, dimension
from minigrad.ops.calling.matrices import check_argument, check_number
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor

__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "trace",
    "tril",
    "triu",
]


def _triangle(name: str, operation: Any, meaning: str) -> Any:
    def triangle(input: Tensor, diagonal: int = 0) -> Tensor:
        check_argument(name, input, "input")
        check_number(name, diagonal, "diagonal", 2)
        if input._array.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        result: Tensor = operation(input, int(diagonal))
        return result

    triangle.__name__ = name
    triangle.__doc__ = f"""Keep {meaning} of each matrix, and set the rest to 0.

    Args:
        input: Of shape (..., m, n).
        diagonal: The diagonal at which the triangle ends; those above the main one are positive.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.ones(2, 2))
        tensor([[1., {1 if name == "triu" else 0}.],
                [{1 if name == "tril" else 0}., 1.]])
    """
    return with_out(triangle)


tril = _triangle("tril", triangular.tril, "the lower triangle")
triu = _triangle("triu", triangular.triu, "the upper triangle")


def trace(input: Tensor) -> Tensor:
    """Add up the main diagonal of a matrix.

    Raises:
        RuntimeError: If it is no matrix.

    Example:
        >>> import minigrad as torch
        >>> torch.trace(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    check_argument("trace", input, "input")
    if input._array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    if input._array.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    if input._array.dtype.kind in "iu":
        input = cast(input, np.dtype(np.int64))
    return triangular.trace(input)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- diagonals


def _planes(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    first, second = dimension(dim1, ndim), dimension(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
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
    check_argument("diagonal", input, "input")
    first, second = _planes(dim1, dim2, input._array.ndim)
    return triangular.diagonal(input, offset, first, second)  # type: ignore[no-any-return]


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Show the diagonals of matrices, as a view."""
    return diagonal(A, offset, dim1, dim2)


@with_out
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
    check_argument("diag", input, "input")
    ndim = input._array.ndim
    if ndim == 1:
        return triangular.diag_embed(input, diagonal, 0, 1)  # type: ignore[no-any-return]
    if ndim == 2:
        return triangular.diagonal_copy(input, diagonal, 0, 1)  # type: ignore[no-any-return]
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Put the last dimension on the diagonal of two, which are 0 elsewhere.

    Example:
        >>> import minigrad as torch
        >>> torch.diag_embed(torch.ones(3, 2)).shape
        torch.Size([3, 2, 2])
    """
    check_argument("diag_embed", input, "input")
    ndim = input._array.ndim
    first, second = _planes(dim1, dim2, ndim + 1 if ndim else 1)
    return triangular.diag_embed(input, offset, first, second)  # type: ignore[no-any-return]


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Put all entries on the diagonal of a matrix.

    Example:
        >>> import minigrad as torch
        >>> torch.diagflat(torch.tensor([1.0, 2.0]), 1).shape
        torch.Size([3, 3])
    """
    check_argument("diagflat", input, "input")
    return diag(shaping.reshape(input, (-1,)), offset)  # type: ignore[no-any-return]


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Copy a tensor, with another diagonal.

    Raises:
        RuntimeError: If the source has not the shape of that diagonal.

    Example:
        >>> import minigrad as torch
        >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    check_argument("diagonal_scatter", input, "input")
    check_argument("diagonal_scatter", src, "src", 2)
    first, second = _planes(dim1, dim2, input._array.ndim)
    place = input._array.diagonal(offset, first, second).shape
    if place != src._array.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(place)}"
        )
    return triangular.diagonal_scatter(input, src, offset, first, second)  # type: ignore[no-any-return]


def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to a number, in place.

    Args:
        input: With two or more dimensions; those with more than two must be equal.
        fill_value: The number.
        wrap: Whether the diagonal of a tall matrix starts again below its end.

    Example:
        >>> import minigrad as torch
        >>> torch.zeros(2, 2).fill_diagonal_(5)
        tensor([[5., 0.],
                [0., 5.]])
    """
    sizes = input._array.shape
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    rows, columns = sizes[:2]
    step = columns + 1
    for start in range(0, rows if wrap and len(sizes) == 2 else 1, step):
        part = input if start == 0 else input[start : start + columns]
        place = triangular.diagonal(part, 0, 0, 1)
        while place._array.ndim > 1:
            place = triangular.diagonal(place, 0, 0, place._array.ndim - 1)
        inplace.fill_(place, fill_value)
    return input


methods: dict[str, Any] = {
    "diag": diag,
    "diag_embed": diag_embed,
    "diagflat": diagflat,
    "diagonal": diagonal,
    "diagonal_scatter": diagonal_scatter,
    "fill_diagonal_": fill_diagonal_,
    "trace": trace,
    "tril": tril,
    "tril_": inplace.in_place(tril),
    "triu": triu,
    "triu_": inplace.in_place(triu),
}


def _numpy_trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    if offset == 0 and a._array.ndim == 2:
        return trace(a)
    return diagonal(a, offset, axis1, axis2).sum(-1)  # type: ignore[no-any-return]


functions: dict[Any, Any] = {
    np.diag: lambda v, k=0: diag(v, k),
    np.diagflat: lambda v, k=0: diagflat(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal(a, offset, axis1, axis2),
    np.trace: _numpy_trace,
    np.tril: lambda m, k=0: tril(m, k),
    np.triu: lambda m, k=0: triu(m, k),
}
