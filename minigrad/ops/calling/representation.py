"""Call the operations on what numbers are made of: divisors, mantissas, neighbors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minigrad import dtypes
from minigrad.ops import representation
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.entrywise import not_implemented
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.results import named
from minigrad.ops.inplace import in_place
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Tensor, wrap

__all__ = ["frexp", "gcd", "is_neg", "lcm", "nextafter"]


class _Parts(NamedTuple):
    """Mantissas and exponents; prints as PyTorch prints it."""

    mantissa: Tensor
    exponent: Tensor


_frexp = named("frexp", _Parts)


def _whole(name: str, ufunc: Any, input: Tensor, other: Tensor) -> Tensor:
    check_tensor(name, input)
    check_tensor(name, other, "other", 2)
    meeting = dtypes.result_type(input._array, other._array)
    if meeting.kind not in "iu":
        raise not_implemented(f"{name}_cpu", np.empty(0, meeting))
    try:
        return wrap(ufunc(input._array, other._array, dtype=meeting))
    except ValueError:
        raise broadcast_error(input._array.shape, other._array.shape) from None


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Give the greatest common divisor of integers, entry by entry.

    Example:
        >>> import minigrad as torch
        >>> torch.gcd(torch.tensor([12, 18]), torch.tensor([8, 12]))
        tensor([4, 6])
    """
    return _whole("gcd", np.gcd, input, other)


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Give the least common multiple of integers, entry by entry.

    Example:
        >>> import minigrad as torch
        >>> torch.lcm(torch.tensor([4, 6]), torch.tensor([6, 8]))
        tensor([12, 24])
    """
    return _whole("lcm", np.lcm, input, other)


def frexp(input: Tensor) -> Any:
    """Take numbers apart into m times 2**e, with a mantissa m from 0.5 to 1 and a whole number e.

    Raises:
        RuntimeError: If these are no floating-point numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.frexp(torch.tensor([1.5, 8.0]))
        torch.return_types.frexp(
        mantissa=tensor([0.7500, 0.5000]),
        exponent=tensor([1, 4], dtype=torch.int32))
    """
    check_tensor("frexp", input)
    array = input._array
    if array.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    exponent = np.where(np.isfinite(array), np.frexp(array)[1], 0).astype(np.int32)
    power = np.ldexp(np.ones_like(array), exponent)
    return _frexp(representation.mantissa(input, power), wrap(exponent))


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """Give for each entry the next number that the dtype has, toward another tensor's entry.

    Example:
        >>> import minigrad as torch
        >>> torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)).item() - 1 == 2**-23
        True
    """
    check_tensor("nextafter", input)
    check_tensor("nextafter", other, "other", 2)
    meeting = dtypes.result_type(input._array, other._array)
    if meeting.kind != "f":
        raise not_implemented("nextafter_cpu", np.empty(0, meeting))
    return representation.nextafter(input, other)  # type: ignore[no-any-return]


def is_neg(input: Tensor) -> bool:
    """Tell whether a tensor is negated when it is read: never here."""
    check_tensor("is_neg", input)
    return False


methods: dict[str, Any] = {
    "frexp": frexp,
    "gcd": gcd,
    "gcd_": in_place(gcd),
    "lcm": lcm,
    "lcm_": in_place(lcm),
    "nextafter": nextafter,
    "nextafter_": in_place(nextafter),
}
ufuncs: dict[Any, Any] = {np.nextafter: nextafter, np.gcd: gcd, np.lcm: lcm}
gcd, lcm, nextafter = map(with_out, (gcd, lcm, nextafter))
