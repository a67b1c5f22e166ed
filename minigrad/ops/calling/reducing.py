"""Call the operations that make fewer entries of many, as functions and methods."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.ops import elementwise, reduction
from minigrad.ops.calling.arguments import cast, dimension, dimensions
from minigrad.tensor import Tensor

__all__ = [
    "amax",
    "amin",
    "log_softmax",
    "logsumexp",
    "mean",
    "norm",
    "softmax",
    "sum",
]


def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Add up all entries, or those along dimensions. Integers add up in int64."""
    if dtype is not None:
        input = input.to(dtype)
    elif input._array.dtype.kind in "iub":
        input = cast(input, np.dtype("int64"))
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        if not keepdim:
            return reduction.sum_all(input)  # type: ignore[no-any-return]
        dim = tuple(range(input.ndim))
    return reduction.sum_dim(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]


def mean(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Average all entries, or those along dimensions.

    Raises:
        RuntimeError: If the entries are integers.
    """
    if dtype is not None:
        input = input.to(dtype)
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {input.dtype.tensor_type}"
        )
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        if not keepdim:
            return reduction.mean_all(input)  # type: ignore[no-any-return]
        dim = tuple(range(input.ndim))
    return reduction.mean_dim(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Give the largest entry, of all or along dimensions."""
    return reduction.amax(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Give the smallest entry, of all or along dimensions."""
    return reduction.amin(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]


def norm(
    input: Tensor,
    p: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
) -> Tensor:
    """Give the p-norm of all entries, or along dimensions. `p="fro"` means 2."""
    order = 2 if p in (None, "fro") else p
    dims = None if dim is None else dimensions(dim, input.ndim)
    if order == float("inf"):
        return amax(elementwise.abs(input), () if dim is None else dim, keepdim)
    if order == -float("inf"):
        return amin(elementwise.abs(input), () if dim is None else dim, keepdim)
    return reduction.vector_norm(input, order, dims, keepdim)  # type: ignore[no-any-return]


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Turn scores along a dimension into probabilities that add up to 1."""
    input = input if dtype is None else input.to(dtype)
    return reduction.softmax(input, dimension(_softmax_dim(dim, input.ndim), input.ndim))  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Give the logarithm of the softmax, without the loss of precision of two steps."""
    input = input if dtype is None else input.to(dtype)
    return reduction.log_softmax(input, dimension(_softmax_dim(dim, input.ndim), input.ndim))  # type: ignore[no-any-return]


def _softmax_dim(dim: int | None, ndim: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        "Implicit dimension choice for softmax has been deprecated. Change the call to include "
        "dim=X as an argument.",
        UserWarning,
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Give the logarithm of the sum of exponentials along dimensions."""
    return reduction.logsumexp(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]
