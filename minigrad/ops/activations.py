"""The derivatives of activation functions, and the derivatives of these derivatives.

A function such as `tanh` has for its rule another registered operation, `tanh_backward`, which has
rules of its own: so the second derivative is one node of the graph, as in PyTorch. :math:`g` is the
gradient of the result, and :math:`h` the gradient of what a `..._backward` gave.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate, linear_rule
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.ops import shape
from minigrad.ops.choices import pick, where_true
from minigrad.ops.inplace import write
from minigrad.ops.special_functions import erf
from minigrad.ops.type_promotion import check_floats, check_one_type
from minigrad.signatures import entrywise, functional, variants
from minigrad.signatures.arguments import not_implemented
from minigrad.signatures.signature import Dim, Number

# Comparing with an array without dimensions is quicker than comparing with a Python number.
_ZERO = np.zeros((), np.float32)


@linear_rule(
    "TanhBackwardBackward0",
    output=lambda grad, grad_output, output: grad * (output * -2 * grad_output),
)
def tanh_backward(grad_output: Array, output: Array) -> Array:
    r"""Rule of tanh, :math:`g\, (1 - y^2)`: its derivative is :math:`-2 g y` in :math:`y`."""
    slope = output * output
    slope = np.subtract(1, slope, out=slope if slope.ndim else None)  # in the same memory
    if any(grad_output.strides) or next(grad_output.flat, 1) != 1:  # as the gradient of a sum is
        # in the same memory, unless that can't hold a gradient for each example of a batch
        one = type(slope) is type(grad_output) is np.ndarray
        return np.multiply(slope, grad_output, slope if one else None)
    return slope


@entrywise(ufunc=np.tanh)
@operation("TanhBackward0", self=tanh_backward)
def tanh(self: Array) -> Array:
    r"""Hyperbolic tangent: :math:`g\, (1 - \tanh^2 x)`."""
    return np.tanh(self)


@linear_rule(
    "SigmoidBackwardBackward0",
    output=lambda grad, grad_output, output: grad * grad_output * (output * -2 + 1),
)
def sigmoid_backward(grad_output: Array, output: Array) -> Array:
    r"""Rule of sigmoid, :math:`g\, (1 - y)\, y`: its derivative is :math:`g\, (1 - 2 y)`."""
    slope = 1 - output
    slope *= output
    return slope * grad_output


def logistic(array: Any) -> Any:
    r"""Give :math:`1 / (1 + e^{-x})` of an array."""
    return 1 / (1 + np.exp(-array))


@entrywise()
@operation("SigmoidBackward0", self=sigmoid_backward)
@ignore_errstate
def sigmoid(self: Array) -> Array:
    r"""Logistic function :math:`\sigma = 1 / (1 + e^{-x})`: :math:`g\, (1 - \sigma)\, \sigma`."""
    return logistic(self)


@linear_rule(
    "ThresholdBackwardBackward0",
    # saved though there is no use for it: as in PyTorch it must not be changed
    output=lambda grad, output: np.zeros_like(grad),
)
def threshold_backward(grad_output: Array, output: Array) -> Array:
    """Rule of relu: the gradient where the result is positive (or NaN), else 0."""
    return where_true(output != _ZERO, grad_output)


@variants(in_place="function")
@operation("ReluBackward0", self=threshold_backward)
def relu(self: Array) -> Array:
    r"""Positive part: :math:`g` where the input is positive, else 0 (also at 0)."""
    if self.dtype.kind == "b":
        raise RuntimeError("relu takes no booleans: convert them to numbers")
    if self.dtype.kind == "c":
        raise not_implemented("relu", self)
    if type(self) is not np.ndarray or not self.flags.c_contiguous:
        return np.maximum(0, self)
    zeros = np.zeros(self.shape, self.dtype)  # with many NumPy is twice as quick as with one
    return np.maximum(zeros, self, out=zeros)


@functional("relu")
def positive_part(input: Tensor, inplace: Any = False) -> Tensor:
    r"""Compute $\max(x, 0)$; the derivative at 0 is taken to be 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else input.relu()


# ---------------------------------------------------------------------- those with settings


