r"""Losses that ask for a margin between what is alike and what is not, right and wrong.

Losses are reduced as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces.arguments import as_floats, cast, check_tensor, refuse
from minigrad.ops import choices, elementwise, type_promotion
from minigrad.ops.losses import OLD, loss, reduced, share
from minigrad.ops.norms import pairwise_distance
from minigrad.ops.type_promotion import refuse_gradient, scalar

# ---------------------------------------------------------------------- what is alike


def _from(number: float, tensor: Tensor) -> Tensor:
    """Subtract a tensor from a number."""
    return elementwise.sub(scalar(number, tensor._array.dtype), tensor)


def _where(condition: Tensor, chosen: Tensor) -> Tensor:
    """Give entries where a condition holds, else 0."""
    return choices.where(condition, chosen, wrap(np.zeros((), chosen._array.dtype)))


@loss(f"hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, {OLD})")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    r"""Compute $x$ where the target is 1, and $\max(0, m - x)$ where it is -1.

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1, -1])
        >>> torch.nn.functional.hinge_embedding_loss(x, y, reduction="none")
        tensor([0.5000, 0.7500])
    """
    near = _from(margin, input).clamp_min(0)
    losses = _where(target.ne(1), near) + _where(target.ne(-1), input)
    if input._array.dtype.kind in "iu":
        losses = cast(losses, input._array.dtype)
    return reduced(losses, reduction)


@loss(f"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, {OLD})")
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    r"""Compute $\max(0, -t (x_1 - x_2) + m)$: which of two should be greater.

    Raises:
        RuntimeError: If they have different numbers of dimensions.

    Example:
        >>> import minigrad as torch
        >>> x, y, t = torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0])
        >>> torch.nn.functional.margin_ranking_loss(x, y, t)
        tensor(2.)
    """
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    losses = elementwise.add_number(as_floats(-target * (input1 - input2)), margin).clamp_min(0)
    return reduced(losses, reduction)


@loss(f"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, {OLD})")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    r"""Compute $1 - \cos$ of vectors where the target is 1, and $\max(0, \cos - m)$ where it is -1.

    Args:
        input1: Vectors.
        input2: Other ones.
        target: 1 for what is alike, -1 for what is not.
        margin: The cosine up to which two vectors are not alike.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Raises:
        RuntimeError: If the shapes do not fit together.

    Shape:
        - input1 and input2: (N, D), or (D,)
        - target: (N,), or ()

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
        >>> torch.nn.functional.cosine_embedding_loss(x, y, torch.tensor([1]))
        tensor(1.)
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


