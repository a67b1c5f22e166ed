r"""The derivatives of pooling: the mean of each window.

A window's gradient goes in equal shares to all of its entries.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops.correlation import Sizes, in_single, window_entries
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.pooling import bordered
from minigrad.ops.tape import Array, differentiable


def _divisor(sizes: Sizes, outputs: Sizes, like: Any, settings: Any) -> Any:
    """Give what the sums of the windows are divided by: one number, or one for each window."""
    kernel, stride, padding, ceil_mode, count_include_pad, divisor_override = settings
    if divisor_override is not None:
        return divisor_override
    if not ceil_mode and (count_include_pad or not any(padding)):
        return math.prod(kernel)
    counts: Any = 1
    for n, o, k, s, p in zip(sizes, outputs, kernel, stride, padding, strict=True):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        counts = np.asarray(counts)[..., None] * (end - start)
    return counts.astype(like.dtype)


def _mean(array: Any, *settings: Any) -> Any:
    kernel, stride, padding, ceil_mode, _, _ = settings
    steps = (1,) * len(kernel)
    whole, outputs, _ = bordered(array, (kernel, stride, padding, steps, ceil_mode), 0)
    total: Any = None
    for places in window_entries(kernel, outputs, stride, steps):
        seen = whole[places]
        if total is None:
            total = seen.copy("C")
        else:
            total += seen
    by = _divisor(array.shape[-len(kernel) :], outputs, array, settings)
    if array.dtype.kind in "iu":
        return np.trunc(total / by).astype(array.dtype)
    total /= by
    return total


def _to_all(grad: Any, array: Any, *settings: Any) -> Any:
    kernel, stride, padding, ceil_mode, _, _ = settings
    steps = (1,) * len(kernel)
    whole = np.zeros_like(grad, order="C", shape=array.shape)
    whole, outputs, inner = bordered(whole, (kernel, stride, padding, steps, ceil_mode), 0)
    share = grad / _divisor(array.shape[-len(kernel) :], outputs, grad, settings)
    for places in window_entries(kernel, outputs, stride, steps):
        whole[places] += share
    return whole if whole.shape == array.shape else whole[inner].copy()


def _mean_second(
    grad: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Any:
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return applied(MEANS[len(kernel_size)], grad, *settings)


@differentiable(
    "AvgPool2DBackwardBackward0", grad_output=_mean_second, self=lambda grad: np.zeros_like(grad)
)
@in_single
def avg_pool2d_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Array:
    """Rule of the mean of each window: its entries get equal shares of the gradient."""
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _to_all(grad_output, self, *settings)


@differentiable("AvgPool2DBackward0", self=avg_pool2d_backward)
@quietly
@in_single
def avg_pool2d(
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Array:
    """Mean of each window: its entries get equal shares of the gradient."""
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _mean(self, *settings)


@differentiable(
    "AvgPool3DBackwardBackward0", grad_output=_mean_second, self=lambda grad: np.zeros_like(grad)
)
@in_single
def avg_pool3d_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Array:
    """Rule of the mean of each window of three dimensions."""
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _to_all(grad_output, self, *settings)


@differentiable("AvgPool3DBackward0", self=avg_pool3d_backward)
@quietly
@in_single
def avg_pool3d(
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Array:
    """Mean of each window of three dimensions."""
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _mean(self, *settings)


MEANS: dict[int, Any] = {2: avg_pool2d, 3: avg_pool3d}
