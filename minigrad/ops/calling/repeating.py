"""Call the operations that repeat entries: broadcast to a shape, tile, repeat each entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import listing, shape
from minigrad.ops.calling import shaping
from minigrad.ops.calling.arguments import dimension, sizes_of
from minigrad.ops.calling.pieces import check_tensors
from minigrad.ops.calling.rearranging import dimension_of, ravel
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Size, Tensor, wrap

__all__ = [
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "repeat_interleave",
    "tile",
]


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """Repeat dimensions of size 1 without copying, as `expand` does.

    Example:
        >>> import minigrad as torch
        >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return shaping.expand(input, tuple(size))


def broadcast_shapes(*shapes: Any) -> Size:
    """Give the shape that tensors of these shapes broadcast to.

    Raises:
        RuntimeError: If they do not broadcast.
        ValueError: If a size is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.broadcast_shapes((2, 1), (3,))
        torch.Size([2, 3])
    """
    several = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max(map(len, several), default=0)
    for position, each in enumerate(several):
        for back in range(-1, -1 - len(each), -1):
            if each[back] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if each[back] in (1, result[back]):
                continue
            if result[back] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {each[back]} at {back}! "
                    f"Mismatching argument at index {position} had {each}; but expected shape "
                    f"should be broadcastable to {result}"
                )
            result[back] = each[back]
    return Size(result)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Expand tensors to the shape that they broadcast to.

    Raises:
        RuntimeError: If they do not broadcast.

    Example:
        >>> import minigrad as torch
        >>> a, b = torch.broadcast_tensors(torch.zeros(3), torch.zeros(2, 1))
        >>> a.shape, b.shape
        (torch.Size([2, 3]), torch.Size([2, 3]))
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        raise TypeError(
            f"expected Tensor as element 0 in argument 0, but got {type(tensors[0]).__name__}"
        )
    check_tensors(tensors)
    shapes = [t._array.shape for t in tensors]
    try:
        wanted = np.broadcast_shapes(*shapes)
    except ValueError:
        raise broadcast_error(*shapes) from None
    return tuple(t if t._array.shape == wanted else shape.expand(t, wanted) for t in tensors)


def tile(input: Tensor, dims: Any) -> Tensor:
    """Copy the tensor side by side along each dimension; missing counts at the front are 1.

    Example:
        >>> import minigrad as torch
        >>> torch.tile(torch.tensor([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    counts = sizes_of((tuple(dims),))
    return shaping.repeat(input, (1,) * (input.ndim - len(counts)) + counts)


def _tile(input: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
    return tile(input, sizes_of(sizes if dims is None else (dims,)))


def _broadcast_to(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    return broadcast_to(input, sizes_of(sizes if size is None else (size,)))


_broadcast_to.__name__, _broadcast_to.__doc__ = "broadcast_to", broadcast_to.__doc__
_tile.__name__, _tile.__doc__ = "tile", tile.__doc__


def repeat_interleave(
    input: Any = None,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Repeat each entry, or each slice along a dimension, next to itself.

    Args:
        input: The tensor; or, as the only argument, how often each number from 0 on is given.
        repeats: How often: one number, or one for each slice.
        dim: The dimension; by default all entries in a row.
        output_size: The resulting number of slices, if it is known.

    Raises:
        RuntimeError: If a number is negative, or there are not as many as slices.

    Example:
        >>> import minigrad as torch
        >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
        tensor([1, 1, 2, 2])
        >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 3]))
        tensor([1, 2, 2, 2])
    """
    if repeats is None or input is None:
        input = repeats if input is None else input
        places = _places(input, len(input), output_size)
        return wrap(places)
    if isinstance(repeats, int) and repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        input, dim = input if input.ndim == 1 else ravel(input), 0
    number = dimension(dim, input.ndim)
    if isinstance(repeats, int):
        have = input._array.shape
        dimension(number + 1, input.ndim + 1 if input.ndim else 0)
        total = have[number] * repeats
        _check_output_size(output_size, total)
        wide = shape.unsqueeze(input, number + 1)
        wide = shape.expand(wide, (*have[: number + 1], repeats, *have[number + 1 :]))
        return shaping.view(
            shape.clone_contiguous(wide), *have[:number], total, *have[number + 1 :]
        )
    if not isinstance(repeats, Tensor):
        repeats = wrap(np.asarray(repeats))
    number = dimension_of(dim, input.ndim)
    size = input._array.shape[number]
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats._array.size != 1 and repeats._array.size != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._array.size} and input.size({number}) = {size}"
        )
    places = _places(repeats, size, output_size)
    return listing.index_select(input, number, places)  # type: ignore[no-any-return]


def _check_output_size(given: int | None, total: int) -> None:
    if given is not None and given != total:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {total} but got {given}"
        )


def _places(repeats: Tensor, size: int, output_size: int | None) -> Any:
    counts = repeats._array
    if counts.dtype.name not in ("int32", "int64"):
        kind = dtypes.scalar_name(counts)
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{kind}'")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    places = np.repeat(np.arange(size), counts)
    if output_size is not None and places.size != output_size:
        raise RuntimeError("allocated size does not match required size")
    return places


methods: dict[str, Any] = {
    "broadcast_to": _broadcast_to,
    "repeat_interleave": repeat_interleave,
    "tile": _tile,
}
