"""Ask what types can hold and in which type two tensors meet; make tensors by the type's name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.type_name import type_name
from minigrad.ops.calling.arguments import check_tensor
from minigrad.tensor import Tensor
from minigrad.tensor_types import (
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    TensorType,
)

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "bfloat16",
    "can_cast",
    "chalf",
    "complex32",
    "finfo",
    "iinfo",
    "is_complex",
    "is_floating_point",
    "is_signed",
    "promote_types",
    "result_type",
    "set_default_tensor_type",
    "uint16",
    "uint32",
    "uint64",
]


class _Missing(dtypes.dtype):
    """A type of PyTorch's that tensors here cannot have; it equals the type of none of them."""

    __slots__ = ("_advice",)

    def __init__(self, name: str, tensor_type: str, kind: str, itemsize: int, advice: str) -> None:
        self.name, self.tensor_type, self.itemsize = name, tensor_type, itemsize
        self.is_floating_point, self.is_complex = kind == "f", kind == "c"
        self.is_signed = kind != "u"
        self._advice = advice

    @property
    def numpy(self) -> np.dtype[Any]:  # type: ignore[override]
        """Raise, because there is no such type."""
        raise NotImplementedError(f"minigrad has no tensors of {self}. Use {self._advice}.")


_floats, _integers = "torch.float16 or torch.float32", "torch.int32 or torch.int64"
bfloat16 = _Missing("bfloat16", "BFloat16", "f", 2, _floats)
complex32 = chalf = _Missing("complex32", "ComplexHalf", "c", 4, "torch.complex64")
uint16 = _Missing("uint16", "UInt16", "u", 2, _integers)
uint32 = _Missing("uint32", "UInt32", "u", 4, _integers)
uint64 = _Missing("uint64", "UInt64", "u", 8, _integers)


class _Limits:
    """What the numbers of a type are like."""

    __slots__ = ("bits", "dtype", "max", "min")

    _shown: tuple[str, ...] = ("min", "max")
    bits: int
    dtype: str
    min: Any
    max: Any

    def __repr__(self) -> str:
        values = [f"{name}={getattr(self, name):g}, " for name in self._shown]
        return f"{type(self).__name__}({''.join(values)}dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Limits):
            return NotImplemented
        return type(self) is type(other) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))


class finfo(_Limits):
    """What the floating-point numbers of a type are like.

    Args:
        type: The dtype; of a complex one, its parts are described. By default the default dtype.

    Attributes:
        bits: Bits a number.
        eps: The distance from 1 to the next number.
        max: The largest number.
        min: The smallest (most negative) number.
        tiny: The smallest positive number of full precision, also named `smallest_normal`.
        resolution: Ten to the power of minus the number of exact decimal digits.
        dtype: The name of the type.

    Raises:
        TypeError: If it is not a floating-point type.

    Example:
        >>> import minigrad as torch
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07
        >>> torch.finfo(torch.float16)  # doctest: +ELLIPSIS
        finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, ...)
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: Any = None) -> None:
        described = dtypes.get_default_dtype() if type is None else _dtype("finfo", "type", type)
        if not (described.is_floating_point or described.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        name = described.to_real().name
        found = np.finfo(name)
        self.dtype, self.bits = name, found.bits
        self.eps, self.max, self.min = float(found.eps), float(found.max), float(found.min)
        self.tiny = self.smallest_normal = float(found.smallest_normal)
        self.resolution = float(str(found.resolution))


class iinfo(_Limits):
    """What the whole numbers of a type are like.

    Args:
        type: The dtype.

    Attributes:
        bits: Bits a number.
        max: The largest number.
        min: The smallest number.
        dtype: The name of the type.

    Raises:
        TypeError: If it is not a type of whole numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.iinfo(torch.uint8)
        iinfo(min=0, max=255, dtype=uint8)
    """

    __slots__ = ()

    def __init__(self, type: Any) -> None:
        described = _dtype("iinfo", "type", type)
        if described.is_floating_point or described.is_complex:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        if described is dtypes.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        found = np.iinfo(described.name)
        self.dtype, self.bits = described.name, found.bits
        self.min, self.max = int(found.min), int(found.max)


def _dtype(caller: str, argument: str, given: Any, position: int = 1) -> dtypes.dtype:
    """Take a dtype, or one of Python's types for one."""
    found = dtypes.of_python.get(given) if isinstance(given, type) else given
    if not isinstance(found, dtypes.dtype):
        raise TypeError(
            f"{caller}(): argument '{argument}' (position {position}) must be torch.dtype, not "
            f"{type_name(given)}"
        )
    return found


