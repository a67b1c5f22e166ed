"""Take, add and reduce slices whose places are listed: index_select, index_add, index_reduce, take.

Taking and adding are each other's rules: a slice that was taken twice collects both gradients, and
one that was added gets the gradient of its place. What was reduced gets its share: the product of
the others in a product, an equal part in a mean, and in an extreme what is equal to it. So it is in
`scatter_reduce`, too, where each value has a place of its own.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.autograd.index_versions import watched
from minigrad.autograd.rules import applied, quietly, zeros_for
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.faces import face
from minigrad.faces.arguments import dimension
from minigrad.ops import shape
from minigrad.ops.choices import masked_fill_number, no_limit
from minigrad.ops.parts import add_rows
from minigrad.ops.scatter import (
    _along,
    check_places,
    checked_places,
    gather,
    scatter_add,
    scatter_number,
)

_name = dtypes.scalar_name
_warned: list[str] = []  # PyTorch warns once

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
        index_add_dim, zeros_for(grad, self_sym_sizes), grad, dim, positions, 1
    ),
)
def index_select(self: Array, dim: int, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    return np.take(self, positions, axis=dim) if self.ndim else self.copy()


def _selected(grad: Any, source_sym_sizes: Any, dim: int, positions: Any, alpha: Any) -> Any:
    """Give what was written to listed places the gradient of these."""
    part = np.broadcast_to(applied(index_select, grad, dim, positions), source_sym_sizes)
    return part if alpha == 1 else part * alpha


@differentiable("IndexAddBackward0", self=lambda grad: grad, source=_selected)
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
        put_add, zeros_for(grad, self.shape), grad, positions
    ),
)
def take(self: Array, positions: Any) -> Array:
    """Entries of the tensor as a row, at listed places of any shape."""
    return self.reshape(-1)[positions]


@differentiable(
    "PutBackward0",
    self=lambda grad: grad,
    source=lambda grad, source_sym_sizes, positions: applied(take, grad, positions).reshape(
        source_sym_sizes
    ),
)
@quietly
def put_add(self: Array, source: Array, positions: Any) -> Array:
    """Values added at listed places of the tensor as a row: these get the places' gradient."""
    result = self.copy("C")
    np.add.at(result.reshape(-1), positions, source.reshape(positions.shape))
    return result


# ---------------------------------------------------------------------- reductions

_UFUNCS: dict[str, Any] = {"sum": np.add, "mean": np.add, "prod": np.multiply}
_UFUNCS |= {"amax": np.maximum, "amin": np.minimum}
_WORST = {"amax": -1, "amin": 1}  # the side of all numbers on which nothing is an extreme


def _reduced(whole: Any, key: Any, values: Any, reduce: str, include_self: bool) -> Any:
    """Reduce values into places."""
    result = whole.copy()
    if not values.size:
        return result
    if not include_self:
        side = _WORST.get(reduce)
        result[key] = no_limit(whole.dtype, side) if side else reduce == "prod"
    _UFUNCS[reduce].at(result, key, values)
    if reduce == "mean":
        counts = np.full(whole.shape, int(include_self))
        np.add.at(counts, key, 1)
        counts = np.maximum(counts, 1)
        if whole.dtype.kind in "iu":
            return result // counts.astype(whole.dtype)
        return result / counts.astype(whole.dtype if whole.dtype.kind == "f" else int)
    return result


def _where_zero(x: Any, mask: Any) -> Any:
    """Put 1 in the place of zeros, so that one can divide."""
    return applied(masked_fill_number, x, mask, 1)


