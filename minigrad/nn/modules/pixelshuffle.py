"""Move channels into space and back: `PixelShuffle`, `PixelUnshuffle`, `ChannelShuffle`."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Make blocks of pixels of channels: (..., C r^2, H, W) becomes (..., C, H r, W r).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PixelShuffle(2)(torch.ones(1, 8, 3, 3)).shape
        torch.Size([1, 2, 6, 6])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange the input."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Give the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Make channels of blocks of pixels: (..., C, H r, W r) becomes (..., C r^2, H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange the input."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Give the factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Deal channels out like cards: of each group the first, then of each the second, and so on."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange the input."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Give the number of groups."""
        return f"groups={self.groups}"
