"""Cases for attention, in regions where one score is the largest."""

from minigrad.ops.attention import Kept

from .regions import D, orders, positive, rows_ordered, y

# one query x and two keys y, numbers each: the scores are x * y[0] and x * y[1]
CASES = {
    "attention": [
        (
            [("x", 1, 1, positive), ("y", 2, 1), ("z", 2, 1)],
            lambda op, q, k, v: op(q, k, v, None, 1, Kept()),
            [{y(1, 0): y(0, 0) + D}, {y(1, 0): y(0, 0) - D}],
        )
    ],
    "safe_softmax": [([("x", 3)], (0,), orders), ([("x", 2, 2)], (1,), rows_ordered)],
}
