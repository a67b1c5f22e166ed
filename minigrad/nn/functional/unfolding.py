"""Windows of images side by side as columns, back again, and the derivatives of both."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import functional
from minigrad.faces.arguments import check_tensor, refuse
from minigrad.ops.correlation import add_windows, output_sizes, padded, per_dimension, window_entry
from minigrad.ops.type_promotion import applied


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


@functional
def unfold(
    input: Tensor,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    r"""Put the windows of images side by side as columns (`im2col`).

    A convolution is then a product of matrices.

    Args:
        input: The images.
        kernel_size: The window's height and width, or one number for both.
        dilation: How far apart the entries of the window are.
        padding: How many zeros go around the image.
        stride: How far the window moves at each step.

    Raises:
        RuntimeError: If a setting is out of range, or no window fits.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C * kernel height * kernel width, number of windows)

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> torch.nn.functional.unfold(image, 2)[0, :, 0]
        tensor([0., 1., 3., 4.])
    """
    check_tensor("im2col", input)
    kernel, steps, border, moves = _window(kernel_size, dilation, padding, stride)
    array = input._array
    if array.ndim not in (3, 4):
        if array.ndim < 3:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-array.ndim}, "
                f"{array.ndim - 1}], but got {2}). unfold takes (N, C, H, W) or (C, H, W)."
            )
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(array.shape)}"
        )
    outputs = output_sizes(array.shape[-2:], kernel, moves, border, steps)
    if min(outputs) < 1:
        height, width = array.shape[-2:]
        raise RuntimeError(
            f"Given input with spatial size ({height}, {width}), kernel_size={kernel}, "
            f"dilation={steps}, padding={border}, calculated shape of the array of sliding blocks "
            f"as {outputs}, but its components must be at least one."
        )
    refuse("im2col_out_cpu", "iu", input)
    return im2col(input, kernel, steps, border, moves)


@functional
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    r"""Add columns up at the places of their windows in images (`col2im`).

    It is not the inverse of `unfold`, but its gradient: where windows overlap, values add up.

    Args:
        input: The columns.
        output_size: Height and width of the images, or one number for both.
        kernel_size: The window's height and width, or one number for both.
        dilation: How far apart the entries of the window are.
        padding: How many zeros went around the image.
        stride: How far the window moved at each step.

    Raises:
        RuntimeError: If a setting is out of range, or the columns do not fit.

    Shape:
        - input: (N, C * kernel height * kernel width, number of windows), or without N
        - output: (N, C, H, W)

    Example:
        >>> import minigrad as torch
        >>> columns = torch.nn.functional.unfold(torch.ones(1, 1, 2, 3), 2)
        >>> torch.nn.functional.fold(columns, (2, 3), 2)
        tensor([[[[1., 2., 1.],
                  [1., 2., 1.]]]])
    """
    check_tensor("col2im", input)
    sizes = _pair("output_size", output_size)
    kernel, steps, border, moves = _window(kernel_size, dilation, padding, stride)
    array = input._array
    if min(sizes) < 1:
        raise RuntimeError(
            "output_size should be greater than zero, but got output_height: "
            f"{sizes[0]} output_width: {sizes[1]}"
        )
    if array.ndim not in (2, 3) or 0 in array.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(array.shape)}"
        )
    if array.shape[-2] % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={array.shape[-2]} and kernel_size={kernel}."
        )
    outputs = output_sizes(sizes, kernel, moves, border, steps)
    if array.shape[-1] != math.prod(outputs) or min(outputs) < 1:
        raise RuntimeError(
            f"Given output_size={sizes}, kernel_size={kernel}, dilation={steps}, "
            f"padding={border}, stride={moves}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {outputs[0]} * {outputs[1]} = "
            f"{math.prod(outputs)}, but got input.size(2)={array.shape[-1]}."
        )
    refuse("col2im_out_cpu", "iu", input)
    return col2im(input, sizes, kernel, steps, border, moves)


def _pair(name: str, value: Any) -> tuple[int, ...]:
    return per_dimension(
        "unfold",
        name,
        2,
        value,
        2,
        lambda given: f"It is expected {name} equals to 2, but got size {len(given)}",
    )


def _window(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Give the settings of a window as pairs, if they are in range."""
    given = []
    for name, label, short, value, least in (
        ("kernel_size", "kernel size", "kernel", kernel_size, 1),
        ("dilation", "dilation", "dilation", dilation, 1),
        ("padding", "padding", "pad", padding, 0),
        ("stride", "stride", "stride", stride, 1),
    ):
        pair = _pair(name, value)
        given.append(pair)
        if min(pair) < least:
            limit = "greater than zero" if least else "non-negative"
            raise RuntimeError(
                f"{label} should be {limit}, but got {short}_height: {pair[0]} {short}_width: "
                f"{pair[1]}"
            )
    return given
