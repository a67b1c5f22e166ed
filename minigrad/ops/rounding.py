"""The derivatives of rounding, of remainders, and of quotients that are rounded.

Between its jumps a rounded number does not change, so its gradient is 0; that of what is left over
passes as it is. :math:`g` is the gradient of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import quietly
from minigrad.ops.tape import Array, differentiable


def _zeros(grad: Any) -> Any:
    return np.zeros_like(grad)


@differentiable("FloorBackward0", self=_zeros)
def floor(self: Array) -> Array:
    """Largest whole number not above: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.floor(self)


@differentiable("CeilBackward0", self=_zeros)
def ceil(self: Array) -> Array:
    """Smallest whole number not below: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.ceil(self)


@differentiable("TruncBackward0", self=_zeros)
def trunc(self: Array) -> Array:
    """Whole number toward 0: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.trunc(self)


@differentiable("RoundBackward0", self=_zeros)
def round(self: Array) -> Array:
    """Nearest whole number, halves to the even one: no gradient passes."""
    return self.copy() if self.dtype.kind in "iu" else np.rint(self)


@differentiable("RoundBackward1", self=_zeros)
@quietly
def round_decimals(self: Array, decimals: int) -> Array:
    """Nearest number with so many decimals: no gradient passes."""
    power = self.dtype.type(10.0 ** abs(decimals))
    if decimals < 0:
        return np.rint(self / power) * power
    return np.rint(self * power) / power


@differentiable("FracBackward0", self=lambda grad: grad)
@quietly
def frac(self: Array) -> Array:
    """What is left without the whole number toward 0: the gradient as it is."""
    return self - np.trunc(self)


# ---------------------------------------------------------------------- quotients and remainders


def refuse_zeros(self: Any, other: Any) -> None:
    """Raise if integers are to be divided by 0.

    Raises:
        RuntimeError: With PyTorch's words.
    """
    kinds = self.dtype.kind, getattr(other, "dtype", np.asarray(other).dtype).kind
    if kinds[0] in "iub" and kinds[1] in "iub" and not np.all(other) and np.size(self):
        raise RuntimeError("ZeroDivisionError: an entry of the divisor is 0")


@quietly
def floored(self: Any, other: Any) -> Any:
    """Divide, and round down.

    The remainder is taken off first, so that the quotient is right where it is nearly whole.
    """
    refuse_zeros(self, other)
    return np.floor_divide(self, other)


@quietly
def truncated(self: Any, other: Any) -> Any:
    """Divide, and round toward 0."""
    refuse_zeros(self, other)
    if self.dtype.kind not in "iub":
        return np.trunc(self / other)
    quotient = np.floor_divide(self, other)
    # it was rounded down: one more where it is negative and there is a remainder
    return quotient + ((quotient < 0) & (quotient * other != self)).astype(quotient.dtype)


def _zeros_of_self(grad: Any, other: Any) -> Any:
    return _zeros(grad)  # PyTorch saves the other one all the same


def _zeros_of_other(grad: Any, self: Any, other: Any) -> Any:
    return _zeros(grad)


@differentiable("DivBackward2", arithmetic=True, self=_zeros_of_self, other=_zeros_of_other)
def div_floor(self: Array, other: Array) -> Array:
    """Quotient, rounded down: no gradient passes."""
    return floored(self, other)


@differentiable("DivBackward2", arithmetic=True, self=_zeros_of_self, other=_zeros_of_other)
def div_trunc(self: Array, other: Array) -> Array:
    """Quotient, rounded toward 0: no gradient passes."""
    return truncated(self, other)


def _quotient(operation: Any, function: Any, self: Any, other: Any) -> Any:
    """Give a rounded quotient within a rule: recorded on tensors."""
    recorded = not isinstance(self, np.ndarray)
    return operation(self, other) if recorded else function(self, other)


@differentiable("RemainderBackward0", self=lambda grad: grad)
def remainder_number(self: Array, other: Any) -> Array:
    """Remainder by a number: the gradient as it is."""
    return remainder.forward(self, np.asarray(other).astype(self.dtype))


@differentiable(
    "RemainderBackward1",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * _quotient(div_floor, floored, self, other),
)
@quietly
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


@differentiable("FmodBackward0", self=lambda grad: grad)
@quietly
def fmod_number(self: Array, other: Any) -> Array:
    """Remainder by a number, with the sign of the dividend: the gradient as it is."""
    return fmod.forward(self, np.asarray(other).astype(self.dtype))


@differentiable(
    "FmodBackward1",
    arithmetic=True,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * _quotient(div_trunc, truncated, self, other),
)
@quietly
def fmod(self: Array, other: Array) -> Array:
    r"""Remainder with the dividend's sign, :math:`a - b \operatorname{trunc}(a / b)`.

    The rules: :math:`g` for a, :math:`-g \operatorname{trunc}(a / b)` for b.
    """
    refuse_zeros(self, other)
    return np.fmod(self, other)


# ---------------------------------------------------------------------- what is no number


@differentiable("NanToNumBackward0", self=lambda grad, self: grad * np.isfinite(self))
def nan_to_num(self: Array, nan: float, posinf: float, neginf: float) -> Array:
    """Numbers in the place of NaN and infinities: the gradient passes where there were none."""
    if self.dtype.kind not in "fc":
        return self.copy()
    return np.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)
