"""Take entries at listed places along a dimension, and write or add values there.

A place has an entry of its own in gather, scatter and scatter_add, and a slice in index_select and
index_add. Taking and adding are each other's rules: what was taken twice collects both gradients,
and a value that was written or added gets the gradient of its place.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched, without_derivative
from minigrad.autograd.rules import dispatch, ignore_errstate, zeros_for
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import entry, real_number
from minigrad.ops import parts, shape
from minigrad.ops.parts import add_rows
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import variants
from minigrad.signatures.arguments import no_combination, number, plain
from minigrad.signatures.signature import Dim, Number

_MANY = 4096  # so many entries are found sooner by their numbers in a row


def _along(dim: int, positions: Any) -> tuple[Any, ...]:
    """Give the indices of the entries whose places along one dimension are listed."""
    sizes = positions.shape
    return tuple(
        positions
        if d == dim
        else np.arange(size).reshape((1,) * d + (size,) + (1,) * (len(sizes) - d - 1))
        for d, size in enumerate(sizes)
    )


def _flat(shape: tuple[int, ...], dim: int, positions: Any) -> Any:
    """Give the same places in an array of a shape as numbers of its entries in a row."""
    offsets: Any = 0
    step = along = 1
    for d in reversed(range(len(shape))):
        if d == dim:
            along = step
        else:
            size = positions.shape[d]
            row = np.arange(0, size * step, step) if step else np.zeros(size, np.int64)
            offsets = offsets + row.reshape((size,) + (1,) * (len(shape) - d - 1))
        step *= shape[d]
    return (positions if along == 1 else positions * along) + offsets


@operation(
    "GatherBackward0",
    self=lambda grad, self, dim, positions: dispatch(
        scatter_add, zeros_for(grad, self.shape), dim, positions, grad
    ),
)
def gather(self: Array, dim: Any, positions: Any) -> Array:
    """Entries at listed places along a dimension: the rule adds each gradient where it was."""
    if not positions.size:
        return zeros_for(self, positions.shape)
    if self.ndim != positions.ndim:  # without dimensions is like one of one entry
        return self[positions] if self.ndim else np.full_like(self, self[()], shape=positions.shape)
    if positions.size < _MANY:
        return self[_along(dim, positions)]
    return self.reshape(-1)[_flat(self.shape, dim, positions)]


@operation(
    "ScatterAddBackward0",
    self=lambda grad: grad,
    src=lambda grad, dim, positions: dispatch(gather, grad, dim, positions),
)
@ignore_errstate
def scatter_add(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values added at listed places along a dimension: they get the gradient of their places."""
    result = np.array(self, order="C", subok=True)  # also if it is one number
    if not positions.size:
        return result
    if self.ndim == positions.ndim:
        np.add.at(result.reshape(-1), _flat(self.shape, dim, positions).ravel(), src.ravel())
    elif self.ndim:
        result[positions] += src
    else:
        result += np.add.reduce(src, axis=None)
    return result


@operation(
    "ScatterBackward0",
    self=lambda grad, dim, positions: dispatch(scatter_number, grad, dim, positions, 0),
    src=lambda grad, dim, positions: dispatch(gather, grad, dim, positions),
)
def scatter(self: Array, dim: Any, positions: Any, src: Array) -> Array:
    """Values written to listed places along a dimension: they get the gradient of their places."""
    result = np.array(self, order="C", subok=True)  # also if it is one number
    if src.shape == positions.shape and positions.size >= _MANY:
        result.reshape(-1)[_flat(self.shape, dim, positions)] = src
    else:
        result[_along(dim, positions)] = src
    return result


@operation(
    "ScatterBackward1",
    self=lambda grad, dim, positions: dispatch(scatter_number, grad, dim, positions, 0),
)
def scatter_number(self: Array, dim: Any, positions: Any, value: Any) -> Array:
    """A number written to listed places along a dimension: no gradient passes there."""
    result = np.array(self, subok=True)  # also if it is one number
    result[_along(dim, positions)] = value
    return result


