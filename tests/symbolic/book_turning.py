"""Cases for the operations that look through windows and pad."""

import numpy as np

from minigrad.autograd.views import Geometry

from .regions import matrix, vector

IN_A_ROW = Geometry(np.zeros(4))

CASES = {
    "squeeze_dims": [([("x", 1, 2, 1)], ((0, 2),)), ([("x", 1, 2, 1)], ((0, 1),))],
    "unfold_dim": [([("x", 4)], (0, 3, 1)), ([("x", 2, 3)], (1, 2, 1))],
    "as_strided": [
        ([("x", 4)], ((2, 2), (1, 2), 0, IN_A_ROW)),
        ([("x", 4)], ((2, 2), (1, 1), None, IN_A_ROW)),
    ],
    "constant_pad_nd": [(vector, ((1, 2), 0)), (matrix, ((-1, 0, 1, 1), 3))],
}
