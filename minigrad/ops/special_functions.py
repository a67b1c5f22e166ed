"""Special functions and their derivatives: other powers and logarithms, logit, the error function.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook. The error function is computed in `minigrad.ops.error_function`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import entrywise, face
from minigrad.ops import choices, error_function
from minigrad.ops.constants import HALF_ROOT_PI, LN_2, LN_10, TWO_OVER_ROOT_PI
from minigrad.ops.type_promotion import applied, quietly


@entrywise(ufunc=np.exp2)
@differentiable("Exp2Backward0", self=lambda grad, result: grad * result * LN_2)
@quietly
def exp2(self: Array) -> Array:
    r"""Power of 2: :math:`g\, 2^x \ln 2`."""
    return np.exp2(self)


@entrywise(ufunc=np.log2)
@differentiable("Log2Backward0", self=lambda grad, self: grad / (self * LN_2))
@quietly
def log2(self: Array) -> Array:
    r"""Logarithm to base 2: :math:`g / (x \ln 2)`."""
    return np.log2(self)


@entrywise(ufunc=np.log10)
@differentiable("Log10Backward0", self=lambda grad, self: grad / (self * LN_10))
@quietly
def log10(self: Array) -> Array:
    r"""Logarithm to base 10: :math:`g / (x \ln 10)`."""
    return np.log10(self)


@face(
    "logaddexp(Tensor input, Tensor other, *, out=None)",
    missing=("iub", "logaddexp_cpu"),
    ufunc=np.logaddexp,
)
@differentiable(
    "LogaddexpBackward0",
    arithmetic=True,
    self=lambda grad, self, other: grad / (np.exp(other - self) + 1),
    other=lambda grad, self, other: grad / (np.exp(self - other) + 1),
)
@quietly
def logaddexp(self: Array, other: Array) -> Array:
    r"""Logarithm of a sum, :math:`\ln(e^a + e^b)`: :math:`g\, e^a / (e^a + e^b)`, and so for b."""
    return np.logaddexp(self, other)


@face("xlogy(Tensor input, Tensor other, *, out=None)", floats=True, in_place="function")
@differentiable(
    "XlogyBackward0",
    arithmetic=True,
    self=lambda grad, self, other: applied(
        choices.masked_fill_number, applied(xlogy, grad, other), (self == 0) * (other <= 0), 0
    ),
    other=lambda grad, self, other: grad * self / other,
)
@quietly
def xlogy(self: Array, other: Array) -> Array:
    r"""Product :math:`x \ln y`, and 0 where x is 0: :math:`g \ln y` in x, :math:`g x / y` in y."""
    return np.where((self == 0) * (other == other), 0, self * np.log(other))


def _logit_rule(grad: Any, self: Any, eps: Any) -> Any:
    low, high, beyond = (0, 1, np.nan) if eps is None else (eps, 1 - eps, 0)
    inside = np.logical_not(np.logical_or(self < low, self > high))  # as NaN is
    product = self * (1 - self)
    if isinstance(product, np.ndarray):
        product = product + 0  # of -0 it makes 0: at both ends the slope is infinite, and upward
    return np.where(inside, grad / product, beyond)


@differentiable("LogitBackward0", self=_logit_rule)
@quietly
def logit(self: Array, eps: float | None) -> Array:
    r"""Inverse of the logistic function, :math:`\ln(x / (1 - x))`: :math:`g / (x (1 - x))`.

    Entries are first brought between `eps` and 1 - `eps`; beyond these there is no slope.
    """
    if eps is not None:
        self = np.minimum(np.maximum(self, eps), 1 - eps)
    return np.log(self / (1 - self))


@face("logit(Tensor input, eps=None, *, out=None)", floats=True, in_place="function")
def log_odds(input: Tensor, eps: float | None) -> Tensor:
    r"""Give the inverse of the logistic function, :math:`\ln(x / (1 - x))`, of each entry.

    Args:
        input: Probabilities.
        eps: Brings the entries between `eps` and 1 - `eps` first, if given.

    Example:
        >>> import minigrad as torch
        >>> torch.logit(torch.tensor([0.5, 0.9]))
        tensor([0.0000, 2.1972])
    """
    return logit(input, eps)


# ---------------------------------------------------------------------- the error function


@entrywise()
@differentiable(
    "ErfBackward0",
    self=lambda grad, self: np.exp(-(self**2)) * TWO_OVER_ROOT_PI * grad,
)
def erf(self: Array) -> Array:
    r"""Error function: :math:`g\, 2 e^{-x^2} / \sqrt\pi`."""
    return error_function.erf(self)


def _erfc_rule(grad: Any, self: Any) -> Any:
    return np.exp(-(self**2)) * -TWO_OVER_ROOT_PI * grad


@entrywise()
@differentiable("ErfcBackward0", self=_erfc_rule)
def erfc(self: Array) -> Array:
    r"""Complement of the error function, :math:`1 - \operatorname{erf} x`."""
    return error_function.erfc(self)


@entrywise(in_place=True)
@differentiable(
    "ErfinvBackward0",
    self=lambda grad, self: np.exp(applied(erfinv, self) ** 2) * HALF_ROOT_PI * grad,
)
def erfinv(self: Array) -> Array:
    r"""Inverse y of the error function: :math:`g\, e^{y^2} \sqrt\pi / 2`."""
    return error_function.erfinv(self)
