"""The derivatives of choices: absolute value, sign, larger, smaller, limits, where, masked fill.

Where a function has a kink the convention is PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.tape import Array, differentiable

_BITS = {2: np.dtype("int16"), 4: np.dtype("int32"), 8: np.dtype("int64")}


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


# ---------------------------------------------------------------------- signs


def _sign(array: Any) -> Any:
    if array.dtype.kind == "b":
        return array.copy()
    signs = np.sign(array)
    return (
        np.where(np.isnan(array), array.dtype.type(0), signs) if signs.dtype.kind == "f" else signs
    )


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
    return _in_order(np.where(mask, value, self))


@differentiable(
    "MaskedSelectBackward0",
    constants=("mask",),
    self=lambda grad, mask: applied(placed_under, grad, mask),
)
def masked_select(self: Array, mask: Array) -> Array:
    """The entries under a mask of the same shape, in a row: the others get no gradient."""
    return self[mask]


@differentiable(
    "MaskedScatterBackward0",
    constants=("mask",),
    source=lambda grad, mask: applied(masked_select, grad, mask),
)
def placed_under(source: Array, mask: Array) -> Array:
    """A row of values put under a mask, among zeros: they get the gradient of their places."""
    whole = np.zeros_like(source, shape=mask.shape)
    whole[mask] = source
    return whole


@differentiable(
    "MaskedFillBackward1",
    broadcasts=True,
    constants=("mask",),
    self=lambda grad, mask: applied(masked_fill_number, grad, mask, 0),
    value=lambda grad, mask: np.add.reduce(applied(masked_select, grad, mask), axis=None),
)
def masked_fill(self: Array, mask: Array, value: Array) -> Array:
    """A value in the place of entries: it collects their gradients."""
    return _in_order(np.where(mask, value.astype(self.dtype), self))


@differentiable(
    "WhereBackward0",
    broadcasts=True,
    constants=("condition",),
    self=lambda grad, condition: np.where(condition, grad, 0),
    other=lambda grad, condition: np.where(condition, 0, grad),
)
def where(condition: Array, self: Array, other: Array) -> Array:
    """Choice by a condition: the gradient goes to the input that was chosen."""
    return np.where(condition, self, other)


def _chosen(grad: Any, self: Any, other: Any, loses: Any) -> Any:
    """Give the gradient of one of two where it was chosen; equal ones share it."""
    shared = np.where(self == other, grad / 2, grad)
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
    self=lambda grad, self, min, max: np.where(_inside(self, min, max), grad, 0),
)
def clamp(self: Array, min: Any, max: Any) -> Array:
    """Limit to an interval: the gradient passes where the input lies inside, ends included."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)
