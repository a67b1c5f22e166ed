"""The derivative of packing padded sequences: leaving out the padding, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable


def _unpack(grad: Any, present: Any, sizes: Any) -> Any:
    """Put the entries back into their places, with zeros for the padding."""
    padded = np.zeros(sizes, dtype=grad.dtype)
    padded[: len(present)][present] = grad
    return padded


@differentiable(
    "PackPaddedSequenceBackward0",
    grad=lambda grad, present: grad[: len(present)][present],
)
def unpack(grad: Array, present: Any, sizes: Any) -> Array:
    """Packed sequences, padded with zeros: each entry has the gradient of its place."""
    return _unpack(grad, present, sizes)


@differentiable(
    "PackPaddedSequenceBackward0",
    self=unpack,
)
def pack(self: Array, present: Any, sizes: Any) -> Array:
    """The entries that are present, step by step: each gets the gradient from its new place."""
    return self[: len(present)][present]
