"""Bring the arguments of an operation into one form: dimensions, sizes, types."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex, type_name, wrong_type
from minigrad.core.modes import modes
from minigrad.core.operation import registry
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes


def dimension(dim: Any, ndim: int) -> int:
    """Bring a dimension's number into the range from 0 on.

    Raises:
        TypeError: If it isn't a whole number.
        IndexError: If there is no such dimension.
    """
    limit = max(ndim, 1)
    if dim.__class__ is not int:
        if isinstance(dim, bool) or not hasattr(dim, "__index__"):
            raise TypeError(f"dim must be int, not {type_name(dim)}")
        dim = operator.index(dim)
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], "
            f"but got {dim})"
        )
    return dim if dim >= 0 else dim + limit


def different(dims: Any, ndim: int) -> tuple[int, ...]:
    """Bring the numbers of several dimensions into the range from 0 on, in their order.

    Raises:
        RuntimeError: If one is named twice.
    """
    numbers = tuple([dimension(dim, ndim) for dim in dims])
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"a dim appears multiple times in the list of dims {tuple(dims)}")
    return numbers


def dimensions(dim: Any, ndim: int) -> tuple[int, ...]:
    """Bring one dimension's number or several into a sorted tuple; no numbers mean all."""
    if dim.__class__ is int and 0 <= dim < ndim:
        return (dim,)
    if not isinstance(dim, (tuple, list)):
        return (dimension(dim, ndim),)[:ndim]  # none, if the tensor has none
    return tuple(sorted(different(dim, ndim) or range(ndim)))[:ndim]


def sequence_of(name: str, argument: str, given: Any, position: int = 0) -> tuple[int, ...]:
    """Take sizes or dimensions that a function is given in one sequence.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(given, (tuple, list)):
        raise wrong_type(name, argument, "tuple of ints", given, position)
    return wholes(name, given, argument, position)


def sizes_given(name: str, argument: str, several: tuple[Any, ...], given: Any) -> tuple[int, ...]:
    """Take sizes or dimensions that a method is given one by one, in one sequence, or by name.

    Raises:
        TypeError: If there are none.
    """
    if len(several) == 1 and isinstance(several[0], (tuple, list, range)):
        several = tuple(several[0])
    elif not several:
        if given is None:
            raise TypeError(f"{name}() missing 1 required positional arguments: '{argument}'")
        several = given
    return wholes(name, several, argument)


def check_tensor(name: str, value: Any, argument: str = "input", position: int = 1) -> None:
    """Raise if an argument that must be a tensor is none."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, argument, "Tensor", value, position)


def no_combination(name: str, *operands: Any) -> TypeError:
    """Make the error for operands of types that do not go together."""
    given = ", ".join(map(type_name, operands))
    return TypeError(f"{name}() takes a tensor, and a tensor or a number, not ({given})")


def is_operand(value: Any) -> bool:
    """Tell whether a tensor can be computed with something."""
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, (Tensor, int, float, complex)) or hasattr(value, "free_symbols")


def check_tensors(tensors: Any, name: str = "cat", argument: str = "tensors") -> list[Tensor]:
    """Give a sequence of tensors as a list.

    Raises:
        TypeError: If it isn't a sequence, or an entry isn't a tensor.
    """
    if not isinstance(tensors, (tuple, list)):
        raise wrong_type(name, argument, "tuple of Tensors", tensors)
    for tensor in tensors:
        check_tensor(name, tensor, argument)
    return list(tensors)


def whole(name: str, value: Any, argument: str, position: int = 0) -> int:
    """Take a whole number: Python's, NumPy's, or that in a tensor of one entry.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(value, Tensor) and value._array.size == 1:
        value = value._array.item()
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise wrong_type(name, argument, "int", value, position)
    return operator.index(value)


def wholes(name: str, values: Any, argument: str, position: int = 0) -> tuple[int, ...]:
    """Take whole numbers in a sequence."""
    return tuple(
        [
            each if each.__class__ is int else whole(name, each, argument, position)
            for each in values
        ]
    )


def number(value: Any, name: str, argument: str, position: int = 0, kind: str = "Number") -> Any:
    """Take a number that sets something: Python's, NumPy's, or that in a tensor without dimensions.

    Raises:
        TypeError: If it is none, or complex and not a "Scalar", which may be.
    """
    if isinstance(value, Tensor) and not value._array.ndim and not value.requires_grad:
        value = value._array.item()
    elif isinstance(value, np.generic):
        value = value.item()
    kinds = (int, float, complex) if kind == "Scalar" else (int, float)
    # a formula counts as a number, in an array or not
    if isinstance(value, kinds) or hasattr(value, "free_symbols") or hasattr(value, "needs"):
        return value
    raise wrong_type(name, argument, kind, value, position)


def plain(value: Any) -> Any:
    """Give a number beside a tensor as one of Python's own types, or anything else as it is.

    Raises:
        OverflowError: If it is a whole number of more than 64 bits.
    """
    if isinstance(value, np.generic):  # NumPy's booleans count as floats
        value = float(value) if isinstance(value, np.bool_) else value.item()
    if value.__class__ is int and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError(f"a number beside a tensor has 64 bits, got {value}")
    return value


def check_dtype(name: str, value: Any, argument: str) -> None:
    """Raise if an argument that must be a dtype, or one of Python's types, is none."""
    of_python = isinstance(value, type) and value in dtypes.of_python
    if not of_python and not isinstance(value, dtypes.dtype):
        raise wrong_type(name, argument, "torch.dtype", value)


def cast(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Convert to a NumPy dtype, recorded where both types are floating point.

    Raises:
        NotImplementedError: If the conversion to complex numbers would be recorded.
    """
    from_kind, to_kind = tensor._array.dtype.kind, dtype.kind
    if tensor._array.dtype == dtype:
        return tensor
    if tensor.requires_grad and to_kind not in "iub" and from_kind not in "iub":
        if modes.recording:
            refuse_complex(dtype)
        return registry["to_copy"](tensor, dtype)
    return wrap(tensor._array.astype(dtype))


def as_floats(tensor: Tensor) -> Tensor:
    """Convert integers to the default dtype, for a function whose results are no integers."""
    if tensor._array.dtype.kind in "iub":
        return cast(tensor, dtypes.default.dtype.numpy)
    return tensor


def refuse(kernel: str, kinds: str, *tensors: Tensor) -> None:
    """Raise if the dtype in which tensors meet is of a kind that PyTorch has no kernel for."""
    arrays = [each._array for each in tensors if isinstance(each, Tensor)]
    dtype = arrays[0].dtype if len(arrays) == 1 else dtypes.result_type(*arrays)
    if dtype.kind in kinds:
        raise not_implemented(kernel, np.empty(0, dtype))


def not_implemented(kernel: str, array: Any) -> NotImplementedError:
    """Make PyTorch's error for a dtype that an operation is not made for."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.scalar_name(array)}'")


def as_tensor(value: Any) -> Tensor:
    """Give an array or a number that NumPy was called with as a tensor."""
    if isinstance(value, np.integer):
        value = int(value)  # it counts as one of Python's
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def on_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors and numbers stand for one of NumPy's, which may get an array."""
    return lambda *operands: function(
        *(as_tensor(each) if isinstance(each, np.ndarray) else plain(each) for each in operands)
    )


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors stand for one of NumPy's, which may get an array or a number."""
    return lambda *operands: function(*map(as_tensor, operands))
