"""Score guesses of classes and probabilities, and say how the losses of entries become one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import ones_like
from minigrad.faces.arguments import check_tensor
from minigrad.nn.signatures import arguments_of, written
from minigrad.ops import composed_losses, elementwise, losses, probability_losses
from minigrad.ops.linear_algebra import differ
from minigrad.ops.type_promotion import no_kernel, refuse_gradient

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
    "gaussian_nll_loss", "kl_div", "nll_loss", "poisson_nll_loss",
]  # fmt: skip


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


_OLD = "size_average=None, reduce=None, reduction='mean'"
_OF_CLASSES = "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'"


def loss(signature: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Make a loss of a function that takes the number of a reduction.

    Args:
        signature: The arguments of the loss. The function gets them in this order, but for
            `size_average` and `reduce`, which have their say in the reduction.
    """
    arguments = [*arguments_of(signature)]
    lines = []
    if "reduce" in arguments:
        lines += ["if size_average is not None or reduce is not None:"]
        lines += ["    reduction = named(size_average, reduce, reduction)"]
    given = [name for name in arguments if name not in ("size_average", "reduce")]
    given[given.index("reduction")] = "number(reduction)"
    lines += [f"return compute({', '.join(given)})"]

    def make(compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
        names = {"compute": compute, "named": named, "number": number}
        head, place = f"{compute.__name__}({signature})", {"__name__": compute.__module__}
        made = written(head, lines, names | place, compute.__doc__)
        made.__signature__, made.__wrapped__ = inspect.signature(made), compute
        return made

    return make


_UNSIGNED = {1: np.dtype(np.uint8), 8: np.dtype(np.uint64)}
_CLASSES = (np.dtype(np.int64), np.dtype(np.uint8))  # the types that targets may have


@loss(f"input, target, {_OF_CLASSES}")
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int
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
    return _nll_loss(input, target, weight, ignore_index, reduction)


def _nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int
) -> Tensor:
    check_tensor("nll_loss_nd", input)
    check_tensor("nll_loss_nd", target, "target", 2)
    sizes, numbers = input._array.shape, target._array
    if (
        weight is None
        and ignore_index < 0
        and len(sizes) in (1, 2)
        and numbers.shape == sizes[:-1]
        and numbers.dtype in _CLASSES
        and input._array.dtype.kind not in "iubc"
        # seen without sign, a negative number is too large as well
        and (not numbers.size or numbers.view(_UNSIGNED[numbers.itemsize]).max() < sizes[-1])
    ):
        return losses.nll_loss(input, target, reduction)
    return _general_nll_loss(input, target, weight, ignore_index, reduction)


def _general_nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int
) -> Tensor:
    """Compute the loss with weights, with targets that do not count, or at several places."""
    sizes, numbers = input._array.shape, target._array
    if not sizes:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(sizes) > 1 and sizes[:1] != numbers.shape[:1]:
        given = numbers.shape[0] if numbers.ndim else numbers.size
        raise ValueError(
            f"Expected input batch_size ({sizes[0]}) to match target batch_size ({given})."
        )
    if len(sizes) < 3:
        return _vectors(input, target, weight, ignore_index, reduction)
    if len(sizes) == 4:
        return _pictures(input, target, weight, ignore_index, reduction)
    if numbers.shape[1:] != sizes[2:]:
        raise RuntimeError(
            f"Expected target size {[sizes[0], *sizes[2:]]}, got {list(numbers.shape)}"
        )
    flat = input.contiguous().view(sizes[0], sizes[1], 1, -1)
    places = target.contiguous().view(sizes[0], 1, -1)
    result = _pictures(flat, places, weight, ignore_index, reduction)
    return result.view(numbers.shape) if reduction == 0 else result


def _vectors(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int
) -> Tensor:
    sizes, numbers = input._array.shape, target._array
    if numbers.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    classes = sizes[-1]
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    if len(sizes) == 1:
        numbers = numbers.reshape(())
    numbers, weights = _weights(
        "nll_loss_forward", input, target, numbers, weight, classes, ignore_index
    )
    return losses.weighted_nll_loss(input, numbers, weights, reduction)


