"""Pad images and sequences at their edges, as layers."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.nn.functional.padding import pad
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """Pad in a number of dimensions; what a layer of a kind fills in are these two attributes."""

    __constants__: ClassVar[list[str]] = ["padding"]
    _dims: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        several = 2 * self._dims
        self.padding = (padding,) * several if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != several:
            raise ValueError(
                f"padding must be one number or {several} of them, but there are "
                f"{len(self.padding)}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """Give the padding."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    __constants__: ClassVar[list[str]] = ["padding", "value"]
    _mode = "constant"

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Give the padding and the number."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Surround the last dimension with a number.

    Args:
        padding: How much on the left and right; or one number for both.
        value: The number.

    Shape:
        - input: (N, C, W), (C, W), or any other
        - output: (N, C, left + W + right)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ConstantPad1d((1, 2), 7.0)(torch.ones(1, 2))
        tensor([[7., 1., 1., 7., 7.]])
    """

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """Surround the last two dimensions with a number.

    Args:
        padding: How much on the left, right, top and bottom; or one number for all.
        value: The number.
    """

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """Surround the last three dimensions with a number.

    Args:
        padding: How much on the left, right, top, bottom, front and back; or one number for all.
        value: The number.
    """

    _dims = 3


class _Zeros:
    """Surround with 0; printed without saying so."""

    def __init__(self: Any, padding: int | tuple[int, ...]) -> None:
        super().__init__(padding, 0.0)  # type: ignore[call-arg]

    def extra_repr(self: Any) -> str:
        """Give the padding."""
        return f"{self.padding}"


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Surround the last dimension with zeros; `padding` as for `ConstantPad1d`."""


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Surround the last two dimensions with zeros; `padding` as for `ConstantPad2d`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 1, 1))
        tensor([[[0., 0., 0.],
                 [0., 1., 0.],
                 [0., 0., 0.]]])
    """


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Surround the last three dimensions with zeros; `padding` as for `ConstantPad3d`."""


class ReflectionPad1d(_Pad):
    """Continue the last dimension as in a mirror, without repeating the entry at the edge.

    Args:
        padding: How much on the left and right, less than the size; or one number for both.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReflectionPad1d(2)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """

    _dims, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Continue the last two dimensions as in a mirror; see `ReflectionPad1d`."""

    _dims, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Continue the last three dimensions as in a mirror; see `ReflectionPad1d`."""

    _dims, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Repeat the entries at the edges of the last dimension.

    Args:
        padding: How much on the left and right; or one number for both.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReplicationPad1d((1, 2))(torch.tensor([[1.0, 2.0]]))
        tensor([[1., 1., 2., 2., 2.]])
    """

    _dims, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Repeat the entries at the edges of the last two dimensions; see `ReplicationPad1d`."""

    _dims, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Repeat the entries at the edges of the last three dimensions; see `ReplicationPad1d`."""

    _dims, _mode = 3, "replicate"


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        least = self._dims + 1
        if input.ndim not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.ndim}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """Continue the last dimension with the entries from its other side.

    Args:
        padding: How much on the left and right, no more than the size; or one number for both.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.CircularPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 1., 2., 3., 1.]])
    """

    _dims = 1


class CircularPad2d(_CircularPad):
    """Continue the last two dimensions from their other sides; see `CircularPad1d`."""

    _dims = 2


class CircularPad3d(_CircularPad):
    """Continue the last three dimensions from their other sides; see `CircularPad1d`."""

    _dims = 3
