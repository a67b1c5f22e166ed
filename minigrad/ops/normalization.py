r"""Normalization and its derivatives: over a batch, over a layer, over groups of channels.

All three subtract a mean :math:`\mu` and divide by :math:`\sigma = \sqrt{v + \varepsilon}`, where
the mean and the variance :math:`v` are taken over some of the dimensions; then they scale and
shift, :math:`y = w \hat x + b` with :math:`\hat x = (x - \mu) / \sigma`. For :math:`u = g w`,

.. math:: \bar x = \frac{1}{\sigma} \bigl(u - \langle u \rangle - \hat x \langle u \hat x \rangle
          \bigr), \qquad \bar w = \sum g \hat x, \qquad \bar b = \sum g,

where :math:`\langle \cdot \rangle` is the mean over the same dimensions: the gradient loses what
would only shift or scale the input, for that does not change the result.

Source: Ioffe and Szegedy, "Batch Normalization" (2015), section 3.
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
        means: The shape of the means.
    """

    def __init__(self, view: tuple[int, ...], axes: tuple[int, ...], alike: tuple[int, ...]):
        self.view, self.axes, self.alike = view, axes, alike
        self.count = math.prod(view[axis] for axis in axes) or math.nan
        self.means = tuple(1 if axis in axes else size for axis, size in enumerate(view))
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


def _centered(input: Any, layout: Layout, eps: float, statistics: Statistics) -> Any:
    """Give the input less its mean, in the shape of the view, and 1 / standard deviation."""
    seen, axes, count = input.reshape(layout.view), layout.axes, layout.count
    if statistics.mean is None or (isinstance(input, Tensor) and not statistics.fixed):
        mean = _total(axes, seen) / count
        centered = seen - mean
        variance = _total(axes, centered * centered) / count
        rstd = 1 / np.sqrt(variance + eps)
        if not isinstance(input, Tensor):  # or it is recorded, to be differentiated again
            statistics.mean, statistics.variance, statistics.rstd = mean, variance, rstd
        return centered, rstd
    return seen - statistics.mean, statistics.rstd


@rounded_once
def _input_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    centered, rstd = _centered(input, layout, eps, statistics)
    g, w = grad.reshape(layout.view), 1 if 0 in weight.shape else weight.reshape(layout.beside)
    if statistics.fixed:
        return dispatch(unsafe_view, g * w * rstd, input.shape)
    x, u = centered * rstd, g * w
    shift, slope = _total(layout.axes, u), _total(layout.axes, u * x)
    gradient = (u - (shift + x * slope) / layout.count) * rstd
    return dispatch(unsafe_view, gradient, input.shape)


@rounded_once
def _weight_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    centered, rstd = _centered(input, layout, eps, statistics)
    product = grad.reshape(layout.view) * (centered * rstd)
    return dispatch(unsafe_view, _total(layout.alike, product), weight.shape)


@rounded_once
def _bias_rule(grad: Any, bias: Any, layout: Any) -> Any:
    total = _total(layout.alike, grad.reshape(layout.view))
    return dispatch(unsafe_view, total, bias.shape)


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
    declared = operation(node, input=_input_rule, weight=_weight_rule, bias=_bias_rule)
    return declared(ignore_errstate(normalized))


native_batch_norm, native_layer_norm, native_group_norm = (
    _normalization(f"Native{kind.title()}NormBackward0", f"native_{kind}_norm", over)
    for kind, over in (
        ("batch", "all but the channels"),
        ("layer", "the last dimensions"),
        ("group", "each group of channels"),
    )
)
