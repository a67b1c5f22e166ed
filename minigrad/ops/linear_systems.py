r"""Inverses, pseudoinverses, solutions of linear systems, and derivatives.

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
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import face
from minigrad.ops import shape
from minigrad.ops.triangular import tril, triu
from minigrad.ops.type_promotion import check_one_type


def linalg(schema: str, **options: Any) -> Any:
    """Give a body its face in `minigrad.linalg`; see `minigrad.faces.face`."""
    return face(f"linalg_{schema}", out="none", function=False, method=False, **options)


def mT(matrix: Any) -> Any:
    """Transpose each matrix of a batch."""
    return np.swapaxes(matrix, -2, -1)


def column_major(matrix: Any) -> Any:
    """Lay matrices out in memory column by column, as LAPACK gives them and PyTorch keeps them."""
    if type(matrix) is not np.ndarray:
        return matrix
    return mT(np.ascontiguousarray(mT(matrix)))


# ---------------------------------------------------------------------- what does not fit


class _LinAlgError(RuntimeError):
    """A matrix is singular, or an algorithm did not converge."""


LinAlgError = _LinAlgError


def check(name: str, tensor: Tensor, square: bool = True) -> None:
    """Raise if a tensor is no batch of matrices of floats."""
    sizes, dtype = tensor._array.shape, tensor._array.dtype
    if len(sizes) < 2 or (square and sizes[-1] != sizes[-2]):
        kind = "square matrices" if square else "matrices"
        raise RuntimeError(f"{name} takes {kind} in the last two dimensions, got {list(sizes)}")
    if dtype.kind in "biu" or dtype.itemsize == 2:
        raise RuntimeError(f"{name} computes in float32 or float64, got {tensor.dtype}")


def lapack(function: Any, *given: Any) -> Any:
    """Let NumPy decompose or solve something.

    Raises:
        LinAlgError: If a matrix is singular, or something does not converge.
    """
    try:
        return function(*given)
    except np.linalg.LinAlgError as error:
        raise _LinAlgError(f"linalg.{function.__name__} of {given[0].shape}: {error}") from None


# ---------------------------------------------------------------------- inverses


@differentiable(
    "LinalgInvExBackward0", self=lambda grad, result: -(mT(result) @ (grad @ mT(result)))
)
@quietly
def inv(self: Array) -> Array:
    r"""Inverse: :math:`-A^{-\top} G A^{-\top}` (Giles, 2.2.3)."""
    return column_major(lapack(np.linalg.inv, self))


@face("inverse(Tensor input, *, out=None)", out="none")
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
    check("linalg.inv", A)
    return inv(A)


# ---------------------------------------------------------------------- linear systems


def _solve_right(grad: Any, A: Any, vector: bool) -> Any:
    if vector:
        return np.squeeze(applied(solve, mT(A), np.expand_dims(grad, -1), False), -1)
    return applied(solve, mT(A), grad, False)


def _solve_left(grad: Any, A: Any, result: Any, vector: bool) -> Any:
    if vector:
        grad, result = np.expand_dims(grad, -1), np.expand_dims(result, -1)
    return -(applied(solve, mT(A), grad, False) @ mT(result))


@differentiable("LinalgSolveExBackward0", broadcasts=True, A=_solve_left, B=_solve_right)
@quietly
def solve(A: Array, B: Array, vector: bool) -> Array:
    r"""Solution of :math:`A X = B`: :math:`G_B = A^{-\top} G`, :math:`G_A = -G_B X^\top`."""
    if vector:
        return solve.forward(A, np.expand_dims(B, -1), False)[..., 0]
    return column_major(lapack(np.linalg.solve, A, B))


@linalg("solve(Tensor A, Tensor B, *, out=None)", numpy=np.linalg.solve)
def solved(A: Tensor, B: Tensor) -> Tensor:
    r"""Solve systems of linear equations.

    Args:
        A: Of shape (..., n, n).
        B: Of shape (..., n, k), or (..., n) for one right side each.

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
    check("linalg.solve", A)
    check_one_type(a, b)
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    if vector and b.ndim == 1 and a.ndim > 2:
        B = shape.expand(B, a.shape[:-1])
    return solve(A, B, vector)


def _triangular_right(grad: Any, A: Any, upper: bool) -> Any:
    return applied(solve_triangular, mT(A), grad, not upper)


def _triangular_left(grad: Any, A: Any, result: Any, upper: bool) -> Any:
    whole = -(mT(result) @ _triangular_right(grad, A, upper))
    return applied(triu if upper else tril, whole, 0)


@differentiable(
    "LinalgSolveTriangularBackward0", broadcasts=True, A=_triangular_left, B=_triangular_right
)
@quietly
def solve_triangular(A: Array, B: Array, upper: bool) -> Array:
    r"""Solution of :math:`X A = B` for a triangular A, whose gradient has that triangle only."""
    triangle = mT(np.triu(A) if upper else np.tril(A))
    return mT(lapack(np.linalg.solve, triangle, mT(B)))


# ---------------------------------------------------------------------- pseudoinverses


def _pinv_rule(grad: Any, self: Any, result: Any) -> Any:
    r"""Give :math:`-P^\top G P^\top + (I - A P) G^\top P P^\top + P^\top P G^\top (I - P A)`.

    Source: G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
    squares problems" (1973).
    """
    G, Pt = mT(grad), mT(result)
    right, left = G @ result @ Pt, Pt @ result @ G
    return right - self @ (result @ right) + left - (left @ result) @ self - Pt @ grad @ Pt


@differentiable("LinalgPinvBackward0", self=_pinv_rule)
@quietly
def pinv(self: Array, rtol: float) -> Array:
    """Pseudoinverse: parts of the matrix whose singular value is too small are left out."""
    U, S, Vh = lapack(np.linalg.svd, self, False)
    kept = rtol * np.max(S, -1, keepdims=True, initial=0) < S
    return (mT(Vh) * np.where(kept, 1 / np.where(kept, S, 1), 0)[..., None, :]) @ mT(U)


@linalg("pinv(Tensor A, float? rcond=None, *, float? rtol=None, out=None)")
def pseudoinverse(A: Tensor, rcond: float | None, rtol: float | None) -> Tensor:
    """Give the pseudoinverses of matrices.

    Args:
        A: Of shape (..., m, n).
        rcond: An older name of `rtol`.
        rtol: Singular values up to this part of the largest one are taken for 0; by default as
            rounding makes them.

    Returns:
        Of shape (..., n, m).

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.pinv(torch.tensor([[1.0], [1.0]]))
        tensor([[0.5000, 0.5000]])
    """
    check("linalg.pinv", A, square=False)
    rtol = rcond if rtol is None else rtol
    if rtol is None:
        rtol = float(np.finfo(A._array.dtype).eps) * max(A._array.shape[-2:])
    return pinv(A, rtol)


@face("pinverse(Tensor input, float rcond=1e-15)")
def pinverse(input: Tensor, rcond: float) -> Tensor:
    """Give the pseudoinverses of matrices: `linalg.pinv` under its older name."""
    return pseudoinverse(input, rcond, None)
