"""Tell how a tensor lies in memory: its shape as a `Size`, its strides, its bytes."""

from __future__ import annotations

import math
from typing import Any, Self

from minigrad.autograd.messages import type_name
from minigrad.core.plugs import attach
from minigrad.core.tensor import Tensor


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
        """Check that all sizes are whole numbers."""
        size = super().__new__(cls, iterable)
        for number in size:
            if number.__class__ is not int:
                return super().__new__(cls, _checked(size))
        return size

    def numel(self) -> int:
        """Give the number of entries of a tensor of this shape."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        return Size((*self, *other))

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


def _checked(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Take whole numbers of other types for sizes, such as NumPy's.

    Raises:
        TypeError: If something else is among them.
    """
    whole = []
    for position, number in enumerate(sizes):
        if isinstance(number, float) or not hasattr(number, "__index__"):
            raise TypeError(
                f"torch.Size() takes an iterable of 'int' (item {position} is "
                f"'{type(number).__name__}')"
            )
        whole.append(number.__index__())
    return tuple(whole)


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
        try:
            return self._array.shape[dim]
        except (IndexError, TypeError):
            raise self._no_dimension("size", dim) from None

    def _no_dimension(self, method: str, dim: Any) -> Exception:
        """Make the error for a dimension that is not there."""
        if not hasattr(dim, "__index__"):
            return TypeError(
                f"{method}(): argument 'dim' (position 1) must be int, not {type_name(dim)}"
            )
        ndim = self._array.ndim
        if not ndim:
            return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got "
            f"{dim})"
        )

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._array.ndim)

    def dim(self) -> int:
        """Give the number of dimensions."""
        return int(self._array.ndim)

    ndimension = dim

    def numel(self) -> int:
        """Give the number of entries."""
        return int(self._array.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Give the steps in memory, in entries, along each dimension or along one."""
        steps = strides_of(self._array)
        if dim is None:
            return steps
        try:
            return steps[dim]
        except (IndexError, TypeError):
            raise self._no_dimension("stride", dim) from None

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

    @property
    def itemsize(self) -> int:
        """The bytes an entry."""
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return int(self._array.nbytes)


def strides_of(array: Any) -> tuple[int, ...]:
    """Give the steps in memory, in entries, along each dimension, as PyTorch counts them.

    NumPy's steps are 0 where there are no entries, and where a size of 1 was broadcast to 1.
    """
    steps = [step // array.itemsize for step in array.strides]
    for d in range(array.ndim - 1, -1, -1):
        if not array.size or (array.shape[d] == 1 and not steps[d]):
            last = d + 1 == array.ndim
            steps[d] = 1 if last else max(array.shape[d + 1], 1) * steps[d + 1]
    return tuple(steps)
