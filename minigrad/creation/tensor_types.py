"""Make tensors by the name of their type, `LongTensor([1, 2])`, and ask what types can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name, wrong_type
from minigrad.core.operation import registry
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import array_of
from minigrad.creation.layout import Size
from minigrad.signatures import attach
from minigrad.signatures.arguments import wholes

__all__ = ["BoolTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor"]
__all__ += ["ByteTensor", "CharTensor", "ShortTensor", "finfo", "iinfo"]
__all__ += ["bfloat16", "chalf", "complex32", "uint16", "uint32", "uint64"]

# ------------------------------------------------------------------ tensors by the type's name


class TensorType(type):
    """The kind of the classes `FloatTensor` and so on: what they make are plain tensors."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *data: Any) -> Tensor:
        """Make a tensor of this type from sequences of numbers, from sizes, or from a tensor."""
        return new(cls.dtype, *data)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def new(dtype: dtypes.dtype | None, *data: Any, kind: type[Tensor] = Tensor) -> Any:
    """Make a tensor of a type as PyTorch's old constructors do; see `array_for`."""
    array = array_for(*data, dtype=dtype)
    shared = kind is Tensor and data and array is getattr(data[0], "_array", None)
    return registry["alias"](data[0]) if shared else wrap(array, kind)


def array_for(*data: Any, dtype: dtypes.dtype | None = None) -> Any:
    """Make the array of a tensor that an old constructor makes.

    Args:
        *data: Nested sequences of numbers, or an array, or a tensor of this type, whose memory is
            shared; or the sizes of a tensor whose entries are not set; or nothing.
        dtype: The type of the entries, if not the default.

    Raises:
        TypeError: If the data are no sequence, or a tensor of another type.
    """
    wanted = dtypes.default.dtype if dtype is None else dtype
    if len(data) == 1 and isinstance(data[0], Tensor):
        if dtype is not None and data[0].dtype is not dtype:
            raise TypeError(f"expected a tensor of {dtype}: convert it with to({dtype})")
        return data[0]._array
    if len(data) == 1 and not isinstance(data[0], (int, Size, np.integer)):
        (values,) = data
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(
                f"new(): data must be a sequence (got {type_name(values)}). minigrad.tensor makes "
                "a tensor of one number."
            )
        if isinstance(values, np.ndarray):
            return np.array(values, None if values.dtype.kind == "O" else wanted.numpy, subok=True)
        return array_of(values, wanted.numpy)
    sizes = data[0] if len(data) == 1 and isinstance(data[0], Size) else data or (0,)
    return np.zeros(wholes("new", sizes, "size"), wanted.numpy)


def _type(dtype: dtypes.dtype) -> TensorType:
    name = f"{dtype.tensor_type}Tensor"
    made = TensorType(name, (), {"__module__": "torch", "dtype": dtype})
    made.__doc__ = f"Make tensors of {dtype}; `isinstance` tells whether a tensor is one."
    return made


FloatTensor, DoubleTensor = _type(dtypes.float32), _type(dtypes.float64)
HalfTensor, BoolTensor = _type(dtypes.float16), _type(dtypes.bool)
LongTensor, IntTensor = _type(dtypes.int64), _type(dtypes.int32)
ShortTensor, CharTensor, ByteTensor = map(_type, (dtypes.int16, dtypes.int8, dtypes.uint8))

# ------------------------------------------------------------------ types that are not here


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

# ------------------------------------------------------------------ what types can hold


class _Limits:
    """What the numbers of a type are like."""

    _shown: tuple[str, ...] = ("min", "max")

    def __init__(self, described: dtypes.dtype, found: Any) -> None:
        self.dtype, self.bits = described.name, int(found.bits)
        number = float if described.is_floating_point else int
        self.min, self.max = number(found.min), number(found.max)

    def __repr__(self) -> str:
        values = [f"{name}={getattr(self, name):g}, " for name in self._shown]
        return f"{type(self).__name__}({''.join(values)}dtype={self.dtype})"


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

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: Any = None) -> None:
        described = dtypes.default.dtype if type is None else _dtype("finfo", type)
        if not (described.is_floating_point or described.is_complex):
            raise TypeError(f"{described} is no floating-point type. Use torch.iinfo.")
        found = np.finfo(described.to_real().name)
        super().__init__(described.to_real(), found)
        self.eps, self.resolution = float(found.eps), float(str(found.resolution))
        self.tiny = self.smallest_normal = float(found.smallest_normal)


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

    def __init__(self, type: Any) -> None:
        described = _dtype("iinfo", type)
        if described.is_floating_point or described.is_complex or described is dtypes.bool:
            raise TypeError(f"{described} is no type of whole numbers. Use torch.finfo.")
        super().__init__(described, np.iinfo(described.name))


def _dtype(caller: str, given: Any) -> dtypes.dtype:
    """Take a dtype, or one of Python's types for one."""
    found = dtypes.of_python.get(given) if isinstance(given, type) else given
    if not isinstance(found, dtypes.dtype):
        raise wrong_type(caller, "type", "torch.dtype", given, 1)
    return found


attach(__name__, {}, {name: globals()[name] for name in __all__})
