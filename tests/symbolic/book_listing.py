"""Cases for the operations on slices whose places are listed: selecting and adding."""

import numpy as np

from .regions import matrix

LISTED, SAME = np.array([0, 2]), np.array([1, 1])
source = [("x", 2, 3), ("y", 2, 2)]

CASES = {
    "index_select": [(matrix, (1, np.array([0, 2, 2])))],
    "index_add_dim": [(source, (1, SAME, 1)), (source, (1, LISTED, 3))],
}
