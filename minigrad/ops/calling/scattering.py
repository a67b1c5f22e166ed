"""Call the operations that write values to listed places: scatter, scatter_add, scatter_reduce."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.autograd.watched import watched
from minigrad.ops import parts, scattering, shape
from minigrad.ops.calling.arguments import check_tensor, dimension, entry
from minigrad.ops.calling.entrywise import without_derivative
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.positional import in_place
from minigrad.tensor import Tensor, wrap

__all__ = ["scatter", "scatter_add", "scatter_reduce"]


def _checked(
    input: Tensor, dim: int, index: Tensor, src: Tensor | None
) -> tuple[int, Any, Tensor | None]:
    """Check places and values, and give them in the number of dimensions of the input."""
    number, places = dimension(dim, input.ndim), index._array
    own = input._array.shape
    if places.size and not (places.dtype.kind == "i" and places.itemsize > 2):
        raise RuntimeError(
            "scatter(): Expected dtype int32/int64 for index. Convert it with long()."
        )
    if src is not None and src._array.dtype != input._array.dtype:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype. Convert one with .to(dtype)."
        )
    if not places.size:
        fits = places.ndim == len(own) and (src is None or src._array.shape == places.shape)
        return number, places if fits else np.empty(0, places.dtype), src if fits else None
    if (places.ndim or 1) != (len(own) or 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as self tensor: got "
            f"{places.ndim} and {len(own)}"
        )
    given = None if src is None else src._array.shape
    if given is not None:
        dimension(dim, len(given))
    if given is not None and (len(given) or 1) != (places.ndim or 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as src tensor: got "
            f"{places.ndim} and {len(given)}"
        )
    sizes = places.shape or (1,)
    wrong = any(
        a > b for d, (a, b) in enumerate(zip(sizes, own or (1,), strict=True)) if d != number
    )
    if given is not None:
        wrong |= any(a > b for a, b in zip(sizes, given or (1,), strict=True))
    if wrong:
        and_src = "" if given is None else f" and to be no larger size than src {list(given)}"
        raise RuntimeError(
            f"Expected index {list(places.shape)} to be no larger than self {list(own)} apart from "
            f"dimension {number}{and_src}"
        )
    size = own[number] if own else 1
    if np.minimum.reduce(places, axis=None) < 0 or np.maximum.reduce(places, axis=None) >= size:
        outside = places[(places < 0) | (places >= size)]
        raise RuntimeError(
            f"index {outside.flat[0]} is out of bounds for dimension {number} with size {size}"
        )
    if own and not places.ndim:
        places = places.reshape(1)
    if src is not None:
        if places.ndim and not src.ndim:
            src = shape.unsqueeze(src, 0)
        for d, (count, there) in enumerate(zip(places.shape, src._array.shape, strict=False)):
            if count != there:
                src = parts.slice_dim(src, d, 0, count, 1)
    return number, places, src


def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
    reduce: str | None = None,
) -> Tensor:  # fmt: skip
    """Write values to listed places along a dimension: `x[index[i, j], j] = src[i, j]`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        src: The values, at least as many as places; or one number.
        value: One number, by name.
        reduce: "add" or "multiply", to compute with what is there. This has no derivative.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.scatter(torch.zeros(2, 3), 1, torch.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    check_tensor("scatter", index, "index", 3)
    given = value if src is None else src
    tensor = given if isinstance(given, Tensor) else None
    number, places, tensor = _checked(input, dim, index, tensor)
    if reduce is not None and reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not places.size and (
        places.ndim != input.ndim or (tensor is None and isinstance(given, Tensor))
    ):
        return shape.clone(input)  # type: ignore[no-any-return]
    if reduce is not None:
        return _combined(input, number, places, tensor, given, reduce)
    if not input.ndim and places.ndim:  # the last one stays
        places = places[-1]
        tensor = None if tensor is None else parts.select(tensor, 0, len(index) - 1)
    if tensor is not None:
        return watched(parts.scatter(input, number, places, tensor), index)  # type: ignore[no-any-return]
    dtype = input._array.dtype
    return watched(parts.scatter_number(input, number, places, entry(given, dtype)), index)  # type: ignore[no-any-return]


_warned: list[bool] = []  # PyTorch warns once


def _combined(
    input: Tensor, dim: int, places: Any, src: Tensor | None, value: Any, reduce: str
) -> Tensor:
    """Add or multiply at listed places, which PyTorch does not differentiate."""
    if src is not None and not _warned:
        _warned.append(True)
        warnings.warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options.",
            UserWarning,
            stacklevel=3,
        )
    values = np.full(places.shape, value, input._array.dtype) if src is None else src._array
    kind = "sum" if reduce == "add" else "prod"
    result = scattering.scatter_reduce.forward(input._array, values, dim, places, kind, True)
    return without_derivative("scatter", wrap(result), input, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add values at listed places along a dimension: `x[index[i, j], j] += src[i, j]`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        src: The values, at least as many as places.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 0, 1]), torch.ones(3))
        tensor([2., 1., 0.])
    """
    check_tensor("scatter_add", index, "index", 3)
    check_tensor("scatter_add", src, "src", 4)
    number, places, values = _checked(input, dim, index, src)
    if values is None:
        return shape.clone(input)  # type: ignore[no-any-return]
    result = parts.scatter_add(input, number, places, values)
    return watched(result, index) if src.requires_grad else result  # type: ignore[no-any-return]


def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Reduce values into listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        src: The values, at least as many as places.
        reduce: "sum", "prod", "mean", "amax" or "amin".
        include_self: Whether what was there before takes part.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> places = torch.tensor([0, 0, 1])
        >>> torch.scatter_reduce(torch.ones(2), 0, places, torch.tensor([2.0, 3.0, 4.0]), "prod")
        tensor([6., 4.])
    """
    check_tensor("scatter_reduce", index, "index", 3)
    check_tensor("scatter_reduce", src, "src", 4)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    number, places, values = _checked(input, dim, index, src)
    if reduce == "mean" and input._array.dtype.kind == "b":
        raise NotImplementedError(
            "\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'"
        )
    if values is None:
        return shape.clone(input)  # type: ignore[no-any-return]
    result = scattering.scatter_reduce(input, values, number, places, reduce, include_self)
    return watched(result, index)  # type: ignore[no-any-return]


methods: dict[str, Any] = {
    "scatter": scatter,
    "scatter_": in_place(scatter),
    "scatter_add": scatter_add,
    "scatter_add_": in_place(scatter_add),
    "scatter_reduce": scatter_reduce,
    "scatter_reduce_": in_place(scatter_reduce),
}
scatter, scatter_add = with_out(scatter), with_out(scatter_add)
scatter_reduce = with_out(scatter_reduce)
