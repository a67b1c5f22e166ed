"""The derivatives of products, variances, medians, distances and sums that leave out NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops.choices import masked_fill, masked_fill_number
from minigrad.ops.cumulative import in_type_of, may_be_zero, product_without, values_of
from minigrad.ops.elementwise import reciprocal
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.reduction import (
    count,
    mean_all,
    mean_dim,
    norm_rule,
    spread,
    vector_norm,
    vector_norm_as,
)
from minigrad.ops.tape import Array, differentiable

# ---------------------------------------------------------------------- products


def _prod_all_rule(grad: Any, self: Any, result: Any) -> Any:
    if not self.ndim:
        return grad
    self = in_type_of(self, grad)
    if not may_be_zero(self):
        return grad * (result / self)
    return (grad * product_without(self.reshape(-1), 0)).reshape(self.shape)


def _prod_dim_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not self.ndim:
        return grad
    self = in_type_of(self, grad)
    if not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    if not may_be_zero(self):
        return grad * (result / self)
    return grad * product_without(self, dim)


def _product(array: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    dtype = dtype or array.dtype
    wide = np.dtype("float32") if dtype == np.float16 else dtype
    product = np.multiply.reduce(array, axis=dim, keepdims=keepdim, dtype=wide)
    return product if wide is dtype else product.astype(dtype)


@differentiable("ProdBackward0", broadcasts=True, self=_prod_all_rule)
@quietly
def prod_all(self: Array, dtype: Any) -> Array:
    r"""Product of all entries: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return _product(self, None, False, dtype)


@differentiable("ProdBackward1", broadcasts=True, self=_prod_dim_rule)
@quietly
def prod_dim(self: Array, dim: Any, keepdim: Any, dtype: Any) -> Array:
    r"""Product along a dimension: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return _product(self, dim if self.ndim else None, keepdim, dtype)


# ---------------------------------------------------------------------- variances


def variance_rule(grad: Any, self: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    r"""Rule of the variance, :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    if dim is None or not self.ndim:
        freedom = math.prod(self.shape) - correction
        centered = self - applied(mean_all, self)
        if freedom <= 0:
            nothing = np.zeros_like(centered)  # 0 / 0 is NaN, and anything else infinite
            return grad * np.where(centered == 0, nothing + math.nan, nothing + math.inf)
        return (2.0 / freedom) * grad * centered
    if not keepdim and self.ndim > 1:
        grad = np.expand_dims(grad, dim)
    freedom = count(self.shape, dim) - correction
    scale = 2.0 / freedom if freedom else math.inf
    return scale * grad * (self - applied(mean_dim, self, dim, True))


