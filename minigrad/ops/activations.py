"""The derivatives of activation functions, and the derivatives of these derivatives.

A function such as `tanh` has for its rule another operation of the book, `tanh_backward`, which has
rules of its own: so the second derivative is one node of the graph, as in PyTorch. :math:`g` is the
gradient of the result, and :math:`h` the gradient of what a `..._backward` gave.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, linear_rule, quietly
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import real_number
from minigrad.faces import FACES, entrywise, face, functional
from minigrad.faces.arguments import check_tensor
from minigrad.faces.face import in_functional
from minigrad.ops.choices import pick, where_true
from minigrad.ops.inplace import write
from minigrad.ops.special_functions import FEW, erf, in_blocks, steepness
from minigrad.ops.type_promotion import check_floats

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
        slope *= grad_output
    return slope


@entrywise(ufunc=np.tanh)
@differentiable("TanhBackward0", self=tanh_backward)
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
    slope *= grad_output
    return slope


def logistic(array: Any) -> Any:
    r"""Give :math:`1 / (1 + e^{-x})` of an array, in one piece of memory if it holds numbers."""
    slope = np.negative(array, out=np.empty_like(array))
    np.exp(slope, out=slope)
    slope += 1
    return np.divide(1, slope, out=slope)


@entrywise()
@differentiable("SigmoidBackward0", self=sigmoid_backward)
@quietly
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


@face("relu(Tensor input)", in_place="function")
@differentiable("ReluBackward0", self=threshold_backward)
def relu(self: Array) -> Array:
    r"""Positive part: :math:`g` where the input is positive, else 0 (also at 0)."""
    if self.dtype.kind in "bc":
        if self.dtype.kind == "c":
            raise NotImplementedError("clamp is not supported for complex types")
        raise RuntimeError("Boolean inputs not supported for relu")
    # of two zeros NumPy gives the second, but with float16 the first: -0 stays what it is
    if self.itemsize == 2:
        return np.maximum(self, 0)
    if type(self) is not np.ndarray or not self.flags.c_contiguous:
        return np.maximum(0, self)
    zeros = np.zeros(self.shape, self.dtype)  # with many NumPy is twice as quick as with one
    return np.maximum(zeros, self, out=zeros)


@functional("relu(input, inplace=False)")
def positive_part(input: Tensor, inplace: bool) -> Tensor:
    r"""Compute $\max(x, 0)$; the derivative at 0 is taken to be 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if not isinstance(input, Tensor):
        check_tensor("relu_" if inplace else "relu", input)
    return input.relu_() if inplace else input.relu()


# ---------------------------------------------------------------------- those with settings


def number_among(value: Any, input: Tensor) -> Any:
    """Give a setting as a number of the kind that the input has: a whole one among integers."""
    if value.__class__ is float and _MOST < abs(value) < math.inf:
        raise RuntimeError(f"value cannot be converted to type float without overflow: {value}")
    return int(value) if input._array.dtype.kind in "iu" else real_number(value, input._array.dtype)


_MOST = float(np.finfo(np.float32).max)


def floats(kernel: str, refused: str = "iubc") -> Callable[..., list[Any]]:
    """Make the check of an activation function that some kinds of dtypes have no kernel for."""

    def settings(name: str, input: Tensor, *given: Any) -> list[Any]:
        check_floats(name, kernel, input, refused)
        return [number_among(each, input) for each in given]

    return settings


def in_place_of(operation: Any, node: str, rule: Any) -> Any:
    """Make an operation that computes the same, under the name that the node has in place."""

    def forward(*given: Any) -> Any:
        return operation.forward(*given)

    forward.__wrapped__ = operation.forward  # type: ignore[attr-defined]
    forward.__name__ = f"{operation.__name__}_in_place"
    return differentiable(node, self=rule)(forward)


