"""Losses composed of other operations, with a number for the reduction, as PyTorch has them."""

from __future__ import annotations

import math

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import face
from minigrad.faces.arguments import as_floats, cast
from minigrad.ops import choices, elementwise, probability_losses
from minigrad.ops.distances import pairwise_distance
from minigrad.ops.type_promotion import broadcast_error, no_kernel, refuse_gradient, scalar


def reduced(each: Tensor, reduction: int) -> Tensor:
    """Give losses as they are (0), their mean (1) or their sum (2)."""
    return each.mean() if reduction == 1 else each.sum() if reduction == 2 else each


def _from(number: float, tensor: Tensor) -> Tensor:
    """Subtract a tensor from a number."""
    return elementwise.sub(scalar(number, tensor._array.dtype), tensor)


def _zero(like: Tensor) -> Tensor:
    return wrap(np.zeros((), like._array.dtype))


def _where(condition: Tensor, chosen: Tensor) -> Tensor:
    """Give entries where a condition holds, else 0."""
    return choices.where(condition, chosen, _zero(chosen))


@face("kl_div(Tensor input, Tensor target, reduction=0, *, log_target=False)", method=False)
def kl_div(input: Tensor, target: Tensor, reduction: int, log_target: bool) -> Tensor:
    r"""Give the Kullback-Leibler divergence $t (\ln t - x)$ of a target from an input.

    Args:
        input: The logarithms x of probabilities.
        target: The probabilities t, or their logarithms if `log_target`.
        reduction: 0 for none, 1 for the mean, 2 for the sum.
        log_target: Whether the target holds logarithms.

    Raises:
        RuntimeError: If one holds integers.
    """
    if input._array.dtype.kind in "iub" or target._array.dtype.kind in "iub":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        difference = target - input  # first: so PyTorch's graph has it
        losses = target.exp() * difference
    else:
        product = target * input
        losses = target.xlogy(target) - product
    return reduced(losses, reduction)


# at 0 the logarithm of a target is infinite, and what is made of it is replaced
@face(
    "poisson_nll_loss(Tensor input, Tensor target, log_input, full, eps, reduction)", method=False
)
@np.errstate(all="ignore")
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    r"""Give the negative log-likelihood of counts, $e^x - t x$ for logarithms of rates.

    Args:
        input: The logarithms of expected counts, or the counts themselves.
        target: The counts.
        log_input: Whether the input holds logarithms; else the loss is $x - t \ln(x + \epsilon)$.
        full: Add Stirling's approximation of $\ln t!$.
        eps: Is added before the logarithm is taken.
        reduction: 0 for none, 1 for the mean, 2 for the sum.
    """
    if log_input:
        product = target * input
        losses = input.exp() - product
    else:
        losses = input - target * elementwise.add_number(as_floats(input), eps).log()
    if full:
        floats = as_floats(target)
        doubled = elementwise.mul_number(floats, 2 * math.pi)
        stirling = floats * floats.log() - floats
        stirling = stirling + elementwise.mul_number(doubled.log(), 0.5)
        losses = losses + stirling.masked_fill(target.le(1), 0)
    return reduced(losses, reduction)


@face("hinge_embedding_loss(Tensor input, Tensor target, margin=1.0, reduction=0)", method=False)
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    r"""Give $x$ where the target is 1, and $\max(0, m - x)$ where it is -1.

    Args:
        input: Distances.
        target: 1 for what is alike, -1 for what is not.
        margin: How far what is not alike should be.
        reduction: 0 for none, 1 for the mean, 2 for the sum.
    """
    near = _from(margin, input).clamp_min(0)
    losses = _where(target.ne(1), near) + _where(target.ne(-1), input)
    if input._array.dtype.kind in "iu":
        losses = cast(losses, input._array.dtype)
    return reduced(losses, reduction)


@face(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, margin=0.0, reduction=0)",
    method=False,
)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    r"""Give $\max(0, -t (x_1 - x_2) + m)$: which of two should be greater.

    Args:
        input1: The first scores.
        input2: The second ones.
        target: 1 where the first should be greater, -1 where the second.
        margin: By how much.
        reduction: 0 for none, 1 for the mean, 2 for the sum.

    Raises:
        RuntimeError: If they have different numbers of dimensions.
    """
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    losses = elementwise.add_number(-target * (input1 - input2), margin).clamp_min(0)
    return reduced(losses, reduction)


