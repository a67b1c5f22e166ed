"""Data types under PyTorch's names, and the promotion of two of them to one."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

__all__ = ["dtype", "get_default_dtype", "set_default_dtype"]
__all__ += ["double", "float", "float16", "float32", "float64", "half"]
__all__ += ["cdouble", "cfloat", "complex64", "complex128"]
__all__ += ["bool", "int", "int8", "int16", "int32", "int64", "long", "short", "uint8"]


class dtype:
    """The type of a tensor's entries. Prints as PyTorch prints it.

    Attributes:
        numpy: The NumPy dtype that holds such entries.
        is_floating_point: Whether the entries are floating-point numbers.
        is_complex: Whether the entries are complex numbers.
        is_signed: Whether the entries can be negative.
        itemsize: Bytes an entry.

    Example:
        >>> import minigrad as torch
        >>> torch.float32
        torch.float32
        >>> torch.float32.itemsize
        4
    """

    __slots__ = (
        "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy", "tensor_type",
    )  # fmt: skip

    def __init__(self, name: str, numpy_name: str, tensor_type: str) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(numpy_name)
        self.is_floating_point = self.numpy.kind == "f"
        self.is_complex = self.numpy.kind == "c"
        self.is_signed = self.numpy.kind not in "ub"
        self.itemsize = self.numpy.itemsize
        self.tensor_type = tensor_type

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def to_complex(self) -> dtype:
        """Give the dtype of complex numbers whose parts are such entries.

        Raises:
            RuntimeError: If there is none.
        """
        found = {float32: complex64, float64: complex128}.get(self, self)
        if not found.is_complex:
            raise RuntimeError(f"there are no complex numbers whose parts are {self}")
        return found


float16 = half = dtype("float16", "float16", "Half")
float32 = float = dtype("float32", "float32", "Float")
float64 = double = dtype("float64", "float64", "Double")
complex64 = cfloat = dtype("complex64", "complex64", "ComplexFloat")
complex128 = cdouble = dtype("complex128", "complex128", "ComplexDouble")
uint8 = dtype("uint8", "uint8", "Byte")
int8 = dtype("int8", "int8", "Char")
int16 = short = dtype("int16", "int16", "Short")
int32 = int = dtype("int32", "int32", "Int")
int64 = long = dtype("int64", "int64", "Long")
bool = dtype("bool", "bool", "Bool")
# entries that are Python objects, such as SymPy expressions; PyTorch has no such type
symbolic = dtype("symbolic", "object", "Symbolic")

_by_numpy = {each.numpy: each for each in [*globals().values()] if isinstance(each, dtype)}


class Default:
    """Holds the dtype of new tensors that are made from Python floats."""

    dtype = float32


default = Default()


def get_default_dtype() -> dtype:
    """Give the dtype of new tensors made from Python floats: float32 unless changed."""
    return default.dtype


def set_default_dtype(d: dtype, /) -> None:
    """Set the dtype of new tensors made from Python floats.

    Raises:
        TypeError: If the dtype is not a floating-point one.

    Example:
        >>> import minigrad as torch
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor([0.5]).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)
    """
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d.numpy.kind == "f":  # asked for here, because NumPy has not every type
        default.dtype = d


# Python's own types stand for those that they are counted among.
of_python = {builtins.float: float64, builtins.int: int64, builtins.bool: bool, complex: complex128}


def asked(caller: str, given: Any) -> Any:
    """Give the NumPy dtype that the argument `dtype` of a function asks for.

    Args:
        caller: The name of the function, for the message.
        given: A dtype, one of Python's types of numbers, or None.

    Returns:
        It, or None for None.

    Raises:
        TypeError: If it isn't a dtype.
    """
    if given is None or isinstance(given, dtype):
        return given and given.numpy
    if isinstance(given, type) and given in of_python:
        return of_python[given].numpy
    raise TypeError(f"{caller}(): argument 'dtype' must be torch.dtype, not {type(given).__name__}")


def of_array(array: Any) -> dtype:
    """Give the dtype of an array.

    Raises:
        TypeError: If tensors have no such type.
    """
    found = _by_numpy.get(array.dtype)
    if found is None:
        raise TypeError(
            f"can't convert an array of {array.dtype}: tensors hold float16, float32, float64, "
            "complex64, complex128, int8, int16, int32, int64, uint8 and bool"
        )
    return found


def named(name: str) -> dtype:
    """Give the dtype of a tensor type, for example of `torch.DoubleTensor`.

    Raises:
        ValueError: If there is none of that name.
    """
    for known in _by_numpy.values():
        if name == f"torch.{known.tensor_type}Tensor":
            return known
    raise ValueError(f"invalid type: '{name}'. A name looks like 'torch.FloatTensor'.")


def scalar_name(array: Any) -> str:
    """Give the name of an array's dtype as messages have it, for example `Float`."""
    return of_array(array).tensor_type


# How C++ calls the types, and with it some errors.
_in_c = {"Bool": "bool", "Byte": "unsigned char", "Char": "signed char", "Short": "short int"}
_in_c |= {"Long": "long int", "Half": "c10::Half"}
_in_c |= {"ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>"}


def c_name(array: Any) -> str:
    """Give the name of an array's dtype in C++, for example `long int`."""
    name = scalar_name(array)
    return _in_c.get(name, name.lower())


# PyTorch sorts dtypes into kinds; a higher kind wins whatever the sizes.
_kinds = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3, "O": 4}


def kind_of(numpy_dtype: np.dtype[Any]) -> builtins.int:
    """Rank a NumPy dtype: boolean 0, integer 1, floating point 2, complex 3, symbolic 4."""
    kind = _kinds.get(numpy_dtype.kind)
    if kind is None:
        raise TypeError(f"can't convert np.ndarray of type {numpy_dtype}: these are no numbers")
    return kind


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype to which two arrays of any dimension are promoted.

    Unlike NumPy, an integer array never widens a floating-point one.
    """
    if a == b:
        return a
    kind_a, kind_b = kind_of(a), kind_of(b)
    if kind_a != kind_b:
        wider, other = (a, b) if kind_a > kind_b else (b, a)
        if kind_of(wider) == 3 and other == np.float64:
            return np.dtype("complex128")
        return wider
    return np.promote_types(a, b)


def result_type(a: Any, b: Any) -> np.dtype[Any]:
    """Give the dtype of an operation between two arrays, as PyTorch has it.

    An array without dimensions has a say only if its kind is higher than the other's.
    """
    first, second = a.dtype, b.dtype
    if first == second:
        return first
    if (a.ndim == 0) != (b.ndim == 0):
        dimensioned, scalar = (second, first) if a.ndim == 0 else (first, second)
        if kind_of(scalar) <= kind_of(dimensioned):
            return dimensioned
        if kind_of(scalar) == 3 and kind_of(dimensioned) == 2:  # the dimensioned one's precision
            return np.dtype("complex128" if dimensioned == np.float64 else "complex64")
    return promote(first, second)


def scalar_dtype(value: Any, beside: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype that a Python number takes beside an array of that dtype."""
    own: np.dtype[Any]
    if isinstance(value, builtins.int):  # a Python bool is an int
        own = np.dtype("bool") if value is True or value is False else np.dtype("int64")
    elif isinstance(value, builtins.float):
        own = default.dtype.numpy
    elif isinstance(value, complex):
        precision = beside if beside.kind == "f" else default.dtype.numpy
        own = np.dtype("complex128" if precision == np.float64 else "complex64")
    else:
        own = np.dtype("object")
    return beside if kind_of(own) <= kind_of(beside) else own
