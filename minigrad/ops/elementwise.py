"""The derivatives of operations on each entry by itself: arithmetic, powers, exp, log, sin, cos.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.reduce import sum_of_products
from minigrad.ops.meeting import no_booleans, quietly, with_number
from minigrad.ops.tape import Array, differentiable

# ---------------------------------------------------------------------- arithmetic


@differentiable(
    "AddBackward0",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad: grad,
)
def add(self: Array, other: Array) -> Array:
    """Sum: both inputs get the gradient as it is."""
    return self + other


@differentiable(
    "AddBackward0",
    arithmetic=False,
    broadcasts=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)
@quietly
def add_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Sum :math:`a + \alpha b`: the gradients are :math:`g` and :math:`\alpha g`."""
    return self + other * alpha


@differentiable(
    "SubBackward0",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad: -grad,
)
def sub(self: Array, other: Array) -> Array:
    """Difference: the second input gets the negative gradient."""
    try:
        return self - other
    except TypeError as error:
        raise no_booleans(error, self, other) from None


@differentiable(
    "SubBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad * alpha,
)
@quietly
def sub_scaled(self: Array, other: Array, alpha: Any) -> Array:
    r"""Difference :math:`a - \alpha b`: the gradients are :math:`g` and :math:`-\alpha g`."""
    return self - other * alpha


@differentiable("RsubBackward1", self=lambda grad: -grad)
def rsub_number(self: Array, other: Array) -> Array:
    """Number minus tensor: the gradient changes its sign."""
    return other - self


@differentiable(
    "MulBackward0",
    arithmetic=True,
    twins={"self": sum_of_products, "other": sum_of_products},
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)
def mul(self: Array, other: Array) -> Array:
    """Product: each input gets the gradient times the other input."""
    return self * other


@differentiable(
    "DivBackward0",
    arithmetic=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)
@quietly
def div(self: Array, other: Array) -> Array:
    r"""Quotient: :math:`g / b` for the numerator and :math:`-g\, a / b^2` for the denominator."""
    quotient = self / other
    if self.dtype.kind in "iub":
        return quotient.astype(dtypes.get_default_dtype().numpy)
    return quotient


@differentiable("NegBackward0", self=lambda grad: -grad)
def neg(self: Array) -> Array:
    """Negative: so is the gradient."""
    try:
        return -self
    except TypeError as error:
        raise no_booleans(error, self) from None


# ------------------------------------------------- with a Python number, as backward rules have it


@differentiable("AddBackward1", self=lambda grad: grad)
def add_number(self: Array, other: Any) -> Array:
    """Sum with a number: the gradient as it is."""
    return self + other


@differentiable("SubBackward1", self=lambda grad: grad)
def sub_number(self: Array, other: Any) -> Array:
    """Tensor minus number: the gradient as it is."""
    return self - other


@differentiable("MulBackward1", self=lambda grad, other: grad * other)
def mul_number(self: Array, other: Any) -> Array:
    """Product with a number: the gradient times that number."""
    return self * other


@differentiable("DivBackward1", self=lambda grad, other: grad / other)
def div_number(self: Array, other: Any) -> Array:
    """Quotient by a number: the gradient over that number."""
    return self / other


with_number |= {add: add_number, sub: sub_number, mul: mul_number, div: div_number}


# ---------------------------------------------------------------------- powers


_NUMBERS = frozenset((int, float))


def _power(self: Any, exponent: Any) -> Any:
    """Give a power; a whole one of many numbers without NumPy's slow way with negative ones."""
    if exponent in _QUICK_POWERS or self.size < 64 or not _is_whole_of_floats(self, exponent):
        return self**exponent
    if exponent == 3:
        return self * self * self
    power = np.abs(self) ** exponent
    return np.copysign(power, self, out=power) if exponent % 2 else power


_QUICK_POWERS = frozenset((-1, 0, 0.5, 1, 2))  # to NumPy


def _is_whole_of_floats(self: Any, exponent: Any) -> bool:
    if type(self) is not np.ndarray or self.dtype.kind != "f":
        return False
    return type(exponent) is int or (type(exponent) is float and exponent.is_integer())


def _power_rule(grad: Any, self: Any, exponent: Any) -> Any:
    if exponent.__class__ in _NUMBERS:
        if exponent == 2 and isinstance(self, np.ndarray):
            return grad * (self + self)  # the commonest power, at half the cost
        if exponent == 0:
            return np.zeros_like(grad)
    if isinstance(self, np.ndarray):
        return grad * (exponent * _power(self, exponent - 1))
    return grad * (exponent * self ** (exponent - 1))


