"""Compute rarer activations and losses, as functions and layers; look at images through grids.

Each layer is a function, its settings, and which of them it prints.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.dtypes import of_array
from minigrad.creation.factories import linspace
from minigrad.nn import functional as F
from minigrad.nn.modules.layer import Layer
from minigrad.nn.modules.loss import _WeightedLoss
from minigrad.nn.modules.parameterless import _DropoutNd
from minigrad.ops.losses import reduced, reduction_number
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures.arguments import refuse
from minigrad.signatures.variants import functional, in_functional

torch: Any = sys.modules["minigrad"]


@functional()
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Take channels in turn from groups of them."""
    return input.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)


@functional()
def gumbel_softmax(
    logits: Tensor, tau: Any = 1, hard: Any = False, eps: float = 1e-10, dim: Any = -1
) -> Tensor:
    """Draw one of several, nearly or, forward only, in full (Jang, Gu and Poole, 2016)."""
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = torch.zeros_like(logits).scatter_(dim, soft.argmax(dim, True), 1.0)
    return chosen - soft.detach() + soft


@functional()
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
    """Average the binary cross entropies of the labels of each sample."""
    losses = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    losses = losses if weight is None else losses * weight
    number = reduction_number(reduction, size_average, reduce)
    return reduced(losses.sum(input.ndim - 1) / input.size(-1), number)


vars(F).update(in_functional)

# Each layer: its base class, its function, its settings, and what it prints if not all of them.
_LAYERS: dict[str, tuple[Any, ...]] = {
    "ChannelShuffle": (Layer, "channel_shuffle", "groups"),
    "FeatureAlphaDropout": (_DropoutNd, "feature_alpha_dropout", "p=0.5, inplace=False"),
    "GLU": (Layer, "glu", "dim=-1"),
    "Hardshrink": (Layer, "hardshrink", "lambd=0.5", "lambd"),
    "Mish": (Layer, "mish", "inplace=False"),
    "MultiLabelSoftMarginLoss": (_WeightedLoss, "multilabel_soft_margin_loss", None),
    "PixelUnshuffle": (Layer, "pixel_unshuffle", "downscale_factor"),
    "Softshrink": (Layer, "softshrink", "lambd=0.5", "lambd"),
}


def _layer(name: str, base: Any, function: str, settings: Any, shows: Any = None) -> type:
    doc = f"Compute `functional.{function}`; settings are its arguments."
    body = {"__doc__": doc, "__module__": "minigrad.extra.layers"}
    options = {"calls": getattr(F, function), "settings": settings, "shows": shows}
    return type(name, (base,), body, **options)


globals().update({name: _layer(name, *row) for name, row in _LAYERS.items()})


NAMES = {*_LAYERS}

# ---------------------------------------------------------------------- images through grids


@functional()
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
    align = _aligned(align_corners)
    if len(size) != 4:
        raise NotImplementedError(f"affine_grid is for images (N, C, H, W) here, not for {size}")
    if theta.ndim != 3 or theta.shape[1:] != (2, 3) or not theta.is_floating_point():
        raise ValueError(f"affine_grid takes floats of shape (N, 2, 3), not {[*theta.shape]}")
    count, _, height, width = size
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


@functional()
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: Any = "bilinear",
    padding_mode: Any = "zeros",
    align_corners: bool | None = None,
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
        ValueError: If the mode or the padding is none of these.
        RuntimeError: If the shapes do not fit together.

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
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border"):
        raise ValueError(
            f"grid_sample has no mode={mode!r} with padding_mode={padding_mode!r} here. It has "
            "bilinear and nearest, with zeros and border."
        )
    align = _aligned(align_corners)
    if (input.ndim, grid.ndim) != (4, 4) or (len(grid), grid.shape[-1]) != (len(input), 2):
        raise RuntimeError(
            "grid_sample takes images (N, C, H, W) and places (N, H_out, W_out, 2), not "
            f"{[*input.shape]} and {[*grid.shape]}"
        )
    check_one_type(input._array, grid._array)
    refuse("grid_sample", "biu", input)
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