def _shares(take: Any, add: Any, clear: Any, again: Any) -> tuple[Any, Any]:
    """Make the rules of reducing values into places: for what was there, and for the values.

    Args:
        take: Takes the entries at the places.
        add: Adds values at the places.
        clear: Sets the places to 0.
        again: The operation.
    """

    def counts(grad: Any, src: Any, dim: int, positions: Any, include_self: bool) -> Any:
        start = np.ones_like(grad) if include_self else np.zeros_like(grad)
        counted = add(start, dim, positions, np.ones_like(src))
        return _where_zero(counted, counted == 0)

    def extremes(
        grad: Any, self: Any, src: Any, result: Any, dim: int, positions: Any
    ) -> tuple[Any, Any, Any]:
        """Tell where entries and values are the extreme, and share the gradient among those."""
        own = (self == result) * np.ones_like(self)
        given = (src == take(result, dim, positions)) * np.ones_like(src)
        return own, given, grad / add(own, dim, positions, given)

    def of_self(
        grad: Any, self: Any, src: Any, result: Any, dim: Any, positions: Any, reduce: Any,
        include_self: Any,
    ) -> Any:  # fmt: skip
        if reduce == "sum":
            share = grad
        elif reduce == "prod":
            nonzero = _where_zero(self, self == 0)
            others = again(nonzero, src, dim, positions, reduce, include_self)
            share = grad * others / nonzero
        elif reduce == "mean":
            share = grad / counts(grad, src, dim, positions, include_self)
        else:
            equal, _, share = extremes(grad, self, src, result, dim, positions)
            share = equal * share
        return share if include_self else clear(share, dim, positions)

    def of_values(
        grad: Any, self: Any, src: Any, result: Any, dim: Any, positions: Any, reduce: Any,
        include_self: Any,
    ) -> Any:  # fmt: skip
        if reduce == "sum":
            return take(grad, dim, positions)
        if reduce == "prod":
            zero = src == 0
            zeros = add(np.zeros_like(self), dim, positions, zero * np.ones_like(src))
            alone = zero & (take(zeros, dim, positions) == 1)  # the only zero of its product
            others = again(self, _where_zero(src, alone), dim, positions, reduce, include_self)
            return np.where(
                alone,
                take(grad * others, dim, positions),
                take(grad * result, dim, positions) / _where_zero(src, zero),
            )
        if reduce == "mean":
            total = counts(grad, src, dim, positions, include_self)
            return take(grad, dim, positions) / take(total, dim, positions)
        _, equal, share = extremes(grad, self, src, result, dim, positions)
        return equal * take(share, dim, positions)

    return of_self, of_values


_of_self, _of_values = _shares(  # a place for each value
    lambda x, dim, positions: applied(gather, x, dim, positions),
    lambda x, dim, positions, values: applied(scatter_add, x, dim, positions, values),
    lambda x, dim, positions: applied(scatter_number, x, dim, positions, 0),
    lambda *given: applied(scatter_reduce, *given),
)
_of_self_by_slice, _of_slices = _shares(  # a place for each slice of values
    lambda x, dim, positions: applied(index_select, x, dim, positions),
    lambda x, dim, positions, values: applied(index_add_dim, x, values, dim, positions, 1),
    lambda x, dim, positions: applied(index_fill_number, x, dim, positions, 0),
    lambda *given: applied(index_reduce, *given),
)


@differentiable("ScatterReduceBackward0", self=_of_self, src=_of_values)
def scatter_reduce(
    self: Array, src: Array, dim: int, positions: Any, reduce: str, include_self: bool
) -> Array:
    """Values reduced into listed places along a dimension, a place for each value."""
    key = _along(dim, positions) if self.ndim else ...
    if not self.ndim:
        src = src.reshape(-1)
        whole = _reduced(self.reshape(1), np.zeros(src.size, np.int64), src, reduce, include_self)
        return whole.reshape(())
    values = src[tuple(map(slice, positions.shape))]
    return _reduced(self, key, values, reduce, include_self)


@differentiable(
    "IndexReduceBackward0",
    self=lambda grad, self, source, result, dim, positions, reduce, include_self: _of_self_by_slice(
        grad, self, source, result, dim, positions, reduce, include_self
    ),
    source=lambda grad, self, source, result, dim, positions, reduce, include_self: _of_slices(
        grad, self, source, result, dim, positions, reduce, include_self
    ),
)
def index_reduce(
    self: Array, source: Array, dim: int, positions: Any, reduce: str, include_self: bool
) -> Array:
    """Slices reduced into listed places along a dimension."""
    if not self.ndim:
        whole = _reduced(
            self.reshape(1), positions.reshape(-1), source.reshape(-1), reduce, include_self
        )
        return whole.reshape(())
    return _reduced(self, _key(self, dim, positions), source, reduce, include_self)


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
        check_places(places, size, number)
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


@face(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True, out=None)",
    in_place=True,
)
def scatter_reduced(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
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
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    number, places, values = checked_places(input, dim, index, src)
    if reduce == "mean" and input._array.dtype.kind == "b":
        raise NotImplementedError(
            "\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'"
        )
    if values is None:
        return shape.clone(input)
    result = scatter_reduce(input, values, number, places, reduce, include_self)
    return watched(result, index)


@face(
    "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True, out=None)",
    in_place=True,
)
def index_reduced(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool
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
        _warned.append("index_reduce")
        warnings.warn(
            "index_reduce() is in beta and the API may change at any time.",
            UserWarning,
            stacklevel=3,
        )
    number, places = checked_slices("index_reduce", input, dim, index, source)
    if input._array.dtype.kind == "b" and (reduce == "mean" or not include_self):
        kernel = "div_floor_cpu" if include_self else "index_reduce_func_exclude_input_init"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    result = index_reduce(input, source, number, places, reduce, include_self)
    return watched(result, index)
