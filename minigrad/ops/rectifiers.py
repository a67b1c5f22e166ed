"""Activation functions made of pieces: limits, thresholds, hard and leaky ones, exponential ones.

At a kink the convention is PyTorch's. The rule of such a function is constant on each piece, so it
has a derivative in the gradient only. :math:`g` is the gradient of the result.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.rules import applied, linear_rule, quietly
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import face
from minigrad.faces.arguments import check_tensor, number, refuse
from minigrad.ops import shape
from minigrad.ops.activations import activation, floats, in_place_of, number_among
from minigrad.ops.choices import pick

_SIXTH = float(np.float32(1 / 6))  # as PyTorch has it, also beside numbers of double precision
_FEW = 256  # up to so many entries the calls are what costs


def _nothing(grad: Any) -> Any:
    """Give the derivative of a rule that does not bend: zeros."""
    return np.zeros_like(grad)


def _refuse_negative(name: str, slope: Any, hint: str = "") -> None:
    """Raise if the sign of an input can't be told from that of the result in its place."""
    if slope < 0:
        raise RuntimeError(
            f"In-place {name} backward calculation is triggered with a negative slope which is "
            "not supported. This is caused by calling in-place forward function with a negative "
            f"slope, please call out-of-place version instead.{hint}"
        )


# ---------------------------------------------------------------------- limits and thresholds


@linear_rule("HardtanhBackwardBackward0", self=_nothing)
def hardtanh_backward(grad_output: Array, self: Array, min_val: Any, max_val: Any) -> Array:
    """Rule of hardtanh: the gradient strictly between the limits."""
    return pick((self <= min_val) + (self >= max_val), 0, grad_output)


