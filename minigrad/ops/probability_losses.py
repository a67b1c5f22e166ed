r"""The derivatives of losses of probabilities: binary cross entropy, from them and from scores.

Losses are reduced as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum. Weights are
arrays, which need no gradient.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.activations import sigmoid
from minigrad.ops.losses import _reduced
from minigrad.ops.smooth_activations import _softplus, log_sigmoid
from minigrad.ops.special_functions import logit
from minigrad.ops.type_promotion import applied, quietly

_TINY = 1e-12  # keeps a quotient finite where a probability is 0 or 1, as in PyTorch


def _weighed(gradient: Any, weight: Any, reduction: int) -> Any:
    """Multiply by the weights, and by the part of each loss in the result."""
    if weight is not None:
        gradient = gradient * weight
    return gradient / max(math.prod(gradient.shape), 1) if reduction == 1 else gradient


# ---------------------------------------------------------------------- from probabilities


def _bce_gradient_rule(grad: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    slope = (self - target) / ((self + _TINY) * (1 - self + _TINY))
    return _weighed(grad * slope, weight, reduction)


def _bce_curvature_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    both = (self + _TINY) * (1 - self + _TINY)
    curvature = (self * self - 2 * self * target + target) / (both * both)
    return _weighed(curvature * (grad * grad_output), weight, reduction)


def _bce_mixed_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    return _weighed(-grad * grad_output / (self * (1 - self)), weight, reduction)


@differentiable(
    "BinaryCrossEntropyBackwardBackward0",
    broadcasts=("grad_output",),
    grad_output=_bce_gradient_rule,
    self=_bce_curvature_rule,
    target=_bce_mixed_rule,
)
@quietly
def binary_cross_entropy_backward(
    grad_output: Array, self: Array, target: Array, weight: Any, reduction: int
) -> Array:
    r"""Rule of binary cross entropy, :math:`g\, (x - t) / (x (1 - x))`."""
    slope = (self - target) / np.maximum((1 - self) * self, _TINY)
    return _weighed(grad_output * slope, weight, reduction)


def _bce_target_rule(grad: Any, self: Any, weight: Any, reduction: int) -> Any:
    return _weighed(-applied(logit, self, None) * grad, weight, reduction)


@differentiable(
    "BinaryCrossEntropyBackward0",
    self=binary_cross_entropy_backward,
    target=_bce_target_rule,
)
@quietly
def binary_cross_entropy(self: Array, target: Array, weight: Any, reduction: int) -> Array:
    r"""Binary cross entropy :math:`-t \ln x - (1 - t) \ln(1 - x)`; logarithms are at least -100."""
    certain = np.maximum(np.log(self), -100)
    losses = (target - 1) * np.maximum(np.log1p(-self), -100) - target * certain
    return _reduced(losses if weight is None else losses * weight, reduction)


# ---------------------------------------------------------------------- from scores


def _logits_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = applied(sigmoid, self) - target
    else:
        heavy = target * pos_weight
        slope = (heavy + 1 - target) * applied(sigmoid, self) - heavy
    return _weighed(slope * grad, weight, reduction)


def _logits_target_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = -self
    else:
        slope = applied(log_sigmoid, -self) - applied(log_sigmoid, self) * pos_weight
    return _weighed(slope * grad, weight, reduction)


@differentiable(
    "BinaryCrossEntropyWithLogitsBackward0",
    broadcasts=("self", "target"),
    self=_logits_rule,
    target=_logits_target_rule,
)
@quietly
def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Any, pos_weight: Any, reduction: int
) -> Array:
    r"""Binary cross entropy of :math:`\sigma(x)`: :math:`g\, (\sigma(x) - t)`.

    With weights p of what is positive, :math:`(1 - t) x + (1 + (p - 1) t) \ln(1 + e^{-x})`.
    """
    losses = _softplus(-self)
    if pos_weight is not None:
        losses = ((pos_weight - 1) * target + 1) * losses
    losses = (1 - target) * self + losses
    return _reduced(losses if weight is None else losses * weight, reduction)
