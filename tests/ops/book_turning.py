"""Cases for the operations that look at memory through windows and strides."""

from __future__ import annotations

import numpy as np

from minigrad.autograd.views import Geometry

from .cases import Case, M, V, case, put

T = (2, 3, 2)
WINDOWS = np.lib.stride_tricks.sliding_window_view


def strided(array, size, stride, offset=0):
    """Read entries of a row at places that sizes and strides give."""
    places = np.asarray(offset)
    for count, step in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(count) * step
    return array.reshape(-1)[places]


def lies(shape):
    """Tell how an array of its own lies in memory."""
    return Geometry(np.zeros(shape))


def folded(windows, size, step):
    """Add up windows of a row where they lie in it."""
    row = np.zeros(size)
    for place, window in enumerate(windows):
        row[place * step : place * step + window.size] += window
    return row


CASES: dict[str, list[Case]] = {
    "squeeze_dims": [
        case(lambda x: x[0, :, 0], (1, 3, 1), then=((0, 2),)),
        case(lambda x: x[0], (1, 3, 1), then=((0, 1),)),
    ],
    "unfold_dim": [
        case(lambda x: WINDOWS(x, 3)[::2], (6,), then=(0, 3, 2)),
        case(lambda x: WINDOWS(x, 2, 1), M, then=(1, 2, 1)),
    ],
    "as_strided": [
        case(lambda x: strided(x, (2, 2), (1, 2)), V, then=((2, 2), (1, 2), 0, lies(V))),
        case(lambda x: strided(x, (2, 3), (1, 1), 1), (6,), then=((2, 3), (1, 1), 1, lies((6,)))),
        case(lambda x: strided(x, (2,), (3,), 1), M, then=((2,), (3,), 1, lies(M))),
    ],
    "constant_pad_nd": [
        case(lambda x: np.pad(x, ((0, 0), (1, 2))), M, then=((1, 2), 0)),
        case(
            lambda x: put(np.full((4, 2), 3.0), (slice(1, 3),), x[:, 1:]),
            M,
            then=((-1, 0, 1, 1), 3.0),
        ),
    ],
}
