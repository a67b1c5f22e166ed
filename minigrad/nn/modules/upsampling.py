"""Resize signals, images and volumes: `Upsample`."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resize signals, images or volumes; see `functional.interpolate`.

    Args:
        size: The new size of each dimension, or one number for all.
        scale_factor: By how much to resize instead, for each dimension or all.
        mode: `"nearest"`, `"linear"`, `"bilinear"`, `"bicubic"` or `"trilinear"`.
        align_corners: Whether the first and the last entries keep their places.
        recompute_scale_factor: Whether to compute the scale anew from the sizes.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Upsample(scale_factor=2)
        Upsample(scale_factor=2.0, mode='nearest')
        >>> torch.nn.Upsample(scale_factor=2)(torch.ones(1, 3, 4, 4)).shape
        torch.Size([1, 3, 8, 8])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Resize the input."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Give scale or size, and the mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Make images larger by repeating pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Make images larger by mixing the nearest pixels, with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
