"""The derivatives of operations that treat each entry by itself: arithmetic, powers, exp, tanh, ...

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops.tape import Array, differentiable

# ---------------------------------------------------------------------- arithmetic


@differentiable(
    "AddBackward0",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad: grad,
)
def add(self: Array, other: Array) -> Array:
    """Sum: both inputs get the gradient as it is."""
    return self + other


@differentiable(
    "AddBackward0",
    arithmetic=False,
    broadcasts=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)
def add_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Sum :math:`a + \alpha b`: the gradients are :math:`g` and :math:`\alpha g`."""
    return self + other * alpha


@differentiable(
    "SubBackward0",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad: -grad,
)
def sub(self: Array, other: Array) -> Array:
    """Difference: the second input gets the negative gradient."""
    return self - other


@differentiable(
    "SubBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad * alpha,
)
def sub_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Difference :math:`a - \alpha b`: the gradients are :math:`g` and :math:`-\alpha g`."""
    return self - other * alpha


@differentiable("RsubBackward1", self=lambda grad: -grad)
def rsub_number(self: Array, other: Array) -> Array:
    """Number minus tensor: the gradient changes its sign."""
    return other - self


@differentiable(
    "MulBackward0",
    arithmetic=True,
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)
def mul(self: Array, other: Array) -> Array:
    """Product: each input gets the gradient times the other input."""
    return self * other


@differentiable(
    "DivBackward0",
    arithmetic=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)
def div(self: Array, other: Array) -> Array:
    r"""Quotient: :math:`g / b` for the numerator and :math:`-g\, a / b^2` for the denominator."""
    quotient = self / other
    if self.dtype.kind in "fcO":
        return quotient
    return quotient.astype(dtypes.get_default_dtype().numpy)


@differentiable("NegBackward0", self=lambda grad: -grad)
def neg(self: Array) -> Array:
    """Negative: so is the gradient."""
    return -self


# ---------------------------------------------------------------------- powers


def _power_rule(grad: Any, self: Any, exponent: Any) -> Any:
    if isinstance(exponent, (int, float)) and exponent == 0:
        return grad * 0
    return grad * (exponent * self ** (exponent - 1))


@differentiable("PowBackward0", self=_power_rule)
def pow_number(self: Array, exponent: Any) -> Array:
    r"""Power with a number for exponent: :math:`g\, n x^{n-1}`."""
    return self**exponent


@differentiable(
    "PowBackward1",
    arithmetic=True,
    self=lambda grad, self, exponent: np.where(
        exponent == 0, grad * 0, grad * (exponent * self ** (exponent - 1))
    ),
    exponent=lambda grad, self, exponent, result: np.where(
        (self == 0) * (exponent >= 0), grad * 0, grad * (result * np.log(self))
    ),
)
def pow_tensor(self: Array, exponent: Any) -> Array:
    r"""Power: :math:`g\, n x^{n-1}` for the base and :math:`g\, x^n \ln x` for the exponent."""
    return self**exponent


@differentiable(
    "PowBackward2", exponent=lambda grad, self, result: grad * (result * float(np.log(self)))
)
def pow_of_number(self: Array, exponent: Any) -> Array:
    r"""Power of a number: :math:`g\, a^x \ln a`."""
    return self**exponent


@differentiable("SqrtBackward0", self=lambda grad, result: grad / (2 * result))
def sqrt(self: Array) -> Array:
    r"""Square root: :math:`g / (2 \sqrt{x})`."""
    return np.sqrt(self)


@differentiable("RsqrtBackward0", self=lambda grad, result: -0.5 * grad * result**3)
def rsqrt(self: Array) -> Array:
    r"""One over the square root: :math:`-g\, x^{-3/2} / 2`."""
    return 1 / np.sqrt(self)


@differentiable("ReciprocalBackward0", self=lambda grad, result: -grad * (result * result))
def reciprocal(self: Array) -> Array:
    r"""Reciprocal: :math:`-g / x^2`."""
    return 1 / self


# ---------------------------------------------------------------------- exponentials, trigonometry


@differentiable("ExpBackward0", self=lambda grad, result: grad * result)
def exp(self: Array) -> Array:
    r"""Exponential: :math:`g\, e^x`."""
    return np.exp(self)


@differentiable("LogBackward0", self=lambda grad, self: grad / self)
def log(self: Array) -> Array:
    r"""Natural logarithm: :math:`g / x`."""
    return np.log(self)


@differentiable("Log1PBackward0", self=lambda grad, self: grad / (self + 1))
def log1p(self: Array) -> Array:
    r"""Logarithm of :math:`1 + x`: :math:`g / (1 + x)`."""
    return np.log1p(self)


@differentiable("Expm1Backward0", self=lambda grad, result: grad * (result + 1))
def expm1(self: Array) -> Array:
    r"""Exponential minus one: :math:`g\, e^x`."""
    return np.expm1(self)


@differentiable("SinBackward0", self=lambda grad, self: grad * np.cos(self))
def sin(self: Array) -> Array:
    r"""Sine: :math:`g \cos x`."""
    return np.sin(self)


@differentiable("CosBackward0", self=lambda grad, self: grad * -np.sin(self))
def cos(self: Array) -> Array:
    r"""Cosine: :math:`-g \sin x`."""
    return np.cos(self)


# ---------------------------------------------------------------------- activations


@differentiable("TanhBackward0", self=lambda grad, result: grad * (1 - result * result))
def tanh(self: Array) -> Array:
    r"""Hyperbolic tangent: :math:`g\, (1 - \tanh^2 x)`."""
    return np.tanh(self)


@differentiable("SigmoidBackward0", self=lambda grad, result: grad * (1 - result) * result)
def sigmoid(self: Array) -> Array:
    r"""Logistic function :math:`\sigma = 1 / (1 + e^{-x})`: :math:`g\, (1 - \sigma)\, \sigma`."""
    return 1 / (1 + np.exp(-self))


@differentiable("ReluBackward0", self=lambda grad, result: grad * (result > 0))
def relu(self: Array) -> Array:
    r"""Positive part: :math:`g` where the input is positive, else 0 (also at 0)."""
    return np.maximum(self, 0)


@differentiable(
    "LeakyReluBackward0",
    self=lambda grad, self, negative_slope: np.where(self > 0, grad, grad * negative_slope),
)
def leaky_relu(self: Array, negative_slope: float) -> Array:
    r"""Leaky positive part: :math:`g` where the input is positive, else :math:`\alpha g`."""
    return np.where(self > 0, self, self * negative_slope)


@differentiable(
    "EluBackward0",
    self=lambda grad, self, alpha: np.where(
        self > 0, grad, grad * alpha * np.exp(np.minimum(self, 0))
    ),
)
def elu(self: Array, alpha: Any) -> Array:
    r"""Exponential linear unit: :math:`g` where the input is positive, else :math:`g\alpha e^x`."""
    return np.where(self > 0, self, alpha * np.expm1(np.minimum(self, 0)))


@differentiable(
    "SoftplusBackward0",
    self=lambda grad, self, beta, threshold: np.where(
        self * beta > threshold, grad, grad * np.exp(beta * self) / (1 + np.exp(beta * self))
    ),
)
def softplus(self: Array, beta: float, threshold: float) -> Array:
    r"""Smooth positive part :math:`\ln(1 + e^{\beta x}) / \beta`: :math:`g\, \sigma(\beta x)`."""
    return np.where(self * beta > threshold, self, np.log1p(np.exp(beta * self)) / beta)


@differentiable(
    "SiluBackward0",
    self=lambda grad, self: (
        grad * (1 / (1 + np.exp(-self))) * (1 + self * (1 - 1 / (1 + np.exp(-self))))
    ),
)
def silu(self: Array) -> Array:
    r"""Sigmoid linear unit :math:`x \sigma(x)`: :math:`g\, \sigma (1 + x (1 - \sigma))`."""
    return self / (1 + np.exp(-self))


# ---------------------------------------------------------------------- absolute value, choices


@differentiable("AbsBackward0", self=lambda grad, self: grad * np.sign(self))
def abs(self: Array) -> Array:
    """Absolute value: the gradient times the sign of the input, 0 at 0."""
    return np.abs(self)


@differentiable("SignBackward0", self=lambda grad: grad * 0)
def sign(self: Array) -> Array:
    """Sign: constant on both sides of 0, so no gradient passes."""
    return np.sign(self)


@differentiable(
    "MaximumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: np.where(self == other, grad / 2, grad * (self > other)),
    other=lambda grad, self, other: np.where(self == other, grad / 2, grad * (other > self)),
)
def maximum(self: Array, other: Array) -> Array:
    """Larger of two: the larger one gets the gradient; equal ones share it."""
    return np.maximum(self, other)


@differentiable(
    "MinimumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: np.where(self == other, grad / 2, grad * (self < other)),
    other=lambda grad, self, other: np.where(self == other, grad / 2, grad * (other < self)),
)
def minimum(self: Array, other: Array) -> Array:
    """Smaller of two: the smaller one gets the gradient; equal ones share it."""
    return np.minimum(self, other)


def _inside(self: Any, min: Any, max: Any) -> Any:
    if min is None:
        return self <= max
    return self >= min if max is None else (self >= min) * (self <= max)


@differentiable("ClampBackward1", self=lambda grad, self, min, max: grad * _inside(self, min, max))
def clamp(self: Array, min: Any, max: Any) -> Array:
    """Limit to an interval: the gradient passes where the input lies inside, ends included."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


@differentiable(
    "WhereBackward0",
    broadcasts=True,
    constants=("condition",),
    self=lambda grad, condition: np.where(condition, grad, grad * 0),
    other=lambda grad, condition: np.where(condition, grad * 0, grad),
)
def where(condition: Array, self: Array, other: Array) -> Array:
    """Choice by a condition: the gradient goes to the input that was chosen."""
    return np.where(condition, self, other)
