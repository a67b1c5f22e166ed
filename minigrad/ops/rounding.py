"""Rounding, remainders, quotients that are rounded, and their derivatives.

Between its jumps a rounded number does not change, so its gradient is 0; that of what is left over
passes as it is. :math:`g` is the gradient of the result.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import without_derivative
from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.inplace import operator_of, write
from minigrad.ops.type_promotion import beside_array, scalar
from minigrad.signatures import arguments, attach, entrywise, numpy_protocols, variants
from minigrad.signatures.arguments import as_floats, cast, is_operand, not_implemented, plain
from minigrad.signatures.signature import Operand


def _zeros(grad: Any) -> Any:
    return np.zeros_like(grad)


@entrywise(floats=False, missing=("b", "floor_vml_cpu"), ufunc=np.floor)
@operation("FloorBackward0", self=_zeros)
def floor(self: Array) -> Array:
    """Largest whole number not above: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.floor(self)


@entrywise(floats=False, missing=("b", "ceil_vml_cpu"), ufunc=np.ceil)
@operation("CeilBackward0", self=_zeros)
def ceil(self: Array) -> Array:
    """Smallest whole number not below: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.ceil(self)


_fix = getattr(np, "fix", None)  # deprecated from NumPy 2.5 on


@entrywise(floats=False, missing=("b", "trunc_vml_cpu"), ufunc=np.trunc, also="fix", numpy=_fix)
@operation("TruncBackward0", self=_zeros)
def trunc(self: Array) -> Array:
    """Whole number toward 0: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.trunc(self)


@operation("RoundBackward0", self=_zeros)
def round(self: Array) -> Array:
    """Nearest whole number, halves to the even one: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.rint(self)


@operation("RoundBackward1", self=_zeros)
@ignore_errstate
def round_decimals(self: Array, decimals: int) -> Array:
    """Nearest number with so many decimals: no gradient passes."""
    power = self.dtype.type(10.0 ** abs(decimals))
    if decimals < 0:
        return np.rint(self / power) * power
    return np.rint(self * power) / power


@variants("round", in_place="function", ufunc=np.rint, out="limits")
def rounded(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round each entry to the nearest whole number, or to so many decimals; halves to even.

    Example:
        >>> import minigrad as torch
        >>> torch.round(torch.tensor([0.5, 1.5, 2.26])), torch.round(torch.tensor(2.26), decimals=1)
        (tensor([0., 2., 2.]), tensor(2.3000))
    """
    kind = input._array.dtype.kind
    if kind in "bc" or (decimals and kind in "iu"):
        raise not_implemented("round_cpu" if decimals else "round_vml_cpu", input._array)
    return round_decimals(input, decimals) if decimals else round(input)


@entrywise(floats=False, missing=("iub", "frac_cpu"))
@operation("FracBackward0", self=lambda grad: grad)
@ignore_errstate
def frac(self: Array) -> Array:
    """What is left without the whole number toward 0: the gradient as it is."""
    return self - np.trunc(self)


# ---------------------------------------------------------------------- quotients and remainders


def refuse_zeros(self: Any, other: Any) -> None:
    """Raise if integers are to be divided by 0, or booleans or complex numbers rounded."""
    if self.dtype.kind in "bc":
        raise not_implemented("remainder", self)
    if self.dtype.kind in "iu" and not np.all(other) and np.size(self):
        raise RuntimeError("ZeroDivisionError: an entry of the divisor is 0")


def _zeros_of_self(grad: Any, other: Any) -> Any:
    return _zeros(grad)  # PyTorch saves the other one all the same


def _zeros_of_other(grad: Any, self: Any, other: Any) -> Any:
    return _zeros(grad)


@operation("DivBackward2", arithmetic=True, self=_zeros_of_self, other=_zeros_of_other)
@ignore_errstate
def div_floor(self: Array, other: Array) -> Array:
    """Quotient, rounded down: no gradient passes.

    The remainder is taken off first, so that the quotient is right where it is nearly whole.
    """
    refuse_zeros(self, other)
    return np.floor_divide(self, other)


