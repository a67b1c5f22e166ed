"""Call comparisons under their long names and in place, tests of numbers, and shifts of bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.modes import grad_mode, no_grad
from minigrad.ops import comparison, written_comparisons
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.entrywise import as_tensor, named, not_implemented, on_tensors
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place, write
from minigrad.tensor import Tensor, wrap

__all__ = [
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_right_shift",
    "greater",
    "greater_equal",
    "isneginf",
    "isposinf",
    "isreal",
    "less",
    "less_equal",
    "not_equal",
    "positive",
    "signbit",
]

# ---------------------------------------------------------------------- comparisons


def _checked(compare: Callable[..., Any]) -> Callable[..., Tensor]:
    """Let a comparison refuse what can't be compared, as its operator does not."""
    name = compare.__name__

    def function(input: Tensor, other: Any) -> Tensor:
        result = compare(input, other) if isinstance(input, Tensor) else NotImplemented
        if result is NotImplemented:
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got "
                f"({type(input).__name__}, {type(other).__name__}), but expected a tensor, and "
                "a tensor or a number"
            )
        return result  # type: ignore[no-any-return]

    return named(function, compare)


eq, ne, lt, le, gt, ge = map(
    _checked,
    (comparison.eq, comparison.ne, comparison.lt, comparison.le, comparison.gt, comparison.ge),
)
_LONG = {
    "not_equal": ne,
    "less": lt,
    "less_equal": le,
    "greater": gt,
    "greater_equal": ge,
}
not_equal, less, less_equal, greater, greater_equal = map(with_out, _LONG.values())


def _compare_in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make the method that writes a comparison's truth values into the tensor, as 1 and 0."""
    name = function.__name__
    recorded = written_comparisons.with_tensor[name], written_comparisons.with_number[name]

    def method(tensor: Tensor, other: Any) -> Tensor:
        if other is None:
            return function(tensor, other)  # which says what is wrong
        if not grad_mode.enabled or tensor._array.dtype.kind != "f":
            return write(function, tensor, other)
        return write(recorded[not isinstance(other, Tensor)], tensor, other)

    return named(method, function, f"{name}_")


# ---------------------------------------------------------------------- tests


def _test(name: str, ufunc: Any, meaning: str) -> Callable[..., Tensor]:
    def function(input: Tensor) -> Tensor:
        check_tensor(name, input)
        return wrap(ufunc(input._array))

    function.__doc__ = f"Tell for each entry whether {meaning}."
    return named(function, function, name)


def _infinite(sign: int) -> Any:
    def function(array: Any) -> Any:
        if array.dtype.kind == "c":
            raise RuntimeError(
                f"{'isposinf' if sign > 0 else 'isneginf'} does not support complex inputs."
            )
        whole = array.dtype.kind in "iub"
        return np.zeros(array.shape, bool) if whole else array == sign * np.inf

    return function


_isposinf = _test("isposinf", _infinite(1), "it is infinite and positive")
_isneginf = _test("isneginf", _infinite(-1), "it is infinite and negative")
_isreal = _test("isreal", np.isreal, "it has no imaginary part")
_signbit = _test(
    "signbit", lambda a: np.signbit(a) if a.dtype.kind == "f" else a < 0, "it is negative, or -0"
)
isposinf, isneginf, signbit = map(with_out, (_isposinf, _isneginf, _signbit))
isreal = _isreal


def is_nonzero(input: Tensor) -> bool:
    """Tell whether the only entry is not 0.

    Example:
        >>> import minigrad as torch
        >>> torch.is_nonzero(torch.tensor([0.0]))
        False
    """
    check_tensor("is_nonzero", input)
    return bool(input)


def positive(input: Tensor) -> Tensor:
    """Give the tensor itself, as `+x` does.

    Raises:
        RuntimeError: If it is boolean.
    """
    check_tensor("positive", input)
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# ---------------------------------------------------------------------- bits


def _bitwise_not(input: Tensor) -> Tensor:
    """Invert each bit of integers, or each boolean.

    Example:
        >>> import minigrad as torch
        >>> torch.bitwise_not(torch.tensor([1, -2])), ~torch.tensor([True])
        (tensor([-2,  1]), tensor([False]))
    """
    check_tensor("bitwise_not", input)
    if input._array.dtype.kind in "fc":
        raise not_implemented("bitwise_not_cpu", input._array)
    return wrap(np.invert(input._array))


