"""Call the operations on entries whose places are listed: index_select, index_add, index_fill."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.watched import watched
from minigrad.ops import listing, scattering, shape
from minigrad.ops.calling import converting
from minigrad.ops.calling.arguments import check_tensor, dimension, entry
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.positional import in_place
from minigrad.tensor import Tensor

__all__ = [
    "index_add",
    "index_copy",
    "index_fill",
    "index_reduce",
    "index_select",
]

_name = dtypes.scalar_name


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Give a copy of the slices at listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension.
        index: A vector of whole numbers.

    Raises:
        IndexError: If there is no such place, or the index is no vector.
        RuntimeError: If the index holds no whole numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1, 1]))
        tensor([[2, 2],
                [4, 4]])
    """
    check_tensor("index_select", index, "index", 3)
    places, number = index._array, dimension(dim, input.ndim)
    if places.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not input.ndim and places.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {places.size} value(s)"
        )
    if places.dtype.kind != "i" or places.itemsize < 4:
        raise RuntimeError(
            "index_select(): Expected dtype int32 or int64 for index. Convert it with long()."
        )
    size = input._array.shape[number] if input.ndim else 1
    if places.size and (places.min() < 0 or places.max() >= size):
        if not input._array.size and size:
            wrong = places[(places < 0) | (places >= size)].flat[0]
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={size}")
        raise IndexError("index out of range in self")
    positions = places if places.ndim else places.reshape(1)
    return watched(listing.index_select(input, number, positions), index)  # type: ignore[no-any-return]


def check_places(places: Any, size: int, dim: int, error: type[Exception], who: str = "") -> None:
    """Raise if one of the places is not there."""
    if places.size and (places.min() < 0 or places.max() >= size):
        outside = places[(places < 0) | (places >= size)]
        raise error(
            f"{who}index {outside.flat[0]} is out of bounds for dimension {dim} with size {size}"
        )


