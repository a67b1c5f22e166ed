r"""The derivatives of eigenvalues, singular values and of the factors Q and R.

Each decomposition has several results, and its rule gets their gradients together; one that was
not used is None. Matrices may come in batches. The formulas are those of M. Giles, "Collected
matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), and of
J. Townsend, "Differentiating the singular value decomposition" (2016); for Q and R those of
S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010). They
hold where eigenvalues or singular values are distinct, and do not depend on the signs of vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied, quietly
from minigrad.ops.parts import slice_dim
from minigrad.ops.several_outputs import Decomposition, recorded
from minigrad.ops.solving import column_major, mT, solve_triangular
from minigrad.ops.triangular import diag_embed, tril, triu
from minigrad.tensor import Tensor


def _columns(vector: Any) -> Any:
    return np.expand_dims(vector, -1)


def _rows(vector: Any) -> Any:
    return np.expand_dims(vector, -2)


def _skew(matrix: Any) -> Any:
    return matrix - mT(matrix)


def _set_diagonal(matrix: Any, values: Any) -> Any:
    """Write the diagonals of new matrices."""
    if isinstance(matrix, Tensor):
        place = matrix.diagonal(0, -2, -1)
        place.copy_(values) if isinstance(values, Tensor) else place.fill_(values)
    else:
        place = range(matrix.shape[-1])
        matrix[..., place, place] = values
    return matrix


def _diagonal_halved(matrix: Any) -> Any:
    if isinstance(matrix, Tensor):
        matrix.diagonal(0, -2, -1).mul_(0.5)
        return matrix
    place = range(matrix.shape[-1])
    matrix[..., place, place] *= 0.5
    return matrix


def _gaps(values: Any) -> Any:
    """Give :math:`v_j - v_i` for all i and j, and 1 on the diagonal."""
    return _set_diagonal(_rows(values) - _columns(values), 1)


# ---------------------------------------------------------------------- eigenvalues


class LinalgEighBackward0(Decomposition):
    """Backward of `eigh`."""

    __slots__ = ()
    _names_of_saved = ("eigenvalues", "eigenvectors")

    @staticmethod
    def rule(grad_L: Any, grad_V: Any, L: Any, V: Any) -> Any:
        r"""Give :math:`V (\mathrm{diag}(g_\lambda) + V^\top G_V / (\lambda_j - \lambda_i)) V^\top`.

        Of :math:`V^\top G_V` only the antisymmetric part counts: V stays orthogonal (Giles, 3.1).
        """
        if grad_V is None:
            return (V * _rows(grad_L)) @ mT(V)
        middle = (_skew(mT(V) @ grad_V) * 0.5) / _gaps(L)
        if grad_L is not None:
            middle = _set_diagonal(middle, grad_L)
        return V @ (middle @ mT(V))


@quietly
def eigh(A: Tensor, UPLO: Any) -> tuple[Tensor, ...]:
    """Give the eigenvalues of symmetric matrices, ascending, and the eigenvectors in columns."""
    values, vectors = np.linalg.eigh(A._array, UPLO)
    return recorded(LinalgEighBackward0, A, (values, column_major(vectors)))


# ---------------------------------------------------------------------- singular values


def _thin(array: Any, full: bool, count: int, rows: bool) -> Any:
    """Leave out the vectors that belong to no singular value."""
    if array is None or not full:
        return array
    return applied(slice_dim, array, array.ndim - (2 if rows else 1), 0, count, 1)


class LinalgSvdBackward0(Decomposition):
    """Backward of `svd`."""

    __slots__ = ()
    _names_of_saved = ("U", "S", "Vh")

    @staticmethod
    def rule(grad_U: Any, grad_S: Any, grad_Vh: Any, U: Any, S: Any, Vh: Any, full: bool) -> Any:
        r"""Give :math:`U (U^\top G_U E^{-1} S + S V^\top G_V E^{-1} + \mathrm{diag}(g)) V^\top`.

        :math:`E_{ij} = s_j^2 - s_i^2`; what :math:`G_U` and :math:`G_V` have outside of the
        spaces of U and V is divided by S and added (Townsend, 2016).
        """
        count = S.shape[-1]
        U, Vh = _thin(U, full, count, False), _thin(Vh, full, count, True)
        grad_U, grad_Vh = _thin(grad_U, full, count, False), _thin(grad_Vh, full, count, True)
        m, n = U.shape[-2], Vh.shape[-1]
        if grad_U is None and grad_Vh is None:
            return U @ (_columns(grad_S) * Vh) if m >= n else (U * _rows(grad_S)) @ Vh
        squares = S * S
        if grad_U is not None and grad_Vh is not None:
            turned = _skew(mT(U) @ grad_U) * _rows(S) + _columns(S) * _skew(Vh @ mT(grad_Vh))
            middle = turned / _gaps(squares)
        elif grad_U is not None:
            middle = (_skew(mT(U) @ grad_U) / _gaps(squares)) * _rows(S)
        else:
            middle = _columns(S) * (_skew(Vh @ mT(grad_Vh)) / _gaps(squares))
        if grad_S is not None:
            ndim = len(middle.shape)
            middle = middle + applied(diag_embed, grad_S, 0, ndim - 2, ndim - 1)
        if m > n and grad_U is not None:
            outside = grad_U / _rows(S)
            return (U @ middle + outside - U @ (mT(U) @ outside)) @ Vh
        if m < n and grad_Vh is not None:
            outside = grad_Vh / _columns(S)
            return U @ (middle @ Vh + outside - (outside @ mT(Vh)) @ Vh)
        return U @ (middle @ Vh) if m >= n else (U @ middle) @ Vh


@quietly
def svd(A: Tensor, full_matrices: bool) -> tuple[Tensor, ...]:
    """Give U, the singular values, descending, and the transpose of V."""
    U, S, Vh = np.linalg.svd(A._array, full_matrices)
    return recorded(LinalgSvdBackward0, A, (column_major(U), S, column_major(Vh)), full_matrices)


# ---------------------------------------------------------------------- Q and R


class LinalgQrBackward0(Decomposition):
    """Backward of `qr`."""

    __slots__ = ()
    _names_of_saved = ("Q", "R")

    @staticmethod
    def rule(grad_Q: Any, grad_R: Any, Q: Any, R: Any, mode: str) -> Any:
        r"""Give :math:`[G_Q + Q\,\mathrm{sym}(\mathrm{triu}(G_R R^\top - Q^\top G_Q))] R^{-\top}`.

        sym adds the transpose, and keeps the diagonal as it is (Walter and Lehmann, 2010). A
        matrix with more columns than rows is split: Q and R of its square part say all of Q.
        """
        if mode == "r":
            raise RuntimeError(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
                "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
                "linalg.qr."
            )
        m, n = Q.shape[-2], R.shape[-1]
        if mode == "complete" and m > n:
            raise RuntimeError(
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
            )
        middle: Any = None if grad_R is None else grad_R @ mT(R)
        if grad_Q is not None:
            own = mT(Q) @ grad_Q
            middle = -own if middle is None else middle - own
        if m >= n:
            upper = applied(triu, middle, 0)
            whole = Q @ _diagonal_halved(upper + mT(upper))
            if grad_Q is not None:
                whole = whole + grad_Q
            return applied(solve_triangular, mT(R), whole, False, False, False)
        lower = Q @ applied(tril, _skew(-middle), -1)
        square = applied(solve_triangular, mT(R[..., :m]), lower, False, False, False)
        rest = np.zeros_like(square, shape=(*square.shape[:-1], n - m))
        whole = np.concatenate([square, rest], -1)
        return whole if grad_R is None else whole + Q @ grad_R


@quietly
def qr(A: Tensor, mode: Any) -> tuple[Tensor, ...]:
    """Give Q, with orthonormal columns, and the upper triangle R of A = Q R."""
    if mode == "r":
        R: Any = np.linalg.qr(A._array, "r")
        Q = np.zeros(0, R.dtype)
    else:
        Q, R = np.linalg.qr(A._array, mode=mode)
    return recorded(
        LinalgQrBackward0, A, (column_major(Q) if Q.ndim > 1 else Q, column_major(R)), mode
    )