@differentiable("PowBackward0", self=_power_rule)
@quietly
def pow_number(self: Array, exponent: Any) -> Array:
    r"""Power with a number for exponent: :math:`g\, n x^{n-1}`."""
    if exponent.__class__ is int and exponent > 0:
        return _power(self, exponent)
    with np.errstate(all="ignore"):  # of 0 ** -1 or (-1) ** 0.5 PyTorch does not warn
        if exponent == -0.5:  # as PyTorch has it, also for -0 and minus infinity
            return 1 / np.sqrt(self)
        return _power(self, exponent)


@differentiable(
    "PowBackward1",
    arithmetic=True,
    self=lambda grad, self, exponent: np.where(
        exponent == 0, 0, grad * (exponent * self ** (exponent - 1))
    ),
    exponent=lambda grad, self, exponent, result: (
        grad * np.where((self == 0) * (exponent >= 0), 0, result * np.log(self))
    ),
)
@quietly
def pow_tensor(self: Array, exponent: Any) -> Array:
    r"""Power: :math:`g\, n x^{n-1}` for the base and :math:`g\, x^n \ln x` for the exponent."""
    try:
        return self**exponent
    except ValueError:  # NumPy refuses integers to negative powers; shapes fail again below
        return _whole_power(self, exponent)


def _whole_power(base: Array, exponent: Array) -> Array:
    """Raise integers to integers; as in PyTorch, what is no whole number becomes 0."""
    whole = base ** np.where(exponent < 0, -exponent, exponent)
    return np.where((exponent >= 0) | (abs(base) == 1), whole, exponent.dtype.type(0))


def _power_of_number_rule(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    if self == 0:
        return grad * np.where(exponent >= 0, 0, result * float(np.log(self)))
    return grad * (result * float(np.log(self)))


@differentiable("PowBackward2", exponent=_power_of_number_rule)
@quietly
def pow_of_number(self: Array, exponent: Any) -> Array:
    r"""Power of a number: :math:`g\, a^x \ln a`."""
    if isinstance(self, int) and exponent.dtype.kind == "i" and (exponent < 0).any():
        return _whole_power(self, exponent)
    power = self**exponent
    # as in PyTorch, the entries lie in memory in order
    return power if power.flags.c_contiguous else power.copy("C")


@differentiable("SqrtBackward0", self=lambda grad, result: grad / (2 * result))
@quietly
def sqrt(self: Array) -> Array:
    r"""Square root: :math:`g / (2 \sqrt{x})`."""
    return np.sqrt(self)


@differentiable("RsqrtBackward0", self=lambda grad, result: -0.5 * grad * result**3)
@quietly
def rsqrt(self: Array) -> Array:
    r"""One over the square root: :math:`-g\, x^{-3/2} / 2`."""
    return 1 / np.sqrt(self)


@differentiable("ReciprocalBackward0", self=lambda grad, result: -grad * (result * result))
@quietly
def reciprocal(self: Array) -> Array:
    r"""Reciprocal: :math:`-g / x^2`."""
    return 1 / self


# ---------------------------------------------------------------------- exponentials, trigonometry


@differentiable("ExpBackward0", self=lambda grad, result: grad * result)
@quietly
def exp(self: Array) -> Array:
    r"""Exponential: :math:`g\, e^x`."""
    return np.exp(self)


@differentiable("LogBackward0", self=lambda grad, self: grad / self)
@quietly
def log(self: Array) -> Array:
    r"""Natural logarithm: :math:`g / x`."""
    return np.log(self)


@differentiable("Log1PBackward0", self=lambda grad, self: grad / (self + 1))
@quietly
def log1p(self: Array) -> Array:
    r"""Logarithm of :math:`1 + x`: :math:`g / (1 + x)`."""
    return np.log1p(self)


@differentiable("Expm1Backward0", self=lambda grad, result: grad * (result + 1))
@quietly
def expm1(self: Array) -> Array:
    r"""Exponential minus one: :math:`g\, e^x`."""
    return np.expm1(self)


@differentiable("SinBackward0", self=lambda grad, self: grad * np.cos(self))
@quietly
def sin(self: Array) -> Array:
    r"""Sine: :math:`g \cos x`."""
    return np.sin(self)


@differentiable("CosBackward0", self=lambda grad, self: grad * -np.sin(self))
@quietly
def cos(self: Array) -> Array:
    r"""Cosine: :math:`-g \sin x`."""
    return np.cos(self)
