"""Ask for a margin between what is alike and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.nn.functional.reduction import named, number, reduced
from minigrad.ops import margin_losses
from minigrad.ops.calling import scoring
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.measuring import pairwise_distance
from minigrad.ops.calling.refusing import refuse_gradient
from minigrad.tensor import Tensor

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
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
    kind = number(named(size_average, reduce, reduction))
    return scoring.cosine_embedding_loss(input1, input2, target, margin, kind)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute $x$ where the target is 1, and $\max(0, m - x)$ where it is -1.

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1, -1])
        >>> torch.nn.functional.hinge_embedding_loss(x, y, reduction="none")
        tensor([0.5000, 0.7500])
    """
    kind = number(named(size_average, reduce, reduction))
    return scoring.hinge_embedding_loss(input, target, margin, kind)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
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
    kind = number(named(size_average, reduce, reduction))
    return scoring.margin_ranking_loss(input1, input2, target, margin, kind)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute $\ln(1 + e^{-t x})$ for targets 1 and -1.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.soft_margin_loss(torch.zeros(1), torch.ones(1))
        tensor(0.6931)
    """
    kind = number(named(size_average, reduce, reduction))
    check_tensor("soft_margin_loss", input)
    check_tensor("soft_margin_loss", target, "target", 2)
    refuse_gradient("soft_margin_loss", "target", target)
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{input.dtype.tensor_type}. Convert the input with .float()."
        )
    if target._array.dtype != input._array.dtype and input._array.dtype.kind == "f":
        target = target.detach().to(input.dtype)
    return margin_losses.soft_margin_loss(input, target, kind)  # type: ignore[no-any-return]


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
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
    kind = number(named(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return scoring.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, kind)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Compute what `triplet_margin_loss` computes, with a distance of your own.

    Raises:
        ValueError: If the margin is not positive, or the reduction is unknown.
        RuntimeError: If they have different numbers of dimensions.
    """
    kind = number(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    scoring.check_triplet(anchor, positive, negative)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((near + margin - far).clamp_min(0), kind)
