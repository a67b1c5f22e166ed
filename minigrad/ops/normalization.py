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
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from minigrad.autograd.rules import quietly
from minigrad.core.modes import modes
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.ops.shape import unsafe_view
from minigrad.ops.type_promotion import rounded_once

_MANY = 4096  # from so many entries on it pays not to make products only to add them up


class Layout:
    """Over what is normalized, and how weights lie along the input.

    Attributes:
        view: The shape in which the axes below are whole dimensions.
        axes: Those over which the mean is taken.
        alike: Those along which weights do not differ.
        both: Those that are both.
        count: How many entries a mean is of.
        beside: The shape in which weights are multiplied with the input.
        means: The shape of the means.
    """

    def __init__(self, view: tuple[int, ...], axes: tuple[int, ...], alike: tuple[int, ...]):
        self.view, self.axes, self.alike = view, axes, alike
        self.both = tuple(axis for axis in axes if axis in alike)
        self.count = math.prod(view[axis] for axis in axes) or math.nan
        self.means = tuple(1 if axis in axes else size for axis, size in enumerate(view))
        self.beside = tuple(1 if axis in alike else size for axis, size in enumerate(view))

    def scales(self, rstd: Any, weight: Any) -> list[Any]:
        """Give by what standardized numbers are multiplied: the product, where that is small."""
        return [rstd * weight] if self.both else [rstd, weight]


layout_of = lru_cache(Layout)


class Statistics:
    """Mean and 1 / standard deviation, known after the forward, or before it if they are fixed."""

    __slots__ = ("fixed", "mean", "rstd", "running", "variance")

    def __init__(self, *running: Any) -> None:
        self.fixed = False
        self.running = running or (None, None)  # the tensors, for those who look at the node
        self.mean: Any = None
        self.rstd: Any = None
        self.variance: Any = None


_of_pass: Any = WeakKeyDictionary()  # what the rules of a backward pass leave to each other


def _shared(statistics: Statistics, name: str, compute: Callable[[], Any]) -> Any:
    """Compute what several rules of a node need once in a backward pass."""
    found = {} if modes.task is None else _of_pass.setdefault(modes.task, {})
    if (statistics, name) not in found:
        found[statistics, name] = compute()
    return found[statistics, name]


def _total(axes: tuple[int, ...], first: Any, *second: Any) -> Any:
    """Add an array, or the product of two, up over axes, which stay with one entry."""
    if type(first) is np.ndarray and first.size >= _MANY and axes:
        if first.ndim - 1 in axes:  # by BLAS
            ones = second or (np.ones(first.shape[-1:], first.dtype),)
            return np.add.reduce(np.vecdot(first, *ones)[..., None], axes, keepdims=True)
        lead, rest = first.shape[: len(axes)], (1,) * (first.ndim - len(axes))
        if axes == (*range(len(axes)),) and (not second or second[0].shape == lead + rest):
            factors = second[0] if second else np.ones(lead, first.dtype)
            total = factors.reshape(-1) @ first.reshape(factors.size, -1)
            return total.reshape((1,) * len(axes) + first.shape[len(axes) :])
        if second:
            every = range(first.ndim)
            kept = [axis for axis in every if axis not in axes]
            return np.expand_dims(np.einsum(first, every, *second, every, kept), axes)
    product = first * second[0] if second else first
    return np.add.reduce(product, axes, keepdims=True) if axes else product


def _centered(input: Any, layout: Layout, eps: float, statistics: Statistics) -> Any:
    """Give the input less its mean, in the shape of the view, and 1 / standard deviation."""
    seen, axes, count = input.reshape(layout.view), layout.axes, layout.count
    if statistics.mean is None or (isinstance(input, Tensor) and not statistics.fixed):
        mean = _total(axes, seen) / count
        centered = seen - mean
        variance = _total(axes, centered, centered) / count
        rstd = 1 / np.sqrt(variance + eps)
        if not isinstance(input, Tensor):  # or it is recorded, to be differentiated again
            statistics.mean, statistics.variance, statistics.rstd = mean, variance, rstd
        return centered, rstd
    return seen - statistics.mean, statistics.rstd


