"""Call the operations on entries at places anywhere in a tensor: index_put, take, put."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.watched import watched
from minigrad.ops import indexing, listing, parts, shape
from minigrad.ops.calling import shaping
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.listing import check_places
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.positional import in_place
from minigrad.ops.calling.rearranging import dimension_of
from minigrad.tensor import Tensor

__all__ = ["index_put", "put", "take", "take_along_dim"]

_name = dtypes.scalar_name


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write values at index tensors: `x[indices] = values` on a copy.

    Args:
        input: The tensor.
        indices: For each dimension from the first on a tensor of places, or a mask.
        values: What is written; broadcasts to the places.
        accumulate: Add to what is there. A place that is named twice then collects both.

    Raises:
        IndexError: If there is no such place, or there are more indices than dimensions.
        RuntimeError: If the values do not fit in shape or type.

    Example:
        >>> import minigrad as torch
        >>> place = (torch.tensor([1, 1]),)
        >>> torch.index_put(torch.zeros(3), place, torch.tensor(1.0), accumulate=True)
        tensor([0., 2., 0.])
    """
    if len(indices) > input.ndim:
        raise IndexError(
            f"too many indices for tensor of dimension {input.ndim} (got {len(indices)})"
        )
    arrays = indexing.checked_indices(input, indices)
    if values._array.dtype != input._array.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{_name(input._array)} for the destination and {_name(values._array)} for the "
            "source. Convert the source with .to(dtype)."
        )
    size = input._array[arrays].shape
    indexing.check_values(values._array.shape, size)
    operation = listing.index_put_add if accumulate else parts.index_put
    return watched(operation(input, values, arrays), *_tensors(indices))  # type: ignore[no-any-return]


def _tensors(indices: Any) -> list[Tensor]:
    return [index for index in indices if isinstance(index, Tensor)]


def take(input: Tensor, index: Tensor) -> Tensor:
    """Give the entries at listed places, counted through the tensor as a row.

    Args:
        input: The tensor.
        index: Whole numbers, of any shape; negative ones count from the end.

    Raises:
        IndexError: If there is no such place.
        RuntimeError: If the index is not of type int64.

    Example:
        >>> import minigrad as torch
        >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, -1]))
        tensor([1, 4])
    """
    check_tensor("take", index, "index", 2)
    _check_long("take", index)
    if not input._array.size and index._array.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _in_row(input, index)
    return watched(listing.take(input, index._array), index)  # type: ignore[no-any-return]


def _check_long(name: str, index: Tensor) -> None:
    if index._array.dtype.name != "int64":
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {_name(index._array)}"
        )


def _in_row(input: Tensor, index: Tensor) -> None:
    places, count = index._array, input._array.size
    outside = places[(places < -count) | (places >= count)]
    if outside.size:
        raise IndexError(
            f"out of range: tried to access index {outside.flat[0]} on a tensor of {count} "
            "elements."
        )


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write values to listed places, counted through the tensor as a row.

    Args:
        input: The tensor.
        index: The places; negative ones count from the end.
        source: As many values.
        accumulate: Add to what is there.

    Raises:
        IndexError: If there is no such place, or there are not as many values.
        RuntimeError: If types do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.put(torch.zeros(2, 2), torch.tensor([1, 2]), torch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [6., 0.]])
    """
    check_tensor("put", index, "index", 2)
    check_tensor("put", source, "source", 3)
    _check_long("put_", index)
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_name(input._array)} and source.dtype = {_name(source._array)}"
        )
    if source._array.size != index._array.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source._array.size}, index.numel() = {index._array.size}"
        )
    if not input._array.size and index._array.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    _in_row(input, index)
    operation = listing.put_add if accumulate else listing.put
    return watched(operation(input, source, index._array), index)  # type: ignore[no-any-return]


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Give the entries at listed places along a dimension, such as `argsort` gives them.

    Args:
        input: The tensor.
        indices: The places; broadcasts with the input in the other dimensions.
        dim: The dimension; by default the tensor counts as a row.

    Raises:
        RuntimeError: If the indices are not of type int64 or have another number of dimensions.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[3, 1], [2, 4]])
        >>> torch.take_along_dim(x, torch.tensor([[1], [0]]), 1)
        tensor([[1],
                [2]])
    """
    check_tensor("take_along_dim", indices, "indices", 2)
    places = indices._array
    if places.dtype.name != "int64":
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {_name(places)}"
        )
    if dim is None:
        row = shaping.reshape(input, (-1,))
        return parts.gather(row, 0, _wrapped(places.reshape(-1), row.numel(), 0))  # type: ignore[no-any-return]
    number = dimension_of(dim, input.ndim) if input.ndim == places.ndim else 0
    if input.ndim != places.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {input.ndim} dimensions for input, and {places.ndim} dimensions for indices"
        )
    have = input._array.shape
    other = tuple(
        np.broadcast_shapes((a,), (b,))[0] if d != number else 1
        for d, (a, b) in enumerate(zip(have, places.shape, strict=True))
    )
    wide = (*other[:number], have[number], *other[number + 1 :])
    onto = (*other[:number], places.shape[number], *other[number + 1 :])
    positions = _wrapped(np.broadcast_to(places, onto), have[number], number)
    return parts.gather(shape.expand(input, wide), number, positions)  # type: ignore[no-any-return]


def _wrapped(places: Any, size: int, dim: int) -> Any:
    """Let negative places count from the end."""
    if places.size and not size:
        raise RuntimeError(
            f"index {places.flat[0]} is out of bounds for dimension {dim} with size {size}"
        )
    places = np.where(places < 0, places + size, places)
    check_places(places, size, dim, RuntimeError)
    return places


methods: dict[str, Any] = {
    "index_put": index_put,
    "index_put_": in_place(index_put),
    "put": put,
    "put_": in_place(put),
    "take": take,
    "take_along_dim": take_along_dim,
}
take, take_along_dim = with_out(take), with_out(take_along_dim)
