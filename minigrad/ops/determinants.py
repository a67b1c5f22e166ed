"""The derivatives of determinants and of their logarithms.

The formulas are 2.2.4 of M. Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation" (2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import decompositions
from minigrad.ops.meeting import applied, as_array, quietly
from minigrad.ops.overriding import overridable
from minigrad.ops.several_outputs import Decomposition, recorded
from minigrad.ops.solving import mT, solve
from minigrad.ops.tape import Array, differentiable
from minigrad.ops.triangular import diag_embed
from minigrad.tensor import Tensor, wrap


def _embedded(grad: Any, sizes: tuple[int, ...]) -> Any:
    """Give a number times the identity for each matrix of a batch."""
    ndim = len(sizes)
    spread = np.broadcast_to(np.expand_dims(grad, -1), sizes[:-1])
    return mT(applied(diag_embed, spread, 0, ndim - 2, ndim - 1))


def _cofactors(A: Any, grad: Any) -> Any:
    r"""Give g times the cofactors of singular matrices: of U, Vh, and products of values of S."""
    count = A.shape[-1]
    U, S, Vh = decompositions.svd(A, False) if isinstance(A, Tensor) else np.linalg.svd(A, False)
    values = [S[..., i] for i in range(count)]
    before, after = [np.ones_like(values[0])], [np.ones_like(values[0])]
    for i in range(count - 1):
        before.append(before[-1] * values[i])
        after.append(after[-1] * values[count - 1 - i])
    others = np.stack([before[i] * after[count - 1 - i] for i in range(count)], -1)
    factor = np.expand_dims(applied(det, U) * applied(det, Vh) * grad, -1)
    return (U * np.expand_dims(factor * others, -2)) @ Vh


@overridable
def nearly_zero(values: Any) -> Any:
    """Tell which numbers differ from 0 by no more than rounding does."""
    return np.abs(values) < 100 * float(np.finfo(values.dtype).eps)


def _det_rule(grad: Any, A: Any, result: Any) -> Any:
    def of_regular(matrix: Any) -> Any:
        return applied(solve, mT(matrix), _embedded(grad * result, A.shape), True, False)

    values = getattr(result, "_array", result)
    if not values.size or not A.shape[-1]:
        return np.zeros_like(A)
    singular = nearly_zero(values)
    if not singular.any():
        return of_regular(A)
    if singular.all():
        return _cofactors(A, grad)
    # each of the two ways gets matrices that it can cope with in the place of the others
    recorded = isinstance(A, Tensor)
    mask: Any = np.broadcast_to(singular[..., None, None], A.shape)
    harmless: Any = np.diag(np.arange(1, A.shape[-1] + 1)).astype(values.dtype)
    if recorded:
        mask, harmless = wrap(mask), wrap(harmless)
    gradient = _cofactors(np.where(mask, A, harmless), grad)
    return np.where(mask, gradient, of_regular(np.where(mask, harmless, A)))


@differentiable("LinalgDetBackward0", A=_det_rule)
@quietly
def det(A: Array) -> Array:
    r"""Determinant: :math:`g \det(A) A^{-\top}`, which is g times the matrix of cofactors."""
    return np.linalg.det(A)


class LinalgSlogdetBackward0(Decomposition):
    """Backward of `slogdet`."""

    __slots__ = ()
    _keeps_input = True
    _keeps_results = 1
    _names_of_saved = ("A", "sign")

    @staticmethod
    def rule(grad_sign: Any, grad_logabsdet: Any, A: Any, sign: Any) -> Any:
        r"""Give :math:`g A^{-\top}`: the sign is constant."""
        if grad_logabsdet is None:
            return None
        return applied(solve, mT(A), _embedded(grad_logabsdet, A.shape), True, False)


@quietly
def slogdet(A: Tensor) -> tuple[Tensor, ...]:
    """Give the sign of determinants, and the logarithms of their absolute values."""
    sign, logabsdet = np.linalg.slogdet(A._array)
    sign = np.where(np.isnan(logabsdet), 0, sign).astype(A._array.dtype)  # as PyTorch
    return recorded(LinalgSlogdetBackward0, A, (sign, as_array(logabsdet)))
