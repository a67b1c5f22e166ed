"""Estimate derivatives of sampled values, and call some less usual operations on parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.type_name import type_name
from minigrad.ops import elementwise, joining, representation
from minigrad.ops.calling import shaping
from minigrad.ops.calling.arguments import check_tensor, dimension, sizes_of
from minigrad.ops.calling.entrywise import as_floats
from minigrad.tensor import Tensor, wrap

__all__ = ["detach", "gradient", "narrow_copy", "unravel_index"]


def gradient(
    input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Estimate the derivatives of a function from its values on a grid, by differences.

    Inside, a difference of the two neighbors is taken; at the edges, of the nearest two values or
    three (`edge_order=2`). The errors go with the square of the spacing; at the edges with
    `edge_order=1`, with the spacing.

    Args:
        input: The values.
        spacing: The distance of neighbors; or for each dimension its own distance, or a vector of
            the coordinates.
        dim: The dimensions to differentiate along; all if it is left out.
        edge_order: 1 or 2.

    Returns:
        For each of these dimensions a tensor of the derivatives.

    Raises:
        RuntimeError: If there are too few values, or arguments do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.gradient(torch.tensor([0.0, 1.0, 4.0, 9.0]))
        (tensor([1., 2., 4., 5.]),)
    """
    check_tensor("gradient", input)
    if dim is None:
        numbers = list(range(input.ndim))
    else:
        given = list(dim) if isinstance(dim, (tuple, list)) else [dim]
        numbers = [dimension(int(d), input.ndim) for d in given]
        for number in numbers:
            if numbers.count(number) > 1:
                raise RuntimeError(f"dim {number} appears multiple times in the list of dims")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if isinstance(spacing, (tuple, list)):
        if len(spacing) != len(numbers):
            whose = "'self.dim()" if dim is None else "'dim"
            reason = (
                f"{whose} = {input.ndim}', since dim argument was not given, but got a list of "
                f"length {len(spacing)}"
                if dim is None
                else f"the length of 'dim', but got a list of length {len(spacing)}"
            )
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
                f"equal to {reason}"
            )
        spaces = list(spacing)
    else:
        spaces = [spacing] * len(numbers)
    if any(input.shape[number] < edge_order + 1 for number in numbers):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )
    input = as_floats(input)
    return tuple(
        _along(input, number, space, edge_order)
        for number, space in zip(numbers, spaces, strict=True)
    )


def _over(difference: Any, step: Any) -> Any:
    """Divide by a number, or by the distance of two coordinates."""
    if isinstance(step, Tensor):
        return difference / step
    return elementwise.div_number(difference, step)