def deviation_rule(
    grad: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    r"""Rule of the standard deviation, :math:`g\, (x_i - \bar x) / ((n - c)\, s)`, 0 if s is 0."""
    share = applied(masked_fill_number, grad / (result * 2), result == 0, 0)
    return variance_rule(share, self, dim, correction, keepdim)


@differentiable("VarBackward0", self=variance_rule)
@quietly
def var(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Variance :math:`\sum (x - \bar x)^2 / (n - c)`: :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    return variance_and_mean(self, dim, correction, keepdim)[0].astype(self.real.dtype)


@differentiable("StdBackward0", self=deviation_rule)
@quietly
def std(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Standard deviation :math:`s`: :math:`g\, (x_i - \bar x) / ((n - c)\, s)`."""
    return np.sqrt(variance_and_mean(self, dim, correction, keepdim)[0]).astype(self.real.dtype)


def variance_and_mean(array: Any, dim: Any, correction: Any, keepdim: Any) -> tuple[Any, Any]:
    """Give variances and means along dimensions, or of all entries; as PyTorch in float64."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    size = array.size if dim is None else count(array.shape, dim)
    total = np.add.reduce(array, axis=dim, keepdims=True)
    mean = np.true_divide(total, size or math.nan)
    centered = array - mean
    if centered.dtype.kind == "f" and centered.ndim:
        centered *= centered  # in the same memory
    else:
        centered = (centered * np.conj(centered)).real
    squares = np.add.reduce(centered, axis=dim, keepdims=keepdim)
    # with no freedom 0 / 0 is NaN, and anything else infinite
    variance = np.true_divide(squares, max(size - correction, 0))
    return variance, mean if keepdim else mean.reshape(np.shape(squares))


# ---------------------------------------------------------------------- in the middle


def _share_among_middle(grad: Any, self: Any, result: Any) -> Any:
    chosen = (self == result) + (self != self) * (result != result)  # NaN is not equal to itself
    counted = np.where(chosen, np.ones_like(grad), np.zeros_like(grad))
    share = grad / np.add.reduce(counted, axis=None)
    return applied(masked_fill, np.zeros_like(self), chosen, share)


def _entry(array: Any, position: int) -> Any:
    """Give one entry of all, or NaN if there are none."""
    if array.size:
        return array.reshape(-1)[position, ...].copy()
    smallest = np.iinfo(array.dtype).min if array.dtype.kind in "iu" else math.nan
    return np.asarray(smallest).astype(array.dtype)


@differentiable("MedianBackward0", self=_share_among_middle)
def median_all(self: Array, position: Any) -> Array:
    """Median of all entries, at a known position: equal ones share the gradient."""
    return _entry(self, position)


@differentiable("NanmedianBackward0", self=_share_among_middle)
def nanmedian_all(self: Array, position: Any) -> Array:
    """Median of all entries but NaN, at a known position: equal ones share the gradient."""
    return _entry(self, position)


@differentiable(
    "LerpBackward1",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)
@quietly
def between(self: Array, end: Array, weight: Array) -> Array:
    r"""A point between two, :math:`a + w (b - a)`: the nearer one gets more of the gradient."""
    step = end - self
    return np.where(weight < 0.5, self + weight * step, end - step * (1 - weight))


# ---------------------------------------------------------------------- without NaN


@differentiable(
    "NansumBackward0",
    broadcasts=True,
    self=lambda grad, self, dim, keepdim: (
        spread(in_type_of(grad, self), self.shape, dim, keepdim) * (self == self)
    ),
)
@quietly
def nansum(self: Array, dim: Any, keepdim: Any, dtype: Any) -> Array:
    """Sum that counts NaN as 0: each other entry gets the gradient of the sum it went into."""
    numbers = np.where(self == self, self, 0)
    return np.add.reduce(numbers, axis=dim, keepdims=keepdim, dtype=dtype or self.dtype)


# ---------------------------------------------------------------------- distances


@differentiable(
    "DistBackward0",
    broadcasts=True,
    self=lambda grad, self, other, result, p: norm_rule(grad, self - other, result, p, None, True),
    other=lambda grad, self, other, result, p: _negative(
        norm_rule(grad, self - other, result, p, None, True)
    ),
)
@quietly
def dist(self: Array, other: Array, p: Any) -> Array:
    r"""Norm of a difference: the gradients are that of the norm, and its negative."""
    return vector_norm.forward(self - other, p, None, False)


def _negative(gradient: Any) -> Any:
    return None if gradient is None else -gradient


def _renorm_rule(grad: Any, self: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    dims = tuple(d for d in range(self.ndim) if d != dim)
    wide = np.promote_types(values_of(self).dtype, np.float64)
    norm = applied(vector_norm_as, self, p, dims, True, wide)
    along = np.add.reduce(self * grad, axis=dims, keepdims=True)
    turned = norm_rule(along, self, norm, p, dims, True)
    inverse = applied(reciprocal, norm + 1e-7)
    scaled = maxnorm * inverse * (grad - inverse * turned)
    return np.where(norm > maxnorm, in_type_of(scaled, grad), grad)


@differentiable("RenormBackward0", self=_renorm_rule)
@quietly
def renorm(self: Array, p: Any, dim: Any, maxnorm: Any) -> Array:
    r"""Parts with norms of at most :math:`m`: longer ones are scaled by :math:`m / \|x\|`."""
    dims = tuple(d for d in range(self.ndim) if d != dim)
    wide = self.astype(np.float64) if self.dtype.kind == "f" else self
    norm = vector_norm.forward(wide, p, dims, True)
    return self * np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0).astype(self.dtype)


# ------------------------------------------------- a new dimension, as quantiles add and move it


@differentiable("UnsqueezeBackward1", self=lambda grad, dim: np.squeeze(grad, dim))
def with_dimension(self: Array, dim: Any) -> Array:
    """Add a dimension of size 1 to what nobody else sees: the rule leaves it out again."""
    return np.expand_dims(self, dim)


@differentiable("TransposeBackward1", self=lambda grad, dim0, dim1: np.swapaxes(grad, dim0, dim1))
def turned(self: Array, dim0: int, dim1: int) -> Array:
    """Exchange two dimensions of what nobody else sees: the rule exchanges them again."""
    return self.swapaxes(dim0, dim1)
