"""Cases for pooling: largest entries are proved where it is known which entry is the largest."""

from __future__ import annotations

import numpy as np

from minigrad.nn.functional.pooling import Chosen

from .regions import D, E, x

PAIRS = ((1, 2), (1, 2), (0, 0), (1, 1), False)
OVERLAPPING = ((1, 2), (1, 1), (0, 0), (1, 1), False)
CUBES = ((1, 1, 2), (1, 1, 2), (0, 0, 0), (1, 1, 1), False)
SHARES = ((1, 2), (1, 1), (0, 1), False, False, None)
WHOLE = ((2, 2), (2, 2), (0, 0), False, True, 3)
CUBIC = ((1, 1, 2), (1, 1, 1), (0, 0, 0), False, True, None)


def first(*shape):
    return Chosen(np.zeros(shape, int))


def second(*shape):
    return Chosen(np.ones(shape, int))


IMAGE, FIRST = [("x", 1, 1, 2)], {x(0, 0, 0): x(0, 0, 1) + D}
VOLUME = [("x", 1, 1, 1, 2)]
SECOND_OF_THREE = {x(0, 0, 1): x(0, 0, 0) + D, x(0, 0, 2): x(0, 0, 0) + D - E}

CASES = {
    "max_pool2d_with_indices": [
        (IMAGE, (*PAIRS, first(1, 1, 1)), [FIRST]),
        (IMAGE, (*PAIRS, second(1, 1, 1)), [{x(0, 0, 1): x(0, 0, 0) + D}]),
        (
            [("x", 1, 1, 3)],
            (*OVERLAPPING, Chosen(np.array([[[1, 0]]]))),
            [SECOND_OF_THREE],
        ),
    ],
    "max_pool2d_with_indices_backward": [
        ([("g", 1, 1, 1), *IMAGE], (*PAIRS, first(1, 1, 1))),
        ([("g", 1, 1, 2), ("x", 1, 1, 3)], (*OVERLAPPING, Chosen(np.array([[[1, 0]]])))),
    ],
    "max_pool3d_with_indices": [
        (VOLUME, (*CUBES, first(1, 1, 1, 1)), [{x(0, 0, 0, 0): x(0, 0, 0, 1) + D}])
    ],
    "max_pool3d_with_indices_backward": [
        ([("g", 1, 1, 1, 1), *VOLUME], (*CUBES, second(1, 1, 1, 1)))
    ],
    "avg_pool2d": [([("x", 1, 1, 2)], SHARES), ([("x", 1, 2, 2)], WHOLE)],
    "avg_pool2d_backward": [
        ([("g", 1, 1, 3), ("x", 1, 1, 2)], SHARES),
        ([("g", 1, 1, 1), ("x", 1, 2, 2)], WHOLE),
    ],
    "avg_pool3d": [([("x", 1, 1, 1, 3)], CUBIC)],
    "avg_pool3d_backward": [([("g", 1, 1, 1, 2), ("x", 1, 1, 1, 3)], CUBIC)],
}
