"""The derivatives of powers of 2, of logarithms, and of sums of powers in logarithms.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import choices
from minigrad.ops.constants import LN_2, LN_10
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.overriding import overridable
from minigrad.ops.tape import Array, differentiable


@differentiable("Exp2Backward0", self=lambda grad, result: grad * result * LN_2)
@quietly
def exp2(self: Array) -> Array:
    r"""Power of 2: :math:`g\, 2^x \ln 2`."""
    return np.exp2(self)


@differentiable("Log2Backward0", self=lambda grad, self: grad / (self * LN_2))
@quietly
def log2(self: Array) -> Array:
    r"""Logarithm to base 2: :math:`g / (x \ln 2)`."""
    return np.log2(self)


@differentiable("Log10Backward0", self=lambda grad, self: grad / (self * LN_10))
@quietly
def log10(self: Array) -> Array:
    r"""Logarithm to base 10: :math:`g / (x \ln 10)`."""
    return np.log10(self)


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


@differentiable(
    "Logaddexp2Backward0",
    arithmetic=True,
    self=lambda grad, self, other: grad / (2 ** (other - self) + 1),
    other=lambda grad, self, other: grad / (2 ** (self - other) + 1),
)
@quietly
def logaddexp2(self: Array, other: Array) -> Array:
    r"""Logarithm of a sum to base 2, :math:`\log_2(2^a + 2^b)`: :math:`g\, 2^a / (2^a + 2^b)`."""
    return np.logaddexp2(self, other)


# ---------------------------------------------------------------------- products with a logarithm


def _times_logarithm(factor: Any, logarithm: Any, other: Any) -> Any:
    """Give a product that is 0 where its factor is, unless the other number is NaN."""
    return np.where((factor == 0) * (other == other), 0, factor * logarithm)


@overridable
def times_log_of(array: Any, number: Any) -> Any:
    """Give a product with the logarithm of a number."""
    return _times_logarithm(array, float(np.log(number)), number)


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
    return _times_logarithm(self, np.log(other), other)


@differentiable("XlogyBackward1", other=lambda grad, self, other: grad * self / other)
@quietly
def number_xlogy(self: Any, other: Array) -> Array:
    r"""Number times logarithm, :math:`a \ln y`: :math:`g a / y`."""
    return _times_logarithm(self, np.log(other), other)


def _xlogy_number_rule(grad: Any, self: Any, other: Any) -> Any:
    product = applied(xlogy_number, grad, other)
    return product if other > 0 else applied(choices.masked_fill_number, product, self == 0, 0)


@differentiable("XlogyBackward2", self=_xlogy_number_rule)
@quietly
def xlogy_number(self: Array, other: Any) -> Array:
    r"""Product with the logarithm of a number, :math:`x \ln b`: :math:`g \ln b`."""
    return times_log_of(self, other)


@differentiable(
    "SpecialXlog1PyBackward0",
    arithmetic=True,
    self=lambda grad, self, other: applied(
        choices.masked_fill_number, applied(xlog1py, grad, other), (self == 0) * (other <= -1), 0
    ),
    other=lambda grad, self, other: grad * self / (other + 1),
)
@quietly
def xlog1py(self: Array, other: Array) -> Array:
    r"""Product :math:`x \ln(1 + y)`: :math:`g \ln(1 + y)` in x, :math:`g x / (1 + y)` in y."""
    return _times_logarithm(self, np.log1p(other), other)


@differentiable("SpecialEntrBackward0", self=lambda grad, self: grad * -(np.log(self) + 1))
@quietly
def entr(self: Array) -> Array:
    r"""Entropy's summand :math:`-x \ln x`: :math:`-g\, (\ln x + 1)`."""
    amount = np.where(self == 0, 0, -self * np.log(self))
    return np.where(self < 0, -np.inf, amount)


# ---------------------------------------------------------------------- logit, scaling


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


def _power_of_two(exponent: Any, beside: Any) -> Any:
    if isinstance(exponent, np.ndarray):
        return np.exp2(exponent.astype(beside.dtype))
    return 2.0**exponent


@differentiable(
    "LdexpBackward0",
    broadcasts=True,
    self=lambda grad, other: grad * _power_of_two(other, grad),
    other=lambda grad, result: grad * result * LN_2,
)
@quietly
def ldexp(self: Array, other: Array) -> Array:
    r"""Number times a power of 2, :math:`x\, 2^n`: :math:`g\, 2^n`, and :math:`g\, x 2^n \ln 2`."""
    return self * _power_of_two(other, self)
