"""Activation functions made of pieces: limits, thresholds, hard and leaky ones, exponential ones.

At a kink the convention is PyTorch's. The rule of such a function is constant on each piece, so it
has a derivative in the gradient only. :math:`g` is the gradient of the result.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import random
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import face
from minigrad.faces.arguments import check_tensor, real_number, refuse
from minigrad.ops import shape
from minigrad.ops.activations import check_slope
from minigrad.ops.choices import pick
from minigrad.ops.inplace import write
from minigrad.ops.type_promotion import applied, quietly

_FEW = 256  # up to so many entries the calls are what costs


def _nothing(grad: Any) -> Any:
    """Give the derivative of a rule that does not bend: zeros."""
    return np.zeros_like(grad)


# ---------------------------------------------------------------------- limits and thresholds


@differentiable(
    "HardtanhBackwardBackward0",
    grad_output=lambda grad, self, min_val, max_val: applied(
        hardtanh_backward, grad, self, min_val, max_val
    ),
    self=_nothing,
)
def hardtanh_backward(grad_output: Array, self: Array, min_val: Any, max_val: Any) -> Array:
    """Rule of hardtanh: the gradient strictly between the limits."""
    return pick((self <= min_val) + (self >= max_val), 0, grad_output)


@differentiable("HardtanhBackward0", self=hardtanh_backward)
def hardtanh(self: Array, min_val: Any, max_val: Any) -> Array:
    """Limit to an interval: :math:`g` strictly inside, else 0."""
    return np.minimum(np.maximum(self, min_val), max_val)


@differentiable(
    "ThresholdBackwardBackward0",
    grad_output=lambda grad, self, threshold: applied(threshold_slope, grad, self, threshold),
    self=_nothing,
)
def threshold_slope(grad_output: Array, self: Array, threshold: Any) -> Array:
    """Rule of threshold: the gradient where the input is above it."""
    return pick(self <= threshold, 0, grad_output)


@differentiable("ThresholdBackward0", self=threshold_slope)
def threshold(self: Array, threshold: Any, value: Any) -> Array:
    """A value in the place of all that is not above a threshold: that gets no gradient."""
    return pick(self <= threshold, value, self)


@differentiable("ThresholdBackward1", self=threshold_slope)
def threshold_in_place(self: Array, threshold: Any, value: Any) -> Array:
    """The same under the name that the node has in place."""
    return pick(self <= threshold, value, self)


@differentiable(
    "HardswishBackwardBackward0",
    grad_output=lambda grad, self: applied(hardswish_backward, grad, self),
    self=lambda grad, grad_output, self: pick((self > -3) * (self < 3), grad * grad_output / 3, 0),
)
def hardswish_backward(grad_output: Array, self: Array) -> Array:
    r"""Rule of hardswish: 0 up to -3, :math:`g` from 3 on, and :math:`g (x/3 + 1/2)` between."""
    inner = grad_output * (self / 3 + 0.5)
    return pick(self <= -3, 0, pick(self < 3, inner, grad_output))


@differentiable("HardswishBackward0", self=hardswish_backward)
@quietly
def hardswish(self: Array) -> Array:
    r"""Hard swish :math:`x \min(\max(x + 3, 0), 6) / 6`: :math:`g (x/3 + 1/2)` in between."""
    if self.dtype.kind == "f" and self.size > _FEW:  # in the same memory
        result = self + 3
        result.clip(0, 6, out=result)
        result *= self
        result /= 6
        return result
    return self * np.minimum(np.maximum(self + 3, 0), 6) / 6


@differentiable(
    "HardsigmoidBackwardBackward0",
    grad_output=lambda grad, self: applied(hardsigmoid_backward, grad, self),
    self=_nothing,
)
def hardsigmoid_backward(grad_output: Array, self: Array) -> Array:
    """Rule of hardsigmoid: a sixth of the gradient between -3 and 3."""
    return pick((self > -3) * (self < 3), grad_output / 6, 0)


@differentiable("HardsigmoidBackward0", self=hardsigmoid_backward)
def hardsigmoid(self: Array) -> Array:
    r"""Hard sigmoid :math:`\min(\max(x + 3, 0), 6) / 6`: :math:`g / 6` between -3 and 3."""
    return np.minimum(np.maximum(self + 3, 0), 6) / 6


# ---------------------------------------------------------------------- shrinking


def _outside(self: Any, lambd: Any, kept: Any) -> Any:
    return pick((self >= -lambd) * (self <= lambd), 0, kept)


@differentiable(
    "HardshrinkBackwardBackward0",
    grad_output=lambda grad, self, lambd: applied(hardshrink_backward, grad, self, lambd),
    self=_nothing,
)
def hardshrink_backward(grad_output: Array, self: Array, lambd: Any) -> Array:
    r"""Rule of hardshrink: the gradient outside of :math:`[-\lambda, \lambda]`."""
    return _outside(self, lambd, grad_output)


@differentiable("HardshrinkBackward0", self=hardshrink_backward)
def hardshrink(self: Array, lambd: Any) -> Array:
    r"""Hard shrinkage: :math:`x` outside of :math:`[-\lambda, \lambda]`, else 0; so :math:`g`."""
    return _outside(self, lambd, self)


@differentiable(
    "SoftshrinkBackwardBackward0",
    grad_output=lambda grad, self, lambd: applied(softshrink_backward, grad, self, lambd),
    self=_nothing,
)
def softshrink_backward(grad_output: Array, self: Array, lambd: Any) -> Array:
    r"""Rule of softshrink: the gradient outside of :math:`[-\lambda, \lambda]`."""
    return _outside(self, lambd, grad_output)


@differentiable("SoftshrinkBackward0", self=softshrink_backward)
@quietly
def softshrink(self: Array, lambd: Any) -> Array:
    r"""Soft shrinkage: outside of :math:`[-\lambda, \lambda]`, :math:`\lambda` nearer to 0."""
    return pick(self > lambd, self - lambd, pick(self < -lambd, self + lambd, self * 0))


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
)
def prelu_weight_backward(grad_output: Array, self: Array) -> Array:
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


@differentiable(
    "RreluWithNoiseBackwardBackward0",
    grad_output=lambda grad, self, noise: applied(rrelu_backward, grad, self, noise),
    self=_nothing,
)
def rrelu_backward(grad_output: Array, self: Array, noise: Any) -> Array:
    """Rule of rrelu: the gradient times the slope of each entry."""
    return grad_output * noise


@differentiable("RreluWithNoiseBackward0", self=rrelu_backward)
def rrelu_with_noise(self: Array, noise: Any) -> Array:
    """Leaky positive part with a slope for each entry, 1 where the input is positive."""
    return self * noise


@differentiable(
    "RreluWithNoiseBackward1",
    self=lambda grad, result, noise: applied(rrelu_backward, grad, result, noise),
)
def rrelu_with_noise_in_place(self: Array, noise: Any) -> Array:
    """The same where only the result is left."""
    return self * noise


# ---------------------------------------------------------------------- exponential ones, scaled


@differentiable(
    "EluBackwardBackward0",
    grad_output=lambda grad, self, alpha, scale, input_scale: applied(
        scaled_elu_backward, grad, self, alpha, scale, input_scale
    ),
    self=lambda grad, grad_output, self, alpha, scale, input_scale: pick(
        self < 0,
        grad
        * grad_output
        * (input_scale * input_scale * alpha * scale)
        * np.exp(self * input_scale),
        0,
    ),
)
@quietly
def scaled_elu_backward(
    grad_output: Array, self: Array, alpha: Any, scale: Any, input_scale: Any
) -> Array:
    r"""Rule of the scaled elu: :math:`g s`, or left of 0 :math:`g a s i\, e^{i x}`."""
    steep = grad_output * (input_scale * alpha * scale) * np.exp(self * input_scale)
    return pick(self <= 0, steep, grad_output * scale)


def _scaled_elu(self: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    return pick(self <= 0, np.expm1(self * input_scale) * (alpha * scale), self * scale)


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


@differentiable(
    "EluBackwardBackward0",
    grad_output=lambda grad, output, alpha, scale, input_scale: applied(
        scaled_elu_backward_from_result, grad, output, alpha, scale, input_scale
    ),
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
    check_slope("elu", alpha)
    return applied(scaled_elu_backward_from_result, grad, result, alpha, scale, input_scale)


@differentiable("EluBackward1", self=_elu_rule)
@quietly
def scaled_elu_in_place(self: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    """Scaled exponential linear unit, of which only the result is left."""
    return _scaled_elu(self, alpha, scale, input_scale)


@differentiable(
    "CeluBackward1", self=lambda grad, result, alpha: _elu_rule(grad, result, alpha, 1, 1 / alpha)
)
@quietly
def celu_in_place(self: Array, alpha: Any) -> Array:
    """Continuous elu, of which only the result is left."""
    return _scaled_elu(self, alpha, 1, 1 / alpha)


# ---------------------------------------------------------------------- what is called

# Source: Klambauer et al., Self-normalizing neural networks, 2017.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def number_among(value: Any, input: Tensor) -> Any:
    """Give a setting as a number of the kind that the input has: a whole one among integers."""
    if input._array.dtype.kind in "iu":
        return int(value)
    return real_number(value, input._array.dtype) if isinstance(value, complex) else value


def _with_in_place(
    schema: str, settings: Callable[..., Any], operation: Any, in_place: Any, doc: str
) -> None:
    """Make a function and its counterpart in place.

    Args:
        schema: The function's signature.
        settings: Checks what the function is given, and gives what the operations get.
        operation: The operation.
        in_place: The operation in place.
        doc: What the function does.
    """

    def function(input: Tensor, *given: Any) -> Tensor:
        return operation(input, *settings(input, *given))

    def changing(input: Tensor, *given: Any) -> Tensor:
        return write(in_place, input, *settings(input, *given))

    name = schema.partition("(")[0]
    function.__doc__, changing.__doc__ = doc, f"Do what `{name}` does, in place."
    face(schema, method=False)(function)
    changed = schema.replace(f"{name}(", f"{name}_(", 1).replace(", *, out=None", "")
    face(changed, method=False)(changing)


def _selu_settings(input: Tensor) -> tuple[Any, ...]:
    refuse("elu_cpu", "iub", input)
    return SELU_ALPHA, SELU_SCALE, 1


_with_in_place(
    "selu(Tensor input)",
    _selu_settings,
    scaled_elu,
    scaled_elu_in_place,
    r"""Compute $s x$ where $x > 0$, and $s \alpha (e^x - 1)$ elsewhere.

    With $s$ = 1.0507... and $\alpha$ = 1.6733... mean 0 and variance 1 are kept.

    Example:
        >>> import minigrad as torch
        >>> torch.selu(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """,
)


def _celu_settings(input: Tensor, alpha: Any) -> tuple[Any]:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    refuse("elu_cpu", "iub", input)
    return (number_among(alpha, input),)


_with_in_place(
    "celu(Tensor input, alpha=1.0)",
    _celu_settings,
    celu,
    celu_in_place,
    r"""Compute $x$ where $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ elsewhere.

    Raises:
        RuntimeError: If `alpha` is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.celu(torch.tensor([-1.0, 1.0]), alpha=0.5)
        tensor([-0.4323,  1.0000])
    """,
)


def _threshold_settings(input: Tensor, threshold: Any, value: Any) -> tuple[Any, Any]:
    refuse("threshold_cpu", "b", input)
    return number_among(threshold, input), number_among(value, input)


_with_in_place(
    "threshold(Tensor input, threshold, value, *, out=None)",
    _threshold_settings,
    threshold,
    threshold_in_place,
    """Keep what is greater than a threshold, and put a value in the place of the rest.

    Example:
        >>> import minigrad as torch
        >>> torch.threshold(torch.tensor([0.1, 0.7]), 0.5, 0)
        tensor([0.0000, 0.7000])
    """,
)


def _noise(input: Tensor, lower: float, upper: float, training: bool, generator: Any) -> Any:
    """Give the slope of each entry: 1 where it is positive, elsewhere drawn or in the middle."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    for what, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {what} bound must be finite, got {bound}")
    refuse("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", "iub", input)
    array = input._array
    slopes: Any = (lower + upper) / 2
    if training:
        below = array <= 0  # only these draw
        slopes = np.ones(array.shape)
        drawn = random.stream(generator).fractions(int(below.sum()))
        slopes[below] = drawn * (upper - lower) + lower
    return (np.where(array > 0, 1, slopes).astype(array.dtype),)


