"""The derivatives of operations that put entries in order, or find those of a rank.

The positions are found outside, in the calling room: here the entries are taken from them, and the
rules write the gradients to where the entries came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.parts import gather, scatter
from minigrad.ops.reduction import select_rule, taken
from minigrad.ops.tape import Array, differentiable


def _order_rule(grad: Any, self_sym_sizes: Any, dim: Any, positions: Any) -> Any:
    zeros = np.zeros_like(grad, shape=self_sym_sizes)
    return applied(scatter, zeros, dim, positions, grad)


@differentiable("SortBackward0", self=_order_rule)
def sort(self: Array, dim: Any, positions: Any) -> Array:
    """Entries in order, from known positions: each gradient goes back to where its entry was."""
    return gather.forward(self, dim, positions)


@differentiable("SortBackward1", self=_order_rule)
def sort_stable(self: Array, dim: Any, positions: Any) -> Array:
    """Entries in order, where it was said whether equal ones keep theirs."""
    return gather.forward(self, dim, positions)


@differentiable("TopkBackward0", self=_order_rule)
def topk(self: Array, dim: Any, positions: Any) -> Array:
    """The largest or smallest entries, from known positions: the others get no gradient."""
    return gather.forward(self, dim, positions)


@differentiable("KthvalueBackward0", self=select_rule)
def kthvalue(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """The k-th smallest entry along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


@differentiable("MedianBackward1", self=select_rule)
def median_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Median along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


@differentiable("NanmedianBackward1", self=select_rule)
def nanmedian_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Median of all but NaN along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


@differentiable("ModeBackward0", self=select_rule)
def mode(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Most frequent entry along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)
