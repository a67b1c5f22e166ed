"""The derivatives of the error function, the gamma function and others of their kind.

Rules are given for one entry; :math:`g` is the gradient of the result. The functions themselves are
computed in `minigrad.ops.error_function` and `minigrad.ops.gamma_function`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops import error_function, gamma_function
from minigrad.ops.constants import HALF_ROOT_PI, ROOT_TWO_PI, TWO_OVER_ROOT_PI
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.tape import Array, differentiable


@differentiable(
    "ErfBackward0",
    self=lambda grad, self: np.exp(-(self**2)) * TWO_OVER_ROOT_PI * grad,
)
def erf(self: Array) -> Array:
    r"""Error function: :math:`g\, 2 e^{-x^2} / \sqrt\pi`."""
    return error_function.erf(self)


def _erfc_rule(grad: Any, self: Any) -> Any:
    return np.exp(-(self**2)) * -TWO_OVER_ROOT_PI * grad


@differentiable("ErfcBackward0", self=_erfc_rule)
def erfc(self: Array) -> Array:
    r"""Complement of the error function, :math:`1 - \operatorname{erf} x`."""
    return error_function.erfc(self)


@differentiable(
    "ErfinvBackward0",
    self=lambda grad, self: np.exp(applied(erfinv, self) ** 2) * HALF_ROOT_PI * grad,
)
def erfinv(self: Array) -> Array:
    r"""Inverse y of the error function: :math:`g\, e^{y^2} \sqrt\pi / 2`."""
    return error_function.erfinv(self)


@differentiable(
    "SpecialErfcxBackward0",
    self=lambda grad, self, result: (self * 2 * result - TWO_OVER_ROOT_PI) * grad,
)
@quietly
def erfcx(self: Array) -> Array:
    r"""Scaled complement :math:`y = e^{x^2} \operatorname{erfc}x`: :math:`g (2xy - 2/\sqrt\pi)`."""
    return error_function.erfcx(self)


@differentiable(
    "SpecialLogNdtrBackward0",
    self=lambda grad, self, result: grad / ROOT_TWO_PI * np.exp(-(result + self**2 / 2)),
)
@quietly
def log_ndtr(self: Array) -> Array:
    r"""Logarithm of a normal distribution, :math:`\ln\Phi(x)`: :math:`g \varphi(x) / \Phi(x)`."""
    return error_function.log_normal_distribution(self)


@differentiable(
    "SpecialNdtriBackward0",
    self=lambda grad, self, result: grad * ROOT_TWO_PI * np.exp(result**2 / 2),
)
def ndtri(self: Array) -> Array:
    r"""Inverse y of the normal distribution: :math:`g\, \sqrt{2\pi}\, e^{y^2 / 2}`."""
    return error_function.normal_quantile(self)


@differentiable("LgammaBackward0", self=lambda grad, self: grad * applied(digamma, self))
@quietly
def lgamma(self: Array) -> Array:
    r"""Logarithm of the gamma function: :math:`g\, \psi(x)`."""
    return gamma_function.lgamma(self)


def _several_rule(grad: Any, self: Any, p: Any) -> Any:
    total = applied(digamma, self)
    for j in range(1, p):
        total = total + applied(digamma, self - j / 2)
    return grad * total


@differentiable("MvlgammaBackward0", self=_several_rule)
@quietly
def mvlgamma(self: Array, p: int) -> Array:
    r"""Sum of the logarithms of gamma: :math:`g \sum_{j<p} \psi(x - j/2)`."""
    total = gamma_function.lgamma(self)
    for j in range(1, p):
        total = total + gamma_function.lgamma(self - j / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


@differentiable("DigammaBackward0", self=lambda grad, self: grad * applied(polygamma, self, 1))
@quietly
def digamma(self: Array) -> Array:
    r"""Derivative of the logarithm of the gamma function: :math:`g\, \psi'(x)`."""
    return gamma_function.digamma(self)


@differentiable(
    "PolygammaBackward0", self=lambda grad, self, n: grad * applied(polygamma, self, n + 1)
)
@quietly
def polygamma(self: Array, n: int) -> Array:
    r"""Derivative of order n of :math:`\psi`: the gradient times that of order n + 1."""
    return gamma_function.polygamma(self, n)


@differentiable(
    "PolygammaBackward1", self=lambda grad, self, n: grad * applied(polygamma, self, n + 1)
)
@quietly
def polygamma_in_place(self: Array, n: int) -> Array:
    """The same in place, which has a node of its own."""
    return gamma_function.polygamma(self, n)
