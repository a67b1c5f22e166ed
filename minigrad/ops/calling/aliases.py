"""Call the usual operations under their other names, and in place where PyTorch has that too."""

from __future__ import annotations

from typing import Any

from minigrad.ops import choices
from minigrad.ops.calling import arithmetic, choosing
from minigrad.ops.calling.entrywise import of_one
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place
from minigrad.ops.inplace import methods as in_place_methods

__all__ = ["absolute", "divide", "multiply", "negative", "sgn", "subtract", "true_divide"]

_sgn = of_one(choices.sgn)


def _true_divide(input: Any, other: Any) -> Any:
    """Divide two tensors, or a tensor by a number; integers give floating-point results."""
    return arithmetic.div(input, other)


_true_divide.__name__ = "true_divide"

absolute, negative, sgn = map(with_out, (arithmetic.abs, arithmetic.neg, _sgn))
subtract, multiply, divide = map(with_out, (arithmetic.sub, arithmetic.mul, arithmetic.div))
true_divide = with_out(_true_divide)

methods: dict[str, Any] = {
    "absolute": arithmetic.abs,
    "absolute_": in_place_methods["abs_"],
    "negative": arithmetic.neg,
    "negative_": in_place_methods["neg_"],
    "subtract": arithmetic.sub,
    "subtract_": in_place_methods["sub_"],
    "multiply": arithmetic.mul,
    "multiply_": in_place_methods["mul_"],
    "divide": arithmetic.div,
    "true_divide": _true_divide,
    "true_divide_": in_place(_true_divide),
    "clip": choosing.clamp,
    "sgn": _sgn,
    **{
        f"{function.__name__}_": in_place(function)
        for function in (
            _sgn,
            arithmetic.sign,
            arithmetic.square,
            arithmetic.rsqrt,
            arithmetic.log1p,
            arithmetic.expm1,
        )
    },
}
