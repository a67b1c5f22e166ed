"""Cases for the operations on entries whose places are listed: taking, adding, writing, reducing.

Products are proved without zeros in them; those are left to the checks with numbers.
"""

import numpy as np

from .regions import D, E, matrix, positive, x, y

LISTED, SAME = np.array([0, 2]), np.array([1, 1])
IN_ROW = np.array([[0, 5], [-2, 3]])
AT = np.array([0, 0])
source = [("x", 2, 3), ("y", 2, 2)]
nonzero = [("x", 2, positive), ("y", 2, positive)]
extremes = [  # of one entry and two values: each of them is the largest, and the smallest
    {x(0): y(0) + D, y(1): y(0) - E},
    {x(0): y(0) - D, y(1): y(0) - D - E},
    {x(0): y(0) + D, y(1): y(0) + D + E},
    {x(0): y(0) - D - E, y(1): y(0) - D},
]


CASES = {
    "index_select": [(matrix, (1, np.array([0, 2, 2])))],
    "index_add_dim": [(source, (1, SAME, 1)), (source, (1, LISTED, 3))],
    "index_fill_number": [(matrix, (1, LISTED, 7))],
    "take": [(matrix, (IN_ROW,))],
    "put_add": [(source, (IN_ROW,))],
}
for _name in ("scatter_reduce", "index_reduce"):
    CASES[_name] = [
        *[
            ([("x", 2), ("y", 2)], (0, AT, reduce, own))
            for reduce in ("sum", "mean")
            for own in (True, False)
            if (_name, reduce) != ("index_reduce", "sum")
        ],
        *[(nonzero, (0, AT, "prod", own)) for own in (True, False)],
        *[([("x", 2), ("y", 2)], (0, AT, reduce, True), extremes) for reduce in ("amax", "amin")],
    ]
