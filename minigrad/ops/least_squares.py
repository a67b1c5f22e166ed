r"""Give matrices that have no inverse the nearest thing to one: their pseudoinverse.

With :math:`P` the pseudoinverse, the derivative is that of G. Golub and V. Pereyra, "The
differentiation of pseudo-inverses and nonlinear least squares problems" (1973).
"""

# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face
from minigrad.ops.linear_systems import linalg, mT


def _pinv_rule(grad: Any, self: Any, result: Any) -> Any:
    r"""Give :math:`-P^\top G P^\top + (I - A P) G^\top P P^\top + P^\top P G^\top (I - P A)`."""
    G, Pt = mT(grad), mT(result)
    if self.shape[-2] <= self.shape[-1]:
        K = G @ result
        back = K @ Pt
        return -mT(result @ K) + back - (self @ result) @ back + (Pt @ result) @ (G - K @ self)
    K = result @ G
    back = Pt @ K
    return -mT(K @ result) + (G - self @ K) @ result @ Pt + back - (back @ result) @ self


@differentiable("LinalgPinvBackward0", self=_pinv_rule)
@quietly
def pinv(self: Array, limits: Any, hermitian: bool) -> Array:
    """Pseudoinverse: parts of the matrix whose singular value is too small are left out."""
    if hermitian:
        S, U = np.linalg.eigh(self)
        Vh, sizes = mT(U).conj(), np.abs(S)
    else:
        U, S, Vh = np.linalg.svd(self, False)
        sizes = S
    # up to where a singular value is taken for 0
    kept = sizes > np.maximum(limits[0], limits[1] * np.max(sizes, -1, keepdims=True, initial=0))
    inverse = np.where(kept, 1 / np.where(kept, S, 1), 0)
    return (mT(Vh).conj() * inverse[..., None, :]) @ mT(U).conj()


def _limits(array: Any, atol: float | None, rtol: float | None) -> tuple[float, float]:
    """Give up to where singular values are taken for 0: by themselves, and beside the largest."""
    if rtol is None:
        rtol = 0.0 if atol else float(np.finfo(array.dtype).eps) * max(array.shape[-2:])
    return 0.0 if atol is None else atol, rtol


@linalg("pinv(Tensor input, rcond=None, bool hermitian=False, *, atol=None, rtol=None, out=None)")
def pseudoinverse(input: Tensor, rcond: Any, hermitian: bool, atol: Any, rtol: Any) -> Tensor:
    """Give the pseudoinverses of matrices.

    Args:
        input: Of shape (..., m, n).
        rcond: An older name of `rtol`.
        hermitian: Whether the matrices are symmetric, of which the lower half is looked at.
        atol: Singular values up to this are taken for 0.
        rtol: So are those up to this part of the largest one; by default as rounding makes them.

    Returns:
        Of shape (..., n, m).

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.pinv(torch.tensor([[1.0], [1.0]]))
        tensor([[0.5000, 0.5000]])
    """
    array = input._array
    if array.ndim < 2 or array.dtype.kind not in "fc" or array.dtype.itemsize == 2:
        sizes = ", ".join(map(str, array.shape))
        raise RuntimeError(
            f"linalg.pinv({scalar_name(array)}{{[{sizes}]}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if rcond is not None and (atol is not None or rtol is not None):
        raise TypeError("linalg_pinv(): rcond is the older name of rtol: give one of them")
    given = atol, rtol if rcond is None else rcond
    if any(getattr(each, "ndim", 0) for each in given):
        raise RuntimeError("linalg.pinv: one number for all matrices, as in rtol=1e-5")
    limits = [None if each is None else float(each) for each in given]
    return pinv(input, _limits(array, *limits), hermitian)


@face("pinverse(Tensor input, float rcond=1e-15)")
def pinverse(input: Tensor, rcond: float) -> Tensor:
    """Give the pseudoinverses of matrices: `linalg.pinv` under its older name."""
    return pseudoinverse(input, rcond, False, None, None)