_bitwise_not.__name__ = "bitwise_not"


def _invert(input: Tensor) -> Tensor:
    """Invert each bit of integers, or each boolean: `~x`."""
    if input._array.dtype.kind in "fc":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return _bitwise_not(input)


_left = comparison.bitwise("bitwise_left_shift", np.left_shift, "shift left", "lshift", "bfc")
_right = comparison.bitwise("bitwise_right_shift", np.right_shift, "shift right", "rshift", "bfc")
_and, _or, _xor = comparison.bitwise_and, comparison.bitwise_or, comparison.bitwise_xor
bitwise_not, bitwise_left_shift, bitwise_right_shift = map(with_out, (_bitwise_not, _left, _right))


def _reversed(operation: Any) -> Any:
    return named(lambda self, other: operation(other, self), operation)


def _operator_in_place(operation: Any) -> Any:
    method = in_place(operation)

    def operator(tensor: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, np.ndarray, int, float, np.generic)):
            return NotImplemented
        return method(tensor, other)

    return named(operator, operation)


def _unrecorded(operation: Any) -> Any:
    """Make the method that writes truth values: what has no derivative never asks about it."""
    written = in_place(operation)

    def method(tensor: Tensor, *others: Any) -> Tensor:
        with no_grad():
            return written(tensor, *others)

    made: Any = named(method, operation, f"{operation.__name__}_")
    made.__wrapped__ = operation
    return made


methods: dict[str, Any] = {
    **{function.__name__: function for function in (eq, ne, lt, le, gt, ge)},
    **{f"{f.__name__}_": _compare_in_place(f) for f in (eq, ne, lt, le, gt, ge)},
    **_LONG,
    **{
        f"{operation.__name__}_": _unrecorded(operation)
        for operation in (
            comparison.logical_and, comparison.logical_or, comparison.logical_xor,
            comparison.logical_not, _and, _or, _xor, _bitwise_not, _left, _right,
        )
    },
    "bitwise_not": _bitwise_not,
    "bitwise_left_shift": _left,
    "bitwise_right_shift": _right,
    "isposinf": _isposinf,
    "isneginf": _isneginf,
    "isreal": _isreal,
    "signbit": _signbit,
    "is_nonzero": is_nonzero,
    "positive": positive,
    "__invert__": _invert,
    "__pos__": positive,
    "__lshift__": _left,
    "__rshift__": _right,
    "__rlshift__": _reversed(_left),
    "__rrshift__": _reversed(_right),
    "__rand__": _reversed(_and),
    "__ror__": _reversed(_or),
    "__rxor__": _reversed(_xor),
    "__iand__": _operator_in_place(_and),
    "__ior__": _operator_in_place(_or),
    "__ixor__": _operator_in_place(_xor),
    "__ilshift__": _operator_in_place(_left),
    "__irshift__": _operator_in_place(_right),
}  # fmt: skip
for _long, _function in _LONG.items():
    methods[f"{_long}_"] = methods[f"{_function.__name__}_"]

ufuncs: dict[Any, Any] = {
    np.positive: positive,
    np.signbit: _signbit,
    np.invert: _invert,
    np.left_shift: lambda a, b: _left(as_tensor(a), b),
    np.right_shift: lambda a, b: _right(as_tensor(a), b),
    np.bitwise_and: on_tensors(_and),
    np.bitwise_or: on_tensors(_or),
    np.bitwise_xor: on_tensors(_xor),
    np.logical_and: on_tensors(comparison.logical_and),
    np.logical_or: on_tensors(comparison.logical_or),
    np.logical_xor: on_tensors(comparison.logical_xor),
    np.logical_not: comparison.logical_not,
}

functions: dict[Any, Any] = {
    np.isposinf: lambda x, out=None: _isposinf(x),
    np.isneginf: lambda x, out=None: _isneginf(x),
    np.isreal: _isreal,
    np.isclose: lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: wrap(
        np.isclose(as_tensor(a)._array, as_tensor(b)._array, rtol, atol, equal_nan)
    ),
    np.allclose: lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: np.allclose(
        as_tensor(a)._array, as_tensor(b)._array, rtol, atol, equal_nan
    ),
    np.array_equal: lambda a1, a2, equal_nan=False: comparison.equal(as_tensor(a1), as_tensor(a2)),
}
