"""Call rounding, remainders and rounded quotients, as functions, methods and operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import rounding
from minigrad.ops.calling import arithmetic
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.calling.entrywise import (
    as_tensor,
    in_place_without_derivative,
    named,
    not_implemented,
    of_one,
    with_in_place,
    without_derivative,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place
from minigrad.ops.meeting import meet_types, retry, scalar
from minigrad.tensor import Tensor, wrap

__all__ = [
    "ceil",
    "fix",
    "floor",
    "floor_divide",
    "fmod",
    "frac",
    "nan_to_num",
    "remainder",
    "round",
    "trunc",
]

_NUMBERS = (int, float, complex, np.generic)


def _whole(operation: Any) -> Any:
    return of_one(operation, refuses="b", kernel=f"{operation.__name__}_vml_cpu")


_floor, _ceil, _trunc = map(_whole, (rounding.floor, rounding.ceil, rounding.trunc))
_frac = of_one(rounding.frac, refuses="iub", kernel="frac_cpu")


def _round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round each entry to the nearest whole number, or to so many decimals; halves to even.

    Example:
        >>> import minigrad as torch
        >>> torch.round(torch.tensor([0.5, 1.5, 2.26])), torch.round(torch.tensor(2.26), decimals=1)
        (tensor([0., 2., 2.]), tensor(2.3000))
    """
    check_tensor("round", input)
    kind = input._array.dtype.kind
    if kind == "b" or (decimals and kind in "iu"):
        raise not_implemented("round_cpu" if decimals else "round_vml_cpu", input._array)
    if decimals == 0:
        return rounding.round(input)  # type: ignore[no-any-return]
    return rounding.round_decimals(input, decimals)  # type: ignore[no-any-return]


def _nan_to_num(
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
    check_tensor("nan_to_num", input)
    kind = input._array.dtype.kind
    limit = float(np.finfo(input._array.dtype).max) if kind in "fc" else 0.0
    return rounding.nan_to_num(  # type: ignore[no-any-return]
        input,
        0.0 if nan is None else nan,
        limit if posinf is None else posinf,
        -limit if neginf is None else neginf,
    )


# ---------------------------------------------------------------------- remainders


def _refuse_booleans(kernel: str, *tensors: Tensor) -> None:
    if all(tensor._array.dtype.kind == "b" for tensor in tensors):
        raise not_implemented(kernel, tensors[0]._array)


def _meeting_number(input: Tensor, other: Any) -> Tensor:
    """Give a tensor in the type in which it meets a number."""
    return cast(input, dtypes.scalar_dtype(other, input._array.dtype))


def _remainders(operation: Any, by_number: Any, of_number: bool) -> Any:
    """Make a function of two tensors, or of a tensor and a number."""
    name = operation.__name__

    def function(input: Any, other: Any) -> Any:
        if isinstance(other, np.generic):
            other = other.item()
        if isinstance(input, Tensor):
            if isinstance(other, Tensor):
                _refuse_booleans(f"{name}_cpu", input, other)
                return operation(input, other)
            if isinstance(other, (int, float)):
                input = _meeting_number(input, other)
                if input._array.dtype.kind == "b":
                    raise not_implemented(f"{name}_cpu", input._array)
                return by_number(input, other)
            if hasattr(other, "free_symbols") or isinstance(other, np.ndarray):
                return operation(input, other)
        elif of_number and isinstance(other, Tensor) and isinstance(input, _NUMBERS):
            number = scalar(input, other._array.dtype)
            _refuse_booleans(f"{name}_cpu", number, other)
            result = wrap(operation(number.detach(), other.detach())._array)
            return without_derivative(name, result, other)
        given = ", ".join(type(value).__name__ for value in (input, other))
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({given}), but expected "
            "two tensors, or a tensor and a number"
        )

    return named(function, operation)


_remainder = _remainders(rounding.remainder, rounding.remainder_number, of_number=True)
_fmod = _remainders(rounding.fmod, rounding.fmod_number, of_number=False)

# ---------------------------------------------------------------------- rounded quotients


def div_rounded(input: Any, other: Any, rounding_mode: Any) -> Tensor:
    """Divide, and round the quotient down ("floor") or toward 0 ("trunc").

    Raises:
        RuntimeError: If integers are divided by 0, or there is no such way of rounding.
    """
    if rounding_mode not in ("floor", "trunc"):
        if not isinstance(rounding_mode, str):
            raise TypeError(
                "div() received an invalid combination of arguments - rounding_mode must be a "
                f"str, not {type(rounding_mode).__name__}"
            )
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    operation = rounding.div_floor if rounding_mode == "floor" else rounding.div_trunc
    tensors = [value for value in (input, other) if isinstance(value, Tensor)]
    if len(tensors) == 2 or isinstance(other, bool):
        kinds = {"b" if isinstance(v, bool) else v._array.dtype.kind for v in (input, other)}
        if kinds == {"b"}:
            raise not_implemented(f"div_{rounding_mode}_cpu", tensors[0]._array)
    return arithmetic.checked("div", operation, input, other)


