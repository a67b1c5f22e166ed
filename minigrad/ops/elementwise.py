"""Operations on each entry by itself with derivatives: arithmetic, powers, exp, log, sin, cos.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.rules import ignore_errstate
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.ops import type_promotion
from minigrad.ops.type_promotion import exact_values, no_booleans, scalar, with_number
from minigrad.signatures import attach, entrywise, lazy_loading, variants
from minigrad.signatures.arguments import cast, is_operand, not_implemented, number, plain
from minigrad.signatures.signature import Number, Operand

# ---------------------------------------------------------------------- arithmetic


@operation("AddBackward0", arithmetic=True, self=lambda grad: grad, other=lambda grad: grad)
def add(self: Array, other: Array) -> Array:
    """Sum: both inputs get the gradient as it is."""
    return self + other


@operation(
    "AddBackward0",
    arithmetic=False,
    broadcasts=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)
@ignore_errstate
def add_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Sum :math:`a + \alpha b`: the gradients are :math:`g` and :math:`\alpha g`."""
    return self + other * alpha


@operation("SubBackward0", arithmetic=True, self=lambda grad: grad, other=lambda grad: -grad)
def sub(self: Array, other: Array) -> Array:
    """Difference: the second input gets the negative gradient."""
    try:
        return self - other
    except TypeError as error:
        raise no_booleans(error, self, other) from None


@operation(
    "SubBackward0", broadcasts=True, self=lambda grad: grad, other=lambda grad, alpha: -grad * alpha
)
@ignore_errstate
def sub_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Difference :math:`a - \alpha b`: the gradients are :math:`g` and :math:`-\alpha g`."""
    return self - other * alpha


@operation("RsubBackward1", self=lambda grad: -grad)
def rsub_number(self: Array, other: Array) -> Array:
    """Number minus tensor: the gradient changes its sign."""
    return other - self


@variants(out="kind", in_place=True, also="multiply")
@operation(
    "MulBackward0",
    arithmetic=True,
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)
def mul(self: Operand, other: Operand) -> Array:
    """Product: each input gets the gradient times the other input."""
    return self * other


def minus(grad: Any, factor: Any) -> Any:
    """Give the negative gradient times a factor, whose nodes come first as in PyTorch."""
    return -grad * factor


@variants("true_divide", out="kind", in_place=True)
@operation(
    "DivBackward0",
    arithmetic=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: minus(grad, (self / other) / other),
)
@ignore_errstate
def div(self: Operand, other: Operand) -> Array:
    r"""Quotient: :math:`g / b` for the numerator and :math:`-g\, a / b^2` for the denominator."""
    if self.dtype.kind in "iub":  # numbers count as they were said
        self, other = exact_values.get(id(self), self), exact_values.get(id(other), other)
        return np.true_divide(self, other).astype(dtypes.default.dtype.numpy)
    return self / other


@entrywise(floats=False, also="negative", ufunc=np.negative)
@operation("NegBackward0", self=lambda grad: -grad)
def neg(self: Array) -> Array:
    """Negative: so is the gradient."""
    try:
        return -self
    except TypeError as error:
        raise no_booleans(error, self) from None


# ------------------------------------------------- with a Python number, as backward rules have it


@operation("AddBackward1", self=lambda grad: grad)
def add_number(self: Array, other: Any) -> Array:
    """Sum with a number: the gradient as it is."""
    return self + other


@operation("SubBackward1", self=lambda grad: grad)
def sub_number(self: Array, other: Any) -> Array:
    """Tensor minus number: the gradient as it is."""
    return self - other


@operation("MulBackward1", self=lambda grad, other: grad * other)
def mul_number(self: Array, other: Any) -> Array:
    """Product with a number: the gradient times that number."""
    return self * other


@operation("DivBackward1", self=lambda grad, other: grad / other)
def div_number(self: Array, other: Any) -> Array:
    """Quotient by a number: the gradient over that number."""
    return self / other


with_number |= {add: add_number, sub: sub_number, mul: mul_number, div: div_number}


# ------------------------------------------------------------ what is written: x + y, x.sub(y)


@variants("add", out="kind")
def sum_of_two(input: Operand, other: Operand, *, alpha: Number = 1) -> Any:
    """Add a tensor, or a number, times `alpha`."""
    if alpha == 1 and alpha is not True:
        return add(input, other)
    return with_alpha(add_scaled, input, other, alpha)


@variants("sub", out="kind", also="subtract")
def difference(input: Operand, other: Operand, *, alpha: Number = 1) -> Any:
    """Subtract a tensor, or a number, times `alpha`."""
    if alpha == 1 and alpha is not True:
        return sub(input, other)
    return with_alpha(sub_scaled, input, other, alpha)


def with_alpha(scaled: Any, input: Tensor, other: Any, alpha: Any) -> Tensor:
    """Call an operation that takes the second operand times a number.

    Raises:
        RuntimeError: If the number is no whole one, but the tensors' entries are.
    """
    if not (is_operand(input) and is_operand(other)):
        return NotImplemented
    if not isinstance(input, Tensor):
        input = scalar(input, getattr(other, "_array", np.empty(0, bool)).dtype)
    if not isinstance(other, Tensor):
        other = scalar(other, input._array.dtype)
    alpha = number(alpha, scaled.__name__[:3], "alpha", kind="Scalar")
    a, b = input._array, other._array
    if scaled is sub_scaled and "b" in (a.dtype.kind, b.dtype.kind):
        raise no_booleans(TypeError(), a, b)
    promoted = dtypes.result_type(a, b)
    if isinstance(alpha, float) and promoted.kind in "iub":
        raise RuntimeError(f"alpha={alpha} is no whole number, and the tensors are {promoted}")
    if promoted.kind == "b":
        alpha = bool(alpha)
    if a.dtype == b.dtype:
        return scaled(input, other, alpha)
    return type_promotion.promote_operands(lambda a, b: scaled(a, b, alpha), input, other)


@variants("div", out="kind", in_place=True, also="divide")
def quotient(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Any:
    """Divide two tensors, or a tensor by a number; integers give floating-point results.

    Args:
        input: What is divided.
        other: The divisor.
        rounding_mode: How to round the quotient: "floor" (down), "trunc" (toward 0), or not at all.

    Raises:
        RuntimeError: If there is no such way of rounding, or integers are rounded that were divided
            by 0.

    Example:
        >>> import minigrad as torch
        >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="trunc")
        tensor([ 3, -3])
    """
    if rounding_mode is not None:
        return lazy_loading.load("ops.special_functions").div_rounded(input, other, rounding_mode)
    return div(input, other)


def rsub(self: Tensor, other: Any) -> Any:
    """Subtract a tensor from a number: `2 - x`."""
    if isinstance(other, Tensor):
        return sub(other, self)
    if other.__class__ not in _NUMBERS and not is_operand(other):
        return NotImplemented
    if modes.in_rule:  # PyTorch's own rules make a tensor of the number
        return sub(scalar(other, self._array.dtype), self)
    other = plain(other)
    target = dtypes.scalar_dtype(other, self._array.dtype)
    if self._array.dtype.kind == "b" or isinstance(other, bool):
        raise no_booleans(TypeError(), self._array, np.asarray(other))
    return rsub_number(cast(self, target), other)


def rdiv(self: Tensor, other: Any) -> Any:
    """Divide a number by a tensor: `1 / x`, which PyTorch computes as a reciprocal times it."""
    return mul(self.reciprocal(), other)


attach(
    __name__,
    {
        "__add__": add,
        "__radd__": add,
        "__sub__": sub,
        "__rsub__": rsub,
        "__mul__": mul,
        "__rmul__": mul,
        "__truediv__": div,
        "__rtruediv__": rdiv,
        "__neg__": neg,
    },
)


# ---------------------------------------------------------------------- powers


_NUMBERS = frozenset((int, float))


def _power(self: Any, exponent: Any) -> Any:
    """Give a power; a third one without NumPy's slow way."""
    return self * self * self if exponent == 3 else self**exponent


