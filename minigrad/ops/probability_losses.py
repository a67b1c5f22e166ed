"""Losses of probabilities: binary cross entropy, from them and from scores, and divergence.

Weights are arrays, which need no gradient.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import functional
from minigrad.faces.arguments import refuse
from minigrad.ops import type_promotion
from minigrad.ops.activations import log_sigmoid, sigmoid
from minigrad.ops.losses import OLD, loss, reduced, reduction_number
from minigrad.ops.special_functions import logit
from minigrad.ops.type_promotion import differ, refuse_gradient

_TINY = 1e-12  # keeps a quotient finite where a probability is 0 or 1, as in PyTorch


def _weighed(gradient: Any, weight: Any, reduction: int) -> Any:
    """Multiply by the weights, and by the part of each loss in the result."""
    if weight is not None:
        gradient = gradient * weight
    return gradient / math.prod(gradient.shape) if reduction == 1 else gradient


# ---------------------------------------------------------------------- from probabilities


def _bce_gradient_rule(grad: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    slope = (self - target) / ((self + _TINY) * (1 - self + _TINY))
    return _weighed(grad * slope, weight, reduction)


def _bce_curvature_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    both = (self + _TINY) * (1 - self + _TINY)
    curvature = (self * self - 2 * self * target + target) / (both * both)
    return _weighed(curvature * (grad * grad_output), weight, reduction)


def _bce_mixed_rule(
    grad: Any, grad_output: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    return _weighed(-grad * grad_output / (self * (1 - self)), weight, reduction)


@differentiable(
    "BinaryCrossEntropyBackwardBackward0",
    broadcasts=("grad_output",),
    grad_output=_bce_gradient_rule,
    self=_bce_curvature_rule,
    target=_bce_mixed_rule,
)
@quietly
def binary_cross_entropy_backward(
    grad_output: Array, self: Array, target: Array, weight: Any, reduction: int
) -> Array:
    r"""Rule of binary cross entropy, :math:`g\, (x - t) / (x (1 - x))`."""
    slope = (self - target) / np.maximum((1 - self) * self, _TINY)
    return _weighed(grad_output * slope, weight, reduction)


def _bce_target_rule(grad: Any, self: Any, weight: Any, reduction: int) -> Any:
    return _weighed(-applied(logit, self, None) * grad, weight, reduction)


@differentiable(
    "BinaryCrossEntropyBackward0", self=binary_cross_entropy_backward, target=_bce_target_rule
)
@quietly
def binary_cross_entropy(self: Array, target: Array, weight: Any, reduction: int) -> Array:
    r"""Binary cross entropy :math:`-t \ln x - (1 - t) \ln(1 - x)`; logarithms are at least -100."""
    certain = np.maximum(np.log(self), -100)
    losses = (target - 1) * np.maximum(np.log1p(-self), -100) - target * certain
    return reduced(losses if weight is None else losses * weight, reduction)


# ---------------------------------------------------------------------- from scores


def _logits_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = applied(sigmoid, self) - target
    else:
        heavy = target * pos_weight
        slope = (heavy + 1 - target) * applied(sigmoid, self) - heavy
    return _weighed(slope * grad, weight, reduction)


def _logits_target_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = -self
    else:
        slope = applied(log_sigmoid, -self) - applied(log_sigmoid, self) * pos_weight
    return _weighed(slope * grad, weight, reduction)


@differentiable(
    "BinaryCrossEntropyWithLogitsBackward0",
    broadcasts=True,
    self=_logits_rule,
    target=_logits_target_rule,
)
@quietly
def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Any, pos_weight: Any, reduction: int
) -> Array:
    r"""Binary cross entropy of :math:`\sigma(x)`: :math:`g\, (\sigma(x) - t)`.

    With weights p of what is positive, :math:`(1 - t) x + (1 + (p - 1) t) \ln(1 + e^{-x})`.
    """
    losses = -log_sigmoid.forward(self)
    if pos_weight is not None:
        losses = ((pos_weight - 1) * target + 1) * losses
    losses = (1 - target) * self + losses
    losses = losses if weight is None else losses * weight
    # PyTorch computes in the place of the target
    converts = target.dtype.kind == losses.dtype.kind == "f" and losses.dtype != target.dtype
    return reduced(losses.astype(target.dtype) if converts else losses, reduction)


@loss(f"binary_cross_entropy(input, target, weight=None, {OLD})")
def binary_cross_entropy_of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    r"""Compute $-t \ln x - (1 - t) \ln(1 - x)$, averaged; logarithms are at least -100.

    Args:
        input: Probabilities.
        target: What they should be.
        weight: Factors of the losses, which are broadcast.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Returns:
        The loss: one number, or one for each element.

    Raises:
        ValueError: If the shapes differ.
        RuntimeError: If there are numbers outside of [0, 1], or the types differ.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    refuse_gradient("binary_cross_entropy", "weight", weight)
    probabilities, due = input._array, target._array
    weights = None
    if weight is not None:
        if weight.is_complex():
            raise RuntimeError("result type Complex can't be cast to the desired output type Float")
        sizes = type_promotion.broadcast_shape(due.shape, weight._array.shape)
        dtype = due.dtype if due.dtype.kind == "f" else None
        weights = np.array(np.broadcast_to(weight._array, sizes), dtype)
    if probabilities.dtype.kind in "iub":
        raise type_promotion.no_kernel("binary_cross_entropy", input)
    if differ(due, probabilities):
        raise RuntimeError(
            f"Found dtype {target.dtype.tensor_type} but expected {input.dtype.tensor_type}"
        )
    for name, array in (("input", probabilities), ("target", due)):
        if array.dtype.kind == "f" and not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return binary_cross_entropy(input, target, weights, reduction)


