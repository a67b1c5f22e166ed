"""Measure how far probabilities are from their targets: binary, of distributions, of counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.modes import no_grad
from minigrad.creation import ones_like
from minigrad.nn.functional.reduction import named, number, reduced
from minigrad.nn.warning import warn
from minigrad.ops import probability_losses
from minigrad.ops.calling import scoring
from minigrad.ops.calling.refusing import no_kernel, refuse_gradient
from minigrad.ops.factors import differ
from minigrad.tensor import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "kl_div",
    "poisson_nll_loss",
]


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute $-t \ln x - (1 - t) \ln(1 - x)$, averaged; logarithms are at least -100.

    Args:
        input: Probabilities.
        target: What they should be.
        weight: Factors of the losses, which are broadcast.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Returns:
        The loss: one number, or one for each element.

    Raises:
        ValueError: If the shapes differ.
        RuntimeError: If there are numbers outside of [0, 1], or the types differ.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    kind = number(named(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    refuse_gradient("binary_cross_entropy", "weight", weight)
    probabilities, due = input._array, target._array
    weights = None
    if weight is not None:
        weights = np.array(_expanded(weight, due.shape))
    if probabilities.dtype.kind in "iub":
        raise no_kernel("binary_cross_entropy", input)
    if differ(due, probabilities):
        raise RuntimeError(
            f"Found dtype {target.dtype.tensor_type} but expected {input.dtype.tensor_type}"
        )
    for name, array in (("input", probabilities), ("target", due)):
        if array.dtype.kind == "f" and not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return probability_losses.binary_cross_entropy(input, target, weights, kind)  # type: ignore[no-any-return]


def _expanded(weight: Tensor, sizes: tuple[int, ...]) -> Any:
    have = weight._array.shape
    for back in range(1, min(len(have), len(sizes)) + 1):
        if have[-back] != sizes[-back] and 1 not in (have[-back], sizes[-back]):
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {have[-back]} at -{back}! "
                f"Mismatching argument at index 1 had {weight.size()}; but expected shape should "
                f"be broadcastable to {list(sizes)}"
            )
    return np.broadcast_to(weight._array, np.broadcast_shapes(sizes, have))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    r"""Compute the binary cross entropy of $\sigma(x)$ from the scores x, averaged.

    Args:
        input: The scores.
        target: The probabilities that they should stand for.
        weight: Factors of the losses, which are broadcast.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        pos_weight: Factors of what is positive, which are broadcast.

    Returns:
        The loss: one number, or one for each element.

    Raises:
        ValueError: If the shapes differ.

    Example:
        >>> import minigrad as torch
        >>> x, t = torch.tensor([0.0]), torch.tensor([1.0])
        >>> torch.nn.functional.binary_cross_entropy_with_logits(x, t)
        tensor(0.6931)
    """
    kind = number(named(size_average, reduce, reduction))
    if not (target.size() == input.size()):
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return scoring.binary_cross_entropy_with_logits(input, target, weight, pos_weight, kind)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    r"""Compute the Kullback-Leibler divergence $t (\ln t - x)$ of a target from an input.

    Args:
        input: The logarithms x of probabilities.
        target: The probabilities t, or their logarithms if `log_target`.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"batchmean"` (the sum over the number of samples: the divergence itself),
            `"mean"`, `"sum"` or `"none"`.
        log_target: Whether the target holds logarithms.

    Returns:
        The divergence: one number, or one for each element.

    Example:
        >>> import minigrad as torch
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
        >>> torch.nn.functional.kl_div(q.log(), p, reduction="batchmean")
        tensor(0.1438)
    """
    if size_average is not None or reduce is not None:
        kind = number(named(size_average, reduce, reduction))
    else:
        if reduction == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                "major release.",
                UserWarning,
            )
        kind = 2 if reduction == "batchmean" else number(reduction)
    result = scoring.kl_div(input, target, kind, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        result = result / input.size(0)
    return result


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute the negative log-likelihood of counts, $e^x - t x$ for logarithms of rates.

    Args:
        input: The logarithms of expected counts, or the counts themselves.
        target: The counts.
        log_input: Whether the input holds logarithms; else the loss is $x - t \ln(x + \epsilon)$.
        full: Add Stirling's approximation of $\ln t!$.
        size_average: The old way to say `reduction`: False stands for a sum.
        eps: Is added before the logarithm is taken.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.tensor([1.0, 2.0]))
        tensor(1.)
    """
    reduction = named(size_average, reduce, reduction)
    return scoring.poisson_nll_loss(input, target, log_input, full, eps, number(reduction))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute the negative log-likelihood of a normal distribution, $(\ln v + (x - t)^2 / v) / 2$.

    Args:
        input: The means x.
        target: The numbers t that were drawn.
        var: The variances v, or one number.
        full: Add $\ln(2 \pi) / 2$.
        eps: The least that a variance counts as; as such it gets the gradient all the same.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Raises:
        ValueError: If a variance is negative, or there are not as many as needed.

    Example:
        >>> import minigrad as torch
        >>> x, t = torch.tensor([1.0]), torch.tensor([3.0])
        >>> torch.nn.functional.gaussian_nll_loss(x, t, torch.tensor([1.0]))
        tensor(2.)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = ones_like(input) * var
    elif isinstance(var, Tensor) and var.size() != input.size():
        have, sizes = tuple(var.shape), tuple(input.shape)
        if sizes[:-1] == have:
            var = var.unsqueeze(-1)
        elif sizes[:-1] != have[:-1] or have[-1] != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if not isinstance(var, Tensor):
        raise TypeError(f"var must be a tensor or a float, but got {type(var).__name__}")
    if (var._array < 0).any():
        raise ValueError("var has negative entry/entries")
    limited: Any = var.clone()
    with no_grad():
        limited.clamp_(min=eps)
    losses = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, number(reduction))
