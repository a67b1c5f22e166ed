"""Call the less usual operations that rearrange entries: move dimensions, flip, roll, turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import linear_algebra, shape, turning
from minigrad.ops.calling import converting, shaping
from minigrad.ops.calling.arguments import dimension, sizes_of
from minigrad.tensor import Tensor

__all__ = [
    "fliplr",
    "flipud",
    "moveaxis",
    "movedim",
    "ravel",
    "roll",
    "rot90",
    "swapaxes",
    "swapdims",
    "unflatten",
]


def _one_or_more(given: Any) -> tuple[int, ...]:
    return tuple(given) if isinstance(given, (tuple, list)) else (int(given),)


def dimension_of(dim: int, ndim: int) -> int:
    """Bring a dimension's number into the range from 0 on; a tensor must have dimensions.

    Raises:
        IndexError: If there is no such dimension.
    """
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return dimension(dim, ndim)


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Make several dimensions of one; one of their sizes may be -1.

    Args:
        input: The tensor.
        dim: The dimension to take apart.
        sizes: The sizes of the dimensions in its place.

    Raises:
        RuntimeError: If they do not multiply to the size of the dimension.

    Example:
        >>> import minigrad as torch
        >>> torch.unflatten(torch.zeros(2, 6), 1, (3, -1)).shape
        torch.Size([2, 3, 2])
    """
    wanted = sizes_of((tuple(sizes),))
    number, have = dimension(dim, input.ndim), input._array.shape
    if not wanted:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not have:
        raise RuntimeError(
            f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no "
            "dimensions"
        )
    total = have[number]
    known = int(np.prod([size for size in wanted if size != -1], dtype=np.int64))
    if wanted.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if (known == 0 or total % known) if -1 in wanted else known != total:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(wanted)} don't multiply up to the size of dim "
            f"{number} ({total}) in the input tensor"
        )
    inferred = tuple(total // known if size == -1 else size for size in wanted)
    return shaping.view(input, *have[:number], *inferred, *have[number + 1 :])


def ravel(input: Tensor) -> Tensor:
    """Give all entries in a row: a view where the memory allows it, else a copy.

    Example:
        >>> import minigrad as torch
        >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 2, 3, 4])
    """
    return shaping.view(converting.contiguous(input), -1)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchange two dimensions, as `transpose` does.

    Example:
        >>> import minigrad as torch
        >>> torch.swapaxes(torch.zeros(2, 3), 0, 1).shape
        torch.Size([3, 2])
    """
    return shaping.transpose(input, axis0, axis1)


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions, as `transpose` does."""
    return shaping.transpose(input, dim0, dim1)


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places; the others keep their order.

    Args:
        input: The tensor.
        source: The dimension, or several.
        destination: Where each of them goes.

    Raises:
        RuntimeError: If a dimension is named twice, or there are not as many destinations.

    Example:
        >>> import minigrad as torch
        >>> torch.movedim(torch.zeros(2, 3, 4), 0, -1).shape
        torch.Size([3, 4, 2])
    """
    given, places = _one_or_more(source), _one_or_more(destination)
    if len(given) != len(places):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(given)} dims) should "
            f"contain the same number of dims as destination ({list(places)} dims)"
        )
    numbers = [dimension(d, input.ndim) for d in given]
    onto = [dimension(d, input.ndim) for d in places]
    for name, dims, as_given in (("source", numbers, given), ("destination", onto, places)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(as_given)})")
    if not input.ndim:
        return shape.alias(input)  # type: ignore[no-any-return]
    order = [d for d in range(input.ndim) if d not in numbers]
    for place, number in sorted(zip(onto, numbers, strict=True)):
        order.insert(place, number)
    return shape.permute(input, tuple(order))  # type: ignore[no-any-return]


def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places, as `movedim` does."""
    return movedim(input, source, destination)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Give the same entries in the shape of another tensor."""
    return linear_algebra.reshape(input, shaping.resolved(input, other._array.shape))


def fliplr(input: Tensor) -> Tensor:
    """Reverse the order of the columns.

    Example:
        >>> import minigrad as torch
        >>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
        tensor([[2, 1],
                [4, 3]])
    """
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return shape.flip(input, (1,))  # type: ignore[no-any-return]


def flipud(input: Tensor) -> Tensor:
    """Reverse the order of the rows.

    Example:
        >>> import minigrad as torch
        >>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
        tensor([[3, 4],
                [1, 2]])
    """
    if not input.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return shape.flip(input, (0,))  # type: ignore[no-any-return]


def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Shift entries along dimensions; what falls off at the end comes in at the beginning.

    Args:
        input: The tensor.
        shifts: How far; negative to the front. One number, or one for each dimension.
        dims: The dimensions; by default all entries in a row.

    Raises:
        RuntimeError: If there are not as many shifts as dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.roll(torch.tensor([1, 2, 3]), 1)
        tensor([3, 1, 2])
    """
    steps = _one_or_more(shifts)
    numbers = () if dims is None else _one_or_more(dims)
    if not steps:
        raise RuntimeError("`shifts` required")
    if len(steps) != len(numbers) and not (len(steps) == 1 and not numbers):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(numbers)}"
        )
    if input._array.size:
        numbers = tuple(dimension_of(d, input.ndim) for d in numbers)
    return turning.roll(input, tuple(map(int, steps)), numbers)  # type: ignore[no-any-return]


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Turn a matrix by 90 degrees, from the first of two dimensions to the second.

    Args:
        input: The tensor, of at least two dimensions.
        k: How often; negative for the other direction.
        dims: The two dimensions.

    Raises:
        RuntimeError: If these are not two different ones, or the tensor has too few.

    Example:
        >>> import minigrad as torch
        >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
        tensor([[2, 4],
                [1, 3]])
    """
    numbers = tuple(dims)
    if len(numbers) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(numbers)}")
    ndim = input.ndim
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    if numbers[0] == numbers[1] or abs(numbers[0] - numbers[1]) == ndim:
        raise RuntimeError(
            "expected rotation dims to be different, but got dim0 = "
            f"{numbers[0]} and dim1 = {numbers[1]}"
        )
    both = tuple(dimension(d, ndim) for d in numbers)
    return turning.rot90(input, k, both)  # type: ignore[no-any-return]


methods: dict[str, Any] = {
    "fliplr": fliplr,
    "flipud": flipud,
    "moveaxis": moveaxis,
    "movedim": movedim,
    "ravel": ravel,
    "roll": roll,
    "rot90": rot90,
    "swapdims": swapdims,
    "unflatten": unflatten,
    "reshape_as": reshape_as,
}