@loss(f"binary_cross_entropy_with_logits(input, target, weight=None, {OLD}, pos_weight=None)")
def scores_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, pos_weight: Tensor | None
) -> Tensor:
    r"""Compute the binary cross entropy of $\sigma(x)$ from the scores x, averaged.

    Args:
        input: The scores.
        target: The probabilities that they should stand for.
        weight: Factors of the losses, which are broadcast.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        pos_weight: Factors of what is positive, which are broadcast.

    Returns:
        The loss: one number, or one for each element.

    Raises:
        ValueError: If the shapes differ.
        RuntimeError: If a weight does not broadcast, or the target holds integers.

    Example:
        >>> import minigrad as torch
        >>> x, t = torch.tensor([0.0]), torch.tensor([1.0])
        >>> torch.nn.functional.binary_cross_entropy_with_logits(x, t)
        tensor(0.6931)
    """
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    name = "binary_cross_entropy_with_logits"
    for argument, given in (("weight", weight), ("pos_weight", pos_weight)):
        refuse_gradient(name, argument, given)
    if input._array.dtype.kind in "iub":
        raise type_promotion.no_kernel("log_sigmoid_cpu", input)
    if target._array.dtype.kind in "iub":
        raise type_promotion.no_cast(target, "target")
    refuse("log_sigmoid_cpu", "c", input)
    for each in (weight, pos_weight):
        if each is not None and each.is_complex():
            raise RuntimeError("result type ComplexFloat can't be cast to the desired output type")
    sizes = input._array.shape
    if pos_weight is not None:
        # which names it first, if it does not fit
        type_promotion.broadcast_shape(pos_weight._array.shape, sizes)
        type_promotion.broadcast_into(sizes, pos_weight._array.shape)
        if pos_weight._array.dtype.kind == "b":
            raise RuntimeError("Subtraction of 1 from a pos_weight of booleans is not supported.")
        if pos_weight._array.dtype == np.uint8:  # 0 - 1 is 255, as in PyTorch
            pos_weight = wrap((pos_weight._array - 1).astype(target._array.dtype) + 1)
    if weight is not None:
        type_promotion.broadcast_into(sizes, weight._array.shape)
    dtype = target._array.dtype
    kept = (None if each is None else _kept(each._array, dtype) for each in (weight, pos_weight))
    return binary_cross_entropy_with_logits(input, target, *kept, reduction)


def _kept(weight: Any, dtype: Any) -> Any:
    """Copy weights; whole numbers get the dtype of what they weigh."""
    return np.array(weight, dtype if weight.dtype.kind in "iub" else None)


@functional(f"kl_div(input, target, {OLD}, bool log_target=False)")
def kl_div(
    input: Tensor, target: Tensor, size_average: Any, reduce: Any, reduction: str, log_target: bool
) -> Tensor:
    r"""Compute the Kullback-Leibler divergence $t (\ln t - x)$ of a target from an input.

    Args:
        input: The logarithms x of probabilities.
        target: The probabilities t, or their logarithms if `log_target`.
        size_average: The old way to say `reduction`: False stands for a sum.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"batchmean"` (the sum over the number of samples: the divergence itself),
            `"mean"`, `"sum"` or `"none"`.
        log_target: Whether the target holds logarithms.

    Returns:
        The divergence: one number, or one for each element.

    Raises:
        RuntimeError: If one of the two holds integers.

    Example:
        >>> import minigrad as torch
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
        >>> torch.nn.functional.kl_div(q.log(), p, reduction="batchmean")
        tensor(0.1438)
    """
    old = size_average is not None or reduce is not None
    if reduction == "mean" and not old:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
            "major release."
        )
    total = reduction == "batchmean" and not old
    kind = 2 if total else reduction_number(reduction, size_average, reduce)
    if input._array.dtype.kind in "iub" or target._array.dtype.kind in "iub":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if "c" in (input._array.dtype.kind, target._array.dtype.kind):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if log_target:
        difference = target - input  # first: so PyTorch's graph has it
        losses = target.exp() * difference
    else:
        product = target * input
        losses = target.xlogy(target) - product
    result = reduced(losses, kind)
    if reduction == "batchmean" and input.dim() != 0:
        result = result / input.size(0)
    return result
