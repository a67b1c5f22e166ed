r"""The derivatives of normalization: over a batch, over a layer, over groups of channels.

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

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.ops.correlation import in_single
from minigrad.ops.type_promotion import quietly


class Layout(NamedTuple):
    """Over what is normalized, and how weights lie along the input.

    Attributes:
        view: The shape in which the mean is taken over some dimensions.
        axes: These dimensions.
        weights: The shape in which weights are multiplied with the input.
    """

    view: tuple[int, ...]
    axes: tuple[int, ...]
    weights: tuple[int, ...]


class Statistics:
    """Mean and 1 / standard deviation, known after the forward, or before it if they are fixed."""

    __slots__ = ("fixed", "mean", "rstd", "standardized", "variance")

    def __init__(self) -> None:
        self.fixed = False
        self.mean: Any = None
        self.rstd: Any = None
        self.variance: Any = None
        self.standardized: Any = None  # from the rule of the input to that of the weight


def _mean(array: Any, axes: tuple[int, ...]) -> Any:
    """Give the mean of an array or tensor, in its own dtype."""
    total = np.add.reduce(array, axis=axes, keepdims=True)
    if type(array) is np.ndarray:
        total /= array.size // (total.size or 1) or math.nan
        return total
    return total / (math.prod(array.shape) // max(math.prod(total.shape), 1) or math.nan)


def _standardized(input: Any, layout: Layout, eps: float, statistics: Statistics) -> Any:
    """Give the normalized input, in the shape of the view, and 1 / standard deviation."""
    seen = input.reshape(layout.view)
    if isinstance(input, Tensor) and not statistics.fixed:  # recorded, to be differentiated again
        centered = seen - _mean(seen, layout.axes)
        rstd = 1 / np.sqrt(_mean(centered * centered, layout.axes) + eps)
        return centered * rstd, rstd
    if statistics.mean is None:
        statistics.mean = _mean(seen, layout.axes)
        centered = seen - statistics.mean
        statistics.variance = _mean(centered * centered, layout.axes)
        statistics.rstd = 1 / np.sqrt(statistics.variance + eps)
    else:
        centered = seen - statistics.mean
    if isinstance(centered, Tensor):
        return centered * statistics.rstd, statistics.rstd
    centered *= statistics.rstd  # in the same memory
    return centered, statistics.rstd


def _in_single(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Let a rule compute with float32 where it is given float16, and round once at the end."""

    @functools.wraps(rule)
    def computed(grad: Any, *given: Any) -> Any:
        if not isinstance(grad, np.ndarray) or grad.dtype.char != "e":
            return rule(grad, *given)
        wide = [each.astype(np.float32) if isinstance(each, np.ndarray) else each for each in given]
        return rule(grad.astype(np.float32), *wide).astype(np.float16)

    return computed


def _scaled(grad: Any, weight: Any, layout: Layout) -> Any:
    return grad * weight.reshape(layout.weights) if 0 not in weight.shape else grad


@_in_single
def _input_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    x, rstd = _standardized(input, layout, eps, statistics)
    u = _scaled(grad, weight, layout).reshape(layout.view)
    if statistics.fixed:
        return (u * rstd).reshape(input.shape)
    if type(u) is np.ndarray:
        return _input_rule_in_place(u, x, rstd, layout, statistics).reshape(input.shape)
    within = u - _mean(u, layout.axes) - x * _mean(u * x, layout.axes)
    return (within * rstd).reshape(input.shape)


def _input_rule_in_place(u: Any, x: Any, rstd: Any, layout: Layout, statistics: Statistics) -> Any:
    """Compute the same as the rule of the input with fewer arrays."""
    statistics.standardized = x
    product = u * x
    np.multiply(x, _mean(product, layout.axes), out=product)
    product += _mean(u, layout.axes)
    np.subtract(u, product, out=product)
    product *= rstd
    return product


@_in_single
def _weight_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    x, statistics.standardized = statistics.standardized, None
    if x is None or isinstance(input, Tensor):
        x, _ = _standardized(input, layout, eps, statistics)
    return _along_weights(grad * x.reshape(input.shape), layout).reshape(weight.shape)


@_in_single
def _bias_rule(grad: Any, bias: Any, layout: Any) -> Any:
    return _along_weights(grad, layout).reshape(bias.shape)


def _along_weights(grad: Any, layout: Layout) -> Any:
    """Add a gradient up over the dimensions along which there is one weight."""
    before = len(grad.shape) - len(layout.weights)
    axes = [*range(before)]
    axes += [before + axis for axis, size in enumerate(layout.weights) if size == 1]
    return np.add.reduce(grad, axis=tuple(axes)) if axes else grad


def _normalized(
    input: Any, weight: Any, bias: Any, layout: Layout, eps: float, statistics: Statistics
) -> Any:
    result = _standardized(input, layout, eps, statistics)[0].reshape(input.shape)
    if weight.size:  # the result is new: in the same memory
        result *= weight.reshape(layout.weights)
    if bias.size:
        result += bias.reshape(layout.weights)
    return result


@differentiable("NativeBatchNormBackward0", input=_input_rule, weight=_weight_rule, bias=_bias_rule)
@quietly
@in_single
def native_batch_norm(
    input: Array, weight: Array, bias: Array, layout: Any, eps: Any, statistics: Any
) -> Array:
    r"""Normalization over all but the channels: :math:`w (x - \mu) / \sigma + b`."""
    return _normalized(input, weight, bias, layout, eps, statistics)


@differentiable("NativeLayerNormBackward0", input=_input_rule, weight=_weight_rule, bias=_bias_rule)
@quietly
@in_single
def native_layer_norm(
    input: Array, weight: Array, bias: Array, layout: Any, eps: Any, statistics: Any
) -> Array:
    r"""Normalization over the last dimensions: :math:`w (x - \mu) / \sigma + b`."""
    return _normalized(input, weight, bias, layout, eps, statistics)


@differentiable("NativeGroupNormBackward0", input=_input_rule, weight=_weight_rule, bias=_bias_rule)
@quietly
@in_single
def native_group_norm(
    input: Array, weight: Array, bias: Array, layout: Any, eps: Any, statistics: Any
) -> Array:
    r"""Normalization over each group of channels: :math:`w (x - \mu) / \sigma + b`."""
    return _normalized(input, weight, bias, layout, eps, statistics)


# ---------------------------------------------------------------------- weights


def _total(array: Any, axes: tuple[int, ...]) -> Any:
    return np.add.reduce(array, axis=axes, keepdims=True)


def _v_rule(grad: Any, v: Any, g: Any, axes: tuple[int, ...]) -> Any:
    square = _total(v * v, axes)
    return (grad - v * (_total(grad * v, axes) / square)) * (g / np.sqrt(square))


@differentiable(
    "WeightNormInterfaceBackward0",
    v=_v_rule,
    g=lambda grad, v, axes: _total(grad * v, axes) / np.sqrt(_total(v * v, axes)),
)
@quietly
def weight_norm(v: Array, g: Array, axes: Any) -> Array:
    r"""Weights given by length and direction, :math:`w = g v / \lVert v \rVert`.

    .. math:: w = g \frac{v}{\lVert v \rVert}, \qquad
        \bar g = \frac{\langle \bar w, v \rangle}{\lVert v \rVert}, \qquad
        \bar v = \frac{g}{\lVert v \rVert} \left(\bar w - \frac{\langle \bar w, v \rangle}
        {\lVert v \rVert^2} v\right),

    with norms and inner products over all dimensions but one. Source: Salimans and Kingma, "Weight
    normalization" (2016).
    """
    return v * (g / np.sqrt(_total(v * v, axes)))
