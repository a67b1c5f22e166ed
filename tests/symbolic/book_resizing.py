"""Cases for resizing and shuffled channels: sums of entries with weights."""

from __future__ import annotations

import numpy as np

from minigrad.nn.functional.resizing import resizing

REPEATED = (((np.array([0, 0, 1]), None),), ((np.array([1, 0]), None),), ((np.array([1]), None),))
MIXED = (
    ((np.array([0, 1]), np.array([0.5, 0.25])), (np.array([1, 1]), np.array([0.5, 0.75]))),
    ((np.array([0]), np.array([0.25])), (np.array([1]), np.array([0.75]))),
    ((np.array([0]), np.array([1.0])), (np.array([1]), np.array([2.0]))),
)
COUNTS = {True: (3, 2, 1), False: (2, 1, 1)}

CASES = {}
for _name in (each.__name__ for each in resizing.values()):
    _dims, _nearest = int(_name[-2]), "nearest" in _name
    _taps = (REPEATED if _nearest else MIXED)[:_dims]
    _old, _new = (2,) * _dims, COUNTS[_nearest][:_dims]
    CASES[_name] = [([("x", *_old)], (_taps,))]
    CASES[f"{_name}_backward"] = [([("g", *_new)], (_old, _taps))]

CASES |= {
    "pixel_shuffle": [([("x", 4, 1, 2)], (2,))],
    "channel_shuffle": [([("x", 1, 6, 1)], (3,))],
    "pixel_unshuffle": [([("x", 1, 2, 4)], (2,))],
}
