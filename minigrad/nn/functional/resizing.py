r"""Resizing images, moving channels into space, and the derivatives.

Resizing is linear and goes dimension by dimension: each new entry is a sum of a few old ones times
weights, the taps. The rule goes the way back and adds each gradient, times the same weights, to the
entries that it came from.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.nn.functional import pooling as pooling  # says what "area" calls
from minigrad.signatures import functional
from minigrad.signatures.arguments import check_tensor, not_implemented, number, whole
from minigrad.signatures.variants import in_functional

Taps = tuple[tuple[tuple[Any, Any], ...], ...]  # for each dimension pairs of positions and weights

# for each mode what its operations and their nodes are called
_KINDS = {
    mode: (f"upsample_{mode}{{}}d", f"Upsample{mode.title()}{{}}D")
    for mode in ("nearest", "linear", "bilinear", "trilinear", "bicubic")
}
_KINDS["nearest-exact"] = "upsample_nearest_exact{}d", "UpsampleNearestExact{}D"
# how many dimensions the modes mix that mix entries
_MIXED = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}


def _weighted(array: Any, weight: Any, axis: int) -> Any:
    if weight is None:
        return array
    return array * weight.reshape(-1, *[1] * (array.ndim - axis - 1)).astype(array.dtype)


def _resized(array: Any, taps: Taps) -> Any:
    """Take the sum over the taps, one dimension after the other."""
    for axis, pairs in enumerate(taps, array.ndim - len(taps)):
        total: Any = None
        for positions, weight in pairs:
            part = _weighted(np.take(array, np.asarray(positions, np.intp), axis), weight, axis)
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


def _resizing(name: str, node: str) -> Any:
    """Make the operation of a kind and of a number of dimensions, and its rule."""

    def backward(grad_output: Array, self_sym_sizes: Any, taps: Any) -> Array:
        """Rule of resizing: each gradient goes to the entries that the new one came from."""
        return _brought_back(grad_output, self_sym_sizes, taps)

    def forward(self: Array, taps: Any) -> Array:
        """Resize: each new entry is a weighted sum of old ones."""
        return _resized(self, taps)

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    rule = operation(
        f"{node}BackwardBackward0", grad_output=lambda grad, taps: dispatch(declared, grad, taps)
    )(backward)
    declared = operation(f"{node}Backward0", self=rule)(forward)
    return declared


resizing = {  # the operations by their modes and numbers of dimensions
    (mode, dims): _resizing(name.format(dims), node.format(dims))
    for mode, (name, node) in _KINDS.items()
    for dims in (1, 2, 3)
    if _MIXED.get(mode, dims) == dims
}


# ---------------------------------------------------------------------- what is called


@functional()
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: Any = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: Any = None,
    antialias: Any = False,
) -> Tensor:
    """Resize signals, images or volumes.

    Args:
        input: What to resize.
        size: The new size of each dimension, or one number for all.
        scale_factor: By how much to resize instead, for each dimension or all.
        mode: `"nearest"` and `"nearest-exact"` repeat entries; `"linear"`, `"bilinear"` and
            `"trilinear"` mix the nearest ones, `"bicubic"` more; `"area"` averages.
        align_corners: Whether the first and the last entries keep their places, for modes that mix.
        recompute_scale_factor: Whether to compute the scale again from the sizes.
        antialias: Must be False: nothing is smoothed before it is made smaller.

    Raises:
        NotImplementedError: If the mode does not go with the dimensions, or is not supported.
        ValueError: If sizes and scales are both there, both missing, or too many.

    Shape:
        - input: (N, C, L), (N, C, H, W) or (N, C, D, H, W)
        - output: the same with new sizes

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[[1.0, 3.0]]])
        >>> torch.nn.functional.interpolate(x, scale_factor=2)
        tensor([[[1., 1., 3., 3.]]])
        >>> torch.nn.functional.interpolate(x, size=3, mode="linear", align_corners=True)
        tensor([[[1., 2., 3.]]])
    """
    check_tensor("interpolate", input)
    array = input._array
    dims, old = array.ndim - 2, array.shape[2:]
    if align_corners is not None and mode not in _MIXED:
        raise ValueError(f"interpolate: align_corners means nothing to mode={mode!r}")
    sizes, scales = _wanted(old, size, scale_factor, recompute_scale_factor)
    known = (mode, dims) in resizing or (mode == "area" and dims in (1, 2, 3))
    if antialias or not known:
        raise NotImplementedError(
            f"interpolate has no mode={mode!r} with antialias={antialias} for inputs of "
            f"{dims + 2} dimensions here. It resizes (N, C, L) by linear, (N, C, H, W) by bilinear "
            "or bicubic, (N, C, D, H, W) by trilinear, and all by nearest, nearest-exact and area."
        )
    if mode == "area":
        return in_functional[f"adaptive_avg_pool{dims}d"](input, sizes if dims > 1 else sizes[0])
    if 0 in array.shape[1:] or min(sizes) < 1:
        raise RuntimeError(f"interpolate: no entries, from {list(array.shape)} to {list(sizes)}")
    if array.dtype.kind in "ibc" or (array.dtype.kind == "u" and mode != "nearest"):
        raise not_implemented("interpolate", array)
    taps = tuple(
        _taps(mode, n, o, scale, bool(align_corners), array.dtype)
        for n, o, scale in zip(old, sizes, scales, strict=True)
    )
    return resizing[mode, dims](input, taps)


def _wanted(
    old: tuple[int, ...], size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Give the new sizes, and the scales if these are not to be computed from them."""
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give one of size and scale_factor")
    given = scale_factor if size is None else size
    several = tuple(given) if isinstance(given, (tuple, list)) else (given,) * len(old)
    if len(several) != len(old):
        raise ValueError(f"interpolate: {given} is not one number for each of the sizes {old}")
    if size is not None:
        return tuple(whole("interpolate", n, "size", 2) for n in several), (None,) * len(old)
    scales = tuple(number(each, "interpolate", "scale_factor", 3, "float") for each in several)
    sizes = tuple(int(n * scale) for n, scale in zip(old, scales, strict=True))
    return sizes, (None,) * len(old) if recompute else tuple(map(float, scales))