@operation(
    "IndexSelectBackward0",
    self=lambda grad, self_sym_sizes, dim, positions: dispatch(
        index_add_dim, zeros_for(grad, self_sym_sizes), grad, dim, positions, 1
    ),
)
def index_select(self: Array, dim: int, positions: Any) -> Array:
    """Slices at listed places along a dimension: the rule adds each gradient where it was."""
    # NumPy takes by numbers as wide as an address, which in a browser has 32 bits
    return np.take(self, np.asarray(positions, np.intp), axis=dim) if self.ndim else self.copy()


def _selected(grad: Any, source_sym_sizes: Any, dim: int, positions: Any, alpha: Any) -> Any:
    """Give what was added at listed places the gradient of these."""
    part = np.broadcast_to(dispatch(index_select, grad, dim, positions), source_sym_sizes)
    return part if alpha == 1 else part * alpha


@operation("IndexAddBackward0", self=lambda grad: grad, source=_selected)
@ignore_errstate
def index_add_dim(self: Array, source: Array, dim: int, positions: Any, alpha: Any) -> Array:
    """Slices, times alpha, added at listed places along a dimension."""
    result = np.array(self, subok=True, like=np.asanyarray(source))  # also if it is one number
    values = source if alpha == 1 else (source * alpha).astype(self.dtype)
    if not self.ndim:
        result[...] += np.add.reduce(values, axis=None)
    elif values.size:
        add_rows(np.moveaxis(result, dim, 0), positions, np.moveaxis(values, dim, 0))
    return result


# ---------------------------------------------------------------------- what one calls


def check_places(name: str, places: Any, size: int, error: type[Exception] = RuntimeError) -> None:
    """Raise if an array does not list places from 0 on, before a size."""
    if places.size and (places.dtype.kind != "i" or places.itemsize < 4):
        raise RuntimeError(f"{name}(): index must be int64, not {places.dtype}: use long()")
    if places.size and (places.min() < 0 or places.max() >= size):
        raise error(f"{name}(): index out of bounds for a dimension of size {size}")


def _fitting(name: str, input: Any, dim: int, places: Any, src: Any = None) -> None:
    """Raise if places, one for each entry, do not fit to a tensor or to what is written there."""
    own, sizes = input.shape or (1,), places.shape or (1,)
    limits = [math.inf if d == dim else size for d, size in enumerate(own)]
    for other in (limits, *([] if src is None else [src.shape or (1,)])):
        if len(sizes) != len(other) or any(a > b for a, b in zip(sizes, other, strict=True)):
            raise RuntimeError(
                f"{name}(): index of size {list(places.shape)} does not fit to input "
                f"{list(input.shape)}{'' if src is None else f' and src {list(src.shape)}'}"
            )
    check_places(name, places, own[dim])


