r"""The derivatives of losses that ask for a margin between what is right and what is wrong.

Losses are reduced as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.losses import _reduced
from minigrad.ops.regression_losses import share
from minigrad.ops.type_promotion import quietly

# ---------------------------------------------------------------------- two sides


def _soft_margin_slope(self: Any, target: Any, reduction: int) -> Any:
    slope = -target / (1 + np.exp(target * self))
    return slope * share(slope.shape, reduction)


def _soft_margin_curvature_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, reduction: int
) -> Any:
    power = np.exp(target * self)
    curvature = target * target * power / ((1 + power) * (1 + power))
    return grad * grad_output * curvature * share(grad.shape, reduction)


@differentiable(
    "SoftMarginLossBackwardBackward0",
    broadcasts=("grad_output",),
    constants=("target",),
    grad_output=lambda grad, self, target, reduction: (
        grad * _soft_margin_slope(self, target, reduction)
    ),
    self=_soft_margin_curvature_rule,
)
@quietly
def soft_margin_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int
) -> Array:
    r"""Rule of the soft margin, :math:`-g t\, \sigma(-t x)`."""
    return grad_output * _soft_margin_slope(self, target, reduction)


@differentiable(
    "SoftMarginLossBackward0",
    constants=("target",),
    self=soft_margin_loss_backward,
)
@quietly
def soft_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Soft margin :math:`\ln(1 + e^{-t x})` for targets 1 and -1."""
    return _reduced(np.log1p(np.exp(-target * self)), reduction)


# ---------------------------------------------------------------------- classes


def _gaps(self: Any, target: Any, margin: Any) -> Any:
    """Give by how much each wrong class comes too near to the right one."""
    chosen = target[:, None] == np.arange(self.shape[1])
    right = np.add.reduce(self * chosen, axis=1, keepdims=True)
    gaps = margin - right + self
    return np.where((gaps > 0) * ~chosen, gaps, 0), chosen


def _powers(gaps: Any, p: int) -> Any:
    return gaps if p == 1 else gaps * gaps


def _multi_margin_rule(
    grad: Any, self: Any, target: Any, p: int, margin: Any, scale: Any, reduction: int
) -> Any:
    gaps, chosen = _gaps(self, target, margin)
    slope = (np.where(gaps > 0, np.ones_like(self), 0) if p == 1 else 2 * gaps) * scale[:, None]
    slope = slope - np.add.reduce(slope, axis=1, keepdims=True) * chosen
    each = np.reshape(grad, (-1, 1)) if reduction == 0 else grad
    return each * slope * share((len(target),), reduction)


@differentiable("MultiMarginLossBackward0", self=_multi_margin_rule)
def multi_margin_loss(
    self: Array, target: Any, p: int, margin: Any, scale: Any, reduction: int
) -> Array:
    r"""Margin of classes, :math:`s \sum_{i \ne t} \max(0, m - x_t + x_i)^p` for each row."""
    gaps, _ = _gaps(self, target, margin)
    return _reduced(np.add.reduce(_powers(gaps, p), axis=1) * scale, reduction)


def _pairs(self: Any, counts: Any) -> Any:
    """Tell which wrong class comes too near to which right one, and by how much."""
    gaps = 1 - np.expand_dims(self, 2) + np.expand_dims(self, 1)
    return np.where(gaps > 0, gaps, 0) * (counts[:, :, None] * (counts[:, None, :] == 0))


def _multilabel_margin_rule(grad: Any, self: Any, counts: Any, reduction: int) -> Any:
    ones = np.ones_like(np.expand_dims(self, 2))
    near = np.where(_pairs(self, counts) > 0, ones, 0) * counts[:, :, None]
    slope = np.add.reduce(near, axis=1) - np.add.reduce(near, axis=2)
    each = np.reshape(grad, (-1, 1)) if reduction == 0 else grad
    return each * slope * (share((len(counts),), reduction) / counts.shape[1])


@differentiable("MultilabelMarginLossBackward0", self=_multilabel_margin_rule)
def multilabel_margin_loss(self: Array, counts: Any, reduction: int) -> Array:
    r"""Margin of labels, :math:`\frac1C \sum_j \sum_i \max(0, 1 - x_j + x_i)` for j right, i wrong.

    `counts` says how often each label is among the right ones, as floating point.
    """
    total = np.add.reduce(_pairs(self, counts), axis=(1, 2))
    return _reduced(total / counts.shape[1], reduction)