_with_in_place(
    "rrelu(Tensor input, lower=0.125, upper=0.3333333333333333, training=False, generator=None)",
    _noise,
    rrelu_with_noise,
    rrelu_with_noise_in_place,
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
    """,
)


@face("hardshrink(Tensor input, lambd=0.5)", missing=("iub", "hardshrink_cpu"))
def shrunk(input: Tensor, lambd: float) -> Tensor:
    r"""Put 0 in the place of all that lies in $[-\lambda, \lambda]$.

    Example:
        >>> import minigrad as torch
        >>> torch.hardshrink(torch.tensor([-0.7, 0.2, 0.6]))
        tensor([-0.7000,  0.0000,  0.6000])
    """
    return hardshrink(input, number_among(lambd, input))


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
        sizes = [1] * array.ndim
        if array.ndim > 1:
            sizes[1] = slopes.size
        weight = shape.view(weight, tuple(sizes))
    return prelu_kernel(input, weight)


def hardtanh_limits(name: str, input: Tensor, low: Any, high: Any) -> tuple[Any, Any]:
    """Check the limits of hardtanh, and give them in the kind of numbers that the input has."""
    check_tensor(name, input)
    if input._array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    low, high = number_among(low, input), number_among(high, input)
    if input._array.dtype.kind == "u" and (low < 0 or high < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return low, high
