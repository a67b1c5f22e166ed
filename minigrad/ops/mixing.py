"""The derivatives of what mixes two or three tensors: interpolation, sums of products, limits.

:math:`g` is the gradient of the result. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import choices, elementwise
from minigrad.ops.choices import pick
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.tape import Array, differentiable
from minigrad.tensor import Tensor

# ---------------------------------------------------------------------- interpolation


@differentiable(
    "LerpBackward0",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)
@quietly
def lerp_number(self: Array, end: Array, weight: Any) -> Array:
    r"""Point between two, :math:`a + w (b - a)`: :math:`g (1 - w)` for a and :math:`g w` for b."""
    way = end - self
    # from the nearer side, so that the ends themselves are met exactly
    return self + weight * way if weight < 0.5 else end - way * (1 - weight)


@differentiable(
    "LerpBackward1",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)
@quietly
def lerp(self: Array, end: Array, weight: Array) -> Array:
    r"""Point between two with a weight for each entry, which gets :math:`g (b - a)`."""
    way = end - self
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))


# ---------------------------------------------------------------------- sums of products


@differentiable(
    "AddcmulBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)
@quietly
def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    r"""Sum with a product, :math:`x + v\, a b`: :math:`g`, :math:`g v b` and :math:`g v a`."""
    return self + tensor1 * tensor2 * value


def _over(value: Any, divisor: Any) -> Any:
    """Divide a number, with one node of the graph, as PyTorch's own rules do."""
    return elementwise.div(value, divisor) if isinstance(divisor, Tensor) else value / divisor


@differentiable(
    "AddcdivBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * _over(value, tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * ((tensor1 * value) / (tensor2 * tensor2)),
)
@quietly
def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    r"""Sum with quotient :math:`x + v a / b`: :math:`g`, :math:`g v / b`, :math:`-g v a / b^2`."""
    return self + tensor1 / tensor2 * value


@differentiable(
    "RsubBackward0",
    broadcasts=True,
    self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha,
    other=lambda grad: grad,
)
def rsub_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Difference the other way round, :math:`b - \alpha a`: :math:`-\alpha g` and :math:`g`."""
    return other - self * alpha


# ---------------------------------------------------------------------- choices


def _without(grad: Any, mask: Any) -> Any:
    return applied(choices.masked_fill_number, grad, mask, 0)


def _is_nan(array: Any) -> Any:
    return array != array


@differentiable(
    "FmaxBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _without(
        grad, np.logical_not(np.logical_or(self >= other, _is_nan(other)))
    ),
    other=lambda grad, self, other: _without(grad, np.logical_or(self >= other, _is_nan(other))),
)
def fmax(self: Array, other: Array) -> Array:
    """Larger of two, or the one that is a number: it gets the gradient; of equals the first."""
    return np.fmax(self, other)


@differentiable(
    "FminBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _without(
        grad, np.logical_not(np.logical_or(self <= other, _is_nan(other)))
    ),
    other=lambda grad, self, other: _without(grad, np.logical_or(self <= other, _is_nan(other))),
)
def fmin(self: Array, other: Array) -> Array:
    """Smaller of two, or the one that is a number: it gets the gradient; of equals the first."""
    return np.fmin(self, other)


def _sign_change(grad: Any, self: Any, result: Any) -> Any:
    return grad * _without(result / self, self == 0)


@differentiable(
    "CopysignBackward0",
    arithmetic=True,
    self=_sign_change,
    other=lambda grad: np.zeros_like(grad),
)
def copysign(self: Array, other: Array) -> Array:
    """Size of the one with the sign of the other: the gradient with the sign's change, 0 at 0."""
    return np.copysign(self, other)


@differentiable("CopysignBackward1", self=_sign_change)
def copysign_number(self: Array, other: Any) -> Array:
    """Size with the sign of a number: the gradient with the sign's change, 0 at 0."""
    return np.copysign(self, other)


# ---------------------------------------------------------------------- limits that are tensors


@differentiable(
    "ClampBackward0",
    broadcasts=True,
    self=lambda grad, self, min, max: pick((self >= min) * (self <= max), grad, 0),
    min=lambda grad, self, min, max: pick(
        np.logical_or(min < max, max == np.inf) * (self < min), grad, 0
    ),
    max=lambda grad, self, min, max: pick(np.logical_or(self > max, max < min), grad, 0),
)
def clamp_between(self: Array, min: Array, max: Array) -> Array:
    """Limit to intervals with ends of their own: an end gets the gradient where it limits.

    Where the lower end lies above the upper one, it is the upper one that limits. An infinite one
    stands for none.
    """
    return np.minimum(np.maximum(self, min), max)


@differentiable(
    "ClampMinBackward1",
    arithmetic=True,
    self=lambda grad, self, min: pick(self >= min, grad, 0),
    min=lambda grad, self, min: pick(self < min, grad, 0),
)
def clamp_from(self: Array, min: Array) -> Array:
    """Limit from below: the limit gets the gradient where it is larger."""
    return np.maximum(self, min)


@differentiable(
    "ClampMaxBackward1",
    arithmetic=True,
    self=lambda grad, self, max: pick(self <= max, grad, 0),
    max=lambda grad, self, max: pick(self > max, grad, 0),
)
def clamp_to(self: Array, max: Array) -> Array:
    """Limit from above: the limit gets the gradient where it is smaller."""
    return np.minimum(self, max)


@differentiable("ClampMinBackward0", self=lambda grad, self, min: pick(self >= min, grad, 0))
def clamp_from_number(self: Array, min: Any) -> Array:
    """Limit from below by a number: the gradient passes where the input is not smaller."""
    return np.maximum(self, min)


@differentiable("ClampMaxBackward0", self=lambda grad, self, max: pick(self <= max, grad, 0))
def clamp_to_number(self: Array, max: Any) -> Array:
    """Limit from above by a number: the gradient passes where the input is not larger."""
    return np.minimum(self, max)
