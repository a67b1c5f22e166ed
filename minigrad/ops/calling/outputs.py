"""Call the usual operations as functions that take `out`: `minigrad.exp(x, out=place)`.

The methods and operators do without it, and so stay as quick as they are; these functions cost one
more call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.ops import comparison
from minigrad.ops.calling import arithmetic, choosing
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor

__all__ = [
    "abs",
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "clamp",
    "cos",
    "div",
    "eq",
    "exp",
    "expm1",
    "gather",
    "ge",
    "gt",
    "le",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
    "neg",
    "pow",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "sub",
    "tanh",
]


def _alike(function: Any, original: Any) -> Any:
    function.__name__ = function.__qualname__ = original.__name__
    function.__doc__ = original.__doc__
    return function


def _of_one(function: Callable[..., Any]) -> Any:
    writing = with_out(function)

    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if out is None:
            return function(input)  # type: ignore[no-any-return]
        return writing(input, out=out)  # type: ignore[no-any-return]

    return _alike(call, function)


def _of_two(function: Callable[..., Any], second: str = "other", tensor_first: bool = False) -> Any:
    """Let a function of two take `out`, and refuse what only an operator may leave undecided."""

    def checked(input: Any, other: Any) -> Tensor:
        known = isinstance(input, Tensor) or not tensor_first
        result = function(input, other) if known else NotImplemented
        if result is NotImplemented:
            raise TypeError(
                f"{function.__name__}() received an invalid combination of arguments - got "
                f"({type(input).__name__}, {type(other).__name__}), but expected a tensor, and "
                "a tensor or a number"
            )
        return result  # type: ignore[no-any-return]

    writing = with_out(_alike(checked, function))

    def call(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        if out is None:
            if not tensor_first:  # without one more call
                result = function(input, other)
                if result is not NotImplemented:
                    return result  # type: ignore[no-any-return]
            return checked(input, other)
        return writing(input, other, out=out)  # type: ignore[no-any-return]

    def pow_call(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
        return call(input, exponent, out=out)

    return _alike(pow_call if second == "exponent" else call, function)


def _with_alpha(function: Callable[..., Any]) -> Any:
    writing = with_out(function)

    def call(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return writing(input, other, alpha=alpha, out=out)  # type: ignore[no-any-return]
        if alpha == 1:
            return function(input, other)  # type: ignore[no-any-return]
        return function(input, other, alpha=alpha)  # type: ignore[no-any-return]

    return _alike(call, function)


abs, neg, sign, square = map(
    _of_one, (arithmetic.abs, arithmetic.neg, arithmetic.sign, arithmetic.square)
)
exp, expm1, log, log1p = map(
    _of_one, (arithmetic.exp, arithmetic.expm1, arithmetic.log, arithmetic.log1p)
)
sqrt, rsqrt, reciprocal = map(_of_one, (arithmetic.sqrt, arithmetic.rsqrt, arithmetic.reciprocal))
sin, cos, tanh, sigmoid = map(
    _of_one, (arithmetic.sin, arithmetic.cos, arithmetic.tanh, arithmetic.sigmoid)
)
logical_not = _of_one(comparison.logical_not)

add, sub = map(_with_alpha, (arithmetic.add, arithmetic.sub))
mul, maximum, minimum = map(_of_two, (arithmetic.mul, choosing.maximum, choosing.minimum))
pow = _of_two(arithmetic.pow, "exponent")
eq, ne, lt, le, gt, ge = (
    _of_two(compare, tensor_first=True)
    for compare in (
        comparison.eq,
        comparison.ne,
        comparison.lt,
        comparison.le,
        comparison.gt,
        comparison.ge,
    )
)
logical_and, logical_or, logical_xor = map(
    _of_two, (comparison.logical_and, comparison.logical_or, comparison.logical_xor)
)
bitwise_and, bitwise_or, bitwise_xor = map(
    _of_two, (comparison.bitwise_and, comparison.bitwise_or, comparison.bitwise_xor)
)
div, gather = with_out(arithmetic.div), with_out(choosing.gather, conversion="none")
clamp = with_out(choosing.clamp, conversion="limits")
