"""Count entries: those of each whole number, those in each bin of a histogram."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops.calling import results
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor, wrap

__all__ = ["bincount", "histc", "histogram"]


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each whole number from 0 on comes, or add up weights for each.

    Raises:
        RuntimeError: If the numbers are not in one row or negative, or the weights do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.bincount(torch.tensor([0, 1, 1, 3]))
        tensor([1, 2, 0, 1])
    """
    check_tensor("bincount", input)
    array = input._array
    if array.dtype.kind not in "iu":
        raise NotImplementedError(
            f"\"bincount_cpu\" not implemented for '{input.dtype.tensor_type}'"
        )
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if array.ndim != 1 or (array.size and array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None or not array.size:
        return wrap(np.bincount(array, minlength=minlength).astype(np.int64))
    if weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    dtype = np.float32 if weights._array.dtype == np.float32 else np.float64
    return wrap(np.bincount(array, weights._array, minlength).astype(dtype))


def _binned(array: Any, edges: Any, weights: Any) -> Any:
    """Add up weights in each bin. The last bin has its right edge too; NaN is in none."""
    number = len(edges) - 1
    inside = (array >= edges[0]) & (array <= edges[-1])
    place = np.searchsorted(edges, array[inside], "right") - 1
    place = np.minimum(place, number - 1)
    chosen = None if weights is None else weights[inside]
    return np.bincount(place, chosen, minlength=number).astype(array.dtype)


@with_out
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the entries in each of many bins of one width.

    Args:
        input: The tensor.
        bins: How many bins.
        min: The left end of the first bin; if both ends are 0 they are those of the entries.
        max: The right end of the last bin.

    Example:
        >>> import minigrad as torch
        >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    check_tensor("histc", input)
    array = input._array.reshape(-1)
    if array.dtype.kind != "f":
        kernel = {"b": "linspace_cpu", "c": "aminmax_cpu"}.get(array.dtype.kind, "histogram_cpu")
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.tensor_type}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min == max and array.size:
        ends = float(array.min()), float(array.max())
    else:
        ends = float(min), float(max)
    if not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
        raise RuntimeError(f"torch.histc: range of [{ends[0]:g}, {ends[1]:g}] is not finite")
    if ends[0] > ends[1]:
        raise RuntimeError("torch.histc: max must be larger than min")
    low, high = (ends[0] - 1, ends[1] + 1) if ends[0] == ends[1] else ends
    inside = array[(array >= low) & (array <= high)]
    place = ((inside - inside.dtype.type(low)) / inside.dtype.type(high - low) * bins).astype(int)
    counts = np.bincount(np.minimum(place, bins - 1), minlength=bins)
    return wrap(counts.astype(array.dtype))


def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Count the entries in each bin, or add up weights.

    Args:
        input: The tensor, of floating-point numbers.
        bins: How many bins of one width, or a tensor of their edges.
        range: The two ends of the bins; those of the entries if it is left out.
        weight: What each entry counts.
        density: Give densities, whose integral is 1, in place of counts.

    Returns:
        A named tuple of the counts, `hist`, and the `bin_edges`.

    Example:
        >>> import minigrad as torch
        >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist
        tensor([0., 2., 1., 0.])
    """
    check_tensor("histogram", input)
    array = input._array.reshape(-1)
    if array.dtype.kind != "f":
        raise NotImplementedError(
            f"\"histogramdd\" not implemented for '{input.dtype.tensor_type}'"
        )
    edges = _edges(input, array, bins, range)
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            f"input tensor excluding its innermost dimension, but got input with shape "
            f"{[array.size, 1]} and weight with shape {list(weight.shape)}"
        )
    counts = _binned(array, edges, None if weight is None else weight._array.reshape(-1))
    if density:
        counts = (counts / counts.sum() / np.diff(edges)).astype(array.dtype)
    return results.histogram(wrap(counts), wrap(edges))


def _edges(input: Tensor, array: Any, bins: Any, ends: Any) -> Any:
    """Check the bins of a histogram, and give their edges."""
    what = "torch.histogramdd:"
    if isinstance(bins, Tensor):
        if bins.ndim != 1:
            raise RuntimeError(
                f"{what} bins tensor should have one dimension, but got {bins.ndim} dimensions in "
                "the bins tensor for dimension 0"
            )
        if bins.dtype != input.dtype:
            names = [each.tensor_type.lower() for each in (input.dtype, bins.dtype)]
            raise RuntimeError(
                f"{what} input tensor and bins tensors should have the same dtype, but got input "
                f"with dtype {names[0]} and bins for dimension 0 with dtype {names[1]}"
            )
        return bins._array
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if ends is None:
        low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 1.0)
    else:
        if len(ends) != 2:
            raise RuntimeError(
                f"{what} for a 1-dimensional histogram range should have 2 elements, but got "
                f"{len(ends)}"
            )
        low, high = ends
    if low > high:
        raise RuntimeError(
            f"{what} min should not exceed max, but got min {low:g} max {high:g} for dimension 0"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1).astype(array.dtype)


methods: dict[str, Any] = {name: globals()[name] for name in __all__}
functions: dict[Any, Any] = {
    np.bincount: lambda x, weights=None, minlength=0: bincount(x, weights, minlength),
}
