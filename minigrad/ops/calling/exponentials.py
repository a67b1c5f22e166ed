"""Call powers of 2, logarithms and sums of powers in logarithms, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import exponentials
from minigrad.ops.calling import arithmetic
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.calling.entrywise import (
    as_floats,
    named,
    of_floats,
    of_two,
    on_tensors,
    with_in_place,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place
from minigrad.tensor import Tensor

__all__ = [
    "exp2",
    "float_power",
    "ldexp",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logit",
    "xlogy",
]

_exp2, _log2, _log10 = map(of_floats, (exponentials.exp2, exponentials.log2, exponentials.log10))
_logaddexp = of_two(exponentials.logaddexp, refuses="iub", kernel="logaddexp_cpu")
_logaddexp2 = of_two(exponentials.logaddexp2, refuses="iub", kernel="logaddexp2_cpu")


def by_either(name: str, operation: Any, by_number: Any, of_number: Any) -> Any:
    """Make a function of two tensors, or of a tensor and a number on either side."""

    def function(input: Any, other: Any) -> Tensor:
        tensors = [value for value in (input, other) if isinstance(value, Tensor)]
        numbers = [value for value in (input, other) if isinstance(value, (int, float))]
        if not tensors or len(tensors) + len(numbers) < 2:
            given = ", ".join(type(value).__name__ for value in (input, other))
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({given}), but "
                "expected two tensors, or a tensor and a number"
            )
        if len(tensors) == 2:
            if dtypes.result_type(input._array, other._array).kind in "iub":
                input, other = as_floats(input), as_floats(other)
            return operation(input, other)  # type: ignore[no-any-return]
        if isinstance(input, Tensor):
            return by_number(as_floats(input), other)  # type: ignore[no-any-return]
        return of_number(input, as_floats(other))  # type: ignore[no-any-return]

    return named(function, operation)


_xlogy = by_either(
    "xlogy", exponentials.xlogy, exponentials.xlogy_number, exponentials.number_xlogy
)


def _logit(input: Tensor, eps: float | None = None) -> Tensor:
    r"""Give the inverse of the logistic function, :math:`\ln(x / (1 - x))`, of each entry.

    Args:
        input: Probabilities.
        eps: Brings the entries between `eps` and 1 - `eps` first, if given.

    Example:
        >>> import minigrad as torch
        >>> torch.logit(torch.tensor([0.5, 0.9]))
        tensor([0.0000, 2.1972])
    """
    check_tensor("logit", input)
    return exponentials.logit(as_floats(input), eps)  # type: ignore[no-any-return]


def _ldexp(input: Tensor, other: Tensor) -> Tensor:
    r"""Multiply by powers of 2: :math:`x\, 2^n`.

    Example:
        >>> import minigrad as torch
        >>> torch.ldexp(torch.tensor([1.5]), torch.tensor([3]))
        tensor([12.])
    """
    check_tensor("ldexp", input)
    check_tensor("ldexp", other, "other", 2)
    wanted = dtypes.result_type(input._array, other._array)
    if wanted.kind in "iub":
        wanted = dtypes.get_default_dtype().numpy
    other = other if other._array.dtype.kind in "iub" else cast(other, wanted)
    return exponentials.ldexp(cast(input, wanted), other)  # type: ignore[no-any-return]


def _float_power(input: Any, exponent: Any) -> Tensor:
    """Raise to a power in float64, whatever the types are.

    Example:
        >>> import minigrad as torch
        >>> torch.float_power(torch.tensor([2, 3]), 2)
        tensor([4., 9.], dtype=torch.float64)
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError(
            "float_power() received an invalid combination of arguments - got "
            f"({type(input).__name__}, {type(exponent).__name__}), but expected a tensor"
        )
    return arithmetic.pow(_double(input), _double(exponent))  # type: ignore[no-any-return]


def _double(value: Any) -> Any:
    if isinstance(value, Tensor):
        return cast(value, np.dtype("float64")) if value._array.dtype.kind in "iubf" else value
    return float(value) if isinstance(value, (int, float)) else value


_in_place_power = in_place(_float_power)


def float_power_(tensor: Tensor, exponent: Any) -> Tensor:
    """Raise to a power, in place: the tensor must be of float64.

    Raises:
        RuntimeError: If it is of another type.
    """
    if tensor._array.dtype != np.float64:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {dtypes.scalar_name(tensor._array)} but the "
            "operation's result requires dtype Double"
        )
    return _in_place_power(tensor, exponent)


for _function in (_logit, _ldexp, _float_power):
    _function.__name__ = _function.__name__[1:]

exp2, log2, log10, logit = map(with_out, (_exp2, _log2, _log10, _logit))
logaddexp, logaddexp2, xlogy = map(with_out, (_logaddexp, _logaddexp2, _xlogy))
ldexp, float_power = map(with_out, (_ldexp, _float_power))

methods: dict[str, Any] = {
    **with_in_place((_exp2, _log2, _log10, _logit, _xlogy, _ldexp)),
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
    "float_power": _float_power,
    "float_power_": float_power_,
}

ufuncs: dict[Any, Any] = {
    np.exp2: _exp2,
    np.log2: _log2,
    np.log10: _log10,
    np.logaddexp: on_tensors(_logaddexp),
    np.logaddexp2: on_tensors(_logaddexp2),
    np.ldexp: on_tensors(_ldexp),
    np.float_power: on_tensors(_float_power),
}
