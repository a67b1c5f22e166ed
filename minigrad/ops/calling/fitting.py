"""Call pseudoinverses, least squares, and the exponential of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.ops import matrix_functions, shape
from minigrad.ops.calling.matrices import (
    _LinAlgError,
    check_argument,
    check_floating,
    check_square,
    return_type,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.matrix_functions import tolerance
from minigrad.tensor import Tensor, wrap

__all__ = ["matrix_exp", "pinverse"]

_linalg_lstsq = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def _number(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


@with_out
def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
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
    check_argument("linalg_pinv", A)
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
        return matrix_functions.pinv(A, _number(atol), _number(rtol), hermitian)  # type: ignore[no-any-return]
    except np.linalg.LinAlgError:
        raise _LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained "
            "non-finite values."
        ) from None


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Give the pseudoinverses of matrices: `linalg.pinv` with a tolerance of its own."""
    check_argument("pinverse", input, "input")
    return pinv(input, rcond)  # type: ignore[no-any-return]


def _check_systems(A: Any, B: Any, driver: Any) -> bool:
    """Check what least squares gets, and tell whether right sides are vectors."""
    check_argument("linalg_lstsq", A, "input")
    check_argument("linalg_lstsq", B, "b", 2)
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


@with_out
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
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
    solution = matrix_functions.lstsq(A, right, rcond)
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
    return _linalg_lstsq(
        solution,
        wrap(residuals),
        wrap(np.zeros(0, np.int64) if driver == "gels" else np.asarray(rank, np.int64)),
        wrap(values if driver in ("gelsd", "gelss") else nothing),
    )


def matrix_exp(input: Tensor) -> Tensor:
    r"""Give the exponentials :math:`\sum_k A^k / k!` of square matrices.

    Example:
        >>> import minigrad as torch
        >>> torch.matrix_exp(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
        tensor([[1., 1.],
                [0., 1.]])
    """
    check_argument("linalg_matrix_exp", input)
    check_square("linalg.matrix_exp", input)
    check_floating("linalg.matrix_exp", input)
    return matrix_functions.matrix_exp(input)  # type: ignore[no-any-return]


methods: dict[str, Any] = {"matrix_exp": matrix_exp, "pinverse": pinverse}

functions: dict[Any, Any] = {
    np.linalg.pinv: lambda a, rcond=None, hermitian=False: pinv(a, rcond, hermitian),
}
