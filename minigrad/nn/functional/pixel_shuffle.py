"""Move channels into space and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.resizing import channel_shuffle as _channel_shuffle
from minigrad.ops.resizing import pixel_shuffle as _pixel_shuffle
from minigrad.ops.resizing import pixel_unshuffle as _pixel_unshuffle
from minigrad.tensor import Tensor

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def _check_factor(function: str, name: str, factor: Any, array: Any) -> None:
    if not isinstance(factor, (int, np.integer)):
        raise TypeError(
            f"{function}(): argument '{name}' (position 2) must be int, not {type(factor).__name__}"
        )
    if array.ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with "
            f"{array.ndim} dimension(s)"
        )
    if factor < 1:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Make blocks of pixels of channels: (..., C r^2, H, W) becomes (..., C, H r, W r).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.pixel_shuffle(torch.ones(1, 8, 3, 3), 2).shape
        torch.Size([1, 2, 6, 6])
    """
    check_tensor("pixel_shuffle", input)
    _check_factor("pixel_shuffle", "upscale_factor", upscale_factor, input._array)
    channels = input._array.shape[-3]
    if channels % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{upscale_factor**2}"
        )
    return _pixel_shuffle(input, upscale_factor)  # type: ignore[no-any-return]


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Make channels of blocks of pixels: (..., C, H r, W r) becomes (..., C r^2, H, W)."""
    check_tensor("pixel_unshuffle", input)
    _check_factor("pixel_unshuffle", "downscale_factor", downscale_factor, input._array)
    for name, dim in (("height", -2), ("width", -1)):
        if input._array.shape[dim] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={input._array.shape[dim]} is not divisible by "
                f"{downscale_factor}"
            )
    return _pixel_unshuffle(input, downscale_factor)  # type: ignore[no-any-return]


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Deal channels out like cards: of each group the first, then of each the second, and so on.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    check_tensor("channel_shuffle", input)
    sizes = input._array.shape
    if len(sizes) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(sizes)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if sizes[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {sizes[1]} channels and "
            f"{groups} groups."
        )
    return _channel_shuffle(input, groups)  # type: ignore[no-any-return]
