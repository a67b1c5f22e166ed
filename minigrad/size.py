"""The shape of a tensor: a tuple that prints as PyTorch prints it, and stays one when cut."""

from __future__ import annotations

import math
from typing import Any, Self


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

    def __add__(self, other: Any) -> Size:  # type: ignore[override]
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
