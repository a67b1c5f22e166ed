"""Make vectors of evenly spaced numbers, and the identity matrix."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.type_name import type_name
from minigrad.construction import check_place, finish, number
from minigrad.ops.calling.out import dtype_for, write_new
from minigrad.tensor import Tensor

__all__ = ["arange", "eye", "linspace"]


def arange(
    *bounds: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of numbers from a start (or 0) up to but not including an end.

    Args:
        *bounds: The end; or start and end; or start, end and step.
        start: The first number, given by name.
        end: Where to stop, given by name.
        step: The distance between two numbers, given by name.
        out: A tensor to write the numbers into.
        dtype: The type of the entries: int64 if all bounds are whole numbers, else the default.
        layout: Strided, if anything.
        device: The CPU, if anything.
        pin_memory: False.
        requires_grad: Whether operations on the tensor are recorded.

    Raises:
        RuntimeError: If the step is 0 or leads away from the end, or a bound is not finite.

    Example:
        >>> import minigrad as torch
        >>> torch.arange(2, 8, 2)
        tensor([2, 4, 6])
    """
    check_place("arange", device, layout, pin_memory)
    named = end is not None
    if len(bounds) + named not in (1, 2, 3) or (len(bounds) > 1 and named and len(bounds) != 2):
        raise TypeError(
            "arange() received an invalid combination of arguments - it takes (end), (start, end) "
            "or (start, end, step)"
        )
    if named:
        bounds = (*(bounds or (start,)), end)
    first, last = (start, *bounds) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else step
    whole = first.__class__ is last.__class__ is step.__class__ is int
    if whole and dtype is out is None and step and (last - first) * step >= 0:
        return finish(np.arange(first, last, step), requires_grad, "arange")
    position = 1 if len(bounds) == 1 else 2
    if len(bounds) > 1:
        first = number(first, "arange", "start", 1)
    last = number(last, "arange", "end", position)
    return ranged(
        "arange", (first, last, number(step, "arange", "step", 3)), out, dtype, requires_grad
    )


def ranged(
    caller: str, bounds: tuple[Any, Any, Any], out: Any, dtype: Any, requires_grad: bool
) -> Tensor:
    """Make the vector of `arange`, or with the end included that of `range`."""
    whole = caller == "arange" and all(isinstance(bound, int) for bound in bounds)
    default = np.dtype("int64") if whole else dtypes.get_default_dtype().numpy
    wanted = dtype_for(caller, out, dtype, default)
    if wanted.kind in "bc":
        raise NotImplementedError(
            f"\"{caller}_cpu\" not implemented for '{dtypes.scalar_name(np.empty(0, wanted))}'"
        )
    array = _steps(caller, *bounds, wanted)
    if out is None:
        return finish(array, requires_grad, caller)
    if out._array.size not in (0, array.size):
        warnings.warn(
            f"The number of elements in the out tensor of shape {list(out._array.shape)} is "
            f"{out._array.size} which does not match the computed number of elements {array.size}. "
            "Note that this may occur as a result of rounding error. The out tensor will be "
            f"resized to a tensor of shape ({array.size},).",
            UserWarning,
            stacklevel=3,
        )
    return write_new(out, array)


def _steps(caller: str, first: Any, last: Any, step: Any, dtype: np.dtype[Any]) -> Any:
    for bound in (first, last, step):
        if isinstance(bound, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
    if not step or step != step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"unsupported range: {first:g} -> {last:g}")
    if (last - first) * (1 if step > 0 else -1) < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign: the step leads from "
            f"{first:g} away from {last:g}"
        )
    if dtype.kind in "iu":
        whole = int(first), int(last), int(step)
        if not whole[2]:
            raise ValueError(f"step must be nonzero, and {step} is 0 as a whole number")
        if dtype == np.int64:
            first, last, step = whole
    distance = last - first
    if isinstance(distance, int) and isinstance(step, int):
        count = -(-distance // step) if caller == "arange" else distance // step + 1
    else:
        count = math.ceil(distance / step) if caller == "arange" else int(distance / step) + 1
    if dtype.kind in "iu":
        return (np.arange(count) * int(step) + int(first)).astype(dtype)
    return (np.arange(count) * float(step) + float(first)).astype(dtype)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a vector of evenly spaced numbers, both ends included.

    Args:
        start: The first number.
        end: The last number.
        steps: How many numbers.
        out: A tensor to write the numbers into.
        dtype: The type of the entries, if not the default.
        layout: Strided, if anything.
        device: The CPU, if anything.
        pin_memory: False.
        requires_grad: Whether operations on the tensor are recorded.

    Raises:
        RuntimeError: If the number of numbers is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    check_place("linspace", device, layout, pin_memory)
    first, last, wanted = line_ends("linspace", start, end, steps, out, dtype)
    array = line(first, last, steps, wanted).astype(wanted)
    return finish(array, requires_grad, "linspace") if out is None else write_new(out, array)


def line_ends(
    caller: str, start: Any, end: Any, steps: Any, out: Any, dtype: Any
) -> tuple[Any, Any, np.dtype[Any]]:
    """Check the arguments of `linspace` and `logspace`, and give the ends and the dtype."""
    ends = []
    for position, (name, value) in enumerate((("start", start), ("end", end)), 1):
        if isinstance(value, Tensor) and value._array.ndim:
            raise RuntimeError(
                f"{caller} only supports 0-dimensional start and end tensors, but got {name} with "
                f"{value._array.ndim} dimension(s)."
            )
        ends.append(number(value, caller, name, position))
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)):
        raise TypeError(
            f"{caller}(): argument 'steps' (position 3) must be int, not {type_name(steps)}"
        )
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative. It is {steps}.")
    default = dtypes.get_default_dtype()
    if any(isinstance(value, complex) for value in ends):
        default = default.to_complex()
    wanted = dtype_for(caller, out, dtype, default.numpy)
    if wanted.kind == "b":
        raise NotImplementedError(f"\"{caller}_cpu\" not implemented for 'Bool'")
    return ends[0], ends[1], wanted


def line(first: Any, last: Any, steps: int, dtype: np.dtype[Any]) -> Any:
    """Give evenly spaced numbers, counted from the nearer end so that both ends are exact."""
    exact = np.float64 if dtype.kind in "iu" else dtype.type
    if dtype.kind in "iu":
        first, last = int(first), int(last)
    with np.errstate(all="ignore"):
        begin, finish = exact(first), exact(last)
        if steps == 1:
            return np.full(1, begin)
        step = (finish - begin) / exact(max(steps - 1, 1))
        places = np.arange(steps).astype(exact)
        half = steps // 2
        if dtype == np.float32:  # PyTorch rounds only once here, after multiplying and adding
            begin, finish, step = np.float64(begin), np.float64(finish), np.float64(step)
        result = np.empty(steps, exact)
        result[:half] = begin + step * places[:half]
        result[half:] = finish - step * places[: steps - half][::-1]
    return result


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Make a matrix with ones on the diagonal and zeros elsewhere.

    Example:
        >>> import minigrad as torch
        >>> torch.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    check_place("eye", device, layout, pin_memory)
    for position, (name, size) in enumerate((("n", n), ("m", n if m is None else m)), 1):
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"eye(): argument '{name}' (position {position}) must be int, not {type_name(size)}"
            )
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    wanted = dtype_for("eye", out, dtype, dtypes.get_default_dtype().numpy)
    array = np.eye(n, m, dtype=wanted)
    return finish(array, requires_grad, "eye") if out is None else write_new(out, array)
