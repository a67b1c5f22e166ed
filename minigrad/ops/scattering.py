"""The derivatives of reducing values into listed places: their sum, product, mean or extreme.

Each value and each entry it meets gets its share: all of the gradient in a sum, the product of the
others in a product, an equal part in a mean, and in an extreme what is equal to it.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.choices import masked_fill_number
from minigrad.ops.listing import _key, index_add_dim, index_fill_number, index_select
from minigrad.ops.meeting import applied
from minigrad.ops.parts import _along, gather, scatter_add, scatter_number
from minigrad.ops.tape import Array, differentiable

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
    lambda x, dim, positions, values: applied(scatter_add, x, dim, positions, values),
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
