"""Cases for losses: of numbers, of probabilities, of classes, and with margins."""

import numpy as np

from minigrad.creation.construction import tensor

from .regions import D, E, x, y

WEIGHT = np.array([0.5])
CHOSEN, WEIGHTS = np.array([2, 0]), np.array([0.5, 1.0, 1.5])
PLACES = np.array([[[0]], [[1]]])


def around(first, second):
    """Four regions: a difference beyond 1 or -1, and between, on both sides."""
    return [
        {first: second + 1 + D},
        {first: second - 1 - D},
        {first: second + D / (1 + D)},
        {first: second - D / (1 + D)},
    ]


def at_classes(weight, reduction):
    return lambda op, x: op(x, tensor(CHOSEN), weight, -100, reduction)


def at_places(reduction):
    return lambda op, x: op(x, tensor(PLACES), WEIGHTS[:2], -100, reduction)


# Probabilities that are not within 1e-12 of 0 or 1, where logarithms and quotients are cut off.
CASES = {
    "smooth_l1_loss": [([("x",), ("y",)], (k, 1), around(x(), y())) for k in (0, 1, 2)],
    "huber_loss": [([("x",), ("y",)], (k, 1), around(x(), y())) for k in (0, 1, 2)],
    "nll_loss": [([("x", 2, 3)], at_classes(w, k)) for k in (0, 1, 2) for w in (None, WEIGHTS)],
    "nll_loss2d": [([("x", 2, 2, 1, 1)], at_places(k)) for k in (0, 1, 2)],
    "binary_cross_entropy_with_logits": [
        ([("x",), ("y",)], (k, weight, weight), [{x(): D}, {x(): -E}])
        for weight in (None, np.array(0.5))
        for k in (0, 1)
    ],
}
RESERVED = {
    "binary_cross_entropy": "where x*(1 - x) is below 1e-12, it divides by that, as PyTorch does",
}
ATTEMPTS = {"binary_cross_entropy": ([("x",), ("y",)], (1, None))}
