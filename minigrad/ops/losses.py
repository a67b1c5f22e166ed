"""The derivatives of losses that are one node of the graph: squared error, negative likelihood."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.parts import _zeros, gather, scatter
from minigrad.ops.type_promotion import applied, quietly


def _reduced(losses: Any, reduction: int) -> Any:
    """Reduce losses as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum."""
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return np.true_divide(total, losses.size) if reduction == 1 else total


def _factor(difference: Any, reduction: int) -> Any:
    """Give the factor of the difference in the derivative of the squared error."""
    return 2 / max(math.prod(difference.shape), 1) if reduction == 1 else 2


def _slope_rule(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    return grad * ((self - target) * _factor(grad, reduction))


def _curvature_rule(grad: Any, grad_output: Any, reduction: int) -> Any:
    return grad * grad_output * _factor(grad, reduction)


@differentiable(
    "MseLossBackwardBackward0",
    broadcasts=True,
    grad_output=_slope_rule,
    self=_curvature_rule,
    target=lambda grad, grad_output, reduction: -_curvature_rule(grad, grad_output, reduction),
)
def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    r"""Rule of the squared error, :math:`\frac2n g\, (x_i - t_i)`."""
    difference = self - target
    return grad_output * (_factor(difference, reduction) * difference)


@differentiable(
    "MseLossBackward0",
    broadcasts=True,
    self=mse_loss_backward,
    target=lambda grad, self, target, reduction: applied(
        mse_loss_backward, grad, target, self, reduction
    ),
)
@quietly
def mse_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Mean squared error :math:`\frac1n \sum (x_i - t_i)^2`: :math:`\frac2n g\, (x_i - t_i)`."""
    difference = self - target
    if difference.dtype.kind == "c":
        name = "ComplexDouble" if difference.dtype.itemsize == 16 else "ComplexFloat"
        raise NotImplementedError(f"\"mse_cpu\" not implemented for '{name}'")
    return _reduced(difference * difference, reduction)


@differentiable(
    "NllLossBackwardBackward0",
    constants=("target",),
    grad_output=lambda grad, target, reduction: applied(nll_loss, grad, target, reduction),
    self=lambda grad: np.zeros_like(grad),
)
def nll_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """Rule of the negative log-likelihood: minus the gradient at each target's class, else 0."""
    share = grad_output / -max(target.size, 1) if reduction == 1 else -grad_output
    gradient = _zeros(self, self.shape)
    # one row for one sample, too
    rows = gradient.reshape(-1, self.shape[-1])
    rows[np.arange(target.size), target.reshape(-1)] = share.reshape(-1)
    return gradient


@differentiable("NllLossBackward0", constants=("target",), self=nll_loss_backward)
@quietly
def nll_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Negative log-likelihood :math:`-x_{t}`: the target's class gets :math:`-g`."""
    if self.ndim == 2:
        picked = self[np.arange(target.size), target]
    else:
        picked = np.take_along_axis(self, target[..., None], -1)[..., 0]
    return _reduced(-picked, reduction)


# ---------------------------------------------------------------------- with weights of the targets


def _share_of_each(grad: Any, weights: Any, reduction: int) -> Any:
    """Give minus the gradient of each picked entry, from the weights of the targets."""
    if reduction == 1:  # where nothing counts, nothing gets a gradient, though the loss is NaN
        weights = weights / (_total_weight(weights) or 1)
    return grad * -weights


def _total_weight(weights: Any) -> Any:
    return np.add.reduce(weights, axis=None)


def _entries(grad: Any, target: Any, dim: int) -> Any:
    return gather.forward(grad, dim, np.expand_dims(target, dim)).squeeze(dim)


def _again_rule(grad: Any, target: Any, weights: Any, reduction: int) -> Any:
    return applied(_nll_of(target.ndim), grad, target, weights, reduction)


def _picked_backward(
    grad_output: Array, self: Array, target: Any, weights: Any, reduction: int
) -> Array:
    dim = min(self.ndim - 1, 1)
    part = np.expand_dims(_share_of_each(grad_output, weights, reduction), dim)
    return scatter.forward(np.zeros_like(self), dim, np.expand_dims(target, dim), part)


def _weighted_loss(self: Array, target: Any, weights: Any, reduction: int) -> Array:
    picked = _entries(self, target, min(self.ndim - 1, 1))
    losses = np.where(weights == 0, 0, -picked * weights)
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return np.true_divide(total, _total_weight(weights)) if reduction == 1 else total


@differentiable(
    "NllLossBackwardBackward0", grad_output=_again_rule, self=lambda grad: np.zeros_like(grad)
)
@quietly
def weighted_nll_loss_backward(
    grad_output: Array, self: Array, target: Any, weights: Any, reduction: int
) -> Array:
    """Rule of the weighted likelihood: minus the gradient times its weight at each target."""
    return _picked_backward(grad_output, self, target, weights, reduction)


@differentiable("NllLossBackward0", self=weighted_nll_loss_backward)
@quietly
def weighted_nll_loss(self: Array, target: Any, weights: Any, reduction: int) -> Array:
    r"""Negative log-likelihood :math:`-w_t x_t`, whose mean is over the sum of the weights.

    A target that is to be ignored has the weight 0.
    """
    return _weighted_loss(self, target, weights, reduction)


@differentiable(
    "NllLoss2DBackwardBackward0", grad_output=_again_rule, self=lambda grad: np.zeros_like(grad)
)
@quietly
def nll_loss2d_backward(
    grad_output: Array, self: Array, target: Any, weights: Any, reduction: int
) -> Array:
    """Rule of the likelihood in two dimensions, with a weight for each target."""
    return _picked_backward(grad_output, self, target, weights, reduction)


@differentiable("NllLoss2DBackward0", self=nll_loss2d_backward)
@quietly
def nll_loss2d(self: Array, target: Any, weights: Any, reduction: int) -> Array:
    r"""Negative log-likelihood :math:`-w_t x_t` at each place of pictures (N, C, H, W)."""
    return _weighted_loss(self, target, weights, reduction)


def _nll_of(dimensions: int) -> Any:
    return nll_loss2d if dimensions == 3 else weighted_nll_loss
