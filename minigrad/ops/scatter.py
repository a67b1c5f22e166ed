"""Write values to listed places, or reduce them into these: their sum, product, mean or extreme.

Each value and each entry it meets gets its share: all of the gradient in a sum, the product of the
others in a product, an equal part in a mean, and in an extreme what is equal to it.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.autograd.index_versions import watched
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import face
from minigrad.faces.arguments import dimension, entry
from minigrad.ops import parts, shape
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.index_operations import (
    _key,
    checked_slices,
    index_add_dim,
    index_fill_number,
    index_select,
)
from minigrad.ops.own_nodes import without_derivative
from minigrad.ops.parts import _along, gather, scatter_number
from minigrad.ops.parts import scatter as scatter_values
from minigrad.ops.parts import scatter_add as add_at
from minigrad.ops.type_promotion import applied

_UFUNCS: dict[str, Any] = {"sum": np.add, "mean": np.add, "prod": np.multiply}
_UFUNCS |= {"amax": np.maximum, "amin": np.minimum}


def _neutral(reduce: str, dtype: Any) -> Any:
    """Give the number that changes nothing."""
    if reduce not in ("amax", "amin"):
        return reduce == "prod"
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if reduce == "amax" else limits.max
    return -np.inf if reduce == "amax" else np.inf


def _reduced(whole: Any, key: Any, values: Any, reduce: str, include_self: bool) -> Any:
    """Reduce values into places."""
    result = whole.copy()
    if not values.size:
        return result
    if not include_self:
        result[key] = _neutral(reduce, whole.dtype)
    _UFUNCS[reduce].at(result, key, values)
    if reduce == "mean":
        counts = np.full(whole.shape, int(include_self))
        np.add.at(counts, key, 1)
        counts = np.maximum(counts, 1)
        if whole.dtype.kind in "iu":
            return result // counts.astype(whole.dtype)
        return result / counts.astype(whole.dtype if whole.dtype.kind == "f" else int)
    return result


# How entries are taken, added and set at the places: `scatter_reduce` lists a place for each value,
# `index_reduce` one for each slice of values.
_AT_PLACES = (
    lambda x, dim, positions: applied(gather, x, dim, positions),
    lambda x, dim, positions, values: applied(add_at, x, dim, positions, values),
    lambda x, dim, positions: applied(scatter_number, x, dim, positions, 0),
)
_IN_SLICES = (
    lambda x, dim, positions: applied(index_select, x, dim, positions),
    lambda x, dim, positions, values: applied(index_add_dim, x, values, dim, positions, 1),
    lambda x, dim, positions: applied(index_fill_number, x, dim, positions, 0),
)


def _where_zero(x: Any, mask: Any) -> Any:
    """Put 1 in the place of zeros, so that one can divide."""
    return applied(masked_fill_number, x, mask, 1)


def _self_share(
    kinds: Any, again: Any, grad: Any, self: Any, src: Any, result: Any, dim: int,
    positions: Any, reduce: str, include_self: bool,
) -> Any:  # fmt: skip
    clear = kinds[2]
    if reduce == "sum":
        share = grad
    elif reduce == "prod":
        nonzero = _where_zero(self, self == 0)
        others = applied(again, nonzero, src, dim, positions, reduce, include_self)
        share = grad * others / nonzero
    elif reduce == "mean":
        share = grad / _counts(kinds, grad, src, dim, positions, include_self)
    else:
        equal, _, share = _equal_shares(kinds, grad, self, src, result, dim, positions)
        share = equal * share
    return share if include_self else clear(share, dim, positions)


def _source_share(
    kinds: Any, again: Any, grad: Any, self: Any, src: Any, result: Any, dim: int,
    positions: Any, reduce: str, include_self: bool,
) -> Any:  # fmt: skip
    take, add, _ = kinds
    if reduce == "sum":
        return take(grad, dim, positions)
    if reduce == "prod":
        zero = src == 0
        zeros = add(np.zeros_like(self), dim, positions, zero * np.ones_like(src))
        alone = zero & (take(zeros, dim, positions) == 1)  # the only zero of its product
        others = applied(again, self, _where_zero(src, alone), dim, positions, reduce, include_self)
        return np.where(
            alone,
            take(grad * others, dim, positions),
            take(grad * result, dim, positions) / _where_zero(src, zero),
        )
    if reduce == "mean":
        counts = _counts(kinds, grad, src, dim, positions, include_self)
        return take(grad, dim, positions) / take(counts, dim, positions)
    _, equal, share = _equal_shares(kinds, grad, self, src, result, dim, positions)
    return equal * take(share, dim, positions)


def _counts(kinds: Any, grad: Any, src: Any, dim: int, positions: Any, include_self: bool) -> Any:
    """Count what went into each mean."""
    counts = np.ones_like(grad) if include_self else np.zeros_like(grad)
    counts = kinds[1](counts, dim, positions, np.ones_like(src))
    return _where_zero(counts, counts == 0)


def _equal_shares(
    kinds: Any, grad: Any, self: Any, src: Any, result: Any, dim: int, positions: Any
) -> tuple[Any, Any, Any]:
    """Tell where entries and values are the extreme, and share the gradient among those."""
    take, add, _ = kinds
    own = (self == result) * np.ones_like(self)
    given = (src == take(result, dim, positions)) * np.ones_like(src)
    return own, given, grad / add(own, dim, positions, given)


@differentiable(
    "ScatterReduceBackward0",
    self=lambda grad, self, src, result, dim, positions, reduce, include_self: _self_share(
        _AT_PLACES, scatter_reduce, grad, self, src, result, dim, positions, reduce, include_self
    ),
    src=lambda grad, self, src, result, dim, positions, reduce, include_self: _source_share(
        _AT_PLACES, scatter_reduce, grad, self, src, result, dim, positions, reduce, include_self
    ),
)
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
    self=lambda grad, self, source, result, dim, positions, reduce, include_self: _self_share(
        _IN_SLICES, index_reduce, grad, self, source, result, dim, positions, reduce, include_self
    ),
    source=lambda grad, self, source, result, dim, positions, reduce, include_self: _source_share(
        _IN_SLICES, index_reduce, grad, self, source, result, dim, positions, reduce, include_self
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


@face(
    "scatter(Tensor input, int dim, Tensor index, src=None, *, value=None, reduce=None, out=None)",
    in_place=True,
)
def scattered(
    input: Tensor, dim: int, index: Tensor, src: Any, value: Any, reduce: str | None
) -> Tensor:
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
    given = value if src is None else src
    tensor = given if isinstance(given, Tensor) else None
    number, places, tensor = _checked(input, dim, index, tensor)
    if reduce is not None and reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not places.size and (
        places.ndim != input.ndim or (tensor is None and isinstance(given, Tensor))
    ):
        return shape.clone(input)
    if reduce is not None:
        return _combined(input, number, places, tensor, given, reduce)
    if not input.ndim and places.ndim:  # the last one stays
        places = places[-1]
        tensor = None if tensor is None else parts.select(tensor, 0, len(index) - 1)
    if tensor is not None:
        return watched(scatter_values(input, number, places, tensor), index)
    dtype = input._array.dtype
    return watched(scatter_number(input, number, places, entry(given, dtype)), index)


_warned: list[str] = []  # PyTorch warns once of each


def _combined(
    input: Tensor, dim: int, places: Any, src: Tensor | None, value: Any, reduce: str
) -> Tensor:
    """Add or multiply at listed places, which PyTorch does not differentiate."""
    if src is not None and "scatter" not in _warned:
        _warned.append("scatter")
        warnings.warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options.",
            UserWarning,
            stacklevel=3,
        )
    values = np.full(places.shape, value, input._array.dtype) if src is None else src._array
    kind = "sum" if reduce == "add" else "prod"
    result = scatter_reduce.forward(input._array, values, dim, places, kind, True)
    return without_derivative("scatter", wrap(result), input, src)


@face("scatter_add(Tensor input, int dim, Tensor index, Tensor src, *, out=None)", in_place=True)
def scatter_added(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
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
    number, places, values = _checked(input, dim, index, src)
    if values is None:
        return shape.clone(input)
    result = add_at(input, number, places, values)
    return watched(result, index) if src.requires_grad else result


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
    number, places, values = _checked(input, dim, index, src)
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
    if "index_reduce" not in _warned:
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


@face("gather(Tensor input, dim, Tensor index, *, sparse_grad=False, out=None)", out="none")
def gathered(input: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
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
    number, places = dimension(dim, input.ndim), index._array
    if not places.size:  # whatever it is, PyTorch does not look
        return watched(gather(input, number, places), index)
    if places.dtype.kind != "i" or places.itemsize < 4:
        raise RuntimeError(
            f"gather(): Expected dtype int32/int64 for index, but got {index.dtype}. Convert it "
            "with long()."
        )
    if (places.ndim or 1) != (input.ndim or 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor: got "
            f"{places.ndim} and {input.ndim}"
        )
    for d, (given, size) in enumerate(zip(places.shape, input.shape, strict=False)):
        if d != number and given > size:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(places.shape)} to be "
                f"no larger than self {list(input.shape)} apart from dimension {number}"
            )
    size = input._array.shape[number] if input.ndim else 1
    if np.minimum.reduce(places, axis=None) < 0 or np.maximum.reduce(places, axis=None) >= size:
        outside = places[(places < 0) | (places >= size)]
        raise RuntimeError(
            f"index {outside[0]} is out of bounds for dimension {number} with size {size}"
        )
    return watched(gather(input, number, places), index)
