"""Make tensors by the old names of their types, `LongTensor([1, 2])`, and test for such a type."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes, nested
from minigrad.autograd.type_name import type_name
from minigrad.tensor import Size, Tensor, wrap


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


def new(dtype: dtypes.dtype, *data: Any) -> Tensor:
    """Make a tensor of a type as PyTorch's old constructors do; see `array_for`."""
    return wrap(array_for(*data, dtype=dtype))


def array_for(*data: Any, dtype: dtypes.dtype | None = None) -> Any:
    """Make the array of a tensor that an old constructor makes.

    Args:
        *data: Nested sequences of numbers, or an array, or a tensor of this type, whose memory is
            shared; or the sizes of a tensor whose entries are not set; or nothing.
        dtype: The type of the entries, if not the default.

    Raises:
        TypeError: If the data are no sequence, or a tensor of another type.
    """
    wanted = dtypes.get_default_dtype() if dtype is None else dtype
    by_size = len(data) == 1 and isinstance(data[0], Size)
    if by_size or (data and all(type(size) is int for size in data)):
        return np.zeros(data[0] if by_size else data, wanted.numpy)
    if not data:
        return np.empty(0, wanted.numpy)
    if len(data) > 1:
        kinds = ", ".join(map(type_name, data))
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({kinds}), but expected "
            "sizes, or data in one sequence"
        )
    (values,) = data
    if isinstance(values, Tensor):
        if dtype is not None and values.dtype is not dtype:
            raise TypeError(
                f"expected a tensor of {dtype} (got one of {values.dtype}). Convert it with "
                f"to({dtype})."
            )
        return values._array
    if isinstance(values, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(values, "__len__"):
        raise TypeError(
            f"new(): data must be a sequence (got {type_name(values)}). minigrad.tensor makes a "
            "tensor of one number."
        )
    if isinstance(values, np.ndarray):
        return np.array(values, None if values.dtype.kind == "O" else wanted.numpy, subok=True)
    return nested.array_of(values, wanted.numpy)


def _type(name: str, dtype: dtypes.dtype) -> TensorType:
    made = TensorType(name, (), {"__module__": "torch", "dtype": dtype})
    made.__doc__ = f"Make tensors of {dtype}; `isinstance` tells whether a tensor is one."
    return made


FloatTensor = _type("FloatTensor", dtypes.float32)
DoubleTensor = _type("DoubleTensor", dtypes.float64)
HalfTensor = _type("HalfTensor", dtypes.float16)
LongTensor = _type("LongTensor", dtypes.int64)
IntTensor = _type("IntTensor", dtypes.int32)
ShortTensor = _type("ShortTensor", dtypes.int16)
CharTensor = _type("CharTensor", dtypes.int8)
ByteTensor = _type("ByteTensor", dtypes.uint8)
BoolTensor = _type("BoolTensor", dtypes.bool)
