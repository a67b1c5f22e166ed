"""Choices and their derivatives: absolute value, sign, larger, smaller, limits, where, masked fill.

Where a function has a kink the convention is PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.rules import applied, zeros_for
from minigrad.core.node import grad_mode
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, counter_of, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import entry, real_number
from minigrad.faces import arguments, attach, entrywise, face
from minigrad.faces.arguments import cast, is_operand, not_implemented, number
from minigrad.ops.type_promotion import broadcast_shape, meet_types, meeting_of, scalar

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


@entrywise(floats=False, in_place=True)
# The input is saved though the rule has no use for it: as in PyTorch it must not be changed.
@differentiable("SgnBackward0", self=lambda grad, self, result: np.zeros_like(grad))
def sgn(self: Array) -> Array:
    """Sign, under the name that the rules of absolute values and norms have for it."""
    return _sign(self)


@entrywise(floats=False, missing=("c", "sign_cpu"), in_place=True)
@differentiable("SignBackward0", self=lambda grad: np.zeros_like(grad))
def sign(self: Array) -> Array:
    """Sign: constant on both sides of 0, so no gradient passes."""
    return _sign(self)


@entrywise(floats=False, in_place=True, also="absolute", ufunc=np.absolute)
@differentiable("AbsBackward0", self=lambda grad, self: grad * applied(sgn, self))
def abs(self: Array) -> Array:
    """Absolute value: the gradient times the sign of the input, 0 at 0."""
    if self.dtype.kind == "b":
        raise not_implemented("abs_cpu", self)
    return np.abs(self)


attach(__name__, {"__abs__": abs}, {"abs_": vars(Tensor)["abs_"]})


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
    if mask.shape != self.shape:
        mask = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, self.shape))
    return _in_order(pick(mask, value, self))


@differentiable(
    "MaskedSelectBackward0",
    constants=("mask",),
    self=lambda grad, self, mask: applied(masked_scatter, zeros_for(grad, self.shape), mask, grad),
)
def masked_select(self: Array, mask: Array) -> Array:
    """The entries under a mask of the same shape, in a row: the others get no gradient."""
    return self[mask]


@differentiable(
    "MaskedScatterBackward0",
    constants=("mask",),
    self=lambda grad, mask: applied(masked_fill_number, grad, mask, 0),
    source=lambda grad, mask: applied(masked_select, grad, mask),
)
def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """The entries of a row, one after the other, in the places under a mask."""
    result = self.copy("C")
    result[mask] = source
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


@face("masked_fill(Tensor input, Tensor mask, value)")
def filled_under(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Give the tensor with a number in the place of all entries under a mask.

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
    value = filling(input, mask, value)
    sizes = broadcast_shape(mask._array.shape, input._array.shape)
    if isinstance(value, Tensor):
        return masked_fill(input, spread(mask, sizes), value)
    return masked_fill_number(input, mask, value)


def spread(mask: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Broadcast a mask to a shape; it still counts as the mask itself if that changes later."""
    if mask._array.shape == sizes:
        return mask
    wide = wrap(np.broadcast_to(mask._array, sizes))
    wide._version_counter = counter_of(mask)
    return wide


def filling(input: Tensor, mask: Tensor, value: Any, name: str = "masked_fill") -> Any:
    """Give what takes the place of a tensor's entries under a mask in the tensor's dtype.

    Raises:
        RuntimeError: If the mask is not boolean, or the value has dimensions.
        TypeError: If the value is neither a tensor nor a number.
    """
    if mask._array.dtype.kind in "iufc":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.c_name(mask._array)}"
        )
    is_tensor = isinstance(value, Tensor)
    if is_tensor and value._array.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    if not is_tensor:
        value = number(value, name, "value", 3)
    dtype = input._array.dtype
    if dtype.kind == "c":
        if is_tensor and value.requires_grad and grad_mode.enabled:
            refuse_complex(dtype)
    elif not is_tensor:
        value = real_number(value, dtype)
    elif value._array.dtype.kind == "c":
        value = wrap(np.array(real_number(value.item(), dtype)).astype(dtype))
    if dtype.kind not in "iub":
        return value
    return dtype.type(value) if isinstance(value, (int, float)) else value


_NOT_GIVEN: Any = object()


