"""The derivatives of what numbers are made of: mantissa, neighbor, angle; and of a copied range."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.parts import slice_backward
from minigrad.ops.tape import Array, differentiable


@differentiable("FrexpBackward0", self=lambda grad, power: grad / power)
def mantissa(self: Array, power: Any) -> Array:
    r"""Mantissa :math:`m` of :math:`x = m 2^e`: the gradient over the power :math:`2^e`."""
    return self / power


@differentiable(
    "NextafterBackward0",
    arithmetic=True,
    self=lambda grad, self, other: np.where(self != other, grad, 0),
    other=lambda grad: np.zeros_like(grad),
)
def nextafter(self: Array, other: Array) -> Array:
    """Next number toward another: it moves as the first one does."""
    return np.nextafter(self, other)


# The input is saved though the rule has no use for it: as in PyTorch it must not be changed.
@differentiable("AngleBackward0", self=lambda grad, self: np.zeros_like(grad))
def angle(self: Array) -> Array:
    r"""Angle of a real number: 0 or :math:`\pi` by its sign, constant on both sides of 0."""
    return np.where(np.isnan(self), self, np.where(self < 0, np.pi, 0)).astype(self.dtype)


@differentiable(
    "NarrowCopyBackward0",
    self=lambda grad, self_sym_sizes, dim, start, end: applied(
        slice_backward, grad, self_sym_sizes, dim, start, end, 1
    ),
)
def narrow_copy(self: Array, dim: int, start: int, end: int) -> Array:
    """Copy of a range along a dimension: the rest gets no gradient."""
    return self[(slice(None),) * dim + (slice(start, end),)].copy()