def _pictures(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int
) -> Tensor:
    sizes, numbers = input._array.shape, target._array
    if numbers.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{numbers.ndim}"
        )
    if numbers.shape != (sizes[0], *sizes[2:]):
        raise RuntimeError(
            f"size mismatch (got input: {list(sizes)} , target: {list(numbers.shape)}"
        )
    if weight is not None and weight._array.size != sizes[1]:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    numbers, weights = _weights(
        "nll_loss2d_forward", input, target, numbers, weight, sizes[1], ignore_index
    )
    return losses.nll_loss2d(input, numbers, weights, reduction)


def _weights(
    name: str,
    input: Tensor,
    target: Tensor,
    numbers: Any,
    weight: Tensor | None,
    classes: int,
    ignore_index: int,
) -> tuple[Any, Any]:
    """Give the classes, 0 where they do not count, and the weight of each: 0 where so."""
    if numbers.dtype not in _CLASSES:
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_type}"
        )
    dtype = input._array.dtype
    if dtype.kind in "iub":
        where = "nll_loss_out_frame" if numbers.ndim < 2 else "nll_loss2d_forward_out_frame"
        raise no_kernel(where, input)
    refuse_gradient(name, "weight", weight)
    if weight is not None and differ(weight._array, input._array):
        raise RuntimeError(
            f"expected scalar type {input.dtype.tensor_type} but found {weight.dtype.tensor_type}"
        )
    numbers = numbers.astype(np.int64)
    counts = numbers != ignore_index
    outside = counts & ((numbers < 0) | (numbers >= classes))
    if outside.any():
        raise IndexError(f"Target {numbers[outside][0]} is out of bounds.")
    numbers = np.where(counts, numbers, 0)
    if weight is None:
        return numbers, counts.astype(dtype)
    if not classes:
        return numbers, np.zeros(numbers.shape, dtype)
    return numbers, np.where(counts, weight._array[numbers], dtype.type(0))


@loss(f"input, target, {_OF_CLASSES}, label_smoothing=0.0")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: int,
    label_smoothing: float,
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
    check_tensor("cross_entropy_loss", input)
    check_tensor("cross_entropy_loss", target, "target", 2)
    sizes = input._array.shape
    classes = 0 if len(sizes) == 1 else 1
    if target._array.shape == sizes:
        return _of_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    scores = input.log_softmax(classes)
    if label_smoothing > 0:
        return _smoothed(scores, target, weight, ignore_index, reduction, label_smoothing)
    return _nll_loss(scores, target, weight, ignore_index, reduction)


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _spread(weight: Tensor, dims: int, classes: int) -> Tensor:
    """View the weights of classes so that they broadcast to the input."""
    return weight if dims == 1 else weight.view(1, -1, *(1 for _ in range(dims - 2)))


def _of_probabilities(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: int,
    label_smoothing: float,
) -> Tensor:
    """Compute the cross entropy with probabilities of classes."""
    if target._array.dtype.kind in "iub":
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.tensor_type}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    _check_smoothing(label_smoothing)
    dims = input.dim()
    dim = 0 if dims == 1 else 1
    classes = input._array.shape[dim]
    scores = input.log_softmax(dim)
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or "
            f"no classes but got weight tensor of shape: {list(weight.shape)}"
        )
    if label_smoothing > 0:
        target = elementwise.mul_number(target, 1 - label_smoothing)
        target = elementwise.add_number(target, label_smoothing / classes)
    products = scores * target
    if weight is not None:
        products = products * _spread(weight, dims, classes)
    if reduction == 0:
        return -products.sum(dim)
    total = -products.sum()
    if reduction == 2:
        return total
    samples = input._array.size / classes if classes else 0
    return elementwise.div_number(total, samples or float("nan"))


