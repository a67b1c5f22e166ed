"""Turn the distance between outputs and targets into one number: the losses as modules."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional as F
from minigrad.nn.modules.layer import Layer
from minigrad.ops.losses import reduction_name

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "MSELoss", "NLLLoss", "SmoothL1Loss", "TripletMarginLoss",
]  # fmt: skip

REDUCTION = "size_average=None, reduce=None, reduction='mean'"


class _Loss(Layer, settings=REDUCTION, shows=""):
    """What all losses share: how the losses of the entries become one number."""

    def _keep(self, settings: dict[str, Any]) -> None:
        size_average, reduce = settings.pop("size_average", None), settings.pop("reduce", None)
        settings["reduction"] = reduction_name(settings["reduction"], size_average, reduce)
        for name in ("weight", "pos_weight"):
            if name in settings:
                self.register_buffer(name, settings.pop(name))
        super()._keep(settings)


class _WeightedLoss(_Loss, settings=f"weight=None, {REDUCTION}"):
    """What losses share that weigh the classes."""


class MSELoss(_Loss, calls=F.mse_loss):
    r"""The squared error $(x - y)^2$, averaged over all elements.

    Args:
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input and target: the same shape
        - output: () with a reduction, else the shape of the input

    Example:
        >>> import minigrad as torch
        >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """


class L1Loss(_Loss, calls=F.l1_loss):
    """The absolute error $|x - y|$, averaged over all elements.

    Args:
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input and target: the same shape
        - output: () with a reduction, else the shape of the input

    Example:
        >>> import minigrad as torch
        >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """


class SmoothL1Loss(_Loss, calls=F.smooth_l1_loss, settings=f"{REDUCTION}, beta=1.0"):
    r"""$d^2 / (2 \beta)$ where the error $d = |x - y|$ is less than beta, else $d - \beta/2$.

    Args:
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        beta: Where one goes over into the other.
    """


class HuberLoss(_Loss, calls=F.huber_loss, settings="reduction='mean', delta=1.0"):
    r"""$d^2 / 2$ where the error $d = |x - y|$ is less than delta, else $\delta (d - \delta/2)$.

    Args:
        reduction: `"mean"`, `"sum"` or `"none"`.
        delta: Where one goes over into the other.
    """


class NLLLoss(
    _WeightedLoss,
    calls=F.nll_loss,
    settings="weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
):
    r"""The negative log-likelihood $-x_{n, y_n}$ of the right classes, averaged.

    Args:
        weight: A factor for each class.
        size_average: The old way to say `reduction`: False stands for a sum.
        ignore_index: A target that does not count.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input: (N, C) logarithms of probabilities, or (C,)
        - target: (N,) class numbers, or ()
    """


class CrossEntropyLoss(
    _WeightedLoss,
    calls=F.cross_entropy,
    settings="weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
    "label_smoothing=0.0",
):
    r"""The negative logarithm of the softmax at the right class, averaged.

    Args:
        weight: A factor for each class.
        size_average: The old way to say `reduction`: False stands for a sum.
        ignore_index: A target that does not count.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        label_smoothing: The part of each target that is shared out evenly among all classes.

    Shape:
        - input: (N, C) scores, or (C,)
        - target: (N,) class numbers, or (); or the shape of the input, with probabilities

    Example:
        >>> import minigrad as torch
        >>> torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.6931)
    """


class BCELoss(_WeightedLoss, calls=F.binary_cross_entropy):
    r"""Binary cross entropy $-t \ln x - (1 - t) \ln(1 - x)$ of probabilities, averaged.

    Args:
        weight: Factors of the losses.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
        tensor(0.6931)
    """


class BCEWithLogitsLoss(
    _Loss,
    calls=F.binary_cross_entropy_with_logits,
    settings=f"weight=None, {REDUCTION}, pos_weight=None",
):
    r"""Binary cross entropy of $\sigma(x)$ from the scores x, averaged.

    Args:
        weight: Factors of the losses.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        pos_weight: Factors of what is positive.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor(0.6931)
    """


class KLDivLoss(_Loss, calls=F.kl_div, settings=f"{REDUCTION}, log_target=False"):
    r"""The Kullback-Leibler divergence $t (\ln t - x)$ of a target from logarithms x.

    Args:
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"batchmean"` (the divergence itself), `"mean"`, `"sum"` or `"none"`.
        log_target: Whether the target holds logarithms.
    """


class TripletMarginLoss(
    _Loss,
    calls=F.triplet_margin_loss,
    settings=f"margin=1.0, p=2.0, eps=1e-6, swap=False, {REDUCTION}",
):
    r"""$\max(0, m + d(a, p) - d(a, n))$: what is alike should be nearer than what is not.

    Args:
        margin: How much nearer.
        p: The order of the norm.
        eps: Is added to the differences.
        swap: Take the distance of positive and negative where that is smaller than the anchor's.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        if settings["margin"] <= 0:
            raise ValueError(f"TripletMarginLoss needs a margin above 0, got {settings['margin']}")
        super()._keep(settings)
