"""Call the activation functions that are made of pieces, as functions and methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import random
from minigrad.ops import rectifiers, shape
from minigrad.ops.calling.arguments import check_tensor, real_number
from minigrad.ops.calling.arithmetic import relu
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.refusing import check_floats, no_kernel
from minigrad.ops.inplace import in_place, write
from minigrad.tensor import Tensor

__all__ = [
    "celu",
    "celu_",
    "hardshrink",
    "prelu",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "threshold",
    "threshold_",
]

# Source: Klambauer et al., Self-normalizing neural networks, 2017.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def number_among(value: Any, input: Tensor) -> Any:
    """Give a setting as a number of the kind that the input has: a whole one among integers."""
    if input._array.dtype.kind in "iu":
        return int(value)
    return real_number(value, input._array.dtype) if isinstance(value, complex) else value


relu_ = in_place(relu)


def selu(input: Tensor) -> Tensor:
    r"""Compute $s x$ where $x > 0$, and $s \alpha (e^x - 1)$ elsewhere.

    With $s$ = 1.0507... and $\alpha$ = 1.6733... mean 0 and variance 1 are kept.

    Example:
        >>> import minigrad as torch
        >>> torch.selu(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """
    check_floats("selu", "elu_cpu", input)
    return rectifiers.scaled_elu(input, SELU_ALPHA, SELU_SCALE, 1)  # type: ignore[no-any-return]


def selu_(input: Tensor) -> Tensor:
    """Do what `selu` does, in place."""
    check_floats("selu_", "elu_cpu", input)
    return write(rectifiers.scaled_elu_in_place, input, SELU_ALPHA, SELU_SCALE, 1)


def _celu_alpha(name: str, input: Tensor, alpha: Any) -> Any:
    check_tensor(name, input)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    check_floats(name, "elu_cpu", input)
    return number_among(alpha, input)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ elsewhere.

    Raises:
        RuntimeError: If `alpha` is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.celu(torch.tensor([-1.0, 1.0]), alpha=0.5)
        tensor([-0.4323,  1.0000])
    """
    alpha = _celu_alpha("celu", input, alpha)
    return rectifiers.celu(input, alpha)  # type: ignore[no-any-return]


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Do what `celu` does, in place."""
    return write(rectifiers.celu_in_place, input, _celu_alpha("celu_", input, alpha))


@with_out
def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """Keep what is greater than a threshold, and put a value in the place of the rest.

    Example:
        >>> import minigrad as torch
        >>> torch.threshold(torch.tensor([0.1, 0.7]), 0.5, 0)
        tensor([0.0000, 0.7000])
    """
    settings = _threshold("threshold", input, threshold, value)
    return rectifiers.threshold(input, *settings)  # type: ignore[no-any-return]


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Do what `threshold` does, in place."""
    settings = _threshold("threshold_", input, threshold, value)
    return write(rectifiers.threshold_in_place, input, *settings)


def _threshold(name: str, input: Tensor, threshold: Any, value: Any) -> tuple[Any, Any]:
    check_tensor(name, input)
    if input._array.dtype.kind == "b":
        raise no_kernel("threshold_cpu", input)
    return number_among(threshold, input), number_among(value, input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    r"""Put 0 in the place of all that lies in $[-\lambda, \lambda]$.

    Example:
        >>> import minigrad as torch
        >>> torch.hardshrink(torch.tensor([-0.7, 0.2, 0.6]))
        tensor([-0.7000,  0.0000,  0.6000])
    """
    check_floats("hardshrink", "hardshrink_cpu", input)
    return rectifiers.hardshrink(input, number_among(lambd, input))  # type: ignore[no-any-return]


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Compute x where it is positive, and a learned slope times x elsewhere.

    Args:
        input: The tensor.
        weight: One slope, or one for each channel; channels are dimension 1.

    Raises:
        RuntimeError: If there are neither one slope nor as many as channels, or the types differ.

    Example:
        >>> import minigrad as torch
        >>> torch.prelu(torch.tensor([-1.0, 2.0]), torch.tensor([0.25]))
        tensor([-0.2500,  2.0000])
    """
    check_tensor("prelu", input)
    check_tensor("prelu", weight, "weight", 2)
    array, slopes = input._array, weight._array
    if array.dtype != slopes.dtype:
        raise RuntimeError(
            "prelu: Type promoting not supported. Got "
            f"{input.dtype.tensor_type} and {weight.dtype.tensor_type}"
        )
    if slopes.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {slopes.ndim}"
        )
    if slopes.size != 1:
        if not array.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = array.shape[1] if array.ndim > 1 else 1
        if channels != slopes.size:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{slopes.size} and channel size = {channels}."
            )
    if not (array.ndim == slopes.ndim == 1):
        sizes = [1] * array.ndim
        if array.ndim > 1:
            sizes[1] = slopes.size
        weight = shape.view(weight, tuple(sizes))
    return rectifiers.prelu_kernel(input, weight)  # type: ignore[no-any-return]


def _noise(
    name: str, input: Tensor, lower: float, upper: float, training: bool, generator: Any
) -> Any:
    """Give the slope of each entry: 1 where it is positive, elsewhere drawn or in the middle."""
    check_tensor(name, input)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    for what, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {what} bound must be finite, got {bound}")
    check_floats(name, "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", input)
    array = input._array
    slopes: Any = (lower + upper) / 2
    if training:
        below = array <= 0  # only these draw
        slopes = np.ones(array.shape)
        drawn = random.stream(generator).fractions(int(below.sum()))
        slopes[below] = drawn * (upper - lower) + lower
    return np.where(array > 0, 1, slopes).astype(array.dtype)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Compute x where it is positive, and a random slope times x elsewhere.

    Args:
        input: The tensor.
        lower: The smallest slope.
        upper: The largest slope.
        training: Whether to draw the slopes; else all are in the middle of the two.
        generator: The source of randomness; the global one if None.

    Raises:
        RuntimeError: If the bounds are in the wrong order, or infinite.

    Example:
        >>> import minigrad as torch
        >>> torch.rrelu(torch.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    noise = _noise("rrelu", input, lower, upper, training, generator)
    return rectifiers.rrelu_with_noise(input, noise)  # type: ignore[no-any-return]


def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Do what `rrelu` does, in place."""
    noise = _noise("rrelu_", input, lower, upper, training, generator)
    return write(rectifiers.rrelu_with_noise_in_place, input, noise)


def hardtanh_limits(name: str, input: Tensor, low: Any, high: Any) -> tuple[Any, Any]:
    """Check the limits of hardtanh, and give them in the kind of numbers that the input has."""
    check_tensor(name, input)
    if input._array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    low, high = number_among(low, input), number_among(high, input)
    if input._array.dtype.kind == "u" and (low < 0 or high < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return low, high


methods: dict[str, Any] = {"hardshrink": hardshrink, "prelu": prelu}
