"""The derivatives of trigonometric, hyperbolic and special functions.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook. The error function is computed in `minigrad.ops.error_function`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import FACES, attach, entrywise, face
from minigrad.faces.arguments import as_floats
from minigrad.faces.face import in_place_form
from minigrad.ops import error_function
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.elementwise import rsqrt
from minigrad.ops.own_nodes import not_differentiable
from minigrad.ops.type_promotion import applied, quietly

# plain numbers, which take the type of what they stand beside: beside symbols they become exact
LN_2, LN_10 = math.log(2), math.log(10)
TWO_OVER_ROOT_PI, HALF_ROOT_PI = 2 / math.sqrt(math.pi), math.sqrt(math.pi) / 2
DEGREE, RADIAN = math.pi / 180, 180 / math.pi


# ---------------------------------------------------------------------- angles


@entrywise(ufunc=np.tan)
@differentiable("TanBackward0", self=lambda grad, result: grad * (result**2 + 1))
@quietly
def tan(self: Array) -> Array:
    r"""Tangent: :math:`g\, (1 + \tan^2 x)`."""
    return np.tan(self)


@entrywise(also="arcsin", ufunc=np.arcsin)
@differentiable("AsinBackward0", self=lambda grad, self: grad * applied(rsqrt, -self * self + 1))
@quietly
def asin(self: Array) -> Array:
    r"""Inverse of the sine: :math:`g / \sqrt{1 - x^2}`."""
    return np.arcsin(self)


@entrywise(also="arccos", ufunc=np.arccos)
@differentiable("AcosBackward0", self=lambda grad, self: grad * -applied(rsqrt, -self * self + 1))
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
@differentiable("AsinhBackward0", self=lambda grad, self: grad * applied(rsqrt, self**2 + 1))
@quietly
def asinh(self: Array) -> Array:
    r"""Inverse of the hyperbolic sine: :math:`g / \sqrt{x^2 + 1}`."""
    return np.arcsinh(self)


@entrywise(in_place=False, also="arccosh", ufunc=np.arccosh)
@differentiable("AcoshBackward0", self=lambda grad, self: grad * applied(rsqrt, self * self - 1))
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


def _in_place(operation: Any) -> Any:
    """Make the in-place method whose derivative PyTorch has left out."""
    name, node = operation.__name__, operation.node.__name__
    record = not_differentiable(f"{node[:-1]}1", f"inplace version of {name}")

    def compute(input: Tensor) -> Tensor:
        return record(operation.forward(as_floats(input)._array), input)

    return in_place_form(compute, FACES[name])


for _operation in (asinh, acosh, atanh):
    _names = (f"{_operation.__name__}_", f"arc{_operation.__name__[1:]}_")
    _forms = dict.fromkeys(_names, _in_place(_operation))
    attach(__name__, _forms, _forms)


# ---------------------------------------------------------------------- powers and logarithms


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


@face("xlogy(Tensor input, Tensor other, *, out=None)", floats=True, in_place="function")
@differentiable(
    "XlogyBackward0",
    arithmetic=True,
    self=lambda grad, self, other: applied(
        masked_fill_number, applied(xlogy, grad, other), (self == 0) * (other <= 0), 0
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
