"""Make functions and methods of operations on each entry: their checks, their in-place versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import Node, next_priority
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.inplace import in_place
from minigrad.tensor import Tensor, wrap


def named(function: Callable[..., Any], operation: Any, name: str = "") -> Callable[..., Any]:
    """Give a function the name and the docstring of an operation."""
    function.__name__ = function.__qualname__ = name or operation.__name__
    function.__doc__ = operation.__doc__
    return function


def as_floats(tensor: Tensor) -> Tensor:
    """Convert integers to the default dtype, for a function whose results are no integers."""
    if tensor._array.dtype.kind in "iub":
        return cast(tensor, dtypes.get_default_dtype().numpy)
    return tensor


def of_floats(operation: Any, name: str = "", half: bool = True) -> Callable[..., Tensor]:
    """Make a function of one tensor that takes integers as floating-point numbers.

    Args:
        operation: The operation.
        name: Another name than its own.
        half: Whether PyTorch has a kernel for float16.
    """
    name = name or operation.__name__

    def function(input: Tensor) -> Tensor:
        check_tensor(name, input)
        if not half and input._array.dtype == np.float16:
            raise not_implemented(f"{name}_cpu", input._array)
        return operation(as_floats(input))  # type: ignore[no-any-return]

    return named(function, operation, name)


def of_one(operation: Any, refuses: str = "", kernel: str = "") -> Callable[..., Tensor]:
    """Make a function of one tensor that refuses kinds of dtypes, with PyTorch's words."""

    def function(input: Tensor) -> Tensor:
        check_tensor(operation.__name__, input)
        if input._array.dtype.kind in refuses:
            raise not_implemented(kernel, input._array)
        return operation(input)  # type: ignore[no-any-return]

    return named(function, operation)


def of_two(
    operation: Any, floats: bool = False, refuses: str = "", kernel: str = "", second: str = "other"
) -> Callable[..., Tensor]:
    """Make a function of two tensors.

    Args:
        operation: The operation.
        floats: Whether two tensors of integers are taken as floating-point numbers.
        refuses: Kinds of dtypes that PyTorch has no kernel for.
        kernel: The kernel's name.
        second: The name of the second argument.
    """
    name = operation.__name__

    def function(input: Tensor, other: Tensor) -> Tensor:
        check_tensor(name, input)
        check_tensor(name, other, second, 2)
        meeting = dtypes.result_type(input._array, other._array)
        if meeting.kind in refuses:
            raise not_implemented(kernel, np.empty(0, meeting))
        if floats and meeting.kind in "iub":
            input, other = as_floats(input), as_floats(other)
        return operation(input, other)  # type: ignore[no-any-return]

    return named(function, operation)


def not_implemented(kernel: str, array: Any) -> NotImplementedError:
    """Make PyTorch's error for a dtype that an operation is not made for."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.scalar_name(array)}'")


def with_in_place(functions: Iterable[Callable[..., Any]]) -> dict[str, Any]:
    """Give functions as methods, and for each the method that does the same in place."""
    methods: dict[str, Any] = {}
    for function in functions:
        methods[function.__name__] = function
        methods[f"{function.__name__}_"] = in_place(function)
    return methods


def as_tensor(value: Any) -> Tensor:
    """Give an array or a number that NumPy was called with as a tensor."""
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of two tensors stand for a ufunc, which may get an array or a number."""
    return lambda a, b: function(as_tensor(a), as_tensor(b))


# ---------------------------------------------------------------------- without a derivative


def _refuse(node: Any, gradient: Any, keep: bool = True) -> Any:
    raise RuntimeError(f"derivative for aten::{node._saved[0]} is not implemented")


class _NoDerivative(Node):
    """Stands in the graph for an operation that has no derivative, as in PyTorch."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    _run = _run_recorded = _refuse


_NoDerivative.__name__ = "NotImplemented"


def without_derivative(name: str, result: Tensor, *inputs: Any) -> Tensor:
    """Record an operation whose gradient must not be asked for.

    Args:
        name: What the error calls the operation.
        result: Its result, a new tensor.
        *inputs: Its inputs.
    """
    tensors = [one for one in inputs if isinstance(one, Tensor)]
    recording = grad_mode.enabled
    if recording and any(tensor.requires_grad for tensor in tensors):
        node = _NoDerivative()
        node.next_functions = tuple(t._edge or resolve_edge(t) for t in tensors if t.requires_grad)
        node._saved, node._hooks, node._broadcast = (name,), None, None
        node._priority = next_priority()
        result._edge = (node, 0)
        if recording is not True:
            recording.attend(node, result)
    return result


def in_place_without_derivative(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make the method that does in place what such an operation does, and says so in its error."""
    name = function.__name__

    def operation(*arguments: Any, **settings: Any) -> Any:
        result = function(*arguments, **settings)
        node = result._edge and result._edge[0]
        if node is not None:
            node._saved = (f"{name}_",)
        return result

    return in_place(named(operation, function))
