"""Bend numbers entry by entry, or turn scores into probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import random
from minigrad.nn.functional.hard_activation import deprecated_eps
from minigrad.nn.functional.refusing import not_a_tensor, not_for_integers
from minigrad.nn.warning import warn
from minigrad.ops import activations
from minigrad.ops.calling.arguments import real_number
from minigrad.ops.inplace import write
from minigrad.tensor import Tensor, wrap

__all__ = [
    "elu",
    "elu_",
    "gumbel_softmax",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "relu",
    "relu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "tanh",
]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $\max(x, 0)$; the derivative at 0 is taken to be 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("relu_" if inplace else "relu", input)
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
        raise not_a_tensor("softplus", input)
    if input._array.dtype.kind in "iub":
        raise not_for_integers("softplus", input)
    if isinstance(beta, complex):
        beta = real_number(beta, input._array.dtype)
    return activations.softplus(input, beta, threshold)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and `negative_slope` times $x$ elsewhere."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("leaky_relu_" if inplace else "leaky_relu", input)
    if input._array.dtype.kind in "iub":
        raise not_for_integers("leaky_relu", input)
    if isinstance(negative_slope, complex):
        negative_slope = real_number(negative_slope, input._array.dtype)
    if inplace:
        return write(activations.leaky_relu_in_place, input, negative_slope)
    return activations.leaky_relu(input, negative_slope)  # type: ignore[no-any-return]


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^x - 1)$ elsewhere."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("elu_" if inplace else "elu", input)
    if input._array.dtype.kind in "iub":
        raise not_for_integers("elu", input)
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
        raise not_a_tensor("silu_" if inplace else "silu", input)
    if input._array.dtype.kind in "iub":
        raise not_for_integers("silu", input)
    return write(activations.silu, input) if inplace else activations.silu(input)


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


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    r"""Compute the softmax of $-x$ along a dimension; arguments as for `softmax`."""
    dim = _implied_dim("softmin", input) if dim is None else dim
    return (-input).softmax(dim, dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    r"""Draw from a categorical distribution so that gradients can pass.

    Source: Jang et al., *Categorical reparameterization with Gumbel-softmax*, 2017.

    Args:
        logits: The logarithms of probabilities, up to a constant.
        tau: The temperature: the lower, the nearer to a choice of one.
        hard: Give exactly one 1 and zeros, with the gradient of the soft result.
        eps: Has no effect.
        dim: The dimension along which the results sum to 1.

    Returns:
        The draws, in the shape of the logits.

    Example:
        >>> import minigrad as torch
        >>> draw = torch.nn.functional.gumbel_softmax(torch.zeros(4), hard=True)
        >>> draw.sum()
        tensor(1.)
    """
    deprecated_eps(eps)
    noise = random.stream().exponential(logits._array.shape)
    noise = np.asarray(-np.log(noise), logits._array.dtype)
    soft = ((logits + wrap(noise)) / tau).softmax(dim)
    if not hard:
        return soft
    array = soft._array
    chosen = np.zeros_like(array)
    positions = np.expand_dims(array.argmax(dim), dim)
    np.put_along_axis(chosen, positions, 1, dim)
    return wrap(chosen) - soft.detach() + soft


def _implied_dim(name: str, input: Tensor) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        UserWarning,
    )
    return 0 if input.ndim in (0, 1, 3) else 1
