"""Apply activation functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import FACES
from minigrad.faces.arguments import check_tensor, dimension, real_number
from minigrad.ops import activations, rectifiers, smooth_activations
from minigrad.ops.inplace import write
from minigrad.ops.rectifiers import hardtanh_limits, number_among
from minigrad.ops.type_promotion import check_floats, no_kernel

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid",
    "hardswish", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax",
    "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_",
    "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "threshold_",
]  # fmt: skip


celu_, rrelu_, selu_, threshold_, hardshrink, prelu = (
    FACES[name].function
    for name in ("celu_", "rrelu_", "selu_", "threshold_", "hardshrink", "prelu")
)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Limit to an interval.

    Raises:
        ValueError: If `min_val` is greater than `max_val`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    limits = hardtanh_limits("hardtanh_" if inplace else "hardtanh", input, min_val, max_val)
    if inplace:
        return write(rectifiers.hardtanh, input, *limits)
    return rectifiers.hardtanh(input, *limits)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Do what `hardtanh` does, in place."""
    return write(rectifiers.hardtanh, input, *hardtanh_limits("hardtanh_", input, min_val, max_val))


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $\min(\max(x, 0), 6)$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu6(torch.tensor([-3.0, 8.0]))
        tensor([0., 6.])
    """
    limits = hardtanh_limits("relu6_" if inplace else "relu6", input, 0.0, 6.0)
    if inplace:
        return write(rectifiers.hardtanh, input, *limits)
    return rectifiers.hardtanh(input, *limits)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Keep what is greater than a threshold, and put a value in the place of the rest.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.threshold(torch.tensor([0.1, 0.7]), 0.5, 0)
        tensor([0.0000, 0.7000])
    """
    call = FACES["threshold_"].function if inplace else FACES["threshold"].function
    return call(input, threshold, value)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $s x$ where $x > 0$, and $s \alpha (e^x - 1)$ elsewhere; see `minigrad.selu`."""
    return FACES["selu_"].function(input) if inplace else FACES["selu"].function(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ elsewhere."""
    return (
        FACES["celu_"].function(input, alpha) if inplace else FACES["celu"].function(input, alpha)
    )


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Compute x where it is positive, and a random slope times x elsewhere."""
    call = FACES["rrelu_"].function if inplace else FACES["rrelu"].function
    return call(input, lower, upper, training)


def _simple(name: str, operation: Any, text: str) -> Any:
    """Make a function of one input that may work in place."""

    def function(input: Tensor, inplace: bool = False) -> Tensor:
        check_floats(f"{name}_" if inplace else name, f"{name}_cpu", input)
        return write(operation, input) if inplace else operation(input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


hardswish = _simple(
    "hardswish",
    rectifiers.hardswish,
    r"""Compute $x \min(\max(x + 3, 0), 6) / 6$.

    Source: Howard et al., *Searching for MobileNetV3*, 2019.
    """,
)
hardsigmoid = _simple(
    "hardsigmoid", rectifiers.hardsigmoid, r"""Compute $\min(\max(x + 3, 0), 6) / 6$."""
)
mish = _simple(
    "mish",
    smooth_activations.mish,
    r"""Compute $x \tanh(\ln(1 + e^x))$.

    Source: Misra, *Mish: a self regularized non-monotonic activation function*, 2019.
    """,
)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    r"""Compute $x \Phi(x)$, with the distribution function of the normal distribution.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016.

    Args:
        input: The tensor.
        approximate: `"none"`, or `"tanh"` to compute $\Phi$ by a hyperbolic tangent.

    Raises:
        RuntimeError: If `approximate` is neither of the two.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.gelu(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """
    check_tensor("gelu", input)
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    check_floats("gelu", "GeluKernelImpl", input)
    return smooth_activations.gelu(input, approximate)


def logsigmoid(input: Tensor) -> Tensor:
    r"""Compute $\ln(1 / (1 + e^{-x}))$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.logsigmoid(torch.tensor([0.0]))
        tensor([-0.6931])
    """
    check_floats("log_sigmoid", "log_sigmoid_cpu", input)
    return smooth_activations.log_sigmoid(input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    r"""Move all numbers by $\lambda$ towards 0, at most up to 0.

    Raises:
        RuntimeError: If `lambd` is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softshrink(torch.tensor([-0.75, 0.25, 2.5]))
        tensor([-0.2500,  0.0000,  2.0000])
    """
    check_floats("softshrink", "softshrink_check", input)
    dtype = input._array.dtype
    if dtype.kind == "f" and not 0 <= lambd <= float(np.finfo(dtype).max):
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(dtype).max:g}] for input dtype "
            f"{input.dtype.tensor_type}, but found {lambd:g}"
        )
    return rectifiers.softshrink(input, number_among(lambd, input))


def tanhshrink(input: Tensor) -> Tensor:
    r"""Compute $x - \tanh x$."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    r"""Compute $x / (1 + |x|)$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    r"""Compute $a\, \sigma(b)$ from the two halves $a$ and $b$ of a tensor.

    Args:
        input: The tensor.
        dim: The dimension to halve.

    Raises:
        RuntimeError: If its size is odd, or the tensor has no dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.glu(torch.tensor([4.0, 0.0]))
        tensor([2.])
    """
    if not input.dim():
        raise RuntimeError("glu does not support scalars because halving size must be even")
    number = dimension(dim, input._array.ndim)
    if input._array.shape[number] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {number} is size "
            f"{input._array.shape[number]}"
        )
    if input._array.dtype.kind in "iub":
        raise no_kernel("glu_cpu", input)
    return smooth_activations.glu(input, number)


def deprecated_eps(eps: float) -> None:
    """Warn of an argument of `gumbel_softmax` that has no effect."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.", UserWarning)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $\max(x, 0)$; the derivative at 0 is taken to be 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if not isinstance(input, Tensor):
        check_tensor("relu_" if inplace else "relu", input)
    return input.relu_() if inplace else input.relu()


def tanh(input: Tensor) -> Tensor:
    r"""Compute $\tanh x$."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    r"""Compute $1 / (1 + e^{-x})$."""
    return input.sigmoid()


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    r"""Compute $\frac{1}{\beta} \log(1 + e^{\beta x})$, or $x$ where $\beta x$ > threshold."""
    check_floats("softplus", "softplus_cpu", input)
    if isinstance(beta, complex):
        beta = real_number(beta, input._array.dtype)
    return activations.softplus(input, beta, threshold)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and `negative_slope` times $x$ elsewhere."""
    check_floats("leaky_relu_" if inplace else "leaky_relu", "leaky_relu_cpu", input)
    if isinstance(negative_slope, complex):
        negative_slope = real_number(negative_slope, input._array.dtype)
    if inplace:
        return write(activations.leaky_relu_in_place, input, negative_slope)
    return activations.leaky_relu(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^x - 1)$ elsewhere."""
    check_floats("elu_" if inplace else "elu", "elu_cpu", input)
    if isinstance(alpha, complex):
        alpha = real_number(alpha, input._array.dtype)
    if inplace:
        return write(rectifiers.scaled_elu_in_place, input, alpha, 1, 1)
    return rectifiers.scaled_elu(input, alpha, 1, 1)


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
    check_floats("silu_" if inplace else "silu", "silu_cpu", input)
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
