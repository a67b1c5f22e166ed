"""Cases for activation functions, dropout, lookups in tables and what compares vectors."""

import numpy as np
from sympy import Rational

from .regions import D, a, beta, on_both_sides, vector, x, y

HALF = Rational(1, 2)
ROWS = np.array([[0, 2], [2, 1]])


def beyond(entry, low, high):
    """Three regions: below an interval, in it, and above it."""
    middle = (low + high) / 2
    width = (high - low) / 2
    return [{entry: low - D}, {entry: middle + width * (1 - D) / (1 + D)}, {entry: high + D}]


one, two = [("x",)], [("x",), ("y",)]

CASES = {
    "hardtanh": [(one, (-1, 2), beyond(x(), -1, 2))],
    "hardtanh_backward": [(two, (-1, 2), beyond(y(), -1, 2))],
    "hardtanh_in_place": [(one, (-1, 2), beyond(x(), -1, 2))],
    "hardsigmoid_backward": [(two, (), beyond(y(), -3, 3))],
    "threshold_rule": [(two, (HALF,), [{y(): HALF + D}, {y(): HALF - D}])],
    "shrink_rule": [(two, (HALF,), beyond(y(), -HALF, HALF))],
    "hardsigmoid": [(one, (), beyond(x(), -3, 3))],
    "hardswish": [(one, (), beyond(x(), -3, 3))],
    "hardshrink": [(one, (HALF,), beyond(x(), -HALF, HALF))],
    "softshrink": [(one, (HALF,), beyond(x(), -HALF, HALF))],
    "mish": [(one, ())],
    "threshold": [(one, (HALF, 7), [{x(): HALF + D}, {x(): HALF - D}])],
    "threshold_in_place": [(one, (HALF, 7), [{x(): HALF + D}, {x(): HALF - D}])],
    "prelu_kernel": [([("x", 2), ("y", 1)], (), on_both_sides(x(0), x(1)))],
    "scaled_elu": [(vector, (a, 3, beta), on_both_sides(x(0), x(1)))],
    "celu": [(vector, (beta,), on_both_sides(x(0), x(1)))],
    "log_sigmoid": [(one, (), [{x(): D}, {x(): -D}])],
    "embedding": [([("x", 3, 2)], (ROWS, -1))],
}

CASES |= {
    "gelu": [(vector, ("none",)), (one, ("tanh",))],
}
_SIGN = "its rule looks at the sign of the result, exp(x) - 1, and SymPy does not tell that of x"
RESERVED = {"celu_in_place": _SIGN, "scaled_elu_in_place": _SIGN}
ATTEMPTS = {"celu_in_place": (one, (beta,)), "scaled_elu_in_place": (one, (beta, 3, 2))}
