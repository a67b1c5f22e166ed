r"""Resizing images, sampling between their pixels, moving channels into space, and the derivatives.

Resizing is linear and goes dimension by dimension: each new entry is a sum of a few old ones times
weights, the taps. The rule goes the way back and adds each gradient, times the same weights, to the
entries that it came from. Sampling at places between the pixels is made of operations that have
derivatives already.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn, wrong_type
from minigrad.autograd.rules import applied
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.dtypes import of_array
from minigrad.creation.factories import linspace
from minigrad.faces import functional
from minigrad.faces.arguments import check_tensor, not_implemented, refuse, whole
from minigrad.faces.face import in_functional
from minigrad.nn.functional import adaptive_pooling as adaptive_pooling  # says what "area" calls
from minigrad.ops.type_promotion import check_one_type


class Taps(tuple[tuple[tuple[Any, Any], ...], ...]):
    """For each dimension pairs of positions and weights; and what they were made of."""

    sizes: tuple[int, ...]
    scales: tuple[Any, ...]
    align_corners: bool


# for each mode what its operations and their nodes are called
_KINDS = {
    mode: (f"upsample_{mode}{{}}d", f"Upsample{mode.title()}{{}}D")
    for mode in ("nearest", "linear", "bilinear", "trilinear", "bicubic")
}
_KINDS["nearest-exact"] = "upsample_nearest_exact{}d", "UpsampleNearestExact{}D"
_IMAGES = {"bicubic": 2, "lanczos": 2}
_OFFERED = {*_KINDS, *_IMAGES, "area"}
_SMOOTH = {"linear": 1, "bilinear": 2, "trilinear": 3, **_IMAGES}  # how many dimensions they mix


def _cubic(away: Any, slope: float) -> Any:
    """Weigh entries by two cubics of their distance that meet with the same slope at 1."""
    near = ((slope + 2) * away - (slope + 3)) * away**2 + 1
    return np.where(away < 1, near, slope * (((away - 5) * away + 8) * away - 4))


# for modes that smooth: up to which distance entries count, and how much
_KERNELS: dict[str, tuple[int, Any]] = {
    "bilinear": (1, lambda away: np.maximum(1 - away, 0)),
    "bicubic": (2, lambda away: _cubic(away, -0.5)),
    "lanczos": (3, lambda away: np.sinc(away) * np.sinc(away / 3)),
}
for _mode in _KERNELS:
    _KINDS[f"{_mode}, smoothed"] = f"upsample_{_mode}_aa{{}}d", f"Upsample{_mode.title()}{{}}DAa"
    _SMOOTH[f"{_mode}, smoothed"] = 2


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
    rule = differentiable(
        f"{node}BackwardBackward0", grad_output=lambda grad, taps: applied(operation, grad, taps)
    )(backward)
    operation = differentiable(f"{node}Backward0", self=rule)(forward)
    return operation


resizing = {  # the operations by their modes and numbers of dimensions
    (mode, dims): _resizing(name.format(dims), node.format(dims))
    for mode, (name, node) in _KINDS.items()
    for dims in (1, 2, 3)
    if _SMOOTH.get(mode, dims) == dims
}


# ---------------------------------------------------------------------- what is called

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


@functional(
    "interpolate(input, size=None, scale_factor=None, mode='nearest', bool? align_corners=None, "
    "recompute_scale_factor=None, antialias=False)"
)
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
        mode: `"nearest"` and `"nearest-exact"` repeat entries; `"linear"`, `"bilinear"` and
            `"trilinear"` mix the nearest ones, `"bicubic"` and `"lanczos"` more; `"area"` averages.
        align_corners: Whether the first and the last entries keep their places, for modes that mix.
        recompute_scale_factor: Whether to compute the scale anew from the sizes.
        antialias: Whether to smooth before making smaller, for images; `"lanczos"` always does.

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
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | "
            "bilinear | bicubic | trilinear"
        )
    dims = input._array.ndim - 2
    old = input._array.shape[2:]
    sizes, scales = _wanted(old, max(dims, 0), size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "lanczos" and dims == 2 and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "lanczos" and dims == 2 and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if dims not in (1, 2, 3) or mode not in _OFFERED or (mode in _IMAGES and dims != 2):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {dims + 2}D) for the modes: {_MODES} (got {mode})"
        )
    if _SMOOTH.get(mode, dims) != dims:
        raise NotImplementedError(
            f"Got {dims + 2}D input, but {mode} mode needs {_SMOOTH[mode] + 2}D input"
        )
    if mode == "area":
        return in_functional[f"adaptive_avg_pool{dims}d"](input, sizes if dims > 1 else sizes[0])
    mode += ", smoothed" * antialias
    _check(input._array, sizes, mode)
    taps = Taps(
        _taps(mode, n, o, scale, bool(align_corners), input._array.dtype)
        for n, o, scale in zip(old, sizes, scales, strict=True)
    )
    taps.scales = tuple(None if each is None else float(each) for each in scales)
    taps.sizes, taps.align_corners = sizes, bool(align_corners)
    return resizing[mode, dims](input, taps)


def _wanted(
    old: tuple[int, ...], dims: int, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Give the new sizes, and the scales if these are not to be computed from them."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _of_each(old, dims, size, "output", " size", " of")
        for each in sizes:
            if not isinstance(each, (int, np.integer)):
                raise TypeError(f"sizes must be ints, not {type(each).__name__}: {size}")
        return tuple(map(int, sizes)), (None,) * dims
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (Tensor, np.ndarray)):
        raise wrong_type("interpolate", "scale_factor", "float", scale_factor, 3)
    given = _of_each(old, dims, scale_factor, "scale_factor", "", " of shape")
    sizes = tuple(int(np.floor(float(n) * f)) for n, f in zip(old, given, strict=True))
    return sizes, (None,) * dims if recompute else given


def _of_each(
    old: tuple[int, ...], dims: int, given: Any, what: str, kind: str, link: str
) -> tuple[Any, ...]:
    """Give a size or a scale for each dimension."""
    several = tuple(given) if isinstance(given, (tuple, list)) else (given,) * dims
    if len(several) != dims:
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(old)} and {what}{kind}{link} {given}. Please provide "
            f"input tensor in (N, C, d1, d2, ...,dK) format and {what}{kind} in "
            f"({what[0]}1, {what[0]}2, ...,{what[0]}K) format."
        )
    return several


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
    smoothed, kind = mode.endswith("smoothed"), array.dtype.kind
    half = smoothed and array.dtype == np.float16
    if kind in "ibc" or (kind == "u" and mode != "nearest") or half:
        kernel = "nearest" if mode.startswith("nearest") else mode
        name = f"compute_indices_weights_{kernel.removeprefix('bi').removeprefix('tri')}"
        if smoothed:
            name = "compute_index_ranges_weights"
        elif dims == 2 and mode != "bicubic":
            name = f"upsample_{kernel}2d_channels_last"
        raise not_implemented(name, array)


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
    if mode.endswith("smoothed"):  # the kernel is as wide as what comes together
        reach, kernel = _KERNELS[mode.removesuffix(", smoothed")]
        width, centers = max(scale, precise(1)), scale * (steps + precise(0.5))
        first = np.maximum((centers - reach * width + precise(0.5)).astype(np.int64), 0)
        last = np.minimum((centers + reach * width + precise(0.5)).astype(np.int64), old)
        places = first[:, None] + np.arange((last - first).max())
        away = abs((places - centers[:, None] + precise(0.5)) / width)
        weights = np.where(places < last[:, None], kernel(away), 0)
        weights /= weights.sum(1, keepdims=True)
        places = np.minimum(places, old - 1)
        return tuple(zip(places.T, weights.T.astype(precise), strict=True))
    if not align_corners:
        places = (steps + precise(0.5)) * scale - precise(0.5)
    if mode == "bicubic":
        around = np.floor(places).astype(np.int64) + np.arange(-1, 3)[:, None]
        weights = _cubic(abs(places - around), -0.75).astype(precise)
        return tuple(zip(around.clip(0, old - 1), weights, strict=True))
    places = np.maximum(places, 0)
    below = np.minimum(np.floor(places).astype(np.int64), old - 1)
    share = np.minimum(places - below, 1)
    return (below, 1 - share), (np.minimum(below + 1, old - 1), share)


# ---------------------------------------------------------------------- between the pixels

_SAMPLED = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@functional("affine_grid(theta, size, bool? align_corners=None)")
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    r"""Give the places $(x, y) = \theta (u, v, 1)$ that an affine map assigns to an image's pixels.

    Places lie between -1 and 1: the left (or upper) end is -1, the right (or lower) end 1.

    Args:
        theta: The matrices of the maps.
        size: The shape of the images to be: N, C, H, W.
        align_corners: Whether the ends are the centers of the outermost pixels, or their edges.

    Raises:
        ValueError: If the shapes are not those of images.
        NotImplementedError: If volumes are asked for.

    Shape:
        - theta: (N, 2, 3)
        - output: (N, H, W, 2)

    Example:
        >>> import minigrad as torch
        >>> same = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> torch.nn.functional.affine_grid(same, (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    check_tensor("affine_grid_generator", theta)
    align = _aligned(align_corners)
    if theta._array.dtype.kind in "iubc":
        raise ValueError(
            f"Expected theta to have floating point type, but got {theta.dtype}. Convert it first."
        )
    sizes = tuple(int(n) for n in size)
    if len(sizes) == 5:
        raise NotImplementedError("minigrad samples images along a grid, and no volumes")
    if len(sizes) != 4:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[-2:] != (2, 3):
        raise ValueError(
            f"Expected a batch of 2D affine matrices of shape Nx2x3 for size {size}. Got "
            f"{theta.shape}."
        )
    count, _, height, width = sizes
    if align and min(height, width) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    dtype = theta._array.dtype
    v, u = np.meshgrid(_ends(height, align, dtype), _ends(width, align, dtype), indexing="ij")
    places = np.stack([u, v, np.ones_like(u)], -1).reshape(1, -1, 3)
    base = wrap(np.broadcast_to(places, (count, height * width, 3)).copy())
    return base.bmm(theta.transpose(1, 2)).view(count, height, width, 2)


def _ends(count: int, align: bool, dtype: Any) -> Any:
    """Give places of pixels along one dimension."""
    if count <= 1:
        return np.zeros(count, dtype)
    places = linspace(-1, 1, count, dtype=of_array(np.empty(0, dtype)))._array
    return places if align else places * (count - 1) / count


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details."
        )
    return bool(align_corners)


@functional(
    "grid_sample(input, grid, mode='bilinear', padding_mode='zeros', bool? align_corners=None)"
)
def grid_sample(
    input: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool | None
) -> Tensor:
    """Give the values of images at places between the pixels. Gradients reach image and places.

    Args:
        input: The images.
        grid: The places (x, y), each between -1 and 1.
        mode: `"bilinear"` for the mean of four pixels by distance, `"nearest"` for the nearest
            pixel.
        padding_mode: What is outside of the image: `"zeros"` or the `"border"`.
        align_corners: Whether -1 and 1 are the centers of the outermost pixels, or their edges.

    Raises:
        ValueError: If the mode or the padding is unknown.
        RuntimeError: If the shapes do not fit together.
        NotImplementedError: If the inputs are volumes, or the mode is cubic, or a reflection.

    Shape:
        - input: (N, C, H, W)
        - grid: (N, H_out, W_out, 2)
        - output: (N, C, H_out, W_out)

    Example:
        >>> import minigrad as torch
        >>> image = torch.tensor([[[[0.0, 10.0]]]])
        >>> middle = torch.zeros(1, 1, 1, 2)
        >>> torch.nn.functional.grid_sample(image, middle, align_corners=True)
        tensor([[[[5.]]]])
    """
    if mode not in _SAMPLED:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if mode == "bicubic" or padding_mode == "reflection":
        raise NotImplementedError(
            "grid_sample is neither cubic here, nor does it reflect. Take mode='bilinear' and "
            "padding_mode='border'."
        )
    align = _aligned(align_corners)
    check_tensor("grid_sampler", input)
    check_tensor("grid_sampler", grid, "grid", 2)
    if input.dim() == 5:
        raise NotImplementedError("minigrad samples images along a grid, and no volumes")
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != input.dim() - 2:
        raise RuntimeError(
            "grid_sampler(): expected grid to have size "
            f"{input.dim() - 2} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    if input.dim() != 4 or grid.dim() != 4:
        raise RuntimeError(
            "grid_sampler(): expected 4D input and grid with same number of dimensions, but "
            f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    check_one_type(input._array, grid._array)
    refuse("grid_sampler_2d_cpu_kernel_impl", "biu", input)
    height, width = input.shape[2:]
    x = _pixels(grid[..., 0], width, align)
    y = _pixels(grid[..., 1], height, align)
    if padding_mode == "border":
        x, y = _inside(x, width), _inside(y, height)
    around = _nearest if mode == "nearest" else _linear
    result: Any = None
    for row, of_row in around(y):
        for column, of_column in around(x):
            part = _values(input, row, column) * (of_row * of_column).unsqueeze(1)
            result = part if result is None else result + part
    return result


def _pixels(place: Tensor, count: int, align: bool) -> Tensor:
    """Turn places between -1 and 1 into pixels' numbers, with fractions."""
    if align:
        return (place + 1) * ((count - 1) / 2)
    return (place + 1) * (count / 2) - 0.5


def _inside(pixel: Tensor, count: int) -> Tensor:
    """Bring pixels' numbers into the image."""
    numbers: Any = pixel.detach()
    # the border itself counts as outside: nothing changes there with the place
    within = (numbers > 0) & (numbers < count - 1)
    return pixel.where(within, numbers.clamp(0, count - 1))


def _nearest(pixel: Tensor) -> list[tuple[Tensor, Tensor]]:
    return [(pixel.detach().round(), pixel * 0 + 1)]


def _linear(pixel: Tensor) -> list[tuple[Tensor, Tensor]]:
    first = pixel.detach().floor()
    return [(first, first + 1 - pixel), (first + 1, pixel - first)]


def _values(input: Tensor, row: Tensor, column: Tensor) -> Tensor:
    """Take the pixels of these numbers; outside of the image there are zeros."""
    count, channels, height, width = input.shape
    i, j = np.nan_to_num(row._array, nan=-1.0), np.nan_to_num(column._array, nan=-1.0)
    there = (i >= 0) & (i < height) & (j >= 0) & (j < width)
    flat = (i.clip(0, height - 1) * width + j.clip(0, width - 1)).astype(np.int64)
    pixels = math.prod(flat.shape[1:])
    index = np.broadcast_to(flat.reshape(count, 1, pixels), (count, channels, pixels))
    taken = input.reshape(count, channels, height * width).gather(2, wrap(index.copy()))
    return taken.view(count, channels, *row.shape[1:]).masked_fill(wrap(~there[:, None]), 0)


# ---------------------------------------------------------------------- channels into space


@differentiable(
    "ChannelShuffleBackward0",
    self=lambda grad, groups: applied(channel_shuffle, grad, grad.shape[1] // groups or 1),
)
def channel_shuffle(self: Array, groups: int) -> Array:
    """Deal out the channels of groups in turn: the gradient goes the way back."""
    count, channels, *sizes = self.shape
    apart = self.reshape(count, groups, channels // groups, *sizes)
    return apart.swapaxes(1, 2).reshape(self.shape)


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


def _check_factor(function: str, name: str, factor: Any, array: Any) -> None:
    whole(function, factor, name, 2)
    if array.ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with "
            f"{array.ndim} dimension(s)"
        )
    if factor < 1:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")


@functional("pixel_shuffle(Tensor input, upscale_factor)")
def shuffled_pixels(input: Tensor, upscale_factor: int) -> Tensor:
    """Make blocks of pixels of channels: (..., C r^2, H, W) becomes (..., C, H r, W r).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.pixel_shuffle(torch.ones(1, 8, 3, 3), 2).shape
        torch.Size([1, 2, 6, 6])
    """
    _check_factor("pixel_shuffle", "upscale_factor", upscale_factor, input._array)
    channels = input._array.shape[-3]
    if channels % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{upscale_factor**2}"
        )
    return pixel_shuffle(input, upscale_factor)


@functional("pixel_unshuffle(Tensor input, downscale_factor)")
def unshuffled_pixels(input: Tensor, downscale_factor: int) -> Tensor:
    """Make channels of blocks of pixels: (..., C, H r, W r) becomes (..., C r^2, H, W).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.pixel_unshuffle(torch.ones(1, 2, 6, 6), 2).shape
        torch.Size([1, 8, 3, 3])
    """
    _check_factor("pixel_unshuffle", "downscale_factor", downscale_factor, input._array)
    for dim, name in ((-2, "height"), (-1, "width")):
        size = input._array.shape[dim]
        if size % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {downscale_factor}"
            )
    return pixel_unshuffle(input, downscale_factor)
