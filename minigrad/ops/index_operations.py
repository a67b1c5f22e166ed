"""Take and add entries whose places are listed: index_select, index_add, index_reduce, take.

Taking and adding are each other's rules: an entry that was taken twice collects both gradients, and
a value that was added gets the gradient of its place.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.index_versions import watched
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.faces import face
from minigrad.faces.arguments import dimension
from minigrad.ops.parts import _zeros, add_rows
from minigrad.ops.type_promotion import applied, quietly

_name = dtypes.scalar_name

# ---------------------------------------------------------------------- along one dimension


def _key(array: Any, dim: int, positions: Any) -> Any:
    """Give the index of the listed places along a dimension."""
    return (slice(None),) * dim + (positions,) if array.ndim else ...


def _add_at(whole: Any, key: Any, positions: Any, values: Any) -> None:
    """Add values at places; NumPy's `+=` does it quickly, but once for a place that is repeated."""
    if not values.size:
        return
    if key is ...:
        whole[...] += np.add.reduce(values, axis=None)
    elif positions.size == np.unique(positions).size:
        whole[key] += values
    elif whole.ndim > 1:
        dim = len(key) - 1
        add_rows(np.moveaxis(whole, dim, 0), positions, np.moveaxis(values, dim, 0))
    else:
        np.add.at(whole, key, values)


@differentiable(
    "IndexSelectBackward0",
    self=lambda grad, self_sym_sizes, dim, positions: applied(
        index_add_dim, _zeros(grad, self_sym_sizes), grad, dim, positions, 1
    ),
)
def index_select(self: Array, dim: int, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    return np.take(self, positions, axis=dim) if self.ndim else self.copy()


def _selected(grad: Any, sizes: Any, dim: int, positions: Any, alpha: Any = 1) -> Any:
    """Give what was written to listed places the gradient of these."""
    part = np.broadcast_to(applied(index_select, grad, dim, positions), sizes)
    return part if alpha == 1 else part * alpha


@differentiable(
    "IndexAddBackward0",
    self=lambda grad: grad,
    source=lambda grad, source_sym_sizes, dim, positions, alpha: _selected(
        grad, source_sym_sizes, dim, positions, alpha
    ),
)
@quietly
def index_add_dim(self: Array, source: Array, dim: int, positions: Any, alpha: Any) -> Array:
    """Entries, times alpha, added at listed places along a dimension."""
    result = np.array(self, subok=True)  # also if it is one number
    values = source if alpha == 1 else (source * alpha).astype(self.dtype)
    _add_at(result, _key(self, dim, positions), positions, values)
    return result


@differentiable(
    "IndexFillBackward0",
    self=lambda grad, dim, positions: applied(index_fill_number, grad, dim, positions, 0),
)
def index_fill_number(self: Array, dim: int, positions: Any, value: Any) -> Array:
    """A number at listed places along a dimension: no gradient passes there."""
    result = np.array(self, subok=True)  # also if it is one number
    if positions.size:
        result[_key(self, dim, positions)] = value
    return result


# ---------------------------------------------------------------------- in the whole tensor


@differentiable(
    "TakeBackward0",
    self=lambda grad, self, positions: applied(  # PyTorch saves the tensor, not its shape
        put_add, _zeros(grad, self.shape), grad, positions
    ),
)
def take(self: Array, positions: Any) -> Array:
    """Entries of the tensor as a row, at listed places of any shape."""
    return self.reshape(-1)[positions]


def _taken(grad: Any, sizes: Any, positions: Any) -> Any:
    return applied(take, grad, positions).reshape(sizes)


@differentiable(
    "PutBackward0",
    self=lambda grad: grad,
    source=lambda grad, source_sym_sizes, positions: _taken(grad, source_sym_sizes, positions),
)
@quietly
def put_add(self: Array, source: Array, positions: Any) -> Array:
    """Values added at listed places of the tensor as a row: these get the places' gradient."""
    result = self.copy("C")
    np.add.at(result.reshape(-1), positions, source.reshape(positions.shape))
    return result


# ---------------------------------------------------------------------- what one calls


@face("index_select(Tensor input, int dim, Tensor index, *, out=None)")
def index_selected(input: Tensor, dim: int, index: Tensor) -> Tensor:
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
    return watched(index_select(input, number, positions), index)


def check_places(places: Any, size: int, dim: int, error: type[Exception], who: str = "") -> None:
    """Raise if one of the places is not there."""
    if places.size and (places.min() < 0 or places.max() >= size):
        outside = places[(places < 0) | (places >= size)]
        raise error(
            f"{who}index {outside.flat[0]} is out of bounds for dimension {dim} with size {size}"
        )


def checked_slices(
    name: str, input: Tensor, dim: int, index: Tensor, source: Tensor
) -> tuple[int, Any]:
    """Check that slices of a source can go to listed places, and give the dimension and those."""
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


@face(
    "index_add(Tensor input, int dim, Tensor index, Tensor source, *, alpha=1, out=None)",
    in_place=True,
)
def index_added(input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Tensor:
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
    number, places = checked_slices("index_add", input, dim, index, source)
    if input._array.dtype.kind in "iub":
        alpha = bool(alpha) if input._array.dtype.kind == "b" else int(alpha)
    result = index_add_dim(input, source, number, places, alpha)
    return watched(result, index) if source.requires_grad else result


@face("take(Tensor input, Tensor index, *, out=None)")
def taken(input: Tensor, index: Tensor) -> Tensor:
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
    if index._array.dtype.name != "int64":
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {_name(index._array)}"
        )
    if not input._array.size and index._array.size:
        raise IndexError("take(): tried to take from an empty tensor")
    places, count = index._array, input._array.size
    outside = places[(places < -count) | (places >= count)]
    if outside.size:
        raise IndexError(
            f"out of range: tried to access index {outside.flat[0]} on a tensor of {count} "
            "elements."
        )
    return watched(take(input, index._array), index)