def activation(
    name: str = "",
    *,
    refused: str = "iubc",
    of: Any = None,
    inplace: bool = True,
    in_place: tuple[str, Any] | None = None,
    public: bool = False,
) -> Callable[[Any], Any]:
    """Give an operation its variants in `minigrad.nn.functional`, and in `minigrad`.

    Args:
        name: What it is called, if not as what is decorated.
        refused: The kinds of dtypes that it is not made for.
        of: The operation, if what is decorated gives its settings, and says what it does.
        inplace: Whether the function in `minigrad.nn.functional` has that argument.
        in_place: The name of the node in place, and its rule: then there is a function `elu_`.
        public: Whether there are functions in `minigrad`, too.
    """

    def decorate(said: Any) -> Any:
        called, operation = name or said.__name__, of or said
        written = _named(operation, *in_place) if in_place else operation

        def settings(input: Tensor, given: Any) -> Any:
            check_floats(called, called, input, refused)
            if of is not None:
                return said(input, *given)
            return map(int, given) if input._array.dtype.kind in "iu" else given

        def function(input: Tensor, *given: Any) -> Tensor:
            return operation(input, *settings(input, given))

        def changing(input: Tensor, *given: Any) -> Tensor:
            return write(written, input, *settings(input, given))

        def either(input: Tensor, *given: Any) -> Tensor:
            return (changing if given[-1] else function)(input, *given[:-1])

        function.__module__ = changing.__module__ = said.__module__  # the file that says it
        function.__doc__ = either.__doc__ = said.__doc__
        changing.__doc__ = f"Do what `{called}` does, in place."
        functional(called, like=said, inplace=inplace)(either if inplace else function)
        if in_place:
            functional(f"{called}_", like=said)(changing)
        if public:
            variants(called, like=said, method=False)(function)
            variants(f"{called}_", like=said, method=False)(changing)
        return said

    return decorate


def _named(declared: Any, node: str, rule: Any) -> Any:
    """Make an operation that computes the same, under the name that the node has in place."""

    def forward(*given: Any) -> Any:
        return declared.forward(*given)

    forward.__wrapped__ = declared.forward  # type: ignore[attr-defined]
    forward.__name__ = f"{declared.__name__}_in_place"
    return operation(node, self=rule)(forward)


@activation(inplace=False)
@operation(
    "SoftplusBackward0",
    self=lambda grad, self, beta, threshold: pick(
        self * beta > threshold, grad, grad * dispatch(sigmoid, self * beta)
    ),
)
@ignore_errstate
def softplus(self: Array, beta: Number = 1.0, threshold: Number = 20.0) -> Array:
    r"""Smooth positive part :math:`\ln(1 + e^{\beta x}) / \beta`: :math:`g\, \sigma(\beta x)`."""
    return pick(self * beta > threshold, self, np.log1p(np.exp(beta * self)) / beta)


def _silu_rule(grad: Any, self: Any) -> Any:
    rest = 1 + self * (1 - (slope := dispatch(sigmoid, self)))
    return grad * slope * rest


@activation(refused="iub")
@operation("SiluBackward0", self=_silu_rule)
@ignore_errstate
def silu(self: Array) -> Array:
    r"""Sigmoid linear unit :math:`x \sigma(x)`: :math:`g\, \sigma (1 + x (1 - \sigma))`."""
    return self * logistic(self)


def _mish_rule(grad: Any, self: Any) -> Any:
    bent = np.tanh(np.log1p(np.exp(self)))
    return grad * (bent + self * dispatch(sigmoid, self) * (1 - bent * bent))


@activation()
@operation("MishBackward0", self=_mish_rule)
@ignore_errstate
def mish(self: Array) -> Array:
    r"""Input times the tanh :math:`t` of its softplus: :math:`g (t + x \sigma(x) (1 - t^2))`.

    Source: Misra, *Mish: a self regularized non-monotonic activation function*, 2019.
    """
    return self * np.tanh(np.log1p(np.exp(self)))


# ---------------------------------------------------------------------- gelu

