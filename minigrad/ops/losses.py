r"""Losses: how far predictions are from targets, as one number or one for each prediction.

Losses are reduced as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum. Rarer ones
are composed of other operations; rules of rules always are.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import dispatch, ignore_errstate, in_rule, with_arguments
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.activations import log_sigmoid, sigmoid
from minigrad.ops.choices import minimum, pick
from minigrad.ops.joining import broadcast_tensors
from minigrad.ops.linear_algebra import pairwise_distance
from minigrad.ops.softmax import log_softmax
from minigrad.ops.type_promotion import check_one_type, refuse_gradient
from minigrad.signatures import functional
from minigrad.signatures.arguments import as_floats, refuse
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


def loss(before: str = "reduction", known: dict[str, int] = _REDUCTIONS) -> Callable[[Any], Any]:
    """Give a loss to `minigrad.nn.functional`.

    The loss takes `size_average` and `reduce`, too: the old way to say the reduction. The decorated
    body gets the number of the reduction.

    Args:
        before: Before which argument `size_average` stands; `reduce` stands before `reduction`.
        known: The reductions that there are.
    """

    def decorate(compute: Any) -> Any:
        parameters = [*inspect.signature(compute).parameters.values()]
        names = [each.name for each in parameters]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        for switch, after in (("reduce", "reduction"), ("size_average", before)):
            more = inspect.Parameter(switch, kind, default=None, annotation="Any")
            parameters.insert(names.index(after), more)
        place, average = names.index("reduction") + 2, names.index(before)

        def body(*given: Any) -> Tensor:
            number = known.get(given[place])
            switches = given[average], given[place - 1]
            if number is None or switches != (None, None):
                number = reduction_number(given[place], *switches)
            settings = given[average + 1 : place - 1]
            return compute(*given[:average], *settings, number, *given[place + 1 :])

        body.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return documented(body, partial(functional, compute.__name__))(compute)

    return decorate


def reduced(losses: Any, reduction: int) -> Any:
    """Give losses as they are (0), their mean (1) or their sum (2)."""
    if isinstance(losses, Tensor):
        return (lambda: losses, losses.mean, losses.sum)[reduction]()
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return np.true_divide(total, losses.size) if reduction == 1 else total


# ---------------------------------------------------------------------- of each entry


def _of_entries(
    node: str, name: str, losses: Any, slope: Any, target_slope: Any, settings: str
) -> Any:
    """Make a loss that each entry of the prediction has with its target.

    Args:
        node: What its node is called.
        name: What it is called.
        losses: Gives the losses of predictions and targets; it gets the settings, too.
        slope: Gives their derivatives in the predictions.
        target_slope: Gives their derivatives in the targets.
        settings: The names of the settings, with a comma before each.
    """
    takes = f"self, target, reduction{settings}"

    def rule_of(slope: Any) -> Any:
        @with_arguments(f"grad, {takes}")
        def rule(grad: Any, self: Any, target: Any, reduction: int, *settings: Any) -> Any:
            gradient = slope(self, target, *settings) * grad
            return gradient / max(math.prod(gradient.shape), 1) if reduction == 1 else gradient

        return rule

    @with_arguments(takes)
    def loss(self: Array, target: Array, reduction: int, *settings: Any) -> Array:
        return reduced(losses(self, target, *settings), reduction)

    loss.__name__ = name
    loss.__doc__ = f"Loss of each entry; `{name}` of `minigrad.nn.functional` says which."
    rules = {"self": rule_of(slope), "target": rule_of(target_slope)}
    return operation(node, broadcasts=True, **rules)(ignore_errstate(loss))


def _of_difference(node: str, name: str, losses: Any, slope: Any, settings: str = "") -> Any:
    """Make a loss of the difference of prediction and target."""
    return _of_entries(
        node,
        name,
        lambda x, y, *settings: losses(x - y, *settings),
        lambda x, y, *settings: slope(x - y, *settings),
        lambda x, y, *settings: -slope(x - y, *settings),
        settings,
    )


_mse = _of_difference("MseLossBackward0", "mse_loss", lambda d: d * d, lambda d: d * 2)
_smooth_l1 = _of_difference(
    "SmoothL1LossBackward0",
    "smooth_l1_loss",
    lambda d, beta: pick(abs(d) < beta, 0.5 * d * d / beta, abs(d) - 0.5 * beta),
    lambda d, beta: pick(abs(d) < beta, d / beta, np.sign(d)),
    ", beta",
)
_huber = _of_difference(
    "HuberLossBackward0",
    "huber_loss",
    lambda d, delta: pick(abs(d) < delta, 0.5 * d * d, delta * (abs(d) - 0.5 * delta)),
    lambda d, delta: pick(abs(d) < delta, d, np.sign(d) * delta),
    ", delta",
)


def _of_one_shape(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Broadcast the two, with a warning: one shape for both is what is nearly always meant."""
    if input._array.shape == target._array.shape:
        return input, target
    warn(f"Using a target size ({target.size()}) different to the input size ({input.size()})")
    return broadcast_tensors(input, target)


