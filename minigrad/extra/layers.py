"""Compute rarer activations, losses and poolings, as functions and as layers.

Each function is a signature and the expression that it stands for, as in
`minigrad.extra.composed`; each layer is a function, its settings, and which of them it prints.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.faces.face import functional, in_functional
from minigrad.faces.signature import expressions
from minigrad.nn import functional as F
from minigrad.nn.functional.resizing import channel_shuffle as shuffled
from minigrad.nn.modules.layer import Layer, _ntuple
from minigrad.nn.modules.loss import REDUCTION, _Loss, _WeightedLoss
from minigrad.nn.modules.parameterless import PairwiseDistance, Upsample, _DropoutNd
from minigrad.ops.losses import reduced, reduction_number

torch: Any = sys.modules["minigrad"]
SPOKEN_OF = shuffled

# ---------------------------------------------------------------------- what the table speaks of


def total(losses: Tensor, *reduction: Any) -> Tensor:
    """Make one number of losses, or leave them: as their last argument says, or two old ones."""
    return reduced(losses, reduction_number(*reduction))


def gumbel(logits: Tensor, tau: float, hard: bool, dim: int) -> Tensor:
    """Draw one of several, nearly or, forward only, in full (Jang, Gu and Poole, 2016)."""
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = torch.zeros_like(logits).scatter_(dim, soft.argmax(dim, True), 1.0)
    return chosen - soft.detach() + soft


def power_pooled(
    input: Tensor, norm: Any, kernel_size: Any, stride: Any, ceil_mode: bool, ndim: int
) -> Tensor:
    """Give the norm of the entries of each window."""
    if norm in (math.inf, -math.inf):
        sign = 1 if norm > 0 else -1
        largest = getattr(F, f"max_pool{ndim}d")
        return sign * largest(sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = getattr(F, f"avg_pool{ndim}d")(input.pow(norm), kernel_size, stride, 0, ceil_mode)
    count = math.prod(_ntuple(ndim)(kernel_size))
    return (mean.sign() * mean.abs().relu() * count).pow(1.0 / norm)


def unpooled(
    input: Tensor, indices: Tensor, kernel: Any, stride: Any, padding: Any, size: Any, ndim: int
) -> Tensor:
    """Put the largest entries of windows back where they were, into zeros."""
    kernel, stride, padding = map(_ntuple(ndim), (kernel, stride or kernel, padding))
    known = zip(input.shape[-ndim:], kernel, stride, padding, strict=True)
    usual = [(n - 1) * s + k - 2 * p for n, k, s, p in known]
    sizes = usual if size is None else list(size)[-ndim:]
    pairs = zip(sizes, usual, stride, strict=True)
    if not all(own - step < wanted < own + step for wanted, own, step in pairs):
        raise ValueError(f"output_size {sizes} is more than a stride away from {usual}")
    entries, places = input.flatten(-ndim), indices.flatten(-ndim)
    whole = torch.zeros(*entries.shape[:-1], math.prod(sizes), dtype=input.dtype)
    return whole.scatter(-1, places, entries).view(*input.shape[:-ndim], *sizes)


def upsampled(name: str, *given: Any) -> Tensor:
    """Resize, under an old name."""
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")
    return F.interpolate(*given)


def by_triplets(
    anchor: Tensor, positive: Tensor, negative: Tensor, measure: Any, swap: bool
) -> Tensor:
    """Give how much nearer one is to an anchor than another."""
    measure = measure or F.pairwise_distance
    away = measure(anchor, negative)
    away = torch.minimum(away, measure(positive, negative)) if swap else away
    return measure(anchor, positive) - away


def gaussian(input: Tensor, target: Tensor, var: Any, full: bool, eps: float) -> Tensor:
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
    return (var.log() + (input - target) ** 2 / var + full * math.log(2 * math.pi)) / 2


def margins(input: Tensor, target: Tensor, p: int, margin: float, weight: Any) -> Tensor:
    """Give by how much wrong classes come too near to the right one."""
    rows, right = torch.atleast_2d(input), target.view(-1, 1)
    over = (margin - rows.gather(1, right) + rows).scatter(1, right, 0.0)
    over = torch.where(over > 0, over, 0.0) ** p
    over = over if weight is None else over * weight[right]
    return over.sum(1).view(target.shape) / rows.size(1)


# ---------------------------------------------------------------------- the tables

_FUNCTIONS = """
channel_shuffle(Tensor input, int groups) = shuffled(input, groups)
gaussian_nll_loss(Tensor input, Tensor target, var, full=False, float eps=1e-6, reduction="mean")
    = total(gaussian(input, target, var, full, eps), reduction)
gumbel_softmax(Tensor logits, tau=1, hard=False, eps=1e-10, dim=-1) = gumbel(logits, tau, hard, dim)
multi_margin_loss(Tensor input, Tensor target, p=1, margin=1.0, weight=None, size_average=None,
    reduce=None, reduction="mean") = total(margins(input, target, p, margin, weight),
    reduction, size_average, reduce)
multilabel_soft_margin_loss(Tensor input, Tensor target, weight=None, size_average=None,
    reduce=None, reduction="mean") = total((lambda losses: (
    losses if weight is None else losses * weight).sum(input.ndim - 1) / input.size(-1))(
    -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))),
    reduction, size_average, reduce)
triplet_margin_with_distance_loss(Tensor anchor, Tensor positive, Tensor negative, *,
    distance_function=None, margin=1.0, swap=False, reduction="mean") = total(F.relu(
    margin + by_triplets(anchor, positive, negative, distance_function, swap)), reduction)
upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None)
    = upsampled("upsample", input, size, scale_factor, mode, align_corners)
upsample_nearest(Tensor input, size=None, scale_factor=None)
    = upsampled("upsample_nearest", input, size, scale_factor, "nearest", None)
"""

_OF_DIMENSIONS = """
lp_pool#d(Tensor input, norm_type, kernel_size, stride=None, ceil_mode=False)
    = power_pooled(input, norm_type, kernel_size, stride, ceil_mode, #)
max_unpool#d(Tensor input, Tensor indices, kernel_size, stride=None, padding=0, output_size=None)
    = unpooled(input, indices, kernel_size, stride, padding, output_size, #)
"""
_FUNCTIONS += "".join(_OF_DIMENSIONS.replace("#", _digit).lstrip() for _digit in "123")

for _schema, _function in expressions(_FUNCTIONS, globals()):
    functional(_schema)(_function)
    setattr(F, _schema.partition("(")[0], in_functional[_schema.partition("(")[0]])

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
        return unpooled(input, indices, *windows, output_size, self._dims)


class _LPPool(Layer, settings="norm_type, kernel_size, stride=None, ceil_mode=False"):
    """Compute the norm of the entries of each window; see `functional.lp_pool2d`."""

    _dims: int

    def forward(self, input: Tensor) -> Tensor:
        """Compute the norms."""
        norm = float(self.norm_type)
        return power_pooled(input, norm, self.kernel_size, self.stride, self.ceil_mode, self._dims)


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