def activation(
    schema: str,
    settings: Callable[..., Any] | None = None,
    in_place: Any = None,
    *,
    of: Any = None,
    named: bool = False,
    public: str | None = None,
) -> Callable[[Any], Any]:
    """Give an operation its faces in `minigrad.nn.functional`, and in `minigrad`.

    Args:
        schema: The signature in `minigrad.nn.functional`.
        settings: Checks what is given, from the function's name on, and gives what the operation
            gets behind the input.
        in_place: The operation in place if it is another one, or the name of its node and its
            rule: then `elu_` has a name, too.
        of: The operation, if what is decorated says its settings and what it does.
        named: Whether there is a name for it in place all the same.
        public: What stands in the place of `inplace` if there are functions in `minigrad`.
    """
    name, may_change = schema.partition("(")[0], "inplace" in schema

    def decorate(said: Any) -> Any:
        operation, checked = of or said, settings or said
        changed = in_place_of(operation, *in_place) if type(in_place) is tuple else in_place

        def function(input: Tensor, *given: Any) -> Tensor:
            return operation(input, *checked(name, input, *given))

        def changing(input: Tensor, *given: Any) -> Tensor:
            return write(changed or operation, input, *checked(f"{name}_", input, *given))

        def either(input: Tensor, *given: Any) -> Tensor:
            return (changing if given[-1] else function)(input, *given[:-1])

        function.__module__ = changing.__module__ = said.__module__  # the file that says it
        function.__doc__ = either.__doc__ = said.__doc__
        changing.__doc__ = f"Do what `{name}` does, in place."
        functional(schema)(either if may_change else function)
        renamed = schema.replace(f"{name}(", f"{name}_(", 1)
        if public is not None:
            face(schema.replace(", inplace=False", public), method=False)(function)
            more = public.replace(", *, out=None", "")
            face(renamed.replace(", inplace=False", more), method=False)(changing)
            in_functional[f"{name}_"] = FACES[f"{name}_"].function
        elif named or in_place:
            functional(renamed.replace(", inplace=False", ""))(changing)
        return said

    return decorate


def _logistic(self: Any, beta: Any) -> Any:
    return 1 / (1 + np.exp(self * -beta))


@linear_rule(
    "SoftplusBackwardBackward0",
    self=lambda grad, grad_output, self, beta, threshold: np.where(
        self * beta >= threshold,
        0,
        grad * grad_output * beta * (_logistic(self, beta) * _logistic(self, -beta)),
    ),
)
@quietly
def softplus_backward(grad_output: Array, self: Array, beta: Any, threshold: Any) -> Array:
    r"""Rule of softplus: its derivative is :math:`g \beta\, \sigma(\beta x)\, \sigma(-\beta x)`."""
    return pick(self * beta > threshold, grad_output, grad_output * _logistic(self, beta))


@activation(
    "softplus(Tensor input, Number beta=1.0, Number threshold=20.0)", floats("softplus_cpu")
)
@differentiable("SoftplusBackward0", self=softplus_backward)
@quietly
def softplus(self: Array, beta: float, threshold: float) -> Array:
    r"""Smooth positive part :math:`\ln(1 + e^{\beta x}) / \beta`: :math:`g\, \sigma(\beta x)`."""
    return pick(self * beta > threshold, self, np.log1p(np.exp(beta * self)) / beta)


def _silu_rule(grad: Any, self: Any) -> Any:
    slope = applied(sigmoid, self)
    if type(self) is np.ndarray and self.ndim:  # in the same memory
        factor = 1 - slope
        factor *= self
        factor += 1
        factor *= slope
        factor *= grad
        return factor
    return grad * slope * (1 + self * (1 - slope))


@activation("silu(input, inplace=False)", floats("silu_cpu", "iub"))
@differentiable("SiluBackward0", self=_silu_rule)
@quietly
def silu(self: Array) -> Array:
    r"""Sigmoid linear unit :math:`x \sigma(x)`: :math:`g\, \sigma (1 + x (1 - \sigma))`."""
    return self * logistic(self)


def _mish_rule(grad: Any, self: Any) -> Any:
    bent = np.tanh(np.log1p(np.exp(self)))
    return grad * (bent + self * applied(sigmoid, self) * (1 - bent * bent))


