"""Bring the arguments of an operation into one form: dimensions, sizes, types."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex, type_name, wrong_type
from minigrad.core.node import grad_mode
from minigrad.core.tape import book
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes

# Whole numbers for which an array, or an object that is none itself, is none.
_STRICT = {"axis0", "axis1", "bins", "chunks", "decimals", "divisor_override", "num_classes"}
_STRICT_HERE = {("diag", "diagonal"), ("diff", "n"), ("unfold", "size"), ("unfold", "step")}
_OVERLOADED = {"movedim", "tile"}  # whose dimensions are no list of numbers first of all
_STRICT |= {"col", "num_groups", "offset", "row", "steps", "to", "upscale_factor"}
_LIMIT = 1 << 63  # whole numbers have 64 bits


class _Nothing:
    """What an argument is that was left out, where None is no argument."""

    def __repr__(self) -> str:
        return "None"


nothing = _Nothing()


def dimension(dim: int, ndim: int) -> int:
    """Bring a dimension's number into the range from 0 on."""
    limit = max(ndim, 1)
    if dim.__class__ is not int:
        dim = whole("dimension", dim, "dim")
    if not -limit <= dim < limit:
        whole("dimension", dim, "dim")
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], "
            f"but got {dim})"
        )
    return dim % limit if dim >= 0 else _from_end(dim, limit)


class FromEnd(int):
    """The number of a dimension from 0 on, which remembers that it was counted from the end."""

    said: int | None


class Unsaid(tuple[Any, ...]):
    """Numbers for each dimension that were not said: nodes show none."""

    said = ()


@functools.cache
def _from_end(dim: int, limit: int) -> FromEnd:
    number = FromEnd(dim % limit)
    number.said = dim
    return number


def different(dims: Any, ndim: int) -> tuple[int, ...]:
    """Bring the numbers of several dimensions into the range from 0 on, in their order.

    Raises:
        RuntimeError: If one is named twice.
    """
    numbers = tuple(dimension(d, ndim) for d in wholes("dimension", dims, "dim"))
    if len(set(numbers)) != len(numbers):
        twice = next(number for place, number in enumerate(numbers) if number in numbers[:place])
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return numbers


def only(dim: Any) -> Any:
    """Take the number out of a tensor that stands for a sequence of one; leave all else."""
    if isinstance(dim, Tensor) and dim._array.size == 1 and dim._array.dtype.kind in "biu":
        return int(dim._array.item())
    return dim


def dimensions(dim: Any, ndim: int) -> tuple[int, ...]:
    """Bring one dimension's number or several into a sorted tuple."""
    if not isinstance(dim, (tuple, list)):
        return (dimension(only(dim), ndim),)[:ndim]  # none, if the tensor has none
    return tuple(sorted(different(dim, ndim) or range(ndim)))[:ndim]


def sizes_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Accept sizes one by one or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list, range)):
        sizes = tuple(sizes[0])
    return wholes("size", sizes, "size")


def sequence_of(name: str, argument: str, given: Any, position: int = 2) -> tuple[int, ...]:
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
    if several and given is not None:
        raise TypeError(f"{name}() got multiple values for argument '{argument}'")
    if several:
        alone = len(several) == 1 and isinstance(several[0], (tuple, list, range))
        return wholes(name, several[0] if alone else several, argument)
    if given is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
    return sequence_of(name, argument, given)


def given_once(ours: Any, theirs: Any, face: Any, name: str) -> Any:
    """Take what an argument was given under NumPy's name.

    Raises:
        TypeError: If it was given under PyTorch's, too.
    """
    default = next(each.default for each in face.signature.arguments if each.name == name)
    if ours is not None and repr(ours) != (default or "None").replace("nothing", "None"):
        raise TypeError(f"{face.name}() got multiple values for argument '{name}'")
    return theirs


def check_tensor(name: str, value: Any, argument: str = "input", position: int = 1) -> None:
    """Raise if an argument that must be a tensor is none."""
    if not isinstance(value, Tensor):
        raise no_tensor(name, value, argument, position)


def no_tensor(name: str, value: Any, argument: str, position: int) -> TypeError:
    """Make the error for an argument that must be a tensor."""
    return wrong_type(name, argument, "Tensor", value, position)


