"""Choices and their derivatives: absolute value, sign, larger, smaller, limits, where, masked fill.

Where a function has a kink the convention is PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import real_number
from minigrad.ops.type_promotion import promote_operands, scalar
from minigrad.signatures import attach, entrywise, variants
from minigrad.signatures.arguments import cast, is_operand, no_combination, not_implemented, number

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


def pick(mask: Any, first: Any, second: Any) -> Any:
    """Give `np.where(mask, first, second)`; one of the two may be a Python number."""
    return np.where(mask, first, second)


# ---------------------------------------------------------------------- signs


def _sign(array: Any) -> Any:
    if array.dtype.kind == "f":  # the sign of NaN is 0
        return (array > 0).astype(array.dtype) - (array < 0)
    return array.copy() if array.dtype.kind == "b" else np.sign(array)


@entrywise(floats=False, in_place=True)
# The input is saved though the rule has no use for it: as in PyTorch it must not be changed.
@operation("SgnBackward0", self=lambda grad, self, result: np.zeros_like(grad))
def sgn(self: Array) -> Array:
    """Sign, under the name that the rules of absolute values and norms have for it."""
    return _sign(self)


@entrywise(floats=False, missing=("c", "sign_cpu"), in_place=True)
@operation("SignBackward0", self=lambda grad: np.zeros_like(grad))
def sign(self: Array) -> Array:
    """Sign: constant on both sides of 0, so no gradient passes."""
    return _sign(self)


@entrywise(
    floats=False, missing=("b", "abs_cpu"), in_place=True, also="absolute", ufunc=np.absolute
)
@operation("AbsBackward0", self=lambda grad, self: grad * dispatch(sgn, self))
def abs(self: Array) -> Array:
    """Absolute value: the gradient times the sign of the input, 0 at 0."""
    return np.abs(self)


attach(__name__, {"__abs__": abs}, {"abs_": vars(Tensor)["abs_"]})


# ---------------------------------------------------------------------- choices by a condition


@operation(
    "MaskedFillBackward0",
    broadcasts=("self",),
    constants=("mask",),
    self=lambda grad, mask: dispatch(masked_fill_number, grad, mask, 0),
)
def masked_fill_number(self: Array, mask: Array, value: Any) -> Array:
    """A number instead of entries: these get no gradient."""
    if mask.shape != self.shape:
        mask = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, self.shape))
    return pick(mask, value, self)


@operation(
    "WhereBackward0",
    broadcasts=True,
    constants=("condition",),
    self=lambda grad, condition: pick(condition, grad, 0),
    other=lambda grad, condition: pick(condition, 0, grad),
)
def where(condition: Array, self: Array, other: Array) -> Array:
    """Choice by a condition: the gradient goes to the input that was chosen."""
    return pick(condition, self, other)


@operation(
    "MaskedFillBackward1",
    broadcasts=True,
    constants=("mask",),
    self=lambda grad, mask: dispatch(masked_fill_number, grad, mask, 0),
    value=lambda grad, mask: np.add.reduce(pick(mask, grad, 0), axis=None),
)
def masked_fill(self: Array, mask: Array, value: Array) -> Array:
    """A tensor without dimensions instead of entries: it collects what they would get."""
    return pick(mask, value, self)


@variants("masked_fill", in_place=True)
def filled_under(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Put a number into all entries under a mask.

    Args:
        input: The tensor.
        mask: Booleans that broadcast to its shape.
        value: A number, or a tensor without dimensions.

    Raises:
        RuntimeError: If the mask is not boolean, or does not broadcast.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, -2.0, 3.0])
        >>> torch.masked_fill(x, x < 0, 0)
        tensor([1., 0., 3.])
    """
    dtype = input._array.dtype
    if mask._array.dtype.kind != "b":
        raise RuntimeError(f"masked_fill() takes a boolean mask, not {mask.dtype}: say x != 0")
    if isinstance(value, Tensor):
        if value._array.ndim or value.is_complex() > input.is_complex():
            raise RuntimeError(f"masked_fill(): {value} cannot be converted to {input.dtype}")
        return masked_fill(input, mask, cast(value, dtype))
    value = real_number(number(value, "masked_fill", "value", kind="Scalar"), dtype)
    return masked_fill_number(input, mask, dtype.type(value) if dtype.kind in "iub" else value)


