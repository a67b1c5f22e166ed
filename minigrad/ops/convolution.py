r"""The derivatives of convolutions, plain and transposed, in one, two or three dimensions.

What deep learning calls a convolution is a correlation, :math:`y = w \star x`. Its gradient in the
input is the transposed convolution with the same kernel, its gradient in the kernel a correlation
of input and gradient. A transposed convolution is the same three with the roles of input and result
exchanged. So the rules lead from one operation here to another, and so do the rules of the rules.

Formulas: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016).
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.correlation import (
    add_windows,
    correlate,
    in_single,
    kernel_gradient,
    output_sizes,
    padded,
    spread,
    window_entry,
)
from minigrad.ops.type_promotion import applied, quietly

# Stands for a tensor that is not there, such as the bias of a layer without one.
ABSENT = wrap(np.zeros(0, np.float32))


def _again(grad: Any, input: Any, weight: Any, *settings: Any) -> Any:
    """Convolve within a rule of a rule, without a bias."""
    bias = ABSENT if isinstance(input, Tensor) else ABSENT._array
    return applied(convolution, input, weight, bias, *settings)


# The rules of the rules. What is linear in two things is differentiated by putting the gradient in
# the place of one of them.


def _input_in_grad(
    grad: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Any:
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    return _again(grad, grad, weight, *settings)


def _input_in_weight(
    grad: Any,
    grad_output: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Any:
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    return applied(convolution_backward_weight, grad_output, grad, weight, *settings)


def _weight_in_grad(
    grad: Any,
    input: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Any:
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    return _again(grad, input, grad, *settings)


def _weight_in_input(
    grad: Any,
    grad_output: Any,
    input: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Any:
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    return applied(convolution_backward_input, grad_output, input, grad, *settings)


def _zeros(grad: Any) -> Any:
    """Give zeros that know where they come from: gradgradcheck wants a graph of each gradient."""
    return np.where(np.ones(grad.shape, bool), 0, grad)


# PyTorch computes all three gradients in one node, which knows all three of these inputs; so each
# rule here takes them too, and its gradient in what it has no use for is zeros.


@differentiable(
    "ConvolutionBackwardBackward0",
    grad_output=_input_in_grad,
    input=lambda grad: _zeros(grad),
    weight=_input_in_weight,
)
@in_single
def convolution_backward_input(
    grad_output: Array,
    input: Array,
    weight: Array,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Array:
    r"""Gradient in the input, :math:`\bar x_i = \sum_{so + dk - p = i} w_k g_o`."""
    sizes = input.shape[2:]
    if transposed:
        whole = padded(grad_output, padding, padding)
        gradient = correlate(whole, weight, sizes, stride, dilation, groups)
    else:
        gradient = spread(grad_output, weight, sizes, stride, padding, dilation, groups)
    return gradient if gradient.flags.c_contiguous else gradient.copy()


@differentiable(
    "ConvolutionBackwardBackward0",
    grad_output=_weight_in_grad,
    input=_weight_in_input,
    weight=lambda grad: np.zeros_like(grad),
)
@in_single
def convolution_backward_weight(
    grad_output: Array,
    input: Array,
    weight: Array,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Array:
    r"""Gradient of a convolution in its kernel, :math:`\bar w_k = \sum_o g_o x_{so + dk - p}`."""
    if transposed:
        grad_output, input = input, grad_output
    whole = padded(input, padding, padding)
    return kernel_gradient(whole, grad_output, weight.shape[2:], stride, dilation, groups)


def _like_channels(grad: Any, grad_output: Any) -> Any:
    spatial = tuple(range(1, len(grad_output.shape) - 1))
    return np.broadcast_to(np.expand_dims(grad, spatial), grad_output.shape)


@differentiable(
    "ConvolutionBackwardBackward0",
    grad_output=_like_channels,
    input=lambda grad, input: np.zeros_like(input),
    weight=lambda grad, weight: np.zeros_like(weight),
)
@in_single
def convolution_backward_bias(grad_output: Array, input: Array, weight: Array) -> Array:
    r"""Gradient of a convolution in its bias: the sum over samples and places."""
    rows = grad_output.reshape(*grad_output.shape[:2], -1)
    return np.einsum("ncp->c", rows)


@differentiable(
    "ConvolutionBackward0",
    input=convolution_backward_input,
    weight=convolution_backward_weight,
    bias=convolution_backward_bias,
)
@quietly
@in_single
def convolution(
    input: Array,
    weight: Array,
    bias: Array,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
) -> Array:
    r"""Convolution :math:`y_o = b + \sum_k w_k x_{so + dk - p}`, or its transposed.

    The transposed one is :math:`y_i = b + \sum_{so + dk - p = i} w_k x_o`. A bias of size 0 is
    none.
    """
    sizes, kernel = input.shape[2:], weight.shape[2:]
    if transposed:
        reached = tuple(
            (n - 1) * s + d * (k - 1) + 1 - 2 * p + more
            for n, k, s, p, d, more in zip(
                sizes, kernel, stride, padding, dilation, output_padding, strict=True
            )
        )
        result = spread(input, weight, reached, stride, padding, dilation, groups)
    else:
        outputs = output_sizes(sizes, kernel, stride, padding, dilation)
        whole = padded(input, padding, padding)
        result = correlate(whole, weight, outputs, stride, dilation, groups)
    if bias.size:
        return result + bias.reshape(-1, *[1] * len(sizes))
    return result if result.flags.c_contiguous else result.copy()


# ---------------------------------------------------------------------- windows as columns


def _unfolded_rule(
    grad: Any, self_sym_sizes: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    sizes = tuple(self_sym_sizes[-2:])
    return applied(col2im, grad, sizes, kernel_size, dilation, padding, stride)


def _folded_rule(grad: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return applied(im2col, grad, kernel_size, dilation, padding, stride)


@differentiable("Im2ColBackward0", self=_unfolded_rule)
def im2col(self: Array, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    """Windows side by side as columns: each entry collects the gradients of its windows."""
    batch = self if self.ndim == 4 else self[None]
    outputs = output_sizes(batch.shape[2:], kernel_size, stride, padding, dilation)
    whole = padded(batch, padding, padding)
    columns = np.empty_like(whole, shape=(*batch.shape[:2], *kernel_size, *outputs))
    for entry in np.ndindex(*kernel_size):
        columns[(slice(None), slice(None), *entry)] = whole[
            (..., *window_entry(entry, outputs, stride, dilation))
        ]
    rows = batch.shape[1] * math.prod(kernel_size)
    return columns.reshape(*self.shape[:-3], rows, math.prod(outputs))


@differentiable("Col2ImBackward0", self=_folded_rule)
def col2im(
    self: Array, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Array:
    """Columns added up at the places of their windows: each gets the gradient of its window."""
    outputs = output_sizes(output_size, kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // math.prod(kernel_size)
    count = self.shape[0] if self.ndim == 3 else 1
    sizes = [n + 2 * p for n, p in zip(output_size, padding, strict=True)]
    whole = np.zeros_like(self, order="C", shape=(count, channels, *sizes))
    columns = self.reshape(count, channels, *kernel_size, *outputs)
    add_windows(whole, columns, stride, dilation)
    inner = padded(whole, [-p for p in padding], [-p for p in padding])
    return inner.reshape(*self.shape[:-2], channels, *output_size)
