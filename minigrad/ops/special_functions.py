"""The derivatives of functions of a calculus course: angles, logarithms, rounding, erf.

Rules are given for one entry; :math:`g` is the gradient of the result. The formulas are those of
any calculus textbook. Between its jumps a rounded number does not change, so its gradient is 0.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import without_derivative
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.rules import dispatch, ignore_errstate, overridable
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.elementwise import minus, pointwise, rsqrt
from minigrad.ops.inplace import operator_of
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import attach, numpy_protocols, variants
from minigrad.signatures.arguments import cast, not_implemented, number, refuse
from minigrad.signatures.signature import Number, Operand

# plain numbers, which take the type of what they stand beside: beside symbols they become exact
LN_2, LN_10 = math.log(2), math.log(10)
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
DEGREE, RADIAN = math.pi / 180, 180 / math.pi


# ---------------------------------------------------------------------- angles


@pointwise(lambda grad, result: grad * (result**2 + 1), np.tan)
def tan(self: Array) -> Array:
    r"""Tangent: :math:`g\, (1 + \tan^2 x)`."""


@pointwise(lambda grad, self: grad * dispatch(rsqrt, -self * self + 1), np.arcsin)
def asin(self: Array) -> Array:
    r"""Inverse of the sine: :math:`g / \sqrt{1 - x^2}`."""


@pointwise(lambda grad, self: grad * -dispatch(rsqrt, -self * self + 1), np.arccos)
def acos(self: Array) -> Array:
    r"""Inverse of the cosine: :math:`-g / \sqrt{1 - x^2}`."""


@pointwise(lambda grad, self: grad / (self * self + 1), np.arctan)
def atan(self: Array) -> Array:
    r"""Inverse of the tangent: :math:`g / (1 + x^2)`."""


@pointwise(lambda grad, self: grad * np.cosh(self), np.sinh)
def sinh(self: Array) -> Array:
    r"""Hyperbolic sine: :math:`g \cosh x`."""


@pointwise(lambda grad, self: grad * np.sinh(self), np.cosh)
def cosh(self: Array) -> Array:
    r"""Hyperbolic cosine: :math:`g \sinh x`."""


@pointwise(lambda grad, self: grad * dispatch(rsqrt, self**2 + 1), np.arcsinh, in_place=False)
def asinh(self: Array) -> Array:
    r"""Inverse of the hyperbolic sine: :math:`g / \sqrt{x^2 + 1}`."""


@pointwise(lambda grad, self: grad * dispatch(rsqrt, self * self - 1), np.arccosh, in_place=False)
def acosh(self: Array) -> Array:
    r"""Inverse of the hyperbolic cosine: :math:`g / \sqrt{x^2 - 1}`."""


@pointwise(lambda grad, self: grad * 1 / (1 - self**2), np.arctanh, in_place=False)
def atanh(self: Array) -> Array:
    r"""Inverse of the hyperbolic tangent: :math:`g / (1 - x^2)`."""


@pointwise(lambda grad: grad * DEGREE, missing=("c", "deg2rad"), ufunc=(np.deg2rad, np.radians))
def deg2rad(self: Array) -> Array:
    r"""Degrees as radians: the gradient times :math:`\pi / 180`."""
    return self * DEGREE


@pointwise(lambda grad: grad * RADIAN, missing=("c", "rad2deg"), ufunc=(np.rad2deg, np.degrees))
def rad2deg(self: Array) -> Array:
    r"""Radians as degrees: the gradient times :math:`180 / \pi`."""
    return self * RADIAN


# ---------------------------------------------------------------------- powers and logarithms


@pointwise(lambda grad, result: grad * result * LN_2, np.exp2)
def exp2(self: Array) -> Array:
    r"""Power of 2: :math:`g\, 2^x \ln 2`."""


@pointwise(lambda grad, self: grad / (self * LN_2), np.log2)
def log2(self: Array) -> Array:
    r"""Logarithm to base 2: :math:`g / (x \ln 2)`."""


@pointwise(lambda grad, self: grad / (self * LN_10), np.log10)
def log10(self: Array) -> Array:
    r"""Logarithm to base 10: :math:`g / (x \ln 10)`."""


@variants(out="kind", in_place="function")
@operation(
    "XlogyBackward0",
    arithmetic=True,
    self=lambda grad, self, other: dispatch(
        masked_fill_number, dispatch(xlogy, grad, other), (self == 0) * (other <= 0), 0
    ),
    other=lambda grad, self, other: grad * self / other,
)
@ignore_errstate
def xlogy(self: Operand, other: Operand) -> Array:
    r"""Product :math:`x \ln y`, and 0 where x is 0: :math:`g \ln y` in x, :math:`g x / y` in y."""
    if self.dtype.kind == "c":
        raise not_implemented("xlogy", self)
    if self.dtype.kind in "iub":
        self, other = (np.asarray(each, dtypes.default.dtype.numpy) for each in (self, other))
    return np.where((self == 0) * (other == other), 0, self * np.log(other))


def _logit_rule(grad: Any, self: Any, eps: Any) -> Any:
    low, high, beyond = (0, 1, np.nan) if eps is None else (eps, 1 - eps, 0)
    within = np.logical_not(np.logical_or(self < low, self > high))  # as NaN is
    return np.where(within, grad / (self * (1 - self)), beyond)


@variants(out="kind", floats=True, missing=("c", "logit_cpu"), in_place="function")
@operation("LogitBackward0", self=_logit_rule)
@ignore_errstate
def logit(self: Array, eps: float | None = None) -> Array:
    r"""Inverse of the logistic function, :math:`\ln(x / (1 - x))`: :math:`g / (x (1 - x))`.

    Args:
        self: Probabilities.
        eps: Brings the entries between `eps` and 1 - `eps` first, if given; beyond these there is
            no slope.

    Example:
        >>> import minigrad as torch
        >>> torch.logit(torch.tensor([0.5, 0.9]))
        tensor([0.0000, 2.1972])
    """
    if eps is not None:
        self = np.minimum(np.maximum(self, eps), 1 - eps)
    return np.log(self / (1 - self))


# ---------------------------------------------------------------------- rounding


def _zeros(grad: Any) -> Any:
    return np.zeros_like(grad)


@pointwise(_zeros, floats=False, missing=("b", "floor_vml_cpu"), ufunc=np.floor)
def floor(self: Array) -> Array:
    """Largest whole number not above: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.floor(self)


