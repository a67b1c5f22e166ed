"""Resize signals, images and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.nn.functional.adaptive_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from minigrad.nn.warning import warn
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.resizing import resizing
from minigrad.tensor import Tensor

__all__ = [
    "interpolate",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_SMOOTH = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
_OPERATIONS = {
    "nearest": "upsample_nearest{}d",
    "nearest-exact": "upsample_nearest_exact{}d",
    "linear": "upsample_linear1d",
    "bilinear": "upsample_bilinear2d",
    "trilinear": "upsample_trilinear3d",
    "bicubic": "upsample_bicubic2d",
}
_CUBIC = -0.75  # how much the cubic overshoots


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize signals, images or volumes.

    Args:
        input: What to resize.
        size: The new size of each dimension, or one number for all.
        scale_factor: By how much to resize instead, for each dimension or all.
        mode: `"nearest"` and `"nearest-exact"` repeat entries; `"linear"`, `"bilinear"`,
            `"trilinear"` and `"bicubic"` mix the nearest ones; `"area"` averages.
        align_corners: Whether the first and the last entries keep their places, for modes that mix.
        recompute_scale_factor: Whether to compute the scale anew from the sizes.
        antialias: Must be False: smoothing before making smaller is not supported.

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
    if mode in ("nearest", "area", "nearest-exact", "lanczos") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | "
            "bilinear | bicubic | trilinear"
        )
    dims = input._array.ndim - 2
    old = input._array.shape[2:]
    sizes, scales = _wanted(old, dims, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if antialias or (mode == "lanczos" and dims == 2):
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        raise NotImplementedError(
            "interpolate has no antialias here. Average first, with avg_pool2d for instance."
        )
    if dims not in (1, 2, 3) or mode not in (*_OPERATIONS, "area"):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {dims + 2}D) for the modes: {_MODES} (got {mode})"
        )
    if _SMOOTH.get(mode, dims + 2) != dims + 2:
        raise NotImplementedError(
            f"Got {dims + 2}D input, but {mode} mode needs {_SMOOTH[mode]}D input"
        )
    if mode == "area":
        return _averaged(input, sizes)
    _check(input._array, sizes, mode)
    taps = tuple(
        _taps(mode, n, o, scale, bool(align_corners), input._array.dtype)
        for n, o, scale in zip(old, sizes, scales, strict=True)
    )
    return resizing[_OPERATIONS[mode].format(dims)](input, taps)  # type: ignore[no-any-return]


def _averaged(input: Tensor, sizes: tuple[int, ...]) -> Tensor:
    if len(sizes) == 3:
        return adaptive_avg_pool3d(input, sizes)
    if len(sizes) == 1:
        return adaptive_avg_pool1d(input, sizes[0])
    return adaptive_avg_pool2d(input, sizes)


def _wanted(
    old: tuple[int, ...], dims: int, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Give the new sizes, and the scales if these are not to be computed from them."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,) * dims
        if len(sizes) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(old)} and output size of {size}. Please provide "
                "input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) "
                "format."
            )
        for each in sizes:
            if not isinstance(each, (int, np.integer)):
                raise TypeError(f"sizes must be ints, not {type(each).__name__}: {size}")
        return tuple(map(int, sizes)), (None,) * dims
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * dims
    if len(given) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(old)} and scale_factor of shape {scale_factor}. "
            "Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, "
            "s2, ...,sK) format."
        )
    sizes = tuple(int(np.floor(float(n) * f)) for n, f in zip(old, given, strict=True))
    return sizes, (None,) * dims if recompute else tuple(given)


def _check(array: Any, sizes: tuple[int, ...], mode: str) -> None:
    shape, dims = array.shape, len(sizes)
    if min(*shape[2:], *sizes) < 1:
        axes = ("D", "H", "W")[3 - dims :]
        before = ", ".join(f"{axis}: {n}" for axis, n in zip(axes, shape[2:], strict=True))
        after = ", ".join(f"{axis}: {n}" for axis, n in zip(axes, sizes, strict=True))
        link = "and output" if dims == 1 else "output"
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({before}) {link} "
            f"({after})"
        )
    if shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {list(shape)}"
        )
    if array.dtype.kind in "ib" or (array.dtype.kind == "u" and mode not in ("nearest",)):
        kernel = "nearest" if mode.startswith("nearest") else mode
        name = (
            f"upsample_{kernel}{dims}d_channels_last"
            if dims > 1
            else (f"compute_indices_weights_{kernel}")
        )
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(array)}'")


def _taps(
    mode: str, old: int, new: int, factor: Any, align_corners: bool, dtype: Any
) -> tuple[tuple[Any, Any], ...]:
    """Give where each new entry comes from, with weights; in the precision that PyTorch uses."""
    wide = np.can_cast(np.float64, dtype)  # into formulas as well
    precise: Any = np.float64 if wide and mode in _SMOOTH else np.float32
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
        if mode != "bicubic":
            places = np.maximum(places, 0)
    below = np.floor(places).astype(np.int64)
    if mode == "bicubic":
        return _cubic(places - below, below, old)
    below = np.minimum(below, old - 1)
    share = np.minimum(places - below, 1)
    return (below, 1 - share), (np.minimum(below + 1, old - 1), share)


def _cubic(t: Any, below: Any, old: int) -> Any:
    """Give the four nearest entries with the weights of Keys' cubic convolution (1981)."""
    a = _CUBIC

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    return tuple(
        (np.clip(below + offset, 0, old - 1), weight)
        for offset, weight in zip((-1, 0, 1, 2), weights, strict=True)
    )


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Do what `interpolate` does, under a name that is deprecated."""
    warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Repeat entries, under a name that is deprecated."""
    warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Mix the nearest entries with aligned corners, under a name that is deprecated."""
    warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
