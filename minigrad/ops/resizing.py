r"""The derivatives of resizing signals, images and volumes, and of moving channels into space.

Resizing is linear and goes dimension by dimension: each new entry is a sum of a few old ones times
weights, the taps. The rule goes the way back and adds each gradient, times the same weights, to the
entries that it came from.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.correlation import in_single
from minigrad.ops.type_promotion import applied

# for each dimension pairs of positions and weights
Taps = tuple[tuple[tuple[Any, Any], ...], ...]

NAMES = {
    "UpsampleNearest1D": "upsample_nearest1d",
    "UpsampleNearest2D": "upsample_nearest2d",
    "UpsampleNearest3D": "upsample_nearest3d",
    "UpsampleNearestExact1D": "upsample_nearest_exact1d",
    "UpsampleNearestExact2D": "upsample_nearest_exact2d",
    "UpsampleNearestExact3D": "upsample_nearest_exact3d",
    "UpsampleLinear1D": "upsample_linear1d",
    "UpsampleBilinear2D": "upsample_bilinear2d",
    "UpsampleTrilinear3D": "upsample_trilinear3d",
    "UpsampleBicubic2D": "upsample_bicubic2d",
}
resizing: dict[str, Any] = {}  # the operations by their names


def _weighted(array: Any, weight: Any, axis: int) -> Any:
    if weight is None:
        return array
    weight = weight.reshape(-1, *[1] * (array.ndim - axis - 1))
    return array * weight.astype(array.dtype)


def _resized(array: Any, taps: Taps) -> Any:
    """Take the sum over the taps, one dimension after the other."""
    for axis, pairs in enumerate(taps, array.ndim - len(taps)):
        total: Any = None
        for positions, weight in pairs:
            part = _weighted(np.take(array, positions, axis), weight, axis)
            total = part if total is None else total + part
        array = total
    return array


def _brought_back(grad: Any, sizes: Any, taps: Taps) -> Any:
    """Add gradients to the entries that they came from, one dimension after the other."""
    for axis, pairs in enumerate(taps, grad.ndim - len(taps)):
        shape = (*grad.shape[:axis], sizes[axis], *grad.shape[axis + 1 :])
        whole = np.zeros_like(grad, order="C", shape=shape)
        for positions, weight in pairs:
            places: Any = (slice(None),) * axis + (positions,)
            np.add.at(whole, places, _weighted(grad, weight, axis))
        grad = whole
    return grad


def _declare(node: str, name: str) -> None:
    """Make the operation of a kind and of a number of dimensions, and its rule."""

    def backward(grad_output: Array, self_sym_sizes: Any, taps: Any) -> Array:
        """Rule of resizing: each gradient goes to the entries that the new one came from."""
        return _brought_back(grad_output, self_sym_sizes, taps)

    backward.__name__ = f"{name}_backward"
    rule = differentiable(
        f"{node}BackwardBackward0",
        grad_output=lambda grad, taps: applied(resizing[name], grad, taps),
    )(in_single(backward))

    def forward(self: Array, taps: Any) -> Array:
        """Resize: each new entry is a weighted sum of old ones."""
        return _resized(self, taps)

    forward.__name__ = name
    resizing[name] = differentiable(f"{node}Backward0", self=rule)(in_single(forward))


for _node, _name in NAMES.items():
    _declare(_node, _name)


# ---------------------------------------------------------------------- channels into space


@differentiable(
    "PixelShuffleBackward0",
    self=lambda grad, upscale_factor: applied(pixel_unshuffle, grad, upscale_factor),
)
def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    r"""Make blocks of pixels of :math:`r^2` channels: the gradient goes the way back."""
    *batch, channels, height, width = self.shape
    r = upscale_factor
    blocks = self.reshape(-1, channels // r**2, r, r, height, width)
    pixels = blocks.transpose(0, 1, 4, 2, 5, 3)
    return pixels.reshape(*batch, channels // r**2, height * r, width * r)


@differentiable(
    "PixelUnshuffleBackward0",
    self=lambda grad, downscale_factor: applied(pixel_shuffle, grad, downscale_factor),
)
def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    r"""Make :math:`r^2` channels of blocks of pixels: the gradient goes the way back."""
    *batch, channels, height, width = self.shape
    r = downscale_factor
    pixels = self.reshape(-1, channels, height // r, r, width // r, r)
    blocks = pixels.transpose(0, 1, 3, 5, 2, 4)
    return blocks.reshape(*batch, channels * r**2, height // r, width // r)


@differentiable(
    "ChannelShuffleBackward0",
    self=lambda grad, self_sym_sizes, groups: applied(
        channel_shuffle, grad, self_sym_sizes[1] // groups
    ),
)
def channel_shuffle(self: Array, groups: int) -> Array:
    """Deal channels out like cards of several stacks: the gradient deals them back."""
    count, channels = self.shape[:2]
    stacks = self.reshape(count, groups, channels // groups, -1)
    return stacks.swapaxes(1, 2).reshape(self.shape)
