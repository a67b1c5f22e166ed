"""Cases for normalization over batches, layers and groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.convolution import Layout, Statistics

from .cases import Case

EPS = 0.1


def normalized(x: Any, axes: Any) -> Any:
    centered = x - x.mean(axes, keepdims=True)
    return centered / np.sqrt(centered.var(axes, keepdims=True) + EPS)


def fixed() -> Statistics:
    statistics = Statistics()
    statistics.fixed = True
    statistics.mean = np.array([[0.3, -0.5]])
    statistics.rstd = np.array([[2.0, 0.7]])
    return statistics


def of(shape: Any, layout: Layout, reference: Any) -> Case:
    weights = tuple(n for i, n in enumerate(layout.view) if i not in layout.alike)

    def whole(x: Any, w: Any, b: Any) -> Any:
        y = reference(x).reshape(layout.view) * w.reshape(layout.beside) + b.reshape(layout.beside)
        return y.reshape(x.shape)

    return Case(
        (shape, weights, weights),
        whole,
        lambda op, *given: op(*given, layout, EPS, Statistics()),
    )


def with_fixed(op: Any, x: Any, w: Any, b: Any) -> Any:
    statistics = fixed()
    dtype = x.detach().numpy().dtype
    statistics.mean = statistics.mean.astype(dtype)
    statistics.rstd = statistics.rstd.astype(dtype)
    return op(x, w, b, Layout((3, 2), (0,), (0,)), EPS, statistics)


CASES: dict[str, list[Case]] = {
    "native_batch_norm": [
        of((3, 2, 2), Layout((3, 2, 2), (0, 2), (0, 2)), lambda x: normalized(x, (0, 2))),
        Case(
            ((3, 2), (2,), (2,)),
            lambda x, w, b: (x - fixed().mean) * fixed().rstd * w + b,
            with_fixed,
        ),
    ],
    "native_layer_norm": [
        of((2, 3), Layout((2, 3), (1,), (0,)), lambda x: normalized(x, 1)),
        of((2, 2, 3), Layout((2, 2, 3), (1, 2), (0,)), lambda x: normalized(x, (1, 2))),
    ],
    "native_group_norm": [
        of(
            (2, 4, 2),
            Layout((2, 2, 2, 2), (2, 3), (0, 3)),
            lambda x: normalized(x.reshape(2, 2, 4), 2).reshape(2, 4, 2),
        ),
    ],
}
