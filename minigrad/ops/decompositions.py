r"""Inverses, linear systems, eigenvalues, singular values, determinants, and their derivatives.

Each decomposition has several results, and its rule gets their gradients together; one that was
not used is None. Matrices may come in batches. The formulas are those of M. Giles, "Collected
matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), and of
J. Townsend, "Differentiating the singular value decomposition" (2016); for Q and R those of
S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010). They
hold where eigenvalues or singular values are distinct, and do not depend on the signs of vectors.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import Decomposition, recorded
from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.choices import pick
from minigrad.ops.linear_algebra import linalg
from minigrad.ops.scatter import tril, triu
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import numpy_protocols, variants


def mT(matrix: Any) -> Any:
    """Transpose each matrix of a batch."""
    return np.swapaxes(matrix, -2, -1)


def _of_input(input: Tensor) -> Any:
    """Name the argument as the functions do that stand outside of `minigrad.linalg`."""


# ---------------------------------------------------------------------- what does not fit


class _LinAlgError(RuntimeError):
    """A matrix is singular, or an algorithm did not converge.

    Example:
        >>> import minigrad as torch
        >>> try:
        ...     torch.linalg.inv(torch.zeros(2, 2))
        ... except torch.linalg.LinAlgError as error:
        ...     print(error)
        linalg.inv of (2, 2): Singular matrix
    """


LinAlgError = _LinAlgError


def check(name: str, tensor: Tensor, square: bool = True) -> None:
    """Raise if a tensor isn't a batch of matrices of floats."""
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


@operation("LinalgInvExBackward0", self=lambda grad, result: -(mT(result) @ (grad @ mT(result))))
@ignore_errstate
def inv(self: Array) -> Array:
    r"""Inverse: :math:`-A^{-\top} G A^{-\top}` (Giles, 2.2.3)."""
    return lapack(np.linalg.inv, self)


@linalg("inv", out="none", numpy=np.linalg.inv)
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


variants("inverse", like=_of_input, out="none")(inverted)


# ---------------------------------------------------------------------- linear systems


@operation(
    "LinalgSolveExBackward0",
    broadcasts=True,
    A=lambda grad, A, result: -(dispatch(solve, mT(A), grad) @ mT(result)),
    B=lambda grad, A: dispatch(solve, mT(A), grad),
)
@ignore_errstate
def solve(A: Array, B: Array) -> Array:
    r"""Solution of :math:`A X = B`: :math:`G_B = A^{-\top} G`, :math:`G_A = -G_B X^\top`."""
    return lapack(np.linalg.solve, A, B)


@linalg("solve", out="none", numpy=np.linalg.solve)
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
    if b.ndim == 1 or b.shape == a.shape[:-1]:
        return solve(A, B[..., None])[..., 0]
    return solve(A, B)


def _solve_triangular(A: Any, B: Any) -> Any:
    """Solve X A = B for a lower triangle A, whose gradient has that triangle only."""
    return mT(dispatch(solve, mT(dispatch(tril, A, 0)), mT(B)))


# ---------------------------------------------------------------------- pseudoinverses


def _pinv_rule(grad: Any, self: Any, result: Any) -> Any:
    r"""Give :math:`-P^\top G P^\top + (I - A P) G^\top P P^\top + P^\top P G^\top (I - P A)`.

    Source: G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
    squares problems" (1973).
    """
    G, Pt = mT(grad), mT(result)
    right, left = G @ result @ Pt, Pt @ result @ G
    return right - self @ (result @ right) + left - (left @ result) @ self - Pt @ grad @ Pt


@operation("LinalgPinvBackward0", self=_pinv_rule)
@ignore_errstate
def pinv(self: Array, rtol: float) -> Array:
    """Pseudoinverse: parts of the matrix whose singular value is too small are left out."""
    U, S, Vh = lapack(np.linalg.svd, self, False)
    kept = rtol * np.max(S, -1, keepdims=True, initial=0) < S
    return (mT(Vh) * np.where(kept, 1 / np.where(kept, S, 1), 0)[..., None, :]) @ mT(U)


@linalg("pinv", out="none")
def pseudoinverse(A: Tensor, rcond: float | None = None, *, rtol: float | None = None) -> Tensor:
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


# ---------------------------------------------------------------------- what rules share


