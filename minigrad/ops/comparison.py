"""Operations that have no gradient: comparisons, logic, tests, positions of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.ops.meeting import meet_other, meet_types, retry
from minigrad.tensor import Tensor, wrap

__all__ = [
    "all",
    "allclose",
    "any",
    "argmax",
    "argmin",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "equal",
    "ge",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "logical_and",
    "logical_not",
    "logical_or",
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
    def combine(input: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, bool, int, np.ndarray)):
            return NotImplemented
        return wrap(ufunc(input._array, getattr(other, "_array", other)))

    combine.__name__ = name
    combine.__doc__ = f"Combine entry by entry: {meaning}."
    return combine


logical_and = _logic("logical_and", np.logical_and, "both are true")
logical_or = _logic("logical_or", np.logical_or, "one of them is true")
bitwise_and = _logic("bitwise_and", np.bitwise_and, "and")
bitwise_or = _logic("bitwise_or", np.bitwise_or, "or")
bitwise_xor = _logic("bitwise_xor", np.bitwise_xor, "exclusive or")


def logical_not(input: Tensor) -> Tensor:
    """Tell for each entry whether it is false."""
    return wrap(np.logical_not(input._array))


def isnan(input: Tensor) -> Tensor:
    """Tell for each entry whether it is not a number."""
    return wrap(np.isnan(input._array))


def isinf(input: Tensor) -> Tensor:
    """Tell for each entry whether it is infinite."""
    return wrap(np.isinf(input._array))


def isfinite(input: Tensor) -> Tensor:
    """Tell for each entry whether it is a finite number."""
    return wrap(np.isfinite(input._array))


def all(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Tell whether all entries are true, or all along a dimension."""
    return wrap(np.all(input._array, axis=dim, keepdims=keepdim))


def any(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Tell whether any entry is true, or any along a dimension."""
    return wrap(np.any(input._array, axis=dim, keepdims=keepdim))


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Give the position of the largest entry, among all or along a dimension."""
    return wrap(np.argmax(input._array, axis=dim, keepdims=keepdim and dim is not None))


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Give the position of the smallest entry, among all or along a dimension."""
    return wrap(np.argmin(input._array, axis=dim, keepdims=keepdim and dim is not None))


def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have the same shape and the same entries."""
    return bool(np.array_equal(input._array, other._array))


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Tell whether all entries agree within a tolerance: `|a - b| <= atol + rtol * |b|`."""
    return bool(np.allclose(input._array, other._array, rtol, atol, equal_nan))
