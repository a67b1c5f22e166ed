"""Measure how far outputs are from targets, and ask for margins between what differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.index_versions import watched
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.faces.arguments import cast, check_tensor
from minigrad.nn.functional.activation import logsigmoid
from minigrad.nn.functional.linear import pairwise_distance
from minigrad.nn.functional.loss import _OLD, loss, named, number, reduced
from minigrad.ops import composed_losses, losses, margin_losses, regression_losses
from minigrad.ops.type_promotion import no_kernel, refuse_gradient

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "huber_loss", "l1_loss",
    "margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


@loss(f"input, target, {_OLD}, weight=None")
def mse_loss(input: Tensor, target: Tensor, reduction: int, weight: Tensor | None) -> Tensor:
    r"""Compute the squared error $(x - y)^2$, averaged over all elements.

    Args:
        input: The prediction $x$.
        target: What it should be, $y$.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        weight: A factor for each element; the mean is then over the sum of the weights.

    Returns:
        The loss: one number, or one for each element.

    Raises:
        ValueError: If the reduction is none of the three, or there are not as many weights.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """
    input, target = of_one_shape(input, target)
    if weight is not None:
        return _weighed((input - target) ** 2, input, weight, reduction)
    if input._array.dtype is not target._array.dtype:
        input, target = _of_one_type("mse_cpu", input, target)
    elif input._array.dtype.kind in "iub":
        raise no_kernel("mse_cpu", input)
    return losses.mse_loss(input, target, reduction)


@loss(f"input, target, {_OLD}, weight=None")
def l1_loss(input: Tensor, target: Tensor, reduction: int, weight: Tensor | None) -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    input, target = of_one_shape(input, target)
    losses = (input - target).abs()
    return (
        reduced(losses, reduction) if weight is None else _weighed(losses, input, weight, reduction)
    )


@loss(f"input, target, {_OLD}, beta=1.0")
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    r"""Compute $d^2 / (2 \beta)$ where $d = |x - y|$ is less than beta, else $d - \beta / 2$.

    Source: Girshick, *Fast R-CNN*, 2015. Other arguments as for `mse_loss`.

    Args:
        input: The prediction $x$.
        target: What it should be, $y$.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        beta: Where the square goes over into the absolute error; 0 for the latter alone.

    Raises:
        RuntimeError: If `beta` is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.zeros(2))
        tensor(1.3125)
    """
    input, target = of_one_shape(input, target)
    if beta == 0:
        return reduced((input - target).abs(), reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _of_one_type("smooth_l1_cpu", input, target)
    return regression_losses.smooth_l1_loss(input, target, reduction, beta)


@loss("input, target, reduction='mean', delta=1.0, weight=None")
def huber_loss(
    input: Tensor, target: Tensor, reduction: int, delta: float, weight: Tensor | None
) -> Tensor:
    r"""Compute $d^2 / 2$ where $d = |x - y|$ is less than delta, else $\delta (d - \delta / 2)$.

    Source: Huber, *Robust estimation of a location parameter*, 1964.

    Args:
        input: The prediction $x$.
        target: What it should be, $y$.
        reduction: `"mean"`, `"sum"` or `"none"`.
        delta: Where the square goes over into a straight line.
        weight: A factor for each element.

    Raises:
        RuntimeError: If `delta` is not positive.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.huber_loss(torch.tensor([0.5, 3.0]), torch.zeros(2))
        tensor(1.3125)
    """
    input, target = of_one_shape(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    meeting = input._array.dtype
    input, target = _of_one_type("huber_cpu", input, target)
    whole = 0 if weight is not None else reduction
    result: Tensor = regression_losses.huber_loss(input, target, whole, delta)
    if meeting.kind == "f" and result._array.dtype != meeting:
        result = result.to(dtypes.of_array(input._array.astype(meeting)))
    if weight is None:
        return result
    _check_weights(input, weight)
    return reduced(result * weight, reduction)


def _of_one_type(kernel: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Give two tensors so that NumPy computes in the type in which PyTorch would."""
    a, b = input._array, target._array
    meeting = a.dtype if a.dtype is b.dtype else dtypes.result_type(a, b)
    if meeting.kind in "iub":
        raise no_kernel(kernel, input)
    if a.dtype.kind in "iub":
        input = cast(input, meeting)
    if b.dtype.kind in "iub":
        target = cast(target, meeting)
    return input, target