def _skew(matrix: Any) -> Any:
    return matrix - mT(matrix)


def _with_diagonal(matrix: Any, values: Any) -> Any:
    """Give matrices with other values on their diagonals."""
    return pick(np.eye(matrix.shape[-1], dtype=bool), values, matrix)


def _diagonal_halved(matrix: Any) -> Any:
    return _with_diagonal(matrix, matrix * 0.5)


def _gaps(values: Any) -> Any:
    """Give :math:`v_j - v_i` for all i and j, and 1 on the diagonal."""
    return _with_diagonal(values[..., None, :] - values[..., None], 1)


def _decomposition(saved: str, **options: Any) -> Any:
    """Make the node of a decomposition of its rule, from the names of what it saves."""
    members = {"__slots__": (), "_names_of_saved": tuple(saved.split()), **options}

    def decorate(rule: Any) -> Any:
        members.update(rule=staticmethod(rule), __doc__=rule.__doc__, __module__=__name__)
        return type(rule.__name__, (Decomposition,), members)

    return decorate


# ---------------------------------------------------------------------- eigenvalues


@_decomposition("eigenvalues eigenvectors")
def LinalgEighBackward0(grad_L: Any, grad_V: Any, L: Any, V: Any) -> Any:
    r"""Give :math:`V (\mathrm{diag}(g_\lambda) + V^\top G_V / (\lambda_j - \lambda_i)) V^\top`.

    Of :math:`V^\top G_V` only the antisymmetric part counts: V stays orthogonal (Giles, 3.1).
    """
    if grad_V is None:
        return (V * grad_L[..., None, :]) @ mT(V)
    middle = (_skew(mT(V) @ grad_V) * 0.5) / _gaps(L)
    if grad_L is not None:
        middle = _with_diagonal(middle, grad_L[..., None])
    return V @ (middle @ mT(V))


@linalg("eigh", results="eigenvalues eigenvectors", out="none", numpy=np.linalg.eigh)
@ignore_errstate
def symmetric_eigenvalues(A: Tensor, UPLO: str = "L") -> Any:
    r"""Give the eigenvalues and eigenvectors of symmetric matrices.

    Args:
        A: Of shape (..., n, n).
        UPLO: Which triangle is read: "L" or "U".

    Returns:
        A named tuple of `eigenvalues` of shape (..., n), ascending, and `eigenvectors` in the
        columns of a tensor of shape (..., n, n). The sign of a vector is arbitrary; a loss must
        not depend on it. Where two eigenvalues are equal, vectors have no gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 2.])
    """
    triangle: Any = UPLO.upper()
    if triangle not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check("linalg.eigh", A)
    values, vectors = lapack(np.linalg.eigh, A._array, triangle)
    return recorded(LinalgEighBackward0, A, (values, vectors))


