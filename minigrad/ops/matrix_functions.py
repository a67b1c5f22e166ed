"""Pseudoinverses, least squares, exponentials and norms of matrices, and their derivatives."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face
from minigrad.faces.arguments import dimension, dimensions
from minigrad.ops import reduction, shape
from minigrad.ops.decompositions import eigvalsh, svdvals
from minigrad.ops.linear_systems import (
    LinAlgError,
    check_floating,
    check_matrix,
    check_square,
    linalg,
    mT,
)
from minigrad.ops.type_promotion import applied, overridable, quietly

# ---------------------------------------------------------------------- pseudoinverses


def tolerance(values: Any, sizes: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """Give the size below which a singular value counts as 0.

    Args:
        values: Singular values, the largest first.
        sizes: The shape of the matrices.
        atol: None, or an absolute tolerance.
        rtol: None, or one relative to the largest; by default the type's precision times the
            larger size, unless there is an absolute one.
    """
    if rtol is None:
        precision = float(np.finfo(values.dtype).eps) * max(sizes[-2:])
        rtol = precision if atol is None else np.where(np.asarray(atol) > 0, 0.0, precision)
    largest = values.max(-1) if values.shape[-1] else np.zeros(values.shape[:-1], values.dtype)
    relative = np.asarray(rtol) * largest
    return (relative if atol is None else np.maximum(np.asarray(atol), relative))[..., None]


@overridable
def pseudoinverse(matrices: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """Give the pseudoinverses of a batch of matrices, from their singular values.

    Args:
        matrices: Of shape (..., m, n).
        atol: See `tolerance`.
        rtol: See `tolerance`.
        hermitian: Whether they are; then from their eigenvalues.
    """
    if not matrices.size:
        *batch, rows, columns = matrices.shape
        return np.zeros((*batch, columns, rows), matrices.dtype)
    if hermitian:
        S, U = np.linalg.eigh(matrices)
        Vh = mT(U.conj())
        sizes = np.abs(S)
    else:
        U, S, Vh = np.linalg.svd(matrices, full_matrices=False)
        sizes = S
    kept = sizes > tolerance(sizes, matrices.shape, atol, rtol)
    inverse = np.where(kept, 1 / np.where(kept, S, 1), np.where(np.isnan(S), S, 0))
    inverse = inverse.astype(S.dtype)
    return np.ascontiguousarray((mT(Vh).conj() * inverse[..., None, :]) @ mT(U).conj())


def _pinv_rule(grad: Any, self: Any, result: Any) -> Any:
    turned, turned_grad = mT(result), mT(grad)
    if self.shape[-2] <= self.shape[-1]:
        K = turned_grad @ result
        KT = K @ turned
        return (
            -mT(result @ K)
            + KT
            - (self @ result) @ KT
            + (turned @ result) @ (turned_grad - K @ self)
        )
    K = result @ turned_grad
    TK = turned @ K
    return (
        -mT(K @ result) + ((turned_grad - self @ K) @ result) @ turned + TK - (TK @ result) @ self
    )


@differentiable("LinalgPinvBackward0", self=_pinv_rule)
@quietly
def pinv(self: Array, atol: Any, rtol: Any, hermitian: bool) -> Array:
    r"""Pseudoinverse :math:`V S^+ U^\top`, where the rank does not change.

    The rule is that of G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
    nonlinear least squares problems whose variables separate" (1973).
    """
    return pseudoinverse(self, atol, rtol, hermitian)


def _unwrapped(limit: Any) -> Any:
    return limit._array if isinstance(limit, Tensor) else limit


@linalg(
    "pinv(Tensor A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None)",
    numpy=np.linalg.pinv,
)
def pseudoinverse_of(A: Tensor, rcond: Any, hermitian: bool, atol: Any, rtol: Any) -> Tensor:
    r"""Give the pseudoinverses of matrices of any shape.

    Args:
        A: Of shape (..., m, n).
        rcond: The older name of `rtol`.
        hermitian: Whether A is symmetric.
        atol: Singular values up to this one count as 0; a number, or a tensor of shape (...).
        rtol: The same, relative to the largest one. By default the precision of the type times
            the larger of m and n.

    Returns:
        Of shape (..., n, m).

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0]]))
        tensor([[0.5000],
                [0.0000]])
    """
    array = A._array
    if array.ndim < 2 or array.dtype.kind in "iub" or array.dtype.itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({scalar_name(array)}{{{list(array.shape)}}}): expected a tensor with 2 "
            "or more dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_square("linalg.eigh", A)
    rtol = rcond if rtol is None else rtol
    try:
        return pinv(A, _unwrapped(atol), _unwrapped(rtol), hermitian)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained "
            "non-finite values."
        ) from None


@face("pinverse(Tensor input, rcond=1e-15)")
def pinverse(input: Tensor, rcond: float) -> Tensor:
    """Give the pseudoinverses of matrices: `linalg.pinv` with a tolerance of its own."""
    return pseudoinverse_of(input, rcond, False, None, None)


@linalg(
    "matrix_rank(Tensor input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None)",
    numpy=np.linalg.matrix_rank,
)
def matrix_rank(input: Tensor, tol: Any, hermitian: bool, atol: Any, rtol: Any) -> Tensor:
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
    check_matrix("torch.linalg.matrix_rank", input, "input")
    array = input._array
    if array.dtype.kind not in "fc" or array.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    alone = input.detach()
    if not array.size:
        return wrap(np.zeros(array.shape[:-2], np.int64))
    values = (abs(eigvalsh(alone, "L")) if hermitian else svdvals(alone))._array
    absolute = tol if atol is None else atol
    if tol is not None and rtol is None:
        rtol = 0.0
    limit = tolerance(values, array.shape, _unwrapped(absolute), _unwrapped(rtol))
    return wrap(np.asarray((values > limit).sum(-1), np.int64))


# ---------------------------------------------------------------------- least squares


@differentiable(
    "LinalgLstsqBackward0",
    broadcasts=("B",),
    self=lambda grad, self, B: _pinv_rule(
        grad @ mT(B), self, applied(pinv, self, None, None, False)
    ),
    B=lambda grad, self: mT(applied(pinv, self, None, None, False)) @ grad,
)
@quietly
def lstsq(self: Array, B: Array, rcond: Any) -> Array:
    r"""Least squares :math:`A^+ B`: through the pseudoinverse for A, :math:`A^{+\top} G` for B."""
    return pinv.forward(self, None, rcond, False) @ B


def _check_systems(A: Any, B: Any, driver: Any) -> bool:
    """Check what least squares gets, and tell whether right sides are vectors."""
    a, b = A._array, B._array
    if a.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
            f"dtype {scalar_name(a)} and other's dtype {scalar_name(b)}"
        )
    if a.dtype.kind not in "fc" or a.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    vector = b.ndim == a.ndim - 1 and b.shape == a.shape[:-1]
    if a.shape[-2] != (b.shape[-1] if vector else b.shape[-2] if b.ndim > 1 else 0):
        size = "-1" if vector else "-2"
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({size})")
    return vector


@linalg(
    "lstsq(Tensor A, Tensor B, rcond=None, *, driver=None, out=None)"
    " -> (solution, residuals, rank, singular_values)"
)
def least_squares(A: Tensor, B: Tensor, rcond: float | None, driver: str | None) -> Any:
    r"""Find :math:`X` with the smallest :math:`\|A X - B\|`, and of those the smallest X.

    Args:
        A: Of shape (..., m, n).
        B: Of shape (..., m, k), or (..., m).
        rcond: Singular values up to this one, relative to the largest, count as 0.
        driver: The name of a LAPACK routine. Here all use singular values; the name says which
            results there are besides the solution.

    Returns:
        A named tuple of `solution`, `residuals` (the squared sums, where the driver computes
        them), `rank` and `singular_values`. The gradient is that of a matrix of full rank.

    Example:
        >>> import minigrad as torch
        >>> A = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> torch.linalg.lstsq(A, torch.tensor([[1.0], [3.0], [5.0]])).solution
        tensor([[1.0000],
                [2.0000]])
    """
    vector = _check_systems(A, B, driver)
    right = shape.unsqueeze(B, B._array.ndim) if vector else B
    solution = lstsq(A, right, rcond)
    array = A._array
    m, n = array.shape[-2:]
    values = (
        np.linalg.svd(array, compute_uv=False)
        if array.size
        else np.zeros((*array.shape[:-2], min(m, n)), array.dtype)
    )
    rank = (values > tolerance(values, array.shape, None, rcond)).sum(-1)
    driver = driver or "gelsy"
    nothing = np.zeros(0, array.dtype)
    residuals = nothing
    if m > n and driver != "gelsy" and (driver == "gels" or (rank == n).all()):
        residuals = np.square(array @ solution._array - right._array).sum(-2)
    if vector:
        solution = shape.squeeze_dim(solution, solution._array.ndim - 1)
    return (
        solution,
        wrap(residuals),
        wrap(np.zeros(0, np.int64) if driver == "gels" else np.asarray(rank, np.int64)),
        wrap(values if driver in ("gelsd", "gelss") else nothing),
    )


# ---------------------------------------------------------------------- exponentials


def _matrix_exp_rule(grad: Any, self: Any) -> Any:
    size = self.shape[-1]
    block = np.zeros_like(self, shape=(*self.shape[:-2], 2 * size, 2 * size))
    turned = mT(self)
    block[..., :size, :size] = turned
    block[..., size:, size:] = turned
    block[..., :size, size:] = grad
    return applied(matrix_exp, block)[..., :size, size:]


@differentiable("LinalgMatrixExpBackward0", self=_matrix_exp_rule)
@quietly
def matrix_exp(self: Array) -> Array:
    r"""Exponential :math:`\sum_k A^k / k!`: a block of the exponential of a larger matrix.

    That is :math:`\exp \begin{pmatrix} A^\top & G \\ 0 & A^\top \end{pmatrix}` (R. Mathias, "A
    chain rule for matrix functions and applications", 1996). The matrix is halved until it is
    small; then 18 terms of the series are exact to the last digit, and the result is squared.
    """
    if not self.size:
        return self.copy()
    largest = float(np.add.reduce(np.abs(self), axis=-2).max())
    if not np.isfinite(largest):
        return np.full_like(self, np.nan)
    halvings = max(0, int(np.ceil(np.log2(largest))) + 1) if largest > 0 else 0
    small = self * 0.5**halvings
    eye = np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)
    result = eye + small * (1 / 18)
    for term in range(17, 0, -1):
        result = eye + small @ result * (1 / term)
    for _ in range(halvings):
        result = result @ result
    return result


@linalg("matrix_exp(Tensor A)")
@face("matrix_exp(Tensor input)")
def exponential(input: Tensor) -> Tensor:
    r"""Give the exponentials :math:`\sum_k A^k / k!` of square matrices.

    Example:
        >>> import minigrad as torch
        >>> torch.matrix_exp(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
        tensor([[1., 1.],
                [0., 1.]])
    """
    check_square("linalg.matrix_exp", input)
    check_floating("linalg.matrix_exp", input)
    return matrix_exp(input)


# ---------------------------------------------------------------------- norms


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


@linalg("vector_norm(Tensor x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None)")
def vector_norm(x: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
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
        return reduction.vector_norm_as(x, ord, dims, keepdim, dtype.numpy)
    return reduction.vector_norm(x, ord, dims, keepdim)


def _written(order: Any) -> str:
    return order if isinstance(order, str) else f"{order:g}"


def _of_singular_values(A: Tensor, order: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    """Give the largest or smallest singular value, or the sum of all."""
    ndim = A._array.ndim
    order_of_dims = [d for d in range(ndim) if d not in (rows, columns)] + [rows, columns]
    values = svdvals(shape.permute(A, tuple(order_of_dims)))
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
    return result


@linalg(
    'matrix_norm(Tensor A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None)',
)
def matrix_norm(A: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
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
        return vector_norm(A, 2, (rows, columns), keepdim, dtype)
    if dtype is not None:
        A = A.to(dtype)
    if ord == "nuc" or abs(ord) == 2:
        return _of_singular_values(A, ord, rows, columns, keepdim)
    added, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, added, keepdim, None)
    if not keepdim and compared > added:
        compared -= 1
    if not sums._array.shape[compared] and ord > 0:
        sizes = list(sums._array.shape)
        sizes[compared : compared + 1] = [1] if keepdim else []
        return wrap(np.zeros(tuple(sizes), array.dtype))
    extreme = reduction.amax if ord > 0 else reduction.amin
    return extreme(sums, (compared,), keepdim)


def _known(order: Any) -> bool:
    if isinstance(order, str):
        return order in ("fro", "nuc")
    return abs(order) in (1, 2, math.inf)


@linalg(
    "norm(Tensor input, ord=None, dim=None, keepdim=False, *, dtype=None, out=None)",
    numpy=np.linalg.norm,
)
def norm(input: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
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
        return matrix_norm(input, ord, chosen, keepdim, dtype)
    order = 2 if ord is None else ord
    return vector_norm(input, order, dims, keepdim, dtype)
