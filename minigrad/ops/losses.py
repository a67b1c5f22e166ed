r"""Losses: how far predictions are from targets, as one number or one for each prediction.

Losses are reduced as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum. Rarer ones
are composed of other operations; rules of rules always are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import dispatch, ignore_errstate, in_rule, with_arguments
from minigrad.core.operation import Array, arguments_of, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.activations import log_sigmoid, sigmoid
from minigrad.ops.choices import pick
from minigrad.ops.softmax import log_softmax
from minigrad.ops.type_promotion import (
    broadcast_shape,
    check_one_type,
    refuse_gradient,
)
from minigrad.signatures import functional
from minigrad.signatures.arguments import as_floats, not_implemented, refuse
from minigrad.signatures.variants import documented

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def reduction_name(reduction: str, size_average: Any, reduce: Any) -> str:
    """Give the name of a reduction that may be said in the old way, by two switches."""
    if size_average is None and reduce is None:
        return reduction
    size_average, reduce = size_average is None or size_average, reduce is None or reduce
    old = "mean" if size_average and reduce else "sum" if reduce else "none"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{old}' instead.")
    return old


def reduction_number(reduction: str, size_average: Any = None, reduce: Any = None) -> int:
    """Give the number under which operations know a reduction: 0, 1 for the mean, 2 for the sum."""
    reduction = reduction_name(reduction, size_average, reduce)
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


def loss(name: str = "") -> Callable[[Any], Any]:
    """Give a loss to `minigrad.nn.functional`.

    The decorated body gets the number of the reduction; `size_average` and `reduce` have had their
    say in it.

    Args:
        name: What it is called, if not as the body.
    """

    def decorate(compute: Any) -> Any:
        names = arguments_of(compute)
        place = names.index("reduction")
        old = [names.index(each) for each in ("size_average", "reduce") if each in names]
        switches = itemgetter(*old) if old else None

        def body(*given: Any) -> Tensor:
            number = _REDUCTIONS.get(given[place])
            said = switches(given) if switches else (None, None)
            if number is None or said != (None, None):
                number = reduction_number(given[place], *said)
            return compute(*given[:place], number, *given[place + 1 :])

        called = name or compute.__name__
        return documented(body, partial(functional, called, like=compute))(compute)

    return decorate


def reduced(losses: Any, reduction: int) -> Any:
    """Give losses as they are (0), their mean (1) or their sum (2)."""
    if isinstance(losses, Tensor):
        return (lambda: losses, losses.mean, losses.sum)[reduction]()
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return np.true_divide(total, losses.size) if reduction == 1 else total


def weighed(gradient: Any, weight: Any, reduction: int) -> Any:
    """Multiply by the weights, and by the part of each loss in the result."""
    if weight is not None:
        gradient = gradient * weight
    return gradient / max(math.prod(gradient.shape), 1) if reduction == 1 else gradient


# ---------------------------------------------------------------------- of a difference


def _loss_of_difference(node: str, name: str, losses: Any, slope: Any, setting: str = "") -> Any:
    """Make a loss of the difference of prediction and target.

    Args:
        node: What its node is called.
        name: What it is called.
        losses: Gives the losses of differences.
        slope: Gives their derivatives.
        setting: The name of what these functions get at the end.
    """
    more = f"self, target, reduction{setting and f', {setting}'}"

    @with_arguments(f"grad, {more}")
    def rule(grad: Any, self: Any, target: Any, reduction: int, *setting: Any) -> Any:
        difference = self - target
        return weighed(grad * slope(difference, *setting), None, reduction)

    @with_arguments(f"grad, {more}")
    def in_target(*given: Any) -> Any:
        return -rule(*given)

    @with_arguments(more)
    def loss(self: Array, target: Array, reduction: int, *setting: Any) -> Array:
        return reduced(losses(self - target, *setting), reduction)

    loss.__name__ = name
    loss.__doc__ = f"Loss of a difference; `{name}` of `minigrad.nn.functional` says which."
    declared = operation(node, broadcasts=True, self=rule, target=in_target)
    return declared(ignore_errstate(loss))


_mse = _loss_of_difference("MseLossBackward0", "mse_loss", lambda d: d * d, lambda d: d * 2)
_smooth_l1 = _loss_of_difference(
    "SmoothL1LossBackward0",
    "smooth_l1_loss",
    lambda d, beta: pick(abs(d) < beta, 0.5 * d * d / beta, abs(d) - 0.5 * beta),
    lambda d, beta: pick(abs(d) < beta, d / beta, np.sign(d)),
    "beta",
)
_huber = _loss_of_difference(
    "HuberLossBackward0",
    "huber_loss",
    lambda d, delta: pick(abs(d) < delta, 0.5 * d * d, delta * (abs(d) - 0.5 * delta)),
    lambda d, delta: pick(abs(d) < delta, d, np.sign(d) * delta),
    "delta",
)


def _of_one_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast the two, with a warning: one shape for both is what is nearly always meant."""
    size, target_size = input._array.shape, target._array.shape
    if size == target_size:
        return input, target
    warn(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    together = broadcast_shape(size, target_size)
    return (
        input if size == together else input.expand(together),
        target if target_size == together else target.expand(together),
    )


def _fitting(kernel: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Give both in one shape, and integers as floats; both may not be integers."""
    if input._array.dtype is not target._array.dtype or input._array.dtype.kind != "f":
        refuse(kernel, "iubc", input, target)
        input, target = as_floats(input), as_floats(target)
    return _of_one_shape(input, target)


@loss("mse_loss")
def squared_error(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
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
    return _mse(*_fitting("mse_cpu", input, target), reduction)


@loss("l1_loss")
def absolute_error(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    input, target = _of_one_shape(input, target)
    return reduced((input - target).abs(), reduction)


@loss("smooth_l1_loss")
def smooth_absolute_error(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
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
    if beta == 0:
        return absolute_error(input, target, reduction=reduction)
    if not beta > 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _smooth_l1(*_fitting("smooth_l1_cpu", input, target), reduction, beta)


@loss("huber_loss")
def hubers_loss(
    input: Tensor, target: Tensor, reduction: Any = "mean", delta: float = 1.0
) -> Tensor:
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
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _huber(*_fitting("huber_cpu", input, target), reduction, delta)


# ---------------------------------------------------------------------- likelihood of classes


def _of_targets(target: Any, weight: Any, ignored: int) -> tuple[Any, Any]:
    """Give the class of each target, and its weight: 0 if it does not count; None if all are 1."""
    if weight is None and np.minimum.reduce(target, None, initial=0) >= 0 > ignored:
        return target, None
    counts = target != ignored
    classes = np.where(counts, target, 0)
    return classes, counts * (np.float32(1) if weight is None else weight[classes])


def _likelihood(node: str, name: str) -> Any:
    """Make the likelihood of classes: of a vector, of rows, or at each place of pictures."""

    def rule(
        grad: Any, self: Any, target: Any, weight: Any, ignore_index: int, reduction: int
    ) -> Any:
        dim = min(self.ndim - 1, 1)
        classes, weights = _of_targets(getattr(target, "_array", target), weight, ignore_index)
        if reduction == 1:  # where nothing counts, nothing gets a gradient, though the loss is NaN
            count = classes.size if weights is None else np.add.reduce(weights, axis=None)
            grad = grad / (count or 1)
        if type(grad) is np.ndarray and self.ndim == 2:
            gradient = np.zeros(self.shape, self.dtype)
            gradient[np.arange(len(self)), classes] = -grad if weights is None else -grad * weights
            return gradient
        part = np.broadcast_to(-grad, classes.shape) if reduction else -grad
        part = part if weights is None else part * weights
        numbers = np.arange(self.shape[dim]).reshape(-1, *(1,) * (self.ndim - dim - 1))
        return pick(np.expand_dims(classes, dim) == numbers, np.expand_dims(part, dim), 0)

    def loss(self: Array, target: Array, weight: Any, ignore_index: int, reduction: int) -> Array:
        classes, weights = _of_targets(target, weight, ignore_index)
        rows = self
        if self.ndim != 2:
            rows = np.moveaxis(self, min(self.ndim - 1, 1), -1).reshape(-1, self.shape[:2][-1])
        losses = -rows[np.arange(classes.size), classes.reshape(-1)].reshape(classes.shape)
        if weights is not None:
            losses = np.where(weights == 0, 0, losses * weights)
        if reduction == 0:
            return losses
        total = np.add.reduce(losses, axis=None)
        if reduction == 2:
            return total
        return total / (losses.size if weights is None else np.add.reduce(weights, axis=None))

    loss.__name__ = name
    loss.__doc__ = r"Likelihood :math:`-w_t x_t`: the class of each target gets :math:`-g w_t`."
    return operation(node, constants=("target",), self=rule)(ignore_errstate(loss))


nll_loss = _likelihood("NllLossBackward0", "nll_loss")
nll_loss2d = _likelihood("NllLoss2DBackward0", "nll_loss2d")


@loss("nll_loss")
def likelihood(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Tensor:
    r"""Compute the negative log-likelihood $-w_t x_t$ of the right classes, averaged.

    Args:
        input: Logarithms of probabilities.
        target: The numbers of the right classes.
        weight: A factor for each class; the mean is over the sum of the weights that count.
        size_average: The old way to say `reduction`: False stands for a sum.
        ignore_index: A target that does not count.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Returns:
        The loss: one number, or one for each target.

    Raises:
        IndexError: If there is no class of that number.
        RuntimeError: If the targets are no integers, or the shapes do not fit together.
        ValueError: If there are not as many targets as samples, or the reduction is unknown.

    Shape:
        - input: (N, C), (C,), or (N, C, d1, ...)
        - target: (N,), (), or (N, d1, ...)
        - weight: (C,)
    """
    array, numbers = input._array, target._array
    sizes = array.shape
    if not sizes or (len(sizes) > 1 and sizes[:1] != numbers.shape[:1]):
        raise ValueError(
            f"nll_loss needs as many targets as samples, got an input of size {list(sizes)} and "
            f"targets of size {list(numbers.shape)}"
        )
    if numbers.shape != sizes[:-1] if len(sizes) < 3 else numbers.shape[1:] != sizes[2:]:
        raise RuntimeError(
            "nll_loss needs one target, the number of a class, for each sample and place, got an "
            f"input of size {list(sizes)} and targets of size {list(numbers.shape)}"
        )
    if array.dtype.kind in "biuc":
        raise not_implemented("nll_loss", array)
    if numbers.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"nll_loss takes targets in int64, got {target.dtype}")
    classes = sizes[:2][-1]
    highest = np.maximum.reduce(numbers, None, initial=0)
    if np.minimum.reduce(numbers, None, initial=0) < 0 or highest >= classes:
        outside = ((numbers < 0) | (numbers >= classes)) & (numbers != ignore_index)
        if outside.any():
            raise IndexError(f"Target {numbers[outside][0]} is out of bounds.")
    weights = None
    if weight is not None:
        refuse_gradient("nll_loss", "weight", weight)
        check_one_type(array, weight._array)
        if weight._array.shape != (classes,):
            raise RuntimeError(f"weight must hold one number for each of {classes} classes")
        weights = weight._array
    if len(sizes) < 3:
        return nll_loss(input, target, weights, ignore_index, reduction)
    if len(sizes) == 4:
        return nll_loss2d(input, target, weights, ignore_index, reduction)
    flat = input.contiguous().view(sizes[0], classes, 1, -1)
    places = target.contiguous().view(sizes[0], 1, -1)
    result: Tensor = nll_loss2d(flat, places, weights, ignore_index, reduction)
    return result.view(numbers.shape) if result.ndim else result


@loss()
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: Any = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Compute the negative logarithm of the softmax at the right class, averaged.

    Args:
        input: The scores of the classes.
        target: The numbers of the right classes; or, as floating point and in the shape of the
            input, their probabilities.
        weight: A factor for each class; the mean is over the sum of the weights that count.
        size_average: The old way to say `reduction`: False stands for a sum.
        ignore_index: A target that does not count.
        reduce: The old way to say `reduction`: False stands for none.
        reduction: `"mean"`, `"sum"` or `"none"`.
        label_smoothing: The part of each target that is shared out evenly among all classes.

    Returns:
        The loss: one number, or one for each target.

    Raises:
        IndexError: If there is no class of that number.
        RuntimeError: If `label_smoothing` is greater than 1, or the shapes do not fit together.
        ValueError: If there are not as many targets as samples, or the reduction is unknown.

    Shape:
        - input: (N, C), (C,), or (N, C, d1, ...)
        - target: (N,), (), or (N, d1, ...); or the shape of the input
        - weight: (C,)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.6931)
    """
    sizes = input._array.shape
    dim = 0 if len(sizes) == 1 else 1
    settings = (weight, ignore_index, reduction)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0 and 1, got {label_smoothing:g}")
    scores = log_softmax(input, dim)
    if target._array.shape == sizes:
        return _of_probabilities(scores, target, dim, *settings, label_smoothing)
    picked = likelihood(scores, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return picked
    return _smoothed(picked, scores, target, dim, *settings, label_smoothing)


def _times_weight(products: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply by the weights of classes."""
    if weight is None:
        return products
    ndim = products.ndim
    return products * (weight if ndim == 1 else weight.view(1, -1, *[1] * (ndim - 2)))


@in_rule
def _of_probabilities(scores: Tensor, target: Tensor, dim: int, *settings: Any) -> Tensor:
    """Compute the cross entropy with probabilities of classes."""
    weight, ignored, reduction, smoothing = settings
    if target._array.dtype.kind in "iub":
        raise RuntimeError(f"probabilities of classes are floats, got targets of {target.dtype}")
    if ignored >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    sizes = scores._array.shape
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / sizes[dim]
    products = _times_weight(scores * target, weight)
    if reduction == 0:
        return -products.sum(dim)
    total = -products.sum()
    samples = math.prod(sizes[:dim] + sizes[dim + 1 :])
    return total if reduction == 2 else total / (samples or float("nan"))


@in_rule
def _smoothed(picked: Tensor, scores: Tensor, target: Tensor, dim: int, *settings: Any) -> Tensor:
    """Share out a part of each target among all classes."""
    weight, ignored, reduction, smoothing = settings
    shared = -_times_weight(scores, weight).sum(dim)
    left_out: Any = target == ignored
    shared.masked_fill_(left_out, 0.0)
    if reduction:
        shared = shared.sum()
    if reduction == 1:
        numbers = target._array[~left_out._array]
        count: Any = numbers.size if weight is None else weight._array[numbers].sum()
        shared = shared / wrap(np.asarray(count, scores._array.dtype))
    shared = shared * (smoothing / scores._array.shape[dim])
    return picked * (1 - smoothing) + shared


# ---------------------------------------------------------------------- of probabilities

_TINY = 1e-12  # keeps a quotient finite where a probability is 0 or 1, as in PyTorch


def _bce_rule(grad: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    product = (1 - self) * self
    slope = (self - target) / pick(product > _TINY, product, _TINY)
    return weighed(grad * slope, weight, reduction)


def _bce_target_rule(grad: Any, self: Any, weight: Any, reduction: int) -> Any:
    return weighed((np.log1p(-self) - np.log(self)) * grad, weight, reduction)


@operation("BinaryCrossEntropyBackward0", self=_bce_rule, target=_bce_target_rule)
@ignore_errstate
def binary_cross_entropy(self: Array, target: Array, weight: Any, reduction: int) -> Array:
    r"""Binary cross entropy :math:`-t \ln x - (1 - t) \ln(1 - x)`; logarithms are at least -100."""
    certain = np.maximum(np.log(self), -100)
    losses = (target - 1) * np.maximum(np.log1p(-self), -100) - target * certain
    return reduced(losses if weight is None else losses * weight, reduction)


def _logits_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    slope = dispatch(sigmoid, self)
    if pos_weight is None:
        slope = slope - target
    else:
        heavy = target * pos_weight
        slope = (heavy + 1 - target) * slope - heavy
    return weighed(slope * grad, weight, reduction)


def _logits_target_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    slope = -self
    if pos_weight is not None:
        slope = dispatch(log_sigmoid, -self) - dispatch(log_sigmoid, self) * pos_weight
    return weighed(slope * grad, weight, reduction)


@operation(
    "BinaryCrossEntropyWithLogitsBackward0",
    broadcasts=True,
    self=_logits_rule,
    target=_logits_target_rule,
)
@ignore_errstate
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
    return reduced(losses if weight is None else losses * weight, reduction)


def _weights(name: str, input: Tensor, target: Tensor, *weights: Tensor | None) -> list[Any]:
    """Check what a binary loss gets, and copy its weights, as they may change."""
    if target.size() != input.size():
        raise ValueError(
            f"{name} needs a target of the same size as the input, got {list(target.shape)} and "
            f"{list(input.shape)}"
        )
    refuse(name, "iubc", input)
    for each in weights:
        refuse_gradient(name, "weight", each)
    return [None if each is None else as_floats(each)._array.copy() for each in weights]


@loss("binary_cross_entropy")
def binary_cross_entropy_of_probabilities(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
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
    weights = _weights("binary_cross_entropy", input, target, weight)
    check_one_type(input._array, target._array)
    for name, array in (("input", input._array), ("target", target._array)):
        if array.dtype.kind == "f" and not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return binary_cross_entropy(input, target, *weights, reduction)


@loss("binary_cross_entropy_with_logits")
def scores_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
    pos_weight: Tensor | None = None,
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
    weights = _weights("binary_cross_entropy_with_logits", input, target, weight, pos_weight)
    if target._array.dtype.kind in "iub":
        raise RuntimeError(
            f"the target holds probabilities, got {target.dtype}. Convert it with .float()."
        )
    return binary_cross_entropy_with_logits(input, target, *weights, reduction)


@functional()
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
    log_target: bool = False,
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
    number = 2 if total else reduction_number(reduction, size_average, reduce)
    if {input._array.dtype.kind, target._array.dtype.kind} & {*"biu"}:
        raise RuntimeError("kl_div takes an input and a target of floats")
    if log_target:
        difference = target - input  # first: so PyTorch's graph has it
        losses = target.exp() * difference
    else:
        product = target * input
        losses = target.xlogy(target) - product
    result = reduced(losses, number)
    return result / input.size(0) if total and input.ndim else result


# at 0 the logarithm of a target is infinite, and what is made of it is replaced
@loss()
@in_rule
@ignore_errstate
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: Any = "mean",
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
    if log_input:
        product = target * input
        losses = input.exp() - product
    else:
        losses = input - target * (input + eps).log()
    if full:
        doubled = target * (2 * math.pi)
        stirling = target * target.log() - target
        stirling = stirling + doubled.log() * 0.5
        losses = losses + stirling.masked_fill(target.le(1), 0)
    return reduced(losses, reduction)
