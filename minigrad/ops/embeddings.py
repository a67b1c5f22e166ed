"""The derivatives of looking up vectors in a table, one by one or in bags that are summed."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.parts import _zeros, add_rows
from minigrad.ops.type_promotion import applied


def _shares(positions: Any, padding_idx: int, by_frequency: bool) -> Any:
    """Give the factor of each gradient: 0 for padding, or one over how often its row is used."""
    factors = np.ones(positions.shape)
    if by_frequency:
        _, inverse, counts = np.unique(positions, return_inverse=True, return_counts=True)
        factors = 1 / counts[inverse.reshape(positions.shape)]
    return np.where(positions == padding_idx, 0, factors)


def _weighed(grad: Any, positions: Any, padding_idx: int, by_frequency: bool) -> Any:
    if not by_frequency and not (positions == padding_idx).any():
        return grad
    shares = _shares(positions, padding_idx, by_frequency)[..., None]
    return grad * shares.astype(grad.dtype)


def _row_rule(grad: Any, positions: Any, padding_idx: int, by_frequency: bool) -> Any:
    rows = grad[positions]
    if not by_frequency and not (positions == padding_idx).any():
        return rows
    shares = _shares(positions, padding_idx, by_frequency)[..., None]
    return rows * shares.astype(getattr(grad, "_array", grad).dtype)


@differentiable("EmbeddingDenseBackwardBackward0", grad_output=_row_rule)
def embedding_dense_backward(
    grad_output: Array, positions: Any, sizes: Any, padding_idx: int, by_frequency: bool
) -> Array:
    """Rule of embedding: each row collects the gradients of the places where it was used."""
    whole = _zeros(grad_output, (sizes[0], *grad_output.shape[positions.ndim :]))
    add_rows(whole, positions, _weighed(grad_output, positions, padding_idx, by_frequency))
    return whole


@differentiable(
    "EmbeddingBackward0",
    weight=lambda grad, positions, weight_sym_sizes, padding_idx, by_frequency: applied(
        embedding_dense_backward, grad, positions, weight_sym_sizes, padding_idx, by_frequency
    ),
)
def embedding(weight: Array, positions: Any, padding_idx: int, by_frequency: bool) -> Array:
    """Rows of a table at listed places; the row of padding gets no gradient."""
    return weight[positions]


# ---------------------------------------------------------------------- bags


@differentiable(
    "EmbeddingBagBackwardBackward0",
    grad_output=lambda grad, positions, bags, factors, count: applied(
        embedding_bag_sum, grad, positions, bags, factors, count, np.ones((), factors.dtype)
    ),
)
def embedding_bag_backward(
    grad_output: Array, positions: Any, bags: Any, factors: Any, rows: int, count: int
) -> Array:
    """Rule of a bag in its table: each row collects the gradients of the bags that it was in."""
    whole = _zeros(grad_output, (rows, grad_output.shape[1]))
    add_rows(whole, positions, grad_output[bags] * factors[:, None])
    return whole


@differentiable(
    "EmbeddingBagBackward0",
    weight=lambda grad, weight_sym_sizes, positions, bags, factors, count, shares: applied(
        embedding_bag_backward, grad, positions, bags, factors * shares, weight_sym_sizes[0], count
    ),
)
def embedding_bag_sum(
    weight: Array, positions: Any, bags: Any, factors: Any, count: int, shares: Any
) -> Array:
    """Sums of rows times factors, one for each bag: entry k is a row and the bag it goes to.

    Gradients are multiplied by `shares` as well, which are ones unless they are to be divided by
    how often a row is used.
    """
    sums = _zeros(weight, (count, weight.shape[1]))
    add_rows(sums, bags, weight[positions] * factors[:, None])
    return sums


def _samples_rule(grad: Any, weight: Any, positions: Any, bags: Any) -> Any:
    return np.add.reduce(grad[bags] * weight[positions], axis=1)


@differentiable(
    "EmbeddingBagBackward0",
    weight=lambda grad, weight, per_sample_weights, positions, bags, kept, count: applied(
        embedding_bag_weighted_backward,
        grad,
        per_sample_weights,
        positions,
        bags,
        kept,
        weight.shape[0],
    ),
    per_sample_weights=lambda grad, weight, positions, bags, kept: (
        _samples_rule(grad, weight, positions, bags) * kept
    ),
)
def embedding_bag_weighted(
    weight: Array, per_sample_weights: Array, positions: Any, bags: Any, kept: Any, count: int
) -> Array:
    """Sums of rows times weights that may need a gradient; `kept` is 0 for padding, else 1."""
    sums = _zeros(weight, (count, weight.shape[1]))
    add_rows(sums, bags, weight[positions] * (per_sample_weights * kept)[:, None])
    return sums


@differentiable(
    "EmbeddingBagBackwardBackward0",
    grad_output=lambda grad, grad_output, factors, positions, bags, kept, rows: applied(
        embedding_bag_weighted, grad, factors, positions, bags, kept, grad_output.shape[0]
    ),
    factors=lambda grad, grad_output, positions, bags, kept: (
        _samples_rule(grad_output, grad, positions, bags) * kept
    ),
)
def embedding_bag_weighted_backward(
    grad_output: Array, factors: Array, positions: Any, bags: Any, kept: Any, rows: int
) -> Array:
    """Rule of a weighted bag in its table."""
    whole = _zeros(grad_output, (rows, grad_output.shape[1]))
    add_rows(whole, positions, grad_output[bags] * (factors * kept)[:, None])
    return whole


@differentiable(
    "EmbeddingBagBackwardBackward0",
    grad_output=lambda grad, places: _taken(grad, places),
)
def embedding_bag_max_backward(grad_output: Array, places: Any, rows: int) -> Array:
    """Rule of the largest entries of bags: their places get the gradient."""
    whole = _zeros(grad_output, (rows, grad_output.shape[1]))
    np.add.at(whole, (places, np.arange(places.shape[1])), np.where(places < 0, 0, grad_output))
    return whole


def _taken(weight: Any, places: Any) -> Any:
    return np.where(places < 0, 0, weight[places, np.arange(places.shape[1])])


@differentiable(
    "EmbeddingBagBackward0",
    weight=lambda grad, weight_sym_sizes, places: applied(
        embedding_bag_max_backward, grad, places, weight_sym_sizes[0]
    ),
)
def embedding_bag_max(weight: Array, places: Any) -> Array:
    """Largest entries of the rows in each bag, at known rows: -1 stands for an empty bag."""
    return _taken(weight, places)
