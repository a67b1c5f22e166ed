"""The derivatives of functions of a calculus course: angles, logarithms, rounding, erf, gamma.

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
from minigrad.ops.elementwise import pointwise, reciprocal, rsqrt
from minigrad.ops.inplace import operator_of
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import attach, numpy_protocols, variants
from minigrad.signatures.arguments import cast, not_implemented, number, refuse
from minigrad.signatures.signature import Number, Operand

# plain numbers, which take the type of what they stand beside: beside symbols they become exact
LN_2, LN_10 = math.log(2), math.log(10)
PI, TWO_OVER_ROOT_PI = math.pi, 2 / math.sqrt(math.pi)
DEGREE, RADIAN = math.pi / 180, 180 / math.pi

_silent: Any = np.errstate(all="ignore")  # for what an array's class may answer itself


# ---------------------------------------------------------------------- angles


@pointwise(lambda grad, result: grad * (result**2 + 1), np.tan)
def tan(self: Array) -> Array:
    r"""Tangent: :math:`g\, (1 + \tan^2 x)`."""


@pointwise(lambda grad, self: grad * dispatch(rsqrt, 1 - self * self), np.arcsin)
def asin(self: Array) -> Array:
    r"""Inverse of the sine: :math:`g / \sqrt{1 - x^2}`."""


@pointwise(lambda grad, self: grad * -dispatch(rsqrt, 1 - self * self), np.arccos)
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


@pointwise(lambda grad, self: grad / (1 - self * self), np.arctanh, in_place=False)
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


# ---------------------------------------------------------------------- of two numbers


def _over_squares(self: Any, other: Any) -> Any:
    """Give one over the sum of the squares; 0 at the origin, where an angle has no slope."""
    total = self * self + other * other
    return dispatch(masked_fill_number, dispatch(reciprocal, total), total == 0, 0)


@variants(out="kind", floats=True, missing=("c", "atan2_cpu"), in_place=True, ufunc=np.arctan2)
@operation(
    "Atan2Backward0",
    arithmetic=True,
    self=lambda grad, self, other: grad * other * _over_squares(self, other),
    other=lambda grad, self, other: grad * -self * _over_squares(self, other),
)
def atan2(self: Array, other: Array) -> Array:
    r"""Angle of the point (x, y): :math:`g x / (x^2 + y^2)` in y, :math:`-g y / (x^2 + y^2)` in x.

    The first input is y, as usual. At the origin both gradients are 0.
    """
    return np.arctan2(self, other)


@variants(out="kind", missing=("iubc", "hypot_cpu"), in_place=True, ufunc=np.hypot)
@operation(
    "HypotBackward0",
    arithmetic=True,
    self=lambda grad, self, result: grad * self / result,
    other=lambda grad, other, result: grad * other / result,
)
@ignore_errstate
def hypot(self: Array, other: Array) -> Array:
    r"""Length of the vector to a point, :math:`r = \sqrt{x^2 + y^2}`: :math:`g x / r`, so for y."""
    return np.hypot(self, other)


@variants(out="kind", missing=("iubc", "logaddexp_cpu"), ufunc=np.logaddexp)
@operation(
    "LogaddexpBackward0",
    arithmetic=True,
    self=lambda grad, self, other: grad / (np.exp(other - self) + 1),
    other=lambda grad, self, other: grad / (np.exp(self - other) + 1),
)
@ignore_errstate
def logaddexp(self: Array, other: Array) -> Array:
    r"""Logarithm of a sum, :math:`\ln(e^a + e^b)`: :math:`g\, e^a / (e^a + e^b)`, and so for b."""
    return np.logaddexp(self, other)


def _sinc_rule(grad: Any, self: Any) -> Any:
    angle, square = self * PI, self * self * PI
    return np.where(square == 0, 0, grad * ((angle * np.cos(angle) - np.sin(angle)) / square))


@pointwise(_sinc_rule, numpy=np.sinc)
def sinc(self: Array) -> Array:
    r"""Sine over the angle, :math:`y = \sin(\pi x) / (\pi x)`: :math:`g (\cos(\pi x) - y) / x`.

    At 0 it is 1, and its slope 0.
    """
    angle = self * PI
    return np.where(self == 0, 1, np.sin(angle) / angle)


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
    outside = np.logical_or(self < low, self > high)  # as NaN is not
    return np.where(outside, beyond, grad / (self * (1 - self)))


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
    """Numbers in the place of NaN and infinities: the gradient passes where there were none.

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
    other=lambda grad, self, other: -grad * dispatch(div_floor, self, other),
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


