"""Call norms of vectors and matrices, condition numbers and ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.type_name import type_name
from minigrad.dtypes import scalar_name
from minigrad.ops import choices, reduction, rounding, shape
from minigrad.ops.calling import decomposing, solving
from minigrad.ops.calling.arguments import dimension, dimensions
from minigrad.ops.calling.matrices import (
    check_argument,
    check_floating,
    check_matrix,
    check_square,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.matrix_functions import tolerance
from minigrad.tensor import Tensor, wrap

__all__: list[str] = []


def _check_dtype(name: str, array: Any, dtype: Any) -> None:
    """Raise if a norm is not computed in a type."""
    if dtype is None:
        return
    kind = dtype.numpy
    other = scalar_name(np.empty(0, kind))
    if kind.kind not in "fc":
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {other}")
    if kind.kind == "f" and kind.itemsize < array.itemsize:
        raise RuntimeError(
            f"{name}: the dtype of the input ({scalar_name(array)}) should be convertible without "
            f"narrowing to the specified dtype ({other})"
        )


def _refuse_nothing(array: Any, order: Any, dims: tuple[int, ...] | None) -> None:
    """Raise where a norm of no entries has no meaning."""
    if array.size or (order >= 0 and order != math.inf):
        return
    if dims is None:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {order} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for dim in dims:
        if not array.shape[dim]:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {order} norm on the dimension {dim}because "
                "this dimension is empty and the operation does not have an identity"
            )


@with_out
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    r"""Give the norm :math:`(\sum |x|^p)^{1/p}` of all entries, or along dimensions.

    Args:
        x: The tensor.
        ord: p, any number; infinity for the largest entry, 0 for how many are not 0.
        dim: A dimension, or several; None for all entries.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    check_argument("linalg_vector_norm", x, "x")
    if isinstance(ord, str) or not isinstance(ord, (int, float, complex, np.number)):
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not "
            f"{type_name(ord)}"
        )
    check_floating("linalg.vector_norm", x)
    array = x._array
    _check_dtype("linalg.vector_norm", array, dtype)
    dims = None
    if dim is not None and dim != () and dim != []:
        dims = dimensions(dim, array.ndim)
    _refuse_nothing(array, ord, dims)
    if dtype is not None and dtype.numpy != array.dtype and array.dtype.kind == "f":
        return reduction.vector_norm_as(x, ord, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    return reduction.vector_norm(x, ord, dims, keepdim)  # type: ignore[no-any-return]


def _written(order: Any) -> str:
    return order if isinstance(order, str) else f"{order:g}"


def _of_singular_values(A: Tensor, order: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    """Give the largest or smallest singular value, or the sum of all."""
    ndim = A._array.ndim
    order_of_dims = [d for d in range(ndim) if d not in (rows, columns)] + [rows, columns]
    values = decomposing.svdvals(shape.permute(A, tuple(order_of_dims)))
    last = ndim - 2
    if order == "nuc":
        result = reduction.sum_dim(values, (last,), keepdim)
    else:
        if not values._array.shape[-1]:
            if order < 0:
                raise IndexError("amin(): Expected reduction dim -1 to have non-zero size.")
            sizes = (*values._array.shape[:-1], *((1,) if keepdim else ()))
            result = wrap(np.zeros(sizes, values._array.dtype))
        else:
            extreme = reduction.amax if order > 0 else reduction.amin
            result = extreme(values, (last,), keepdim)
    if keepdim:
        back = tuple(int(d) for d in np.argsort(order_of_dims))
        result = shape.permute(shape.unsqueeze(result, ndim - 1), back)
    return result  # type: ignore[no-any-return]


@with_out
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Give the norms of matrices.

    Args:
        A: Of shape (..., m, n).
        ord: "fro": the root of the sum of squares. "nuc": the sum of singular values. 2 and -2:
            the largest and the smallest of them. 1 and -1: the largest and the smallest sum of
            absolute values of a column; inf and -inf: of a row.
        dim: The dimensions that count rows and columns.
        keepdim: Keep these dimensions, with size 1.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.matrix_norm(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))
        tensor(5.)
    """
    check_argument("linalg_matrix_norm", A)
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    low = (isinstance(ord, str) and ord == "fro") or ord in (1, -1, math.inf, -math.inf)
    check_matrix("linalg.matrix_norm", A)
    check_floating("linalg.matrix_norm", A, low=bool(low) or not _known(ord))
    if len(dims) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}"
        )
    array = A._array
    rows, columns = dimension(dims[0], array.ndim), dimension(dims[1], array.ndim)
    if rows == columns:
        raise RuntimeError(
            f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, {dims[1]})"
        )
    _check_dtype("linalg.matrix_norm", array, dtype)
    if not _known(ord):
        raise RuntimeError(f"linalg.matrix_norm: Order {_written(ord)} not supported.")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)  # type: ignore[no-any-return]
    if dtype is not None:
        A = A.to(dtype)
    if ord == "nuc" or abs(ord) == 2:
        return _of_singular_values(A, ord, rows, columns, keepdim)
    added, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, added, keepdim)
    if not keepdim and compared > added:
        compared -= 1
    if not sums._array.shape[compared] and ord > 0:
        sizes = list(sums._array.shape)
        sizes[compared : compared + 1] = [1] if keepdim else []
        return wrap(np.zeros(tuple(sizes), array.dtype))
    extreme = reduction.amax if ord > 0 else reduction.amin
    return extreme(sums, (compared,), keepdim)  # type: ignore[no-any-return]


def _known(order: Any) -> bool:
    if isinstance(order, str):
        return order in ("fro", "nuc")
    return abs(order) in (1, 2, math.inf)


@with_out
def linalg_norm(
    input: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Give the norm of a vector or of a matrix.

    Args:
        input: The tensor.
        ord: The order of the norm. For one dimension a number (`vector_norm`), for two one of
            those of `matrix_norm`. None means 2, or for a matrix the root of the sum of squares.
        dim: One dimension, or two; None for all entries.
        keepdim: Keep these dimensions, with size 1.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]), 2)
        tensor(4.)
    """
    check_argument("linalg_norm", input, "input")
    dims = None if dim is None else list(dim) if isinstance(dim, (tuple, list)) else [dim]
    ndim = input._array.ndim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dims}"
        )
    if dims is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{ndim}D."
        )
    two = len(dims) == 2 if dims is not None else ndim == 2
    if isinstance(ord, str) or (ord is not None and two):
        chosen = (0, 1) if dims is None else tuple(dims)
        return matrix_norm(input, ord, chosen, keepdim, dtype=dtype)  # type: ignore[no-any-return]
    order = 2 if ord is None else ord
    return vector_norm(input, order, dims, keepdim, dtype=dtype)  # type: ignore[no-any-return]