_STEEP = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _probability(self: Any, approximate: str) -> Any:
    r"""Give the normal distribution function :math:`(1 + \operatorname{erf}(x / \sqrt 2)) / 2`.

    With "tanh" a hyperbolic tangent stands for the error function.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    if approximate == "none":
        return 0.5 * (1 + dispatch(erf, self * math.sqrt(0.5)))
    return 0.5 * (1 + np.tanh(_STEEP * (self + _CUBIC * (self * self * self))))


def _gelu_rule(grad: Any, self: Any, approximate: str, kept: list[Any]) -> Any:
    likely = kept[1] if kept and kept[0] is self else _probability(self, approximate)
    if approximate == "none":
        density = np.exp(self * self * -0.5) / math.sqrt(2 * math.pi)
    else:
        density = 2 * likely * (1 - likely) * (_STEEP * (1 + (3 * _CUBIC) * (self * self)))
    return grad * (likely + self * density)


@operation("GeluBackward0", self=_gelu_rule)
@ignore_errstate
def gelu(self: Array, approximate: str, kept: list[Any]) -> Array:
    r"""Gaussian error linear unit :math:`x \Phi(x)`: :math:`g\, (\Phi(x) + x \varphi(x))`.

    The list `kept` gets the input and its :math:`\Phi`, so that the rule needn't compute it again.
    """
    likely = _probability(self, approximate)
    if type(self) is np.ndarray:
        kept[:] = self, likely
    return self * likely


@activation("gelu", of=gelu, inplace=False)
def gaussian(input: Tensor, approximate: str = "none") -> Any:
    r"""Compute $x \Phi(x)$, with the distribution function of the normal distribution.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016.

    Args:
        input: The tensor.
        approximate: `"none"`, or `"tanh"` to compute the distribution function :math:`\Phi(x)` of
            the normal distribution by :math:`(1 + \tanh(\sqrt{2/\pi}\, (x + 0.044715 x^3))) / 2`.

    Raises:
        RuntimeError: If `approximate` is neither of the two.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.gelu(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """
    return approximate, []


# ---------------------------------------------------------------------- logarithm of sigmoid


@activation("logsigmoid", inplace=False)
@operation("LogSigmoidBackward0", self=lambda grad, self: grad * dispatch(sigmoid, -self))
@ignore_errstate
def log_sigmoid(self: Array) -> Array:
    r"""Logarithm of sigmoid, :math:`-\ln(1 + e^{-x})`: :math:`g\, \sigma(-x)`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.logsigmoid(torch.tensor([0.0]))
        tensor([-0.6931])
    """
    return np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))


# ---------------------------------------------------------------------- of other operations


@functional("glu")
def gated(input: Tensor, dim: Dim = -1) -> Tensor:
    r"""Compute $a \sigma(b)$ of the two halves along a dimension.

    Source: Dauphin et al., *Language modeling with gated convolutional networks*, 2017.

    Raises:
        RuntimeError: If there are no halves.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.glu(torch.tensor([3.0, 0.0]))
        tensor([1.5000])
    """
    if not input.ndim or input.shape[dim] % 2:
        raise RuntimeError(f"glu(): there are no halves of {list(input.shape)} along dim {dim}")
    first, second = input.chunk(2, dim)
    return first * second.sigmoid()


@functional
def softsign(input: Tensor) -> Tensor:
    r"""Compute $x / (1 + |x|)$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@functional
def tanhshrink(input: Tensor) -> Tensor:
    r"""Compute $x - \tanh x$."""
    return input - input.tanh()


# ------------------------------------------------------------------ made of pieces


# ---------------------------------------------------------------------- limits and thresholds


def of_pieces(node: str) -> Any:
    """Declare the rule of a function that is linear in pieces: its derivative there is 0."""
    return linear_rule(node, self=lambda grad: np.zeros_like(grad))


@of_pieces("HardtanhBackwardBackward0")
def hardtanh_backward(grad_output: Array, self: Array, min_val: Any, max_val: Any) -> Array:
    """Rule of hardtanh: the gradient strictly between the limits."""
    return pick((self > min_val) * (self < max_val), grad_output, 0)


def _hardtanh_rule_in_place(grad: Any, result: Any, min_val: Any, max_val: Any) -> Any:
    return dispatch(hardtanh_backward, grad, result, min_val, max_val)


@activation(refused="bc", in_place=("HardtanhBackward1", _hardtanh_rule_in_place))
@operation("HardtanhBackward0", self=hardtanh_backward)
def hardtanh(self: Array, min_val: Number = -1.0, max_val: Number = 1.0) -> Array:
    """Limit to an interval: :math:`g` strictly inside, else 0.

    Raises:
        ValueError: If `min_val` is greater than `max_val`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return np.minimum(np.maximum(self, min_val), max_val)


@activation("relu6", refused="bc", of=hardtanh)
def _from_0_to_6(input: Tensor) -> tuple[Any, Any]:
    r"""Compute $\min(\max(x, 0), 6)$.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu6(torch.tensor([-3.0, 8.0]))
        tensor([0., 6.])
    """
    return 0, 6


@of_pieces("HardsigmoidBackwardBackward0")
def hardsigmoid_backward(grad_output: Array, self: Array) -> Array:
    """Rule of hardsigmoid: its slope between the limits."""
    return pick((self > -3) * (self < 3), grad_output / 6, 0)


@activation()
@operation("HardsigmoidBackward0", self=hardsigmoid_backward)
def hardsigmoid(self: Array) -> Array:
    r"""Sigmoid of straight pieces, 0 up to -3 and 1 from 3 on: :math:`g / 6` between them.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, 1.5]))
        tensor([0.0000, 0.7500])
    """
    return np.minimum(np.maximum(self + 3, 0), 6) / 6


def _hardswish_rule(grad: Any, self: Any) -> Any:
    inside = pick(self < 3, grad * (self / 3 + 0.5), grad)  # NaN is as beyond
    return pick(self <= -3, 0, inside)


@activation()
@operation("HardswishBackward0", self=_hardswish_rule)
@ignore_errstate
def hardswish(self: Array) -> Array:
    r"""Input times its hardsigmoid: 0 up to -3, and the input itself from 3 on.

    Between the kinks the gradient is :math:`g\, (x / 3 + 1 / 2)`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardswish(torch.tensor([-4.0, 1.0]))
        tensor([-0.0000, 0.6667])
    """
    return self * np.minimum(np.maximum(self + 3, 0), 6) / 6


@of_pieces("ThresholdBackwardBackward0")
def threshold_rule(grad_output: Array, self: Array, threshold: Any) -> Array:
    """Rule of threshold: the gradient of what is kept."""
    return pick(self <= threshold, 0, grad_output)


@activation(refused="bc", in_place=("ThresholdBackward1", threshold_rule), public=True)
@operation("ThresholdBackward0", self=threshold_rule)
def threshold(self: Array, threshold: Number, value: Number) -> Array:
    """Keep what is greater than a threshold, and replace the rest by a value.

    Example:
        >>> import minigrad as torch
        >>> torch.threshold(torch.tensor([0.1, 0.7]), 0.5, 0)
        tensor([0.0000, 0.7000])
    """
    return pick(self <= threshold, value, self)


@of_pieces("HardshrinkBackwardBackward0")
def shrink_rule(grad_output: Array, self: Array, lambd: Any) -> Array:
    """Rule of hardshrink and softshrink: the gradient outside of the width."""
    return pick(abs(self) <= lambd, 0, grad_output)


@activation(inplace=False)
@operation("HardshrinkBackward0", self=shrink_rule)
def hardshrink(self: Array, lambd: Number = 0.5) -> Array:
    """Keep what is farther from 0 than a width, and replace the rest by 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.hardshrink(torch.tensor([0.1, -0.7]))
        tensor([ 0.0000, -0.7000])
    """
    return pick(abs(self) <= lambd, 0, self)


@activation(inplace=False)
@operation("SoftshrinkBackward0", self=shrink_rule)
def softshrink(self: Array, lambd: Number = 0.5) -> Array:
    """Bring entries nearer to 0 by a width, and to 0 where they are not so far from it.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.softshrink(torch.tensor([0.1, -0.7]))
        tensor([ 0.0000, -0.2000])
    """
    if not lambd >= 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found {lambd}")
    return pick(abs(self) <= lambd, 0, pick(self > 0, self - lambd, self + lambd))


# ---------------------------------------------------------------------- leaky ones


def _refuse_negative(slope: Any) -> None:
    """Raise if the sign of an input isn't that of the result that replaces it."""
    if slope < 0:
        raise RuntimeError("In place, a negative slope has no backward: use inplace=False.")