@variants(out="kind", in_place=True, ufunc=np.fmod)
@operation(
    "FmodBackward1",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * dispatch(div_trunc, self, other),
)
@ignore_errstate
def fmod(self: Operand, other: Operand) -> Array:
    r"""Remainder with the sign of the first, :math:`a - b\, \mathrm{trunc}(a / b)`.

    The rules: :math:`g` for a, :math:`-g\, \mathrm{trunc}(a / b)` for b.

    Example:
        >>> import minigrad as torch
        >>> torch.fmod(torch.tensor([5.0, -5.0]), 3)
        tensor([ 2., -2.])
    """
    _check_divisor(self, other)
    return np.fmod(self, other)


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
_P = np.array([
    2.2905065861350646e-4, 3.4082910107109506e-3, 5.0955695062380861e-2, 0.18520832239976145,
    1.128379143519084,
])  # fmt: skip
_Q = np.array([
    -1.1791602954361697e-7, 2.3547966471313185e-5, 1.0179625278914885e-3, 1.4070470171167667e-2,
    0.11098505178285362, 0.49746925110067538, 1.0,
])  # fmt: skip


def _erf_of_many(array: Any) -> Any:
    x = array.astype(np.float32)
    square = np.minimum(x * x, 15)
    inside = x * np.polyval(_P, square) / np.polyval(_Q, square)
    return np.where(np.abs(x) < 3.83, inside, np.sign(x)).astype(array.dtype)


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


def _erfc_rule(grad: Any, self: Any) -> Any:
    return np.exp(-(self**2)) * -TWO_OVER_ROOT_PI * grad


@pointwise(_erfc_rule)
@overridable
def erfc(self: Array) -> Array:
    r"""Complement of the error function, :math:`1 - \operatorname{erf} x`, exact also if small."""
    return _one_by_one(math.erfc, self)


def _erfinv_rule(grad: Any, self: Any) -> Any:
    return np.exp(dispatch(erfinv, self) ** 2) * (1 / TWO_OVER_ROOT_PI) * grad


@pointwise(_erfinv_rule, in_place=True, missing=("c", "erfinv_vml_cpu"))
@overridable
@_silent
def erfinv(self: Array) -> Array:
    r"""Number y whose error function is x: :math:`g\, e^{y^2} \sqrt\pi / 2`.

    Solved by Halley's method, near 1 in the complement; the first guess is from the approximation
    :math:`\operatorname{erf}^2 y \approx 1 - e^{-4 y^2 / \pi}`.
    """
    size = np.abs(self.astype(np.float64))
    rest = 1 - size
    y = np.sqrt(-PI / 4 * (np.log(rest) + np.log1p(size)))
    for _ in range(7):
        error = np.where(size < 0.5, _one_by_one(math.erf, y) - size, rest - erfc.forward(y))
        step = error / TWO_OVER_ROOT_PI * np.exp(y * y)
        y = np.where(size < 1, y - step / (1 + y * step), y)
    return np.copysign(np.where(size <= 1, y, np.nan), self).astype(self.dtype)


# ---------------------------------------------------------------------- the gamma function


@pointwise(lambda grad, self: grad * dispatch(digamma, self), in_place=True)
@overridable
def lgamma(self: Array) -> Array:
    r"""Logarithm of the gamma function's size, :math:`\ln |\Gamma(x)|`: :math:`g\, \psi(x)`."""
    far = 2.5e305  # from where on it overflows
    of_one = lambda x: math.inf if x > far or (x <= 0 and x % 1 == 0) else math.lgamma(x)  # noqa: E731
    return _one_by_one(of_one, self)


@pointwise(
    lambda grad, self: grad * dispatch(polygamma, self, 1), in_place=True, missing=("c", "digamma")
)
def digamma(self: Array) -> Array:
    r"""Derivative of `lgamma`, :math:`\psi(x)`: the gradient times that of order 1."""
    return polygamma.forward(self, 0)


# of even order, from 2 on: Bernoulli's numbers
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


@operation("PolygammaBackward0", self=lambda grad, self, n: grad * dispatch(polygamma, self, n + 1))
@overridable
@_silent
def polygamma(self: Array, n: int) -> Array:
    r"""Derivative of order n of :math:`\psi`: the gradient times that of order n + 1.

    From 10 on it is an asymptotic series (https://dlmf.nist.gov/5.11.E2 and 5.15.E8); smaller
    numbers are brought there by recurrence (5.15.E5), negative ones by reflection (5.15.E6).
    """
    given = self.astype(np.float64)
    x = np.where(given < 0, 1 - given, given)
    total = np.zeros_like(x)
    while (near := x < 10).any():
        total += np.where(near, math.factorial(n) / x ** (n + 1), 0)
        x = x + near
    total += math.factorial(n) / (2 * x ** (n + 1))
    total += math.factorial(n - 1) / x**n if n else -np.log(x)
    for k, of_k in enumerate(_BERNOULLI, 1):
        total += math.factorial(2 * k + n - 1) / math.factorial(2 * k) * of_k / x ** (2 * k + n)
    cotangent = np.polynomial.Polynomial([0, 1])  # its derivatives are polynomials of it
    for _ in range(n):
        cotangent = -PI * cotangent.deriv() * np.polynomial.Polynomial([1, 0, 1])
    turned = -total - PI * cotangent(1 / np.tan(PI * np.fmod(given, 1)))
    return np.where(given < 0, turned, (-1) ** (n + 1) * total).astype(self.dtype)
