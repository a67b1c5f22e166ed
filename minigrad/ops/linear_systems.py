r"""Inverses, Cholesky factors, solutions of linear systems, and derivatives.

All matrices may come in batches. With :math:`G` the gradient of the result, the formulas are those
of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); conventions about symmetric matrices are PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, quietly
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face
from minigrad.faces.arguments import not_implemented
from minigrad.ops import shape
from minigrad.ops.triangular import tril, triu
from minigrad.ops.type_promotion import broadcast_shape, differ


def linalg(schema: str, **options: Any) -> Any:
    """Give a body its face in `minigrad.linalg`; see `minigrad.faces.face`."""
    return face(f"linalg_{schema}", function=False, method=False, **options)


def mT(matrix: Any) -> Any:
    """Transpose each matrix of a batch."""
    return np.swapaxes(matrix, -1, -2)


def column_major(matrix: Any) -> Any:
    """Lay matrices out in memory column by column, as LAPACK gives them and PyTorch keeps them."""
    if type(matrix) is not np.ndarray:
        return matrix
    return mT(np.ascontiguousarray(mT(matrix)))


# ---------------------------------------------------------------------- what does not fit


class _LinAlgError(RuntimeError):
    """A matrix is singular, or not positive-definite, or an algorithm did not converge."""


LinAlgError = _LinAlgError


def check_matrix(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raise if a tensor has less than two dimensions."""
    if tensor._array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(name: str, tensor: Tensor) -> None:
    """Raise if a tensor is no batch of square matrices."""
    check_matrix(name, tensor)
    rows, columns = tensor._array.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )


def check_floating(name: str, tensor: Tensor, low: bool = True) -> None:
    """Raise if entries are no floating-point or complex numbers, or have too few bits."""
    dtype = tensor._array.dtype
    if dtype.kind in "iub":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(tensor._array)}"
        )
    if not low and dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def check_kernel(kernel: str, tensor: Tensor) -> None:
    """Raise if LAPACK has no such routine for a type of numbers."""
    dtype = tensor._array.dtype
    if dtype.kind in "iub" or (dtype.kind == "f" and dtype.itemsize == 2):
        raise not_implemented(kernel, tensor._array)


def check(name: str, tensor: Tensor, kernel: str, square: bool = True) -> None:
    """Raise if a tensor is no batch of matrices that a routine of LAPACK takes."""
    (check_square if square else check_matrix)(name, tensor)
    check_floating(name, tensor)
    check_kernel(kernel, tensor)


def _computed(name: str, compute: Any, failed: Any, matrices: Any, text: str) -> Any:
    """Compute something of a batch of matrices, or say which of them makes it impossible.

    Args:
        name: The function.
        compute: What gives the result, or raises NumPy's error.
        failed: Tells of one matrix at which row, counted from 1, it fails; 0 if it does not.
        matrices: The batch.
        text: What to say, with a place for the row.
    """
    result = None
    try:
        result = compute()
        if np.isfinite(result._array).all():
            return result
    except np.linalg.LinAlgError:
        pass
    for number, place in enumerate(np.ndindex(matrices.shape[:-2])):
        row = failed(matrices[place])
        if row:
            batch = f"(Batch element {number}): " if place else ""
            raise _LinAlgError(f"{name}: {batch}{text.format(row)}")
    if result is None:
        raise _LinAlgError(f"{name}: {text.format(matrices.shape[-1])}")
    return result


# ---------------------------------------------------------------------- elimination


def substituted(matrix: Any, right: Any, upper: bool, unit: bool) -> Any:
    """Solve a triangular system by substitution; where the diagonal has a 0 come inf or NaN.

    Args:
        matrix: Of shape (..., n, n). The other triangle is not read, nor the diagonal if `unit`.
        right: Of shape (..., n, k).
        upper: Whether the upper triangle is the matrix; then the last row comes first.
        unit: Whether the diagonal is all ones.
    """
    size = matrix.shape[-1]
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    result = np.zeros_like(right, shape=(*batch, *right.shape[-2:]))
    order = range(size - 1, -1, -1) if upper else range(size)
    for step, row in enumerate(order):
        value = right[..., row : row + 1, :]
        if step:
            known = slice(row + 1, None) if upper else slice(None, row)
            value = value - matrix[..., row : row + 1, known] @ result[..., known, :]
        if not unit:
            value = value / matrix[..., row : row + 1, row : row + 1]
        result[..., row : row + 1, :] = value
    return result