@of_pieces("LeakyReluBackwardBackward0")
def leaky_relu_backward(grad_output: Array, self: Array, negative_slope: float) -> Array:
    """Rule of leaky_relu: linear pieces, so it has no derivative of its own in the input."""
    return pick(self > 0, grad_output, grad_output * negative_slope)


def _leaky_rule(grad: Any, result: Any, negative_slope: Any) -> Any:
    _refuse_negative(negative_slope)
    return dispatch(leaky_relu_backward, grad, result, negative_slope)


@activation(in_place=("LeakyReluBackward1", _leaky_rule))
@operation("LeakyReluBackward0", self=leaky_relu_backward)
def leaky_relu(self: Array, negative_slope: Number = 0.01) -> Array:
    r"""Leaky positive part: :math:`g` where the input is positive, else :math:`\alpha g`.

    In place the backward needs the sign of the input, so the slope must not be negative there.
    """
    return pick(self > 0, self, self * negative_slope)


@operation(
    "PreluKernelBackward0",
    broadcasts=("weight",),
    self=lambda grad, self, weight: pick(self > 0, grad, weight * grad),
    weight=lambda grad, self: pick(self > 0, 0, self * grad),
)
def prelu_kernel(self: Array, weight: Array) -> Array:
    r"""Leaky positive part with slopes :math:`w`: :math:`w g`, and :math:`x g` for the slope."""
    return pick(self > 0, self, weight * self)


