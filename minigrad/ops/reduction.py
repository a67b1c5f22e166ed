"""The derivatives of operations that make fewer entries of many: sums, means, extremes, softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.tape import Array, differentiable


def _spread(grad: Any, sizes: tuple[int, ...], dim: tuple[int, ...], keepdim: Any) -> Any:
    """Repeat a gradient along the dimensions that were reduced."""
    if not keepdim and dim:
        grad = np.expand_dims(grad, dim)
    return np.broadcast_to(grad, sizes)


def _count(sizes: tuple[int, ...], dim: tuple[int, ...]) -> int:
    return int(np.prod([sizes[d] for d in dim], dtype=np.int64))


@differentiable(
    "SumBackward0", self=lambda grad, self_sym_sizes: np.broadcast_to(grad, self_sym_sizes)
)
def sum_all(self: Array) -> Array:
    """Sum of all entries: each entry gets the gradient."""
    return np.add.reduce(self, axis=None)


@differentiable(
    "SumBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: _spread(grad, self_sym_sizes, dim, keepdim),
)
def sum_dim(self: Array, dim: Any, keepdim: Any) -> Array:
    """Sum over dimensions: each entry gets the gradient of the sum it went into."""
    return np.add.reduce(self, axis=dim, keepdims=keepdim)


@differentiable(
    "MeanBackward0",
    self=lambda grad, self_sym_sizes: (
        np.broadcast_to(grad, self_sym_sizes) / int(np.prod(self_sym_sizes))
    ),
)
def mean_all(self: Array) -> Array:
    """Mean of all entries: each entry gets the gradient over their number."""
    return np.true_divide(np.add.reduce(self, axis=None), self.size)


@differentiable(
    "MeanBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: (
        _spread(grad, self_sym_sizes, dim, keepdim) / _count(self_sym_sizes, dim)
    ),
)
def mean_dim(self: Array, dim: Any, keepdim: Any) -> Array:
    """Mean over dimensions: each entry gets the gradient of its mean over their number."""
    return np.true_divide(np.add.reduce(self, axis=dim, keepdims=keepdim), _count(self.shape, dim))


def _share_among_equal(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not keepdim and dim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    chosen = (self == result) * 1
    return grad * chosen / np.add.reduce(chosen, axis=dim, keepdims=True)


def _share_among_all_equal(grad: Any, self: Any, result: Any) -> Any:
    return _share_among_equal(grad, self, result, None, True)


@differentiable("MaxBackward1", self=_share_among_all_equal)
def max_all(self: Array) -> Array:
    """Largest entry: gets the gradient; equal ones share it."""
    return np.maximum.reduce(self, axis=None)


@differentiable("MinBackward1", self=_share_among_all_equal)
def min_all(self: Array) -> Array:
    """Smallest entry: gets the gradient; equal ones share it."""
    return np.minimum.reduce(self, axis=None)


@differentiable("AmaxBackward0", self=_share_among_equal)
def amax(self: Array, dim: Any, keepdim: Any) -> Array:
    """Largest entries along dimensions: get the gradient; equal ones share it."""
    return np.maximum.reduce(self, axis=dim, keepdims=keepdim)


@differentiable("AminBackward0", self=_share_among_equal)
def amin(self: Array, dim: Any, keepdim: Any) -> Array:
    """Smallest entries along dimensions: get the gradient; equal ones share it."""
    return np.minimum.reduce(self, axis=dim, keepdims=keepdim)


def _norm_rule(grad: Any, self: Any, result: Any, ord: Any, dim: Any, keepdim: Any) -> Any:
    if not keepdim and dim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    if ord == 1:
        return grad * np.sign(self)
    if ord == 2:
        return np.where(result == 0, self * 0, self * (grad / result))
    powers = np.sign(self) * np.abs(self) ** (ord - 1)
    return np.where(result == 0, self * 0, powers * (grad / result ** (ord - 1)))


@differentiable("LinalgVectorNormBackward0", self=_norm_rule)
def vector_norm(self: Array, ord: Any, dim: Any, keepdim: Any) -> Array:
    r"""Norm :math:`(\sum |x|^p)^{1/p}`: :math:`g\, \mathrm{sign}(x) (|x| / \|x\|)^{p-1}`."""
    if ord == 1:
        return np.add.reduce(np.abs(self), axis=dim, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(np.add.reduce(self * self, axis=dim, keepdims=keepdim))
    return np.add.reduce(np.abs(self) ** ord, axis=dim, keepdims=keepdim) ** (1 / ord)


# ---------------------------------------------------------------------- softmax and its companions


@differentiable(
    "SoftmaxBackward0",
    self=lambda grad, result, dim: (
        result * (grad - np.add.reduce(grad * result, axis=dim, keepdims=True))
    ),
)
def softmax(self: Array, dim: Any) -> Array:
    r"""Softmax :math:`p_i = e^{x_i} / \sum_j e^{x_j}`: :math:`p_i (g_i - \sum_j g_j p_j)`."""
    powers = np.exp(self - np.maximum.reduce(self, axis=dim, keepdims=True))
    return powers / np.add.reduce(powers, axis=dim, keepdims=True)


@differentiable(
    "LogSoftmaxBackward0",
    self=lambda grad, result, dim: (
        grad - np.exp(result) * np.add.reduce(grad, axis=dim, keepdims=True)
    ),
)
def log_softmax(self: Array, dim: Any) -> Array:
    r"""Logarithm of softmax: :math:`g_i - p_i \sum_j g_j`."""
    shifted = self - np.maximum.reduce(self, axis=dim, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=dim, keepdims=True))


def _logsumexp_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    return grad * np.exp(self - result)


@differentiable("LogsumexpBackward0", self=_logsumexp_rule)
def logsumexp(self: Array, dim: Any, keepdim: Any) -> Array:
    r"""Logarithm of a sum of exponentials: the gradient times the softmax of the input."""
    largest = np.maximum.reduce(self, axis=dim, keepdims=True)
    total = np.log(np.add.reduce(np.exp(self - largest), axis=dim, keepdims=True)) + largest
    return total if keepdim else total.squeeze(dim)