@activation("mish(input, inplace=False)", floats("mish_cpu", "iubc"))
@differentiable("MishBackward0", self=_mish_rule)
@quietly
def mish(self: Array) -> Array:
    r"""Input times the tanh :math:`t` of its softplus: :math:`g (t + x \sigma(x) (1 - t^2))`.

    Source: Misra, *Mish: a self regularized non-monotonic activation function*, 2019.
    """
    return self * np.tanh(np.log1p(np.exp(self)))


def _halves(array: Any, dim: int) -> list[Any]:
    before, middle = (slice(None),) * (dim % array.ndim), array.shape[dim] // 2
    return [array[(*before, part)] for part in (slice(middle), slice(middle, None))]


def _glu_gradient_rule(grad: Any, self: Any, dim: int) -> Any:
    first, second = _halves(self, dim)
    of_first, of_second = _halves(grad, dim)
    gate = applied(sigmoid, second)
    return of_first * gate + of_second * first * (gate * (1 - gate))


def _glu_curvature_rule(grad: Any, grad_output: Any, self: Any, dim: int) -> Any:
    first, second = _halves(self, dim)
    of_first, of_second = _halves(grad, dim)
    gate = applied(sigmoid, second)
    slope = grad_output * (gate * (1 - gate))
    bent = slope * (of_first + of_second * first * (1 - 2 * gate))
    return np.concatenate([slope * of_second, bent], dim)


@differentiable("GluBackwardBackward0", grad_output=_glu_gradient_rule, self=_glu_curvature_rule)
@quietly
def glu_backward(grad_output: Array, self: Array, dim: int) -> Array:
    r"""Rule of glu, :math:`(g\, \sigma(b),\ g\, a\, \sigma(b) (1 - \sigma(b)))`."""
    first, second = _halves(self, dim)
    gate = logistic(second)
    return np.concatenate([grad_output * gate, grad_output * first * (gate * (1 - gate))], dim)


@differentiable("GluBackward0", self=glu_backward)
@quietly
def glu(self: Array, dim: int) -> Array:
    r"""One half times the logistic function of the other: :math:`a \sigma(b)`."""
    first, second = _halves(self, dim)
    return first * logistic(second)


@functional("glu(Tensor input, Dim dim=-1)")
def gated(input: Tensor, dim: int) -> Tensor:
    r"""Compute $a \sigma(b)$ of the two halves along a dimension.

    Source: Dauphin et al., *Language modeling with gated convolutional networks*, 2017.

    Raises:
        RuntimeError: If there are no halves.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.glu(torch.tensor([3.0, 0.0]))
        tensor([1.5000])
    """
    check_floats("glu", "glu_cpu", input, "iubc")
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    return glu(input, dim)


# ---------------------------------------------------------------------- gelu

_DENSITY = 1 / math.sqrt(2 * math.pi)
_STEEP = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _density(self: Any) -> Any:
    return np.exp(self * self * -0.5) * _DENSITY


def _probability(self: Any) -> Any:
    r"""Give the normal distribution function, :math:`(1 + \operatorname{erf}(x / \sqrt 2)) / 2`."""
    return 0.5 * (1 + erf.forward(self * math.sqrt(0.5)))


def _bent(self: Any) -> Any:
    """Give the hyperbolic tangent that stands for the error function."""
    return np.tanh(_STEEP * (self + _CUBIC * (self * self * self)))


def _gelu_curvature_rule(grad: Any, grad_output: Any, self: Any, approximate: str) -> Any:
    if approximate == "none":
        return grad * grad_output * (2 - self * self) * _density(self)
    bent = _bent(self)
    slope = _STEEP * (1 + (3 * _CUBIC) * (self * self))
    steep = 1 - bent * bent
    curvature = slope + self * (_STEEP * (3 * _CUBIC * self) - bent * slope * slope)
    return grad * grad_output * steep * curvature


@linear_rule("GeluBackwardBackward0", self=_gelu_curvature_rule)
@quietly
def gelu_backward(grad_output: Array, self: Array, approximate: str) -> Array:
    r"""Rule of gelu, :math:`g\, (\Phi(x) + x \varphi(x))`."""
    if approximate == "none":
        return grad_output * (_probability(self) + self * _density(self))
    bent = _bent(self)
    slope = _STEEP * (1 + (3 * _CUBIC) * (self * self))
    return grad_output * (0.5 * (1 + bent) + 0.5 * self * (1 - bent * bent) * slope)