def _check_weights(input: Tensor, weight: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _weighed(losses: Tensor, input: Tensor, weight: Tensor, reduction: int) -> Tensor:
    """Give weighted losses, or their sum, which is divided by the sum of the weights for a mean."""
    _check_weights(input, weight)
    weighted = losses * weight
    if reduction == 0:
        return weighted
    return weighted.sum() / weight.sum() if reduction == 1 else weighted.sum()


def of_one_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast the two, with a warning: one shape for both is what is nearly always meant."""
    size, target_size = input.size(), target.size()
    if size == target_size:
        return input, target
    warn(
        f"Using a target size ({target_size}) that is different to the input size ({size}). "
        "This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        UserWarning,
    )
    together = (input.detach() - target.detach()).shape
    return input.expand(together), target.expand(together)


@loss(f"input1, input2, target, margin=0, {_OLD}")
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
    return composed_losses.cosine_embedding_loss(input1, input2, target, margin, reduction)


@loss(f"input, target, margin=1.0, {_OLD}")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    r"""Compute $x$ where the target is 1, and $\max(0, m - x)$ where it is -1.

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.tensor([0.5, 0.25]), torch.tensor([1, -1])
        >>> torch.nn.functional.hinge_embedding_loss(x, y, reduction="none")
        tensor([0.5000, 0.7500])
    """
    return composed_losses.hinge_embedding_loss(input, target, margin, reduction)


@loss(f"input1, input2, target, margin=0, {_OLD}")
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
    return composed_losses.margin_ranking_loss(input1, input2, target, margin, reduction)


@loss(f"input, target, {_OLD}")
def soft_margin_loss(input: Tensor, target: Tensor, reduction: int) -> Tensor:
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
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{input.dtype.tensor_type}. Convert the input with .float()."
        )
    if target._array.dtype != input._array.dtype and input._array.dtype.kind == "f":
        target = target.detach().to(input.dtype)
    return margin_losses.soft_margin_loss(input, target, reduction)


@loss(f"anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, {_OLD}")
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
    return composed_losses.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction
    )


@loss(
    "anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, "
    "reduction='mean'"
)
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None,
    margin: float,
    swap: bool,
    reduction: int,
) -> Tensor:
    """Compute what `triplet_margin_loss` computes, with a distance of your own.

    Raises:
        ValueError: If the margin is not positive, or the reduction is unknown.
        RuntimeError: If they have different numbers of dimensions.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    composed_losses.check_triplet(anchor, positive, negative)
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((near + margin - far).clamp_min(0), reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute the mean over labels of $-t \ln \sigma(x) - (1 - t) \ln \sigma(-x)$.

    Shape:
        - input and target: (N, C)
        - output: () with a reduction, else (N,)
    """
    reduction = named(size_average, reduce, reduction)
    right: Any = target
    losses = -(right * logsigmoid(input) + (1 - right) * logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    labels = input.dim() - 1
    losses = losses.sum(dim=labels) / input.size(labels)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return reduced(losses, number(reduction))


@loss(f"input, target, p=1, margin=1.0, weight=None, {_OLD}")
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int, margin: float, weight: Tensor | None, reduction: int
) -> Tensor:
    r"""Compute $\frac1C \sum_{i \ne t} \max(0, m - x_t + x_i)^p$ for the right classes t.

    Args:
        input: The scores of the classes.
        target: The numbers of the right classes.
        p: 1 or 2.
        margin: How much greater the score of the right class should be.
        weight: A factor for each class.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input: (N, C), or (C,)
        - target: (N,), or ()
    """
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    refuse_gradient("multi_margin_loss", "weight", weight)
    _check_matrix(input)
    rows = input if input.dim() == 2 else input.reshape(1, -1)
    count, classes = rows._array.shape
    numbers = target._array.reshape(-1)
    if target.dim() > 1 or numbers.size != count:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{count}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    _check_long(target)
    if ((numbers < 0) | (numbers >= classes)).any():
        raise RuntimeError("target out of range")
    scale = np.full(count, 1 / classes, rows._array.dtype)
    if weight is not None:
        if weight._array.size != classes:
            raise RuntimeError(
                f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
            )
        scale = scale * weight._array[numbers]
    result: Tensor = margin_losses.multi_margin_loss(rows, numbers, p, margin, scale, reduction)
    watched(result, target)
    return result.reshape(()) if reduction == 0 and not target.dim() else result


@loss(f"input, target, {_OLD}")
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: int) -> Tensor:
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
    _check_matrix(input)
    if target._array.shape != input._array.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    _check_long(target)
    rows = input if input.dim() == 2 else input.reshape(1, -1)
    labels = target._array.reshape(rows._array.shape)
    if ((labels < -1) | (labels >= labels.shape[1])).any():
        raise RuntimeError("argument #2 'target' is out of range")
    counts = np.zeros(labels.shape, rows._array.dtype)
    listed = np.logical_and.accumulate(labels >= 0, axis=1)
    np.add.at(counts, (np.nonzero(listed)[0], labels[listed]), 1)
    result: Tensor = margin_losses.multilabel_margin_loss(rows, counts, reduction)
    return result.reshape(()) if input.dim() < 2 and reduction == 0 else result


def _check_matrix(input: Tensor) -> None:
    if input.dim() > 2 or not all(input._array.shape[1:]):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )


def _check_long(target: Tensor) -> None:
    if target._array.dtype != np.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {target.dtype.tensor_type}. Convert the target "
            "with .long()."
        )
