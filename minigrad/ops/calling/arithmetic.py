"""Call the operations that treat each entry by itself, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.complex_numbers import refuse_complex
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import NO_EDGE
from minigrad.autograd.type_name import type_name
from minigrad.ops import activations, choices, elementwise
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.later import enter
from minigrad.ops.meeting import meet_types, no_booleans, rules_mode, scalar
from minigrad.tensor import Tensor, wrap

__all__ = [
    "abs",
    "add",
    "cos",
    "div",
    "exp",
    "expm1",
    "log",
    "log1p",
    "mul",
    "neg",
    "pow",
    "reciprocal",
    "relu",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "sub",
    "tanh",
]


def _alpha(name: str, plain: Any, scaled: Any) -> Any:
    def operation(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        if alpha == 1:
            return checked(name, plain, input, other)
        if other is None:
            raise TypeError(f"{name}(): argument 'other' (position 1) must be Tensor, not NoneType")
        if not isinstance(other, Tensor):
            other = scalar(other, input._array.dtype)
        return with_alpha(scaled, input, other, alpha)

    operation.__name__ = name
    operation.__doc__ = plain.__doc__
    return operation


def with_alpha(scaled: Any, input: Tensor, other: Tensor, alpha: Any) -> Tensor:
    """Call an operation that takes the second tensor times a number.

    Raises:
        RuntimeError: If the number is of a higher kind than the tensors, or one is boolean in a
            difference.
    """
    a, b = input._array, other._array
    if scaled is elementwise.sub_scaled and "b" in (a.dtype.kind, b.dtype.kind):
        raise no_booleans(TypeError(), a, b)
    meeting = dtypes.result_type(a, b)
    if meeting.kind in "iub" and isinstance(alpha, float):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if meeting.kind != "b" and isinstance(alpha, bool):
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if meeting.kind in "biuf" and isinstance(alpha, (complex, np.complexfloating)):
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    if meeting.kind == "b":
        alpha = bool(alpha)
    if a.dtype == b.dtype:
        return scaled(input, other, alpha)  # type: ignore[no-any-return]
    return meet_types(lambda a, b: scaled(a, b, alpha), input, other)


def checked(name: str, operation: Any, *operands: Any) -> Tensor:
    """Call an operation, and raise if one operand is nothing that it can compute with."""
    result = operation(*operands)
    if result is NotImplemented:
        position, wrong = next(
            (i, o)
            for i, o in reversed(list(enumerate(operands)))
            if not isinstance(o, (Tensor, int, float, complex))
        )
        argument = ("input", "other")[position]
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position + 1}) must be Tensor, not "
            f"{type_name(wrong)}"
        )
    return result  # type: ignore[no-any-return]


add = _alpha("add", elementwise.add, elementwise.add_scaled)
sub = _alpha("sub", elementwise.sub, elementwise.sub_scaled)


def mul(input: Tensor, other: Any) -> Tensor:
    """Multiply two tensors, or a tensor and a number."""
    return checked("mul", elementwise.mul, input, other)


def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide two tensors, or a tensor by a number; integers give floating-point results.

    Args:
        input: What is divided.
        other: The divisor.
        rounding_mode: How to round the quotient: "floor" (down), "trunc" (toward 0), or not at all.

    Raises:
        RuntimeError: If there is no such way of rounding, or integers are rounded that were divided
            by 0.

    Example:
        >>> import minigrad as torch
        >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="trunc")
        tensor([ 3, -3])
    """
    if rounding_mode is not None:
        return enter("rounding").div_rounded(input, other, rounding_mode)  # type: ignore[no-any-return]
    return checked("div", elementwise.div, input, other)


def rsub(self: Tensor, other: Any) -> Any:
    """Subtract a tensor from a number: `2 - x`."""
    if isinstance(other, Tensor):
        return elementwise.sub(other, self)
    if not isinstance(other, (int, float, complex, np.number)) and not hasattr(
        other, "free_symbols"
    ):
        return (
            elementwise.sub(wrap(other), self) if isinstance(other, np.ndarray) else NotImplemented
        )
    if rules_mode.running:  # PyTorch's own rules make a tensor of the number
        return elementwise.sub(scalar(other, self._array.dtype), self)
    wanted = dtypes.scalar_dtype(other, self._array.dtype)
    if self._array.dtype.kind == "b" or isinstance(other, bool):
        raise no_booleans(TypeError(), self._array, np.asarray(other))
    return elementwise.rsub_number(
        self if wanted == self._array.dtype else cast(self, wanted), other
    )


