"""Turn scores into probabilities: softmax, its logarithm, and what it divides by."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import ignore_errstate, in_order
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.ops.type_promotion import rounded_once
from minigrad.signatures import functional, variants
from minigrad.signatures.arguments import dimensions, not_implemented
from minigrad.signatures.signature import Dim, Dtype

# Up to _FEW numbers, NumPy's calls cost more than the numbers; a short row has at most _SHORT.
_FEW, _SHORT = 512, 32


def _total(array: Any, dim: Any, factors: Any = None) -> Any:
    """Sum an array, or its products with another, along a dimension that stays."""
    if type(array) is np.ndarray and array.size > _FEW and dim in (-1, array.ndim - 1):
        # quickest for many short rows
        total = np.einsum("...i->...", array) if factors is None else np.vecdot(array, factors)
        return total[..., None]
    return np.add.reduce(array if factors is None else array * factors, axis=dim, keepdims=True)


def _less_largest(name: str, array: Any, dim: Any) -> Any:
    """Take from scores the largest along a dimension."""
    if array.dtype.kind in "biuc":
        raise not_implemented(f"{name}_kernel_impl", array)
    short = array.size > _FEW and dim in (-1, array.ndim - 1) and array.shape[-1] <= _SHORT
    if short and type(array) is np.ndarray:
        under = array.reshape(-1, array.shape[-1]).T.copy()  # quickest for many rows
        return array - np.maximum.reduce(under).reshape(*array.shape[:-1], 1)
    return array - np.maximum.reduce(array, axis=dim, keepdims=True)


@rounded_once
def softmax_backward(grad_output: Any, output: Any, dim: Any) -> Any:
    r"""Rule of softmax, :math:`p_i (g_i - \sum_j g_j p_j)`."""
    return (grad_output - _total(grad_output, dim, output)) * output


@operation("SoftmaxBackward0", self=softmax_backward)
@ignore_errstate
def softmax(self: Array, dim: Any) -> Array:
    r"""Softmax :math:`p_i = e^{x_i} / \sum_j e^{x_j}`: :math:`p_i (g_i - \sum_j g_j p_j)`."""
    if not self.size:
        return self.copy()
    many = type(self) is np.ndarray and self.size > _FEW and self.dtype.kind == "f"
    # if no power overflows or vanishes, nothing has to be taken from the scores
    plain = many and -30 < self.min() <= self.max() < 30
    powers = np.exp(self if plain else _less_largest("softmax", self, dim))
    powers /= _total(powers, dim)
    return in_order(powers)


@rounded_once
def log_softmax_backward(grad_output: Any, output: Any, dim: Any) -> Any:
    r"""Rule of the logarithm of softmax, :math:`g_i - e^{y_i} \sum_j g_j`."""
    return grad_output - np.exp(output) * _total(grad_output, dim)


@operation("LogSoftmaxBackward0", self=log_softmax_backward)
@ignore_errstate
def log_softmax(self: Array, dim: Any) -> Array:
    r"""Logarithm of softmax: :math:`g_i - p_i \sum_j g_j`."""
    if not self.size:
        return self.copy()
    shifted = _less_largest("log_softmax", self, dim)
    shifted -= np.log(_total(np.exp(shifted), dim))
    return in_order(shifted)


def _logsumexp_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    return grad * np.exp(self - result)


@operation("LogsumexpBackward0", self=_logsumexp_rule)
@ignore_errstate
def logsumexp(self: Array, dim: Any, keepdim: Any) -> Array:
    r"""Logarithm of a sum of exponentials: the gradient times the softmax of the input."""
    largest = np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0)
    total = np.log(np.add.reduce(np.exp(self - largest), axis=dim, keepdims=True)) + largest
    return total if keepdim else total.squeeze(dim)


# ---------------------------------------------------------------------- what is called


@variants("softmax", out="none")
def _softmax_along(input: Tensor, dim: Dim, dtype: Dtype | None = None) -> Tensor:
    r"""Turn scores along a dimension into probabilities :math:`e^{x_i} / \sum_j e^{x_j}`.

    Args:
        input: The scores.
        dim: The dimension along which they add up to 1.
        dtype: A type to convert the scores to first.

    Example:
        >>> import minigrad as torch
        >>> torch.softmax(torch.tensor([0.0, 0.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    return softmax(input if dtype is None else input.to(dtype), dim)


@variants("log_softmax", out="none")
def _log_softmax_along(input: Tensor, dim: Dim, dtype: Dtype | None = None) -> Tensor:
    """Give the logarithm of the softmax, without the loss of precision of two steps.

    Example:
        >>> import minigrad as torch
        >>> torch.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """
    return log_softmax(input if dtype is None else input.to(dtype), dim)


@variants("logsumexp", out="kind", floats=True)
def logarithm_of_sum(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Give the logarithm of the sum of exponentials along dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.logsumexp(torch.tensor([0.0, 0.0]), dim=0)
        tensor(0.6931)
    """
    return logsumexp(input, dimensions(dim, input.ndim), keepdim)


@functional("softmax")
def softmax_of(
    input: Tensor, dim: Dim | None = None, _stacklevel: Any = 3, dtype: Dtype | None = None
) -> Tensor:
    r"""Compute $e^{x_i} / \sum_j e^{x_j}$ along a dimension.

    Args:
        input: The scores.
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.
        _stacklevel: A whole number, not used; PyTorch has it.
        dtype: The type that the scores are converted to first.

    Returns:
        Probabilities, in the shape of the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softmax(torch.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    dim = _usual_dim("softmax", input) if dim is None else dim
    return softmax(input if dtype is None else input.to(dtype), dim)


@functional("log_softmax")
def log_softmax_of(
    input: Tensor, dim: Dim | None = None, _stacklevel: Any = 3, dtype: Dtype | None = None
) -> Tensor:
    r"""Compute $x_i - \log \sum_j e^{x_j}$ along a dimension; arguments as for `softmax`."""
    dim = _usual_dim("log_softmax", input) if dim is None else dim
    return log_softmax(input if dtype is None else input.to(dtype), dim)


@functional()
def softmin(
    input: Tensor, dim: Dim | None = None, _stacklevel: Any = 3, dtype: Dtype | None = None
) -> Tensor:
    r"""Compute the softmax of $-x$ along a dimension; arguments as for `softmax`."""
    return softmax_of(-input, dim, _stacklevel, dtype)


def _usual_dim(name: str, input: Tensor) -> int:
    warn(f"Implicit dimension choice for {name} has been deprecated: give dim=X.")
    return 0 if input.ndim in (0, 1, 3) else 1