@variants("gather", out="none")
def gathered(input: Tensor, dim: Dim, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Give the entries at listed places along a dimension: `x[index[i, j], j]` for `dim=0`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        sparse_grad: False, as minigrad has no sparse tensors.

    Returns:
        A tensor of the shape of `index`.

    Raises:
        RuntimeError: If the index has another number of dimensions or another type, or names a
            place that is not there.

    Example:
        >>> import minigrad as torch
        >>> scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.gather(scores, 1, torch.tensor([[0], [1]]))
        tensor([[1.],
                [4.]])
    """
    if sparse_grad:
        raise NotImplementedError(
            "gather has no sparse_grad=True here: there are no sparse tensors."
        )
    places = index._array
    if not places.size:  # whatever it is, PyTorch does not look
        return watched(gather(input, dim, places), index)
    _fitting("gather", input._array, dim, places)
    return watched(gather(input, dim, places), index)


def _checked_places(
    name: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None
) -> tuple[Any, Tensor | None]:
    """Check places and values, and give them in the number of dimensions of the input."""
    places, ndim = index._array, input._array.ndim
    if src is not None and src._array.dtype != input._array.dtype:
        raise RuntimeError(f"{name}(): src is {src.dtype}, not {input.dtype}: use .to(dtype)")
    if not places.size:
        places = places if places.ndim == ndim else np.empty((0,) * (ndim or 1), np.intp)
    else:
        _fitting(name, input._array, dim, places, None if src is None else src._array)
        places = places.reshape(1) if ndim and not places.ndim else places
        if src is not None and places.ndim and not src.ndim:
            src = shape.unsqueeze(src, 0)
    return places, None if src is None else _only(places, src)


def _only(places: Any, src: Tensor) -> Tensor:
    if src._array.shape == places.shape:
        return src
    if places.size:
        values = wrap(src._array[tuple(map(slice, places.shape))])
    else:
        values = wrap(np.empty(places.shape, src._array.dtype))
    return without_derivative("more values than places", values, src)  # PyTorch has none


_writing = partial(variants, out="none", in_place=True)


@_writing("scatter")
def scattered(
    input: Tensor, dim: Dim, index: Tensor, src: Any = None, *, value: Any = None
) -> Tensor:
    """Write values to listed places along a dimension: `x[index[i, j], j] = src[i, j]`.

    Args:
        input: The tensor.
        dim: The dimension that the places are along.
        index: Whole numbers, with as many dimensions as the input, and no larger in the others.
        src: The values, at least as many as places; or one number.
        value: One number, by name.

    Raises:
        RuntimeError: If shapes or types do not fit, or there is no such place.

    Example:
        >>> import minigrad as torch
        >>> torch.scatter(torch.zeros(2, 3), 1, torch.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    if src is not None and value is not None:
        raise no_combination("scatter", input, index, src, value)
    given = number(value, "scatter", "value", kind="Scalar") if value is not None else src
    tensor = given if isinstance(given, Tensor) else None
    places, tensor = _checked_places("scatter", input, dim, index, tensor)
    if not input.ndim and places.ndim:  # the last one stays
        if not places.size:
            return shape.clone(input)
        places = places[-1]
        tensor = None if tensor is None else parts.select(tensor, 0, len(index) - 1)
    if tensor is not None:
        return watched(scatter(input, dim, places, tensor), index)
    dtype = input._array.dtype
    return watched(scatter_number(input, dim, places, entry(plain(given), dtype)), index)


@_writing("scatter_add")
def scatter_added(input: Tensor, dim: Dim, index: Tensor, src: Tensor) -> Tensor:
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
    places, values = _checked_places("scatter_add", input, dim, index, src)
    result = scatter_add(input, dim, places, values)
    return watched(result, index) if src.requires_grad else result


@variants("index_select", out="none")
def index_selected(input: Tensor, dim: Dim, index: Tensor) -> Tensor:
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
    places = index._array
    if places.ndim > 1:
        raise IndexError("index_select(): index must be a vector")
    check_places("index_select", places, input._array.shape[dim] if input.ndim else 1, IndexError)
    return watched(index_select(input, dim, places.reshape(-1)), index)


def refuse_misfits(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """Raise if a tensor is no list, one for each index, of what goes into another one."""
    places = index._array
    own, given = input._array.shape, source._array.shape
    if places.ndim > 1:
        raise IndexError(f"{name}(): index must be a vector")
    check_one_type(source._array, input._array)
    wanted = (*own[:dim], places.size, *own[dim + 1 :]) if own else ()
    if given != wanted or (not own and places.size != 1):
        raise RuntimeError(f"{name}(): source must have size {list(wanted)}, not {list(given)}")
    check_places(name, places, own[dim] if own else 1, IndexError if len(own) < 2 else RuntimeError)


@_writing("index_add")
def index_added(
    input: Tensor, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
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
    refuse_misfits("index_add_", input, dim, index, source)
    alpha = real_number(alpha, input._array.dtype)
    if input._array.dtype.kind in "iub":
        alpha = bool(alpha) if input._array.dtype.kind == "b" else int(alpha)
    result = index_add_dim(input, source, dim, index._array.reshape(-1), alpha)
    return watched(result, index) if source.requires_grad else result
