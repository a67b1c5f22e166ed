"""Cases for packing sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cases import Case, case

# two sequences, of lengths 3 and 1, in 4 steps
PRESENT = np.arange(3)[:, None] < np.array([3, 1])
SIZES = (4, 2)


def unpacked(x: Any) -> Any:
    """Put packed entries into their places."""
    places = np.zeros((4, *SIZES))
    for k, place in enumerate(np.argwhere(PRESENT)):
        places[k][tuple(place)] = 1
    return np.tensordot(x, places, 1)


CASES: dict[str, list[Case]] = {
    "pack": [case(lambda x: x[[0, 0, 1, 2], [0, 1, 0, 0]], SIZES, then=(PRESENT, SIZES))],
    "unpack": [case(unpacked, (4,), then=(PRESENT, SIZES))],
}
