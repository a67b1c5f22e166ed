"""Measure how far numbers are from their targets."""

from __future__ import annotations

from typing import Any

from minigrad import dtypes
from minigrad.nn.functional.reduction import named, number, reduced
from minigrad.nn.warning import warn
from minigrad.ops import losses, regression_losses
from minigrad.ops.calling.arguments import cast
from minigrad.ops.calling.refusing import no_kernel
from minigrad.tensor import Tensor

__all__ = ["huber_loss", "l1_loss", "mse_loss", "smooth_l1_loss"]


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
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
    kind = number(named(size_average, reduce, reduction))
    if weight is not None:
        return _weighed((input - target) ** 2, input, weight, kind)
    if input._array.dtype is not target._array.dtype:
        input, target = _of_one_type("mse_cpu", input, target)
    elif input._array.dtype.kind in "iub":
        raise no_kernel("mse_cpu", input)
    return losses.mse_loss(input, target, kind)  # type: ignore[no-any-return]


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    input, target = of_one_shape(input, target)
    kind = number(named(size_average, reduce, reduction))
    losses = (input - target).abs()
    return reduced(losses, kind) if weight is None else _weighed(losses, input, weight, kind)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
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
    kind = number(named(size_average, reduce, reduction))
    if beta == 0:
        return reduced((input - target).abs(), kind)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _of_one_type("smooth_l1_cpu", input, target)
    return regression_losses.smooth_l1_loss(input, target, kind, beta)  # type: ignore[no-any-return]


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
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
    kind = number(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    meeting = input._array.dtype
    input, target = _of_one_type("huber_cpu", input, target)
    whole = 0 if weight is not None else kind
    result: Tensor = regression_losses.huber_loss(input, target, whole, delta)
    if meeting.kind == "f" and result._array.dtype != meeting:
        result = result.to(dtypes.of_array(input._array.astype(meeting)))
    if weight is None:
        return result
    _check_weights(input, weight)
    return reduced(result * weight, kind)


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
