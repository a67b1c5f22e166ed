"""The derivatives of choices: absolute value, sign, larger, smaller, limits, where, masked fill.

Where a function has a kink the convention is PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.parts import _zeros
from minigrad.ops.tape import Array, differentiable

_BITS = {2: np.dtype("int16"), 4: np.dtype("int32"), 8: np.dtype("int64")}
_MANY = 4096  # so many choices are made sooner by bits


def where_true(mask: Any, array: Any) -> Any:
    """Give an array's entries where a mask is true, and 0 elsewhere, in the array's dtype.

    The product with the mask would do for most numbers, but it makes NaN of 0 times infinity and
    -0 of 0 times a negative number. So the numbers' bits, seen as integers, are multiplied by 1 or
    0: quicker than `np.where`. Symbols have no bits; there the product is right.
    """
    try:
        return (array.view(_BITS[array.itemsize]) * mask).view(array.dtype)
    except (KeyError, TypeError):
        return array * mask


def pick(mask: Any, first: Any, second: Any) -> Any:
    """Give `np.where(mask, first, second)`; of many numbers several times quicker.

    `np.where` jumps to and fro where the mask does. Of many numbers it is the bits that are chosen:
    those in which the two differ, multiplied by 1 or 0, turn the second into the first. One of the
    two may be a Python number. Tensors and symbols are left to `np.where`.
    """
    if type(mask) is not np.ndarray or mask.size < _MANY or mask.dtype.kind != "b":
        return np.where(mask, first, second)
    given = first if type(first) is np.ndarray else second
    if type(given) is not np.ndarray or given.dtype.kind != "f" or given.dtype.itemsize > 8:
        return np.where(mask, first, second)
    bits = []
    for each in (first, second):
        if each.__class__ is int or each.__class__ is float:
            each = np.full((), each, given.dtype)
        elif type(each) is not np.ndarray or each.dtype != given.dtype:
            return np.where(mask, first, second)
        bits.append(each.view(_BITS[given.itemsize]))
    differing = bits[0] ^ bits[1]
    if differing.shape != mask.shape:
        return np.where(mask, first, second)
    differing *= mask
    differing ^= bits[1]
    return differing.view(given.dtype)


# ---------------------------------------------------------------------- signs


def _sign(array: Any) -> Any:
    kind = array.dtype.kind
    if kind == "b":
        return array.copy()
    if kind != "f":
        return np.sign(array)
    above, below = array > 0, array < 0  # neither holds for NaN: its sign is 0
    return np.subtract(above, below, dtype=np.int8).astype(array.dtype)


# The input is saved though the rule has no use for it: as in PyTorch it must not be changed.
@differentiable("SgnBackward0", self=lambda grad, self, result: np.zeros_like(grad))
def sgn(self: Array) -> Array:
    """Sign, under the name that the rules of absolute values and norms have for it."""
    return _sign(self)


@differentiable("SignBackward0", self=lambda grad: np.zeros_like(grad))
def sign(self: Array) -> Array:
    """Sign: constant on both sides of 0, so no gradient passes."""
    return _sign(self)


@differentiable("AbsBackward0", self=lambda grad, self: grad * applied(sgn, self))
def abs(self: Array) -> Array:
    """Absolute value: the gradient times the sign of the input, 0 at 0."""
    if self.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return np.abs(self)


# ---------------------------------------------------------------------- choices by a condition


def _in_order(array: Array) -> Array:
    """Give an array whose entries lie in memory in order, as PyTorch's do here."""
    return array if array.flags.c_contiguous else array.copy("C")


@differentiable(
    "MaskedFillBackward0",
    broadcasts=("self",),
    constants=("mask",),
    self=lambda grad, mask: applied(masked_fill_number, grad, mask, 0),
)
def masked_fill_number(self: Array, mask: Array, value: Any) -> Array:
    """A number in the place of entries: these get no gradient."""
    return _in_order(pick(mask, value, self))


@differentiable(
    "MaskedSelectBackward0",
    constants=("mask",),
    self=lambda grad, self_sym_sizes, mask: applied(
        masked_scatter, _zeros(grad, self_sym_sizes), mask, grad
    ),
)
def masked_select(self: Array, mask: Array) -> Array:
    """The entries under a mask of the same shape, in a row: the others get no gradient."""
    return self[mask]


@differentiable(
    "MaskedScatterBackwardBackward0",
    constants=("mask",),
    grad_output=lambda grad, grad_output_sym_sizes, mask: applied(
        masked_scatter, _zeros(grad, grad_output_sym_sizes), mask, grad
    ),
)
def masked_scatter_backward(grad_output: Array, mask: Array, source_sym_sizes: Any) -> Array:
    """Rule of masked_scatter: the gradients under the mask, then zeros for what was left over."""
    row = _zeros(grad_output, source_sym_sizes)
    found = grad_output[mask]
    row.reshape(-1)[: found.size] = found
    return row


@differentiable(
    "MaskedScatterBackward0",
    constants=("mask",),
    self=lambda grad, mask: applied(masked_fill_number, grad, mask, 0),
    source=lambda grad, mask, source_sym_sizes: applied(
        masked_scatter_backward, grad, mask, source_sym_sizes
    ),
)
def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """The first entries of a source, one after the other, in the places under a mask."""
    result = self.copy("C")
    result[mask] = source.reshape(-1)[: np.count_nonzero(mask)]
    return result


@differentiable(
    "MaskedFillBackward1",
    broadcasts=True,
    constants=("mask",),
    self=lambda grad, mask: applied(masked_fill_number, grad, mask, 0),
    value=lambda grad, mask: np.add.reduce(applied(masked_select, grad, mask), axis=None),
)
def masked_fill(self: Array, mask: Array, value: Array) -> Array:
    """A value in the place of entries: it collects their gradients."""
    return _in_order(pick(mask, value.astype(self.dtype), self))


@differentiable(
    "WhereBackward0",
    broadcasts=True,
    constants=("condition",),
    self=lambda grad, condition: pick(condition, grad, 0),
    other=lambda grad, condition: pick(condition, 0, grad),
)
def where(condition: Array, self: Array, other: Array) -> Array:
    """Choice by a condition: the gradient goes to the input that was chosen."""
    return pick(condition, self, other)


def _chosen(grad: Any, self: Any, other: Any, loses: Any) -> Any:
    """Give the gradient of one of two where it was chosen; equal ones share it."""
    shared = pick(self == other, grad / 2, grad)
    return applied(masked_fill_number, shared, loses, 0)


@differentiable(
    "MaximumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _chosen(grad, self, other, self < other),
    other=lambda grad, self, other: _chosen(grad, self, other, other < self),
)
def maximum(self: Array, other: Array) -> Array:
    """Larger of two: the larger one gets the gradient; equal ones share it."""
    return np.maximum(self, other)


@differentiable(
    "MinimumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _chosen(grad, self, other, self > other),
    other=lambda grad, self, other: _chosen(grad, self, other, other > self),
)
def minimum(self: Array, other: Array) -> Array:
    """Smaller of two: the smaller one gets the gradient; equal ones share it."""
    return np.minimum(self, other)


def _inside(self: Any, min: Any, max: Any) -> Any:
    if min is None:
        return self <= max
    return self >= min if max is None else (self >= min) * (self <= max)


@differentiable(
    "ClampBackward1",
    self=lambda grad, self, min, max: pick(_inside(self, min, max), grad, 0),
)
def clamp(self: Array, min: Any, max: Any) -> Array:
    """Limit to an interval: the gradient passes where the input lies inside, ends included."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)
