"""Cases for convolutions, and for windows as columns: references go entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as torch

from .cases import Case


def placed(kernel: Any, outputs: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Go through all pairs of an output and an entry of the kernel, with the place in the input."""
    for o in np.ndindex(*outputs):
        for k in np.ndindex(*kernel):
            place = tuple(
                s * a + d * b - p
                for s, a, d, b, p in zip(stride, o, dilation, k, padding, strict=True)
            )
            yield o, k, place


def inside(place: Any, sizes: Any) -> bool:
    return all(0 <= each < size for each, size in zip(place, sizes, strict=True))


def outputs_of(sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    return [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
    ]


def channels(w: Any, groups: int) -> Any:
    """Go through the channels that are connected: out, in, and in within its group."""
    out, within = w.shape[:2]
    for o in range(out):
        for c in range(within):
            yield o, o // (out // groups) * within + c, c


def convolved(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    sizes, kernel = x.shape[2:], w.shape[2:]
    outputs = outputs_of(sizes, kernel, stride, padding, dilation)
    y = np.zeros((len(x), len(w), *outputs))
    for o, k, place in placed(kernel, outputs, stride, padding, dilation):
        if inside(place, sizes):
            for out, c, within in channels(w, groups):
                y[(slice(None), out, *o)] += x[(slice(None), c, *place)] * w[(out, within, *k)]
    return y


def input_gradient(
    g: Any, w: Any, sizes: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    dx = np.zeros((len(g), w.shape[1] * groups, *sizes))
    for o, k, place in placed(w.shape[2:], g.shape[2:], stride, padding, dilation):
        if inside(place, sizes):
            for out, c, within in channels(w, groups):
                dx[(slice(None), c, *place)] += g[(slice(None), out, *o)] * w[(out, within, *k)]
    return dx


def weight_gradient(
    g: Any, x: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    dw = np.zeros(shape)
    for o, k, place in placed(shape[2:], g.shape[2:], stride, padding, dilation):
        if inside(place, x.shape[2:]):
            for out, c, within in channels(dw, groups):
                entries = x[(slice(None), c, *place)] * g[(slice(None), out, *o)]
                dw[(out, within, *k)] += entries.sum()
    return dw


# stride, padding, dilation, transposed, output_padding, groups
LINE = ((1,), (1,), (1,), False, (0,), 1)
GROUPED = ((1,), (1,), (1,), False, (0,), 2)
STRIDED = ((2,), (1,), (1,), False, (0,), 1)
PLANE = ((1, 2), (0, 1), (2, 1), False, (0, 0), 2)
FLAT = ((1, 1), (1, 0), (1, 1), False, (0, 0), 1)
SPREAD = ((2,), (1,), (1,), True, (1,), 1)
SPREAD_DILATED = ((1,), (1,), (2,), True, (1,), 1)


def beside(b: Any, ndim: int) -> Any:
    return b.reshape(-1, *[1] * ndim)


def plain(settings: Any, x: Any, w: Any, b: Any) -> Case:
    stride, padding, dilation, _, _, groups = settings

    def reference(x: Any, w: Any, b: Any) -> Any:
        y = convolved(x, w, stride, padding, dilation, groups)
        return y + beside(b, len(stride))

    return Case((x, w, b), reference, lambda op, *given: op(*given, *settings))


def transposed(settings: Any, x: Any, w: Any, b: Any) -> Case:
    stride, padding, dilation, _, more, groups = settings
    sizes = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + 1 + m
        for n, s, p, d, k, m in zip(x[2:], stride, padding, dilation, w[2:], more, strict=True)
    )

    def reference(x: Any, w: Any, b: Any) -> Any:
        y = input_gradient(x, w, sizes, stride, padding, dilation, groups)
        return y + beside(b, len(stride))

    return Case((x, w, b), reference, lambda op, *given: op(*given, *settings))


def backward(settings: Any, g: Any, x: Any, w: Any, reference: Callable[..., Any]) -> Case:
    kernel = torch.zeros(w)  # of which only the shape counts
    return Case(
        (g, x),
        lambda g, x: reference(g, x, kernel.numpy()),
        lambda op, g, x: op(g, x, kernel.to(g.dtype), *settings),
    )


def settings_of(settings: Any) -> Any:
    stride, padding, dilation, _, _, groups = settings
    return stride, padding, dilation, groups


SHAPES = {
    "line": (LINE, (2, 2, 4), (2, 2, 4), (2, 2, 3)),
    "strided": (STRIDED, (1, 2, 3), (1, 2, 5), (2, 2, 3)),
    "plane": (PLANE, (1, 2, 1, 2), (1, 2, 3, 3), (2, 1, 2, 3)),
    "grouped": (GROUPED, (1, 2, 4), (1, 4, 3), (2, 2, 2)),
    "flat": (FLAT, (1, 1, 4, 2), (1, 2, 3, 3), (1, 2, 2, 2)),
}

CASES: dict[str, list[Case]] = {
    "convolution": [
        *(plain(settings, x, w, (w[0],)) for settings, _, x, w in SHAPES.values()),
        transposed(SPREAD, (1, 2, 3), (2, 2, 3), (2,)),
        transposed(SPREAD_DILATED, (1, 2, 3), (2, 1, 2), (1,)),
    ],
    "convolution_backward_weight": [
        backward(
            settings,
            g,
            x,
            w,
            lambda g, x, w, s=settings: weight_gradient(g, x, w.shape, *settings_of(s)),
        )
        for settings, g, x, w in SHAPES.values()
    ]
    + [
        backward(
            SPREAD,
            (1, 2, 6),
            (1, 2, 3),
            (2, 2, 3),
            lambda g, x, w: weight_gradient(x, g, w.shape, (2,), (1,), (1,), 1),
        )
    ],
}


def windows(x: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    sizes = x.shape[2:]
    outputs = outputs_of(sizes, kernel, stride, padding, dilation)
    columns = np.zeros((*x.shape[:2], *kernel, *outputs))
    for o, k, place in placed(kernel, outputs, stride, padding, dilation):
        if inside(place, sizes):
            columns[(..., *k, *o)] = x[(..., *place)]
    return columns.reshape(len(x), -1, int(np.prod(outputs)))


def images(columns: Any, sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    outputs = outputs_of(sizes, kernel, stride, padding, dilation)
    columns = columns.reshape(len(columns), -1, *kernel, *outputs)
    whole = np.zeros((*columns.shape[:2], *sizes))
    for o, k, place in placed(kernel, outputs, stride, padding, dilation):
        if inside(place, sizes):
            whole[(..., *place)] += columns[(..., *k, *o)]
    return whole


WINDOWS = [((2, 2), (1, 1), (0, 0), (1, 1)), ((2, 1), (2, 1), (1, 0), (2, 1))]

CASES |= {
    "im2col": [
        Case(
            ((1, 2, 3, 3),),
            lambda x, s=settings: windows(x, *s),
            lambda op, x, s=settings: op(x, *s),
        )
        for settings in WINDOWS
    ],
    "col2im": [
        Case(
            (shape,),
            lambda x, s=settings: images(x, (3, 3), *s),
            lambda op, x, s=settings: op(x, (3, 3), *s),
        )
        for settings, shape in zip(WINDOWS, ((1, 8, 4), (1, 4, 6)), strict=True)
    ],
}
