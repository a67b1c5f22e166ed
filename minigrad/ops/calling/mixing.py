"""Call interpolation, sums of products, fmax, copysign and heaviside, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import mixing
from minigrad.ops.calling import arithmetic, choosing
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.calling.entrywise import (
    as_floats,
    as_tensor,
    in_place_without_derivative,
    named,
    not_implemented,
    of_two,
    on_tensors,
    with_in_place,
    without_derivative,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.meeting import no_booleans, retry, scalar
from minigrad.tensor import Tensor, wrap

__all__ = [
    "addcdiv",
    "addcmul",
    "copysign",
    "fmax",
    "fmin",
    "heaviside",
    "lerp",
    "rsub",
]

_fmax, _fmin = map(of_two, (mixing.fmax, mixing.fmin))


def _lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
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
    number = isinstance(weight, (int, float, np.generic))
    if not (isinstance(input, Tensor) and isinstance(end, Tensor)) or not (
        number or isinstance(weight, Tensor)
    ):
        given = ", ".join(type(value).__name__ for value in (input, end, weight))
        raise TypeError(
            f"lerp() received an invalid combination of arguments - got ({given}), but expected "
            "two tensors and a tensor or a number"
        )
    dtype = input._array.dtype
    _check_type("end", end, dtype)
    if not number and weight._array.ndim:
        _check_type("weight", weight, dtype)
    if dtype.kind in "iub":
        raise not_implemented(
            "lerp_kernel_scalar" if number else "lerp_kernel_tensor", input._array
        )
    if number:
        return mixing.lerp_number(input, end, weight)  # type: ignore[no-any-return]
    return mixing.lerp(input, end, cast(weight, dtype))  # type: ignore[no-any-return]


def _check_type(name: str, tensor: Tensor, dtype: np.dtype[Any]) -> None:
    if tensor._array.dtype != dtype:
        wanted, given = dtypes.c_name(np.empty(0, dtype)), dtypes.c_name(tensor._array)
        raise RuntimeError(f"expected dtype {wanted} for `{name}` but got dtype {given}")


def _with_product(operation: Any, divides: bool) -> Any:
    name = operation.__name__

    def function(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
        check_tensor(name, input)
        check_tensor(name, tensor1, "tensor1", 2)
        check_tensor(name, tensor2, "tensor2", 3)
        tensors = (input, tensor1, tensor2)
        arrays = [tensor._array for tensor in tensors]
        if divides and arrays[1].dtype.kind in "iub" and arrays[2].dtype.kind in "iub":
            raise RuntimeError(_NO_INTEGERS)
        wanted = meeting_of(*arrays)
        if wanted.kind == "b":
            raise not_implemented("addcmul_cpu_out", input._array)
        value = value.item() if isinstance(value, (Tensor, np.generic)) else value
        if wanted.kind in "iu":
            value = int(value)
        return operation(*(cast(tensor, wanted) for tensor in tensors), value)  # type: ignore[no-any-return]

    return named(function, operation)


def meeting_of(*arrays: Any) -> np.dtype[Any]:
    """Give the type in which several arrays meet: one without dimensions counts by its kind."""
    first, second, third = arrays
    pair = dtypes.result_type(first, second)
    shape = (1,) if first.ndim or second.ndim else ()
    return dtypes.result_type(np.empty(shape, pair), third)


_NO_INTEGERS = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
    "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
    "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
    "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
    "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
    "dtypes."
)

_addcmul = _with_product(mixing.addcmul, divides=False)
_addcdiv = _with_product(mixing.addcdiv, divides=True)


def _copysign(input: Tensor, other: Any) -> Tensor:
    """Give the size of each entry with the sign of another tensor's, or of a number.

    Example:
        >>> import minigrad as torch
        >>> torch.copysign(torch.tensor([1.0, -2.0]), torch.tensor([-3.0, 0.0]))
        tensor([-1.,  2.])
    """
    check_tensor("copysign", input)
    if isinstance(other, (int, float)):
        return mixing.copysign_number(as_floats(input), other)  # type: ignore[no-any-return]
    check_tensor("copysign", other, "other", 2)
    if dtypes.result_type(input._array, other._array).kind in "iub":
        input, other = as_floats(input), as_floats(other)
    return mixing.copysign(input, other)  # type: ignore[no-any-return]


def _heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Give 0 for negative entries, 1 for positive ones, and `values` for 0. It has no derivative.

    Raises:
        RuntimeError: If the tensors are of different types.

    Example:
        >>> import minigrad as torch
        >>> torch.heaviside(torch.tensor([-1.5, 0.0, 2.0]), torch.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    check_tensor("heaviside", input)
    check_tensor("heaviside", values, "values", 2)
    a, b = input._array, values._array
    if a.dtype != b.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")

    def step(a: Any, b: Any) -> Any:
        return np.where(a == 0, b, (a > 0).astype(a.dtype))

    try:
        result = step(a, b)
    except ValueError as error:
        result = retry(step, error, a, b)
    return without_derivative("heaviside", wrap(result), input, values)


def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    r"""Subtract the other way round: :math:`b - \alpha a`.

    Example:
        >>> import minigrad as torch
        >>> torch.rsub(torch.tensor([1.0, 2.0]), 10)
        tensor([9., 8.])
    """
    check_tensor("rsub", input)
    kinds = input._array.dtype.kind, other._array.dtype.kind if isinstance(other, Tensor) else ""
    if "b" in kinds:
        raise no_booleans(TypeError(), input._array, np.asarray(getattr(other, "_array", other)))
    if not isinstance(other, Tensor) and alpha == 1:
        return arithmetic.checked("rsub", arithmetic.rsub, input, other)
    if not isinstance(other, Tensor):
        other = scalar(other, input._array.dtype)
    return arithmetic.with_alpha(_subtracted, other, input, alpha)


def _subtracted(other: Tensor, input: Tensor, alpha: Any) -> Tensor:
    return mixing.rsub_scaled(input, other, alpha)  # type: ignore[no-any-return]


def _method_where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Give the entries where a condition holds, and those of another tensor elsewhere.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, -2.0])
        >>> x.where(x > 0, 0.0)
        tensor([1., 0.])
    """
    return choosing.where(condition, self, other)


for _function in (_lerp, _copysign, _heaviside):
    _function.__name__ = _function.__name__[1:]

fmax, fmin, lerp, addcmul, addcdiv = map(with_out, (_fmax, _fmin, _lerp, _addcmul, _addcdiv))
copysign, heaviside = map(with_out, (_copysign, _heaviside))

methods: dict[str, Any] = {
    **with_in_place((_lerp, _addcmul, _addcdiv, _copysign, _heaviside)),
    "heaviside_": in_place_without_derivative(_heaviside),
    "fmax": _fmax,
    "fmin": _fmin,
    "where": _method_where,
}

ufuncs: dict[Any, Any] = {
    np.fmax: on_tensors(_fmax),
    np.fmin: on_tensors(_fmin),
    np.copysign: lambda a, b: _copysign(as_tensor(a), b if isinstance(b, float) else as_tensor(b)),
    np.heaviside: lambda a, b: _heaviside(
        as_tensor(a), cast(as_tensor(b), as_tensor(a)._array.dtype)
    ),
}
