"""Losses: how they are reduced; and those of classes, negative likelihood and cross entropy.

Losses are reduced as PyTorch numbers it: 0 not at all, 1 to their mean, 2 to their sum.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import applied, quietly, zeros_for
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import functional
from minigrad.faces.arguments import check_tensor
from minigrad.faces.face import told_by
from minigrad.faces.signature import read
from minigrad.ops import elementwise
from minigrad.ops.scatter import gather, scatter
from minigrad.ops.type_promotion import check_one_type, no_kernel, refuse_gradient

OLD = "size_average=None, reduce=None, reduction='mean'"
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
    if size_average is not None or reduce is not None:
        reduction = reduction_name(reduction, size_average, reduce)
    if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


def loss(schema: str) -> Callable[[Any], Any]:
    """Give a loss to `minigrad.nn.functional`.

    Args:
        schema: The signature. The decorated body gets the arguments in this order, but for
            `size_average` and `reduce`: these have their say in the number of the reduction.
    """
    names = [argument.name for argument in read(schema).arguments]
    old = [names.index(name) for name in ("size_average", "reduce") if name in names]
    pick = itemgetter(*[number for number in range(len(names)) if number not in old])
    place = names.index("reduction")

    def decorate(compute: Any) -> Any:
        def body(*given: Any) -> Tensor:
            number = reduction_number(given[place], *[given[each] for each in old])
            return compute(*pick((*given[:place], number, *given[place + 1 :])))

        return told_by(functional(schema), body)(compute)

    return decorate


def reduced(losses: Any, reduction: int) -> Any:
    """Give losses as they are (0), their mean (1) or their sum (2)."""
    if isinstance(losses, Tensor):
        return (lambda: losses, losses.mean, losses.sum)[reduction]()
    if reduction == 0:
        return losses
    total = np.add.reduce(losses, axis=None)
    return np.true_divide(total, losses.size) if reduction == 1 else total


def share(shape: tuple[int, ...], reduction: int) -> Any:
    """Give the part of each loss in the result."""
    return 1 / max(math.prod(shape), 1) if reduction == 1 else 1


# ---------------------------------------------------------------------- likelihood of classes


@differentiable(
    "NllLossBackwardBackward0",
    constants=("target",),
    grad_output=lambda grad, target, reduction: applied(nll_loss, grad, target, reduction),
    self=lambda grad: np.zeros_like(grad),
)
def nll_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """Rule of the negative log-likelihood: minus the gradient at each target's class, else 0."""
    share = grad_output / -target.size if reduction == 1 else -grad_output
    gradient = zeros_for(self, self.shape)
    # one row for one sample, too
    rows = gradient.reshape(-1, self.shape[-1])
    rows[np.arange(target.size), target.reshape(-1)] = share.reshape(-1)
    return gradient


@differentiable("NllLossBackward0", constants=("target",), self=nll_loss_backward)
@quietly
def nll_loss(self: Array, target: Array, reduction: int) -> Array:
    r"""Negative log-likelihood :math:`-x_{t}`: the target's class gets :math:`-g`."""
    if self.ndim == 2:
        picked = self[np.arange(target.size), target]
    else:
        picked = np.take_along_axis(self, target[..., None], -1)[..., 0]
    return reduced(-picked, reduction)


# With weights of the targets: one that is to be ignored has the weight 0. In two dimensions, for
# pictures (N, C, H, W), the nodes have other names.