def _floor_of(a: Tensor, b: Tensor) -> Tensor:
    if a._array.dtype != b._array.dtype:
        return meet_types(_floor_of, a, b)
    if a._array.dtype.kind == "b":
        raise not_implemented("div_floor_cpu", a._array)
    try:
        return wrap(rounding.floored(a._array, b._array))
    except ValueError as error:
        return wrap(retry(rounding.floored, error, a._array, b._array))


def _floor_divide(input: Any, other: Any) -> Tensor:
    """Divide, and round down: `x // y`. There is no derivative.

    Example:
        >>> import minigrad as torch
        >>> torch.floor_divide(torch.tensor([7, -7]), 2)
        tensor([ 3, -4])
    """
    operands = [
        value
        if isinstance(value, Tensor)
        else wrap(value)
        if isinstance(value, np.ndarray)
        else value
        for value in (input, other)
    ]
    tensors = [value for value in operands if isinstance(value, Tensor)]
    numbers = [value for value in operands if isinstance(value, _NUMBERS)]
    if not tensors or len(tensors) + len(numbers) < 2:
        given = ", ".join(type(value).__name__ for value in (input, other))
        raise TypeError(
            f"floor_divide() received an invalid combination of arguments - got ({given}), but "
            "expected two tensors, or a tensor and a number"
        )
    plain = [
        wrap(value._array) if isinstance(value, Tensor) else scalar(value, tensors[0]._array.dtype)
        for value in operands
    ]
    return without_derivative("floor_divide", wrap(_floor_of(*plain)._array), *tensors)


for _function in (_round, _nan_to_num, _floor_divide):
    _function.__name__ = _function.__name__[1:]

floor, ceil = with_out(_floor), with_out(_ceil)
trunc, frac = with_out(_trunc), with_out(_frac)
fix = trunc
round, nan_to_num = with_out(_round), with_out(_nan_to_num)
floor_divide = with_out(_floor_divide)
remainder, fmod = with_out(_remainder), with_out(_fmod)


# ---------------------------------------------------------------------- methods, operators


def _operator(function: Any, reversed: bool = False) -> Any:
    """Make an operator: what it does not know it leaves to the other operand."""

    def operator(tensor: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, np.ndarray, *_NUMBERS)) and not hasattr(
            other, "free_symbols"
        ):
            return NotImplemented
        if isinstance(other, np.ndarray):
            other = wrap(other)
        return function(other, tensor) if reversed else function(tensor, other)

    return named(operator, function)


_div_in_place = in_place(arithmetic.div, checks_operand=True)
_rounded_in_place = in_place(div_rounded)


def div_(tensor: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide in place; see `div`."""
    if rounding_mode is None:
        return _div_in_place(tensor, other)
    return _rounded_in_place(tensor, other, rounding_mode)


methods: dict[str, Any] = {
    **with_in_place((_floor, _ceil, _trunc, _frac, _round, _nan_to_num)),
    **with_in_place((_floor_divide, _remainder, _fmod)),
    "floor_divide_": in_place_without_derivative(_floor_divide),
    "fix": _trunc,
    "div_": div_,
    "divide_": div_,
    "__mod__": _operator(_remainder),
    "__rmod__": _operator(_remainder, reversed=True),
    "__floordiv__": _operator(_floor_divide),
    "__rfloordiv__": _operator(_floor_divide, reversed=True),
}
methods["fix_"] = methods["trunc_"]
methods["__imod__"] = _operator(methods["remainder_"])
methods["__ifloordiv__"] = _operator(methods["floor_divide_"])

ufuncs: dict[Any, Any] = {
    np.floor: _floor,
    np.ceil: _ceil,
    np.trunc: _trunc,
    np.rint: _round,
    np.remainder: lambda a, b: _remainder(as_tensor(a), b),
    np.fmod: lambda a, b: _fmod(as_tensor(a), b),
    np.floor_divide: lambda a, b: _floor_divide(as_tensor(a), b),
}

functions: dict[Any, Any] = {
    np.fix: lambda x, out=None: _trunc(x),
    np.round: lambda a, decimals=0, out=None: _round(a, decimals=decimals),
    np.nan_to_num: lambda x, copy=True, nan=0.0, posinf=None, neginf=None: _nan_to_num(
        x, nan, posinf, neginf
    ),
}
