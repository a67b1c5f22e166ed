"""Convolve signals and images, and cut them into windows."""

from __future__ import annotations

import math
from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.creation.dtypes import of_array
from minigrad.faces import FACES
from minigrad.faces.arguments import check_tensor
from minigrad.ops import convolution as rules
from minigrad.ops import convolution_functions as convolution_functions  # says their faces
from minigrad.ops.correlation import output_sizes

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "fold", "unfold",
]  # fmt: skip

conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    FACES[f"conv{kind}{ndim}d"].function for kind in ("", "_transpose") for ndim in (1, 2, 3)
)


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
    if array.dtype.kind in "iu":
        raise NotImplementedError(
            f"\"im2col_out_cpu\" not implemented for '{of_array(array).tensor_type}'"
        )
    return rules.im2col(input, kernel, steps, border, moves)


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
    if array.dtype.kind in "iu":
        raise NotImplementedError(
            f"\"col2im_out_cpu\" not implemented for '{of_array(array).tensor_type}'"
        )
    return rules.col2im(input, sizes, kernel, steps, border, moves)


def _pair(name: str, value: Any) -> tuple[int, int]:
    given = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    given = given * 2 if len(given) == 1 else given
    if len(given) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(given)}")
    return int(given[0]), int(given[1])


def _window(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Give the settings of a window as pairs, if they are in range."""
    given = [
        _pair(name, value)
        for name, value in (
            ("kernel_size", kernel_size),
            ("dilation", dilation),
            ("padding", padding),
            ("stride", stride),
        )
    ]
    for label, short, pair, least in zip(
        ("kernel size", "dilation", "padding", "stride"),
        ("kernel", "dilation", "pad", "stride"),
        given,
        (1, 1, 0, 1),
        strict=True,
    ):
        if min(pair) < least:
            limit = "greater than zero" if least else "non-negative"
            raise RuntimeError(
                f"{label} should be {limit}, but got {short}_height: {pair[0]} {short}_width: "
                f"{pair[1]}"
            )
    return given