@variants()
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
    check_one_type(array, slopes)
    channels = array.shape[1] if array.ndim > 1 else 1
    if slopes.ndim > 1 or slopes.size not in (1, channels):
        raise RuntimeError(f"prelu(): weight must have 1 slope, or one for each of {channels}")
    sizes = (1, slopes.size, *[1] * (array.ndim - 2))
    return prelu_kernel(input, shape.view(weight, sizes[: array.ndim]))


# ---------------------------------------------------------------------- exponential ones, scaled


def _elu_rule(grad: Any, self: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    steep = (input_scale * alpha * scale) * np.exp(np.minimum(self, 0) * input_scale)
    return pick(self <= 0, grad * steep, grad * scale)


@operation("EluBackward0", self=_elu_rule)
@ignore_errstate
def scaled_elu(self: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    r"""Exponential linear unit :math:`s x`, or left of 0 :math:`a s\, (e^{i x} - 1)`.

    The gradient is :math:`g s`, or left of 0 :math:`g a s i\, e^{i x}`.
    """
    return pick(self < 0, np.expm1(self * input_scale) * (alpha * scale), self * scale)


def _elu_rule_in_place(grad: Any, result: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    _refuse_negative(alpha)  # left of 0, a s exp(i x) is y + a s
    return pick(result <= 0, grad * input_scale * (result + alpha * scale), grad * scale)


# Source: Klambauer et al., Self-normalizing neural networks, 2017.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
_IN_PLACE = ("EluBackward1", _elu_rule_in_place)


@activation("elu", of=scaled_elu, in_place=_IN_PLACE)
def _steep(input: Tensor, alpha: Number = 1.0) -> Any:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^x - 1)$ elsewhere."""
    return alpha, 1, 1


@activation("selu", of=scaled_elu, in_place=_IN_PLACE, public=True)
def _self_normalizing(input: Tensor) -> Any:
    r"""Compute $s x$ where $x > 0$, and $s \alpha (e^x - 1)$ elsewhere.

    With $s$ = 1.0507... and $\alpha$ = 1.6733... mean 0 and variance 1 are kept.

    Example:
        >>> import minigrad as torch
        >>> torch.selu(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """
    return SELU_ALPHA, SELU_SCALE, 1


def _celu_rule(grad: Any, self: Any, alpha: Any) -> Any:
    return _elu_rule(grad, self, alpha, 1, 1 / alpha)


def _celu_rule_in_place(grad: Any, result: Any, alpha: Any) -> Any:
    return _elu_rule_in_place(grad, result, alpha, 1, 1 / alpha)


@activation(in_place=("CeluBackward1", _celu_rule_in_place), public=True)
@operation("CeluBackward0", self=_celu_rule)
@ignore_errstate
def celu(self: Array, alpha: Number = 1.0) -> Array:
    r"""Compute $x$ where $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ elsewhere.

    Example:
        >>> import minigrad as torch
        >>> torch.celu(torch.tensor([-1.0, 1.0]), alpha=0.5)
        tensor([-0.4323,  1.0000])
    """
    return scaled_elu.forward(self, alpha, 1, 1 / alpha)
