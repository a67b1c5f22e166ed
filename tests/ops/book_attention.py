"""Cases for attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.attention import Kept

from .cases import Case, M, case, softmax_of

ADDED = np.array([[0.0, -np.inf, 0.5], [0.0, 0.0, 0.0]])


def attended(mask: Any) -> Any:
    """Compute attention by its formula."""

    def formula(q: Any, k: Any, v: Any) -> Any:
        scores = 0.7 * q @ k.swapaxes(-2, -1)
        return softmax_of(scores if mask is None else scores + mask, -1) @ v

    return formula


def attention(mask: Any, *shapes: Any) -> Case:
    """Make a case; what forward and rules share is new in each call."""

    def call(op: Any, q: Any, k: Any, v: Any) -> Any:
        added = None if mask is None else mask.astype(q.dtype.numpy)
        return op(q, k, v, added, 0.7, Kept())

    return Case(shapes, attended(mask), call)


CASES: dict[str, list[Case]] = {
    "attention": [
        attention(None, (2, 2), (3, 2), (3, 2)),
        attention(ADDED, (2, 2), (3, 2), (3, 2)),
        attention(None, (2, 1, 2), (2, 2, 2), (2, 2, 1)),
    ],
    "safe_softmax": [case(lambda x: softmax_of(x, 1), M, then=(1,))],
}
