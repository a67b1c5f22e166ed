"""Read how a loss is to be reduced: to its mean, its sum, or not at all."""

from __future__ import annotations

from typing import Any

from minigrad.nn.warning import warn
from minigrad.tensor import Tensor


def named(size_average: Any, reduce: Any, reduction: str) -> str:
    """Give the name of a reduction that may be said in the old way, by two switches."""
    if size_average is None and reduce is None:
        return reduction
    old = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(
        f"size_average and reduce args will be deprecated, please use reduction='{old}' instead.",
        UserWarning,
    )
    return old


_REDUCTIONS = ("none", "mean", "sum")


def number(reduction: str) -> int:
    """Give the number under which the loss operations know a reduction."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS.index(reduction)


def reduced(each: Tensor, reduction: int) -> Tensor:
    """Give the losses of the elements, their mean or their sum, by the reduction's number."""
    return (lambda: each, each.mean, each.sum)[reduction]()
