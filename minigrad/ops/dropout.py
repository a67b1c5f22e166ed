"""The derivative of dropping entries at random."""

from __future__ import annotations

from typing import Any

from minigrad.ops.tape import Array, differentiable


@differentiable("NativeDropoutBackward0", self=lambda grad, mask: grad * mask)
def native_dropout(self: Array, mask: Any) -> Array:
    """Entries times a random mask, 0 or one over the probability of being kept: so :math:`g`."""
    return self * mask
