"""Cases for losses: of numbers, of probabilities, of classes, and with margins."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as torch

from .cases import Case, M, case, sigmoid_of

# settings are arrays of float32, so that they widen nothing
CHOSEN = torch.tensor([2, 0])
AT = ([0, 1], [2, 0])
WEIGHT = np.array([0.5, 2.0, 1.5], np.float32)
PLACES = torch.tensor([[[0, 1]], [[1, 0]]])


def reduced(losses: Any, kind: int) -> Any:
    return (losses, losses.mean(), losses.sum())[kind]


def smooth(d: Any) -> Any:
    return np.where(np.abs(d) < 0.7, d * d / 1.4, np.abs(d) - 0.35)


def huber(d: Any) -> Any:
    return np.where(np.abs(d) < 0.7, d * d / 2, 0.7 * (np.abs(d) - 0.35))


def of_difference(loss: Any) -> list[Case]:
    """Give the cases of a loss of a difference."""
    return [
        *(case(lambda x, y, k=k: reduced(loss(x - y), k), M, M, then=(k, 0.7)) for k in (1, 0, 2)),
        case(lambda x, y: loss(x - y).mean(), M, (3,), then=(1, 0.7)),
    ]


def logistic(value: Any) -> Any:
    return sigmoid_of(value)


def entropy(x: Any, t: Any) -> Any:
    return -t * np.log(x) - (1 - t) * np.log(1 - x)


def probable(reference: Any, *shapes: Any, then: Any) -> Case:
    """Make a case whose inputs are brought into (0, 1), which is differentiated too."""

    def call(op: Any, *inputs: Any) -> Any:
        *before, x, t = inputs
        return op(*before, x / 2, t / 2, *then)

    return Case(
        shapes, lambda *inputs: reference(*inputs[:-2], inputs[-2] / 2, inputs[-1] / 2), call, True
    )


def scored(x: Any, t: Any, weight: Any = 1.0, positive: Any = 1.0) -> Any:
    p = sigmoid_of(x)
    return weight * (-positive * t * np.log(p) - (1 - t) * np.log(1 - p))


def picked(x: Any, kind: int) -> Any:
    return reduced(-x[AT], kind)


def weighted(x: Any, kind: int) -> Any:
    weights = WEIGHT[AT[1]]
    losses = -x[AT] * weights
    return losses.sum() / weights.sum() if kind == 1 else reduced(losses, kind)


def at_places(x: Any, kind: int) -> Any:
    places = PLACES.numpy()
    losses = -np.take_along_axis(x, places[:, None], 1)[:, 0] * WEIGHT[places]
    return losses.sum() / WEIGHT[places].sum() if kind == 1 else reduced(losses, kind)


CASES: dict[str, list[Case]] = {
    "smooth_l1_loss": of_difference(smooth),
    "huber_loss": of_difference(huber),
    "binary_cross_entropy": [
        probable(
            lambda x, t, k=k, w=w: reduced(entropy(x, t) * (1 if w is None else w), k),
            M,
            M,
            then=(k, w),
        )
        for k, w in ((0, None), (1, None), (2, WEIGHT), (1, WEIGHT))
    ],
    "binary_cross_entropy_with_logits": [
        case(lambda x, t: scored(x, t), M, M, then=(0, None, None)),
        case(lambda x, t: scored(x, t).mean(), M, M, then=(1, None, None)),
        case(lambda x, t: scored(x, t, WEIGHT).sum(), M, M, then=(2, WEIGHT, None)),
        case(
            lambda x, t: scored(x, t, WEIGHT, WEIGHT + 1).mean(),
            M,
            M,
            then=(1, WEIGHT, WEIGHT + 1),
        ),
    ],
    "nll_loss": [
        *(case(lambda x, k=k: picked(x, k), M, then=(CHOSEN, None, -100, k)) for k in (0, 1, 2)),
        *(
            case(lambda x, k=k: weighted(x, k), M, then=(CHOSEN, WEIGHT, -100, k))
            for k in (0, 1, 2)
        ),
        case(lambda x: -x[1, 0], M, then=(CHOSEN, None, 2, 1)),
        case(lambda x: -2.0 * x[1], (3,), then=(torch.tensor(1), WEIGHT, -100, 2)),
    ],
    "nll_loss2d": [
        case(lambda x, k=k: at_places(x, k), (2, 2, 1, 2), then=(PLACES, WEIGHT[:2], -100, k))
        for k in (0, 1, 2)
    ],
}