def _slices(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> tuple[int, Any]:
    """Check that slices of a source can go to listed places, and give the dimension and those."""
    check_tensor(name, index, "index", 3)
    check_tensor(name, source, "source", 4)
    number, places = dimension(dim, input.ndim), index._array
    if places.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {places.ndim} with type: "
            f"{_name(places)} and size: {list(places.shape)}"
        )
    if places.dtype.kind != "i" or places.itemsize < 4:
        raise RuntimeError(
            f"{name}_(): Expected dtype int32/int64 for index but got: {_name(places)}"
        )
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(
            f"{name}_(): self ({_name(input._array)}) and source ({_name(source._array)}) must "
            "have the same scalar type"
        )
    given = source._array.shape
    count = given[number] if number < len(given) else 1
    if places.size != count:
        raise RuntimeError(
            f"{name}_(): Number of indices ({places.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {number}"
        )
    own = input._array.shape
    fits = given[:number] + given[number + 1 :] == own[:number] + own[number + 1 :]
    if own and not (given and fits):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(own)} source.shape = {list(given)}"
        )
    size = own[number] if own else 1
    if len(own) < 2 and places.size and (places.min() < 0 or places.max() >= size):
        raise IndexError("index out of range in self")
    if source._array.size:
        check_places(places, size, number, RuntimeError)
    return number, places.reshape(-1)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Add slices of a source, times `alpha`, at listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension.
        index: For each slice of the source its place.
        source: What is added.
        alpha: A factor.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
        tensor([3., 0., 0.])
    """
    number, places = _slices("index_add", input, dim, index, source)
    if input._array.dtype.kind in "iub":
        alpha = bool(alpha) if input._array.dtype.kind == "b" else int(alpha)
    result = listing.index_add_dim(input, source, number, places, alpha)
    return watched(result, index) if source.requires_grad else result  # type: ignore[no-any-return]


def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Reduce slices of a source into listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension.
        index: For each slice of the source its place.
        source: The slices.
        reduce: "prod", "mean", "amax" or "amin".
        include_self: Whether what was there before takes part.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> x, source = torch.tensor([1.0, 2.0]), torch.tensor([5.0, 3.0])
        >>> with warnings.catch_warnings(action="ignore"):  # it says that it is in beta
        ...     torch.index_reduce(x, 0, torch.tensor([0, 0]), source, "amax")
        tensor([5., 2.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    if not _warned:
        _warned.append(True)
        warnings.warn(
            "index_reduce() is in beta and the API may change at any time.",
            UserWarning,
            stacklevel=3,
        )
    number, places = _slices("index_reduce", input, dim, index, source)
    if input._array.dtype.kind == "b" and (reduce == "mean" or not include_self):
        kernel = "div_floor_cpu" if include_self else "index_reduce_func_exclude_input_init"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    result = scattering.index_reduce(input, source, number, places, reduce, include_self)
    return watched(result, index)  # type: ignore[no-any-return]


_warned: list[bool] = []  # PyTorch warns once


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write slices of a source to listed places along a dimension.

    Raises:
        IndexError: If shapes do not fit, or there is no such place.
        RuntimeError: If types do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0]))
        tensor([2., 0., 1.])
    """
    check_tensor("index_copy", index, "index", 3)
    check_tensor("index_copy", source, "source", 4)
    number, places = dimension(dim, input.ndim), index._array
    own, given = input._array.shape, source._array.shape
    if places.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {places.ndim})")
    if not given and places.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got "
            f"{places.size})"
        )
    if own and given and len(own) != len(given):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({len(given)}), destination dimensionality "
            f"({len(own)})"
        )
    if places.dtype.name != "int64":
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {_name(places)}"
        )
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_name(input._array)} and (source) {_name(source._array)}"
        )
    slice_own, slice_given = (s[:number] + s[number + 1 :] for s in (own, given))
    if slice_own != slice_given:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, slice_own))} at dimension {number} and source slice "
            f"shape: {' '.join(map(str, slice_given))} at dimension 0."
        )
    if given and places.size != given[number]:
        raise IndexError(
            f"index_copy_(): Number of indices ({places.size}) should be equal to "
            f"source.size(dim) ({given[number]})"
        )
    if source._array.size:
        check_places(places, own[number] if own else 1, number, IndexError, "index_copy_(): ")
    if own and not given:
        source = shape.unsqueeze(source, 0)
    return watched(listing.index_copy(input, source, number, places.reshape(-1)), index)  # type: ignore[no-any-return]


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Write one value to listed places along a dimension.

    Args:
        input: The tensor.
        dim: The dimension.
        index: The places.
        value: A number, or a tensor without dimensions.

    Raises:
        IndexError: If there is no such place.
        RuntimeError: If the value has dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.index_fill(torch.zeros(2, 2), 1, torch.tensor([0]), 5)
        tensor([[5., 0.],
                [5., 0.]])
    """
    check_tensor("index_fill", index, "index", 3)
    places = index._array
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if places.dtype.name != "int64":
        raise IndexError("index_fill_(): Expected dtype int64 for index. Convert it with long().")
    number, dtype = dimension(dim, input.ndim), input._array.dtype
    if places.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    kind = value._array.dtype.kind if isinstance(value, Tensor) else np.asarray(value).dtype.kind
    if kind == "c" and dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    size = input._array.shape[number] if input.ndim else 1
    outside = places[(places < -size) | (places >= size)]
    if outside.size and (input._array.size or not size):
        raise IndexError(
            f"index {outside.flat[0]} is out of bounds for dimension {number} with size {size}"
        )
    positions = (places % size if size else places).reshape(-1)
    if isinstance(value, Tensor):
        if value._array.dtype != dtype:
            value = converting.to(value, input.dtype)
        return watched(listing.index_fill(input, value, number, positions), index)  # type: ignore[no-any-return]
    result = listing.index_fill_number(input, number, positions, entry(value, dtype))
    return watched(result, index)  # type: ignore[no-any-return]


_FUNCTIONS: dict[str, Callable[..., Any]] = {name: globals()[name] for name in __all__}
methods: dict[str, Any] = dict(_FUNCTIONS)
for _each in ("index_add", "index_copy", "index_fill", "index_reduce"):
    methods[f"{_each}_"] = in_place(_FUNCTIONS[_each])
for _each in ("index_add", "index_copy", "index_reduce", "index_select"):
    globals()[_each] = with_out(_FUNCTIONS[_each])