@operation("DivBackward2", arithmetic=True, self=_zeros_of_self, other=_zeros_of_other)
@ignore_errstate
def div_trunc(self: Array, other: Array) -> Array:
    """Quotient, rounded toward 0: no gradient passes."""
    refuse_zeros(self, other)
    if self.dtype.kind not in "iub":
        return np.trunc(self / other)
    quotient = np.floor_divide(self, other)
    # it was rounded down: one more where it is negative and there is a remainder
    return quotient + ((quotient < 0) & (quotient * other != self)).astype(quotient.dtype)


def _beside_number(node: str, declared: Any) -> Any:
    """Declare an operation of two with a number for the second: its node has one edge."""

    def beside(self: Array, other: Any) -> Array:
        return declared.forward(self, np.asarray(other).astype(self.dtype))

    beside.__name__ = f"{declared.__name__}_number"
    beside.__doc__ = f"The same as `{declared.__name__}` with a number for the second input."
    return operation(node, self=declared.rules["self"])(ignore_errstate(beside))


@operation(
    "RemainderBackward1",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * dispatch(div_floor, self, other),
)
@ignore_errstate
def remainder(self: Array, other: Array) -> Array:
    r"""Remainder with the divisor's sign, :math:`a - b \lfloor a / b \rfloor`.

    The rules: :math:`g` for a, :math:`-g \lfloor a / b \rfloor` for b.
    """
    refuse_zeros(self, other)
    if self.dtype.kind != "f":
        return np.remainder(self, other)
    left = np.fmod(self, other)
    other_side = (left != 0) & ((other < 0) != (left < 0))
    return np.where(other_side, left + other, left)


remainder_number = _beside_number("RemainderBackward0", remainder)
_NUMBERS = (int, float, complex, np.generic)


def _either(operation: Any, with_number: Any, input: Tensor, other: Any) -> Any:
    """Call an operation of two tensors, or of a tensor and a number."""
    other = plain(other)
    if isinstance(other, (int, float, complex)):
        input, operation = cast(input, dtypes.scalar_dtype(other, input._array.dtype)), with_number
    elif not isinstance(other, (Tensor, np.ndarray)) and not hasattr(other, "free_symbols"):
        return NotImplemented
    return operation(input, other)


@variants("remainder", out="kind", in_place=True)
def remainder_of(input: Operand, other: Operand) -> Any:
    r"""Give the remainder with the divisor's sign, :math:`a - b \lfloor a / b \rfloor`: `a % b`.

    Example:
        >>> import minigrad as torch
        >>> torch.remainder(torch.tensor([5.0, -5.0]), 3)
        tensor([2., 1.])
    """
    if isinstance(input, Tensor):
        return _either(remainder, remainder_number, input, other)
    if isinstance(other, Tensor) and isinstance(input, _NUMBERS):
        number = scalar(input, other._array.dtype)
        return without_derivative("remainder", remainder(number, other.detach()), other)
    return NotImplemented


@operation(
    "FmodBackward1",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * dispatch(div_trunc, self, other),
)
@ignore_errstate
def fmod(self: Array, other: Array) -> Array:
    r"""Remainder with the sign of the first, :math:`a - b\, \mathrm{trunc}(a / b)`.

    The rules: :math:`g` for a, :math:`-g\, \mathrm{trunc}(a / b)` for b.
    """
    refuse_zeros(self, other)
    return np.fmod(self, other)


fmod_number = _beside_number("FmodBackward0", fmod)


@variants("fmod", out="kind", in_place=True, ufunc=np.fmod)
def fmod_of(input: Tensor, other: Operand) -> Any:
    r"""Give the remainder with the sign of the first, :math:`a - b\, \mathrm{trunc}(a / b)`.

    Example:
        >>> import minigrad as torch
        >>> torch.fmod(torch.tensor([5.0, -5.0]), 3)
        tensor([ 2., -2.])
    """
    return _either(fmod, fmod_number, input, other)


@operation(
    "CopysignBackward0",
    arithmetic=True,
    self=lambda grad, self, result: (
        grad * dispatch(masked_fill_number, result / self, self == 0, 0)
    ),
    other=lambda grad: np.zeros_like(grad),
)
@ignore_errstate
def copysign(self: Array, other: Array) -> Array:
    """Size of the first with the sign of the second: the gradient with the sign that was changed.

    Where the first is 0 no gradient passes, and none does to the second.
    """
    return np.copysign(self, other)


copysign_number = _beside_number("CopysignBackward1", copysign)


