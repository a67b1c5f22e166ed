"""Cases for the operations that look through windows and pad."""

import numpy as np

from minigrad.autograd.views import Geometry

from .regions import matrix, vector

IN_A_ROW = Geometry(np.zeros(4))

PADDED = {1: [("x", 1, 3)], 2: [("x", 1, 2, 2)], 3: [("x", 1, 2, 2, 2)]}
WIDER = {1: [("x", 1, 5)], 2: [("x", 1, 4, 3)], 3: [("x", 1, 3, 4, 3)]}
AROUND = {1: (1, 1), 2: (1, 0, 1, 1), 3: (0, 1, 1, 1, 1, 0)}
KINDS = ("reflection_pad", "replication_pad")

CASES = {
    "squeeze_dims": [([("x", 1, 2, 1)], ((0, 2),)), ([("x", 1, 2, 1)], ((0, 1),))],
    "unfold_dim": [([("x", 4)], (0, 3, 1)), ([("x", 2, 3)], (1, 2, 1))],
    "unfold_backward": [([("x", 2, 2)], ((4,), 0, 2, 2)), ([("x", 2, 2)], ((3,), 0, 2, 1))],
    "as_strided": [
        ([("x", 4)], ((2, 2), (1, 2), 0, IN_A_ROW)),
        ([("x", 4)], ((2, 2), (1, 1), None, IN_A_ROW)),
    ],
    "constant_pad_nd": [(vector, ((1, 2), 0)), (matrix, ((-1, 0, 1, 1), 3))],
    **{f"{kind}{dims}d": [(PADDED[dims], (AROUND[dims],))] for kind in KINDS for dims in PADDED},
    **{
        f"{kind}{dims}d_backward": [([*WIDER[dims], ("y", *PADDED[dims][0][1:])], (AROUND[dims],))]
        for kind in KINDS
        for dims in PADDED
    },
}
