"""Cases for normalization: mean, variance and rule are proved together, for any epsilon."""

from __future__ import annotations

import sympy

from minigrad.ops.normalization import Layout, Statistics

EPS = sympy.Symbol("epsilon", positive=True)


def of(layout):
    return lambda op, *tensors: op(*tensors, layout, EPS, Statistics())


CASES = {
    "native_batch_norm": [
        ([("x", 2, 1), ("w", 1), ("b", 1)], of(Layout((2, 1), (0,), (1,)))),
    ],
    "native_layer_norm": [
        ([("x", 1, 2), ("w", 2), ("b", 2)], of(Layout((1, 2), (1,), (2,)))),
    ],
    "native_group_norm": [
        ([("x", 1, 2), ("w", 2), ("b", 2)], of(Layout((1, 1, 2), (2,), (2,)))),
    ],
}