@variants("copysign", out="kind", in_place=True, ufunc=np.copysign)
def copysign_of(input: Tensor, other: Operand) -> Any:
    """Give numbers of the size of the first, with the sign of the second.

    Example:
        >>> import minigrad as torch
        >>> torch.copysign(torch.tensor([1.0, -2.0]), -0.0)
        tensor([-1., -2.])
    """
    if not isinstance(other, Tensor) or other._array.dtype.kind in "iub":
        input = as_floats(input)
    return _either(copysign, copysign_number, input, other)


numpy_protocols.ufuncs[np.remainder] = arguments.on_operands(remainder_of)


def div_rounded(input: Any, other: Any, rounding_mode: Any) -> Any:
    """Divide, and round the quotient down ("floor") or toward 0 ("trunc").

    Raises:
        RuntimeError: If integers are divided by 0, or there is no such way of rounding.
    """
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(f"div(): rounding_mode must be 'trunc' or 'floor', not {rounding_mode}")
    return (div_floor if rounding_mode == "floor" else div_trunc)(input, other)


@variants("floor_divide", out="kind")
def _floor_divide(input: Operand, other: Operand) -> Any:
    """Divide, and round down: `x // y`. There is no derivative.

    Example:
        >>> import minigrad as torch
        >>> torch.floor_divide(torch.tensor([7, -7]), 2)
        tensor([ 3, -4])
    """
    return floor_divide(input, other)


def floor_divide(input: Any, other: Any, name: str = "floor_divide") -> Any:
    """Divide, and round down, under the name of a function."""
    operands = [input, other]
    if isinstance(input, Tensor) and isinstance(other, np.ndarray):
        operands = [*beside_array(input, other)]
    tensors = [value for value in operands if isinstance(value, Tensor)]
    if not all(isinstance(each, (Tensor, *_NUMBERS)) for each in operands):
        return NotImplemented
    beside = tensors[0]._array.dtype if tensors else np.dtype(bool)
    numbers = [
        wrap(value._array) if isinstance(value, Tensor) else scalar(value, beside)
        for value in operands
    ]
    return without_derivative(name, div_floor(*numbers), *tensors)


def floor_divide_(input: Tensor, other: Any) -> Tensor:
    """Divide, and round down, in place."""
    if not is_operand(other):
        raise arguments.no_combination("floor_divide_", other)
    return write(functools.partial(floor_divide, name="floor_divide_"), input, other)


numpy_protocols.ufuncs[np.floor_divide] = arguments.on_operands(floor_divide)
attach(
    __name__,
    {
        "floor_divide_": floor_divide_,
        "__mod__": remainder_of,
        "__rmod__": lambda self, other: remainder_of(other, self),
        "__imod__": operator_of(vars(Tensor)["remainder_"]),
        "__floordiv__": floor_divide,
        "__rfloordiv__": lambda self, other: floor_divide(other, self),
        "__ifloordiv__": operator_of(floor_divide_),
    },
)


# ---------------------------------------------------------------------- what is no number


@operation("NanToNumBackward0", self=lambda grad, self: grad * np.isfinite(self))
def nan_to_num(self: Array, nan: float, posinf: float, neginf: float) -> Array:
    """Numbers in the place of NaN and infinities: the gradient passes where there were none."""
    if self.dtype.kind not in "fc":
        return self.copy()
    return np.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)


@variants("nan_to_num", out="none", in_place="function")
def numbers_only(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Put numbers in the place of NaN and infinities.

    Args:
        input: The tensor.
        nan: What takes the place of NaN; 0 by default.
        posinf: What takes the place of infinity; the largest number of the type by default.
        neginf: What takes the place of minus infinity; the smallest by default.

    Example:
        >>> import minigrad as torch
        >>> torch.nan_to_num(torch.tensor([float("nan"), float("inf")]), posinf=9.0)
        tensor([0., 9.])
    """
    kind = input._array.dtype.kind
    limit = float(np.finfo(input._array.dtype).max) if kind in "fc" else 0.0
    return nan_to_num(
        input,
        0.0 if nan is None else nan,
        limit if posinf is None else posinf,
        -limit if neginf is None else neginf,
    )


numpy_protocols.functions[np.round] = lambda a, decimals=0, out=None: rounded(a, decimals)