def _gelu_block(x: Any, result: Any, slope: Any, approximate: str) -> None:
    """Compute gelu of a block of numbers, and its slope, with few passes through memory.

    The logarithm of (1 - probability) / probability is -2 artanh(erf) or -2 times what is bent.
    """
    np.multiply(x, x, out=slope)
    if approximate == "none":
        steepness(slope, result, 2, -math.sqrt(2) / math.log(2))
    else:
        np.multiply(slope, -2 * _CUBIC * _STEEP / math.log(2), out=result)
        result += -2 * _STEEP / math.log(2)
    result *= x
    np.exp2(result, out=result)
    result += 1
    np.divide(1, result, out=result)  # the probability
    if approximate == "none":
        slope *= -0.5 / math.log(2)
        np.exp2(slope, out=slope)
        slope *= _DENSITY
    else:
        slope *= 6 * _CUBIC * _STEEP
        slope += 2 * _STEEP
        slope *= result
        slope *= 1 - result
    slope *= x
    slope += result
    result *= x


def _gelu_rule(grad: Any, self: Any, approximate: str, kept: list[Any]) -> Any:
    if kept and kept[0] is self:
        return grad * kept[1]
    return applied(gelu_backward, grad, self, approximate)


@differentiable("GeluBackward0", self=_gelu_rule)
@quietly
def gelu(self: Array, approximate: str, kept: list[Any]) -> Array:
    r"""Gaussian error linear unit :math:`x \Phi(x)`: :math:`g\, (\Phi(x) + x \varphi(x))`.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016. With `"tanh"`,
    :math:`\Phi(x)` is :math:`(1 + \tanh(\sqrt{2/\pi}\, (x + 0.044715 x^3))) / 2`.

    Args:
        self: The numbers.
        approximate: How to compute.
        kept: An empty list, in which many numbers and the slopes there are left to the rule.
    """
    if self.dtype.char in "fd" and self.size > FEW:
        result, slope = np.empty_like(self), np.empty_like(self)
        in_blocks(partial(_gelu_block, approximate=approximate), self, result, slope)
        kept[:] = self, slope
        return result
    if approximate == "none":
        return self * _probability(self)
    return 0.5 * self * (1 + _bent(self))


@functional("gelu(Tensor input, *, approximate='none')")
def gaussian(input: Tensor, approximate: str) -> Tensor:
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
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    check_floats("gelu", "GeluKernelImpl", input)
    return gelu(input, approximate, [])


# ---------------------------------------------------------------------- logarithm of sigmoid


def _log_sigmoid_curvature_rule(grad: Any, grad_output: Any, self: Any) -> Any:
    slope = applied(sigmoid, self)
    return grad * grad_output * (slope - 1) * slope


@linear_rule("LogSigmoidBackwardBackward0", self=_log_sigmoid_curvature_rule)
@quietly
def log_sigmoid_backward(grad_output: Array, self: Array) -> Array:
    r"""Rule of the logarithm of sigmoid, :math:`g\, \sigma(-x)`."""
    return grad_output / (1 + np.exp(self))


@activation("logsigmoid(Tensor input)", floats("log_sigmoid_cpu"))
@differentiable("LogSigmoidBackward0", self=log_sigmoid_backward)
@quietly
def log_sigmoid(self: Array) -> Array:
    r"""Logarithm of sigmoid, :math:`-\ln(1 + e^{-x})`: :math:`g\, \sigma(-x)`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.logsigmoid(torch.tensor([0.0]))
        tensor([-0.6931])
    """
    return np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self)))


# ---------------------------------------------------------------------- of other operations


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


@functional("tanh(input)")
def _tanh(input: Tensor) -> Tensor:
    r"""Compute $\tanh x$."""
    return input.tanh()


@functional("sigmoid(input)")
def _sigmoid(input: Tensor) -> Tensor:
    r"""Compute $1 / (1 + e^{-x})$."""
    return input.sigmoid()
