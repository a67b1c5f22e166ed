r"""The derivatives of losses of numbers: the smooth absolute error and Huber's.

In all of them :math:`d = x - t` is the prediction minus the target. Losses are reduced as PyTorch
numbers it: 0 not at all, 1 to their mean, 2 to their sum.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.choices import pick
from minigrad.ops.losses import _reduced
from minigrad.ops.type_promotion import applied, quietly


def share(shape: tuple[int, ...], reduction: int) -> Any:
    """Give the part of each loss in the result."""
    return 1 / max(math.prod(shape), 1) if reduction == 1 else 1


# ---------------------------------------------------------------------- smooth absolute error


def _smooth_slope(self: Any, target: Any, reduction: int, beta: Any) -> Any:
    difference = self - target
    if type(difference) is np.ndarray and difference.dtype.kind == "f" and beta > 0:
        difference /= beta
        slope = difference.clip(-1, 1, out=difference)
        slope *= share(slope.shape, reduction)
        return slope
    inner = np.abs(difference) < beta
    slope = pick(inner, difference / beta, np.sign(difference))
    return slope * share(slope.shape, reduction)


def _smooth_curvature_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, beta: Any
) -> Any:
    inner = np.abs(self - target) < beta
    return pick(inner, grad * grad_output * (share(grad.shape, reduction) / beta), 0)


@differentiable(
    "SmoothL1LossBackwardBackward0",
    broadcasts=True,
    grad_output=lambda grad, self, target, reduction, beta: (
        grad * _smooth_slope(self, target, reduction, beta)
    ),
    self=lambda grad, grad_output, self, target, reduction, beta: _smooth_curvature_rule(
        grad, grad_output, self, target, reduction, beta
    ),
    target=lambda grad, grad_output, self, target, reduction, beta: (
        -_smooth_curvature_rule(grad, grad_output, self, target, reduction, beta)
    ),
)
@quietly
def smooth_l1_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int, beta: Any
) -> Array:
    r"""Rule of the smooth absolute error: :math:`g d / \beta`, or :math:`\pm g` from beta on."""
    return grad_output * _smooth_slope(self, target, reduction, beta)


@differentiable(
    "SmoothL1LossBackward0",
    broadcasts=True,
    self=smooth_l1_loss_backward,
    target=lambda grad, self, target, reduction, beta: applied(
        smooth_l1_loss_backward, grad, target, self, reduction, beta
    ),
)
@quietly
def smooth_l1_loss(self: Array, target: Array, reduction: int, beta: Any) -> Array:
    r"""Smooth absolute error: :math:`d^2 / (2 \beta)`, or :math:`|d| - \beta/2` from beta on."""
    size = np.abs(self - target)
    if type(size) is np.ndarray and size.dtype.kind == "f" and 0 < beta < math.inf:
        inner = size.clip(0, beta)
        losses = size - 0.5 * inner
        losses *= inner
        losses /= beta
        return _reduced(losses, reduction)
    losses = pick(size < beta, 0.5 * size * size / beta, size - 0.5 * beta)
    return _reduced(losses, reduction)


# ---------------------------------------------------------------------- Huber's loss


def _huber_slope(self: Any, target: Any, reduction: int, delta: Any) -> Any:
    difference = self - target
    inner = np.abs(difference) < delta
    slope = pick(inner, difference, np.sign(difference) * delta)
    return slope * share(slope.shape, reduction)


def _huber_curvature_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, delta: Any
) -> Any:
    inner = np.abs(self - target) < delta
    return pick(inner, grad * grad_output * share(grad.shape, reduction), 0)


@differentiable(
    "HuberLossBackwardBackward0",
    broadcasts=True,
    grad_output=lambda grad, self, target, reduction, delta: (
        grad * _huber_slope(self, target, reduction, delta)
    ),
    self=lambda grad, grad_output, self, target, reduction, delta: _huber_curvature_rule(
        grad, grad_output, self, target, reduction, delta
    ),
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -_huber_curvature_rule(grad, grad_output, self, target, reduction, delta)
    ),
)
def huber_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int, delta: Any
) -> Array:
    r"""Rule of Huber's loss: :math:`g d`, or :math:`\pm g \delta` from delta on."""
    return grad_output * _huber_slope(self, target, reduction, delta)


@differentiable(
    "HuberLossBackward0",
    broadcasts=True,
    self=huber_loss_backward,
    target=lambda grad, self, target, reduction, delta: applied(
        huber_loss_backward, grad, target, self, reduction, delta
    ),
)
@quietly
def huber_loss(self: Array, target: Array, reduction: int, delta: Any) -> Array:
    r"""Huber's loss: :math:`d^2 / 2`, or :math:`\delta (|d| - \delta/2)` from delta on."""
    size = np.abs(self - target)
    losses = pick(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    return _reduced(losses, reduction)
