"""Call determinants and their logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import choices, determinants
from minigrad.ops.calling.matrices import (
    check_argument,
    check_floating,
    check_kernel,
    check_square,
    return_type,
)
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor, wrap

__all__ = ["det", "logdet", "slogdet"]

_slogdet = return_type("slogdet", "sign", "logabsdet")
_linalg_slogdet = return_type("linalg_slogdet", "sign", "logabsdet")


def _determinant(function: str, argument: str, A: Any) -> Tensor:
    check_argument(function, A, argument)
    check_square("linalg.det", A)
    check_floating("linalg.det", A)
    check_kernel("lu_cpu", A)
    return determinants.det(A)  # type: ignore[no-any-return]


@with_out
def linalg_det(A: Tensor) -> Tensor:
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
    return _determinant("linalg_det", "A", A)


def det(input: Tensor) -> Tensor:
    """Give the determinants of square matrices: `linalg.det`."""
    return _determinant("det", "input", input)


def _signed_logarithm(function: str, name: str, argument: str, A: Any) -> Any:
    check_argument(function, A, argument)
    check_square(name, A)
    check_floating(name, A, low=False)
    return determinants.slogdet(A)


@with_out
def linalg_slogdet(A: Tensor) -> Any:
    """Give the signs of determinants, and the logarithms of their absolute values.

    Returns:
        A named tuple of `sign` and `logabsdet`, each of shape (...). The determinant is their
        `sign * exp(logabsdet)`; a singular matrix has 0 and -inf.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.slogdet(torch.tensor([[-1.0, 0.0], [0.0, 1.0]]))
        torch.return_types.linalg_slogdet(
        sign=tensor(-1.),
        logabsdet=tensor(0.))
    """
    return _linalg_slogdet(*_signed_logarithm("linalg_slogdet", "linalg.slogdet", "A", A))


@with_out
def slogdet(input: Tensor) -> Any:
    """Give the signs of determinants and the logarithms of their absolute values."""
    return _slogdet(*_signed_logarithm("slogdet", "linalg.slogdet", "input", input))


def logdet(input: Tensor) -> Tensor:
    """Give the logarithms of determinants: -inf for a determinant of 0, NaN for a negative one."""
    sign, logarithm = _signed_logarithm("logdet", "logdet", "input", input)
    negative = wrap(sign._array == -1)
    return choices.where(negative, wrap(np.asarray(np.nan, logarithm._array.dtype)), logarithm)  # type: ignore[no-any-return]


methods: dict[str, Any] = {"det": det, "logdet": logdet, "slogdet": slogdet}

functions: dict[Any, Any] = {
    np.linalg.det: linalg_det,
    np.linalg.slogdet: linalg_slogdet,
}
