"""Look at a tensor: its shape, strides and bytes; its numbers for Python and for NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import index
from typing import Any, Self

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import attach
from minigrad.autograd.views import strides_of
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.signatures.arguments import whole


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch prints it.

    Example:
        >>> Size((2, 3))
        torch.Size([2, 3])
        >>> Size((2, 3))[:1] + (4,)
        torch.Size([2, 4])
    """

    __slots__ = ()

    def __new__(cls, iterable: Any = (), /) -> Self:
        """Take whole numbers, also of NumPy's types."""
        return super().__new__(cls, map(index, iterable))

    def numel(self) -> int:
        """Give the number of entries of a tensor of this shape."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if index.__class__ is slice else found

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)


_new_size = tuple.__new__  # without a look at each number


@attach(Tensor)
class Layout(Tensor):
    """The methods of a tensor that tell of its shape and its memory."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        """The number of entries along each dimension."""
        return _new_size(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """Give the shape, or the number of entries along one dimension."""
        if dim is None:
            return _new_size(Size, self._array.shape)
        return self._along(self._array.shape, dim, "size")

    def _along(self, steps: tuple[int, ...], dim: Any, caller: str) -> int:
        """Give the entry of a dimension.

        Raises:
            IndexError: If there is no such dimension.
        """
        try:
            return steps[dim if dim.__class__ is int else whole(caller, dim, "dim", 1)]
        except IndexError:
            raise IndexError(
                f"Dimension out of range: {dim} is not among the {len(steps)} dimensions"
            ) from None

    def dim(self) -> int:
        """Give the number of dimensions."""
        return int(self._array.ndim)

    ndimension = dim
    ndim = property(dim, doc="The number of dimensions.")

    def numel(self) -> int:
        """Give the number of entries."""
        return int(self._array.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Give the steps in memory, in entries, along each dimension or along one."""
        steps = strides_of(self._array)
        return steps if dim is None else self._along(steps, dim, "stride")

    def data_ptr(self) -> int:
        """Give the address of the first entry; tensors that share memory may share it.

        Example:
            >>> import minigrad as torch
            >>> x = torch.ones(3)
            >>> x.data_ptr() == x[:2].data_ptr(), x.data_ptr() == x.clone().data_ptr()
            (True, False)
        """
        return int(self._array.ctypes.data) if self._array.size else 0

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Tell whether the entries lie in memory in the order in which they are printed."""
        if memory_format is not None:
            self._check_memory_format(memory_format, "is_contiguous")
        return bool(self._array.flags.c_contiguous)

    def element_size(self) -> int:
        """Give the bytes an entry."""
        return int(self._array.itemsize)

    itemsize = property(element_size, doc="The bytes an entry.")

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return int(self._array.nbytes)


# ------------------------------------------------------------------ numbers

_type = type  # a method of tensors is called so, too

_NO_NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


@attach(Tensor)
class Conversions(Tensor):
    """The methods of a tensor by which Python and NumPy get its numbers."""

    __slots__ = ()

    # ------------------------------------------------------------------ type

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the entries."""
        return dtypes.of_array(self._array)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Give the name of the tensor's type, or the tensor in another type.

        Args:
            dtype: The type; or its name, such as "torch.DoubleTensor", or the class of that name.
            non_blocking: Anything; there is nothing to wait for.

        Raises:
            ValueError: If there is no type of that name.
        """
        if dtype is None:
            return f"torch.{self.dtype.tensor_type}Tensor"
        if isinstance(dtype, str):
            dtype = dtypes.named(dtype)
        if isinstance(dtype, _type):
            dtype = getattr(dtype, "dtype", dtype)
        return self.to(dtype)

    def type_as(self, other: Tensor) -> Tensor:
        """Give the tensor in the type of another one."""
        return self.to(other.dtype)

    def is_floating_point(self) -> bool:
        """Tell whether the entries are floating-point numbers."""
        return self.dtype.is_floating_point

    # ------------------------------------------------------------------ NumPy

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Give the values as a NumPy array that shares the tensor's memory.

        Args:
            force: Detach first if the tensor requires a gradient.

        Raises:
            RuntimeError: If the tensor requires a gradient.

        Example:
            >>> import minigrad as torch
            >>> torch.tensor([1.0, 2.0]).numpy()
            array([1., 2.], dtype=float32)
        """
        if is_grad_enabled() and self.requires_grad and not force:
            raise RuntimeError(_NO_NUMPY)
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    # ------------------------------------------------------------------ Python

    def item(self) -> Any:
        """Give the only entry as a Python number.

        Raises:
            RuntimeError: If there is more than one entry, or none.
        """
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar. "
                "Use tolist() for a list of all of them."
            )
        return self._array.item()

    def tolist(self) -> Any:
        """Give the entries as nested lists of Python numbers."""
        return self._array.tolist()

    def __float__(self) -> float:
        return self._as(float, "double")

    def __int__(self) -> int:
        return self._as(int, "int64_t")

    def _as(self, kind: Any, name_in_c: str = "") -> Any:
        """Give the only entry as a number of Python.

        Raises:
            RuntimeError: If its imaginary part would be lost.
            TypeError: If it is a formula.
        """
        number = self._single(kind.__name__)
        if isinstance(number, complex) and kind is not complex:
            raise RuntimeError(
                f"value cannot be converted to type {name_in_c} without overflow. It is {number}: "
                "take its real part with .real."
            )
        try:
            return kind(number)
        except TypeError:
            raise TypeError(
                f"{number} is not a number, so it can't become a Python {kind.__name__}. If it is "
                "a formula: what depends on the values of its symbols is not known before numbers "
                "are put in (minigrad.symbolic.evaluate)."
            ) from None

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __complex__(self) -> complex:
        return self._as(complex)

    def _single(self, kind: str) -> Any:
        if kind != "int" and self.requires_grad and is_grad_enabled():
            warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first."
            )
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._array.item()

    def __bool__(self) -> bool:
        if self._array.size != 1:
            what = "no values" if self._array.size == 0 else "more than one value"
            raise RuntimeError(
                f"Boolean value of Tensor with {what} is ambiguous. Use any() or all() to say "
                "which entries count."
            )
        return bool(self._array)

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Self]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Any:
        return self.flip(0) if self._array.ndim else self

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex, np.number)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{element.__class__}."
            )
        same: Any = element == self
        return bool(same.any())

    def __hash__(self) -> int:
        return id(self)
