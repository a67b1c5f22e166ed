"""Losses with margins: by how much what is alike, or right, should be nearer than the rest.

They are composed of other operations, but for `soft_margin_loss`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import ignore_errstate, in_rule
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import choices
from minigrad.ops.losses import loss, reduced, weighed
from minigrad.ops.norms import pairwise_distance
from minigrad.ops.type_promotion import refuse_gradient, scalar
from minigrad.signatures.arguments import as_floats


def _where(condition: Tensor, chosen: Tensor) -> Tensor:
    """Give entries where a condition holds, else 0."""
    return choices.where(condition, chosen, wrap(np.zeros((), chosen._array.dtype)))


def _from(number: float, tensor: Tensor) -> Tensor:
    """Subtract a tensor from a number."""
    return scalar(number, tensor._array.dtype) - tensor


@loss()
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
    r"""Compute $x$ where the target is 1, and $\max(0, m - x)$ where it is -1.

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1, -1])
        >>> torch.nn.functional.hinge_embedding_loss(x, y, reduction="none")
        tensor([0.5000, 0.7500])
    """
    near = _from(margin, input).clamp_min(0)
    losses = _where(target.ne(1), near) + _where(target.ne(-1), input)
    return reduced(losses, reduction)


@loss()
@in_rule
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
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
        raise RuntimeError("margin_ranking_loss needs inputs and target of as many dimensions")
    losses = (as_floats(-target * (input1 - input2)) + margin).clamp_min(0)
    return reduced(losses, reduction)


@loss()
@in_rule
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
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
    if dims > 1 or not input1.ndim == input2.ndim == dims + 1:
        raise RuntimeError("cosine_embedding_loss needs one target for each row of two inputs")
    product = (input1 * input2).sum(dims)
    squares = [(x * x).sum(dims) + 1e-12 for x in (input1, input2)]
    cosine = product / (squares[0] * squares[1]).sqrt()
    apart = _from(1, cosine)
    too_near = (cosine - margin).clamp_min(0)
    losses = _where(target.eq(1), apart) + _where(target.eq(-1), too_near)
    return reduced(losses, reduction)


@loss()
@in_rule
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
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
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("triplet_margin_loss needs three tensors of as many dimensions")
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = choices.minimum(far, pairwise_distance(positive, negative, p, eps, False))
    return reduced((near + margin - far).clamp_min(0), reduction)


def _soft_margin_rule(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    power = np.exp(-target * self)
    return weighed(grad * (-target * (power / (1 + power))), None, reduction)


@operation("SoftMarginLossBackward0", constants=("target",), self=_soft_margin_rule)
@ignore_errstate
def soft_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Soft margin :math:`\ln(1 + e^{-t x})` for targets 1 and -1: :math:`-g t\, \sigma(-t x)`."""
    return reduced(np.log1p(np.exp(-(target * self))), reduction)


@loss("soft_margin_loss")
def soft_margin(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
    r"""Compute $\ln(1 + e^{-t x})$ for targets 1 and -1.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
        tensor(0.6931)
    """
    refuse_gradient("soft_margin_loss", "target", target)
    if input._array.dtype.kind in "iub" or target._array.dtype.kind == "b":
        raise RuntimeError("soft_margin_loss takes scores in floats, and targets 1 and -1")
    return soft_margin_loss(input, target.to(input.dtype).expand(input.shape), reduction)


@loss()
@in_rule
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
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
    if target.shape != input.shape or target._array.dtype != np.int64:
        raise RuntimeError("the target holds as many numbers of labels, in int64, as the input")
    labels = np.atleast_2d(target._array)
    counts = np.zeros(labels.shape, input._array.dtype)
    listed = np.logical_and.accumulate(labels >= 0, axis=1)
    np.add.at(counts, (np.nonzero(listed)[0], labels[listed]), 1)
    rows = input.view(labels.shape)
    gaps = (1 - rows.unsqueeze(2) + rows.unsqueeze(1)).relu()
    pairs = wrap(counts[:, :, None] * (counts[:, None, :] == 0))
    losses = (gaps * pairs).sum((1, 2)) / labels.shape[1]
    return reduced(losses.view(input.shape[:-1]), reduction)