def _along(input: Tensor, dim: int, space: Any, edge_order: int) -> Tensor:
    """Differentiate along one dimension."""
    size = input.shape[dim]

    def at(start: int, length: int) -> Any:
        return input.narrow(dim, start, length)

    if isinstance(space, Tensor) and space.ndim:
        steps = space[1:] - space[:-1]
        wide = [1] * input.ndim
        wide[dim] = -1
        a, b = steps[:-1].reshape(wide), steps[1:].reshape(wide)
        first, last = steps[0], steps[-1]
        inner = (
            at(0, size - 2) * (-b / (a * (a + b)))
            + at(1, size - 2) * ((b - a) / (a * b))
            + at(2, size - 2) * (a / (b * (a + b)))
        )
    else:
        a = b = first = last = space
        low, high = at(0, size - 2), at(2, size - 2)
        inner = _over(_over(high - low, space), 2)
    if edge_order == 1:
        low, high = at(0, 1), at(1, 1)
        left = _over(high - low, first)
        low, high = at(size - 2, 1), at(size - 1, 1)
        right = _over(high - low, last)
    else:
        even = not (isinstance(space, Tensor) and space.ndim)
        h0, h1 = (space, space) if even else (steps[0], steps[1])
        left = (
            at(0, 1) * (-(2 * h0 + h1) / (h0 * (h0 + h1)))
            + at(1, 1) * ((h0 + h1) / (h0 * h1))
            + at(2, 1) * (-h0 / (h1 * (h0 + h1)))
        )
        h0, h1 = (space, space) if even else (steps[-2], steps[-1])
        right = (
            at(size - 3, 1) * (h1 / (h0 * (h0 + h1)))
            + at(size - 2, 1) * (-(h0 + h1) / (h0 * h1))
            + at(size - 1, 1) * ((2 * h1 + h0) / (h1 * (h0 + h1)))
        )
    return joining.cat([left, inner, right], dim)


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Give a copy of a range along a dimension, by its start and length.

    Raises:
        RuntimeError: If it ends outside of the tensor.

    Example:
        >>> import minigrad as torch
        >>> torch.narrow_copy(torch.tensor([1, 2, 3, 4]), 0, 1, 2)
        tensor([2, 3])
    """
    check_tensor("narrow_copy", input)
    input.narrow(dim, start, length)  # checks the range
    number = dimension(dim, input.ndim)
    first = start + input.shape[number] if start < 0 else start
    return representation.narrow_copy(input, number, first, first + length)  # type: ignore[no-any-return]


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Give for places in a tensor that is read as a row the indices along each dimension.

    Args:
        indices: Whole numbers.
        shape: The tensor's shape.

    Example:
        >>> import minigrad as torch
        >>> torch.unravel_index(torch.tensor([3, 5]), (2, 3))
        (tensor([1, 1]), tensor([0, 2]))
    """
    check_tensor("unravel_index", indices, "indices")
    if indices._array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    places, found = indices._array, []
    for position, size in enumerate(sizes):
        step = math.prod(sizes[position + 1 :])
        found.append(wrap(np.floor_divide(places, max(step, 1)) % max(size, 1)))
    return tuple(found)


def detach(input: Tensor) -> Tensor:
    """Give the same values in the same memory, outside of the graph.

    Example:
        >>> import minigrad as torch
        >>> torch.detach(torch.ones(2, requires_grad=True)).requires_grad
        False
    """
    check_tensor("detach", input)
    return input.detach()


def _sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Add up along the dimensions in which a tensor of another size would be broadcast.

    Raises:
        RuntimeError: If a tensor of that size does not broadcast to this one's.
    """
    if not size:
        raise TypeError('sum_to_size() missing 1 required positional arguments: "size"')
    sizes, have = sizes_of(size), tuple(self.shape)
    lead = len(have) - len(sizes)
    fits = lead >= 0 and all(a == b or a == 1 for a, b in zip(sizes, have[lead:], strict=True))
    if not fits:
        raise RuntimeError(f"size {{{list(sizes)}}} is not expandable to size {{{list(have)}}}.")
    dims = [d for d in range(len(have)) if d < lead or (sizes[d - lead] == 1 != have[d])]
    if not dims:
        return self
    total: Tensor = self.sum(dims, keepdim=True)
    return shaping.view(total, sizes) if lead else total


def _map(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Put what a function gives for the entries of two tensors in the place of the first's."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"map_(): argument 'other' (position 1) must be Tensor, not {type_name(other)}"
        )
    if self.requires_grad or other.requires_grad:
        raise RuntimeError(
            "Can't call map_() on Variable that requires grad. Use var.detach().map_() instead."
        )
    if self._array.dtype != other._array.dtype:
        raise TypeError(f"map_: expected {self.type()} for 'other' (got {other.type()})")
    array = self._array
    values = np.broadcast_to(other._array, array.shape)
    for place in np.ndindex(array.shape):
        array[place] = callable(array[place].item(), values[place].item())
    self._bump_version()
    return self


def _dim_order(self: Tensor) -> tuple[int, ...]:
    """Give the dimensions in the order in which they lie in memory, the outermost first."""
    steps = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda d: -steps[d]))


def _share_memory(self: Tensor) -> Tensor:
    """Give the tensor as it is: there are no processes here that it would be shared with."""
    return self


methods: dict[str, Any] = {
    "dim_order": _dim_order,
    "map_": _map,
    "name": property(lambda self: None, doc="None, as for PyTorch's tensors."),
    "narrow_copy": narrow_copy,
    "share_memory_": _share_memory,
    "sum_to_size": _sum_to_size,
}