@linalg(out="none", numpy=np.linalg.eigvalsh)
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Give the eigenvalues of symmetric matrices, ascending; see `eigh`."""
    return symmetric_eigenvalues(A, UPLO)[0]


@linalg(results="eigenvalues eigenvectors", out="none")
def eig(A: Tensor) -> Any:
    """Give the complex eigenvalues and eigenvectors of square matrices.

    Raises:
        NotImplementedError: If A requires a gradient: complex numbers have none here. For
            symmetric matrices `eigh` has real eigenvalues, and gradients.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.eig(torch.tensor([[0.0, 1.0], [0.0, 0.0]])).eigenvalues
        tensor([0.+0.j, 0.+0.j])
    """
    check("linalg.eig", A)
    kind = A.dtype.to_complex().numpy
    if A.requires_grad:
        refuse_complex(kind)
    values, vectors = lapack(np.linalg.eig, A._array)
    return wrap(np.asarray(values, kind)), wrap(np.asarray(vectors, kind))


@linalg(out="none")
def eigvals(A: Tensor) -> Tensor:
    """Give the complex eigenvalues of square matrices; see `eig`."""
    return eig(A)[0]


# ---------------------------------------------------------------------- singular values


@_decomposition("U S Vh")
def LinalgSvdBackward0(
    grad_U: Any, grad_S: Any, grad_Vh: Any, U: Any, S: Any, Vh: Any, full: bool
) -> Any:
    r"""Give :math:`U (U^\top G_U E^{-1} S + S V^\top G_V E^{-1} + \mathrm{diag}(g)) V^\top`.

    :math:`E_{ij} = s_j^2 - s_i^2`; what :math:`G_U` and :math:`G_V` have outside of the
    spaces of U and V is divided by S and added (Townsend, 2016).
    """
    count = S.shape[-1]
    if full:  # the other vectors belong to no singular value
        U, grad_U = (None if each is None else each[..., :count] for each in (U, grad_U))
        Vh, grad_Vh = (None if each is None else each[..., :count, :] for each in (Vh, grad_Vh))
    if grad_U is None and grad_Vh is None:
        return (U * grad_S[..., None, :]) @ Vh
    grad_U = np.zeros_like(U) if grad_U is None else grad_U
    grad_Vh = np.zeros_like(Vh) if grad_Vh is None else grad_Vh
    turned = _skew(mT(U) @ grad_U) * S[..., None, :] + S[..., None] * _skew(Vh @ mT(grad_Vh))
    middle = turned / _gaps(S * S)
    if grad_S is not None:
        middle = _with_diagonal(middle, grad_S[..., None])
    whole = U @ middle @ Vh
    if U.shape[-2] > count:
        outside = grad_U / S[..., None, :]
        whole = whole + (outside - U @ (mT(U) @ outside)) @ Vh
    if Vh.shape[-1] > count:
        outside = grad_Vh / S[..., None]
        whole = whole + U @ (outside - (outside @ mT(Vh)) @ Vh)
    return whole


@linalg("svd", results="U S Vh", out="none")
@ignore_errstate
def decomposed(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Any:
    r"""Decompose matrices as :math:`A = U\,\mathrm{diag}(S)\,V^\top`.

    Args:
        A: Of shape (..., m, n).
        full_matrices: Whether U and Vh are square; else they have k rows or columns, the smaller
            of m and n. Their vectors that belong to no singular value have no gradient.
        driver: Not used: the CPU has one way only.

    Returns:
        A named tuple of `U`, `S`, descending, and `Vh`.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.svd(torch.tensor([[0.0, 2.0], [3.0, 0.0]])).S
        tensor([3., 2.])
    """
    check("linalg.svd", A, square=False)
    U, S, Vh = lapack(np.linalg.svd, A._array, full_matrices)
    return recorded(LinalgSvdBackward0, A, (U, S, Vh), full_matrices)


def _numpy_svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return decomposed(a, full_matrices) if compute_uv else decomposed(a, False)[1]


numpy_protocols.functions[np.linalg.svd] = _numpy_svd


# ---------------------------------------------------------------------- Q and R


@_decomposition("Q R")
def LinalgQrBackward0(grad_Q: Any, grad_R: Any, Q: Any, R: Any, mode: str) -> Any:
    r"""Give :math:`[G_Q + Q\,\mathrm{sym}(\mathrm{triu}(G_R R^\top - Q^\top G_Q))] R^{-\top}`.

    sym adds the transpose, and keeps the diagonal as it is (Walter and Lehmann, 2010). A
    matrix with more columns than rows is split: Q and R of its square part say all of Q.
    """
    m, n = (Q if Q.ndim > 1 else R).shape[-2], R.shape[-1]
    if mode == "r" or (mode == "complete" and m > n):
        raise RuntimeError(f"linalg.qr has no derivative with mode='{mode}': use 'reduced'")
    middle: Any = None if grad_R is None else grad_R @ mT(R)
    if grad_Q is not None:
        own = mT(Q) @ grad_Q
        middle = -own if middle is None else middle - own
    if m >= n:
        upper = dispatch(triu, middle, 0)
        whole = Q @ _diagonal_halved(upper + mT(upper))
        if grad_Q is not None:
            whole = whole + grad_Q
        return _solve_triangular(mT(R), whole)
    lower = Q @ dispatch(tril, _skew(-middle), -1)
    square = _solve_triangular(mT(R[..., :m]), lower)
    rest = np.zeros_like(square, shape=(*square.shape[:-1], n - m))
    whole = np.concatenate([square, rest], -1)
    return whole if grad_R is None else whole + Q @ grad_R


@linalg("qr", results="Q R", out="none", numpy=np.linalg.qr)
@ignore_errstate
def orthonormalized(A: Tensor, mode: str = "reduced") -> Any:
    r"""Factor matrices as :math:`A = Q R`: orthonormal columns, and an upper triangle.

    Args:
        A: Of shape (..., m, n).
        mode: "reduced" gives Q and R of shapes (..., m, k) and (..., k, n) with k the smaller of
            m and n; "complete" of (..., m, m) and (..., m, n); "r" an empty Q, and no gradient.

    Example:
        >>> import minigrad as torch
        >>> Q, R = torch.linalg.qr(torch.ones(4, 2))
        >>> Q.shape, R.shape
        (torch.Size([4, 2]), torch.Size([2, 2]))
    """
    check("linalg.qr", A, square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr has the modes 'reduced', 'complete' and 'r', got '{mode}'")
    found: Any = np.linalg.qr(A._array, mode=mode)  # type: ignore[call-overload]
    Q, R = (np.zeros(0, found.dtype), found) if mode == "r" else found
    return recorded(LinalgQrBackward0, A, (Q, R), mode)


# ---------------------------------------------------------------------- determinants


def _cofactors(A: Any) -> Any:
    """Give the determinants of what is left of matrices without one row and one column."""
    places = range(A.shape[-1])
    others = [[k for k in places if k != place] for place in places]
    found = [
        dispatch(det, A[..., others[row], :][..., others[column]]) * (-1) ** (row + column)
        for row in places
        for column in places
    ]
    return np.stack(found, -1).reshape(A.shape)


def _det_rule(grad: Any, A: Any, result: Any) -> Any:
    values, array = (getattr(each, "_array", each) for each in (result, A))
    if values.dtype.kind == "f":
        most = np.prod(np.linalg.norm(array, axis=-1), -1)  # Hadamard's bound
        if np.any(abs(values) <= 64 * np.finfo(array.dtype).eps * most):  # has no inverse, nearly
            return _cofactors(A) * grad[..., None, None]
    diagonal = pick(np.eye(A.shape[-1], dtype=bool), (grad * result)[..., None, None], 0)
    return dispatch(solve, mT(A), diagonal)


@operation("LinalgDetBackward0", A=_det_rule)
@ignore_errstate
def det(A: Array) -> Array:
    r"""Determinant: :math:`g \det(A) A^{-\top}`, which is g times the matrix of cofactors."""
    return np.linalg.det(A)


@linalg("det", out="none", numpy=np.linalg.det)
def determinant(A: Tensor) -> Tensor:
    """Give the determinants of square matrices.

    Args:
        A: Of shape (..., n, n).

    Returns:
        Of shape (...). Its gradient is right for singular matrices, too.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.det(torch.tensor([[2.0, 1.0], [0.0, 4.0]]))
        tensor(8.)
    """
    check("linalg.det", A)
    return det(A)


variants("det", like=_of_input)(determinant)


@_decomposition("A sign", _saves_input=True, _results_saved=1)
def LinalgSlogdetBackward0(grad_sign: Any, grad_logabsdet: Any, A: Any, sign: Any) -> Any:
    r"""Give :math:`g A^{-\top}`: the sign is constant."""
    if grad_logabsdet is None:
        return np.zeros_like(A)
    return mT(dispatch(inv, A)) * grad_logabsdet[..., None, None]


@linalg("slogdet", results="sign logabsdet", out="none", numpy=np.linalg.slogdet)
def sign_and_logarithm(A: Tensor) -> Any:
    """Give the sign of determinants, and the logarithm of their size, which does not overflow.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.slogdet(torch.tensor([[2.0, 1.0], [0.0, 4.0]]))
        torch.return_types.linalg_slogdet(
        sign=tensor(1.),
        logabsdet=tensor(2.0794))
    """
    check("linalg.slogdet", A)
    return recorded(LinalgSlogdetBackward0, A, np.linalg.slogdet(A._array))


variants("slogdet", like=_of_input, results="sign logabsdet")(sign_and_logarithm)


@variants("logdet")
def logarithm_of_determinant(input: Tensor) -> Any:
    """Give the logarithm of determinants; NaN where they are negative.

    Example:
        >>> import minigrad as torch
        >>> torch.logdet(torch.tensor([[2.0, 1.0], [0.0, 4.0]]))
        tensor(2.0794)
    """
    sign, logabsdet = sign_and_logarithm(input)
    return np.where(sign == -1, np.nan, logabsdet)
