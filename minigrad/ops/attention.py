r"""The derivative of attention: values averaged with weights that queries and keys agree on.

For queries :math:`Q`, keys :math:`K` and values :math:`V`, one in each row, and a scale
:math:`s`,

.. math:: P = \mathrm{softmax}(s Q K^\top + M), \qquad Y = P V.

With :math:`\bar Y` for the gradient of the result, the gradient of the weights is
:math:`\bar P = \bar Y V^\top`, that of the scores :math:`\bar S = P \circ (\bar P - \langle P,
\bar P \rangle)`, where the bracket is the sum over a row, and

.. math:: \bar Q = s \bar S K, \qquad \bar K = s \bar S^\top Q, \qquad \bar V = P^\top \bar Y.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.ops.reduction import softmax, softmax_backward
from minigrad.ops.type_promotion import quietly


class Kept:
    """What the forward and the rules hand on to each other, so that nothing is computed twice.

    Attributes:
        weights: The weights :math:`P`, after the forward.
        scores: A gradient of the result, and the gradient of the scores that it leads to.
    """

    __slots__ = ("scores", "weights")

    def __init__(self) -> None:
        self.weights: Any = None
        self.scores: tuple[Any, Any] | None = None


def _turned(array: Any) -> Any:
    return np.swapaxes(array, -2, -1)


def _total(array: Any) -> Any:
    return np.add.reduce(array, axis=-1, keepdims=True)


def _compute_weights(query: Any, key: Any, mask: Any, scale: float) -> Any:
    """Compute the weights; a row in which everything is masked gets zeros."""
    weights = np.matmul(query * scale, _turned(key))
    if mask is not None:
        weights += mask
    largest = np.maximum.reduce(weights, axis=-1, keepdims=True)
    if mask is not None:
        largest = np.where(largest == -np.inf, 0, largest)
    weights -= largest
    np.exp(weights, out=weights)
    totals = _total(weights)
    weights /= totals if mask is None else np.where(totals == 0, 1, totals)
    return weights


def _weights(query: Any, key: Any, mask: Any, scale: float, kept: Kept) -> Any:
    """Give the weights for a rule: those of the forward, or recorded from queries and keys."""
    if not isinstance(query, Tensor):
        return kept.weights
    scores = np.matmul(query * scale, _turned(key))
    if mask is not None:
        scores = np.where(mask == -np.inf, -np.inf, scores + np.where(mask == -np.inf, 0, mask))
    powers = np.exp(scores - np.maximum.reduce(scores.detach(), axis=-1, keepdims=True))
    return powers / _total(powers)


def _score_gradient(
    grad: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, kept: Kept
) -> Any:
    """Give the gradient of the scores; keys and queries need the same one."""
    if kept.scores is not None and kept.scores[0] is grad:
        found, kept.scores = kept.scores[1], None
        return found
    weights = _weights(query, key, mask, scale, kept)
    gradient = np.matmul(grad, _turned(value))
    if isinstance(gradient, Tensor):
        gradient = (gradient - _total(gradient * weights)) * weights
    else:
        gradient -= _total(gradient * weights)
        gradient *= weights
    kept.scores = grad, gradient
    return gradient


@differentiable(
    "ScaledDotProductFlashAttentionForCpuBackward0",
    query=lambda grad, query, key, value, mask, scale, kept: (
        np.matmul(_score_gradient(grad, query, key, value, mask, scale, kept), key) * scale
    ),
    key=lambda grad, query, key, value, mask, scale, kept: (
        np.matmul(_turned(_score_gradient(grad, query, key, value, mask, scale, kept)), query)
        * scale
    ),
    value=lambda grad, query, key, mask, scale, kept: np.matmul(
        _turned(_weights(query, key, mask, scale, kept)), grad
    ),
)
@quietly
def attention(query: Array, key: Array, value: Array, mask: Any, scale: Any, kept: Kept) -> Array:
    r"""Attention :math:`\mathrm{softmax}(s Q K^\top + M) V`; the mask has no gradient here."""
    kept.weights = _compute_weights(query, key, mask, scale)
    return np.matmul(kept.weights, value)


@differentiable("SafeSoftmaxBackward0", self=softmax_backward)
@quietly
def safe_softmax(self: Array, dim: Any) -> Array:
    """Softmax that gives zeros where all scores are minus infinity, instead of NaN."""
    weights = softmax.forward(self, dim)
    return np.where(np.maximum.reduce(self, axis=dim, keepdims=True) == -np.inf, 0, weights)