def _limits(name: str, input: Tensor, low: Any, high: Any) -> tuple[Any, Any]:
    """Check the limits of hardtanh, and give them in the kind of numbers that the input has."""
    check_tensor(name, input)
    if low > high:
        raise ValueError("min_val cannot be greater than max_val")
    low, high = number_among(low, input), number_among(high, input)
    if input._array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if input._array.dtype.kind == "u" and (low < 0 or high < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return low, high


_LIMITS = "Number min_val=-1.0, Number max_val=1.0"


@activation(f"hardtanh(input, {_LIMITS}, inplace=False)", _limits, named=True)
@differentiable("HardtanhBackward0", self=hardtanh_backward)
def hardtanh(self: Array, min_val: Any, max_val: Any) -> Array:
    """Limit to an interval: :math:`g` strictly inside, else 0.

    Raises:
        ValueError: If `min_val` is greater than `max_val`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    return np.minimum(np.maximum(self, min_val), max_val)


@activation("relu6(input, inplace=False)", of=hardtanh)
def _from_0_to_6(name: str, input: Tensor) -> tuple[Any, Any]:
    r"""Compute $\min(\max(x, 0), 6)$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu6(torch.tensor([-3.0, 8.0]))
        tensor([0., 6.])
    """
    return _limits(name, input, 0.0, 6.0)


@linear_rule("HardsigmoidBackwardBackward0", self=_nothing)
def hardsigmoid_backward(grad_output: Array, self: Array) -> Array:
    """Rule of hardsigmoid: a sixth of the gradient where the input is between -3 and 3."""
    numbers = grad_output.dtype.kind == "f"  # or symbols, whose sixth is exact
    sixth = grad_output * _SIXTH if numbers else grad_output / 6
    return pick((self > -3) * (self < 3), sixth, 0)


@activation("hardsigmoid(input, inplace=False)", floats("hardsigmoid_cpu"))
@differentiable("HardsigmoidBackward0", self=hardsigmoid_backward)
def hardsigmoid(self: Array) -> Array:
    r"""Sigmoid of straight pieces, 0 up to -3 and 1 from 3 on: :math:`g / 6` between them.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, 1.5]))
        tensor([0.0000, 0.7500])
    """
    return np.minimum(np.maximum(self + 3, 0), 6) / 6


@linear_rule(
    "HardswishBackwardBackward0",
    self=lambda grad, grad_output, self: pick((self > -3) * (self < 3), grad * grad_output / 3, 0),
)
def hardswish_backward(grad_output: Array, self: Array) -> Array:
    r"""Rule of hardswish, between the kinks :math:`g\, (x / 3 + 1 / 2)`."""
    sloped = pick(self < 3, grad_output * (self / 3 + 0.5), grad_output)  # NaN is as beyond
    return pick(self <= -3, 0, sloped)


@activation("hardswish(input, inplace=False)", floats("hardswish_cpu"))
@differentiable("HardswishBackward0", self=hardswish_backward)
@quietly
def hardswish(self: Array) -> Array:
    r"""Input times its hardsigmoid: 0 up to -3, and the input itself from 3 on.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardswish(torch.tensor([-4.0, 1.0]))
        tensor([-0.0000, 0.6667])
    """
    return self * np.minimum(np.maximum(self + 3, 0), 6) / 6


@linear_rule("ThresholdBackwardBackward0", self=_nothing)
def threshold_slope(grad_output: Array, self: Array, threshold: Any) -> Array:
    """Rule of threshold: the gradient where the input is above it."""
    return pick(self <= threshold, 0, grad_output)


def _of_numbers(name: str, input: Tensor, threshold: Any, value: Any) -> tuple[Any, Any]:
    check_tensor(name, input)
    refuse("threshold_cpu", "bc", input)
    return number_among(threshold, input), number_among(value, input)


@activation(
    "threshold(input, Number threshold, Number value, inplace=False)",
    _of_numbers,
    ("ThresholdBackward1", threshold_slope),
    public=", *, out=None",
)
@differentiable("ThresholdBackward0", self=threshold_slope)
def threshold(self: Array, threshold: Any, value: Any) -> Array:
    """Keep what is greater than a threshold, and put a value in the place of the rest.

    Example:
        >>> import minigrad as torch
        >>> torch.threshold(torch.tensor([0.1, 0.7]), 0.5, 0)
        tensor([0.0000, 0.7000])
    """
    return pick(self <= threshold, value, self)


@linear_rule("HardshrinkBackwardBackward0", self=_nothing)
def hardshrink_backward(grad_output: Array, self: Array, lambd: Any) -> Array:
    """Rule of hardshrink: the gradient where the input is farther from 0 than the width."""
    return pick(abs(self) <= lambd, 0, grad_output)


@activation("hardshrink(Tensor input, Number lambd=0.5)", floats("hardshrink_cpu"))
@differentiable("HardshrinkBackward0", self=hardshrink_backward)
def hardshrink(self: Array, lambd: Any) -> Array:
    """Keep what is farther from 0 than a width, and put 0 in the place of the rest.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardshrink(torch.tensor([0.1, -0.7]))
        tensor([ 0.0000, -0.7000])
    """
    return pick(abs(self) <= lambd, 0, self)


@linear_rule("SoftshrinkBackwardBackward0", self=_nothing)
def softshrink_backward(grad_output: Array, self: Array, lambd: Any) -> Array:
    """Rule of softshrink: that of hardshrink."""
    return pick(abs(self) <= lambd, 0, grad_output)


def _width(name: str, input: Tensor, lambd: Any) -> list[Any]:
    settings = floats("softshrink_check")(name, input, lambd)
    largest = float(np.finfo(input._array.dtype).max)
    if not 0 <= settings[0] <= largest:
        raise RuntimeError(
            f"lambda must be in range [0, {largest:g}] for input dtype "
            f"{input.dtype.tensor_type}, but found {settings[0]:g}"
        )
    return settings


@activation("softshrink(Tensor input, Number lambd=0.5)", _width)
@differentiable("SoftshrinkBackward0", self=softshrink_backward)
def softshrink(self: Array, lambd: Any) -> Array:
    """Bring entries nearer to 0 by a width, and to 0 where they are not so far from it.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softshrink(torch.tensor([0.1, -0.7]))
        tensor([ 0.0000, -0.2000])
    """
    nearer = pick(self > 0, self - lambd, self + lambd)
    return pick(abs(self) <= lambd, 0, nearer)


# ---------------------------------------------------------------------- leaky: given slopes


@linear_rule("LeakyReluBackwardBackward0", self=_nothing)
def leaky_relu_backward(grad_output: Array, self: Array, negative_slope: float) -> Array:
    """Rule of leaky_relu: linear pieces, so it has no derivative of its own in the input."""
    if self.dtype.kind == "f" and self.size > _FEW and 0 < negative_slope <= 1:
        slope = (self > 0).astype(self.dtype).clip(negative_slope, 1)
        slope *= grad_output
        return slope
    return pick(self > 0, grad_output, grad_output * negative_slope)


def _leaky_rule(grad: Any, result: Any, negative_slope: Any) -> Any:
    _refuse_negative(
        "leakyReLu",
        negative_slope,
        " File an issue at https://github.com/pytorch/pytorch if you do require supporting "
        "in-place leakRelu backward calculation with negative slope",
    )
    return applied(leaky_relu_backward, grad, result, negative_slope)


@activation(
    "leaky_relu(input, Number negative_slope=0.01, inplace=False)",
    floats("leaky_relu_cpu"),
    ("LeakyReluBackward1", _leaky_rule),
)
@differentiable("LeakyReluBackward0", self=leaky_relu_backward)
def leaky_relu(self: Array, negative_slope: float) -> Array:
    r"""Leaky positive part: :math:`g` where the input is positive, else :math:`\alpha g`.

    In place the backward needs the sign of the input, so the slope must not be negative there.
    """
    if self.dtype.kind == "f" and 0 < negative_slope <= 1:
        return np.maximum(self, self * negative_slope)
    return pick(self > 0, self, self * negative_slope)


# ---------------------------------------------------------------------- learned and drawn slopes


@differentiable(
    "PreluKernelBackwardBackward0",
    broadcasts=("weight",),
    # at 0 it is the other slope, as in PyTorch
    grad_output=lambda grad, self, weight: pick(self >= 0, grad, weight * grad),
    # 0, but with a place in the graph, as it has in PyTorch
    self=lambda grad, self: pick(self == self, 0, grad * 0),
    weight=lambda grad, grad_output, self: pick(self >= 0, 0, grad * grad_output),
)
def prelu_backward(grad_output: Array, self: Array, weight: Array) -> Array:
    """Rule of prelu in its input: the gradient times the slope."""
    return pick(self > 0, grad_output, weight * grad_output)


@differentiable(
    "PreluKernelBackwardBackward0",
    grad_output=lambda grad, self: pick(self >= 0, 0, grad * self),
    self=lambda grad, grad_output, self: pick(self >= 0, 0, grad * grad_output),
    weight=lambda grad, weight: np.zeros_like(weight),  # in PyTorch's graph, though linear
)
def prelu_weight_backward(grad_output: Array, self: Array, weight: Array) -> Array:
    """Rule of prelu in its slopes: the gradient times the input where that is not positive."""
    return pick(self > 0, 0, self * grad_output)


@differentiable(
    "PreluKernelBackward0",
    broadcasts=("weight",),
    self=prelu_backward,
    weight=prelu_weight_backward,
)
def prelu_kernel(self: Array, weight: Array) -> Array:
    r"""Leaky positive part with slopes :math:`w`: :math:`w g`, and :math:`x g` for the slope."""
    return pick(self > 0, self, weight * self)


@face("prelu(Tensor input, Tensor weight)")
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
        sizes = (1, slopes.size, *[1] * (array.ndim - 2))
        weight = shape.view(weight, sizes[: array.ndim])
    return prelu_kernel(input, weight)


@linear_rule("RreluWithNoiseBackwardBackward0", self=_nothing)
def rrelu_backward(grad_output: Array, self: Array, noise: Any) -> Array:
    """Rule of rrelu: the gradient times the slope of each entry."""
    return grad_output * noise


@differentiable("RreluWithNoiseBackward0", self=rrelu_backward)
def rrelu_with_noise(self: Array, noise: Any) -> Array:
    """Leaky positive part with a slope for each entry, 1 where the input is positive."""
    return self * noise


@activation(
    "rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False)",
    in_place=(
        "RreluWithNoiseBackward1",
        lambda grad, result, noise: applied(rrelu_backward, grad, result, noise),
    ),
    of=rrelu_with_noise,
    public=", generator=None",
)
def _noise(
    name: str, input: Tensor, lower: float, upper: float, training: bool, generator: Any = None
) -> Any:
    """Compute x where it is positive, and a random slope times x elsewhere.

    Args:
        name: The function that is called.
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
    check_tensor(name, input)
    lower, upper = number(lower, name, "lower", 2), number(upper, name, "upper", 3)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    for what, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {what} bound must be finite, got {bound}")
    refuse("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", "iubc", input)
    source, array = random.stream(generator), input._array
    slopes: Any = (lower + upper) / 2
    if training:
        below = array <= 0  # only these draw
        slopes = np.ones(array.shape)
        drawn = source.fractions(int(below.sum()))
        slopes[below] = drawn * (upper - lower) + lower
    return (np.where(array > 0, 1, slopes).astype(array.dtype),)