def _cubic(away: Any) -> Any:
    """Weigh entries by two cubics of their distance that meet with slope -3/4 at 1."""
    near = (1.25 * away - 2.25) * away**2 + 1
    return np.where(away < 1, near, -0.75 * (((away - 5) * away + 8) * away - 4))


def _taps(
    mode: str, old: int, new: int, factor: Any, align_corners: bool, dtype: Any
) -> tuple[tuple[Any, Any], ...]:
    """Give where each new entry comes from, with weights; in the precision that PyTorch uses."""
    wide = np.can_cast(np.float64, dtype)  # into formulas as well
    precise: Any = np.float64 if wide and mode in _MIXED else np.float32
    steps: Any = np.arange(new).astype(precise)
    if mode.startswith("nearest"):
        scale = precise(1.0 / factor if factor else old / new)
        shift = precise(0.5 if mode == "nearest-exact" else 0)
        nearest = np.floor((steps + shift) * scale).astype(np.int64)
        return ((np.minimum(nearest, old - 1), None),)
    if align_corners:
        scale = precise((old - 1) / (new - 1) if new > 1 else 0)
        places = steps * scale
    else:
        scale = precise(1.0 / factor if factor else old / new)
        places = (steps + precise(0.5)) * scale - precise(0.5)
    if mode == "bicubic":
        around = np.floor(places).astype(np.int64) + np.arange(-1, 3)[:, None]
        weights = _cubic(abs(places - around)).astype(precise)
        return tuple(zip(around.clip(0, old - 1), weights, strict=True))
    places = np.maximum(places, 0)
    below = np.minimum(np.floor(places).astype(np.int64), old - 1)
    share = np.minimum(places - below, 1)
    return (below, 1 - share), (np.minimum(below + 1, old - 1), share)


# ---------------------------------------------------------------------- channels into space


@operation(
    "ChannelShuffleBackward0",
    self=lambda grad, groups: dispatch(channel_shuffle, grad, grad.shape[1] // groups or 1),
)
def channel_shuffle(self: Array, groups: int) -> Array:
    """Deal out the channels of groups in turn: the gradient goes the way back."""
    count, channels, *sizes = self.shape
    apart = self.reshape(count, groups, channels // groups, *sizes)
    return apart.swapaxes(1, 2).reshape(self.shape)


@operation(
    "PixelShuffleBackward0",
    self=lambda grad, upscale_factor: dispatch(pixel_unshuffle, grad, upscale_factor),
)
def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    r"""Make blocks of pixels of :math:`r^2` channels: the gradient goes the way back."""
    *batch, channels, height, width = self.shape
    r = upscale_factor
    blocks = self.reshape(-1, channels // r**2, r, r, height, width)
    pixels = blocks.transpose(0, 1, 4, 2, 5, 3)
    return pixels.reshape(*batch, channels // r**2, height * r, width * r)


@operation(
    "PixelUnshuffleBackward0",
    self=lambda grad, downscale_factor: dispatch(pixel_shuffle, grad, downscale_factor),
)
def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    r"""Make :math:`r^2` channels of blocks of pixels: the gradient goes the way back."""
    *batch, channels, height, width = self.shape
    r = downscale_factor
    pixels = self.reshape(-1, channels, height // r, r, width // r, r)
    blocks = pixels.transpose(0, 1, 3, 5, 2, 4)
    return blocks.reshape(*batch, channels * r**2, height // r, width // r)


def _check_factor(name: str, factor: Any, array: Any, divided: bool) -> None:
    """Raise if there is no image, or it cannot be cut into blocks of so many pixels."""
    sizes = array.shape[-3:]
    parts = (factor**2, 1, 1) if not divided else (1, factor, factor)
    if factor < 1 or len(sizes) < 3 or any(n % part for n, part in zip(sizes, parts, strict=True)):
        raise RuntimeError(
            f"{name}(): channels, height and width of {list(array.shape)} must be divisible by "
            f"{parts}"
        )


@functional("pixel_shuffle")
def shuffled_pixels(input: Tensor, upscale_factor: int) -> Tensor:
    """Make blocks of pixels of channels: (..., C r^2, H, W) becomes (..., C, H r, W r).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.pixel_shuffle(torch.ones(1, 8, 3, 3), 2).shape
        torch.Size([1, 2, 6, 6])
    """
    _check_factor("pixel_shuffle", upscale_factor, input._array, divided=False)
    return pixel_shuffle(input, upscale_factor)


@functional("pixel_unshuffle")
def unshuffled_pixels(input: Tensor, downscale_factor: int) -> Tensor:
    """Make channels of blocks of pixels: (..., C, H r, W r) becomes (..., C r^2, H, W).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.pixel_unshuffle(torch.ones(1, 2, 6, 6), 2).shape
        torch.Size([1, 8, 3, 3])
    """
    _check_factor("pixel_unshuffle", downscale_factor, input._array, divided=True)
    return pixel_unshuffle(input, downscale_factor)
