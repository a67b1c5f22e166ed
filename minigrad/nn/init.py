"""Fill parameters with their first values, in place and without recording it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import entry
from minigrad.creation.factories import zeros_like
from minigrad.signatures.out import refuse_repeats


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """Draw from the uniform distribution on [a, b).

    Args:
        tensor: The tensor to fill.
        a: The lower bound.
        b: The upper bound.
        generator: The source of randomness; the global one if None.

    Returns:
        The tensor.

    Raises:
        RuntimeError: If the bounds are in the wrong order.

    Example:
        >>> import minigrad as torch
        >>> weight = torch.nn.init.uniform_(torch.empty(1000), -1, 1)
        >>> bool(weight.min() >= -1), bool(weight.max() <= 1)
        (True, True)
    """
    return _fill(tensor, random.uniform_for(tensor._array, a, b, generator))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """Draw from the normal distribution.

    Args:
        tensor: The tensor to fill.
        mean: The mean.
        std: The standard deviation.
        generator: The source of randomness; the global one if None.

    Returns:
        The tensor.

    Raises:
        RuntimeError: If the standard deviation is negative.
    """
    return _fill(tensor, random.normal_for(tensor._array, mean, std, generator))


@no_grad()
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: random.Generator | None = None,
) -> Tensor:
    """Draw from the normal distribution, and draw again what is outside of [a, b].

    Args:
        tensor: The tensor to fill.
        mean: The mean before it is cut off.
        std: The standard deviation before it is cut off.
        a: The smallest value.
        b: The largest value.
        generator: The source of randomness; the global one if None.

    Returns:
        The tensor.

    Raises:
        RuntimeError: If the bounds are in the wrong order.

    Example:
        >>> import minigrad as torch
        >>> weight = torch.nn.init.trunc_normal_(torch.empty(100), a=-1, b=1)
        >>> bool((abs(weight) <= 1).all())
        True
    """
    values = normal_(tensor, mean, std, generator)._array
    while (out := (values < a) | (values > b)).any():
        values = np.where(out, normal_(zeros_like(tensor), mean, std, generator)._array, values)
    return tensor.copy_(wrap(values))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return _fill(tensor, entry(val, tensor._array.dtype))


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _fill(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _fill(tensor, 0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal and zeros elsewhere.

    Raises:
        ValueError: If the tensor isn't a matrix.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.init.eye_(torch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError("eye_ fills a matrix, of 2 dimensions")
    return tensor.copy_(wrap(np.eye(*tensor.shape)))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    r"""Draw uniformly from $\pm g \sqrt{6 / (n_\text{in} + n_\text{out})}$.

    Source: Glorot and Bengio, *Understanding the difficulty of training deep feedforward neural
    networks*, 2010.

    Args:
        tensor: The weight to fill, of two dimensions or more.
        gain: The factor $g$, see `calculate_gain`.
        generator: The source of randomness; the global one if None.

    Returns:
        The tensor.
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    r"""Draw normally with standard deviation $g \sqrt{2 / (n_\text{in} + n_\text{out})}$.

    Source and arguments as for `xavier_uniform_`.
    """
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:
    r"""Draw uniformly from $\pm g \sqrt{3 / n}$.

    Source: He et al., *Delving deep into rectifiers*, 2015.

    Args:
        tensor: The weight to fill, of two dimensions or more.
        a: The negative slope of the leaky_relu that follows.
        mode: Whether $n$ counts inputs (`"fan_in"`) or outputs (`"fan_out"`).
        nonlinearity: What follows, for the factor $g$: see `calculate_gain`.
        generator: The source of randomness; the global one if None.

    Returns:
        The tensor.
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:
    r"""Draw normally with standard deviation $g / \sqrt n$; arguments as for `kaiming_uniform_`."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return 0.0
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


@no_grad()
def orthogonal_(
    tensor: Tensor, gain: float = 1, generator: random.Generator | None = None
) -> Tensor:
    """Fill with a random matrix whose rows (or columns, if they are fewer) are orthonormal.

    Source: Saxe et al., *Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks*, 2014.

    Args:
        tensor: The weight to fill; dimensions after the first count as one.
        gain: The factor to multiply with.
        generator: The source of randomness; the global one if None.

    Returns:
        The tensor.

    Raises:
        ValueError: If the tensor has fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    drawn = normal_(tensor.new_empty(rows, tensor.numel() // rows), 0, 1, generator)._array
    wide = drawn.shape[1] > rows
    q, r = (each._array for each in np.linalg.qr(wrap(drawn.T if wide else drawn)))
    q = q * np.sign(np.diag(r))  # makes the decomposition unique, hence the draw uniform
    return tensor.copy_(wrap((q.T if wide else q).reshape(tuple(tensor.shape)) * gain))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    r"""Give the factor that keeps the variance of activations steady through a nonlinearity.

    It is $\sqrt 2$ for relu, $\sqrt{2 / (1 + a^2)}$ for leaky_relu with slope $a$, 5/3 for tanh,
    3/4 for selu, and 1 for linear, sigmoid and convolutions.

    Args:
        nonlinearity: The name of the function, as in `minigrad.nn.functional`.
        param: The negative slope of leaky_relu; 0.01 if None.

    Returns:
        The factor.

    Raises:
        ValueError: If the name is unknown.

    Example:
        >>> calculate_gain("leaky_relu", 0.2)
        1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        param = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + param**2))
    gains = {"relu": math.sqrt(2.0), "tanh": 5.0 / 3, "selu": 3.0 / 4, "linear": 1, "sigmoid": 1}
    gains |= {f"conv{kind}{n}d": 1 for kind in ("", "_transpose") for n in (1, 2, 3)}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Count the inputs that each output is computed from, and the outputs each input goes to."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out need a tensor of at least 2 dimensions")
    outputs, inputs, *window = tensor.shape
    return inputs * math.prod(window), outputs * math.prod(window)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Count the one or the other.

    Raises:
        ValueError: If the mode is neither `"fan_in"` nor `"fan_out"`.
    """
    modes, mode = ["fan_in", "fan_out"], mode.lower()
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def _start_linear(weight: Tensor, bias: Tensor | None) -> None:
    r"""Draw what linear layers and convolutions begin with, uniformly from $\pm 1 / \sqrt n$."""
    # With a = sqrt(5), Kaiming's bound sqrt(6 / ((1 + a^2) n)) is 1 / sqrt(n).
    kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        inputs, _ = _calculate_fan_in_and_fan_out(weight)
        bound = 1 / math.sqrt(inputs) if inputs else 0
        uniform_(bias, -bound, bound)


def _fill(tensor: Tensor, values: Any) -> Tensor:
    """Write a number or what draws random numbers into a tensor; nothing of it is recorded."""
    array = tensor._array
    if callable(values):
        values = random.in_order_of_memory(np.empty_like(array), values)
    refuse_repeats(array)
    tensor._bump_version()
    array[...] = values
    return tensor
