"""Cases for losses: of numbers, of probabilities, of classes, and with margins."""

import numpy as np
from sympy import Rational, log

from minigrad.creation.construction import tensor

from .regions import D, E, sym, x, y

z = sym("z")
WEIGHT = np.array([0.5])
SIGNS = np.array([1.0, -1.0])
CHOSEN, WEIGHTS = np.array([2, 0]), np.array([0.5, 1.5])
PLACES = np.array([[[0]], [[1]]])
OF_PLACES = np.array([[[1.0]], [[3.0]]])
COUNTS = np.array([[1.0, 0]])


def around(first, second):
    """Four regions: a difference beyond 1 or -1, and between, on both sides."""
    return [
        {first: second + 1 + D},
        {first: second - 1 - D},
        {first: second + D / (1 + D)},
        {first: second - D / (1 + D)},
    ]


def signs(*then):
    return lambda op, *inputs: op(*inputs, tensor(SIGNS), *then)


ROWS = [("x", 1, 2)]
near = [{x(0, 1): x(0, 0) + D}, {x(0, 1): x(0, 0) - 1 - D}]

# Probabilities that are not within 1e-12 of 0 or 1, where logarithms and quotients are cut off.
probable = (
    {x(): D / (1 + D)},
    (log(x()) > -100) & (log(1 - x()) > -100) & (x() * (1 - x()) > Rational(1, 10**12)),
)

CASES = {
    "binary_cross_entropy": [
        ([("x",), ("y",)], (weight, k), [probable])
        for weight in (None, np.array(0.5))
        for k in (0, 1)
    ],
    "smooth_l1_loss": [([("x",), ("y",)], (k, 1), around(x(), y())) for k in (0, 1, 2)],
    "huber_loss": [([("x",), ("y",)], (k, 1), around(x(), y())) for k in (0, 1, 2)],
    "smooth_l1_loss_backward": [
        ([("x",), ("y",), ("z",)], (k, 1), around(y(), z)) for k in (0, 1, 2)
    ],
    "huber_loss_backward": [([("x",), ("y",), ("z",)], (k, 1), around(y(), z)) for k in (0, 1, 2)],
    "soft_margin_loss": [([("x", 2)], signs(k)) for k in (0, 1, 2)],
    "soft_margin_loss_backward": [([("x",), ("y", 2)], signs(k)) for k in (1, 2)],
    "multilabel_margin_loss": [(ROWS, (COUNTS, k), near) for k in (0, 1)],
    "weighted_nll_loss": [([("x", 2, 3)], (CHOSEN, WEIGHTS, k)) for k in (0, 1, 2)],
    "weighted_nll_loss_backward": [
        ([("x", 2), ("y", 2, 3)], (CHOSEN, WEIGHTS, 0)),
        ([("x",), ("y", 2, 3)], (CHOSEN, WEIGHTS, 1)),
    ],
    "nll_loss2d": [([("x", 2, 2, 1, 1)], (PLACES, OF_PLACES, k)) for k in (0, 1, 2)],
    "nll_loss2d_backward": [
        ([("x", 2, 1, 1), ("y", 2, 2, 1, 1)], (PLACES, OF_PLACES, 0)),
        ([("x",), ("y", 2, 2, 1, 1)], (PLACES, OF_PLACES, 1)),
    ],
    "binary_cross_entropy_with_logits": [
        ([("x",), ("y",)], (weight, weight, k), [{x(): D}, {x(): -E}])
        for weight in (None, np.array(0.5))
        for k in (0, 1)
    ],
}

RESERVED: dict[str, str] = {
    "binary_cross_entropy_backward": "as in PyTorch it adds 1e-12 to what it divides by, so it is "
    "not the derivative exactly: prove() refutes it, in the twelfth digit where probabilities lie",
}

ATTEMPTS = {"binary_cross_entropy_backward": ([("x",), ("y",), ("z",)], (None, 0))}
