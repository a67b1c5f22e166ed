"""Split weights into length and direction, and put them together again."""

from __future__ import annotations

from typing import Any

from minigrad.ops import weight_norm
from minigrad.ops.calling.norms import norm
from minigrad.tensor import Tensor


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """Give the norms of a tensor over all dimensions but one; of everything if it is -1."""
    if dim == -1:
        return norm(v, pow)  # type: ignore[no-any-return]
    if dim == 0:
        sizes = (v.shape[0], *[1] * (v.ndim - 1))
        return norm(v.contiguous().view(v.shape[0], -1), pow, 1).view(sizes)  # type: ignore[no-any-return]
    if dim == v.ndim - 1:
        sizes = (*[1] * (v.ndim - 1), v.shape[dim])
        return norm(v.contiguous().view(-1, v.shape[dim]), pow, 0).view(sizes)  # type: ignore[no-any-return]
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def normed_weight(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """Give weights with directions and lengths."""
    if dim in (0, v.ndim - 1):
        axes = tuple(axis for axis in range(v.ndim) if axis != dim)
        return weight_norm.weight_norm(v, g, axes)  # type: ignore[no-any-return]
    scale: Any = g / norm_except_dim(v, 2, dim)
    return v * scale  # type: ignore[no-any-return]
