"""Cases for attention, in regions where one score is the largest."""

from minigrad.ops.attention import Kept

from .regions import D, orders, positive, rows_ordered, y


def attended(scale):
    return lambda op, q, k, v: op(q, k, v, None, scale, Kept())


# With numbers for queries x and keys y, the scores are x * y[0] and x * y[1]; of positive queries
# the larger key has the larger score.
keys_ordered = [{y(1, 0): y(0, 0) + D}, {y(1, 0): y(0, 0) - D}]

CASES = {
    "attention": [
        ([("x", 1, 1, positive), ("y", 2, 1), ("z", 2, 1)], attended(1), keys_ordered),
        ([("x", 2, 1, positive), ("y", 2, 1), ("z", 2, 1)], attended(0.5), keys_ordered),
        ([("x", 1, 1), ("y", 2, 1), ("z", 2, 2)], attended(1)),  # regions as they are found
    ],
    "safe_softmax": [([("x", 3)], (0,), orders), ([("x", 2, 2)], (1,), rows_ordered)],
}