# ---------------------------------------------------------------------- exponential ones, scaled


def _elu_curvature_rule(
    grad: Any, grad_output: Any, self: Any, alpha: Any, scale: Any, input_scale: Any
) -> Any:
    bend = (input_scale * input_scale * alpha * scale) * np.exp(self * input_scale)
    return pick(self < 0, grad * grad_output * bend, 0)


@linear_rule("EluBackwardBackward0", self=_elu_curvature_rule)
@quietly
def scaled_elu_backward(
    grad_output: Array, self: Array, alpha: Any, scale: Any, input_scale: Any
) -> Array:
    r"""Rule of the scaled elu: :math:`g s`, or left of 0 :math:`g a s i\, e^{i x}`."""
    steep = grad_output * (input_scale * alpha * scale) * np.exp(self * input_scale)
    return pick(self <= 0, steep, grad_output * scale)


def _scaled_elu(self: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    return pick(self < 0, np.expm1(self * input_scale) * (alpha * scale), self * scale)


@differentiable("EluBackward0", self=scaled_elu_backward)
@quietly
def scaled_elu(self: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    r"""Exponential linear unit :math:`s x`, or left of 0 :math:`a s\, (e^{i x} - 1)`."""
    return _scaled_elu(self, alpha, scale, input_scale)


@differentiable(
    "CeluBackward0",
    self=lambda grad, self, alpha: applied(scaled_elu_backward, grad, self, alpha, 1, 1 / alpha),
)
@quietly
def celu(self: Array, alpha: Any) -> Array:
    r"""Continuous elu, left of 0 :math:`a\, (e^{x/a} - 1)`: :math:`g\, e^{x/a}` there."""
    return _scaled_elu(self, alpha, 1, 1 / alpha)


@linear_rule(
    "EluBackwardBackward0",
    output=lambda grad, grad_output, output, input_scale: pick(
        output < 0, grad * grad_output * input_scale, 0
    ),
)
def scaled_elu_backward_from_result(
    grad_output: Array, output: Array, alpha: Any, scale: Any, input_scale: Any
) -> Array:
    r"""Rule of the scaled elu in place: left of 0, :math:`a s\, e^{i x} = y + a s`."""
    steep = grad_output * input_scale * (output + alpha * scale)
    return pick(output <= 0, steep, grad_output * scale)


def _elu_rule(grad: Any, result: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    _refuse_negative("elu", alpha)
    return applied(scaled_elu_backward_from_result, grad, result, alpha, scale, input_scale)


# Source: Klambauer et al., Self-normalizing neural networks, 2017.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
_ALPHA = "(input, Number alpha=1.0, inplace=False)"
_of_elu = floats("elu_cpu")
_in_place = in_place_of(scaled_elu, "EluBackward1", _elu_rule)
_scaled = partial(activation, in_place=_in_place, of=scaled_elu)


@_scaled(f"elu{_ALPHA}")
def _steep(name: str, input: Tensor, alpha: Any) -> Any:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^x - 1)$ elsewhere.

    In place the backward needs the sign of the input, so `alpha` must not be negative there.
    """
    return *_of_elu(name, input, alpha), 1, 1


@_scaled("selu(input, inplace=False)", public="")
def _self_normalizing(name: str, input: Tensor) -> Any:
    r"""Compute $s x$ where $x > 0$, and $s \alpha (e^x - 1)$ elsewhere.

    With $s$ = 1.0507... and $\alpha$ = 1.6733... mean 0 and variance 1 are kept.

    Example:
        >>> import minigrad as torch
        >>> torch.selu(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """
    return *_of_elu(name, input), SELU_ALPHA, SELU_SCALE, 1


@activation(
    f"celu{_ALPHA}",
    in_place=(
        "CeluBackward1",
        lambda grad, result, alpha: _elu_rule(grad, result, alpha, 1, 1 / alpha),
    ),
    of=celu,
    public="",
)
def _continuous(name: str, input: Tensor, alpha: Any) -> Any:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ elsewhere.

    Raises:
        RuntimeError: If `alpha` is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.celu(torch.tensor([-1.0, 1.0]), alpha=0.5)
        tensor([-0.4323,  1.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _of_elu(name, input, alpha)
