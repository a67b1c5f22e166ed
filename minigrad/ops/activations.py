"""The derivatives of activation functions, and the derivatives of these derivatives.

A function such as `tanh` has for its rule another operation of the book, `tanh_backward`, which has
rules of its own: so the second derivative is one node of the graph, as in PyTorch. :math:`g` is the
gradient of the result, and :math:`h` the gradient of what a `..._backward` gave.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.faces import entrywise, face
from minigrad.ops.choices import pick, where_true
from minigrad.ops.type_promotion import applied, quietly

# Comparing with an array without dimensions is quicker than comparing with a Python number.
_ZERO = np.zeros((), np.float32)
_FEW = 256  # up to so many entries the call is what costs


@differentiable(
    "TanhBackwardBackward0",
    grad_output=lambda grad, output: applied(tanh_backward, grad, output),
    output=lambda grad, grad_output, output: grad * (output * -2 * grad_output),
)
def tanh_backward(grad_output: Array, output: Array) -> Array:
    r"""Rule of tanh, :math:`g\, (1 - y^2)`: its derivative is :math:`-2 g y` in :math:`y`."""
    slope = output * output
    slope = np.subtract(1, slope, out=slope if slope.ndim else None)  # in the same memory
    slope *= grad_output
    return slope


@entrywise(ufunc=np.tanh)
@differentiable("TanhBackward0", self=tanh_backward)
def tanh(self: Array) -> Array:
    r"""Hyperbolic tangent: :math:`g\, (1 - \tanh^2 x)`."""
    return np.tanh(self)


@differentiable(
    "SigmoidBackwardBackward0",
    grad_output=lambda grad, output: applied(sigmoid_backward, grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (output * -2 + 1),
)
def sigmoid_backward(grad_output: Array, output: Array) -> Array:
    r"""Rule of sigmoid, :math:`g\, (1 - y)\, y`: its derivative is :math:`g\, (1 - 2 y)`."""
    slope = 1 - output
    slope *= output
    slope *= grad_output
    return slope


def logistic(array: Any) -> Any:
    r"""Give :math:`1 / (1 + e^{-x})` of an array, in one piece of memory if it holds numbers."""
    if array.dtype.kind != "f":
        return 1 / (1 + np.exp(-array))
    slope = np.negative(array, out=np.empty_like(array))
    np.exp(slope, out=slope)
    slope += 1
    return np.reciprocal(slope, out=slope)


@entrywise()
@differentiable("SigmoidBackward0", self=sigmoid_backward)
@quietly
def sigmoid(self: Array) -> Array:
    r"""Logistic function :math:`\sigma = 1 / (1 + e^{-x})`: :math:`g\, (1 - \sigma)\, \sigma`."""
    return logistic(self)


@differentiable(
    "ThresholdBackwardBackward0",
    grad_output=lambda grad, output: applied(threshold_backward, grad, output),
    # saved though there is no use for it: as in PyTorch it must not be changed
    output=lambda grad, output: np.zeros_like(grad),
)
def threshold_backward(grad_output: Array, output: Array) -> Array:
    """Rule of relu: the gradient where the result is positive (or NaN), else 0."""
    return where_true(output != _ZERO, grad_output)


@face("relu(Tensor input)", in_place="function")
@differentiable("ReluBackward0", self=threshold_backward)
def relu(self: Array) -> Array:
    r"""Positive part: :math:`g` where the input is positive, else 0 (also at 0)."""
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    # of two zeros NumPy gives the second, but with float16 the first: -0 stays what it is
    if self.itemsize == 2:
        return np.maximum(self, 0)
    # with a row of zeros NumPy is twice as quick as with one
    many = self.size > 4 * _FEW and self.shape[-1] > 32
    return np.maximum(np.zeros(self.shape[-1], self.dtype) if many else 0, self)


@differentiable(
    "LeakyReluBackwardBackward0",
    grad_output=lambda grad, self, negative_slope: applied(
        leaky_relu_backward, grad, self, negative_slope
    ),
    self=lambda grad: np.zeros_like(grad),
)
def leaky_relu_backward(grad_output: Array, self: Array, negative_slope: float) -> Array:
    """Rule of leaky_relu: linear pieces, so it has no derivative of its own in the input."""
    if self.dtype.kind == "f" and self.size > _FEW and 0 < negative_slope <= 1:
        slope = (self > 0).astype(self.dtype).clip(negative_slope, 1)
        slope *= grad_output
        return slope
    return pick(self > 0, grad_output, grad_output * negative_slope)


@differentiable("LeakyReluBackward0", self=leaky_relu_backward)
def leaky_relu(self: Array, negative_slope: float) -> Array:
    r"""Leaky positive part: :math:`g` where the input is positive, else :math:`\alpha g`."""
    if self.dtype.kind == "f" and 0 < negative_slope <= 1:
        return np.maximum(self, self * negative_slope)
    return pick(self > 0, self, self * negative_slope)


def check_slope(name: str, slope: Any, hint: str = "") -> None:
    """Raise if the sign of an input can't be told from that of the result in its place."""
    if slope < 0:
        raise RuntimeError(
            f"In-place {name} backward calculation is triggered with a negative slope which is "
            "not supported. This is caused by calling in-place forward function with a negative "
            f"slope, please call out-of-place version instead.{hint}"
        )


