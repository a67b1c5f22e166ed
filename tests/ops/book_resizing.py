"""Cases for resizing, as products with a matrix for each dimension, and for shuffled channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.nn.functional.resizing import resizing

from .cases import Case

SIZES, NEW = (3, 2, 2), (2, 3, 1)
REPEATED = [((np.array([0, 2]), None),), ((np.array([0, 0, 1]), None),), ((np.array([1]), None),)]
MIXED = [
    ((np.array([0, 1]), np.array([0.7, 0.4])), (np.array([1, 2]), np.array([0.3, 0.6]))),
    (
        (np.array([0, 0, 1]), np.array([1.0, 0.5, 2.0])),
        (np.array([1, 1, 1]), np.array([0, 0.5, 1])),
    ),
    ((np.array([0]), np.array([0.25])), (np.array([1]), np.array([0.75]))),
]


def matrices(taps: Any) -> list[Any]:
    """Write the taps of each dimension as a matrix, new entries by old ones."""
    found = []
    for pairs, old, new in zip(taps, SIZES, NEW, strict=False):
        matrix = np.zeros((new, old))
        for positions, weight in pairs:
            matrix[np.arange(new), positions] += 1 if weight is None else weight
        found.append(matrix)
    return found


def resized(x: Any, factors: list[Any]) -> Any:
    for axis, matrix in enumerate(factors, 1):
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.T, -1, axis)
    return x


CASES: dict[str, list[Case]] = {}
for _name in (each.__name__ for each in resizing.values()):
    _dims = int(_name[-2])
    _taps = tuple((REPEATED if "nearest" in _name else MIXED)[:_dims])
    _factors = matrices(_taps)
    _old, _new = (2, *SIZES[:_dims]), (2, *NEW[:_dims])
    CASES[_name] = [
        Case(
            (_old,),
            lambda x, factors=_factors: resized(x, factors),
            lambda op, x, taps=_taps: op(x, taps),
        )
    ]
    CASES[f"{_name}_backward"] = [
        Case(
            (_new,),
            lambda g, factors=_factors: resized(g, [m.T for m in factors]),
            lambda op, g, old=_old, taps=_taps: op(g, old, taps),
        )
    ]


def shuffled(x: Any, factor: int) -> Any:
    """Give the channel c r^2 + i r + j the places (i, j) of each block."""
    channels, height, width = x.shape
    y = np.zeros((channels // factor**2, height * factor, width * factor))
    for c, h, w in np.ndindex(*x.shape):
        block, rest = divmod(c, factor**2)
        i, j = divmod(rest, factor)
        y[block, h * factor + i, w * factor + j] = x[c, h, w]
    return y


def unshuffled(y: Any, factor: int) -> Any:
    places = shuffled(np.arange(y.size).reshape(-1, y.shape[1] // factor, y.shape[2] // factor), 2)
    x = np.zeros(y.size)
    x[places.astype(int).reshape(-1)] = y.reshape(-1)
    return x.reshape(-1, y.shape[1] // factor, y.shape[2] // factor)


CASES |= {
    "pixel_shuffle": [
        Case(((4, 1, 2),), lambda x: shuffled(x, 2), lambda op, x: op(x, 2)),
        Case(((8, 1, 1),), lambda x: shuffled(x, 2), lambda op, x: op(x, 2)),
    ],
    "channel_shuffle": [
        Case(
            ((2, 6, 2),),
            lambda x: x[:, [0, 3, 1, 4, 2, 5]],
            lambda op, x: op(x, 2),
        ),
    ],
    "pixel_unshuffle": [
        Case(((1, 2, 4),), lambda x: unshuffled(x, 2), lambda op, x: op(x, 2)),
    ],
}
