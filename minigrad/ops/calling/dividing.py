"""Call the less usual operations that take a tensor apart: tensor_split, hsplit, unsafe_chunk."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from minigrad import dtypes
from minigrad.ops import parts
from minigrad.ops.calling import pieces
from minigrad.ops.calling.arguments import dimension
from minigrad.tensor import Tensor

__all__ = [
    "dsplit",
    "hsplit",
    "split_with_sizes",
    "tensor_split",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
]


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of given sizes along a dimension, as `split` does.

    Example:
        >>> import minigrad as torch
        >>> torch.split_with_sizes(torch.arange(3), [1, 2])
        (tensor([0]), tensor([1, 2]))
    """
    return pieces.split(input, list(split_sizes), dim)


def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: int | None = None,
    tensor_indices_or_sections: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of nearly equal pieces, or at given places, along a dimension.

    Args:
        input: The tensor, of at least one dimension.
        indices_or_sections: The number of pieces, or the places to cut at; or a tensor of these.
        dim: The dimension.
        indices: The places, by name.
        sections: The number of pieces, by name.
        tensor_indices_or_sections: A tensor of either, by name.

    Raises:
        RuntimeError: If the number is not positive, or the tensor has no dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor_split(torch.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    where = _given(indices_or_sections, indices, sections, tensor_indices_or_sections)
    if not input.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    if isinstance(where, Tensor):
        where = _places(where)
    number = dimension(dim, input.ndim)
    size = input._array.shape[number]
    if isinstance(where, int):
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        each, larger = divmod(size, where)
        starts = [place * each + min(place, larger) for place in range(where + 1)]
        bounds = list(itertools.pairwise(starts))
    else:
        cuts = [int(cut) for cut in where]
        bounds = list(zip([0, *cuts], [*cuts, size], strict=True))
    return tuple(_range(input, number, start, stop) for start, stop in bounds)


def _given(*ways: Any) -> Any:
    """Give the number of pieces or the places to cut at, in whichever way they were given."""
    return next((way for way in ways if way is not None), None)


def _places(given: Tensor) -> Any:
    if given._array.dtype.name != "int64":
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{dtypes.scalar_name(given._array)}"
        )
    if given.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {given.ndim} dims"
        )
    return given.tolist()


def _range(input: Tensor, dim: int, start: int, stop: int) -> Tensor:
    start, stop, _ = slice(start, stop).indices(input._array.shape[dim])
    return parts.slice_dim(input, dim, start, max(start, stop), 1)  # type: ignore[no-any-return]


def _along(name: str, least: int, dim: int) -> Any:
    """Make `hsplit` and its like, which cut along a fixed dimension."""

    def divide(
        input: Tensor,
        indices_or_sections: Any = None,
        *,
        indices: Any = None,
        sections: int | None = None,
    ) -> tuple[Tensor, ...]:
        where = _given(indices_or_sections, indices, sections)
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
                f"with {input.ndim} dimensions!"
            )
        number = 0 if input.ndim == 1 else dim
        size = input._array.shape[number]
        if isinstance(where, int) and (not where or size % where):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {number}, but the size of the "
                f"dimension {size} is not divisible by the split_size {where}!"
            )
        return tensor_split(input, where, number)

    divide.__name__ = name
    divide.__doc__ = f"""Cut a tensor into equal pieces, or at given places, along dimension {dim}.

    Args:
        input: The tensor, of at least {least} dimension{"s" * (least > 1)}.
        indices_or_sections: The number of pieces, or the places to cut at.
        indices: The places, by name.
        sections: The number of pieces, by name.

    Raises:
        RuntimeError: If the pieces would not be equal, or the tensor has too few dimensions.
    """
    return divide


hsplit = _along("hsplit", 1, 1)
vsplit = _along("vsplit", 2, 0)
dsplit = _along("dsplit", 3, 2)


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces that do not count as views, so that they may be changed in place.

    They share the memory all the same: what becomes of the others is not recorded.

    Example:
        >>> import minigrad as torch
        >>> torch.unsafe_split(torch.arange(3), 2)
        (tensor([0, 1]), tensor([2]))
    """
    return pieces.split_into(input, split_size, dim, unsafe=True)


def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of given sizes that do not count as views; see `unsafe_split`."""
    return pieces.split_into(input, list(split_sizes), dim, unsafe=True)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces that do not count as views; see `unsafe_split`."""
    return pieces.chunk_into(input, chunks, dim, unsafe=True)


methods: dict[str, Any] = {name: globals()[name] for name in __all__}
