"""Cases for pooling: references go window by window."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad.nn.functional.pooling import Chosen

from .cases import Case


def windows(sizes: Any, outputs: Any, kernel: Any, stride: Any, padding: Any) -> Iterator[Any]:
    """Go through all windows, each with the part of the input that it covers."""
    for o in np.ndindex(*outputs):
        yield (
            o,
            tuple(
                slice(max(a * s - p, 0), min(a * s - p + k, n))
                for a, s, p, k, n in zip(o, stride, padding, kernel, sizes, strict=True)
            ),
        )


def pooled(
    x: Any, outputs: Any, kernel: Any, stride: Any, padding: Any, reduce: Callable[..., Any]
) -> Any:
    leading = x.ndim - len(kernel)
    y = np.zeros((*x.shape[:leading], *outputs))
    for o, part in windows(x.shape[leading:], outputs, kernel, stride, padding):
        inner = x[(..., *part)].reshape(*x.shape[:leading], -1)
        y[(..., *o)] = reduce(inner)
    return y


def shared(
    g: Any, shape: Any, kernel: Any, stride: Any, padding: Any, divisor: int | None = None
) -> Any:
    """Give each entry its share of the gradients of its windows."""
    whole, sizes = np.zeros(shape), shape[-len(kernel) :]
    for o, part in windows(sizes, g.shape[-len(kernel) :], kernel, stride, padding):
        count = divisor or math.prod(p.stop - p.start for p in part)
        whole[(..., *part)] += g[(..., *o, *[None] * len(kernel))] / count
    return whole


def to_chosen(g: Any, shape: Any, chosen: Any, kernel: Any, stride: Any) -> Any:
    """Give the gradients to the entries that were chosen, of windows without a border."""
    whole = np.zeros(shape)
    for place in np.ndindex(*g.shape):
        entry = np.unravel_index(chosen[place], kernel)
        leading = place[: -len(kernel)]
        inner = [o * s + e for o, s, e in zip(place[-len(kernel) :], stride, entry, strict=True)]
        whole[(*leading, *inner)] += g[place]
    return whole


def maximum(shape: Any, outputs: Any, kernel: Any, stride: Any, padding: Any, up: bool) -> Case:
    steps = (1,) * len(kernel)
    return Case(
        (shape,),
        lambda x: pooled(x, outputs, kernel, stride, padding, lambda part: part.max(-1)),
        lambda op, x: op(x, kernel, stride, padding, steps, up, Chosen()),
    )


def backward_of_maximum(shape: Any, kernel: Any, stride: Any, chosen: Any) -> Case:
    steps, none = (1,) * len(kernel), (0,) * len(kernel)
    entry = np.array(chosen)
    return Case(
        (entry.shape, shape),
        lambda g, x: to_chosen(g, shape, entry, kernel, stride),
        lambda op, g, x: op(g, x, kernel, stride, none, steps, False, Chosen(entry)),
    )


def mean(
    shape: Any, outputs: Any, kernel: Any, stride: Any, padding: Any, up: bool, *counting: Any
) -> Case:
    include, override = counting
    by = override or (math.prod(kernel) if include else None)
    return Case(
        (shape,),
        lambda x: pooled(
            x,
            outputs,
            kernel,
            stride,
            padding,
            lambda part: part.sum(-1) / (by or part.shape[-1]),
        ),
        lambda op, x: op(x, kernel, stride, padding, up, include, override),
    )


def backward_of_mean(
    g: Any, shape: Any, kernel: Any, stride: Any, padding: Any, up: bool, *counting: Any
) -> Case:
    include, override = counting
    by = override or (math.prod(kernel) if include else None)
    return Case(
        (g, shape),
        lambda g, x: shared(g, shape, kernel, stride, padding, by),
        lambda op, g, x: op(g, x, kernel, stride, padding, up, include, override),
    )


CUBE = (1, 2, 2, 3)

CASES: dict[str, list[Case]] = {
    "max_pool2d_with_indices": [
        maximum((1, 2, 4, 4), (2, 2), (2, 2), (2, 2), (0, 0), False),
        maximum((1, 3, 4), (2, 3), (2, 3), (2, 2), (1, 1), True),
    ],
    "max_pool2d_with_indices_backward": [
        backward_of_maximum((1, 4, 4), (2, 2), (2, 2), [[[0, 3], [1, 2]]]),
        backward_of_maximum((1, 3, 3), (2, 2), (1, 1), [[[3, 2], [1, 0]]]),
    ],
    "max_pool3d_with_indices": [maximum(CUBE, (2, 1, 2), (1, 2, 2), (1, 1, 1), (0, 0, 0), False)],
    "max_pool3d_with_indices_backward": [
        backward_of_maximum(CUBE, (1, 2, 2), (1, 1, 1), [[[[3, 2]], [[0, 1]]]])
    ],
    "avg_pool2d": [
        mean((1, 2, 4, 4), (2, 2), (2, 2), (2, 2), (0, 0), False, True, None),
        mean((1, 3, 3), (2, 2), (2, 2), (2, 2), (1, 1), False, False, None),
        mean((1, 3, 3), (2, 2), (2, 2), (2, 2), (1, 1), False, True, None),
        mean((1, 3, 3), (2, 2), (2, 2), (2, 2), (0, 0), True, False, 3),
    ],
    "avg_pool2d_backward": [
        backward_of_mean((1, 2, 2), (1, 4, 4), (2, 2), (2, 2), (0, 0), False, True, None),
        backward_of_mean((1, 2, 2), (1, 3, 3), (2, 2), (1, 1), (0, 0), False, True, 5),
        backward_of_mean((1, 2, 2), (1, 3, 3), (2, 2), (2, 2), (1, 1), False, False, None),
    ],
    "avg_pool3d": [mean(CUBE, (2, 1, 2), (1, 2, 2), (1, 1, 1), (0, 0, 0), False, True, None)],
    "avg_pool3d_backward": [
        backward_of_mean((1, 2, 1, 2), CUBE, (1, 2, 2), (1, 1, 1), (0, 0, 0), False, True, None)
    ],
}
