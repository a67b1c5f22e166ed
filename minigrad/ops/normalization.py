r"""Normalizations and their derivatives: over a batch, a layer, or groups of channels.

With mean :math:`\mu` and standard deviation :math:`\sigma` of the entries that are normalized
together, :math:`y = w (x - \mu) / \sigma + b`. Mean and deviation depend on each entry, too:

.. math:: \bar x = \frac{w}{\sigma} g - \frac{1}{n \sigma} \sum w g
          - \frac{x - \mu}{n \sigma^3} \sum w g (x - \mu).

They are fixed while a batch normalization evaluates: then only the first term is left.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.ops.shape import unsafe_view
from minigrad.ops.type_promotion import rounded_once


class Layout:
    """Over what is normalized, and how weights lie along the input.

    Attributes:
        view: The shape in which the axes below are whole dimensions.
        axes: Those over which the mean is taken.
        alike: Those along which weights do not differ.
        count: How many entries a mean is of.
        beside: The shape in which weights are multiplied with the input.
        common: The axes over which both are constant, mean and weights.
    """

    def __init__(self, view: tuple[int, ...], axes: tuple[int, ...], alike: tuple[int, ...]):
        self.view, self.axes, self.alike = view, axes, alike
        self.common = tuple(axis for axis in axes if axis in alike)
        self.count = math.prod(view[axis] for axis in axes) or math.nan
        self.beside = tuple(1 if axis in alike else size for axis, size in enumerate(view))


layout_of = lru_cache(Layout)


class Statistics:
    """Mean and 1 / standard deviation, known after the forward, or before it if they are fixed."""

    fixed = False
    mean: Any = None
    rstd: Any = None
    variance: Any = None


def _total(axes: tuple[int, ...], array: Any) -> Any:
    """Add an array up over axes, which stay with one entry."""
    return np.add.reduce(array, axes, keepdims=True) if axes else array


@lru_cache
def _sum_over(shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Give the axes that a sum leaves, also those of one entry; an index restores the others."""
    left = [axis for axis, size in enumerate(shape) if axis not in axes or size == 1]
    return left, tuple(slice(None) if axis in left else None for axis in range(len(shape)))


def _total_of_products(axes: tuple[int, ...], a: Any, b: Any) -> Any:
    """Add up products over axes; of plain numbers without an array of all products."""
    if not (type(a) is type(b) is np.ndarray and a.dtype.kind == "f" and axes):
        return _total(axes, a * b)
    every, (left, back) = range(a.ndim), _sum_over(a.shape, axes)
    return np.einsum(a, every, b, every, left)[back] if len(left) < a.ndim else a * b


def _centered(input: Any, layout: Layout, eps: float, statistics: Statistics) -> Any:
    """Give the input less its mean, in the shape of the view, and 1 / standard deviation."""
    seen, axes, count = input.reshape(layout.view), layout.axes, layout.count
    if statistics.mean is None or (isinstance(input, Tensor) and not statistics.fixed):
        mean = _total(axes, seen) / count
        centered = seen - mean
        variance = _total_of_products(axes, centered, centered) / count
        rstd = 1 / np.sqrt(variance + eps)
        if not isinstance(input, Tensor):  # or it is recorded, to be differentiated again
            statistics.mean, statistics.variance, statistics.rstd = mean, variance, rstd
        return centered, rstd
    return seen - statistics.mean, statistics.rstd


@rounded_once
def _values_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    centered, rstd = _centered(input, layout, eps, statistics)
    g, w = grad.reshape(layout.view), 1 if 0 in weight.shape else weight.reshape(layout.beside)
    if statistics.fixed:
        return dispatch(unsafe_view, g * w * rstd, input.shape)
    # first over the axes of one weight, which leaves few numbers to multiply with weights
    over, rest = (layout.common, layout.axes) if layout.common else (layout.axes, ())
    g, w = (g, w) if rest else (g * w, 1)
    shift = _total_of_products(rest, _total(over, g), w) * rstd / layout.count
    slope = _total_of_products(rest, _total_of_products(over, g, centered), w) * rstd**3
    main = g * (w * rstd)
    # nobody else has this array
    memory = centered if type(centered) is np.ndarray and centered.strides == main.strides else None
    line = np.add(np.multiply(centered, slope / layout.count, out=memory), shift, out=memory)
    return dispatch(unsafe_view, np.subtract(main, line, out=memory), input.shape)


@rounded_once
def _weight_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    centered, rstd = _centered(input, layout, eps, statistics)
    product = _total_of_products(layout.common, grad.reshape(layout.view), centered)
    return dispatch(unsafe_view, _total_of_products(layout.alike, product, rstd), weight.shape)


@rounded_once
def _bias_rule(grad: Any, bias: Any, layout: Any) -> Any:
    return dispatch(unsafe_view, _total(layout.alike, grad.reshape(layout.view)), bias.shape)


def _normalization(node: str, name: str, over: str) -> Any:
    """Make a normalization that is one node."""

    def normalized(
        input: Array, weight: Array, bias: Array, layout: Any, eps: Any, statistics: Any
    ) -> Array:
        result, rstd = _centered(input, layout, eps, statistics)
        result *= rstd * weight.reshape(layout.beside) if weight.size else rstd  # in its memory
        if bias.size:
            result += bias.reshape(layout.beside)
        return result.reshape(input.shape)

    normalized.__name__ = name
    normalized.__doc__ = rf"Normalization over {over}: :math:`w (x - \mu) / \sigma + b`."
    declared = operation(node, input=_values_rule, weight=_weight_rule, bias=_bias_rule)
    return declared(ignore_errstate(normalized))


native_batch_norm, native_layer_norm, native_group_norm = (
    _normalization(f"Native{kind.title()}NormBackward0", f"native_{kind}_norm", over)
    for kind, over in (
        ("batch", "all but the channels"),
        ("layer", "the last dimensions"),
        ("group", "each group of channels"),
    )
)
