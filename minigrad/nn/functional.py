"""Compute what layers and losses compute, as plain functions of tensors."""

from __future__ import annotations

from typing import Any

from minigrad.nn.warning import warn
from minigrad.ops import activations, linear_algebra, losses
from minigrad.ops.calling.arguments import real_number
from minigrad.ops.inplace import write
from minigrad.tensor import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Map vectors affinely: $y = x W^\top + b$.

    A matrix with a bias becomes one `addmm`, over the transposed weight; anything else contiguous
    is viewed as a matrix first and viewed back after. These are the nodes one meets in the graph.

    Args:
        input: The vectors.
        weight: The matrix $W$.
        bias: The vector $b$, or None.

    Returns:
        The mapped vectors.

    Raises:
        RuntimeError: If the shapes do not fit together, or the input has no dimension.

    Shape:
        - input: (..., in_features)
        - weight: (out_features, in_features)
        - bias: (out_features,)
        - output: (..., out_features)

    Example:
        >>> import minigrad as torch
        >>> weight = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
        >>> torch.nn.functional.linear(torch.tensor([1.0, 1.0]), weight)
        tensor([3., 1., 3.])
    """
    if not isinstance(input, Tensor):
        raise _not_a_tensor("linear", input)
    if not input._array.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are 0D and {weight.ndim}D"
        )
    return linear_algebra.linear(input, weight, bias)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $\max(x, 0)$; the derivative at 0 is taken to be 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if not isinstance(input, Tensor):
        raise _not_a_tensor("relu_" if inplace else "relu", input)
    return input.relu_() if inplace else input.relu()


def tanh(input: Tensor) -> Tensor:
    r"""Compute $\tanh x$."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    r"""Compute $1 / (1 + e^{-x})$."""
    return input.sigmoid()


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    r"""Compute $\frac{1}{\beta} \log(1 + e^{\beta x})$, or $x$ where $\beta x$ > threshold."""
    if not isinstance(input, Tensor):
        raise _not_a_tensor("softplus", input)
    if input._array.dtype.kind in "iub":
        raise _not_for_integers("softplus", input)
    if isinstance(beta, complex):
        beta = real_number(beta, input._array.dtype)
    return activations.softplus(input, beta, threshold)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and `negative_slope` times $x$ elsewhere."""
    if not isinstance(input, Tensor):
        raise _not_a_tensor("leaky_relu_" if inplace else "leaky_relu", input)
    if input._array.dtype.kind in "iub":
        raise _not_for_integers("leaky_relu", input)
    if isinstance(negative_slope, complex):
        negative_slope = real_number(negative_slope, input._array.dtype)
    if inplace:
        return write(activations.leaky_relu_in_place, input, negative_slope)
    return activations.leaky_relu(input, negative_slope)  # type: ignore[no-any-return]


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^x - 1)$ elsewhere."""
    if not isinstance(input, Tensor):
        raise _not_a_tensor("elu_" if inplace else "elu", input)
    if input._array.dtype.kind in "iub":
        raise _not_for_integers("elu", input)
    if isinstance(alpha, complex):
        alpha = real_number(alpha, input._array.dtype)
    if inplace:
        return write(activations.elu_in_place, input, alpha)
    return activations.elu(input, alpha)  # type: ignore[no-any-return]


def relu_(input: Tensor) -> Tensor:
    """Do what `relu` does, in place."""
    return relu(input, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Do what `leaky_relu` does, in place.

    The backward of it needs the sign of the input, so the slope must not be negative there.
    """
    return leaky_relu(input, negative_slope, inplace=True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Do what `elu` does, in place.

    The backward of it needs the sign of the input, so `alpha` must not be negative there.
    """
    return elu(input, alpha, inplace=True)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $x / (1 + e^{-x})$."""
    if not isinstance(input, Tensor):
        raise _not_a_tensor("silu_" if inplace else "silu", input)
    if input._array.dtype.kind in "iub":
        raise _not_for_integers("silu", input)
    return write(activations.silu, input) if inplace else activations.silu(input)


def _not_for_integers(function: str, given: Tensor) -> NotImplementedError:
    return NotImplementedError(
        f"\"{function}_cpu\" not implemented for '{given.dtype.tensor_type}'. "
        "Convert to float first."
    )


def _not_a_tensor(function: str, given: Any) -> TypeError:
    return TypeError(
        f"{function}(): argument 'input' (position 1) must be Tensor, not {type(given).__name__}"
    )


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    r"""Compute $e^{x_i} / \sum_j e^{x_j}$ along a dimension.

    Args:
        input: The scores.
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.
        _stacklevel: Not used; PyTorch has it.
        dtype: The type that the scores are converted to first.

    Returns:
        Probabilities, in the shape of the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softmax(torch.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    return input.softmax(_implied_dim("softmax", input) if dim is None else dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    r"""Compute $x_i - \log \sum_j e^{x_j}$ along a dimension; arguments as for `softmax`."""
    return input.log_softmax(_implied_dim("log_softmax", input) if dim is None else dim, dtype)


def _implied_dim(name: str, input: Tensor) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        UserWarning,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


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
    input, target = _of_one_shape(input, target)
    return losses.mse_loss(input, target, _number(_named(size_average, reduce, reduction)))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Compute the absolute error $|x - y|$, averaged; arguments as for `mse_loss`."""
    input, target = _of_one_shape(input, target)
    return _reduced((input - target).abs(), _number(_named(size_average, reduce, reduction)))


def _of_one_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
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
    reduction = _named(size_average, reduce, reduction)
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
    return losses.nll_loss(input, target, _number(reduction))


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
    reduction = _named(size_average, reduce, reduction)
    classes = 0 if input.ndim == 1 else 1
    scores = input.log_softmax(classes)
    if not target.is_floating_point() or target.shape != input.shape:
        return nll_loss(scores, target, weight, None, ignore_index, None, reduction)
    if weight is not None:
        raise NotImplementedError("cross_entropy has no weight here.")
    if _number(reduction) == 0:
        return -(scores * target).sum(classes)
    total = -(scores * target).sum()
    return total / (input.numel() / input.shape[classes]) if reduction == "mean" else total


def _named(size_average: Any, reduce: Any, reduction: str) -> str:
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


def _number(reduction: str) -> int:
    """Give the number under which the loss operations know a reduction."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS.index(reduction)


def _reduced(each: Tensor, reduction: int) -> Tensor:
    return (lambda: each, each.mean, each.sum)[reduction]()
