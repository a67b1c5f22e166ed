"""The derivatives of losses that are one node of the graph: squared error, negative likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.tape import Array, differentiable


def _reduced(losses: Any, reduction: int) -> Any:
    """Reduce losses as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum."""
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return np.true_divide(total, losses.size) if reduction == 1 else total


def _squared_error_rule(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    difference = self - target
    factor = 2 / difference.size if reduction == 1 else 2
    return grad * (factor * difference)


@differentiable(
    "MseLossBackward0",
    broadcasts=True,
    self=lambda grad, self, target, reduction: _squared_error_rule(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: _squared_error_rule(grad, target, self, reduction),
)
def mse_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Mean squared error :math:`\frac1n \sum (x_i - t_i)^2`: :math:`\frac2n g\, (x_i - t_i)`."""
    difference = self - target
    return _reduced(difference * difference, reduction)


def _chosen(sizes: tuple[int, ...], target: Any) -> Any:
    """Give an array with a 1 at each target's class and 0 elsewhere."""
    classes = np.asarray(getattr(target, "_array", target))
    return np.arange(sizes[-1]) == classes[..., None]


def _likelihood_rule(grad: Any, self_sym_sizes: Any, target: Any, reduction: int) -> Any:
    chosen = _chosen(self_sym_sizes, target)
    if reduction == 0:
        return np.expand_dims(-grad, -1) * chosen
    return (-grad if reduction == 2 else grad / -chosen[..., 0].size) * chosen


@differentiable("NllLossBackward0", constants=("target",), self=_likelihood_rule)
def nll_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Negative log-likelihood :math:`-x_{t}`: the target's class gets :math:`-g`."""
    picked = np.take_along_axis(self, target[..., None], -1)[..., 0]
    return _reduced(-picked, reduction)
