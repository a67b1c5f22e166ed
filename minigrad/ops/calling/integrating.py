"""Integrate sampled functions by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import elementwise, parts
from minigrad.ops.calling import reducing, shaping
from minigrad.ops.calling.accumulating import cumsum, range_of
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.calling.spellings import one_dimension
from minigrad.tensor import Tensor, wrap

__all__ = ["cumulative_trapezoid", "trapezoid", "trapz"]


def _steps(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Give the distances between sample points, in a shape that fits the areas."""
    if "b" in (x._array.dtype.kind, y._array.dtype.kind):
        raise RuntimeError(
            f"{name}: received a bool input for `x` or `y`, but bool is not supported"
        )
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = shaping.view(x, *(-1 if d == dim else 1 for d in range(y.ndim)))
    elif x.ndim < y.ndim:
        x = shaping.view(x, *([1] * (y.ndim - x.ndim)), *x.shape)
    return _differences(x, dim)


def _differences(x: Tensor, dim: int) -> Tensor:
    size = x._array.shape[dim]
    earlier = range_of(x, dim, 0, size - 1)
    return elementwise.sub(range_of(x, dim, 1, size), earlier)  # type: ignore[no-any-return]


def _check(name: str, y: Tensor, dim: int, dx: Any) -> int:
    check_tensor(name, y, "y")
    if not y.ndim:
        if name == "trapezoid":
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if y._array.dtype.kind != "b":
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    number = one_dimension(name, dim, y)
    if y._array.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if isinstance(dx, complex):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    return number


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    r"""Integrate along a dimension by the trapezoidal rule: :math:`\sum (y_i + y_{i+1}) d_i / 2`.

    Args:
        y: The values.
        x: The places of the values; or
        dx: the distance between two, 1 unless said otherwise.
        dim: The dimension; the last unless said otherwise.

    Example:
        >>> import minigrad as torch
        >>> torch.trapezoid(torch.tensor([1.0, 5.0, 3.0]))
        tensor(7.)
    """
    number = _integral("trapezoid", y, x, dx, dim)
    size = y._array.shape[number]
    if size == 0:
        left = y._array.shape[:number] + y._array.shape[number + 1 :]
        return wrap(np.zeros(left, y._array.dtype))
    if x is not None:
        return elementwise.div_number(reducing.sum(_areas("trapezoid", y, x, number), number), 2.0)  # type: ignore[no-any-return]
    ends = elementwise.add(parts.select(y, number, 0), parts.select(y, number, size - 1))
    total = elementwise.sub(reducing.sum(y, number), _times(ends, 0.5))
    return _times(total, 1.0 if dx is None else float(dx))


def _integral(name: str, y: Tensor, x: Any, dx: Any, dim: int) -> int:
    if x is not None and dx is not None:
        raise TypeError(f"{name}() takes x or dx, not both")
    return _check(name, y, dim, dx)


def _areas(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    check_tensor(name, x, "x", 2)
    steps, size = _steps(name, y, x, dim), y._array.shape[dim]
    both = elementwise.add(range_of(y, dim, 1, size), range_of(y, dim, 0, size - 1))
    return elementwise.mul(both, steps)  # type: ignore[no-any-return]


def _times(tensor: Tensor, number: float) -> Tensor:
    if tensor._array.dtype.kind in "iu":
        tensor = cast(tensor, dtypes.get_default_dtype().numpy)
    return elementwise.mul_number(tensor, number)  # type: ignore[no-any-return]


def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """Do what `trapezoid` does: its older name."""
    return trapezoid(y, x, dim=dim) if x is not None else trapezoid(y, dx=dx, dim=dim)


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1
) -> Tensor:
    """Integrate up to each place along a dimension by the trapezoidal rule: see `trapezoid`.

    Example:
        >>> import minigrad as torch
        >>> torch.cumulative_trapezoid(torch.tensor([1.0, 5.0, 3.0]))
        tensor([3., 7.])
    """
    name = "cumulative_trapezoid"
    number = _integral(name, y, x, dx, dim)
    if x is not None:
        return elementwise.div_number(cumsum(_areas(name, y, x, number), number), 2.0)  # type: ignore[no-any-return]
    size = y._array.shape[number]
    both = elementwise.add(range_of(y, number, 1, size), range_of(y, number, 0, size - 1))
    return cumsum(_times(both, (1.0 if dx is None else float(dx)) / 2.0), number)  # type: ignore[no-any-return]


methods: dict[str, Any] = {}
functions: dict[Any, Any] = {
    np.trapezoid: lambda y, x=None, dx=1.0, axis=-1: trapz(y, x, dx=dx, dim=axis),
}
