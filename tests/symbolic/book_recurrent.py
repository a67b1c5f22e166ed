"""Cases for packing sequences."""

import numpy as np

PRESENT = np.arange(2)[:, None] < np.array([2, 1])

CASES = {
    "pack": [([("x", 3, 2)], (PRESENT, (3, 2)))],
    "unpack": [([("x", 3)], (PRESENT, (3, 2)))],
}