@loss(
    "triplet_margin_loss(anchor, positive, negative, float margin=1.0, float p=2, "
    f"float eps=1e-06, swap=False, {OLD})"
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
    r"""Compute $\max(0, m + d(a, p) - d(a, n))$: what is alike should be nearer.

    Source: Balntas et al., *Learning local feature descriptors with triplets and shallow
    convolutional neural networks*, 2016.

    Args:
        anchor: Vectors a.
        positive: Vectors that are like them.
        negative: Vectors that are not.
        margin: How much nearer the first should be than the second.
        p: The order of the norm.
        eps: Is added to the differences.
        swap: Take the distance of positive and negative where that is smaller than the anchor's.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Raises:
        ValueError: If the margin is not positive.
        RuntimeError: If they have different numbers of dimensions.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    for place, (name, each) in enumerate(
        (("anchor", anchor), ("positive", positive), ("negative", negative)), 1
    ):
        check_tensor("triplet_margin_loss", each, name, place)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = choices.minimum(far, pairwise_distance(positive, negative, p, eps, False))
    losses = (elementwise.add_number(near, margin) - far).clamp_min(0)
    return reduced(losses, reduction)


# ---------------------------------------------------------------------- right and wrong


def _soft_margin_slope(self: Any, target: Any, reduction: int) -> Any:
    if getattr(target.dtype, "kind", "") == "b":
        raise type_promotion.no_booleans(TypeError(), target)
    power = np.exp(-target * self)
    return -target * (power / (1 + power) * share(power.shape, reduction))


def _soft_margin_curvature_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, reduction: int
) -> Any:
    power = np.exp(target * self)
    curvature = target * target * power / ((1 + power) * (1 + power))
    return grad * grad_output * curvature * share(grad.shape, reduction)


@differentiable(
    "SoftMarginLossBackwardBackward0",
    broadcasts=("grad_output",),
    constants=("target",),
    grad_output=lambda grad, self, target, reduction: (
        grad * _soft_margin_slope(self, target, reduction)
    ),
    self=_soft_margin_curvature_rule,
)
@quietly
def soft_margin_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int
) -> Array:
    r"""Rule of the soft margin, :math:`-g t\, \sigma(-t x)`."""
    return grad_output * _soft_margin_slope(self, target, reduction)


@differentiable("SoftMarginLossBackward0", constants=("target",), self=soft_margin_loss_backward)
@quietly
def soft_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Soft margin :math:`\ln(1 + e^{-t x})` for targets 1 and -1."""
    return reduced(np.log1p(np.exp(-(target * self))), reduction)


@loss(f"soft_margin_loss(input, target, {OLD})")
def soft_margin(input: Tensor, target: Tensor, reduction: int) -> Tensor:
    r"""Compute $\ln(1 + e^{-t x})$ for targets 1 and -1.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
        tensor(0.6931)
    """
    check_tensor("soft_margin_loss", input)
    check_tensor("soft_margin_loss", target, "target", 2)
    refuse_gradient("soft_margin_loss", "target", target)
    if input._array.dtype.kind in "iub":
        raise type_promotion.no_cast(input, "input")
    type_promotion.broadcast_into(input._array.shape, target._array.shape)
    if target.is_complex() and not input.is_complex():
        raise RuntimeError(
            "result type ComplexFloat can't be cast to the desired output type Float"
        )
    if target._array.dtype.kind not in "ub":  # of those PyTorch takes the negative as they are
        target = cast(target.detach(), input._array.dtype)
    return soft_margin_loss(input, target, reduction)


def _pairs(self: Any, counts: Any) -> Any:
    """Tell which wrong class comes too near to which right one, and by how much."""
    gaps = 1 - np.expand_dims(self, 2) + np.expand_dims(self, 1)
    return np.where(gaps > 0, gaps, 0) * (counts[:, :, None] * (counts[:, None, :] == 0))


def _multilabel_margin_rule(grad: Any, self: Any, counts: Any, reduction: int) -> Any:
    ones = np.ones_like(np.expand_dims(self, 2))
    near = np.where(_pairs(self, counts) > 0, ones, 0) * counts[:, :, None]
    slope = np.add.reduce(near, axis=1) - np.add.reduce(near, axis=2)
    each = np.reshape(grad, (-1, 1)) if reduction == 0 else grad
    return each * slope * (share((len(counts),), reduction) / counts.shape[1])


@differentiable("MultilabelMarginLossBackward0", self=_multilabel_margin_rule)
def multilabel_margin_loss(self: Array, counts: Any, reduction: int) -> Array:
    r"""Margin of labels, :math:`\frac1C \sum_j \sum_i \max(0, 1 - x_j + x_i)` for j right, i wrong.

    `counts` says how often each label is among the right ones, as floating point.
    """
    total = np.add.reduce(_pairs(self, counts), axis=(1, 2))
    return reduced(total / counts.shape[1], reduction)


@loss(f"multilabel_margin_loss(input, target, {OLD})")
def label_margins(input: Tensor, target: Tensor, reduction: int) -> Tensor:
    r"""Compute $\frac1C \sum_{j, i} \max(0, 1 - x_j + x_i)$ for right labels j and wrong ones i.

    Args:
        input: The scores of the labels.
        target: The numbers of the right labels, in any order, followed by -1.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input and target: (N, C), or (C,)
    """
    if input.dim() > 2 or not all(input._array.shape[1:]):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    if target._array.shape != input._array.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if target._array.dtype != np.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {target.dtype.tensor_type}. Convert the target "
            "with .long()."
        )
    refuse("multilabel_margin_loss_forward_out_frame", "iubc", input)
    rows = input if input.dim() == 2 else input.reshape(1, -1)
    labels = target._array.reshape(rows._array.shape)
    if ((labels < -1) | (labels >= labels.shape[1])).any():
        raise RuntimeError("argument #2 'target' is out of range")
    counts = np.zeros(labels.shape, rows._array.dtype)
    listed = np.logical_and.accumulate(labels >= 0, axis=1)
    np.add.at(counts, (np.nonzero(listed)[0], labels[listed]), 1)
    result: Tensor = multilabel_margin_loss(rows, counts, reduction)
    return result.reshape(()) if input.dim() < 2 and reduction == 0 else result
