"""Make images and signals smaller: the largest or the mean of each window."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.watched import watched
from minigrad.nn.functional.pooling_settings import (
    check_average,
    check_maximum,
    per_dimension,
)
from minigrad.ops import average_pooling, pooling, shape
from minigrad.ops.calling.arguments import check_tensor
from minigrad.tensor import Tensor, wrap

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]


def _high(pair: tuple[int, ...]) -> tuple[int, ...]:
    """Give a setting of one dimension for an image of height 1."""
    return (1, *pair)


def _maximum(
    name: str, ndim: int, input: Tensor, settings: tuple[Any, ...], return_indices: bool
) -> Any:
    kernel_size, stride, padding, dilation, ceil_mode = settings
    check_tensor(name, input)
    stride = kernel_size if stride is None or stride in ((), []) else stride
    kernel = per_dimension(name, "kernel_size", kernel_size, ndim)
    moves = per_dimension(name, "stride", stride, ndim)
    border = per_dimension(name, "padding", padding, ndim)
    steps = per_dimension(name, "dilation", dilation, ndim)
    check_maximum(name, input._array, kernel, moves, border, steps, bool(ceil_mode))
    chosen = pooling.Chosen()
    if ndim == 1:
        kernel, moves, steps = _high(kernel), _high(moves), _high(steps)
        border = (0, *border)
        input = shape.unsqueeze(input, input._array.ndim - 1)
    operation = pooling.MAXIMA[len(kernel)]
    given: tuple[Any, ...] = (kernel, moves, border, steps, bool(ceil_mode))
    sizes = input._array.shape[-len(kernel) :]
    result = operation(input, *given, chosen)
    if ndim == 1:
        result = shape.squeeze_dim(result, result._array.ndim - 2)
    if not return_indices:
        return wrap(result._array) if ndim == 1 and not result.requires_grad else result
    positions = chosen.positions(sizes, given)
    indices = wrap(positions.reshape(result._array.shape))
    return watched(result, indices), indices


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take the largest entry of each window of a signal; arguments as for `max_pool2d`."""
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return _maximum("max_pool1d", 1, input, settings, return_indices)


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    r"""Take the largest entry of each window of an image.

    Args:
        input: The images.
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step; the size of the window if None.
        padding: How wide the border around the image is; it never wins.
        dilation: How far apart the entries of the window are.
        ceil_mode: Whether a last window may reach over the end.
        return_indices: Whether to give the positions of the largest entries, too.

    Returns:
        The largest entries; or these and their positions within each image.

    Raises:
        RuntimeError: If a setting is out of range.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where
          $H_{out} = \lfloor (H + 2p - d (k - 1) - 1) / s \rfloor + 1$

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> torch.nn.functional.max_pool2d(image, 2)
        tensor([[[[ 5.,  7.],
                  [13., 15.]]]])
    """
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return _maximum("max_pool2d", 2, input, settings, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take the largest entry of each window of a volume; arguments as for `max_pool2d`."""
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return _maximum("max_pool3d", 3, input, settings, return_indices)


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Do what `max_pool1d` does, and always give the positions."""
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Do what `max_pool2d` does, and always give the positions."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Do what `max_pool3d` does, and always give the positions."""
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


# ---------------------------------------------------------------------- means


def _mean(name: str, ndim: int, input: Tensor, settings: tuple[Any, ...]) -> Tensor:
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override = settings
    check_tensor(name, input)
    stride = kernel_size if stride is None or stride in ((), []) else stride
    kernel = per_dimension(name, "kernel_size", kernel_size, ndim)
    moves = per_dimension(name, "stride", stride, ndim)
    border = per_dimension(name, "padding", padding, ndim)
    check_average(name, input._array, kernel, moves, border, bool(ceil_mode), divisor_override)
    if ndim == 1:
        kernel, moves, border = _high(kernel), _high(moves), (0, *border)
        input = shape.unsqueeze(input, input._array.ndim - 1)
    given = (kernel, moves, border, bool(ceil_mode), bool(count_include_pad), divisor_override)
    result = average_pooling.MEANS[len(kernel)](input, *given)
    return shape.squeeze_dim(result, result._array.ndim - 2) if ndim == 1 else result  # type: ignore[no-any-return]


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Average each window of a signal; arguments as for `avg_pool2d`."""
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, None)
    return _mean("avg_pool1d", 1, input, settings)


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    r"""Average each window of an image.

    Args:
        input: The images.
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step; the size of the window if None.
        padding: How many zeros go around the image.
        ceil_mode: Whether a last window may reach over the end.
        count_include_pad: Whether these zeros count as entries.
        divisor_override: What the sums are divided by, instead of the number of entries.

    Raises:
        RuntimeError: If a setting is out of range.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where $H_{out} = \lfloor (H + 2p - k) / s \rfloor + 1$

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> torch.nn.functional.avg_pool2d(image, 2)
        tensor([[[[ 2.5000,  4.5000],
                  [10.5000, 12.5000]]]])
    """
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _mean("avg_pool2d", 2, input, settings)


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Average each window of a volume; arguments as for `avg_pool2d`."""
    settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _mean("avg_pool3d", 3, input, settings)


def _power_average(averaged: Tensor, norm_type: float, count: int) -> Tensor:
    signs = averaged.sign() * averaged.abs().relu()
    return signs.mul(count).pow(1.0 / norm_type)  # type: ignore[no-any-return]


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    r"""Take $(\sum x^p)^{1/p}$ of each window of a signal."""
    powers = input.pow(norm_type)
    averaged = avg_pool1d(powers, kernel_size, stride, 0, ceil_mode)
    return _power_average(averaged, norm_type, kernel_size)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    r"""Take $(\sum x^p)^{1/p}$ of each window of an image."""
    height, width = per_dimension("lp_pool2d", "kernel_size", kernel_size, 2)
    powers = input.pow(norm_type)
    averaged = avg_pool2d(powers, kernel_size, stride, 0, ceil_mode)
    return _power_average(averaged, norm_type, height * width)
