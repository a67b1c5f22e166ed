"""The derivatives of the pseudoinverse, of least squares and of the matrix exponential."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied, quietly
from minigrad.ops.overriding import overridable
from minigrad.ops.solving import mT
from minigrad.ops.tape import Array, differentiable


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
