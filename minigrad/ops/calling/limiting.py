"""Call limits from one side, and limits that are tensors, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import inplace, mixing
from minigrad.ops.calling import choosing
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.calling.entrywise import named, not_implemented
from minigrad.ops.calling.mixing import meeting_of
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place
from minigrad.tensor import Tensor, wrap

__all__ = ["clamp_max", "clamp_min", "clip"]


def clamp_between(input: Tensor, min: Tensor | None, max: Tensor | None) -> Tensor:
    """Limit entries to intervals whose ends are tensors, or one end and none.

    Raises:
        TypeError: If one end is a tensor and the other a number.
    """
    limits = [limit for limit in (min, max) if limit is not None]
    if not all(isinstance(limit, Tensor) for limit in limits):
        given = ", ".join(type(value).__name__ for value in (input, min, max))
        raise TypeError(
            f"clamp() received an invalid combination of arguments - got ({given}), but expected "
            "either two numbers or two tensors as limits"
        )
    arrays = [tensor._array for tensor in (input, *limits)]
    wanted = dtypes.result_type(arrays[0], arrays[1])
    if len(arrays) > 2:
        wanted = meeting_of(*arrays)
    if wanted.kind == "b" and len(limits) > 1:
        raise not_implemented("clamp_cpu", input._array)
    input, *limits = (cast(tensor, wanted) for tensor in (input, *limits))
    absent = iter(limits)
    low, high = (
        _no_limit(wanted, sign) if limit is None else next(absent)
        for limit, sign in ((min, -1), (max, 1))
    )
    return mixing.clamp_between(input, low, high)  # type: ignore[no-any-return]


def _no_limit(dtype: np.dtype[Any], sign: int) -> Tensor:
    """Give a limit that limits nothing."""
    if dtype.kind == "f":
        return wrap(np.array(sign * np.inf, dtype))
    if dtype.kind == "b":
        return wrap(np.array(sign > 0))
    limits = np.iinfo(dtype)
    return wrap(np.array(limits.max if sign > 0 else limits.min, dtype))


def _one_sided(name: str, by_number: Any, operation: Any, argument: str) -> Any:
    def function(input: Tensor, limit: Any) -> Tensor:
        check_tensor(name, input)
        if isinstance(limit, Tensor):
            return operation(input, limit)  # type: ignore[no-any-return]
        if not isinstance(limit, (int, float, np.generic)):
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got (Tensor, "
                f"{type(limit).__name__}), but expected a tensor and a tensor or a number"
            )
        wanted = dtypes.scalar_dtype(limit, input._array.dtype)
        return by_number(cast(input, wanted), limit)  # type: ignore[no-any-return]

    named(function, operation, name)
    if argument == "min":
        return named(lambda input, min: function(input, min), operation, name)
    return named(lambda input, max: function(input, max), operation, name)


_clamp_min = _one_sided("clamp_min", mixing.clamp_from_number, mixing.clamp_from, "min")
_clamp_max = _one_sided("clamp_max", mixing.clamp_to_number, mixing.clamp_to, "max")


def _limiting_in_place(function: Any) -> Any:
    """Make the method in place, which refuses a number of too high a kind in PyTorch's words."""
    method = in_place(function)

    def refuse(tensor: Tensor, limit: Any) -> None:
        dtype = tensor._array.dtype
        if isinstance(limit, (int, float)):
            wanted = dtypes.scalar_dtype(limit, dtype)
            if dtypes.kind_of(wanted) > dtypes.kind_of(dtype):
                raise RuntimeError(
                    f"result type {dtypes.scalar_name(np.empty(0, wanted))} can't be cast to the "
                    f"desired output type {dtypes.c_name(tensor._array)}"
                )

    def min_(tensor: Tensor, min: Any) -> Tensor:
        refuse(tensor, min)
        return method(tensor, min)

    def max_(tensor: Tensor, max: Any) -> Tensor:
        refuse(tensor, max)
        return method(tensor, max)

    name = function.__name__
    return named(min_ if name == "clamp_min" else max_, function, f"{name}_")


_between_in_place = in_place(clamp_between)


def clamp_(tensor: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit to an interval, in place."""
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return _between_in_place(tensor, min, max)
    return inplace.clamp_(tensor, min, max)


clamp_min, clamp_max, clip = (
    with_out(function, conversion="limits") for function in (_clamp_min, _clamp_max, choosing.clamp)
)

methods: dict[str, Any] = {
    "clamp_": clamp_,
    "clip_": clamp_,
    "clamp_min": _clamp_min,
    "clamp_max": _clamp_max,
    "clamp_min_": _limiting_in_place(_clamp_min),
    "clamp_max_": _limiting_in_place(_clamp_max),
}
