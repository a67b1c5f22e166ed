"""Call methods that take sizes, or dimensions, one by one as well as in one sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.ops.calling import shaping
from minigrad.tensor import Tensor


def _named(name: str, argument: str, given: Any) -> tuple[Any, ...]:
    """Give what was said by keyword.

    Raises:
        TypeError: If nothing was said at all.
    """
    if given is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
    return (given,)


def view(input: Tensor, *sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Show the same memory in another shape, of which one size may be -1, or as another dtype."""
    return shaping.view(input, *(sizes or _named("view", "size", size if dtype is None else dtype)))


def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Give the same entries in another shape: a view where the memory allows it, else a copy."""
    return shaping.reshape(input, sizes or _named("reshape", "shape", shape)[0])


def expand(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Repeat dimensions of size 1 without copying; -1 keeps a size."""
    return shaping.expand(input, *(sizes or _named("expand", "size", size)))


def repeat(input: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Copy the tensor side by side along each dimension."""
    return shaping.repeat(input, *(sizes or _named("repeat", "repeats", repeats)))


def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """Reorder the dimensions."""
    return shaping.permute(input, order or _named("permute", "dims", dims)[0])


def flip(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """Reverse the order along dimensions."""
    if len(order) == 1 and isinstance(order[0], range):
        order = tuple(order[0])
    return shaping.flip(input, order or _named("flip", "dims", dims)[0])


def split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    return shaping.split(input, split_size, dim)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchange two dimensions."""
    return shaping.transpose(input, axis0, axis1)


methods: dict[str, Callable[..., Any]] = {
    "expand": expand,
    "flip": flip,
    "permute": permute,
    "repeat": repeat,
    "reshape": reshape,
    "split": split,
    "swapaxes": swapaxes,
    "view": view,
    "view_as": shaping.view_as,
}
