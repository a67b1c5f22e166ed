"""Ask for a margin between the scores of right classes, or labels, and of wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.watched import watched
from minigrad.nn.functional.hard_activation import logsigmoid
from minigrad.nn.functional.reduction import named, number, reduced
from minigrad.ops import margin_losses
from minigrad.ops.calling.refusing import refuse_gradient
from minigrad.tensor import Tensor

__all__ = ["multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss"]


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


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
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
    kind = number(named(size_average, reduce, reduction))
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
    result: Tensor = margin_losses.multi_margin_loss(rows, numbers, p, margin, scale, kind)
    watched(result, target)
    return result.reshape(()) if kind == 0 and not target.dim() else result


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
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
    kind = number(named(size_average, reduce, reduction))
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
    result: Tensor = margin_losses.multilabel_margin_loss(rows, counts, kind)
    return result.reshape(()) if input.dim() < 2 and kind == 0 else result


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