def _sums(grad: Any, layout: Layout, statistics: Statistics) -> Any:
    g = grad.reshape(layout.view)
    return _shared(statistics, "sums", lambda: _total(layout.both, g)) if layout.both else g


def _shaped(result: Any, size: tuple[int, ...], layout: Layout) -> Any:
    """Give a gradient the shape of what it is of; recorded, it is a view over groups alone."""
    if isinstance(result, Tensor) and layout.both in ((), layout.axes):
        return unsafe_view(result, size)
    return result.reshape(size)


@rounded_once
def _input_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    centered, rstd = _centered(input, layout, eps, statistics)
    g, w = grad.reshape(layout.view), 1 if 0 in weight.shape else weight.reshape(layout.beside)
    if statistics.fixed:
        return _shaped(g * w * rstd, input.shape, layout)
    if type(g) is not np.ndarray or g.size < _MANY:
        x, u = centered * rstd, g * w
        product = g * x
        _shared(statistics, "weight", lambda: _total(layout.alike, product))
        shift, slope = _total(layout.axes, u), _total(layout.axes, product * w)
        return _shaped((u - (shift + x * slope) / layout.count) * rstd, input.shape, layout)
    # the same with fewer passes through memory
    product = _total(layout.both, g, centered)
    _shared(statistics, "weight", lambda: _total(layout.alike, product, rstd))
    sums = _sums(grad, layout, statistics)
    weights = () if 0 in weight.shape else (w,)
    centered *= _total(layout.axes, product, *weights) * (rstd * rstd * rstd / layout.count)
    centered += _total(layout.axes, sums, *weights) * (rstd / layout.count)
    result, memory = g, None if layout.both else product
    for scale in layout.scales(rstd, w):
        result = memory = np.multiply(result, scale, out=memory)
    result -= centered
    return result.reshape(input.shape)


@rounded_once
def _weight_rule(grad: Any, input: Any, weight: Any, layout: Any, eps: Any, statistics: Any) -> Any:
    def compute() -> Any:
        centered, rstd = _centered(input, layout, eps, statistics)
        return _total(layout.alike, grad.reshape(layout.view), centered * rstd)

    return _shaped(_shared(statistics, "weight", compute), weight.shape, layout)


@rounded_once
def _bias_rule(grad: Any, bias: Any, layout: Any, statistics: Any) -> Any:
    return _shaped(_total(layout.alike, _sums(grad, layout, statistics)), bias.shape, layout)


def _normalization(node: str, name: str, over: str) -> Any:
    """Make a normalization that is one node."""

    def normalized(
        input: Array, weight: Array, bias: Array, layout: Any, eps: Any, statistics: Any
    ) -> Array:
        result, rstd = _centered(input, layout, eps, statistics)
        weight = weight.reshape(layout.beside) if weight.size else 1
        for scale in layout.scales(rstd, weight):
            result *= scale  # the result is new: in the same memory
        if bias.size:
            result += bias.reshape(layout.beside)
        return result.reshape(input.shape)

    normalized.__name__ = name
    normalized.__doc__ = rf"Normalization over {over}: :math:`w (x - \mu) / \sigma + b`."
    operation = differentiable(node, input=_input_rule, weight=_weight_rule, bias=_bias_rule)
    return operation(quietly(normalized))


native_batch_norm, native_layer_norm, native_group_norm = (
    _normalization(f"Native{kind.title()}NormBackward0", f"native_{kind}_norm", over)
    for kind, over in (
        ("batch", "all but the channels"),
        ("layer", "the last dimensions"),
        ("group", "each group of channels"),
    )
)


# ---------------------------------------------------------------------- weights


def _v_rule(grad: Any, v: Any, g: Any, axes: tuple[int, ...]) -> Any:
    square = _total(axes, v, v)
    return (grad - v * (_total(axes, grad, v) / square)) * (g / np.sqrt(square))


@differentiable(
    "WeightNormInterfaceBackward0",
    v=_v_rule,
    g=lambda grad, v, axes: _total(axes, grad, v) / np.sqrt(_total(axes, v, v)),
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
    return v * (g / np.sqrt(_total(axes, v, v)))