def _weighted(node: str, name: str, what: str) -> Any:
    """Make the weighted likelihood and its rule."""

    def again(grad: Any, target: Any, weights: Any, reduction: int) -> Any:
        return applied(operation, grad, target, weights, reduction)

    def backward(
        grad_output: Array, self: Array, target: Any, weights: Any, reduction: int
    ) -> Array:
        """Rule of the weighted likelihood: minus the gradient times its weight at each target."""
        dim = min(self.ndim - 1, 1)
        if reduction == 1:  # where nothing counts, nothing gets a gradient, though the loss is NaN
            weights = weights / (np.add.reduce(weights, axis=None) or 1)
        part = np.expand_dims(grad_output * -weights, dim)
        return scatter.forward(np.zeros_like(self), dim, np.expand_dims(target, dim), part)

    def loss(self: Array, target: Any, weights: Any, reduction: int) -> Array:
        dim = min(self.ndim - 1, 1)
        picked = gather.forward(self, dim, np.expand_dims(target, dim)).squeeze(dim)
        losses = np.where(weights == 0, 0, -picked * weights)
        if reduction != 1:
            return reduced(losses, reduction)
        return np.true_divide(reduced(losses, 2), np.add.reduce(weights, axis=None))

    loss.__name__, backward.__name__ = name, f"{name}_backward"
    loss.__doc__ = rf"Likelihood :math:`-w_t x_t` {what}."
    rule = differentiable(
        f"{node}BackwardBackward0", grad_output=again, self=lambda grad: np.zeros_like(grad)
    )(quietly(backward))
    operation = differentiable(f"{node}Backward0", self=rule)(quietly(loss))
    return operation


weighted_nll_loss = _weighted("NllLoss", "weighted_nll_loss", "of classes; the mean is weighted")
nll_loss2d = _weighted("NllLoss2D", "nll_loss2d", "at each place of pictures")


_OF_CLASSES = "weight=None, size_average=None, int ignore_index=-100, reduce=None, reduction='mean'"
# the types that targets may have, and how they are seen without sign
_UNSIGNED = {np.dtype(np.int64): np.uint64, np.dtype(np.uint8): np.uint8}


@loss(f"nll_loss(input, target, {_OF_CLASSES})")
def likelihood(
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
    check_tensor("nll_loss_nd", input)
    check_tensor("nll_loss_nd", target, "target", 2)
    sizes, numbers = input._array.shape, target._array
    if (
        weight is None
        and ignore_index < 0
        and len(sizes) in (1, 2)
        and numbers.shape == sizes[:-1]
        and numbers.dtype in _UNSIGNED
        and input._array.dtype.kind not in "iubc"
        # seen without sign, a negative number is too large as well
        and np.maximum.reduce(numbers.view(_UNSIGNED[numbers.dtype]), None, initial=0) < sizes[-1]
    ):
        return nll_loss(input, target, reduction)
    return _general_nll_loss(input, target, weight, ignore_index, reduction)


def _general_nll_loss(input: Tensor, target: Tensor, *settings: Any) -> Tensor:
    """Compute the loss with weights, with targets that do not count, or at several places."""
    sizes, numbers = input._array.shape, target._array
    if not sizes:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(sizes) > 1 and sizes[:1] != numbers.shape[:1]:
        given = numbers.shape[0] if numbers.ndim else numbers.size
        raise ValueError(
            f"Expected input batch_size ({sizes[0]}) to match target batch_size ({given})."
        )
    if len(sizes) in (1, 2, 4):
        return _checked_nll_loss(input, target, *settings)
    if numbers.shape[1:] != sizes[2:]:
        raise RuntimeError(
            f"Expected target size {[sizes[0], *sizes[2:]]}, got {list(numbers.shape)}"
        )
    flat = input.contiguous().view(sizes[0], sizes[1], 1, -1)
    places = target.contiguous().view(sizes[0], 1, -1)
    result = _checked_nll_loss(flat, places, *settings)
    return result.view(numbers.shape) if result.ndim else result


class _Reduction(int):
    """How losses are brought together, with what else the node of a likelihood tells."""

    weight: Tensor | None
    ignore_index: int


def _checked_nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int
) -> Tensor:
    """Compute the loss of a vector, of rows, or of pictures."""
    sizes, numbers = input._array.shape, target._array
    pictures = len(sizes) == 4
    if not pictures and numbers.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if pictures and numbers.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{numbers.ndim}"
        )
    if pictures and numbers.shape != (sizes[0], *sizes[2:]):
        raise RuntimeError(
            f"size mismatch (got input: {list(sizes)} , target: {list(numbers.shape)}"
        )
    classes = sizes[1 if pictures else -1]
    if not pictures:
        _check_weight("", weight, classes)
    elif weight is not None and weight._array.size != classes:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if len(sizes) == 1:
        numbers = numbers.reshape(())
    name = f"nll_loss{'2d' * pictures}_forward"
    counted = _weights(name, input, target, numbers, weight, classes, ignore_index)
    told = _Reduction(reduction)
    told.weight, told.ignore_index = weight, ignore_index
    return (nll_loss2d if pictures else weighted_nll_loss)(input, *counted, told)