def _fitting(kernel: str, input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Give both in one shape, and integers as floats; both may not be integers."""
    if input._array.dtype is not target._array.dtype or input._array.dtype.kind != "f":
        refuse(kernel, "iubc", input, target)
        input, target = as_floats(input), as_floats(target)
    return _of_one_shape(input, target)


@loss()
def mse_loss(input: Tensor, target: Tensor, reduction: Any = "mean") -> Tensor:
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


@loss()
def l1_loss(input: Tensor, target: Tensor, reduction: Any = "mean") -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    input, target = _of_one_shape(input, target)
    return reduced((input - target).abs(), reduction)


@loss()
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: Any = "mean", beta: float = 1.0
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
        return l1_loss(input, target, reduction)
    if not beta > 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return _smooth_l1(*_fitting("smooth_l1_cpu", input, target), reduction, beta)


@functional()
def huber_loss(
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
    number = reduction_number(reduction)
    return _huber(*_fitting("huber_cpu", input, target), number, delta)


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
        if type(self) is np.ndarray and self.ndim == 2:
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
        if reduction != 1 or weights is None:
            return reduced(losses, reduction)
        return np.add.reduce(losses, axis=None) / np.add.reduce(weights, axis=None)

    loss.__name__ = name
    loss.__doc__ = r"Likelihood :math:`-w_t x_t`: the class of each target gets :math:`-g w_t`."
    return operation(node, constants=("target",), self=rule)(ignore_errstate(loss))


_nll = _likelihood("NllLossBackward0", "nll_loss")
_nll2d = _likelihood("NllLoss2DBackward0", "nll_loss2d")


@loss("ignore_index")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
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
    if numbers.shape != sizes[: len(sizes) > 1] + sizes[2:] or not sizes:
        samples = sizes and (len(sizes) == 1 or sizes[:1] == numbers.shape[:1])
        raise (RuntimeError if samples else ValueError)(
            f"nll_loss needs one class for each place: {list(sizes)} and {list(numbers.shape)}"
        )
    if numbers.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"nll_loss takes targets in int64, got {target.dtype}")
    classes = sizes[:2][-1]
    unsigned = numbers.view(np.uint64) if numbers.dtype == np.int64 else numbers  # -1 is huge
    if np.maximum.reduce(unsigned, None, initial=0) >= classes:
        outside = ((numbers < 0) | (numbers >= classes)) & (numbers != ignore_index)
        if outside.any():
            raise IndexError(f"Target {numbers[outside][0]} is out of bounds.")
    if weight is not None:
        refuse_gradient("nll_loss", "weight", weight)
        check_one_type(array, weight._array)
        if weight._array.shape != (classes,):
            raise RuntimeError(f"weight must hold one number for each of {classes} classes")
        weight = weight._array
    settings = (weight, ignore_index, reduction)
    if len(sizes) in (1, 2, 4):
        return (_nll if len(sizes) < 3 else _nll2d)(input, target, *settings)
    flat = input.contiguous().view(sizes[0], classes, 1, -1)
    places = target.contiguous().view(sizes[0], 1, -1)
    result: Tensor = _nll2d(flat, places, *settings)
    return result.view(numbers.shape) if result.ndim else result


@loss("ignore_index")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
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
        RuntimeError: If the shapes do not fit together.
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
    scores = log_softmax(input, dim)
    if target._array.shape == sizes:
        return _of_probabilities(scores, target, dim, *settings, label_smoothing)
    picked = nll_loss(scores, target, *settings)
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


def _times(losses: Any, weight: Any) -> Any:
    return losses if weight is None else losses * weight


def _entropies(x: Array, t: Array, weight: Any) -> Array:
    r"""Compute :math:`-t \ln x - (1 - t) \ln(1 - x)`; logarithms are at least -100."""
    certain = np.maximum(np.log(x), -100)
    return _times((t - 1) * np.maximum(np.log1p(-x), -100) - t * certain, weight)


def _entropies_slope(x: Any, t: Any, weight: Any) -> Any:
    product = (1 - x) * x
    return _times((x - t) / pick(product > _TINY, product, _TINY), weight)


_bce = _of_entries(
    "BinaryCrossEntropyBackward0",
    "binary_cross_entropy",
    _entropies,
    _entropies_slope,
    lambda x, t, weight: _times(np.log1p(-x) - np.log(x), weight),
    ", weight",
)


def _score_entropies(x: Array, t: Array, weight: Any, pos_weight: Any) -> Array:
    r"""Compute :math:`(1 - t) x + (1 + (p - 1) t) \ln(1 + e^{-x})`, with weights p of positives."""
    losses = -log_sigmoid.forward(x)
    if pos_weight is not None:
        losses = ((pos_weight - 1) * t + 1) * losses
    return _times((1 - t) * x + losses, weight)


def _score_slope(x: Any, t: Any, weight: Any, pos_weight: Any) -> Any:
    slope = dispatch(sigmoid, x)
    if pos_weight is None:
        return _times(slope - t, weight)
    heavy = t * pos_weight
    return _times((heavy + 1 - t) * slope - heavy, weight)


def _score_target_slope(x: Any, t: Any, weight: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return _times(-x, weight)
    return _times(dispatch(log_sigmoid, -x) - dispatch(log_sigmoid, x) * pos_weight, weight)


_bce_of_scores = _of_entries(
    "BinaryCrossEntropyWithLogitsBackward0",
    "binary_cross_entropy_with_logits",
    _score_entropies,
    _score_slope,
    _score_target_slope,
    ", weight, pos_weight",
)


def _binary(
    operation: Any, input: Tensor, target: Tensor, reduction: int, *weights: Tensor | None
) -> Tensor:
    """Compute a binary loss, with copies of the weights: they may change before the backward."""
    if target.size() != input.size():
        raise ValueError(f"a target of the same size as the input is needed: {list(input.shape)}")
    for each in weights:
        refuse_gradient(operation.__name__, "weight", each)
    kept = [None if each is None else as_floats(each)._array.copy() for each in weights]
    return operation(input, target, reduction, *kept)


@loss()
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: Any = "mean"
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
    check_one_type(input._array, target._array)
    for name, array in (("input", input._array), ("target", target._array)):
        if array.dtype.kind == "f" and not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return _binary(_bce, input, target, reduction, weight)


@loss()
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
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
    if target._array.dtype.kind in "iub":
        raise RuntimeError(f"the target holds probabilities, got {target.dtype}: use .float()")
    return _binary(_bce_of_scores, input, target, reduction, weight, pos_weight)


@loss(known={**_REDUCTIONS, "batchmean": 3})
def kl_div(
    input: Tensor, target: Tensor, reduction: Any = "mean", log_target: bool = False
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

    Example:
        >>> import minigrad as torch
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
        >>> torch.nn.functional.kl_div(q.log(), p, reduction="batchmean")
        tensor(0.1438)
    """
    if reduction == 1:
        warn("kl_div's 'mean' divides by all elements; the divergence itself is 'batchmean'.")
    if log_target:
        difference = target - input
        losses = target.exp() * difference
    else:
        product = target * input
        losses = target.xlogy(target) - product
    if reduction < 3:
        return reduced(losses, reduction)
    return losses.sum() / input.size(0) if input.ndim else losses.sum()


# ---------------------------------------------------------------------- with margins


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

    """
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps, False))
    return reduced((near + margin - far).clamp_min(0), reduction)
