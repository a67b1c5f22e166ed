"""Cases for products, variances, medians, running sums, sorting, and sums that leave out NaN."""

import numpy as np
import sympy

from .regions import D, E, matrix, x, y

ONES = np.array([[2], [0]])
ORDER = np.array([[2, 0, 1], [1, 2, 0]])
length = sympy.sqrt(sum(sympy.Symbol(f"x_{{0,{j}}}", positive=True) ** 2 for j in range(2)))
HALF = sympy.Rational(1, 2)
three = [("x", 3)]
larger_and_smaller = [{x(0): y(0) + D, x(1): y(1) - E}, {x(0): y(0) - D, x(1): y(1) - E}]

CASES = {
    "prod_all": [(three, ()), (matrix, ()), ([("x",)], ())],
    "prod_dim": [(matrix, (1, False)), (matrix, (0, True))],
    "var": [
        (three, (None, 1, False)),
        (matrix, ((1,), 0, True)),
        (matrix, ((0, 1), 2, False)),
    ],
    "std": [
        (three, (None, 1, False), [{x(1): x(0) + D, x(2): x(0) - E}]),
        ([("x", 1, 2)], ((1,), 0, True), [{x(0, 1): x(0, 0) + D}, {x(0, 1): x(0, 0) - D}]),
    ],
    "cumsum": [(matrix, (1,)), (matrix, (0,)), ([("x",)], (0,))],
    "cumprod": [(matrix, (1,)), (matrix, (0,)), ([("x",)], (0,))],
    "sort": [(matrix, (1, ORDER))],
    "topk": [(matrix, (1, ORDER[:, :2]))],
    "kthvalue": [(matrix, (1, keepdim, ONES)) for keepdim in (False, True)],
    "median_dim": [(matrix, (1, keepdim, ONES)) for keepdim in (False, True)],
}

RESERVED = {"median_all": "it is right only where the middle entry is in the place it is given"}
ATTEMPTS = {"median_all": (three, (1,))}