def _zero_pivot(matrix: Any) -> int:
    """Tell which column depends on those before it, counted from 1; 0 if none does.

    That is where elimination meets a pivot of 0.
    """
    if not np.isfinite(matrix).all():
        return 0
    counts = range(1, len(matrix) + 1)
    return next((n for n in counts if np.linalg.matrix_rank(matrix[:, :n]) < n), 0)


def bad_minor(matrix: Any) -> int:
    """Tell the order of the first leading minor that is not positive-definite; 0 if all are."""
    for order in range(1, len(matrix) + 1):
        try:
            factor = np.linalg.cholesky(matrix[:order, :order])
        except np.linalg.LinAlgError:
            return order
        if not (factor.diagonal().real > 0).all():
            return order
    return 0


# ---------------------------------------------------------------------- inverses


@differentiable(
    "LinalgInvExBackward0", self=lambda grad, result: -(mT(result) @ (grad @ mT(result)))
)
@quietly
def inv(self: Array) -> Array:
    r"""Inverse: :math:`-A^{-\top} G A^{-\top}` (Giles, 2.2.3)."""
    return column_major(np.linalg.inv(self))


@face("inverse(Tensor input, *, out=None)")
@linalg("inv(Tensor A, *, out=None)", numpy=np.linalg.inv)
def inverted(A: Tensor) -> Tensor:
    r"""Invert square matrices.

    Args:
        A: Of shape (..., n, n).

    Returns:
        :math:`A^{-1}`, of the same shape.

    Raises:
        LinAlgError: If a matrix is singular.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    check_square("linalg.inv", A)
    check_floating("linalg.inv", A, low=False)
    text = (
        "The diagonal element {} is zero, the inversion could not be completed because the "
        "input matrix is singular."
    )
    result: Tensor = _computed("linalg.inv", lambda: inv(A), _zero_pivot, A._array, text)
    return result


# ---------------------------------------------------------------------- linear systems


def _solve_right(grad: Any, A: Any, left: bool, vector: bool) -> Any:
    if vector:
        grad = np.expand_dims(grad, -1)
    solution = applied(solve, mT(A), grad, left, False)
    return np.squeeze(solution, -1) if vector else solution


def _solve_left(grad: Any, A: Any, result: Any, left: bool, vector: bool) -> Any:
    if vector:
        grad, result = np.expand_dims(grad, -1), np.expand_dims(result, -1)
    right = applied(solve, mT(A), grad, left, False)
    return -(right @ mT(result)) if left else -(mT(result) @ right)


@differentiable("LinalgSolveExBackward0", broadcasts=True, A=_solve_left, B=_solve_right)
@quietly
def solve(A: Array, B: Array, left: bool, vector: bool) -> Array:
    r"""Solution of :math:`A X = B`: :math:`G_B = A^{-\top} G`, :math:`G_A = -G_B X^\top`."""
    if vector:
        return solve.forward(A, np.expand_dims(B, -1), left, False)[..., 0]
    if not left:
        return mT(solve.forward(mT(A), mT(B), True, False))
    return column_major(np.linalg.solve(A, B))


def _check_fit(name: str, a: Any, b: Any, left: bool) -> None:
    """Raise if A X = B, or X A = B, makes no sense for matrices of two shapes."""
    if a[-1] != (b[-2] if left else b[-1]):
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )
    broadcast_shape(b[:-2], a[:-2])


@linalg("solve(Tensor A, Tensor B, *, left=True, out=None)", numpy=np.linalg.solve)
def solved(A: Tensor, B: Tensor, left: bool) -> Tensor:
    r"""Solve systems of linear equations.

    Args:
        A: Of shape (..., n, n).
        B: Of shape (..., n, k), or (..., n) for one right side each.
        left: Whether to solve :math:`A X = B`; else :math:`X A = B`, with B of shape (..., k, n).

    Returns:
        X, in the shape of B with the batches broadcast.

    Raises:
        LinAlgError: If a matrix is singular.
        RuntimeError: If shapes do not fit, or dtypes differ.

    Example:
        >>> import minigrad as torch
        >>> A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> torch.linalg.solve(A, torch.tensor([4.0, 8.0]))
        tensor([1., 2.])
    """
    a, b = A._array, B._array
    check("linalg.solve", A, "lu_cpu")
    if differ(a, b):
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{scalar_name(a)} and B of type {scalar_name(b)} instead"
        )
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if vector and b.ndim == 1 and a.ndim > 2 and b.shape == a.shape[-1:]:
        B = shape.expand(B, a.shape[:-1])
    sizes = B._array.shape
    _check_fit("linalg.solve", a.shape, (*sizes, 1) if vector else sizes, left)
    text = "The solver failed because the input matrix is singular."
    result: Tensor = _computed(
        "torch.linalg.solve", lambda: solve(A, B, left, vector), _zero_pivot, a, text
    )
    return result


def _triangular_right(grad: Any, A: Any, upper: Any, left: Any, unitriangular: Any) -> Any:
    return applied(solve_triangular, mT(A), grad, not upper, left, unitriangular)


def _triangular_left(
    grad: Any, A: Any, result: Any, upper: Any, left: Any, unitriangular: Any
) -> Any:
    right = _triangular_right(grad, A, upper, left, unitriangular)
    whole = -(right @ mT(result)) if left else -(mT(result) @ right)
    diagonal = int(unitriangular)
    return applied(triu, whole, diagonal) if upper else applied(tril, whole, -diagonal)


@differentiable(
    "LinalgSolveTriangularBackward0", broadcasts=True, A=_triangular_left, B=_triangular_right
)
@quietly
def solve_triangular(A: Array, B: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    r"""Solution of :math:`A X = B` for a triangular A, whose gradient has that triangle only."""
    if not left:
        return mT(substituted(mT(A), mT(B), not upper, unitriangular))
    return column_major(substituted(A, B, upper, unitriangular))


@linalg("solve_triangular(Tensor A, Tensor B, *, upper, left=True, unitriangular=False, out=None)")
def triangular_solved(A: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool) -> Tensor:
    r"""Solve systems whose matrix is triangular; the other triangle is not read.

    Args:
        A: Of shape (..., n, n).
        B: Of shape (..., n, k).
        upper: Whether A is an upper triangle.
        left: Whether to solve :math:`A X = B`; else :math:`X A = B`.
        unitriangular: Whether the diagonal of A is taken to be all ones.

    Example:
        >>> import minigrad as torch
        >>> A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> torch.linalg.solve_triangular(A, torch.tensor([[4.0], [8.0]]), upper=True)
        tensor([[1.],
                [2.]])
    """
    check_square("linalg.solve_triangular", A)
    check_matrix("linalg.solve_triangular", B, "B")
    _check_fit("linalg.solve_triangular", A._array.shape, B._array.shape, left)
    check_kernel("triangular_solve_cpu", A)
    return solve_triangular(A, B, upper, left, unitriangular)


# ---------------------------------------------------------------------- Cholesky factors


def _cholesky_rule(grad: Any, result: Any, upper: bool) -> Any:
    factor = mT(result) if upper else result
    lower = applied(tril, mT(factor) @ (mT(grad) if upper else grad), 0)
    symmetric = (lower + mT(applied(tril, lower, -1))) * 0.5
    right = applied(solve_triangular, mT(factor), symmetric, True, True, False)
    return applied(solve_triangular, factor, right, False, False, False)


@differentiable("LinalgCholeskyExBackward0", self=_cholesky_rule)
@quietly
def cholesky(self: Array, upper: bool) -> Array:
    r"""Factor of :math:`A = L L^\top`: :math:`L^{-\top} \Phi(L^\top G) L^{-1}`, made symmetric.

    :math:`\Phi` takes the lower triangle and half of the diagonal (Giles; I. Murray,
    "Differentiation of the Cholesky decomposition", 2016).
    """
    factor = column_major(np.linalg.cholesky(mT(self).conj() if upper else self))
    return column_major(mT(factor).conj()) if upper else factor


@linalg("cholesky(Tensor A, *, upper=False, out=None)", numpy=np.linalg.cholesky)
def factored(A: Tensor, upper: bool) -> Tensor:
    r"""Factor positive-definite matrices as :math:`L L^\top`, with a lower triangle L.

    Args:
        A: Of shape (..., n, n), symmetric; only its lower triangle is read (the upper one if
            `upper`). Its gradient is symmetric.
        upper: Whether to give the transpose of L.

    Raises:
        LinAlgError: If a matrix is not positive-definite.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """
    check("linalg.cholesky", A, "cholesky_cpu")
    text = (
        "The factorization could not be completed because the input is not positive-definite (the "
        "leading minor of order {} is not positive-definite)."
    )
    lower = mT(A._array) if upper else A._array
    result: Tensor = _computed(
        "linalg.cholesky", lambda: cholesky(A, upper), bad_minor, lower, text
    )
    return result
