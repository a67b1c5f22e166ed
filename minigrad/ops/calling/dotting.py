"""Call sums of products over given dimensions: tensordot and inner."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.type_name import type_name
from minigrad.ops import elementwise, factors, linear_algebra, reduction, shape
from minigrad.ops.calling import products, shaping
from minigrad.ops.calling.arguments import dimension, dimensions
from minigrad.ops.calling.contracting import addable
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor, wrap

__all__ = ["inner", "tensordot"]


def _axes(a: Tensor, b: Tensor, dims: Any) -> tuple[Any, Any]:
    """Take the dimensions of tensordot in any of their forms."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)):
        first, second = dims
        for name, each, position in (("dims_self", first, 3), ("dims_other", second, 4)):
            if not isinstance(each, (tuple, list)):
                raise TypeError(
                    f"tensordot(): argument '{name}' (position {position}) must be tuple of ints, "
                    f"not {type_name(each)}"
                )
        return list(first), list(second)
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a._array.ndim, b._array.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sum products over pairs of dimensions; those that are left come one after the other.

    Args:
        a: The first tensor.
        b: The second one.
        dims: How many of the last dimensions of `a` meet the first ones of `b`; or two lists of
            dimensions, of `a` and of `b`.
        out: Where to write the result.

    Raises:
        RuntimeError: If sizes do not fit, or dtypes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5)).shape
        torch.Size([2, 5])
    """
    if out is not None:
        return out.copy_(tensordot(a, b, dims))  # type: ignore[no-any-return]
    first, second = _axes(a, b, dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    x, y = a._array, b._array
    if factors.differ(x, y):
        raise RuntimeError("both inputs should have same dtype")
    for own, other in zip(first, second, strict=True):
        s, o = x.shape[dimension(own, x.ndim)], y.shape[dimension(other, y.ndim)]
        if o == 1 != s:
            a = reduction.sum_dim(addable(a), (dimension(own, x.ndim),), True)
        elif s == 1 != o:
            b = reduction.sum_dim(addable(b), (dimension(other, y.ndim),), True)
        elif s != o:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {s} in dim {own} and "
                f"second has size {o} in dim {other}"
            )
    dimensions(tuple(first), x.ndim) if first else None
    dimensions(tuple(second), y.ndim) if second else None
    return _multiplied(
        a, b, [dimension(d, x.ndim) for d in first], [dimension(d, y.ndim) for d in second]
    )


def _multiplied(a: Tensor, b: Tensor, first: list[int], second: list[int]) -> Tensor:
    x, y = a._array.shape, b._array.shape
    rows = [d for d in range(len(x)) if d not in first]
    columns = [d for d in range(len(y)) if d not in second]
    a, b = shape.permute(a, (*rows, *first)), shape.permute(b, (*second, *columns))
    if not rows and not columns:
        if a.is_contiguous() and b.is_contiguous():
            product = products.dot(shaping.flatten(a), shaping.flatten(b))
        else:
            product = reduction.sum_all(
                addable(elementwise.mul(shape.squeeze_all(a), shape.squeeze_all(b)))
            )
        return shape.view(product, ())  # type: ignore[no-any-return]
    inner_size = math.prod(x[d] for d in first)
    height, width = math.prod(x[d] for d in rows), math.prod(y[d] for d in columns)
    a = linear_algebra.reshape(a, (height, inner_size))
    b = linear_algebra.reshape(b, (inner_size, width))
    sizes = (*(x[d] for d in rows), *(y[d] for d in columns))
    return linear_algebra.reshape(products.mm(a, b), sizes)


@with_out(conversion="none")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum products over the last dimension of both; a number multiplies.

    Raises:
        RuntimeError: If the last sizes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.inner(torch.ones(2, 3), torch.ones(3))
        tensor([3., 3.])
    """
    x, y = input._array.shape, other._array.shape
    if not x or not y:
        return elementwise.mul(input, other)  # type: ignore[no-any-return]
    if x[-1] != y[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(x)} and {list(y)}"
        )
    return tensordot(input, other, ([-1], [-1]))


methods: dict[str, Any] = {"inner": inner}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def _numpy_dot(a: Any, b: Any) -> Tensor:
    a, b = _tensor(a), _tensor(b)
    if not a._array.ndim or not b._array.ndim:
        return a * b
    return tensordot(a, b, ([-1], [-2 if b._array.ndim > 1 else -1]))


functions: dict[Any, Any] = {
    np.dot: _numpy_dot,
    np.inner: lambda a, b: inner(_tensor(a), _tensor(b)),
    np.tensordot: lambda a, b, axes=2: tensordot(_tensor(a), _tensor(b), axes),
}
