r"""The derivatives of products that are added to something, of cross products and of distances.

As for every product, the gradient of one factor is the gradient of the result times the other.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops.choices import masked_fill_number, sgn
from minigrad.ops.linear_algebra import added, bmm, times
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.shape import _t
from minigrad.ops.tape import Array, differentiable


@differentiable(
    "VdotBackward0",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)
def vdot(self: Array, other: Array) -> Array:
    """Inner product of vectors: each gets the gradient times the other."""
    return np.conj(self) @ other if self.dtype.kind == "c" else self @ other


@differentiable(
    "BaddbmmBackward0",
    broadcasts=("self",),
    self=lambda grad, beta: times(grad, beta),
    batch1=lambda grad, batch2, alpha: times(applied(bmm, grad, np.swapaxes(batch2, 1, 2)), alpha),
    batch2=lambda grad, batch1, alpha: times(applied(bmm, np.swapaxes(batch1, 1, 2), grad), alpha),
)
@quietly
def baddbmm(self: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> Array:
    r"""Batch of products and a bias, :math:`\beta C_i + \alpha A_i B_i`."""
    return added(self, batch1 @ batch2, beta, alpha)


def _repeated(grad: Any, count: int) -> Any:
    return np.broadcast_to(np.expand_dims(grad, 0), (count, *grad.shape))


@differentiable(
    "AddbmmBackward0",
    broadcasts=("self",),
    self=lambda grad, beta: times(grad, beta),
    batch1=lambda grad, batch2, alpha: times(
        applied(bmm, _repeated(grad, len(batch2)), np.swapaxes(batch2, 1, 2)), alpha
    ),
    batch2=lambda grad, batch1, alpha: times(
        applied(bmm, np.swapaxes(batch1, 1, 2), _repeated(grad, len(batch1))), alpha
    ),
)
def addbmm(self: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> Array:
    r"""Sum of a batch's products and a bias, :math:`\beta C + \alpha \sum_i A_i B_i`."""
    return added(self, np.add.reduce(batch1 @ batch2, axis=0), beta, alpha)


@differentiable(
    "AddmvBackward0",
    broadcasts=("self",),
    self=lambda grad, beta: times(grad, beta),
    mat=lambda grad, vec, alpha: times(np.multiply.outer(grad, vec), alpha),
    vec=lambda grad, mat, alpha: times(_t(mat) @ grad, alpha),
)
def addmv(self: Array, mat: Array, vec: Array, beta: Any, alpha: Any) -> Array:
    r"""Matrix times vector and a bias, :math:`\beta b + \alpha A v`."""
    return added(self, mat @ vec, beta, alpha)


@differentiable(
    "AddrBackward0",
    broadcasts=True,
    self=lambda grad, beta: times(grad, beta),
    vec1=lambda grad, vec2, alpha: times(grad @ vec2, alpha),
    vec2=lambda grad, vec1, alpha: times(_t(grad) @ vec1, alpha),
)
def addr(self: Array, vec1: Array, vec2: Array, beta: Any, alpha: Any) -> Array:
    r"""Outer product and a bias, :math:`\beta C + \alpha u v^\top`."""
    return added(self, np.multiply.outer(vec1, vec2), beta, alpha)


@differentiable(
    "LinalgCrossBackward0",
    broadcasts=True,
    self=lambda grad, other, dim: applied(cross, other, grad, dim),
    other=lambda grad, self, dim: applied(cross, grad, self, dim),
)
@quietly
def cross(self: Array, other: Array, dim: int) -> Array:
    r"""Cross product :math:`a \times b`: :math:`b \times g` and :math:`g \times a`."""
    next_one, one_before = [1, 2, 0], [2, 0, 1]
    return np.take(self, next_one, axis=dim) * np.take(other, one_before, axis=dim) - np.take(
        self, one_before, axis=dim
    ) * np.take(other, next_one, axis=dim)


# ---------------------------------------------------------------------- distances


def _pull(grad: Any, x1: Any, x2: Any, result: Any, p: float) -> Any:
    r"""Give :math:`g_{ij}\, \partial d_{ij} / \partial x_{1,i}`; 0 where a distance is 0."""
    difference = np.expand_dims(x1, -2) - np.expand_dims(x2, -3)
    grad, distance = np.expand_dims(grad, -1), np.expand_dims(result, -1)
    if p == 0:
        return difference * grad * 0
    if p == 1:
        return applied(sgn, difference) * grad
    if p == math.inf:
        farthest = np.where(np.abs(difference) == distance, grad, np.zeros_like(grad))
        return applied(sgn, difference) * farthest
    distance = applied(masked_fill_number, distance, distance == 0, 1)
    if p == 2:
        return grad * (difference / distance)
    if p < 2:
        slope = applied(masked_fill_number, np.abs(difference), difference == 0, 1) ** (p - 1)
        return applied(sgn, difference) * slope * (grad / distance ** (p - 1))
    return difference * np.abs(difference) ** (p - 2) * (grad / distance ** (p - 1))


@differentiable(
    "CdistBackward0",
    broadcasts=("x1", "x2"),
    x1=lambda grad, x1, x2, result, p: np.add.reduce(_pull(grad, x1, x2, result, p), axis=-2),
    x2=lambda grad, x1, x2, result, p: -np.add.reduce(_pull(grad, x1, x2, result, p), axis=-3),
)
@quietly
def cdist(x1: Array, x2: Array, p: float) -> Array:
    r"""Distances :math:`(\sum_k |x_{1,ik} - x_{2,jk}|^p)^{1/p}` of all pairs of rows."""
    sizes = np.abs(np.expand_dims(x1, -2) - np.expand_dims(x2, -3))
    if p == 0:
        return np.add.reduce((sizes != 0).astype(x1.dtype), axis=-1)
    if p == 1:
        return np.add.reduce(sizes, axis=-1)
    if p == 2:
        return np.sqrt(np.add.reduce(sizes * sizes, axis=-1))
    if p == math.inf:
        return np.maximum.reduce(sizes, axis=-1)
    return np.add.reduce(sizes**p, axis=-1) ** (1 / p)


def _ratio(grad: Any, result: Any) -> Any:
    return applied(masked_fill_number, grad / result, result == 0, 0)


def _euclidean_left(grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    ratio = _ratio(grad, result)
    return x1 * np.add.reduce(ratio, axis=-1, keepdims=True) - ratio @ x2


def _euclidean_right(grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    ratio = _ratio(grad, result)
    total = np.expand_dims(np.add.reduce(ratio, axis=-2), -1)
    return x2 * total - np.swapaxes(ratio, -1, -2) @ x1


@differentiable("EuclideanDistBackward0", x1=_euclidean_left, x2=_euclidean_right)
@quietly
def euclidean_dist(x1: Array, x2: Array) -> Array:
    r"""Euclidean distances of many rows by one product: :math:`|a|^2 + |b|^2 - 2 a b^\top`."""
    rows = np.add.reduce(x1 * x1, axis=-1, keepdims=True)
    columns = np.swapaxes(np.add.reduce(x2 * x2, axis=-1, keepdims=True), -1, -2)
    squares = rows + columns - (x1 @ np.swapaxes(x2, -1, -2)) * 2
    return np.sqrt(np.maximum(squares, 0) if squares.dtype.kind == "f" else squares)
