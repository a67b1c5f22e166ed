"""Measure how far predictions are from their targets."""

from __future__ import annotations

from typing import Any

from minigrad.nn.functional.reduction import named, number, reduced
from minigrad.nn.warning import warn
from minigrad.ops import losses
from minigrad.tensor import Tensor

__all__ = [
    "cross_entropy",
    "l1_loss",
    "mse_loss",
    "nll_loss",
]


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute the squared error $(x - y)^2$, averaged over all elements.

    Args:
        input: The prediction $x$.
        target: What it should be, $y$.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Returns:
        The loss: one number, or one for each element.

    Raises:
        ValueError: If the reduction is none of the three.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """
    input, target = of_one_shape(input, target)
    return losses.mse_loss(input, target, number(named(size_average, reduce, reduction)))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`."""
    input, target = of_one_shape(input, target)
    return reduced((input - target).abs(), number(named(size_average, reduce, reduction)))


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


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute the negative log-likelihood $-x_{n, y_n}$ of the right classes, averaged.

    Args:
        input: Logarithms of probabilities.
        target: The numbers of the right classes.
        weight: Must be None: weights of classes are not supported.
        size_average: The old way to say `reduction`: False stands for a sum.
        ignore_index: Must be -100: targets to be ignored are not supported.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Returns:
        The loss: one number, or one for each sample.

    Raises:
        IndexError: If there is no class of that number.
        NotImplementedError: If `weight` or `ignore_index` is given.
        RuntimeError: If the targets are no integers.
        ValueError: If there are not as many targets as samples, or the reduction is unknown.

    Shape:
        - input: (N, C), or (C,)
        - target: (N,), or ()
    """
    reduction = named(size_average, reduce, reduction)
    if weight is not None or ignore_index != -100:
        raise NotImplementedError("nll_loss has no weight and no ignore_index here.")
    sizes, numbers = input._array.shape, target._array
    if len(sizes) not in (1, 2):
        raise NotImplementedError("nll_loss takes inputs of shape (N, C) or (C,) here.")
    if numbers.dtype.kind not in "iub":
        raise RuntimeError(
            "expected target dtype to be Long or Byte, but got "
            f"{target.type()[len('torch.') : -len('Tensor')]}"
        )
    if numbers.shape != sizes[:-1]:
        raise ValueError(
            f"Expected input batch_size ({sizes[0]}) to match target batch_size ({target.numel()})."
        )
    # seen without sign, a negative number is too large as well
    if numbers.size and numbers.view(f"u{numbers.itemsize}").max() >= sizes[-1]:
        outside = numbers[(numbers < 0) | (numbers >= sizes[-1])]
        raise IndexError(f"Target {outside[0]} is out of bounds.")
    return losses.nll_loss(input, target, number(reduction))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Compute the negative logarithm of the softmax at the right class, averaged.

    Args:
        input: The scores of the classes.
        target: The numbers of the right classes; or, as floating point and in the shape of the
            input, their probabilities.
        weight: Must be None: weights of classes are not supported.
        size_average: The old way to say `reduction`: False stands for a sum.
        ignore_index: Must be -100: targets to be ignored are not supported.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        label_smoothing: Must be 0: smoothed labels are not supported.

    Returns:
        The loss: one number, or one for each sample.

    Raises:
        IndexError: If there is no class of that number.
        NotImplementedError: If `weight`, `ignore_index` or `label_smoothing` is given.
        ValueError: If there are not as many targets as samples, or the reduction is unknown.

    Shape:
        - input: (N, C), or (C,)
        - target: (N,), or (); or the shape of the input

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.6931)
    """
    if label_smoothing:
        raise NotImplementedError("cross_entropy has no label_smoothing here.")
    reduction = named(size_average, reduce, reduction)
    classes = 0 if input.ndim == 1 else 1
    scores = input.log_softmax(classes)
    if not target.is_floating_point() or target.shape != input.shape:
        return nll_loss(scores, target, weight, None, ignore_index, None, reduction)
    if weight is not None:
        raise NotImplementedError("cross_entropy has no weight here.")
    if number(reduction) == 0:
        return -(scores * target).sum(classes)
    total = -(scores * target).sum()
    return total / (input.numel() / input.shape[classes]) if reduction == "mean" else total
