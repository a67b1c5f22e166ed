"""Call the operations that choose among entries, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.complex_numbers import refuse_complex
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.type_name import type_name
from minigrad.autograd.versions import counter_of
from minigrad.autograd.watched import watched
from minigrad.ops import choices, parts
from minigrad.ops.calling.arguments import cast, check_tensor, dimension, real_number
from minigrad.ops.calling.arithmetic import checked
from minigrad.ops.later import enter
from minigrad.ops.meeting import broadcast_error, meet_types, scalar
from minigrad.tensor import Tensor, wrap

__all__ = ["clamp", "gather", "masked_fill", "maximum", "minimum", "where"]


def maximum(input: Tensor, other: Tensor) -> Tensor:
    """Give the larger of two tensors, entry by entry."""
    return checked("maximum", choices.maximum, *_both_tensors("maximum", input, other))


def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Give the smaller of two tensors, entry by entry."""
    return checked("minimum", choices.minimum, *_both_tensors("minimum", input, other))


def _both_tensors(name: str, input: Any, other: Any) -> tuple[Tensor, Tensor]:
    for position, value in enumerate((input, other)):
        if not isinstance(value, (Tensor, np.ndarray)):
            raise TypeError(
                f"{name}(): argument '{('input', 'other')[position]}' (position {position + 1}) "
                f"must be Tensor, not {type_name(value)}"
            )
    return input, other


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
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
    have, sizes = mask._array.shape, input._array.shape
    try:
        mask = spread(mask, np.broadcast_shapes(have, sizes))
    except ValueError:
        raise broadcast_error(have, sizes) from None
    if isinstance(value, Tensor):
        return choices.masked_fill(input, mask, value)  # type: ignore[no-any-return]
    return choices.masked_fill_number(input, mask, value)  # type: ignore[no-any-return]


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
    if isinstance(value, Tensor) and value._array.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    if value is None or isinstance(value, str):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (Tensor, "
            f"{type(value).__name__}), but expected a mask and a tensor or a number"
        )
    dtype = input._array.dtype
    is_tensor = isinstance(value, Tensor)
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


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
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
    min, max = _limit("maximum", min), _limit("minimum", max)
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return enter("limiting").clamp_between(input, min, max)  # type: ignore[no-any-return]
    limits = [limit for limit in (min, max) if isinstance(limit, (int, float))]
    if input._array.dtype.kind in "iub":
        for limit in limits:
            input = cast(input, dtypes.scalar_dtype(limit, input._array.dtype))
    return choices.clamp(input, min, max)  # type: ignore[no-any-return]


def _limit(kernel: str, limit: Any) -> Any:
    """Refuse a limit that is complex: there is no order among such numbers."""
    if isinstance(limit, Tensor):
        if limit._array.dtype.kind == "c":
            name = dtypes.scalar_name(limit._array)
            raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{name}'")
        return limit
    return real_number(limit, np.dtype("float64"))


_NOT_GIVEN: Any = object()


def where(condition: Tensor, input: Any = _NOT_GIVEN, other: Any = _NOT_GIVEN) -> Any:
    """Choose entries of `input` where the condition holds, else of `other`.

    With the condition alone, tell where it holds: `nonzero(condition, as_tuple=True)`.
    """
    if other is _NOT_GIVEN:
        check_tensor("where", condition, "condition")
        if input is not _NOT_GIVEN:
            raise TypeError('where() missing 1 required positional arguments: "other"')
        return enter("finding").nonzero(condition, as_tuple=True)
    for value in (input, other):
        if value is None or isinstance(value, str):
            given = ", ".join(type(v).__name__ for v in (condition, input, other))
            raise TypeError(
                f"where() received an invalid combination of arguments - got ({given}), but "
                "expected a condition and two tensors or numbers"
            )
    first = input if isinstance(input, Tensor) else None
    second = other if isinstance(other, Tensor) else None
    known = first if first is not None else second
    meets = np.dtype("bool") if known is None else known._array.dtype
    if first is None:
        first = scalar(input, meets)
    if second is None:
        second = scalar(other, meets)
    chosen = condition if isinstance(condition, Tensor) else wrap(condition)
    if chosen._array.dtype.kind in "iufc":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dtypes.scalar_name(chosen._array)}. Compare it with something, such as `x != 0`."
        )
    if first._array.dtype is not second._array.dtype:
        return meet_types(lambda a, b: choices.where(chosen, a, b), first, second)
    return choices.where(chosen, first, second)  # type: ignore[no-any-return]


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Give the entries at listed places along a dimension: `x[index[i, j], j]` for `dim=0`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        sparse_grad: False, as minigrad has no sparse tensors.

    Returns:
        A tensor of the shape of `index`.

    Raises:
        RuntimeError: If the index has another number of dimensions or another type, or names a
            place that is not there.

    Example:
        >>> import minigrad as torch
        >>> scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.gather(scores, 1, torch.tensor([[0], [1]]))
        tensor([[1.],
                [4.]])
    """
    if sparse_grad:
        raise NotImplementedError(
            "gather has no sparse_grad=True here: there are no sparse tensors."
        )
    number, places = dimension(dim, input.ndim), index._array
    if not places.size:  # whatever it is, PyTorch does not look
        return watched(parts.gather(input, number, places), index)  # type: ignore[no-any-return]
    if places.dtype.kind != "i" or places.itemsize < 4:
        raise RuntimeError(
            f"gather(): Expected dtype int32/int64 for index, but got {index.dtype}. Convert it "
            "with long()."
        )
    if (places.ndim or 1) != (input.ndim or 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor: got "
            f"{places.ndim} and {input.ndim}"
        )
    for d, (given, size) in enumerate(zip(places.shape, input.shape, strict=False)):
        if d != number and given > size:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(places.shape)} to be "
                f"no larger than self {list(input.shape)} apart from dimension {number}"
            )
    size = input._array.shape[number] if input.ndim else 1
    if np.minimum.reduce(places, axis=None) < 0 or np.maximum.reduce(places, axis=None) >= size:
        outside = places[(places < 0) | (places >= size)]
        raise RuntimeError(
            f"index {outside[0]} is out of bounds for dimension {number} with size {size}"
        )
    return watched(parts.gather(input, number, places), index)  # type: ignore[no-any-return]