def promote_types(type1: dtypes.dtype, type2: dtypes.dtype) -> dtypes.dtype:
    """Give the smallest dtype that holds the numbers of both, floating point above integers.

    Example:
        >>> import minigrad as torch
        >>> torch.promote_types(torch.int64, torch.float16)
        torch.float16
    """
    first, second = (
        _dtype("promote_types", "type1", type1),
        _dtype("promote_types", "type2", type2, 2),
    )
    return dtypes.of_array(np.empty(0, dtypes.promote(first.numpy, second.numpy)))


def result_type(tensor: Any, other: Any) -> dtypes.dtype:
    """Give the dtype in which two tensors meet, or a tensor and a number, or two numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.result_type(torch.tensor([1, 2], dtype=torch.int8), 3)
        torch.int8
        >>> torch.result_type(torch.tensor([1, 2]), 3.5)
        torch.float32
    """
    for position, value in enumerate((tensor, other)):
        if not isinstance(value, (Tensor, int, float, complex, np.number, np.bool_)):
            argument = ("tensor", "other")[position]
            raise TypeError(
                f"result_type() received an invalid combination of arguments: '{argument}' must be "
                f"a Tensor or a number, not {type_name(value)}"
            )
    if not isinstance(tensor, Tensor) and not isinstance(other, Tensor):
        first = dtypes.scalar_dtype(_python(tensor), np.dtype("bool"))
        return dtypes.of_array(np.empty(0, dtypes.scalar_dtype(_python(other), first)))
    if not isinstance(tensor, Tensor):
        tensor, other = other, tensor
    if isinstance(other, Tensor):
        return dtypes.of_array(np.empty(0, dtypes.result_type(tensor._array, other._array)))
    return dtypes.of_array(np.empty(0, dtypes.scalar_dtype(_python(other), tensor._array.dtype)))


def _python(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Tell whether PyTorch converts one dtype to another unasked, in-place or for `out`.

    Example:
        >>> import minigrad as torch
        >>> torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)
        (True, False)
    """
    first, second = _dtype("can_cast", "from_", from_), _dtype("can_cast", "to", to, 2)
    return _kind(first) <= _kind(second)


def _kind(dtype: dtypes.dtype) -> int:
    if dtype.is_complex:
        return 3
    if dtype.is_floating_point:
        return 2
    return 0 if dtype is dtypes.bool else 1


def is_floating_point(input: Tensor) -> bool:
    """Tell whether the entries of a tensor are floating-point numbers."""
    check_tensor("is_floating_point", input)
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Tell whether the entries of a tensor are complex numbers."""
    check_tensor("is_complex", input)
    return input.dtype.is_complex


def is_signed(input: Tensor) -> bool:
    """Tell whether the entries of a tensor can be negative."""
    check_tensor("is_signed", input)
    return input.dtype.is_signed


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by the name of a tensor type: `set_default_dtype` says it shorter.

    Raises:
        TypeError: If it is not a type of floating-point numbers.
    """
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    if isinstance(t, str):
        dtypes.set_default_dtype(dtypes.named(t))
    elif isinstance(t, TensorType):
        dtypes.set_default_dtype(t.dtype)
    else:
        raise TypeError(
            "invalid type object: only floating-point types are supported as the default type"
        )


methods: dict[str, Callable[..., Any]] = {"is_complex": is_complex, "is_signed": is_signed}