def where_function(condition: Any, input: Any = _NOT_GIVEN, other: Any = _NOT_GIVEN) -> Any:
    """Choose entries of `input` where the condition holds, else of `other`.

    With the condition alone, tell where it holds: `nonzero(condition, as_tuple=True)`.
    """
    if other is _NOT_GIVEN:
        arguments.check_tensor("where", condition, "condition")
        if input is not _NOT_GIVEN:
            raise TypeError('where() missing 1 required positional arguments: "other"')
        return condition.nonzero(as_tuple=True)
    if not (isinstance(condition, Tensor) and is_operand(input) and is_operand(other)):
        raise arguments.no_combination("where", condition, input, other)
    known = next((each for each in (input, other) if isinstance(each, Tensor)), None)
    meets = np.dtype("bool") if known is None else known._array.dtype
    first, second = (
        each if isinstance(each, Tensor) else _among(each, meets) for each in (input, other)
    )
    if condition._array.dtype.kind in "iufc":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dtypes.scalar_name(condition._array)}. Compare it with something, such as `x != 0`."
        )
    if first._array.dtype is not second._array.dtype:
        return meet_types(lambda a, b: where(condition, a, b), first, second)
    return where(condition, first, second)


def _among(value: Any, meets: np.dtype[Any]) -> Tensor:
    """Give a number as a tensor.

    Raises:
        RuntimeError: If it is too large for the type that it takes.
    """
    made = scalar(value, meets)
    real_number(arguments.plain(value), made._array.dtype)
    return made


def _method_where(self: Tensor, condition: Tensor, other: Any) -> Any:
    """Give the entries where a condition holds, and those of another tensor elsewhere.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, -2.0])
        >>> x.where(x > 0, 0.0)
        tensor([1., 0.])
    """
    return where_function(condition, self, other)


where_function.__name__ = where_function.__qualname__ = "where"
attach(__name__, {"where": _method_where}, {"where": where_function})


def _chosen(grad: Any, self: Any, other: Any, loses: Any) -> Any:
    """Give the gradient of one of two where it was chosen; equal ones share it."""
    shared = pick(self == other, grad / 2, grad)
    return applied(masked_fill_number, shared, loses, 0)


def _refuse_complex(name: str, array: Array) -> None:
    if array.dtype.kind == "c":
        raise RuntimeError(f"{name} not implemented for complex tensors.")


@face("maximum(Tensor input, Tensor other, *, out=None)")
@differentiable(
    "MaximumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _chosen(grad, self, other, self < other),
    other=lambda grad, self, other: _chosen(grad, self, other, other < self),
)
def maximum(self: Array, other: Array) -> Array:
    """Larger of two: the larger one gets the gradient; equal ones share it."""
    _refuse_complex("maximum", self)
    return np.maximum(self, other)


@face("minimum(Tensor input, Tensor other, *, out=None)")
@differentiable(
    "MinimumBackward0",
    arithmetic=True,
    self=lambda grad, self, other: _chosen(grad, self, other, self > other),
    other=lambda grad, self, other: _chosen(grad, self, other, other > self),
)
def minimum(self: Array, other: Array) -> Array:
    """Smaller of two: the smaller one gets the gradient; equal ones share it."""
    _refuse_complex("minimum", self)
    return np.minimum(self, other)


def _inside(self: Any, min: Any, max: Any) -> Any:
    if min is None:
        return self <= max
    return self >= min if max is None else (self >= min) * (self <= max)


