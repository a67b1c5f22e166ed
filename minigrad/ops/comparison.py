"""Operations that have no gradient: comparisons, logic, tests, positions of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.type_name import type_name
from minigrad.ops.meeting import meet_other, meet_types, quietly, retry
from minigrad.tensor import Tensor, wrap

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "equal",
    "ge",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
]


def _comparison(name: str, ufunc: Any, meaning: str) -> Callable[..., Any]:
    def compare(input: Any, other: Any) -> Any:
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            return meet_other(compare, input, other)
        a, b = input._array, other._array
        if a.dtype != b.dtype:
            # without their places in the graph, which nobody needs to know here
            return meet_types(compare, wrap(a), wrap(b))
        try:
            return wrap(ufunc(a, b))
        except ValueError as error:
            return wrap(retry(ufunc, error, a, b))

    compare.__name__ = name
    compare.__doc__ = f"Tell for each entry whether it is {meaning} the other."
    return compare


eq = _comparison("eq", np.equal, "equal to")
ne = _comparison("ne", np.not_equal, "different from")
lt = _comparison("lt", np.less, "less than")
le = _comparison("le", np.less_equal, "less than or equal to")
gt = _comparison("gt", np.greater, "greater than")
ge = _comparison("ge", np.greater_equal, "greater than or equal to")


def _logic(name: str, ufunc: Any, meaning: str) -> Callable[..., Any]:
    def combine(input: Tensor, other: Tensor) -> Any:
        for place, value in enumerate((input, other)):
            if not isinstance(value, Tensor):
                argument = ("input", "other")[place]
                raise TypeError(
                    f"{name}(): argument '{argument}' (position {place + 1}) must be Tensor, not "
                    f"{type_name(value)}"
                )
        a, b = input._array, other._array
        try:
            return wrap(ufunc(a, b))
        except ValueError as error:
            return wrap(retry(ufunc, error, a, b))

    combine.__name__ = name
    combine.__doc__ = f"Combine entry by entry: {meaning}."
    return combine


logical_and = _logic("logical_and", np.logical_and, "both are true")
logical_or = _logic("logical_or", np.logical_or, "one of them is true")
logical_xor = _logic("logical_xor", np.logical_xor, "just one of them is true")


def bitwise(name: str, ufunc: Any, meaning: str, kernel: str, refused: str) -> Callable[..., Any]:
    """Make an operation on the bits of integers, such as `x & y`.

    Args:
        name: Its name.
        ufunc: NumPy's function.
        meaning: What it does.
        kernel: The name that PyTorch has for it in errors.
        refused: The kinds of dtypes that it is not made for.
    """

    def combine(input: Any, other: Any) -> Any:
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            return meet_other(combine, input, other)
        a, b = input._array, other._array
        if a.dtype is not b.dtype:
            return meet_types(combine, wrap(a), wrap(b))
        if a.dtype.kind in refused:
            raise NotImplementedError(
                f"\"{kernel}_cpu\" not implemented for '{dtypes.scalar_name(a)}'"
            )
        try:
            return wrap(ufunc(a, b))
        except ValueError as error:
            return wrap(retry(ufunc, error, a, b))

    combine.__name__ = name
    combine.__doc__ = f"Combine the bits of integers, or booleans: {meaning}."
    return combine


bitwise_and = bitwise("bitwise_and", np.bitwise_and, "and", "bitwise_and", "fc")
bitwise_or = bitwise("bitwise_or", np.bitwise_or, "or", "bitwise_or", "fc")
bitwise_xor = bitwise("bitwise_xor", np.bitwise_xor, "exclusive or", "bitwise_xor", "fc")


def logical_not(input: Tensor) -> Tensor:
    """Tell for each entry whether it is false."""
    return wrap(np.logical_not(input._array))


def _numbers(name: str, input: Any) -> Any:
    """Give the array, if it is a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}"
        )
    return input._array


def isnan(input: Tensor) -> Tensor:
    """Tell for each entry whether it is not a number."""
    return wrap(np.isnan(_numbers("isnan", input)))


def isinf(input: Tensor) -> Tensor:
    """Tell for each entry whether it is infinite."""
    return wrap(np.isinf(_numbers("isinf", input)))


def isfinite(input: Tensor) -> Tensor:
    """Tell for each entry whether it is a finite number."""
    return wrap(np.isfinite(_numbers("isfinite", input)))


def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have the same shape and the same entries."""
    _check_tensors("equal", input, other)
    return bool(np.array_equal(input._array, other._array))


def _check_tensors(name: str, input: Any, other: Any) -> None:
    for place, value in enumerate((input, other)):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{('input', 'other')[place]}' (position {place + 1}) must be "
                f"Tensor, not {type(value).__name__}"
            )


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Tell for each entry whether two agree within a tolerance: `|a - b| <= atol + rtol * |b|`.

    Args:
        input: The tensor.
        other: Another one of the same dtype.
        rtol: The tolerance in proportion to the size of the other entry.
        atol: The tolerance that is added to it.
        equal_nan: Whether two that are not a number count as equal.

    Raises:
        RuntimeError: If the types differ, or a tolerance is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
        tensor([ True, False])
    """
    _check_tensors("isclose", input, other)
    a, b = input._array, other._array
    if a.dtype != b.dtype:
        raise RuntimeError(f"{dtypes.scalar_name(a)} did not match {dtypes.scalar_name(b)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    try:
        result = wrap(_close(a, b, rtol, atol, equal_nan))
        result._bump_version()  # as in PyTorch, which computes it in steps
        return result
    except ValueError as error:
        return wrap(retry(_close, error, a, b, rtol, atol, equal_nan))


@quietly
def _close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = a == b
    if equal_nan:
        close |= (a != a) & (b != b)
    if a.dtype.kind == "b":
        a, b = a.astype(np.int8), b.astype(np.int8)
    difference = np.abs(a - b)
    return close | (np.isfinite(difference) & (difference <= atol + np.abs(rtol * b)))


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Tell whether all entries agree within a tolerance: `|a - b| <= atol + rtol * |b|`."""
    _check_tensors("allclose", input, other)
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._array))
