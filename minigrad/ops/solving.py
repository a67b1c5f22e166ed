r"""The derivatives of inverses, Cholesky factors and solutions of linear systems.

All matrices may come in batches. With :math:`G` the gradient of the result, the formulas are those
of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); conventions about symmetric matrices are PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.elimination import solved_by_elimination, substituted
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.tape import Array, differentiable
from minigrad.ops.triangular import tril, triu


def mT(matrix: Any) -> Any:
    """Transpose each matrix of a batch."""
    return np.swapaxes(matrix, -1, -2)


def column_major(matrix: Any) -> Any:
    """Lay matrices out in memory column by column, as LAPACK gives them and PyTorch keeps them."""
    if type(matrix) is not np.ndarray:
        return matrix
    return mT(np.ascontiguousarray(mT(matrix)))


def _inv_rule(grad: Any, result: Any) -> Any:
    return -(mT(result) @ (grad @ mT(result)))


@differentiable("LinalgInvExBackward0", self=_inv_rule)
@quietly
def inv(self: Array) -> Array:
    r"""Inverse: :math:`-A^{-\top} G A^{-\top}` (Giles, 2.2.3)."""
    try:
        return column_major(np.linalg.inv(self))
    except np.linalg.LinAlgError:  # whoever called looks for that, or wants infinities
        eye = np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)
        return column_major(solved_by_elimination(self, eye))


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
    try:
        return column_major(np.linalg.solve(A, B))
    except np.linalg.LinAlgError:
        return column_major(solved_by_elimination(A, B))


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


# ---------------------------------------------------------------------- Cholesky factors


def _cholesky_rule(grad: Any, result: Any, upper: bool) -> Any:
    factor = mT(result) if upper else result
    lower = applied(tril, mT(factor) @ (mT(grad) if upper else grad), 0)
    symmetric = (lower + mT(applied(tril, lower, -1))) * 0.5
    right = applied(solve_triangular, mT(factor), symmetric, True, True, False)
    return applied(solve_triangular, factor, right, False, False, False)


def _cholesky(matrix: Any, upper: bool) -> Any:
    factor = column_major(np.linalg.cholesky(mT(matrix).conj() if upper else matrix))
    return column_major(mT(factor).conj()) if upper else factor


@differentiable("LinalgCholeskyExBackward0", self=_cholesky_rule)
@quietly
def cholesky(self: Array, upper: bool) -> Array:
    r"""Factor of :math:`A = L L^\top`: :math:`L^{-\top} \Phi(L^\top G) L^{-1}`, made symmetric.

    :math:`\Phi` takes the lower triangle and half of the diagonal (Giles; I. Murray,
    "Differentiation of the Cholesky decomposition", 2016).
    """
    return _cholesky(self, upper)


@differentiable("CholeskyBackward0", self=_cholesky_rule)
@quietly
def cholesky_old(self: Array, upper: bool) -> Array:
    """The same under its older name."""
    return _cholesky(self, upper)


def _cholesky_solve_factor(grad: Any, self: Any, input2: Any, result: Any, upper: bool) -> Any:
    common = applied(cholesky_solve, grad, input2, upper) @ mT(result)
    common = common + mT(common)
    return -(input2 @ common) if upper else -(common @ input2)


@differentiable(
    "CholeskySolveBackward0",
    broadcasts=True,
    self=lambda grad, input2, upper: applied(cholesky_solve, grad, input2, upper),
    input2=_cholesky_solve_factor,
)
@quietly
def cholesky_solve(self: Array, input2: Array, upper: bool) -> Array:
    r"""Solution of :math:`L L^\top X = B`, with the factor given."""
    lower = mT(input2) if upper else input2
    first = substituted(lower, self, False, False)
    return column_major(substituted(mT(lower), first, True, False))


def _cholesky_inverse_rule(grad: Any, self: Any, result: Any, upper: bool) -> Any:
    common = result @ ((grad + mT(grad)) @ result)
    return -(self @ common) if upper else -(common @ self)


@differentiable("CholeskyInverseBackward0", self=_cholesky_inverse_rule)
@quietly
def cholesky_inverse(self: Array, upper: bool) -> Array:
    r"""Inverse of :math:`L L^\top`, with the factor given."""
    eye = np.zeros_like(self)
    for place in range(self.shape[-1]):
        eye[..., place, place] = 1
    return cholesky_solve.forward(eye, self, upper)