def rdiv(self: Tensor, other: Any) -> Any:
    """Divide a number by a tensor: `1 / x`, which PyTorch computes as a reciprocal times it."""
    if isinstance(other, np.ndarray):
        return elementwise.div(wrap(other), self)
    if self._array.dtype.kind in "iub":
        self = cast(self, dtypes.get_default_dtype().numpy)
    return elementwise.mul(elementwise.reciprocal(self), other)


_NUMBERS = frozenset((int, float))


def pow(input: Any, exponent: Any) -> Any:
    """Raise to a power: a tensor to a number or a tensor, or a number to a tensor."""
    if (
        exponent.__class__ in _NUMBERS
        and isinstance(input, Tensor)
        and (input._edge is not NO_EDGE or input._array.dtype.kind not in "iub")
    ):
        return elementwise.pow_number(input, exponent)
    if not isinstance(input, Tensor):
        base = input.item() if isinstance(input, np.generic) else input
        if not isinstance(base, (int, float, complex)):
            return NotImplemented
        wanted = dtypes.scalar_dtype(base, exponent._array.dtype)
        if wanted != exponent._array.dtype:
            exponent = cast(exponent, wanted)
        return elementwise.pow_of_number(base, exponent)
    if isinstance(exponent, Tensor):
        if input._array.dtype.kind == "b" and exponent._array.dtype.kind == "b":
            raise NotImplementedError("\"pow\" not implemented for 'Bool'")
        return elementwise.pow_tensor(input, exponent)
    if isinstance(exponent, np.generic):
        exponent = exponent.item()
    if isinstance(exponent, (int, float, complex)):
        kind = input._array.dtype.kind
        if isinstance(exponent, complex) and input.requires_grad and grad_mode.enabled:
            refuse_complex(np.dtype(complex))
        if kind in "iub":
            if kind == "b" and isinstance(exponent, bool):
                return elementwise.pow_number(cast(input, np.dtype("int64")), exponent).bool()
            if kind == "b" and isinstance(exponent, int):
                input = cast(input, np.dtype("int64"))
            if isinstance(exponent, float):
                input = cast(input, dtypes.get_default_dtype().numpy)
            elif isinstance(exponent, int) and exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed.")
        return elementwise.pow_number(input, exponent)
    if hasattr(exponent, "free_symbols"):
        return elementwise.pow_number(input, exponent)
    return NotImplemented


def square(input: Tensor) -> Tensor:
    """Multiply each entry by itself."""
    check_tensor("square", input)
    if input._array.dtype.kind == "b":
        input = cast(input, np.dtype("int64"))
    return elementwise.pow_number(input, 2)  # type: ignore[no-any-return]


def _of_tensor(operation: Any) -> Any:
    """Let an operation refuse what is no tensor."""

    def function(input: Tensor) -> Tensor:
        check_tensor(operation.__name__, input)
        return operation(input)  # type: ignore[no-any-return]

    function.__name__ = operation.__name__
    function.__doc__ = operation.__doc__
    return function


def _floating(operation: Any) -> Any:
    """Let an operation whose results are no integers take integers."""

    def function(input: Tensor) -> Tensor:
        check_tensor(operation.__name__, input)
        if input._array.dtype.kind in "iub":
            input = cast(input, dtypes.get_default_dtype().numpy)
        return operation(input)  # type: ignore[no-any-return]

    function.__name__ = operation.__name__
    function.__doc__ = operation.__doc__
    return function


exp, log, log1p, expm1 = map(
    _floating, (elementwise.exp, elementwise.log, elementwise.log1p, elementwise.expm1)
)
sqrt, rsqrt, reciprocal = map(
    _floating, (elementwise.sqrt, elementwise.rsqrt, elementwise.reciprocal)
)
sin, cos, tanh, sigmoid = map(
    _floating, (elementwise.sin, elementwise.cos, activations.tanh, activations.sigmoid)
)
neg, abs, sign, relu = map(
    _of_tensor, (elementwise.neg, choices.abs, choices.sign, activations.relu)
)
