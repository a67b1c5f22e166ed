"""Call the operations that look at a part of a tensor, or write one: select, narrow, unfold."""

from __future__ import annotations

from typing import Any

from minigrad.ops import parts, patching, turning
from minigrad.ops.calling import converting
from minigrad.ops.calling.arguments import dimension, sizes_of
from minigrad.tensor import Tensor

__all__ = [
    "as_strided",
    "narrow",
    "select",
    "select_scatter",
    "slice_scatter",
]


def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """Give one entry along a dimension, as a view without that dimension.

    Raises:
        IndexError: If there is none, or the tensor has no dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)
        tensor([1, 3])
    """
    number, place = _selected(input, dim, int(index))
    return parts.select(input, number, place)  # type: ignore[no-any-return]


def _selected(input: Tensor, dim: int, index: int) -> tuple[int, int]:
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    number = dimension(dim, input.ndim)
    size = input._array.shape[number]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size "
            f"{list(input._array.shape)} at dimension {number}"
        )
    return number, index % size


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Give a range along a dimension, by its start and length, as a view.

    Raises:
        RuntimeError: If it ends outside of the tensor, or the tensor has no dimensions.
        IndexError: If it begins outside.

    Example:
        >>> import minigrad as torch
        >>> torch.narrow(torch.tensor([1, 2, 3, 4]), 0, 1, 2)
        tensor([2, 3])
    """
    if isinstance(start, Tensor):
        if start.ndim or start._array.dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = int(start.item())
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    number = dimension(dim, input.ndim)
    size = input._array.shape[number]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    first = start + size if start < 0 else start
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return parts.slice_dim(input, number, first, first + length, 1)  # type: ignore[no-any-return]


def _check_part(src: Tensor, have: tuple[int, ...]) -> None:
    if src._array.shape != have:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(have)}"
        )


def _in_type_of(src: Tensor, input: Tensor) -> Tensor:
    own = input._array.dtype
    return src if src._array.dtype == own else converting.to(src, input.dtype)


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Give a copy with another tensor in a range along a dimension: `x[start:end:step] = src`.

    Raises:
        RuntimeError: If the other tensor has not the shape of that range.

    Example:
        >>> import minigrad as torch
        >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
        tensor([0., 1., 1., 0.])
    """
    if not input.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    number, have = dimension(dim, input.ndim), input._array.shape
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, step = slice(start, end, step).indices(have[number])
    last = max(first, last)
    _check_part(src, (*have[:number], len(range(first, last, step)), *have[number + 1 :]))
    given = _in_type_of(src, input)
    return patching.slice_scatter(input, given, number, first, last, step)  # type: ignore[no-any-return]


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Give a copy with another tensor in one place along a dimension: `x[index] = src`.

    Raises:
        RuntimeError: If the other tensor has not the shape of that place.

    Example:
        >>> import minigrad as torch
        >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
        tensor([[0., 0.],
                [1., 1.]])
    """
    number, place = _selected(input, dim, index)
    have = input._array.shape
    _check_part(src, (*have[:number], *have[number + 1 :]))
    return patching.select_scatter(input, _in_type_of(src, input), number, place)  # type: ignore[no-any-return]


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Give all windows of a size along a dimension, a step apart, as a view.

    Args:
        input: The tensor.
        dimension: The dimension that the window slides along.
        size: The size of the window.
        step: How far it moves.

    Returns:
        A view with a dimension of windows, and at the end one of the entries of each.

    Raises:
        RuntimeError: If the window is larger than the dimension, or the step is not positive.

    Example:
        >>> import minigrad as torch
        >>> torch.arange(5).unfold(0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3],
                [2, 3, 4]])
    """
    number = _dimension(dimension, input.ndim)
    limit = input._array.shape[number] if input.ndim else 1
    if size > limit:
        raise RuntimeError(
            f"maximum size for tensor at dimension {number} is {limit} but size is {size}"
        )
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return turning.unfold_dim(input, number, size, step)  # type: ignore[no-any-return]


_dimension = dimension  # a parameter of `unfold` has this name


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Look at the tensor's memory with any size and strides.

    Args:
        input: The tensor.
        size: The size of the view.
        stride: How many entries in memory lie between neighbors, along each dimension.
        storage_offset: How many entries of the memory come before the first; by default as many
            as before the tensor's own first.

    Raises:
        RuntimeError: If the view would reach outside of the memory.

    Example:
        >>> import minigrad as torch
        >>> torch.as_strided(torch.arange(6), (2, 2), (3, 1))
        tensor([[0, 1],
                [3, 4]])
    """
    sizes, steps, offset, own = strided(input, size, stride, storage_offset)
    return turning.as_strided(input, sizes, steps, offset, own)  # type: ignore[no-any-return]


def strided(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None
) -> tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]:
    """Check a view by strides, and give its size, strides, start, and the tensor's own strides."""
    sizes, steps = sizes_of((tuple(size),)), sizes_of((tuple(stride),))
    array = input._array
    storage = turning.storage_of(array)
    first = turning.first_place(array, storage) if array.size else 0
    offset = first if storage_offset is None else storage_offset
    if len(sizes) != len(steps):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in steps):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(steps)}"
        )
    if any(count < 0 for count in sizes):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(sizes)} and "
            f"strides={list(steps)}"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    reach = sum((count - 1) * step for count, step in zip(sizes, steps, strict=True))
    needed = 0 if 0 in sizes else (offset + reach + 1) * array.itemsize
    if needed > storage.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {offset}, and "
            f"itemsize {array.itemsize} requiring a storage size of {needed} are out of bounds for "
            f"storage of size {storage.nbytes}"
        )
    own = tuple(step // array.itemsize for step in array.strides)
    return sizes, steps, offset - first, own


methods: dict[str, Any] = {
    "as_strided": as_strided,
    "narrow": narrow,
    "select": select,
    "select_scatter": select_scatter,
    "slice_scatter": slice_scatter,
    "unfold": unfold,
}