def _leaky_relu_rule(grad: Any, result: Any, negative_slope: Any) -> Any:
    check_slope(
        "leakyReLu",
        negative_slope,
        " File an issue at https://github.com/pytorch/pytorch if you do require supporting "
        "in-place leakRelu backward calculation with negative slope",
    )
    return applied(leaky_relu_backward, grad, result, negative_slope)


@differentiable("LeakyReluBackward1", self=_leaky_relu_rule)
def leaky_relu_in_place(self: Array, negative_slope: float) -> Array:
    r"""Leaky positive part, of which only the result is left: its sign is that of the input."""
    return np.where(self > 0, self, self * negative_slope)


def _logistic(self: Any, beta: Any) -> Any:
    return 1 / (1 + np.exp(self * -beta))


@differentiable(
    "SoftplusBackwardBackward0",
    grad_output=lambda grad, self, beta, threshold: applied(
        softplus_backward, grad, self, beta, threshold
    ),
    self=lambda grad, grad_output, self, beta, threshold: np.where(
        self * beta >= threshold,
        0,
        grad * grad_output * beta * (_logistic(self, beta) * _logistic(self, -beta)),
    ),
)
@quietly
def softplus_backward(grad_output: Array, self: Array, beta: Any, threshold: Any) -> Array:
    r"""Rule of softplus: its derivative is :math:`g \beta\, \sigma(\beta x)\, \sigma(-\beta x)`."""
    return pick(self * beta > threshold, grad_output, grad_output * _logistic(self, beta))


@differentiable("SoftplusBackward0", self=softplus_backward)
@quietly
def softplus(self: Array, beta: float, threshold: float) -> Array:
    r"""Smooth positive part :math:`\ln(1 + e^{\beta x}) / \beta`: :math:`g\, \sigma(\beta x)`."""
    if self.dtype.char == "e":  # too narrow for the powers
        return softplus.forward(self.astype(np.float32), beta, threshold).astype(self.dtype)
    return pick(self * beta > threshold, self, np.log1p(np.exp(beta * self)) / beta)


def _silu_rule(grad: Any, self: Any) -> Any:
    slope = applied(sigmoid, self)
    if type(self) is np.ndarray and self.dtype.kind == "f" and self.ndim:  # in the same memory
        factor = 1 - slope
        factor *= self
        factor += 1
        factor *= slope
        factor *= grad
        return factor
    return grad * slope * (1 + self * (1 - slope))


@differentiable("SiluBackward0", self=_silu_rule)
@quietly
def silu(self: Array) -> Array:
    r"""Sigmoid linear unit :math:`x \sigma(x)`: :math:`g\, \sigma (1 + x (1 - \sigma))`."""
    if self.dtype.kind != "f" or not self.ndim:
        return self / (1 + np.exp(-self))
    result = -self
    np.exp(result, out=result)
    result += 1
    return np.divide(self, result, out=result)
