"""Count what goes into a unit and out of it, and know how much a nonlinearity takes away."""

from __future__ import annotations

import math

from minigrad.tensor import Tensor


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
        ValueError: If the name is unknown, or the slope is no number.

    Example:
        >>> calculate_gain("leaky_relu", 0.2)
        1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    gains = {"relu": math.sqrt(2.0), "tanh": 5.0 / 3, "selu": 3.0 / 4}
    gains |= {"linear": 1, "sigmoid": 1}
    gains |= {f"conv{kind}{n}d": 1 for kind in ("", "_transpose") for n in (1, 2, 3)}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Count the inputs that each output is computed from, and the outputs each input goes to."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    outputs, inputs, *window = tensor.shape
    return inputs * math.prod(window), outputs * math.prod(window)


def correct_fan(tensor: Tensor, mode: str) -> int:
    """Count the one or the other.

    Raises:
        ValueError: If the mode is neither `"fan_in"` nor `"fan_out"`.
    """
    modes = ["fan_in", "fan_out"]
    mode = mode.lower()
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return fan_in_and_fan_out(tensor)[modes.index(mode)]
