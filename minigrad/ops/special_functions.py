"""The derivatives of trigonometric, hyperbolic and special functions.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate, overridable
from minigrad.core.operation import Array, operation
from minigrad.creation import dtypes
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.elementwise import reciprocal, rsqrt
from minigrad.signatures import entrywise, variants
from minigrad.signatures.arguments import not_implemented
from minigrad.signatures.signature import Operand

# plain numbers, which take the type of what they stand beside: beside symbols they become exact
LN_2, LN_10 = math.log(2), math.log(10)
PI, TWO_OVER_ROOT_PI = math.pi, 2 / math.sqrt(math.pi)
DEGREE, RADIAN = math.pi / 180, 180 / math.pi


_silent: Any = np.errstate(all="ignore")  # for what an array's class may answer itself


# ---------------------------------------------------------------------- angles


@entrywise(ufunc=np.tan)
@operation("TanBackward0", self=lambda grad, result: grad * (result**2 + 1))
@ignore_errstate
def tan(self: Array) -> Array:
    r"""Tangent: :math:`g\, (1 + \tan^2 x)`."""
    return np.tan(self)


@entrywise(also="arcsin", ufunc=np.arcsin)
@operation("AsinBackward0", self=lambda grad, self: grad * dispatch(rsqrt, -self * self + 1))
@ignore_errstate
def asin(self: Array) -> Array:
    r"""Inverse of the sine: :math:`g / \sqrt{1 - x^2}`."""
    return np.arcsin(self)


@entrywise(also="arccos", ufunc=np.arccos)
@operation("AcosBackward0", self=lambda grad, self: grad * -dispatch(rsqrt, -self * self + 1))
@ignore_errstate
def acos(self: Array) -> Array:
    r"""Inverse of the cosine: :math:`-g / \sqrt{1 - x^2}`."""
    return np.arccos(self)


@entrywise(also="arctan", ufunc=np.arctan)
@operation("AtanBackward0", self=lambda grad, self: grad / (self * self + 1))
@ignore_errstate
def atan(self: Array) -> Array:
    r"""Inverse of the tangent: :math:`g / (1 + x^2)`."""
    return np.arctan(self)


@entrywise(ufunc=np.sinh)
@operation("SinhBackward0", self=lambda grad, self: grad * np.cosh(self))
@ignore_errstate
def sinh(self: Array) -> Array:
    r"""Hyperbolic sine: :math:`g \cosh x`."""
    return np.sinh(self)


@entrywise(ufunc=np.cosh)
@operation("CoshBackward0", self=lambda grad, self: grad * np.sinh(self))
@ignore_errstate
def cosh(self: Array) -> Array:
    r"""Hyperbolic cosine: :math:`g \sinh x`."""
    return np.cosh(self)


@entrywise(in_place=False, also="arcsinh", ufunc=np.arcsinh)
@operation("AsinhBackward0", self=lambda grad, self: grad * dispatch(rsqrt, self**2 + 1))
@ignore_errstate
def asinh(self: Array) -> Array:
    r"""Inverse of the hyperbolic sine: :math:`g / \sqrt{x^2 + 1}`."""
    return np.arcsinh(self)


@entrywise(in_place=False, also="arccosh", ufunc=np.arccosh)
@operation("AcoshBackward0", self=lambda grad, self: grad * dispatch(rsqrt, self * self - 1))
@ignore_errstate
def acosh(self: Array) -> Array:
    r"""Inverse of the hyperbolic cosine: :math:`g / \sqrt{x^2 - 1}`."""
    return np.arccosh(self)


@entrywise(in_place=False, also="arctanh", ufunc=np.arctanh)
@operation("AtanhBackward0", self=lambda grad, self: grad * 1 / (1 - self**2))
@ignore_errstate
def atanh(self: Array) -> Array:
    r"""Inverse of the hyperbolic tangent: :math:`g / (1 - x^2)`."""
    return np.arctanh(self)


@entrywise(missing=("c", "deg2rad"), ufunc=(np.deg2rad, np.radians))
@operation("Deg2RadBackward0", self=lambda grad: grad * DEGREE)
def deg2rad(self: Array) -> Array:
    r"""Degrees as radians: the gradient times :math:`\pi / 180`."""
    return self * DEGREE


@entrywise(missing=("c", "rad2deg"), ufunc=(np.rad2deg, np.degrees))
@operation("Rad2DegBackward0", self=lambda grad: grad * RADIAN)
def rad2deg(self: Array) -> Array:
    r"""Radians as degrees: the gradient times :math:`180 / \pi`."""
    return self * RADIAN


# ---------------------------------------------------------------------- of two numbers

_TWO = "(Tensor input, Tensor other, *, out=None)"


def _over_squares(self: Any, other: Any) -> Any:
    """Give one over the sum of the squares; 0 at the origin, where an angle has no slope."""
    total = self * self + other * other
    return dispatch(masked_fill_number, dispatch(reciprocal, total), total == 0, 0)


@variants(out="kind", floats=True, missing=("c", "atan2_cpu"), in_place=True, ufunc=np.arctan2)
@operation(
    "Atan2Backward0",
    arithmetic=True,
    self=lambda grad, self, other: grad * other * _over_squares(self, other),
    other=lambda grad, self, other: grad * -self * _over_squares(self, other),
)
def atan2(self: Array, other: Array) -> Array:
    r"""Angle of the point (x, y): :math:`g x / (x^2 + y^2)` in y, :math:`-g y / (x^2 + y^2)` in x.

    The first input is y, as usual. At the origin both gradients are 0.
    """
    return np.arctan2(self, other)


@variants(out="kind", missing=("iubc", "hypot_cpu"), in_place=True, ufunc=np.hypot)
@operation(
    "HypotBackward0",
    arithmetic=True,
    self=lambda grad, self, result: grad * self / result,
    other=lambda grad, other, result: grad * other / result,
)
@ignore_errstate
def hypot(self: Array, other: Array) -> Array:
    r"""Length of the vector to a point, :math:`r = \sqrt{x^2 + y^2}`: :math:`g x / r`, so for y."""
    return np.hypot(self, other)


@variants(out="kind", missing=("iubc", "logaddexp_cpu"), ufunc=np.logaddexp)
@operation(
    "LogaddexpBackward0",
    arithmetic=True,
    self=lambda grad, self, other: grad / (np.exp(other - self) + 1),
    other=lambda grad, self, other: grad / (np.exp(self - other) + 1),
)
@ignore_errstate
def logaddexp(self: Array, other: Array) -> Array:
    r"""Logarithm of a sum, :math:`\ln(e^a + e^b)`: :math:`g\, e^a / (e^a + e^b)`, and so for b."""
    return np.logaddexp(self, other)


def _sinc_rule(grad: Any, self: Any) -> Any:
    angle, square = self * PI, self * self * PI
    return np.where(square == 0, 0, grad * ((angle * np.cos(angle) - np.sin(angle)) / square))


@entrywise(numpy=np.sinc)
@operation("SincBackward0", self=_sinc_rule)
@ignore_errstate
def sinc(self: Array) -> Array:
    r"""Sine over the angle, :math:`y = \sin(\pi x) / (\pi x)`: :math:`g (\cos(\pi x) - y) / x`.

    At 0 it is 1, and its slope 0.
    """
    angle = self * PI
    return np.where(self == 0, 1, np.sin(angle) / angle)


# ---------------------------------------------------------------------- powers and logarithms


@entrywise(ufunc=np.exp2)
@operation("Exp2Backward0", self=lambda grad, result: grad * result * LN_2)
@ignore_errstate
def exp2(self: Array) -> Array:
    r"""Power of 2: :math:`g\, 2^x \ln 2`."""
    return np.exp2(self)


@entrywise(ufunc=np.log2)
@operation("Log2Backward0", self=lambda grad, self: grad / (self * LN_2))
@ignore_errstate
def log2(self: Array) -> Array:
    r"""Logarithm to base 2: :math:`g / (x \ln 2)`."""
    return np.log2(self)


@entrywise(ufunc=np.log10)
@operation("Log10Backward0", self=lambda grad, self: grad / (self * LN_10))
@ignore_errstate
def log10(self: Array) -> Array:
    r"""Logarithm to base 10: :math:`g / (x \ln 10)`."""
    return np.log10(self)


@variants(out="kind", in_place="function")
@operation(
    "XlogyBackward0",
    arithmetic=True,
    self=lambda grad, self, other: dispatch(
        masked_fill_number, dispatch(xlogy, grad, other), (self == 0) * (other <= 0), 0
    ),
    other=lambda grad, self, other: grad * self / other,
)
@ignore_errstate
def xlogy(self: Operand, other: Operand) -> Array:
    r"""Product :math:`x \ln y`, and 0 where x is 0: :math:`g \ln y` in x, :math:`g x / y` in y."""
    if self.dtype.kind == "c":
        raise not_implemented("xlogy", self)
    if self.dtype.kind in "iub":
        self, other = (np.asarray(each, dtypes.default.dtype.numpy) for each in (self, other))
    return np.where((self == 0) * (other == other), 0, self * np.log(other))


def _logit_rule(grad: Any, self: Any, eps: Any) -> Any:
    low, high, beyond = (0, 1, np.nan) if eps is None else (eps, 1 - eps, 0)
    inside = np.logical_not(np.logical_or(self < low, self > high))  # as NaN is
    product = self * (1 - self)
    if isinstance(product, np.ndarray):
        product = product + 0  # of -0 it makes 0: at both ends the slope is infinite, and upward
    return np.where(inside, grad / product, beyond)


@variants(out="kind", floats=True, missing=("c", "logit_cpu"), in_place="function")
@operation("LogitBackward0", self=_logit_rule)
@ignore_errstate
def logit(self: Array, eps: float | None = None) -> Array:
    r"""Inverse of the logistic function, :math:`\ln(x / (1 - x))`: :math:`g / (x (1 - x))`.

    Args:
        self: Probabilities.
        eps: Brings the entries between `eps` and 1 - `eps` first, if given; beyond these there is
            no slope.

    Example:
        >>> import minigrad as torch
        >>> torch.logit(torch.tensor([0.5, 0.9]))
        tensor([0.0000, 2.1972])
    """
    if eps is not None:
        self = np.where(self < eps, eps, np.where(self > 1 - eps, 1 - eps, self)).astype(self.dtype)
    return np.log(self / (1 - self))


# ---------------------------------------------------------------------- the error function

_FEW = 256  # so many numbers are computed sooner one by one
# Of many in float32 it is x P(x^2) / Q(x^2), from the highest power down, as in the library Eigen.
_P = np.array([
    2.2905065861350646e-4, 3.4082910107109506e-3, 5.0955695062380861e-2, 0.18520832239976145,
    1.128379143519084,
])  # fmt: skip
_Q = np.array([
    -1.1791602954361697e-7, 2.3547966471313185e-5, 1.0179625278914885e-3, 1.4070470171167667e-2,
    0.11098505178285362, 0.49746925110067538, 1.0,
])  # fmt: skip


def _erf_of_many(array: Any) -> Any:
    x = array.astype(np.float32)
    square = np.minimum(x * x, 15)
    inside = x * np.polyval(_P, square) / np.polyval(_Q, square)
    return np.where(np.abs(x) < 3.83, inside, np.sign(x)).astype(array.dtype)


def _one_by_one(of_one: Callable[[float], float], array: Any) -> Any:
    return np.array([*map(of_one, array.ravel().tolist())], array.dtype).reshape(array.shape)


@entrywise()
@operation("ErfBackward0", self=lambda grad, self: np.exp(-(self**2)) * TWO_OVER_ROOT_PI * grad)
@overridable
def erf(self: Array) -> Array:
    r"""Error function :math:`2 \int_0^x e^{-t^2} dt / \sqrt\pi`.

    Its derivative is :math:`2 e^{-x^2} / \sqrt\pi`.
    """
    if self.size > _FEW and self.itemsize <= 4:
        return _erf_of_many(self)
    return _one_by_one(math.erf, self)


def _erfc_rule(grad: Any, self: Any) -> Any:
    return np.exp(-(self**2)) * -TWO_OVER_ROOT_PI * grad


@entrywise()
@operation("ErfcBackward0", self=_erfc_rule)
@overridable
def erfc(self: Array) -> Array:
    r"""Complement of the error function, :math:`1 - \operatorname{erf} x`, exact also if small."""
    return _one_by_one(math.erfc, self)


def _erfinv_rule(grad: Any, self: Any) -> Any:
    return np.exp(dispatch(erfinv, self) ** 2) * (1 / TWO_OVER_ROOT_PI) * grad


@entrywise(in_place=True, missing=("c", "erfinv_vml_cpu"))
@operation("ErfinvBackward0", self=_erfinv_rule)
@overridable
@_silent
def erfinv(self: Array) -> Array:
    r"""Number y whose error function is x: :math:`g\, e^{y^2} \sqrt\pi / 2`.

    Solved by Halley's method, near 1 in the complement; the first guess is from the approximation
    :math:`\operatorname{erf}^2 y \approx 1 - e^{-4 y^2 / \pi}`.
    """
    size = np.abs(self.astype(np.float64))
    rest = 1 - size
    y = np.sqrt(-PI / 4 * (np.log(rest) + np.log1p(size)))
    for _ in range(7):
        error = np.where(size < 0.5, _one_by_one(math.erf, y) - size, rest - erfc.forward(y))
        step = error / TWO_OVER_ROOT_PI * np.exp(y * y)
        y = np.where(size < 1, y - step / (1 + y * step), y)
    return np.copysign(np.where(size <= 1, y, np.nan), self).astype(self.dtype)


# ---------------------------------------------------------------------- the gamma function


@entrywise(in_place=True, missing=("c", "lgamma_vml_cpu"))
@operation("LgammaBackward0", self=lambda grad, self: grad * dispatch(digamma, self))
@overridable
def lgamma(self: Array) -> Array:
    r"""Logarithm of the gamma function's size, :math:`\ln |\Gamma(x)|`: :math:`g\, \psi(x)`."""
    far = 2.5e305  # from where on it overflows
    of_one = lambda x: math.inf if x > far or (x <= 0 and x % 1 == 0) else math.lgamma(x)  # noqa: E731
    return _one_by_one(of_one, self)