def no_combination(name: str, *operands: Any) -> TypeError:
    """Make the error for operands of types that do not go together."""
    given = ", ".join(map(type_name, operands))
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({given}), but expected a "
        "tensor, and a tensor or a number"
    )


def wrong_operand(name: str, *operands: Any) -> TypeError:
    """Make the error for operands of which one counts for no tensor."""
    second = isinstance(operands[0], (Tensor, int, float, complex))
    argument = "other" if second else "input"
    return no_tensor(name, operands[second], argument, 1 + second)


def is_operand(value: Any) -> bool:
    """Tell whether a tensor can be computed with something."""
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, (Tensor, int, float, complex)) or hasattr(value, "free_symbols")


def check_tensors(
    tensors: Any, name: str = "cat", argument: str = "tensors", place: int = 0
) -> list[Tensor]:
    """Give a sequence of tensors as a list.

    Raises:
        TypeError: If it is no sequence, or one of it is no tensor.
    """
    if not isinstance(tensors, (tuple, list)):
        raise wrong_type(name, argument, "tuple of Tensors", tensors, 1)
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument {place}, but got "
                f"{type_name(tensor)}"
            )
    return list(tensors)


def whole(name: str, value: Any, argument: str, position: int = 0) -> int:
    """Take a whole number: Python's, NumPy's, or that in a tensor of one entry.

    Raises:
        TypeError: If it is none.
        ValueError: If it has more than 64 bits.
    """
    strict = "dim" in argument or argument in _STRICT or (name, argument) in _STRICT_HERE
    if value.__class__ is not int:
        array = value._array if isinstance(value, Tensor) else value
        if is_truth(value) and not strict:
            raise RuntimeError(f"{name}(): argument '{argument}' must be int, not a bool tensor")
        if isinstance(array, (np.ndarray, np.generic)):
            if (
                array.dtype.kind not in "iu"
                or array.size != 1
                or (array.ndim and array is value)
                or (strict and (array.ndim or isinstance(value, np.ndarray)))
            ):
                raise wrong_type(name, argument, "int", value, position)
            value = array.item()
        elif isinstance(value, bool) or not (
            isinstance(value, int)
            or (hasattr(value, "__index__") and not strict and not isinstance(value, type))
        ):
            raise wrong_type(name, argument, "int", value, position)
        value = value.__index__()
    if not -_LIMIT <= value < _LIMIT:
        raise ValueError(f"Overflow when unpacking long long: {argument}={value} of {name}()")
    return value


def is_truth(value: Any) -> bool:
    """Tell whether a value is a tensor with one truth value."""
    return isinstance(value, Tensor) and value._array.size == 1 and value._array.dtype.kind == "b"


def wholes(name: str, values: Any, argument: str, position: int = 0) -> tuple[int, ...]:
    """Take whole numbers in a sequence; of one that is none PyTorch says the sequence is wrong."""
    try:
        return tuple(
            [
                each
                if each.__class__ is int and -_LIMIT <= each < _LIMIT
                else int(each)
                if (place and each.__class__ is bool)  # PyTorch looks at the first only
                or (argument[:3] == "dim" and name not in _OVERLOADED and is_truth(each))
                else whole(name, each, argument)
                for place, each in enumerate(values)
            ]
        )
    except ValueError:
        told = f"{name}(): argument '{argument}' failed to unpack the numbers in {values!r}"
        raise TypeError(f"{told}: one of them has more than 64 bits") from None


def number(value: Any, name: str, argument: str, position: int = 0, kind: str = "Number") -> Any:
    """Take a number that sets something: Python's, NumPy's, or that in a tensor without dimensions.

    Raises:
        TypeError: If it is none.
        OverflowError: If it is a whole number of more than 64 bits.
        RuntimeError: If it is complex, and in a tensor, where it must be real.
    """
    if value.__class__ is float:
        return value
    if isinstance(value, Tensor) and not value._array.ndim and not value.requires_grad:
        value = value._array.item()
        if isinstance(value, complex) and kind == "float":
            raise RuntimeError(f"value cannot be converted to type double: {argument}={value}")
    elif isinstance(value, np.generic):
        value = plain(value)
    if isinstance(value, (int, float)) or (kind == "Number" and isinstance(value, complex)):
        own = isinstance(value, int) and value.__class__ not in (int, bool)
        return plain(value) if kind == "Number" else float(value.real) if own else value
    if hasattr(value, "free_symbols") or hasattr(value, "needs"):  # a formula, in an array or not
        return value
    raise wrong_type(name, argument, kind, value, position)