def _power_rule(grad: Any, self: Any, exponent: Any) -> Any:
    if exponent.__class__ in _NUMBERS:
        if exponent == 2 and isinstance(self, np.ndarray):
            return grad * (self + self)  # the commonest power, at half the cost
        if exponent == 0:
            return np.zeros_like(grad)
        if isinstance(self, Tensor):
            exponent = float(exponent)  # type: ignore[arg-type]  # as its nodes tell
    if isinstance(self, np.ndarray):
        return grad * (exponent * _power(self, exponent - 1))
    return grad * (exponent * self ** (exponent - 1))


@operation("PowBackward0", self=_power_rule)
@ignore_errstate
def pow_number(self: Array, exponent: Any) -> Array:
    r"""Power with a number for exponent: :math:`g\, n x^{n-1}`."""
    return _power(self, plain(exponent))


@operation(
    "PowBackward1",
    arithmetic=True,
    self=lambda grad, self, exponent: np.where(
        exponent == 0, 0, grad * (exponent * self ** (exponent - 1))
    ),
    exponent=lambda grad, self, exponent, result: (
        grad * np.where((self == 0) * (exponent >= 0), 0, result * np.log(self))
    ),
)
@ignore_errstate
def pow_tensor(self: Array, exponent: Any) -> Array:
    r"""Power: :math:`g\, n x^{n-1}` for the base and :math:`g\, x^n \ln x` for the exponent."""
    return self**exponent