@entrywise(in_place=True, missing=("c", "digamma"))
@operation("DigammaBackward0", self=lambda grad, self: grad * dispatch(polygamma, self, 1))
def digamma(self: Array) -> Array:
    r"""Derivative of `lgamma`, :math:`\psi(x)`: the gradient times that of order 1."""
    return polygamma.forward(self, 0)


# of even order, from 2 on: Bernoulli's numbers
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


@operation("PolygammaBackward0", self=lambda grad, self, n: grad * dispatch(polygamma, self, n + 1))
@overridable
@_silent
def polygamma(self: Array, n: int) -> Array:
    r"""Derivative of order n of :math:`\psi`: the gradient times that of order n + 1.

    From 10 on it is an asymptotic series (https://dlmf.nist.gov/5.11.E2 and 5.15.E8); smaller
    numbers are brought there by recurrence (5.15.E5), negative ones by reflection (5.15.E6).
    """
    given = self.astype(np.float64)
    x = np.where(given < 0, 1 - given, given)
    total = np.zeros_like(x)
    while (near := x < 10).any():
        total += np.where(near, math.factorial(n) / x ** (n + 1), 0)
        x = x + near
    total += math.factorial(n) / (2 * x ** (n + 1))
    total += math.factorial(n - 1) / x**n if n else -np.log(x)
    for k, number in enumerate(_BERNOULLI, 1):
        total += math.factorial(2 * k + n - 1) / math.factorial(2 * k) * number / x ** (2 * k + n)
    cotangent = np.polynomial.Polynomial([0, 1])  # its derivatives are polynomials of it
    for _ in range(n):
        cotangent = -PI * cotangent.deriv() * np.polynomial.Polynomial([1, 0, 1])
    turned = -total - PI * cotangent(1 / np.tan(PI * np.fmod(given, 1)))
    return np.where(given < 0, turned, (-1) ** (n + 1) * total).astype(self.dtype)