def plain(value: Any) -> Any:
    """Give a number beside a tensor as one of Python's own types, or anything else as it is.

    Raises:
        OverflowError: If it is a whole number of more than 64 bits.
    """
    if isinstance(value, np.generic):  # NumPy's booleans count as floats
        value = float(value) if isinstance(value, np.bool_) else value.item()
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if not -_LIMIT <= value < 2 * _LIMIT:
        far = "int too big to convert" if value > 0 else "can't convert negative int to unsigned"
        raise OverflowError(f"{far}: a number beside a tensor has 64 bits, got {value}")
    return int(value)


def check_dtype(name: str, value: Any, argument: str, position: int) -> None:
    """Raise if an argument that must be a dtype, or one of Python's types, is none."""
    if not isinstance(value, dtypes.dtype) and not (
        isinstance(value, type) and value in dtypes.of_python
    ):
        raise wrong_type(name, argument, "torch.dtype", value, position)


def cast(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Convert to a NumPy dtype, recorded where both types are floating point.

    Raises:
        NotImplementedError: If the conversion to complex numbers would be recorded.
    """
    from_kind, to_kind = tensor._array.dtype.kind, dtype.kind
    if tensor._array.dtype == dtype:
        return tensor
    if tensor.requires_grad and to_kind not in "iub" and from_kind not in "iub":
        if grad_mode.enabled:
            refuse_complex(dtype)
        return book["to_copy"](tensor, dtype)
    return wrap(tensor._array.astype(dtype))


def dimension_of(
    name: str, dim: Any, input: Tensor, position: int = 2, argument: str = "dim"
) -> int:
    """Bring the number of one dimension of a tensor into the range from 0 on.

    Args:
        name: The function that asks, for the error.
        dim: A number.
        input: The tensor whose dimension is meant.
        position: Which argument it is.
        argument: What it is called.

    Raises:
        TypeError: If it is no whole number.
        IndexError: If there is no such dimension.
    """
    return dimension(whole(name, dim, argument, position), input._array.ndim)


def as_floats(tensor: Tensor) -> Tensor:
    """Convert integers to the default dtype, for a function whose results are no integers."""
    if tensor._array.dtype.kind in "iub":
        return cast(tensor, dtypes.default.dtype.numpy)
    return tensor


def refuse(kernel: str, kinds: str, *tensors: Tensor) -> None:
    """Raise if the dtype in which tensors meet is of a kind that PyTorch has no kernel for."""
    arrays = [each._array for each in tensors if isinstance(each, Tensor)]
    wanted = arrays[0].dtype if len(arrays) == 1 else dtypes.result_type(*arrays)
    if wanted.kind in kinds:
        raise not_implemented(kernel, np.empty(0, wanted))


def not_implemented(kernel: str, array: Any) -> NotImplementedError:
    """Make PyTorch's error for a dtype that an operation is not made for."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.scalar_name(array)}'")


def as_tensor(value: Any) -> Tensor:
    """Give an array or a number that NumPy was called with as a tensor.

    Raises:
        TypeError: If it is an array of neither numbers nor symbols.
    """
    if isinstance(value, np.integer):
        value = int(value)  # it counts as one of Python's
    if isinstance(value, np.ndarray) and not holds_numbers(value):
        raise TypeError(f"can't convert np.ndarray of type numpy.{value.dtype}: it has no numbers")
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def holds_numbers(array: Any) -> bool:
    """Tell whether an array has numbers, or symbols, for entries."""
    return array.dtype.kind in "biufc" or all(
        isinstance(each, Number) or hasattr(each, "free_symbols") for each in array.flat
    )


def on_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors and numbers stand for one of NumPy's, which may get an array."""
    return lambda *operands: function(
        *(as_tensor(each) if isinstance(each, np.ndarray) else plain(each) for each in operands)
    )


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors stand for one of NumPy's, which may get an array or a number."""
    return lambda *operands: function(*map(as_tensor, operands))
