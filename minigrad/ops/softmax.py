"""Turn scores into probabilities: softmax, its logarithm, and what it divides by."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import face, functional
from minigrad.faces.arguments import dimensions, not_implemented, whole
from minigrad.faces.face import told_by
from minigrad.ops.type_promotion import HALF

_FEW = 512  # up to so many numbers the calls are what costs


def _are_many(array: Any) -> bool:
    """Tell whether these are many numbers, and not symbols."""
    return type(array) is np.ndarray and array.size > _FEW


def _total(array: Any, dim: Any, factors: Any = None) -> Any:
    """Sum an array, or its products with another, along a dimension that stays."""
    if _are_many(array) and dim in (-1, array.ndim - 1):  # rows: quickest as products of vectors
        total = np.einsum("...i->...", array) if factors is None else np.vecdot(array, factors)
        return total[..., None]
    products = array if factors is None else array * factors
    return np.add.reduce(products, axis=dim, keepdims=True)


def _aside(forward: Any, dim: int, *arrays: Any) -> Any:
    """Compute with one entry as with a row of one."""
    return forward(*[array.reshape(1) for array in arrays], dim).reshape(())


@differentiable(
    "SoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: applied(softmax_backward, grad, output, dim),
    output=lambda grad, grad_output, output, dim: (
        grad_output * grad
        - _total(output * grad_output, dim) * grad
        - grad_output * _total(output * grad, dim)
    ),
)
def softmax_backward(grad_output: Array, output: Array, dim: Any) -> Array:
    r"""Rule of softmax, :math:`p_i (g_i - \sum_j g_j p_j)`."""
    if not output.ndim:
        return _aside(softmax_backward.forward, dim, grad_output, output)
    gradient = grad_output - _total(grad_output, dim, output)
    gradient *= output  # in the same memory
    return gradient


@differentiable("SoftmaxBackward0", self=softmax_backward)
@quietly
def softmax(self: Array, dim: Any) -> Array:
    r"""Softmax :math:`p_i = e^{x_i} / \sum_j e^{x_j}`: :math:`p_i (g_i - \sum_j g_j p_j)`."""
    if not self.size:
        return self.copy()
    if not self.ndim:
        return _aside(softmax.forward, dim, self)
    if _are_many(self) and -30 < self.min() <= self.max() < 30:  # none overflows or vanishes
        powers = np.exp(self)
    else:
        powers = self - np.maximum.reduce(self, axis=dim, keepdims=True)
        np.exp(powers, out=powers)
    powers /= _total(powers, dim)
    return np.asanyarray(powers, order="C")


@differentiable(
    "LogSoftmaxBackwardDataBackward0",
    grad_output=lambda grad, output, dim: grad - _total(grad * np.exp(output), dim),
    output=lambda grad, grad_output, output, dim: -_total(grad_output, dim) * np.exp(output) * grad,
)
@quietly
def log_softmax_backward(grad_output: Array, output: Array, dim: Any) -> Array:
    r"""Rule of the logarithm of softmax, :math:`g_i - e^{y_i} \sum_j g_j`."""
    if not output.ndim:
        return _aside(log_softmax_backward.forward, dim, grad_output, output)
    gradient = np.exp(output)
    gradient *= _total(grad_output, dim)
    return np.subtract(grad_output, gradient, out=gradient)  # in the same memory


@differentiable("LogSoftmaxBackward0", self=log_softmax_backward)
@quietly
def log_softmax(self: Array, dim: Any) -> Array:
    r"""Logarithm of softmax: :math:`g_i - p_i \sum_j g_j`."""
    if not self.size:
        return self.copy()
    if self.dtype is HALF:  # rounds its total, as PyTorch
        wide = np.atleast_1d(self.astype(np.float32))
        shifted = wide - np.maximum.reduce(wide, axis=dim, keepdims=True)
        shifted -= np.log(_total(np.exp(shifted), dim)).astype(HALF)
        return shifted.astype(HALF).reshape(self.shape)
    if not self.ndim:
        return _aside(log_softmax.forward, dim, self)
    shifted = self - np.maximum.reduce(self, axis=dim, keepdims=True)
    shifted -= np.log(_total(np.exp(shifted), dim))
    return np.asanyarray(shifted, order="C")


def _logsumexp_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    return grad * np.exp(self - result)


@differentiable("LogsumexpBackward0", self=_logsumexp_rule)
@quietly
def logsumexp(self: Array, dim: Any, keepdim: Any) -> Array:
    r"""Logarithm of a sum of exponentials: the gradient times the softmax of the input."""
    find = np.maximum if self.size else np.add  # the sum of nothing is 0
    largest = find.reduce(self, axis=dim, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    total = np.log(np.add.reduce(np.exp(self - largest), axis=dim, keepdims=True)) + largest
    return total if keepdim else total.squeeze(dim)


# ---------------------------------------------------------------------- what is called


def _along(name: str, operation: Any) -> Callable[[Any], None]:
    def function(input: Tensor, dim: int, dtype: Any) -> Tensor:
        input = input if dtype is None else input.to(dtype)
        if input._array.dtype.kind in "iubc" and input._array.size:
            last = "lastdim_" if dim == max(input.ndim - 1, 0) else ""
            raise not_implemented(f"{name}_{last}kernel_impl", input._array)
        return operation(input, dim)

    schema = f"{name}(Tensor input, Dim dim, dtype=None, *, out=None)"
    return told_by(face(schema, out="none"), function)


@_along("softmax", softmax)
def _softmax_along() -> None:
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


@_along("log_softmax", log_softmax)
def _log_softmax_along() -> None:
    """Give the logarithm of the softmax, without the loss of precision of two steps.

    Example:
        >>> import minigrad as torch
        >>> torch.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """


@face("logsumexp(Tensor input, dim, keepdim=False, *, out=None)", floats=True)
def logarithm_of_sum(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Give the logarithm of the sum of exponentials along dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.logsumexp(torch.tensor([0.0, 0.0]), dim=0)
        tensor(0.6931)
    """
    if isinstance(dim, (tuple, list)) and not dim and input.ndim and not keepdim:
        raise RuntimeError(
            f"output with shape [] doesn't match the broadcast shape {[1] * input.ndim}. Name the "
            "dimensions."
        )
    return logsumexp(input, dimensions(dim, input.ndim), keepdim)


_SCHEMA = "(input, dim=None, _stacklevel=3, dtype=None)"


@functional(f"softmax{_SCHEMA}")
def softmax_of(input: Tensor, dim: int | None, _stacklevel: int, dtype: Any) -> Tensor:
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
    return input.softmax(_dim("softmax", input, dim, _stacklevel), dtype)


@functional(f"log_softmax{_SCHEMA}")
def log_softmax_of(input: Tensor, dim: int | None, _stacklevel: int, dtype: Any) -> Tensor:
    r"""Compute $x_i - \log \sum_j e^{x_j}$ along a dimension; arguments as for `softmax`."""
    return input.log_softmax(_dim("log_softmax", input, dim, _stacklevel), dtype)


@functional(f"softmin{_SCHEMA}")
def softmin(input: Tensor, dim: int | None, _stacklevel: int, dtype: Any) -> Tensor:
    r"""Compute the softmax of $-x$ along a dimension; arguments as for `softmax`."""
    return (-input).softmax(_dim("softmin", input, dim, _stacklevel), dtype)


def _dim(name: str, input: Tensor, dim: int | None, level: int) -> int:
    if dim is not None:
        return dim
    whole(name, level, "_stacklevel", 3)
    warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument."
    )
    return 0 if input.ndim in (0, 1, 3) else 1
