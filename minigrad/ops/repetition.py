"""Repeat entries: broadcast several tensors, repeat each entry, give the points of a grid."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.layout import Size
from minigrad.faces import attach
from minigrad.faces.arguments import check_tensors, dimension
from minigrad.ops import index_operations, shape
from minigrad.ops.type_promotion import broadcast_error


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
    tensors = tuple(check_tensors(tensors))
    shapes = [t._array.shape for t in tensors]
    try:
        wanted = np.broadcast_shapes(*shapes)
    except ValueError:
        raise broadcast_error(*shapes) from None
    return tuple(t if t._array.shape == wanted else shape.expand(t, wanted) for t in tensors)


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
        input, dim = input if input.ndim == 1 else shape.ravel(input), 0
    number = dimension(dim, input.ndim)
    if isinstance(repeats, int):
        have = input._array.shape
        dimension(number + 1, input.ndim + 1 if input.ndim else 0)
        total = have[number] * repeats
        _check_output_size(output_size, total)
        wide = shape.unsqueeze(input, number + 1)
        wide = shape.expand(wide, (*have[: number + 1], repeats, *have[number + 1 :]))
        copied = shape.clone_contiguous(wide)
        return shape.view(copied, (*have[:number], total, *have[number + 1 :]))
    if not isinstance(repeats, Tensor):
        repeats = wrap(np.asarray(repeats))
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    size = input._array.shape[number]
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats._array.size != 1 and repeats._array.size != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._array.size} and input.size({number}) = {size}"
        )
    places = _places(repeats, size, output_size)
    return index_operations.index_select(input, number, places)


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


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Give the coordinates of all points of a grid, from those along each axis.

    Args:
        *tensors: The coordinates along each axis; one by one or in a sequence.
        indexing: "ij": the first axis is the first dimension. "xy": the first two are exchanged, as
            in pictures. PyTorch warns if nothing is said, and takes "ij".

    Returns:
        For each axis a view of the shape of the grid.

    Raises:
        RuntimeError: If the tensors have several dimensions or different types.

    Example:
        >>> import minigrad as torch
        >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
        tensor([[1, 1],
                [2, 2]])
    """
    several = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    several = check_tensors(several)
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            'argument. Say indexing="ij" for the meaning it has now.',
            UserWarning,
            stacklevel=2,
        )
    if not several:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in several:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{tensor._array}"
            )
        if tensor._array.dtype != several[0]._array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    places = list(range(len(several)))
    if indexing == "xy":
        places[:2] = reversed(places[:2])
    sizes = tuple(several[place].numel() for place in places)
    grids = []
    for place, tensor in zip(places, several, strict=True):
        line = [1] * len(several)
        line[place] = tensor.numel()
        grids.append(shape.expand(shape.view(tensor, tuple(line)), sizes))
    return tuple(grids)


attach(
    __name__,
    {"repeat_interleave": repeat_interleave},
    {
        "broadcast_shapes": broadcast_shapes,
        "broadcast_tensors": broadcast_tensors,
        "meshgrid": meshgrid,
        "repeat_interleave": repeat_interleave,
    },
)