@differentiable(
    "ClampBackward1", self=lambda grad, self, min, max: pick(_inside(self, min, max), grad, 0)
)
def clamp(self: Array, min: Any, max: Any) -> Array:
    """Limit to an interval: the gradient passes where the input lies inside, ends included."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


@face(
    "clamp(Tensor input, min=None, max=None, *, out=None)",
    out="limits",
    in_place="function",
    also="clip",
)
def limited(input: Tensor, min: Any, max: Any) -> Tensor:
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
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) != isinstance(max, Tensor) and min is not None and max is not None:
        # a number beside a tensor: the tensor has to be one, too
        min, max = number(min, "clamp", "min", 2), number(max, "clamp", "max", 3)
    own = input._array.dtype
    if own.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    min, max = _limit("maximum", min, own), _limit("minimum", max, own)
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return between(input, min, max)
    if input._array.dtype.kind in "iub":
        for limit in (min, max):
            if isinstance(limit, (int, float)):
                input = cast(input, dtypes.scalar_dtype(limit, input._array.dtype))
    return clamp(input, min, max)


def _limit(kernel: str, limit: Any, dtype: np.dtype[Any]) -> Any:
    """Refuse a limit that is complex, or no number of a type."""
    if isinstance(limit, Tensor):
        if limit._array.dtype.kind == "c":
            raise not_implemented(f"{kernel}_cpu", limit._array)
    elif limit is not None:
        limit = real_number(number(limit, "clamp", "min or max"), np.dtype("float64"))
        if dtype.kind == "f" and isinstance(limit, (int, float)):
            entry(limit, dtype)
    return limit


# ---------------------------------------------------------------------- limits that are tensors


@differentiable(
    "ClampBackward0",
    broadcasts=True,
    self=lambda grad, self, min, max: pick((self >= min) * (self <= max), grad, 0),
    min=lambda grad, self, min, max: pick(
        np.logical_or(min < max, max == np.inf) * (self < min), grad, 0
    ),
    max=lambda grad, self, min, max: pick(np.logical_or(self > max, max < min), grad, 0),
)
def clamp_between(self: Array, min: Array, max: Array) -> Array:
    """Limit to intervals with ends of their own: an end gets the gradient where it limits.

    Where the lower end lies above the upper one, it is the upper one that limits. An infinite one
    stands for none.
    """
    return np.minimum(np.maximum(self, min), max)


@differentiable(
    "ClampMinBackward1",
    arithmetic=True,
    self=lambda grad, self, min: pick(self >= min, grad, 0),
    min=lambda grad, self, min: pick(self < min, grad, 0),
)
def clamp_from(self: Array, min: Array) -> Array:
    """Limit from below: the limit gets the gradient where it is larger."""
    return np.maximum(self, min)


@differentiable(
    "ClampMaxBackward1",
    arithmetic=True,
    self=lambda grad, self, max: pick(self <= max, grad, 0),
    max=lambda grad, self, max: pick(self > max, grad, 0),
)
def clamp_to(self: Array, max: Array) -> Array:
    """Limit from above: the limit gets the gradient where it is smaller."""
    return np.minimum(self, max)


@differentiable("ClampMinBackward0", self=lambda grad, self, min: pick(self >= min, grad, 0))
def clamp_from_number(self: Array, min: Any) -> Array:
    """Limit from below by a number: the gradient passes where the input is not smaller."""
    return np.maximum(self, min)


@differentiable("ClampMaxBackward0", self=lambda grad, self, max: pick(self <= max, grad, 0))
def clamp_to_number(self: Array, max: Any) -> Array:
    """Limit from above by a number: the gradient passes where the input is not larger."""
    return np.minimum(self, max)


def between(input: Tensor, min: Tensor | None, max: Tensor | None) -> Tensor:
    """Limit entries to intervals whose ends are tensors, or one end and none."""
    limits = [limit for limit in (min, max) if limit is not None]
    arrays = [tensor._array for tensor in (input, *limits)]
    wanted = meeting_of(*arrays) if len(arrays) > 2 else dtypes.result_type(*arrays)
    if wanted.kind == "b" and len(limits) > 1:
        raise not_implemented("clamp_cpu", input._array)
    low, high = (
        wrap(np.array(no_limit(wanted, sign), wanted)) if limit is None else cast(limit, wanted)
        for limit, sign in ((min, -1), (max, 1))
    )
    return clamp_between(cast(input, wanted), low, high)


def no_limit(dtype: np.dtype[Any], sign: int) -> Any:
    """Give the largest number of a type, or the smallest if the sign is -1: it limits nothing."""
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return sign > 0
    limits = np.iinfo(dtype)
    return limits.max if sign > 0 else limits.min


def _one_sided(name: str, argument: str, by_number: Any, operation: Any) -> None:
    def limited(input: Tensor, limit: Any) -> Any:
        if isinstance(limit, Tensor):
            arguments.refuse("maximum_cpu", "c", input, limit)
            return operation(input, limit)
        if input._array.dtype.kind == "c" or isinstance(limit, complex):
            raise NotImplementedError("clamp is not supported for complex types")
        limit = _limit("", number(limit, name, argument, 2), input._array.dtype)
        return by_number(cast(input, dtypes.scalar_dtype(limit, input._array.dtype)), limit)

    limited.__doc__ = operation.__doc__
    schema = f"{name}(Tensor input, {argument}, *, out=None)"
    face(schema, out="limits", in_place="function")(limited)


_one_sided("clamp_min", "min", clamp_from_number, clamp_from)
_one_sided("clamp_max", "max", clamp_to_number, clamp_to)
