"""Compute rarer activations, losses and poolings, as functions and as layers.

Each layer is a function, its settings, and which of them it prints.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.faces.face import functional, in_functional
from minigrad.nn import functional as F
from minigrad.nn.functional.resizing import channel_shuffle as shuffled
from minigrad.nn.modules.layer import Layer, _ntuple
from minigrad.nn.modules.loss import REDUCTION, _Loss, _WeightedLoss
from minigrad.nn.modules.parameterless import PairwiseDistance, Upsample, _DropoutNd
from minigrad.ops.correlation import face_of
from minigrad.ops.losses import reduced, reduction_number

torch: Any = sys.modules["minigrad"]


def total(losses: Tensor, *reduction: Any) -> Tensor:
    """Make one number of losses, or leave them: as their last argument says, or two old ones."""
    return reduced(losses, reduction_number(*reduction))


@functional("channel_shuffle")
def _shuffled(input: Tensor, groups: int) -> Tensor:
    """Take channels in turn from groups of them."""
    return shuffled(input, groups)


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


# ---------------------------------------------------------------------- losses


@functional()
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Any = "mean",
) -> Tensor:
    """Give the negative logarithm of normal densities; the variance has no gradient below eps."""
    var = var if isinstance(var, torch.Tensor) else torch.as_tensor(var, dtype=input.dtype)
    if var.shape != input.shape and var.ndim:
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.shape != (*input.shape[:-1], 1):
            raise ValueError("var is of incorrect size")
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")
    var = var + (var.detach().clamp(min=eps) - var.detach())
    losses = (var.log() + (input - target) ** 2 / var + full * math.log(2 * math.pi)) / 2
    return total(losses, reduction)


@functional()
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: Any = 1,
    margin: Any = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
    """Give by how much wrong classes come too near to the right one."""
    rows, right = torch.atleast_2d(input), target.view(-1, 1)
    over = (margin - rows.gather(1, right) + rows).scatter(1, right, 0.0)
    over = torch.where(over > 0, over, 0.0) ** p
    over = over if weight is None else over * weight[right]
    losses = over.sum(1).view(target.shape) / rows.size(1)
    return total(losses, reduction, size_average, reduce)


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
    return total(losses.sum(input.ndim - 1) / input.size(-1), reduction, size_average, reduce)


@functional()
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any = None,
    margin: Any = 1.0,
    swap: Any = False,
    reduction: Any = "mean",
) -> Tensor:
    """Compute by how much what is different is too near to an anchor, by any distance."""
    measure = distance_function or F.pairwise_distance
    away = measure(anchor, negative)
    away = torch.minimum(away, measure(positive, negative)) if swap else away
    return total(F.relu(margin + measure(anchor, positive) - away), reduction)


# ---------------------------------------------------------------------- poolings, resizing


def power_pooled(
    name: str,
    ndim: int,
    input: Tensor,
    norm_type: Any,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Give the norm of the entries of each window."""
    if norm_type in (math.inf, -math.inf):
        sign = 1 if norm_type > 0 else -1
        largest = getattr(F, f"max_pool{ndim}d")
        return sign * largest(sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = getattr(F, f"avg_pool{ndim}d")(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    count = math.prod(_ntuple(ndim)(kernel_size))
    return (mean.sign() * mean.abs().relu() * count).pow(1.0 / norm_type)


def unpooled(
    name: str,
    ndim: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put the largest entries of windows back where they were, into zeros."""
    kernel, stride, padding = map(_ntuple(ndim), (kernel_size, stride or kernel_size, padding))
    known = zip(input.shape[-ndim:], kernel, stride, padding, strict=True)
    usual = [(n - 1) * s + k - 2 * p for n, k, s, p in known]
    sizes = usual if output_size is None else list(output_size)[-ndim:]
    pairs = zip(sizes, usual, stride, strict=True)
    if not all(own - step < wanted < own + step for wanted, own, step in pairs):
        raise ValueError(f"output_size {sizes} is more than a stride away from {usual}")
    entries, places = input.flatten(-ndim), indices.flatten(-ndim)
    whole = torch.zeros(*entries.shape[:-1], math.prod(sizes), dtype=input.dtype)
    return whole.scatter(-1, places, entries).view(*input.shape[:-ndim], *sizes)


for _dims in (1, 2, 3):
    face_of(power_pooled, _dims, f"lp_pool{_dims}d")
    face_of(unpooled, _dims, f"max_unpool{_dims}d")


@functional()
def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: Any = "nearest",
    align_corners: Any = None,
) -> Tensor:
    """Resize, under an old name."""
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return F.interpolate(input, size, scale_factor, mode, align_corners)


@functional()
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Resize, under an old name."""
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate`.")
    return F.interpolate(input, size, scale_factor)


vars(F).update(in_functional)

_MARGINS = f"p=1, margin=1.0, weight=None, {REDUCTION}"
# Each layer: its base class, its function, its settings, and what it prints if not all of them.
_LAYERS: dict[str, tuple[Any, ...]] = {
    "ChannelShuffle": (Layer, "channel_shuffle", "groups"),
    "FeatureAlphaDropout": (_DropoutNd, "feature_alpha_dropout", "p=0.5, inplace=False"),
    "GLU": (Layer, "glu", "dim=-1"),
    "Hardshrink": (Layer, "hardshrink", "lambd=0.5", "lambd"),
    "Mish": (Layer, "mish", "inplace=False"),
    "MultiLabelSoftMarginLoss": (_WeightedLoss, "multilabel_soft_margin_loss", None),
    "MultiMarginLoss": (_Loss, "multi_margin_loss", _MARGINS),
    "PixelUnshuffle": (Layer, "pixel_unshuffle", "downscale_factor"),
    "Softshrink": (Layer, "softshrink", "lambd=0.5", "lambd"),
}


def _layer(name: str, base: Any, function: str, settings: Any, shows: Any = None) -> type:
    doc = f"Compute `functional.{function}`; settings are its arguments."
    body = {"__doc__": doc, "__module__": "minigrad.extra.layers"}
    options = {"calls": getattr(F, function), "settings": settings, "shows": shows}
    return type(name, (base,), body, **options)


globals().update({name: _layer(name, *row) for name, row in _LAYERS.items()})


class _MaxUnpool(Layer, settings="kernel_size, stride=None, padding=0"):
    """Put the largest entries of windows back where they were; see `functional.max_unpool2d`."""

    _dims: int

    def _keep(self, settings: dict[str, Any]) -> None:
        settings["stride"] = settings["stride"] or settings["kernel_size"]
        in_each = _ntuple(self._dims)
        super()._keep({name: in_each(given) for name, given in settings.items()})

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Put the entries back at their indices."""
        windows = self.kernel_size, self.stride, self.padding
        return unpooled("max_unpool", self._dims, input, indices, *windows, output_size)


class _LPPool(Layer, settings="norm_type, kernel_size, stride=None, ceil_mode=False"):
    """Compute the norm of the entries of each window; see `functional.lp_pool2d`."""

    _dims: int

    def forward(self, input: Tensor) -> Tensor:
        """Compute the norms."""
        windows = self.kernel_size, self.stride, self.ceil_mode
        return power_pooled("lp_pool", self._dims, input, float(self.norm_type), *windows)


for _base in (_MaxUnpool, _LPPool):
    for _dims in (1, 2, 3):
        _name = f"{_base.__name__[1:]}{_dims}d"
        _body = {"_dims": _dims, "__doc__": _base.__doc__, "__module__": __name__}
        globals()[_name] = type(_name, (_base,), _body)


class Softmax2d(Layer):
    """Make probabilities of the channels at each place of an image."""

    def forward(self, input: Tensor) -> Tensor:
        """Compute the probabilities."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class TripletMarginWithDistanceLoss(
    _Loss,
    calls=F.triplet_margin_with_distance_loss,
    settings="*, distance_function=None, margin=1.0, swap=False, reduction='mean'",
):
    """Keep those that differ farther away than those alike, by any measure."""

    def _keep(self, settings: dict[str, Any]) -> None:
        settings["distance_function"] = settings["distance_function"] or PairwiseDistance()
        super()._keep(settings)


class UpsamplingNearest2d(Upsample, settings="size=None, scale_factor=None"):
    """Resize images by repeating the nearest entry."""

    def _keep(self, settings: dict[str, Any]) -> None:
        more = {"mode": "nearest", "align_corners": None, "recompute_scale_factor": None}
        super()._keep(settings | more)


class UpsamplingBilinear2d(Upsample, settings="size=None, scale_factor=None"):
    """Resize images by straight lines between the entries, corners on corners."""

    def _keep(self, settings: dict[str, Any]) -> None:
        more = {"mode": "bilinear", "align_corners": True, "recompute_scale_factor": None}
        super()._keep(settings | more)


_OWN = "Softmax2d TripletMarginWithDistanceLoss UpsamplingBilinear2d UpsamplingNearest2d"
NAMES = {*_LAYERS, *_OWN.split()}
NAMES |= {f"{name}{dims}d" for name in ("LPPool", "MaxUnpool") for dims in (1, 2, 3)}
