"""Cases for normalization: mean, variance and rule are proved together, for any epsilon."""

from __future__ import annotations

import sympy

from minigrad.ops.convolution import Layout, Statistics

EPS = sympy.Symbol("epsilon", positive=True)


def of(layout):
    return (lambda op, *given: op(*given[:-1], layout, given[-1], Statistics())), EPS


CASES = {
    "native_batch_norm": [
        ([("x", 2, 1), ("w", 1), ("b", 1)], of(Layout((2, 1), (0,), (0,)))),
        ([("x", 2, 2), ("w", 2), ("b", 2)], of(Layout((2, 2), (0,), (0,)))),
        ([("x", 1, 2, 2), ("w", 2), ("b", 2)], of(Layout((1, 2, 2), (0, 2), (0, 2)))),
        ([("x", 3, 1), ("w", 1), ("b", 1)], of(Layout((3, 1), (0,), (0,)))),
    ],
    "native_layer_norm": [
        ([("x", 1, 2), ("w", 2), ("b", 2)], of(Layout((1, 2), (1,), (0,)))),
        ([("x", 2, 2), ("w", 2), ("b", 2)], of(Layout((2, 2), (1,), (0,)))),
        ([("x", 3), ("w", 3), ("b", 3)], of(Layout((3,), (0,), ()))),
    ],
    "native_group_norm": [
        ([("x", 1, 2), ("w", 2), ("b", 2)], of(Layout((1, 1, 2, 1), (2, 3), (0, 3)))),
        ([("x", 1, 4), ("w", 4), ("b", 4)], of(Layout((1, 2, 2, 1), (2, 3), (0, 3)))),
        ([("x", 2, 2, 1), ("w", 2), ("b", 2)], of(Layout((2, 1, 2, 1), (2, 3), (0, 3)))),
    ],
}
