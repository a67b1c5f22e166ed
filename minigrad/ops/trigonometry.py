"""The derivatives of trigonometric and hyperbolic functions, and of their inverses.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import FACES, attach, entrywise, face
from minigrad.faces.face import in_place_form
from minigrad.ops import choices, elementwise
from minigrad.ops.constants import DEGREE, PI, RADIAN
from minigrad.ops.type_promotion import applied, quietly


@entrywise(ufunc=np.tan)
@differentiable("TanBackward0", self=lambda grad, result: grad * (result**2 + 1))
@quietly
def tan(self: Array) -> Array:
    r"""Tangent: :math:`g\, (1 + \tan^2 x)`."""
    return np.tan(self)


@entrywise(also="arcsin", ufunc=np.arcsin)
@differentiable(
    "AsinBackward0", self=lambda grad, self: grad * applied(elementwise.rsqrt, -self * self + 1)
)
@quietly
def asin(self: Array) -> Array:
    r"""Inverse of the sine: :math:`g / \sqrt{1 - x^2}`."""
    return np.arcsin(self)


@entrywise(also="arccos", ufunc=np.arccos)
@differentiable(
    "AcosBackward0", self=lambda grad, self: grad * -applied(elementwise.rsqrt, -self * self + 1)
)
@quietly
def acos(self: Array) -> Array:
    r"""Inverse of the cosine: :math:`-g / \sqrt{1 - x^2}`."""
    return np.arccos(self)


@entrywise(also="arctan", ufunc=np.arctan)
@differentiable("AtanBackward0", self=lambda grad, self: grad / (self * self + 1))
@quietly
def atan(self: Array) -> Array:
    r"""Inverse of the tangent: :math:`g / (1 + x^2)`."""
    return np.arctan(self)


@entrywise(ufunc=np.sinh)
@differentiable("SinhBackward0", self=lambda grad, self: grad * np.cosh(self))
@quietly
def sinh(self: Array) -> Array:
    r"""Hyperbolic sine: :math:`g \cosh x`."""
    return np.sinh(self)


@entrywise(ufunc=np.cosh)
@differentiable("CoshBackward0", self=lambda grad, self: grad * np.sinh(self))
@quietly
def cosh(self: Array) -> Array:
    r"""Hyperbolic cosine: :math:`g \sinh x`."""
    return np.cosh(self)


@entrywise(in_place=False, also="arcsinh", ufunc=np.arcsinh)
@differentiable(
    "AsinhBackward0", self=lambda grad, self: grad * applied(elementwise.rsqrt, self**2 + 1)
)
@quietly
def asinh(self: Array) -> Array:
    r"""Inverse of the hyperbolic sine: :math:`g / \sqrt{x^2 + 1}`."""
    return np.arcsinh(self)


@entrywise(in_place=False, also="arccosh", ufunc=np.arccosh)
@differentiable(
    "AcoshBackward0", self=lambda grad, self: grad * applied(elementwise.rsqrt, self * self - 1)
)
@quietly
def acosh(self: Array) -> Array:
    r"""Inverse of the hyperbolic cosine: :math:`g / \sqrt{x^2 - 1}`."""
    return np.arccosh(self)


@entrywise(in_place=False, also="arctanh", ufunc=np.arctanh)
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


@face(
    "atan2(Tensor input, Tensor other, *, out=None)",
    floats=True,
    in_place=True,
    also="arctan2",
    ufunc=np.arctan2,
)
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


@face(
    "hypot(Tensor input, Tensor other, *, out=None)",
    missing=("iub", "hypot_cpu"),
    in_place=True,
    ufunc=np.hypot,
)
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


@entrywise(numpy=np.sinc)
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


@entrywise(ufunc=(np.deg2rad, np.radians))
@differentiable("Deg2RadBackward0", self=lambda grad: grad * DEGREE)
def deg2rad(self: Array) -> Array:
    r"""Degrees as radians: the gradient times :math:`\pi / 180`."""
    return self * DEGREE


@entrywise(ufunc=(np.rad2deg, np.degrees))
@differentiable("Rad2DegBackward0", self=lambda grad: grad * RADIAN)
def rad2deg(self: Array) -> Array:
    r"""Radians as degrees: the gradient times :math:`180 / \pi`."""
    return self * RADIAN


def _refused(operation: Any) -> Any:
    """Make the in-place method whose derivative PyTorch has left out."""
    name = operation.__name__

    def refuse(node: Any, gradient: Any, keep: bool = True) -> Any:
        raise NotImplementedError(
            f"the derivative for 'inplace version of {name}' is not implemented. Write "
            f"x = x.{name}(), which has one."
        )

    def compute(input: Tensor) -> Tensor:
        result: Tensor = FACES[name].method(input)
        node = result._edge and result._edge[0]
        if node is not None:
            node.__class__ = kind
        return result

    kind = type(
        f"{operation.node.__name__[:-1]}1",
        (operation.node,),
        {
            "__slots__": (),
            "__doc__": f"In place: {name}.",
            "_run": refuse,
            "_run_recorded": refuse,
        },
    )
    return in_place_form(compute, FACES[name].signature)


for _operation in (asinh, acosh, atanh):
    _names = (f"{_operation.__name__}_", f"arc{_operation.__name__[1:]}_")
    _forms = dict.fromkeys(_names, _refused(_operation))
    attach(__name__, _forms, _forms)
