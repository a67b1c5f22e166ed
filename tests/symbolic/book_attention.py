"""Cases for attention, in regions where one score is the largest."""

from .regions import orders, rows_ordered

CASES = {"safe_softmax": [([("x", 3)], (0,), orders), ([("x", 2, 2)], (1,), rows_ordered)]}
