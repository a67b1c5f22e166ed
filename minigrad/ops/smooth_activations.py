r"""The derivatives of smooth activation functions: gelu, mish, the logarithm of sigmoid, glu.

:math:`g` is the gradient of the result, :math:`h` the gradient of what a `..._backward` gave.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.activations import sigmoid
from minigrad.ops.error_function import erf
from minigrad.ops.type_promotion import applied, quietly

# ---------------------------------------------------------------------- gelu

_DENSITY = 1 / math.sqrt(2 * math.pi)
_STEEP = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _density(self: Any) -> Any:
    return np.exp(self * self * -0.5) * _DENSITY


def _probability(self: Any) -> Any:
    r"""Give the normal distribution function, :math:`(1 + \operatorname{erf}(x / \sqrt 2)) / 2`."""
    probability = erf(self * math.sqrt(0.5))
    probability += 1
    probability *= 0.5
    return probability


def _bent(self: Any) -> Any:
    """Give the hyperbolic tangent that stands for the error function."""
    return np.tanh(_STEEP * (self + _CUBIC * (self * self * self)))


def _gelu_curvature_rule(grad: Any, grad_output: Any, self: Any, approximate: str) -> Any:
    if approximate == "none":
        return grad * grad_output * (2 - self * self) * _density(self)
    bent = _bent(self)
    slope = _STEEP * (1 + (3 * _CUBIC) * (self * self))
    steep = 1 - bent * bent
    curvature = slope + self * ((3 * _STEEP * _CUBIC) * self - bent * slope * slope)
    return grad * grad_output * steep * curvature


@differentiable(
    "GeluBackwardBackward0",
    grad_output=lambda grad, self, approximate: applied(gelu_backward, grad, self, approximate),
    self=_gelu_curvature_rule,
)
@quietly
def gelu_backward(grad_output: Array, self: Array, approximate: str) -> Array:
    r"""Rule of gelu, :math:`g\, (\Phi(x) + x \varphi(x))`."""
    if approximate == "none":
        slope = _probability(self)
        slope += self * _density(self)
        slope *= grad_output
        return slope
    bent = _bent(self)
    slope = _STEEP * (1 + (3 * _CUBIC) * (self * self))
    return grad_output * (0.5 * (1 + bent) + 0.5 * self * (1 - bent * bent) * slope)


@differentiable("GeluBackward0", self=gelu_backward)
@quietly
def gelu(self: Array, approximate: str) -> Array:
    r"""Gaussian error linear unit :math:`x \Phi(x)`: :math:`g\, (\Phi(x) + x \varphi(x))`.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016. With `"tanh"`,
    :math:`\Phi(x)` is :math:`(1 + \tanh(\sqrt{2/\pi}\, (x + 0.044715 x^3))) / 2`.
    """
    if approximate == "none":
        result = _probability(self)
        result *= self
        return result
    return 0.5 * self * (1 + _bent(self))


# ---------------------------------------------------------------------- mish, log_sigmoid


def _mish_rule(grad: Any, self: Any) -> Any:
    slope = applied(sigmoid, self)
    bent = np.tanh(np.log1p(np.exp(self)))
    return grad * (bent + self * slope * (1 - bent * bent))


def _softplus(self: Any) -> Any:
    return np.maximum(self, 0) + np.log1p(np.exp(-np.abs(self)))


@differentiable("MishBackward0", self=_mish_rule)
@quietly
def mish(self: Array) -> Array:
    r"""Mish :math:`x t` with :math:`t = \tanh \ln(1 + e^x)`: :math:`g (t + x \sigma (1 - t^2))`.

    Source: Misra, *Mish: a self regularized non-monotonic activation function*, 2019.
    """
    return self * np.tanh(_softplus(self))


def _log_sigmoid_curvature_rule(grad: Any, grad_output: Any, self: Any) -> Any:
    slope = applied(sigmoid, self)
    return grad * grad_output * (slope - 1) * slope


@differentiable(
    "LogSigmoidBackwardBackward0",
    grad_output=lambda grad, self: applied(log_sigmoid_backward, grad, self),
    self=_log_sigmoid_curvature_rule,
)
@quietly
def log_sigmoid_backward(grad_output: Array, self: Array) -> Array:
    r"""Rule of the logarithm of sigmoid, :math:`g\, \sigma(-x)`."""
    return grad_output / (1 + np.exp(self))


@differentiable("LogSigmoidBackward0", self=log_sigmoid_backward)
@quietly
def log_sigmoid(self: Array) -> Array:
    r"""Logarithm of sigmoid, :math:`-\ln(1 + e^{-x})`: :math:`g\, \sigma(-x)`."""
    return np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))


# ---------------------------------------------------------------------- glu


def _halves(self: Any, dim: int) -> tuple[Any, Any]:
    half = self.shape[dim] // 2
    before = (slice(None),) * dim
    return self[(*before, slice(None, half))], self[(*before, slice(half, None))]


def _glu_gradient_rule(grad: Any, self: Any, dim: int) -> Any:
    of_first, of_second = _halves(grad, dim)
    first, second = _halves(self, dim)
    gate = applied(sigmoid, second)
    return of_first * gate + of_second * first * gate * (1 - gate)


def _glu_curvature_rule(grad: Any, grad_output: Any, self: Any, dim: int) -> Any:
    of_first, of_second = _halves(grad, dim)
    first, second = _halves(self, dim)
    gate = applied(sigmoid, second)
    slope = gate * (1 - gate) * grad_output
    bent = of_first + of_second * first * (1 - 2 * gate)
    return np.concatenate([of_second * slope, bent * slope], axis=dim)


@differentiable("GluBackwardBackward0", grad_output=_glu_gradient_rule, self=_glu_curvature_rule)
@quietly
def glu_backward(grad_output: Array, self: Array, dim: int) -> Array:
    r"""Rule of glu, :math:`g \sigma(b)` for a, :math:`g a\, \sigma(b) (1 - \sigma(b))` for b."""
    first, second = _halves(self, dim)
    gate = 1 / (1 + np.exp(-second))
    slope = grad_output * gate
    return np.concatenate([slope, slope * (1 - gate) * first], axis=dim)


@differentiable("GluBackward0", self=glu_backward)
@quietly
def glu(self: Array, dim: int) -> Array:
    r"""Gated linear unit: one half times the sigmoid of the other, :math:`a\, \sigma(b)`.

    Source: Dauphin et al., *Language modeling with gated convolutional networks*, 2016.
    """
    first, second = _halves(self, dim)
    return first / (1 + np.exp(-second))
