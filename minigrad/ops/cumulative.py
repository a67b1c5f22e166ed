"""The derivatives of running sums, products and extremes along a dimension."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied, quietly
from minigrad.ops.overriding import overridable
from minigrad.ops.parts import gather, scatter_add
from minigrad.ops.shape import flip, to_copy
from minigrad.ops.tape import Array, differentiable
from minigrad.tensor import Tensor

# Running sums and products are kept in a wider type than they are written in, as in PyTorch.
_WIDER = {np.dtype("float16"): np.dtype("float32"), np.dtype("float32"): np.dtype("float64")}


def values_of(array: Any) -> Any:
    """Give the array behind a tensor, or an array as it is: to look at values in a rule."""
    return array._array if isinstance(array, Tensor) else array


def in_type_of(array: Any, other: Any) -> Any:
    """Convert an array or tensor to the type of another one, unless it is of this type."""
    dtype = values_of(other).dtype
    return array if values_of(array).dtype == dtype else applied(to_copy, array, dtype)


@overridable
def may_have_zero(array: Any) -> bool:
    """Tell whether an entry may be 0."""
    return bool((array == 0).any())


def may_be_zero(array: Any) -> bool:
    """Tell whether an entry of an array or tensor may be 0, so that it is no divisor."""
    return may_have_zero(values_of(array))  # type: ignore[no-any-return]


def _accumulated(ufunc: Any, array: Any, dim: int, dtype: Any) -> Any:
    dtype = dtype or array.dtype
    if not array.ndim:
        return array.astype(dtype)
    wide = _WIDER.get(dtype, dtype)
    return ufunc.accumulate(array, axis=dim, dtype=wide).astype(dtype, copy=False)


def _is_short(array: Any, dim: int) -> bool:
    """Tell whether there is nothing to accumulate along a dimension."""
    return not array.ndim or array.shape[dim] <= 1 or 0 in array.shape


def _flipped(array: Any, dim: int) -> Any:
    return applied(flip, array, (dim,))


def _from_the_end(array: Any, dim: int) -> Any:
    """Sum from each place to the end of a dimension."""
    return _flipped(applied(cumsum, _flipped(array, dim), dim, None), dim)


def _cumsum_rule(grad: Any, dim: Any) -> Any:
    return grad if _is_short(grad, dim) else _from_the_end(grad, dim)


def _at(array: Any, dim: int, place: int | slice) -> Any:
    return array[(slice(None),) * dim + (place,)]


def product_without(array: Any, dim: int) -> Any:
    r"""Give for each entry the product of the others along a dimension, without dividing.

    It is that of the entries before, :math:`\prod_{j < i} x_j`, times that of those behind.
    """
    size = array.shape[dim]
    one = np.ones_like(_at(array, dim, slice(0, 1)))
    if size == 1:
        return one
    before = np.concatenate([one, _at(array, dim, slice(0, size - 1))], dim)
    behind = np.concatenate([one, _flipped(_at(array, dim, slice(1, size)), dim)], dim)
    product = applied(cumprod, before, dim, None)
    return product * _flipped(applied(cumprod, behind, dim, None), dim)


def _cumprod_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    if _is_short(self, dim):
        return grad
    self = in_type_of(self, grad)
    if not may_be_zero(self):
        return _from_the_end(result * grad, dim) / self
    # Where an entry is 0 nothing can be divided by it. The gradient is the product of the entries
    # before, times what comes behind: s_k = g_k + x_{k+1} s_{k+1}.
    size = self.shape[dim]
    behind = [_at(grad, dim, size - 1)]
    for k in range(size - 2, -1, -1):
        behind.append(_at(grad, dim, k) + _at(self, dim, k + 1) * behind[-1])
    ones = np.ones_like(_at(self, dim, slice(0, 1)))
    before = np.concatenate([ones, _at(self, dim, slice(0, size - 1))], dim)
    return applied(cumprod, before, dim, None) * np.stack(behind[::-1], dim)


@differentiable("CumsumBackward0", broadcasts=True, self=_cumsum_rule)
@quietly
def cumsum(self: Array, dim: Any, dtype: Any) -> Array:
    r"""Running sum :math:`y_i = \sum_{j \le i} x_j`: :math:`\sum_{i \ge j} g_i`."""
    return _accumulated(np.add, self, dim, dtype)


@differentiable("CumprodBackward0", broadcasts=True, self=_cumprod_rule)
@quietly
def cumprod(self: Array, dim: Any, dtype: Any) -> Array:
    r"""Running product :math:`y_i`: :math:`\sum_{i \ge j} g_i y_i / x_j`, also if this is 0."""
    return _accumulated(np.multiply, self, dim, dtype)


def _extreme_rule(grad: Any, self: Any, dim: Any, positions: Any) -> Any:
    # The input is saved though its values are of no use: as in PyTorch it must not be changed.
    if not self.ndim:
        return grad
    zeros = np.zeros_like(grad, shape=self.shape)
    return applied(scatter_add, zeros, dim, positions, grad)


@differentiable("CummaxBackward0", self=_extreme_rule)
def cummax(self: Array, dim: Any, positions: Any) -> Array:
    """Largest entry so far, at known positions: it collects the gradients of all its places."""
    return gather.forward(self, dim, positions)


@differentiable("CumminBackward0", self=_extreme_rule)
def cummin(self: Array, dim: Any, positions: Any) -> Array:
    """Smallest entry so far, at known positions: it collects the gradients of all its places."""
    return gather.forward(self, dim, positions)


def _from_the_end_of_logarithms(array: Any, dim: int) -> Any:
    return _flipped(applied(logcumsumexp, _flipped(array, dim), dim), dim)


def _logcumsumexp_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    if not self.ndim or 0 in self.shape:
        return grad
    # In logarithms, so that nothing overflows; the positive and the negative gradients apart.
    sizes, lowest = np.log(np.abs(grad)), float(np.finfo(values_of(grad).dtype).min)
    positive, negative = (
        np.exp(_from_the_end_of_logarithms(np.where(chosen, sizes, lowest) - result, dim) + self)
        for chosen in (grad > 0, grad < 0)
    )
    return positive - negative


@differentiable("LogcumsumexpBackward0", self=_logcumsumexp_rule)
@quietly
def logcumsumexp(self: Array, dim: Any) -> Array:
    r"""Logarithm of a running sum of exponentials: :math:`\sum_{i \ge j} g_i e^{x_j - y_i}`."""
    if not self.ndim:
        return self.copy()
    wide: Any = _WIDER.get(self.dtype, self.dtype)
    return np.logaddexp.accumulate(self, axis=dim, dtype=wide).astype(self.dtype, copy=False)