@variants("where", method=False)
def where_function(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Choose entries of `input` where the condition holds, else of `other`.

    With the condition alone, tell where it holds: `nonzero(condition, as_tuple=True)`.
    """
    if other is input is None:
        return condition.nonzero(as_tuple=True)
    if not (is_operand(input) and is_operand(other)):
        raise no_combination("where", condition, input, other)
    if condition._array.dtype.kind in "iufc":
        raise RuntimeError(f"where() takes a boolean condition, not {condition.dtype}: say x != 0")
    first, second = input, other
    if not isinstance(first, Tensor):
        first = scalar(first, second._array.dtype if isinstance(second, Tensor) else _BOOLEAN)
    if not isinstance(second, Tensor):
        second = scalar(second, first._array.dtype)
    if first._array.dtype is not second._array.dtype:
        return promote_operands(lambda a, b: where(condition, a, b), first, second)
    return where(condition, first, second)


@variants("where", function=False)
def _method_where(input: Tensor, condition: Tensor, other: Any) -> Any:
    """Give the entries where a condition holds, and those of another tensor elsewhere.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, -2.0])
        >>> x.where(x > 0, 0.0)
        tensor([1., 0.])
    """
    return where_function(condition, input, other)


# ---------------------------------------------------------------------- the larger, the smaller


def _chosen(grad: Any, self: Any, other: Any, loses: Any) -> Any:
    """Give the gradient of one of two where it was chosen; equal ones share it."""
    shared = pick(self == other, grad / 2, grad)
    return dispatch(masked_fill_number, shared, loses, 0)


@variants(out="kind", missing=("c", "maximum"))
@operation(
    "MaximumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _chosen(grad, self, other, self < other),
    other=lambda grad, self, other: _chosen(grad, self, other, other < self),
)
def maximum(self: Array, other: Array) -> Array:
    """Larger of two: the larger one gets the gradient; equal ones share it."""
    return np.maximum(self, other)


@variants(out="kind", missing=("c", "minimum"))
@operation(
    "MinimumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _chosen(grad, self, other, self > other),
    other=lambda grad, self, other: _chosen(grad, self, other, other > self),
)
def minimum(self: Array, other: Array) -> Array:
    """Smaller of two: the smaller one gets the gradient; equal ones share it."""
    return np.minimum(self, other)


def _within(grad: Any, self: Any, min: Any, max: Any) -> Any:
    inside = self == self if min is None else self >= min
    return pick(inside if max is None else inside * (self <= max), grad, 0)


@operation("ClampBackward1", self=_within)
def clamp(self: Array, min: Any, max: Any) -> Array:
    """Limit to an interval: the gradient passes where the input lies inside, ends included."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


@variants("clamp", out="limits", in_place="function", also="clip")
def limited(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit entries to an interval.

    Args:
        input: The tensor.
        min: Its lower end: a number, or a tensor that broadcasts; or None.
        max: Its upper end, likewise.

    Raises:
        RuntimeError: If neither `min` nor `max` is given, or one is complex.

    Example:
        >>> import minigrad as torch
        >>> torch.clamp(torch.tensor([-1.0, 0.5, 2.0]), 0, 1)
        tensor([0.0000, 0.5000, 1.0000])
    """
    if min is max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if min is not None:
            input = where_function(input < min, min, input)
        return input if max is None else where_function(input > max, max, input)
    if min is not None and min.__class__ not in _NUMBERS:
        min = number(min, "clamp", "min")
    if max is not None and max.__class__ not in _NUMBERS:
        max = number(max, "clamp", "max")
    if input._array.dtype.kind != "f":
        input = _wide_enough(_wide_enough(input, min), max)
    return clamp(input, min, max)


@operation("ClampMinBackward0", self=lambda grad, self, min: pick(self >= min, grad, 0))
def clamp_from_number(self: Array, min: Any) -> Array:
    """Limit from below by a number: the gradient passes where the input is not smaller."""
    return np.maximum(self, min)


@operation("ClampMaxBackward0", self=lambda grad, self, max: pick(self <= max, grad, 0))
def clamp_to_number(self: Array, max: Any) -> Array:
    """Limit from above by a number: the gradient passes where the input is not larger."""
    return np.minimum(self, max)


@variants("clamp_min", out="limits", in_place="function")
def limited_from_below(input: Tensor, min: Any) -> Tensor:
    """Limit entries from below."""
    if isinstance(min, Tensor):
        return limited(input, min, None)
    return clamp_from_number(_wide_enough(input, min), number(min, "clamp_min", "min"))


@variants("clamp_max", out="limits", in_place="function")
def limited_from_above(input: Tensor, max: Any) -> Tensor:
    """Limit entries from above."""
    if isinstance(max, Tensor):
        return limited(input, None, max)
    return clamp_to_number(_wide_enough(input, max), number(max, "clamp_max", "max"))


def _wide_enough(input: Tensor, limit: Any) -> Tensor:
    """Give integers as floats if their limit is one; complex numbers have no order."""
    own = input._array.dtype
    if own.kind == "c":
        raise not_implemented("clamp", input._array)
    integers = own.kind in "iub" and isinstance(limit, (int, float))
    return cast(input, dtypes.scalar_dtype(limit, own)) if integers else input


_NUMBERS, _BOOLEAN = frozenset((int, float)), np.dtype(bool)
