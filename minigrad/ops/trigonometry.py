"""The derivatives of trigonometric and hyperbolic functions, and of their inverses.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import choices, elementwise
from minigrad.ops.constants import DEGREE, PI, RADIAN
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.tape import Array, differentiable


@differentiable("TanBackward0", self=lambda grad, result: grad * (result**2 + 1))
@quietly
def tan(self: Array) -> Array:
    r"""Tangent: :math:`g\, (1 + \tan^2 x)`."""
    return np.tan(self)


@differentiable(
    "AsinBackward0", self=lambda grad, self: grad * applied(elementwise.rsqrt, -self * self + 1)
)
@quietly
def asin(self: Array) -> Array:
    r"""Inverse of the sine: :math:`g / \sqrt{1 - x^2}`."""
    return np.arcsin(self)


@differentiable(
    "AcosBackward0", self=lambda grad, self: grad * -applied(elementwise.rsqrt, -self * self + 1)
)
@quietly
def acos(self: Array) -> Array:
    r"""Inverse of the cosine: :math:`-g / \sqrt{1 - x^2}`."""
    return np.arccos(self)


@differentiable("AtanBackward0", self=lambda grad, self: grad / (self * self + 1))
@quietly
def atan(self: Array) -> Array:
    r"""Inverse of the tangent: :math:`g / (1 + x^2)`."""
    return np.arctan(self)


@differentiable("SinhBackward0", self=lambda grad, self: grad * np.cosh(self))
@quietly
def sinh(self: Array) -> Array:
    r"""Hyperbolic sine: :math:`g \cosh x`."""
    return np.sinh(self)


@differentiable("CoshBackward0", self=lambda grad, self: grad * np.sinh(self))
@quietly
def cosh(self: Array) -> Array:
    r"""Hyperbolic cosine: :math:`g \sinh x`."""
    return np.cosh(self)


@differentiable(
    "AsinhBackward0", self=lambda grad, self: grad * applied(elementwise.rsqrt, self**2 + 1)
)
@quietly
def asinh(self: Array) -> Array:
    r"""Inverse of the hyperbolic sine: :math:`g / \sqrt{x^2 + 1}`."""
    return np.arcsinh(self)


@differentiable(
    "AcoshBackward0", self=lambda grad, self: grad * applied(elementwise.rsqrt, self * self - 1)
)
@quietly
def acosh(self: Array) -> Array:
    r"""Inverse of the hyperbolic cosine: :math:`g / \sqrt{x^2 - 1}`."""
    return np.arccosh(self)


@differentiable("AtanhBackward0", self=lambda grad, self: grad * 1 / (1 - self**2))
@quietly
def atanh(self: Array) -> Array:
    r"""Inverse of the hyperbolic tangent: :math:`g / (1 - x^2)`."""
    return np.arctanh(self)


def _over_squares(self: Any, other: Any) -> Any:
    """Give one over the sum of the squares; at the origin 0, where the angle has no slope."""
    sum = self * self + other * other
    over = applied(elementwise.reciprocal, sum)
    return applied(choices.masked_fill_number, over, sum == 0, 0)


@differentiable(
    "Atan2Backward0",
    arithmetic=True,
    self=lambda grad, self, other: grad * other * _over_squares(self, other),
    other=lambda grad, self, other: grad * -self * _over_squares(self, other),
)
@quietly
def atan2(self: Array, other: Array) -> Array:
    r"""Angle of the point (x, y): :math:`g x / (x^2 + y^2)` in y, :math:`-g y / (x^2 + y^2)` in x.

    The first input is y, as usual.
    """
    return np.arctan2(self, other)


@differentiable(
    "HypotBackward0",
    arithmetic=True,
    self=lambda grad, self, result: grad * self / result,
    other=lambda grad, other, result: grad * other / result,
)
@quietly
def hypot(self: Array, other: Array) -> Array:
    r"""Length of a point's vector, :math:`r = \sqrt{x^2 + y^2}`: :math:`g x / r`, and so for y."""
    return np.hypot(self, other)


def _sinc_rule(grad: Any, self: Any) -> Any:
    angle, square = self * PI, self * self * PI
    return np.where(square == 0, 0, grad * ((angle * np.cos(angle) - np.sin(angle)) / square))


@differentiable("SincBackward0", self=_sinc_rule)
@quietly
def sinc(self: Array) -> Array:
    r"""Normalized sinc, :math:`\sin(\pi x) / (\pi x)`.

    The rule: :math:`g\, (\pi x \cos \pi x - \sin \pi x) / (\pi x^2)`, and 0 at 0.
    """
    if self.dtype == np.float16:
        return sinc.forward(self.astype(np.float32)).astype(self.dtype)
    angle = self * PI
    return np.where(angle == 0, 1, np.sin(angle) / angle)


@differentiable("Deg2RadBackward0", self=lambda grad: grad * DEGREE)
def deg2rad(self: Array) -> Array:
    r"""Degrees as radians: the gradient times :math:`\pi / 180`."""
    return self * DEGREE


@differentiable("Rad2DegBackward0", self=lambda grad: grad * RADIAN)
def rad2deg(self: Array) -> Array:
    r"""Radians as degrees: the gradient times :math:`180 / \pi`."""
    return self * RADIAN