@with_out
def cond(A: Tensor, p: Any = None) -> Tensor:
    """Give the condition numbers of matrices: how much an error in a system can grow.

    Args:
        A: Of shape (..., m, n); square unless p is None, 2 or -2.
        p: The order of the norm; None means 2.

    Returns:
        Of shape (...); inf for a singular matrix.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.cond(torch.tensor([[1.0, 0.0], [0.0, 4.0]]))
        tensor(4.)
    """
    check_argument("linalg_cond", A)
    if A._array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if not (p is None or _known(p)):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {_written(p)}")
    batch = A._array.shape[:-2]
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        values = decomposing.svdvals(A)
        if not values._array.size:
            return wrap(np.zeros(batch, values._array.dtype))
        first, last = values[..., :1], values[..., -1:]
        ratio = last / first if p == -2 else first / last
        return shape.squeeze_dim(ratio, ratio._array.ndim - 1)  # type: ignore[no-any-return]
    check_square(f"linalg.cond(ord={_written(p)})", A)
    if not A._array.size:
        return wrap(np.zeros(batch, A._array.dtype))
    if p == "nuc":
        values = decomposing.svdvals(A)
        of_inverse = values.reciprocal().sum(-1)
        return values.sum(-1) * of_inverse  # type: ignore[no-any-return]
    inverse, info = solving.inv_ex(A)
    singular = wrap(np.broadcast_to(info._array[..., None, None] > 0, A._array.shape))
    inverse = choices.masked_fill_number(inverse, singular, math.inf)
    result = matrix_norm(A, p) * matrix_norm(inverse, p)
    result = rounding.nan_to_num(result, math.inf, math.inf, -math.inf)
    result._bump_version()  # PyTorch does this in place
    return result


@with_out
def matrix_rank(
    input: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Give the ranks of matrices: how many singular values are not 0.

    Args:
        input: Of shape (..., m, n).
        tol: The older name of `atol`.
        hermitian: Whether the matrices are symmetric.
        atol: Singular values up to this one count as 0; a number, or a tensor of shape (...).
        rtol: The same, relative to the largest one. By default the precision of the type times
            the larger of m and n.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.matrix_rank(torch.tensor([[1.0, 2.0], [2.0, 4.0]]))
        tensor(1)
    """
    check_argument("linalg_matrix_rank", input, "input")
    check_matrix("torch.linalg.matrix_rank", input, "input")
    array = input._array
    if array.dtype.kind not in "fc" or array.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    alone = input.detach()
    if not array.size:
        return wrap(np.zeros(array.shape[:-2], np.int64))
    if hermitian:
        values = np.abs(decomposing.eigvalsh(alone)._array)
    else:
        values = decomposing.svdvals(alone)._array
    absolute = tol if atol is None else atol
    if tol is not None and rtol is None:
        rtol = 0.0
    limits = [each._array if isinstance(each, Tensor) else each for each in (absolute, rtol)]
    return wrap(np.asarray((values > tolerance(values, array.shape, *limits)).sum(-1), np.int64))


methods: dict[str, Any] = {}


def _numpy_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    return linalg_norm(x, ord, axis, keepdims)  # type: ignore[no-any-return]


functions: dict[Any, Any] = {
    np.linalg.cond: lambda x, p=None: cond(x, p),
    np.linalg.matrix_rank: lambda A, tol=None, hermitian=False: matrix_rank(A, tol, hermitian),
    np.linalg.norm: _numpy_norm,
}