@pointwise(_zeros, floats=False, missing=("b", "ceil_vml_cpu"), ufunc=np.ceil)
def ceil(self: Array) -> Array:
    """Smallest whole number not below: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.ceil(self)


@pointwise(_zeros, floats=False, missing=("b", "trunc_vml_cpu"), ufunc=np.trunc, also="fix")
def trunc(self: Array) -> Array:
    """Whole number toward 0: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.trunc(self)


@operation("RoundBackward0", self=_zeros)
@ignore_errstate
def round(self: Array, decimals: int) -> Array:
    """Nearest number with so many decimals, halves to the even one: no gradient passes."""
    if self.dtype.kind in "iu":
        return self.copy()
    power = 10 ** abs(decimals)
    return np.rint(self / power) * power if decimals < 0 else np.rint(self * power) / power


@variants("round", in_place="function", ufunc=np.rint, out="limits")
def rounded(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round each entry to the nearest whole number, or to so many decimals; halves to even.

    Example:
        >>> import minigrad as torch
        >>> torch.round(torch.tensor([0.5, 1.5, 2.26])), torch.round(torch.tensor(2.26), decimals=1)
        (tensor([0., 2., 2.]), tensor(2.3000))
    """
    refuse("round", "bciu" if decimals else "bc", input)
    return round(input, decimals)


@pointwise(lambda grad: grad, floats=False, missing=("iub", "frac_cpu"))
def frac(self: Array) -> Array:
    """What is left without the whole number toward 0: the gradient as it is."""
    return self - np.trunc(self)


@variants(out="none", in_place="function")
@operation("NanToNumBackward0", self=lambda grad, self: grad * np.isfinite(self))
def nan_to_num(
    self: Array, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """Numbers instead of NaN and infinities: the gradient passes where there were none.

    Args:
        self: The tensor.
        nan: What takes the place of NaN; 0 by default.
        posinf: What takes the place of infinity; the largest number of the type by default.
        neginf: What takes the place of minus infinity; the smallest by default.

    Example:
        >>> import minigrad as torch
        >>> torch.nan_to_num(torch.tensor([float("nan"), float("inf")]), posinf=9.0)
        tensor([0., 9.])
    """
    if self.dtype.kind not in "fc":
        return self.copy()
    return np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf)


# ---------------------------------------------------------------------- quotients and remainders


def _check_divisor(self: Any, other: Any) -> None:
    """Raise if integers are to be divided by 0, or booleans or complex numbers rounded."""
    if self.dtype.kind in "bc":
        raise not_implemented("remainder", self)
    if self.dtype.kind in "iu" and not np.all(other):
        raise RuntimeError("ZeroDivisionError: an entry of the divisor is 0")


@operation("DivBackward2", arithmetic=True, self=_zeros, other=_zeros)
@ignore_errstate
def div_floor(self: Array, other: Array) -> Array:
    """Quotient, rounded down: no gradient passes."""
    _check_divisor(self, other)
    return np.floor_divide(self, other)


@operation("DivBackward2", arithmetic=True, self=_zeros, other=_zeros)
@ignore_errstate
def div_trunc(self: Array, other: Array) -> Array:
    """Quotient, rounded toward 0: no gradient passes."""
    _check_divisor(self, other)
    if self.dtype.kind in "iu":
        return np.floor_divide(self - np.fmod(self, other), other)
    return np.trunc(self / other)


def div_rounded(input: Any, other: Any, rounding_mode: Any) -> Any:
    """Divide, and round the quotient down ("floor") or toward 0 ("trunc").

    Raises:
        RuntimeError: If integers are divided by 0, or there is no such way of rounding.
    """
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(f"div(): rounding_mode must be 'trunc' or 'floor', not {rounding_mode}")
    return (div_floor if rounding_mode == "floor" else div_trunc)(input, other)


@variants("floor_divide", out="kind", in_place=True, ufunc=np.floor_divide)
def floor_divide(input: Operand, other: Operand) -> Any:
    """Divide, and round down: `x // y`. There is no derivative.

    Example:
        >>> import minigrad as torch
        >>> torch.floor_divide(torch.tensor([7, -7]), 2)
        tensor([ 3, -4])
    """
    with no_grad():
        quotient = div_floor(input, other)
    if quotient is NotImplemented:
        return quotient
    return without_derivative("floor_divide", quotient, input, other)


@variants(out="kind", in_place=True, ufunc=np.remainder)
@operation(
    "RemainderBackward1",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: minus(grad, dispatch(div_floor, self, other)),
)
@ignore_errstate
def remainder(self: Operand, other: Operand) -> Array:
    r"""Remainder with the divisor's sign, :math:`a - b \lfloor a / b \rfloor`: `a % b`.

    The rules: :math:`g` for a, :math:`-g \lfloor a / b \rfloor` for b.

    Example:
        >>> import minigrad as torch
        >>> torch.remainder(torch.tensor([5.0, -5.0]), 3)
        tensor([2., 1.])
    """
    _check_divisor(self, other)
    return np.remainder(self, other)


numpy_protocols.functions[np.round] = lambda a, decimals=0, out=None: rounded(a, decimals=decimals)
attach(
    __name__,
    {
        "__mod__": remainder,
        "__rmod__": lambda self, other: remainder(other, self),
        "__imod__": operator_of(vars(Tensor)["remainder_"]),
        "__floordiv__": floor_divide,
        "__rfloordiv__": lambda self, other: floor_divide(other, self),
        "__ifloordiv__": operator_of(vars(Tensor)["floor_divide_"]),
    },
)


# ---------------------------------------------------------------------- of three tensors


def _at_start(grad: Any, weight: Any) -> Any:
    return grad * (1 - weight)


def _at_end(grad: Any, weight: Any) -> Any:
    return grad * weight


@operation("LerpBackward0", broadcasts=True, self=_at_start, end=_at_end)
@ignore_errstate
def lerp_number(self: Array, end: Array, weight: Any) -> Array:
    r"""Point between two, :math:`a + w (b - a)`: :math:`g (1 - w)` for a and :math:`g w` for b."""
    return self + weight * (end - self)


@operation(
    "LerpBackward1",
    broadcasts=True,
    self=_at_start,
    end=_at_end,
    weight=lambda grad, self, end: grad * (end - self),
)
@ignore_errstate
def lerp(self: Array, end: Array, weight: Array) -> Array:
    r"""Point between two with a weight for each entry, which gets :math:`g (b - a)`."""
    return self + weight * (end - self)


@variants("lerp", out="kind", in_place=True, missing=("iub", "lerp"))
def interpolated(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    r"""Give the point between two tensors, :math:`a + w (b - a)`.

    Args:
        input: Where the weight 0 leads.
        end: Where the weight 1 leads.
        weight: A number, or a tensor with a weight for each entry.

    Raises:
        RuntimeError: If the tensors are of different types.

    Example:
        >>> import minigrad as torch
        >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([4.0, 20.0]), 0.5)
        tensor([ 2., 15.])
    """
    check_one_type(input._array, end._array)
    if isinstance(weight, Tensor):
        return lerp(input, end, cast(weight, input._array.dtype))
    return lerp_number(input, end, number(weight, "lerp", "weight"))


@variants(out="kind", in_place=True)
@ignore_errstate
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    r"""Add a product, :math:`x + v\, a b`."""
    return input + value * tensor1 * tensor2


@variants(out="kind", in_place=True)
@ignore_errstate
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    r"""Add a quotient, :math:`x + v\, a / b`."""
    return input + value * tensor1 / tensor2


# ---------------------------------------------------------------------- the error function

_FEW = 256  # so many numbers are computed sooner one by one
# Of many in float32 it is x P(x^2) / Q(x^2), from the highest power down, as in the library Eigen.
_P = np.array([2.29050659e-4, 3.40829101e-3, 5.09556951e-2, 0.185208324, 1.12837914], np.float32)
_Q = np.array([
    -1.1791602954361697e-7, 2.3547966471313185e-5, 1.0179625278914885e-3, 1.4070470171167667e-2,
    0.11098505178285362, 0.49746925110067538, 1.0,
], np.float32)  # fmt: skip


def _polynomial(coefficients: Any, x: Any) -> Any:
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result *= x
        result += coefficient
    return result


def _erf_of_many(array: Any) -> Any:
    x = np.clip(array, -3.8325, 3.8325, dtype=np.float32)
    square = x * x
    x *= _polynomial(_P, square)
    x /= _polynomial(_Q, square)
    return np.clip(x, -1, 1, out=x).astype(array.dtype, copy=False)


def _one_by_one(of_one: Callable[[float], float], array: Any) -> Any:
    return np.array([*map(of_one, array.ravel().tolist())], array.dtype).reshape(array.shape)


@pointwise(lambda grad, self: np.exp(-(self**2)) * TWO_OVER_ROOT_PI * grad)
@overridable
def erf(self: Array) -> Array:
    r"""Error function :math:`2 \int_0^x e^{-t^2} dt / \sqrt\pi`.

    Its derivative is :math:`2 e^{-x^2} / \sqrt\pi`.
    """
    if self.size > _FEW and self.itemsize <= 4:
        return _erf_of_many(self)
    return _one_by_one(math.erf, self)


@pointwise(lambda grad, self: np.exp(-(self**2)) * -TWO_OVER_ROOT_PI * grad)
@overridable
def erfc(self: Array) -> Array:
    r"""Complement of the error function, :math:`1 - \operatorname{erf} x`, exact also if small."""
    return _one_by_one(math.erfc, self)
