r"""Losses of numbers: how far predictions are from targets, and their derivatives.

In all of them :math:`d = x - t` is the prediction minus the target.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import applied, quietly, taking
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.faces.arguments import as_floats, cast, check_tensor, not_implemented
from minigrad.ops import elementwise
from minigrad.ops.choices import pick
from minigrad.ops.losses import OLD, loss, reduced, share
from minigrad.ops.type_promotion import no_cast, no_kernel

# ---------------------------------------------------------------------- losses of a difference


def _loss_of_difference(
    node: str,
    name: str,
    losses: Callable[..., Any],
    slope: Callable[..., Any],
    curvature: Callable[..., Any],
    setting: str = "",
) -> Any:
    """Make a loss, whose rule leads to a second operation with rules of its own.

    Args:
        node: What its node is called.
        name: What it is called.
        losses: Gives the losses of differences.
        slope: Gives their derivatives, times a share.
        curvature: Gives the derivatives of these, times a share, times a gradient.
        setting: The name of what these functions get at the end.
    """
    more = f", reduction{setting and f', {setting}'}"

    @taking(f"grad_output, self, target{more}")
    def backward(grad_output: Array, self: Array, target: Array, reduction: int, *s: Any) -> Array:
        difference = self - target
        return grad_output * slope(difference, share(difference.shape, reduction), *s)

    @taking(f"grad, grad_output, self, target{more}")
    def bent(grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, *s: Any) -> Any:
        part = share(grad.shape, reduction)
        return curvature(grad * grad_output, self - target, part, *s)

    @taking(f"grad, grad_output, self, target{more}")
    def bent_in_target(*given: Any) -> Any:
        return -bent(*given)

    @taking(f"grad, self, target{more}")
    def in_target(grad: Any, self: Any, target: Any, *more: Any) -> Any:
        return applied(rule, grad, target, self, *more)

    @taking(f"self, target{more}")
    def loss(self: Array, target: Array, reduction: int, *s: Any) -> Array:
        return reduced(losses(self - target, *s), reduction)

    loss.__name__, backward.__name__ = name, f"{name}_backward"
    loss.__doc__ = f"Loss of a difference; `{name}` of `minigrad.nn.functional` says which."
    backward.__doc__ = f"Rule of `{name}`: the gradient times the slope at the difference."
    rule = differentiable(
        f"{node}BackwardBackward0",
        broadcasts=True,
        grad_output=backward,
        self=bent,
        target=bent_in_target,
    )(quietly(backward))
    together = differentiable(f"{node}Backward0", broadcasts=True, self=rule, target=in_target)
    return together(quietly(loss))


_mse = _loss_of_difference(
    "MseLoss",
    "mse_loss",
    lambda difference: difference * difference,
    lambda difference, part: (2 * part) * difference,
    lambda product, difference, part: product * (2 * part),
)


def _smooth(difference: Any, beta: Any) -> Any:
    size = np.abs(difference)
    if type(size) is np.ndarray and size.dtype.kind == "f" and beta < math.inf:
        inner = size.clip(0, beta)
        losses = size - 0.5 * inner
        losses *= inner
        losses /= beta
        return losses
    return pick(size < beta, 0.5 * size * size / beta, size - 0.5 * beta)


def _smooth_slope(difference: Any, part: Any, beta: Any) -> Any:
    if type(difference) is np.ndarray and difference.dtype.kind == "f":
        difference /= beta
        slope = difference.clip(-1, 1, out=difference)
        slope *= part
        return slope
    return pick(np.abs(difference) < beta, difference / beta, np.sign(difference)) * part


_smooth_l1 = _loss_of_difference(
    "SmoothL1Loss",
    "smooth_l1_loss",
    _smooth,
    _smooth_slope,
    lambda product, d, part, beta: pick(np.abs(d) < beta, product * (part / beta), 0),
    "beta",
)


def _huber_losses(difference: Any, delta: Any) -> Any:
    size = np.abs(difference)
    return pick(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))


_huber = _loss_of_difference(
    "HuberLoss",
    "huber_loss",
    _huber_losses,
    lambda d, part, delta: pick(np.abs(d) < delta, d, np.sign(d) * delta) * part,
    lambda product, d, part, delta: pick(np.abs(d) < delta, product * part, 0),
    "delta",
)

# ---------------------------------------------------------------------- what is called


@loss(f"mse_loss(input, target, {OLD})")
def squared_error(input: Tensor, target: Tensor, reduction: int) -> Tensor:
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
    if input._array.dtype is not target._array.dtype:
        input, target = _of_one_type("mse_cpu", input, target)
    elif input._array.dtype.kind in "iubc":
        raise no_kernel("mse_cpu", input)
    return _mse(input, target, reduction)


@loss(f"l1_loss(input, target, {OLD})")
def absolute_error(input: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    input, target = of_one_shape(input, target)
    return reduced((input - target).abs(), reduction)


@loss(f"smooth_l1_loss(input, target, {OLD}, float beta=1.0)")
def smooth_absolute_error(input: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
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
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _of_one_type("smooth_l1_cpu", input, target)
    return _smooth_l1(input, target, reduction, beta)


@loss("huber_loss(input, target, reduction='mean', float delta=1.0)")
def hubers_loss(input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    r"""Compute $d^2 / 2$ where $d = |x - y|$ is less than delta, else $\delta (d - \delta / 2)$.

    Source: Huber, *Robust estimation of a location parameter*, 1964.

    Args:
        input: The prediction $x$.
        target: What it should be, $y$.
        reduction: `"mean"`, `"sum"` or `"none"`.
        delta: Where the square goes over into a straight line.

    Raises:
        RuntimeError: If `delta` is not positive.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.huber_loss(torch.tensor([0.5, 3.0]), torch.zeros(2))
        tensor(1.3125)
    """
    input, target = of_one_shape(input, target)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    meeting, own = input._array.dtype, (input, target)
    if meeting.kind in "iu" and target._array.dtype.kind == "f":
        raise no_cast(input, "input")
    input, target = _of_one_type("huber_cpu", input, target)
    result: Tensor = _huber(input, target, reduction, delta)
    if meeting.kind == "f" and result._array.dtype != meeting:
        result = result.to(dtypes.of_array(input._array.astype(meeting)))
    if result.grad_fn is not None and own[0]._array.dtype != own[1]._array.dtype:
        result.grad_fn.register_prehook(partial(_refuse_types, *own))
    return result


def _refuse_types(input: Tensor, target: Tensor, gradients: Any) -> None:
    """Raise in the backward pass of `huber_loss`, as PyTorch does where the types differ."""
    found, wanted = (target, input) if input.requires_grad else (input, target)
    raise RuntimeError(
        f"Found dtype {found.dtype.tensor_type} but expected {wanted.dtype.tensor_type}. "
        "huber_loss has a gradient only for an input and a target of one dtype; convert one."
    )


def _of_one_type(kernel: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Give two tensors so that NumPy computes in the type in which PyTorch would."""
    a, b = input._array, target._array
    meeting = a.dtype if a.dtype is b.dtype else dtypes.result_type(a, b)
    if meeting.kind in "iubc":
        raise not_implemented(kernel, np.empty(0, meeting))
    if a.dtype.kind in "iub":
        input = cast(input, meeting)
    if b.dtype.kind in "iub":
        target = cast(target, meeting)
    return input, target


def of_one_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast the two, with a warning: one shape for both is what is nearly always meant."""
    size, target_size = input.size(), target.size()
    if size == target_size:
        return input, target
    warn(
        f"Using a target size ({target_size}) that is different to the input size ({size}). "
        "This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    together = (input.detach() - target.detach()).shape
    return (
        input if size == together else input.expand(together),
        target if target_size == together else target.expand(together),
    )


# at 0 the logarithm of a target is infinite, and what is made of it is replaced
@loss(
    "poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, "
    "float eps=1e-8, reduce=None, reduction='mean')"
)
@quietly
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
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
    check_tensor("poisson_nll_loss", target, "target", 2)
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
