"""Cases for losses: of numbers, of probabilities, of classes, and with margins."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as torch

from .cases import Case, M, case, placed, sigmoid_of

SIGNS = torch.tensor([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
# settings are arrays of float32, so that they widen nothing
CHOSEN, WEIGHTS = np.array([2, 0]), np.array([0.5, 1.5], np.float32)
AT = ([0, 1], [2, 0])
COUNTS = np.array([[1.0, 0, 0], [0, 1, 1]], np.float32)
WEIGHT = np.array([0.5, 2.0, 1.5], np.float32)
PLACES = np.array([[[0, 1]], [[1, 0]]])
OF_PLACES = np.array([[[1.0, 0.5]], [[2.5, 0.0]]], np.float32)


def reduced(losses: Any, kind: int) -> Any:
    return (losses, losses.mean(), losses.sum())[kind]


def shared(slope: Any, kind: int) -> Any:
    return slope / slope.size if kind == 1 else slope


def smooth(d: Any) -> Any:
    return np.where(np.abs(d) < 0.7, d * d / 1.4, np.abs(d) - 0.35)


def smooth_slope(d: Any) -> Any:
    return np.where(np.abs(d) < 0.7, d / 0.7, np.sign(d))


def huber(d: Any) -> Any:
    return np.where(np.abs(d) < 0.7, d * d / 2, 0.7 * (np.abs(d) - 0.35))


def huber_slope(d: Any) -> Any:
    return np.where(np.abs(d) < 0.7, d, 0.7 * np.sign(d))


def both(name: str, loss: Any, slope: Any) -> dict[str, list[Case]]:
    """Give the cases of a loss of a difference, and of its rule."""
    return {
        name: [
            *(
                case(lambda x, y, k=k: reduced(loss(x - y), k), M, M, then=(k, 0.7))
                for k in (1, 0, 2)
            ),
            case(lambda x, y: loss(x - y).mean(), M, (3,), then=(1, 0.7)),
        ],
        f"{name}_backward": [
            case(
                lambda g, x, y, k=k: g * shared(slope(x - y), k),
                M if k == 0 else (),
                M,
                M,
                then=(k, 0.7),
            )
            for k in (0, 1, 2)
        ],
    }


def logistic(value: Any) -> Any:
    return sigmoid_of(value)


def soft_margin(x: Any) -> Any:
    return np.log(1 + np.exp(-SIGNS.numpy() * x))


def soft_margin_slope(x: Any) -> Any:
    return -SIGNS.numpy() * sigmoid_of(-SIGNS.numpy() * x)


def with_signs(reference: Any, *shapes: Any, then: Any) -> Case:
    def call(op: Any, *inputs: Any) -> Any:
        return op(*inputs, SIGNS.to(inputs[0].dtype), *then)

    return Case(shapes, reference, call)


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


def label_margins(x: Any) -> Any:
    gaps = np.maximum(1 - x[:, :, None] + x[:, None, :], 0)
    return (gaps * (COUNTS[:, :, None] * (COUNTS[:, None, :] == 0))).sum((1, 2)) / 3


def weighted(x: Any, kind: int) -> Any:
    losses = -x[AT] * WEIGHTS
    return (losses, losses.sum() / WEIGHTS.sum(), losses.sum())[kind]


def at_places(x: Any, kind: int) -> Any:
    losses = -np.take_along_axis(x, PLACES[:, None], 1)[:, 0] * OF_PLACES
    return (losses, losses.sum() / OF_PLACES.sum(), losses.sum())[kind]


def put_at_places(g: Any, kind: int) -> Any:
    gradient = np.zeros((2, 2, 1, 2))
    part = -g * OF_PLACES / (OF_PLACES.sum() if kind == 1 else 1)
    np.put_along_axis(gradient, PLACES[:, None], part[:, None], 1)
    return gradient


CASES: dict[str, list[Case]] = {
    **both("smooth_l1_loss", smooth, smooth_slope),
    **both("huber_loss", huber, huber_slope),
    "soft_margin_loss": [
        with_signs(lambda x, k=k: reduced(soft_margin(x), k), M, then=(k,)) for k in (0, 1, 2)
    ],
    "soft_margin_loss_backward": [
        with_signs(
            lambda g, x, k=k: g * shared(soft_margin_slope(x), k),
            M if k == 0 else (),
            M,
            then=(k,),
        )
        for k in (0, 1, 2)
    ],
    "binary_cross_entropy": [
        probable(
            lambda x, t, k=k, w=w: reduced(entropy(x, t) * (1 if w is None else w), k),
            M,
            M,
            then=(w, k),
        )
        for k, w in ((0, None), (1, None), (2, WEIGHT), (1, WEIGHT))
    ],
    "binary_cross_entropy_backward": [
        probable(
            lambda g, x, t, k=k, w=w: (
                g * shared((x - t) / (x * (1 - x)) * (1 if w is None else w), k)
            ),
            M if k == 0 else (),
            M,
            M,
            then=(w, k),
        )
        for k, w in ((0, None), (1, None), (2, WEIGHT), (1, WEIGHT))
    ],
    "binary_cross_entropy_with_logits": [
        case(lambda x, t: scored(x, t), M, M, then=(None, None, 0)),
        case(lambda x, t: scored(x, t).mean(), M, M, then=(None, None, 1)),
        case(lambda x, t: scored(x, t, WEIGHT).sum(), M, M, then=(WEIGHT, None, 2)),
        case(
            lambda x, t: scored(x, t, WEIGHT, WEIGHT + 1).mean(),
            M,
            M,
            then=(WEIGHT, WEIGHT + 1, 1),
        ),
    ],
    "multilabel_margin_loss": [
        case(lambda x, k=k: reduced(label_margins(x), k), (2, 3), then=(COUNTS, k))
        for k in (0, 1, 2)
    ],
    "weighted_nll_loss": [
        *(case(lambda x, k=k: weighted(x, k), M, then=(CHOSEN, WEIGHTS, k)) for k in (0, 1, 2)),
        case(lambda x: -0.5 * x[1], (3,), then=(np.array(1), np.array(0.5, np.float32), 2)),
    ],
    "weighted_nll_loss_backward": [
        case(
            lambda g, x, k=k: placed(-g * WEIGHTS / (2 if k == 1 else 1), M, AT),
            (2,) if k == 0 else (),
            M,
            then=(CHOSEN, WEIGHTS, k),
        )
        for k in (0, 1, 2)
    ]
    + [
        case(
            lambda g, x: placed(-0.5 * g, (3,), 1),
            (),
            (3,),
            then=(np.array(1), np.array(0.5, np.float32), 2),
        )
    ],
    "nll_loss2d": [
        case(lambda x, k=k: at_places(x, k), (2, 2, 1, 2), then=(PLACES, OF_PLACES, k))
        for k in (0, 1, 2)
    ],
    "nll_loss2d_backward": [
        case(
            lambda g, x, k=k: put_at_places(g, k),
            (2, 1, 2) if k == 0 else (),
            (2, 2, 1, 2),
            then=(PLACES, OF_PLACES, k),
        )
        for k in (0, 1, 2)
    ],
}
