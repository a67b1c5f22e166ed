"""The derivatives of writing one tensor into a part of a copy of another: slice_scatter and so on.

What is written gets the gradient of its places; what it was written over gets none there.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from minigrad.ops.meeting import applied
from minigrad.ops.parts import _at, _between, _zeros, select, slice_dim
from minigrad.ops.tape import Array, differentiable


@differentiable(
    "SliceScatterBackward0",
    self=lambda grad, src_sym_sizes, dim, start, end, step: applied(
        slice_scatter, grad, _zeros(grad, src_sym_sizes), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: applied(slice_dim, grad, dim, start, end, step),
)
def slice_scatter(self: Array, src: Array, dim: int, start: int, end: int, step: int) -> Array:
    """A tensor with another one in a range along a dimension."""
    result = self.copy()
    result[_between(dim, start, end, step)] = src
    return result


@differentiable(
    "SelectScatterBackward0",
    self=lambda grad, src_sym_sizes, dim, index: applied(
        select_scatter, grad, _zeros(grad, src_sym_sizes), dim, index
    ),
    src=lambda grad, dim, index: applied(select, grad, dim, index),
)
def select_scatter(self: Array, src: Array, dim: int, index: int) -> Array:
    """A tensor with another one in the place of one entry along a dimension."""
    result = self.copy()
    result[_at(dim, index)] = src
    return result