def _check_weight(start: str, weight: Tensor | None, classes: int) -> None:
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"{start}weight tensor should be defined either for all {classes} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )


def _weights(
    name: str, input: Tensor, target: Tensor, numbers: Any, weight: Any, classes: int, ignored: int
) -> tuple[Any, Any]:
    """Give the classes, 0 where they do not count, and the weight of each: 0 where so."""
    if numbers.dtype not in _UNSIGNED:
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_type}"
        )
    dtype = input._array.dtype
    if dtype.kind in "iubc":
        where = "nll_loss_out_frame" if numbers.ndim < 2 else "nll_loss2d_forward_out_frame"
        raise no_kernel(where, input)
    refuse_gradient(name, "weight", weight)
    if weight is not None:
        check_one_type(input._array, weight._array)
    numbers = numbers.astype(np.int64)
    counts = numbers != ignored
    outside = counts & ((numbers < 0) | (numbers >= classes))
    if outside.any():
        raise IndexError(f"Target {numbers[outside][0]} is out of bounds.")
    numbers = np.where(counts, numbers, 0)
    if weight is None:
        return numbers, counts.astype(dtype)
    if not classes:
        return numbers, np.zeros(numbers.shape, dtype)
    return numbers, np.where(counts, weight._array[numbers], dtype.type(0))


@loss(f"cross_entropy(input, target, {_OF_CLASSES}, float label_smoothing=0.0)")
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
    dim = 0 if len(sizes) == 1 else 1
    settings = (weight, ignore_index, reduction)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if target._array.shape == sizes:
        return _of_probabilities(input, target, *settings, label_smoothing)
    scores = input.log_softmax(dim)
    picked = likelihood(scores, target, *settings)
    if not label_smoothing > 0:
        return picked
    shared = _shared(scores, target, dim, *settings)
    shared = elementwise.mul_number(shared, label_smoothing / sizes[dim])
    return elementwise.mul_number(picked, 1 - label_smoothing) + shared


def _weighed(products: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply by the weights of classes."""
    if weight is None:
        return products
    ndim = products.ndim
    return products * (weight if ndim == 1 else weight.view(1, -1, *[1] * (ndim - 2)))


def _of_probabilities(
    input: Tensor, target: Tensor, weight: Any, ignored: int, reduction: int, smoothing: float
) -> Tensor:
    """Compute the cross entropy with probabilities of classes."""
    if target._array.dtype.kind in "iub":
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.tensor_type}"
        )
    if ignored >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    dim = 0 if input.dim() == 1 else 1
    classes = input._array.shape[dim]
    scores = input.log_softmax(dim)
    _check_weight("cross_entropy: ", weight, classes)
    if smoothing > 0:
        target = elementwise.mul_number(target, 1 - smoothing)
        target = elementwise.add_number(target, smoothing / classes)
    products = _weighed(scores * target, weight)
    if reduction == 0:
        return -products.sum(dim)
    total = -products.sum()
    if reduction == 2:
        return total
    samples = input._array.size // classes if classes else 0
    return elementwise.div_number(total, samples or float("nan"))


def _shared(
    scores: Tensor, target: Tensor, dim: int, weight: Any, ignored: int, reduction: int
) -> Tensor:
    """Compute the loss of targets that are shared out among all classes, times their number."""
    smooth = -_weighed(scores, weight).sum(dim)
    left_out: Any = target == ignored
    smooth.masked_fill_(left_out, 0.0)
    if reduction:
        smooth = smooth.sum()
    if reduction == 1:
        numbers = target._array[~left_out._array]
        count: Any = numbers.size if weight is None else weight._array[numbers].sum()
        smooth = smooth / wrap(np.asarray(count, scores._array.dtype))
    return smooth