def _power_of_number_rule(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    if self == 0:
        return grad * np.where(exponent >= 0, 0, result * float(np.log(self)))
    return grad * (result * float(np.log(self)))


@operation("PowBackward2", exponent=_power_of_number_rule)
@ignore_errstate
def pow_of_number(self: Array, exponent: Any) -> Array:
    r"""Power of a number: :math:`g\, a^x \ln a`."""
    return self**exponent


@variants("pow", out="kind", in_place=True)
def power(input: Operand, exponent: Operand) -> Any:
    """Raise to a power: a tensor to a number or a tensor, or a number to a tensor."""
    if not isinstance(input, Tensor):
        base = plain(input)
        if not (isinstance(base, (int, float, complex)) and isinstance(exponent, Tensor)):
            return NotImplemented
        return pow_of_number(base, cast(exponent, dtypes.scalar_dtype(base, exponent._array.dtype)))
    of_floats = input._edge is not NO_EDGE or input._array.dtype.kind not in "iub"
    if of_floats and exponent.__class__ in _NUMBERS:
        return pow_number(input, exponent)
    if isinstance(exponent, Tensor):
        if input._array.dtype.kind == "b" and exponent._array.dtype.kind == "b":
            raise not_implemented("pow", input._array)
        return pow_tensor(input, exponent)
    if isinstance(exponent, np.ndarray):
        return power(*type_promotion.beside_array(input, exponent))
    exponent = plain(exponent)
    if isinstance(exponent, (int, float, complex)):
        return _to_number(input, exponent)
    return pow_number(input, exponent) if hasattr(exponent, "free_symbols") else NotImplemented


def _to_number(input: Tensor, exponent: Any) -> Tensor:
    """Raise to a number, in the type that the two have together."""
    dtype = input._array.dtype
    if isinstance(exponent, complex) and input.requires_grad and modes.recording:
        refuse_complex(np.dtype(complex))
    if dtype.kind == "b" and isinstance(exponent, bool):
        return pow_number(cast(input, np.dtype("int64")), exponent).bool()
    if dtype.kind in "iub":
        if isinstance(exponent, int) and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        input = cast(input, dtypes.scalar_dtype(exponent, dtype))
    return pow_number(input, exponent)


attach(__name__, {"__pow__": power, "__rpow__": lambda self, other: power(other, self)})


@entrywise(floats=False, ufunc=np.square, out="kind")
def square(input: Tensor) -> Tensor:
    """Multiply each entry by itself."""
    return power(input, 2)


# ---------------------------------------------------------------------- of one number


def pointwise(rule: Any, function: Any = None, **forms: Any) -> Callable[[Any], Any]:
    """Declare an operation on each entry, and the forms that one calls; its node has its name.

    Args:
        rule: What the gradient becomes.
        function: What of NumPy's computes it, if the body that is decorated only documents it.
        **forms: Arguments of `entrywise`.
    """

    def decorate(said: Any) -> Any:
        def forward(self: Array) -> Array:
            return function(self)

        if function is not None:
            forms.setdefault("ufunc", function)
            forms.setdefault("also", function.__name__.replace(said.__name__, ""))  # arcsin
            functools.update_wrapper(forward, said)
        named = operation(f"{said.__name__.title()}Backward0", self=rule)
        compute = forward if function else said
        if not hasattr(compute, "_implementation"):  # nor does the answer of a class of arrays warn
            compute = ignore_errstate(compute)
        return entrywise(**forms)(named(compute))

    return decorate


@pointwise(lambda grad, result: grad / (2 * result), np.sqrt)
def sqrt(self: Array) -> Array:
    r"""Square root: :math:`g / (2 \sqrt{x})`."""


@pointwise(lambda grad, result: -0.5 * grad * result**3)
def rsqrt(self: Array) -> Array:
    r"""One over the square root: :math:`-g\, x^{-3/2} / 2`."""
    return 1 / np.sqrt(self)


@pointwise(lambda grad, result: minus(grad, result * result))
def reciprocal(self: Array) -> Array:
    r"""Reciprocal: :math:`-g / x^2`."""
    return 1 / self


# ---------------------------------------------------------------------- exponentials, trigonometry


@pointwise(lambda grad, result: grad * result, np.exp)
def exp(self: Array) -> Array:
    r"""Exponential: :math:`g\, e^x`."""


@pointwise(lambda grad, self: grad / self, np.log)
def log(self: Array) -> Array:
    r"""Natural logarithm: :math:`g / x`."""


@pointwise(lambda grad, self: grad / (self + 1), np.log1p)
def log1p(self: Array) -> Array:
    r"""Logarithm of :math:`1 + x`: :math:`g / (1 + x)`."""


@pointwise(lambda grad, result: grad * (result + 1), np.expm1)
def expm1(self: Array) -> Array:
    r"""Exponential minus one: :math:`g\, e^x`."""


@pointwise(lambda grad, self: grad * np.cos(self), np.sin)
def sin(self: Array) -> Array:
    r"""Sine: :math:`g \cos x`."""


@pointwise(lambda grad, self: grad * -np.sin(self), np.cos)
def cos(self: Array) -> Array:
    r"""Cosine: :math:`-g \sin x`."""