@face(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, margin=0.0, reduction=0)",
    method=False,
)
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    r"""Give $1 - \cos$ of vectors where the target is 1, and $\max(0, \cos - m)$ where it is -1.

    Args:
        input1: Vectors.
        input2: Other ones.
        target: 1 for what is alike, -1 for what is not.
        margin: The cosine up to which two vectors are not alike.
        reduction: 0 for none, 1 for the mean, 2 for the sum.

    Raises:
        RuntimeError: If the shapes do not fit together.

    Shape:
        - input1 and input2: (N, D), or (D,)
        - target: (N,), or ()
    """
    dims = target.ndim
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == dims + 1:
        raise RuntimeError(
            f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(dims)
    squares = [
        elementwise.add_number(as_floats((x * x).sum(dims)), 1e-12) for x in (input1, input2)
    ]
    cosine = product / (squares[0] * squares[1]).sqrt()
    apart = _from(1, cosine)
    too_near = elementwise.sub_number(cosine, margin).clamp_min(0)
    losses = _where(target.eq(1), apart) + _where(target.eq(-1), too_near)
    return reduced(losses, reduction)


@face(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, margin=1.0, p=2, "
    "eps=1e-6, swap=False, reduction=0)",
    method=False,
)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> Tensor:
    r"""Give $\max(0, m + d(a, p) - d(a, n))$: what is alike should be nearer than what is not.

    Args:
        anchor: Vectors a.
        positive: Vectors that are like them.
        negative: Vectors that are not.
        margin: How much nearer.
        p: The order of the norm.
        eps: Is added to the differences.
        swap: Take the distance of positive and negative where that is smaller than the anchor's.
        reduction: 0 for none, 1 for the mean, 2 for the sum.

    Raises:
        RuntimeError: If they have different numbers of dimensions.
    """
    check_triplet(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = choices.minimum(far, pairwise_distance(positive, negative, p, eps, False))
    losses = (elementwise.add_number(near, margin) - far).clamp_min(0)
    return reduced(losses, reduction)


def check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    """Raise if three tensors have different numbers of dimensions."""
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )


@face(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, Tensor?"
    " pos_weight=None, reduction=0)",
    method=False,
)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    r"""Give the binary cross entropy of $\sigma(x)$ from the scores x, without loss of precision.

    Args:
        input: The scores.
        target: The probabilities that they should stand for.
        weight: Factors of the losses.
        pos_weight: Factors of what is positive.
        reduction: 0 for none, 1 for the mean, 2 for the sum.

    Raises:
        RuntimeError: If a weight does not broadcast, or the target holds integers.
    """
    name = "binary_cross_entropy_with_logits"
    for argument, given in (("weight", weight), ("pos_weight", pos_weight)):
        refuse_gradient(name, argument, given)
    if input._array.dtype.kind in "iub":
        raise no_kernel("log_sigmoid_cpu", input)
    if target._array.dtype.kind in "iub":
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{target.dtype.tensor_type}. Convert the target with .float()."
        )
    sizes = np.broadcast_shapes(input._array.shape, target._array.shape)
    if pos_weight is not None:
        _fits(sizes, pos_weight, first=True)
    if weight is not None:
        _fits(sizes, weight)
    return probability_losses.binary_cross_entropy_with_logits(
        input,
        target,
        None if weight is None else weight._array.copy(),
        None if pos_weight is None else pos_weight._array.copy(),
        reduction,
    )


def _fits(sizes: tuple[int, ...], weight: Tensor, first: bool = False) -> None:
    """Raise if a weight does not broadcast to the shape of the losses."""
    have = weight._array.shape
    try:
        whole = np.broadcast_shapes(sizes, have)
    except ValueError:
        raise broadcast_error(*((have, sizes) if first else (sizes, have))) from None
    if whole != sizes:
        raise RuntimeError(
            f"output with shape {list(sizes)} doesn't match the broadcast shape {list(whole)}"
        )
