"""Bend numbers by straight pieces, or by slopes that are learned or drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.nn.warning import warn
from minigrad.ops import rectifiers, smooth_activations
from minigrad.ops.calling import activating
from minigrad.ops.calling.activating import (
    celu_,
    hardshrink,
    hardtanh_limits,
    number_among,
    prelu,
    rrelu_,
    selu_,
    threshold_,
)
from minigrad.ops.calling.arguments import check_tensor, dimension
from minigrad.ops.calling.refusing import check_floats, no_kernel
from minigrad.ops.inplace import write
from minigrad.tensor import Tensor

__all__ = [
    "celu",
    "celu_",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "logsigmoid",
    "mish",
    "prelu",
    "relu6",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
    "threshold_",
]


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
    return rectifiers.hardtanh(input, *limits)  # type: ignore[no-any-return]


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
    return rectifiers.hardtanh(input, *limits)  # type: ignore[no-any-return]


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Keep what is greater than a threshold, and put a value in the place of the rest.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.threshold(torch.tensor([0.1, 0.7]), 0.5, 0)
        tensor([0.0000, 0.7000])
    """
    call = activating.threshold_ if inplace else activating.threshold
    return call(input, threshold, value)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Compute $s x$ where $x > 0$, and $s \alpha (e^x - 1)$ elsewhere; see `minigrad.selu`."""
    return activating.selu_(input) if inplace else activating.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ elsewhere."""
    return activating.celu_(input, alpha) if inplace else activating.celu(input, alpha)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Compute x where it is positive, and a random slope times x elsewhere."""
    call = activating.rrelu_ if inplace else activating.rrelu
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
    return smooth_activations.gelu(input, approximate)  # type: ignore[no-any-return]


def logsigmoid(input: Tensor) -> Tensor:
    r"""Compute $\ln(1 / (1 + e^{-x}))$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.logsigmoid(torch.tensor([0.0]))
        tensor([-0.6931])
    """
    check_floats("log_sigmoid", "log_sigmoid_cpu", input)
    return smooth_activations.log_sigmoid(input)  # type: ignore[no-any-return]


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
    return rectifiers.softshrink(input, number_among(lambd, input))  # type: ignore[no-any-return]


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
    return smooth_activations.glu(input, number)  # type: ignore[no-any-return]


def deprecated_eps(eps: float) -> None:
    """Warn of an argument of `gumbel_softmax` that has no effect."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.", UserWarning)