def _smoothed(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: int,
    label_smoothing: float,
) -> Tensor:
    """Compute the cross entropy where a part of each target is shared out among all classes."""
    _check_smoothing(label_smoothing)
    picked = _nll_loss(scores, target, weight, ignore_index, reduction)
    dims = scores.dim()
    dim = 0 if dims == 1 else 1
    classes = scores._array.shape[dim]
    products = scores if weight is None else scores * _spread(weight, dims, classes)
    smooth = -products.sum(dim)
    ignored: Any = target == ignore_index
    smooth.masked_fill_(ignored, 0.0)
    if reduction:
        smooth = smooth.sum()
    if reduction == 1:
        numbers = target._array[~ignored._array]
        count: Any = numbers.size if weight is None else weight._array[numbers].sum()
        dtype = scores._array.dtype
        smooth = smooth / wrap(np.asarray(count, dtype))
    share = label_smoothing / classes
    return elementwise.mul_number(picked, 1 - label_smoothing) + elementwise.mul_number(
        smooth, share
    )


@loss(f"input, target, weight=None, {_OLD}")
def binary_cross_entropy(
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
        weights = np.array(_expanded(weight, due.shape))
    if probabilities.dtype.kind in "iub":
        raise no_kernel("binary_cross_entropy", input)
    if differ(due, probabilities):
        raise RuntimeError(
            f"Found dtype {target.dtype.tensor_type} but expected {input.dtype.tensor_type}"
        )
    for name, array in (("input", probabilities), ("target", due)):
        if array.dtype.kind == "f" and not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return probability_losses.binary_cross_entropy(input, target, weights, reduction)


def _expanded(weight: Tensor, sizes: tuple[int, ...]) -> Any:
    have = weight._array.shape
    for back in range(1, min(len(have), len(sizes)) + 1):
        if have[-back] != sizes[-back] and 1 not in (have[-back], sizes[-back]):
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {have[-back]} at -{back}! "
                f"Mismatching argument at index 1 had {weight.size()}; but expected shape should "
                f"be broadcastable to {list(sizes)}"
            )
    return np.broadcast_to(weight._array, np.broadcast_shapes(sizes, have))


@loss(f"input, target, weight=None, {_OLD}, pos_weight=None")
def binary_cross_entropy_with_logits(
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

    Example:
        >>> import minigrad as torch
        >>> x, t = torch.tensor([0.0]), torch.tensor([1.0])
        >>> torch.nn.functional.binary_cross_entropy_with_logits(x, t)
        tensor(0.6931)
    """
    if not (target.size() == input.size()):
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return composed_losses.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction
    )


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
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

    Example:
        >>> import minigrad as torch
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
        >>> torch.nn.functional.kl_div(q.log(), p, reduction="batchmean")
        tensor(0.1438)
    """
    if size_average is not None or reduce is not None:
        kind = number(named(size_average, reduce, reduction))
    else:
        if reduction == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                "major release.",
                UserWarning,
            )
        kind = 2 if reduction == "batchmean" else number(reduction)
    result = composed_losses.kl_div(input, target, kind, log_target)
    if reduction == "batchmean" and input.dim() != 0:
        result = result / input.size(0)
    return result


@loss(
    "input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, "
    "reduction='mean'"
)
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
    return composed_losses.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    r"""Compute the negative log-likelihood of a normal distribution, $(\ln v + (x - t)^2 / v) / 2$.

    Args:
        input: The means x.
        target: The numbers t that were drawn.
        var: The variances v, or one number.
        full: Add $\ln(2 \pi) / 2$.
        eps: The least that a variance counts as; as such it gets the gradient all the same.
        reduction: `"mean"`, `"sum"` or `"none"`.

    Raises:
        ValueError: If a variance is negative, or there are not as many as needed.

    Example:
        >>> import minigrad as torch
        >>> x, t = torch.tensor([1.0]), torch.tensor([3.0])
        >>> torch.nn.functional.gaussian_nll_loss(x, t, torch.tensor([1.0]))
        tensor(2.)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = ones_like(input) * var
    elif isinstance(var, Tensor) and var.size() != input.size():
        have, sizes = tuple(var.shape), tuple(input.shape)
        if sizes[:-1] == have:
            var = var.unsqueeze(-1)
        elif sizes[:-1] != have[:-1] or have[-1] != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if not isinstance(var, Tensor):
        raise TypeError(f"var must be a tensor or a float, but got {type(var).__name__}")
    if (var._array < 0).any():
        raise ValueError("var has negative entry/entries")
    limited: Any = var.clone()
    with no_grad():
        limited.clamp_(min=eps)
    losses = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, number(reduction))
