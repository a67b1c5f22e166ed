"""Call decompositions of matrices: Q and R, eigenvalues, singular values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.autograd.complex_numbers import refuse_complex
from minigrad.dtypes import scalar_name
from minigrad.ops import decompositions, shape
from minigrad.ops.calling.matrices import (
    _LinAlgError,
    check_argument,
    check_floating,
    check_kernel,
    check_matrix,
    check_square,
    return_type,
)
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor, wrap

__all__ = ["qr", "svd"]

_qr = return_type("qr", "Q", "R")
_linalg_qr = return_type("linalg_qr", "Q", "R")
_svd = return_type("svd", "U", "S", "V")
_linalg_svd = return_type("linalg_svd", "U", "S", "Vh")
_linalg_eigh = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
_linalg_eig = return_type("linalg_eig", "eigenvalues", "eigenvectors")

# ---------------------------------------------------------------------- Q and R


def _factors(function: str, argument: str, A: Any, mode: str) -> Any:
    check_argument(function, A, argument)
    check_matrix("linalg.qr", A)
    check_floating("linalg.qr", A)
    check_kernel("geqrf_cpu", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    return decompositions.qr(A, mode)


@with_out
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
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
    return _linalg_qr(*_factors("linalg_qr", "A", A, mode))


@with_out
def qr(input: Tensor, some: bool = True) -> Any:
    """Factor matrices as Q R: `linalg.qr` under its older name."""
    warnings.warn(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future "
        "PyTorch release.\nThe boolean parameter 'some' has been replaced with a string parameter "
        "'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\nQ, R = torch.linalg.qr(A, "
        "'reduced' if some else 'complete')",
        UserWarning,
        stacklevel=3,
    )
    return _qr(*_factors("qr", "input", input, "reduced" if some else "complete"))


# ---------------------------------------------------------------------- eigenvalues


def _eigh(function: str, A: Any, UPLO: str) -> Any:
    check_argument(function, A)
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_square("linalg.eigh", A)
    check_kernel("linalg_eigh_cpu", A)
    return decompositions.eigh(A, UPLO.upper())


@with_out
def eigh(A: Tensor, UPLO: str = "L") -> Any:
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
    return _linalg_eigh(*_eigh("linalg_eigh", A, UPLO))


@with_out
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Give the eigenvalues of symmetric matrices, ascending; see `eigh`."""
    return _eigh("linalg_eigvalsh", A, UPLO)[0]  # type: ignore[no-any-return]


def _eig(name: str, A: Any) -> Any:
    check_argument(f"linalg_{name}", A)
    check_square(f"linalg.{name}", A)
    if A._array.dtype.kind not in "fc":
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_name(A._array)}")
    check_kernel("linalg_eig_out_cpu", A)
    if not np.isfinite(A._array).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    kind = np.dtype(np.complex64 if A._array.dtype.itemsize == 4 else np.complex128)
    if A.requires_grad:
        refuse_complex(kind)
    if A._array.dtype.kind == "c":
        kind = A._array.dtype
    values, vectors = np.linalg.eig(A._array)
    return wrap(np.asarray(values, kind)), wrap(np.asarray(vectors, kind))


@with_out
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
    return _linalg_eig(*_eig("eig", A))


@with_out
def eigvals(A: Tensor) -> Tensor:
    """Give the complex eigenvalues of square matrices; see `eig`."""
    return _eig("eigvals", A)[0]  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- singular values


def decomposed(A: Tensor, full_matrices: bool = False) -> Any:
    """Give U, S and the transpose of V, after the checks."""
    check_matrix("linalg.svd", A)
    check_floating("linalg.svd", A)
    check_kernel("linalg_svd_cpu", A)
    try:
        return decompositions.svd(A, full_matrices)
    except np.linalg.LinAlgError:
        if not np.isfinite(A._array).all():
            raise _LinAlgError(
                "linalg.svd: The algorithm failed to converge because the input matrix contained "
                "non-finite values."
            ) from None
        raise _LinAlgError("linalg.svd: The algorithm failed to converge.") from None


def _refuse_driver(driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )


@with_out
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    r"""Decompose matrices as :math:`A = U\,\mathrm{diag}(S)\,V^\top`.

    Args:
        A: Of shape (..., m, n).
        full_matrices: Whether U and Vh are square; else they have k rows or columns, the smaller
            of m and n. Their vectors that belong to no singular value have no gradient.
        driver: None: the CPU has one way only.

    Returns:
        A named tuple of `U`, `S`, descending, and `Vh`.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.svd(torch.tensor([[0.0, 2.0], [3.0, 0.0]])).S
        tensor([3., 2.])
    """
    check_argument("linalg_svd", A)
    _refuse_driver(driver)
    return _linalg_svd(*decomposed(A, full_matrices))


@with_out
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Give the singular values of matrices, descending; see `linalg.svd`."""
    check_argument("linalg_svdvals", A)
    _refuse_driver(driver)
    return decomposed(A)[1]  # type: ignore[no-any-return]


@with_out
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Decompose matrices as U diag(S) V^T: `linalg.svd` under its older name, with V itself."""
    check_argument("svd", input, "input")
    if input._array.ndim < 2:
        raise RuntimeError(
            "linalg.svd: input should have at least 2 dimensions, but has "
            f"{input._array.ndim} dimensions instead"
        )
    U, S, Vh = decomposed(input, not some)
    if not compute_uv:
        *batch, m, n = input._array.shape
        dtype = input._array.dtype
        return _svd(wrap(np.zeros((*batch, m, m), dtype)), S, wrap(np.zeros((*batch, n, n), dtype)))
    last = U._array.ndim - 1
    return _svd(U, S, shape.transpose(Vh, last - 1, last))


methods: dict[str, Any] = {"qr": qr, "svd": svd}


def _numpy_svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return linalg_svd(a, full_matrices) if compute_uv else svdvals(a)


functions: dict[Any, Any] = {
    np.linalg.qr: linalg_qr,
    np.linalg.eigh: eigh,
    np.linalg.eigvalsh: eigvalsh,
    np.linalg.svd: _numpy_svd,
}
