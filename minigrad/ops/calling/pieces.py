"""Call the operations that join tensors or take them apart, as functions and methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.ops import joining
from minigrad.ops.calling.arguments import dimension
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor

__all__ = ["cat", "chunk", "split", "stack", "unbind"]


def cat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    *,
    out: Tensor | None = None,
    axis: int | None = None,
) -> Tensor:
    """Join tensors along a dimension.

    Args:
        tensors: The tensors; their other sizes must be equal.
        dim: The dimension.
        out: A tensor that the result is written to.
        axis: NumPy's word for `dim`.

    Raises:
        RuntimeError: If the other sizes differ.
        ValueError: If there is nothing to join.
    """
    if axis is not None:
        dim = axis
    if out is not None:
        return with_out(cat)(tensors, dim, out=out)  # type: ignore[no-any-return]
    tensors = list(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    check_tensors(tensors)
    # what is of shape (0,) may be joined to anything, as it always could
    first = next((t._array.shape for t in tensors if t._array.shape != (0,)), (0,))
    number = 0 if first in ((0,), ()) else dimension(dim, len(first))
    for position, tensor in enumerate(tensors):
        sizes = tensor._array.shape
        if sizes == (0,):
            continue
        if not sizes:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated. "
                "Use stack."
            )
        if len(sizes) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(sizes)}"
            )
        for d, (a, b) in enumerate(zip(first, sizes, strict=True)):
            if a != b and d != number:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {number}. Expected size {a} "
                    f"but got size {b} for tensor number {position} in the list."
                )
    return joining.cat(tensors, number)


def check_tensors(tensors: Sequence[Any]) -> None:
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got "
                f"{type(tensor).__name__}"
            )


def stack(
    tensors: Sequence[Tensor],
    dim: int = 0,
    *,
    out: Tensor | None = None,
    axis: int | None = None,
) -> Tensor:
    """Join tensors of one shape along a new dimension, which may be written to `out`."""
    if axis is not None:
        dim = axis
    if out is not None:
        return with_out(stack)(tensors, dim, out=out)  # type: ignore[no-any-return]
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    check_tensors(tensors)
    return joining.stack(tensors, dimension(dim, tensors[0].ndim + 1))


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Take a tensor apart along a dimension."""
    number = dimension(dim, input.ndim)
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return joining.unbind(input, number)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    return split_into(tensor, split_size_or_sections, dim)


def split_into(
    tensor: Tensor, split_size_or_sections: Any, dim: int, *, unsafe: bool = False
) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces, which count as views of it or, if unsafe, do not."""
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    number = dimension(dim, tensor.ndim)
    total = tensor._array.shape[number]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size < 0:
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={size}"
            )
        if size == 0 and total:
            raise RuntimeError(
                "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{total}"
            )
        size = size or 1
        sizes = [min(size, total - start) for start in range(0, total, size)] or [0]
    else:
        sizes = list(split_size_or_sections)
        if min(sizes, default=0) < 0:
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={sizes}"
            )
        if sum(sizes) != total:
            raise RuntimeError(
                "split_with_sizes expects split_sizes to sum exactly to "
                f"{total} (input tensor's size at dimension {number}), but got split_sizes={sizes}"
            )
        kind: Any = joining.SplitWithSizesBackward0
        if unsafe:
            return joining.unsafe_split(
                tensor, sizes, number, joining.UnsafeSplitWithSizesBackward0
            )
        return joining.split(tensor, sizes, number, kind)
    if unsafe:
        return joining.unsafe_split(tensor, sizes, number, joining.UnsafeSplitBackward0)
    return joining.split(tensor, sizes, number)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces along a dimension."""
    return chunk_into(input, chunks, dim)


def chunk_into(input: Tensor, chunks: int, dim: int, *, unsafe: bool = False) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces; see `split_into`."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._array.shape[dimension(dim, input.ndim)]
    if not total:
        return split_into(input, [0] * chunks, dim, unsafe=unsafe)
    return split_into(input, -(-total // chunks) or 1, dim, unsafe=unsafe)
