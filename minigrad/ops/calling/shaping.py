"""Call the operations that rearrange entries or convert them, as functions and methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import joining, linear_algebra, shape
from minigrad.ops.calling.arguments import cast, dimension, sizes_of
from minigrad.ops.factors import check_expand, type_name
from minigrad.tensor import Tensor

__all__ = [
    "cat",
    "chunk",
    "clone",
    "flatten",
    "flip",
    "permute",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "t",
    "transpose",
    "unbind",
    "unsqueeze",
]


def _resolved(tensor: Tensor, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Work out a size given as -1."""
    count = tensor._array.size
    known = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
    wrong = RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in sizes:
        if known == 0 or count % known:
            raise wrong
        return tuple(count // known if size == -1 else size for size in sizes)
    if known != count:
        raise wrong
    return sizes


def _several(name: str, argument: str, given: Any) -> tuple[int, ...]:
    """Take sizes or dimensions that a function is given in one sequence.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"{name}(): argument '{argument}' (position 2) must be tuple of ints, not "
            f"{type(given).__name__}"
        )
    return sizes_of(tuple(given))


def view(input: Tensor, *size: Any) -> Tensor:
    """Show the same memory in another shape; one size may be -1."""
    if len(size) == 1 and isinstance(size[0], dtypes.dtype):
        raise NotImplementedError("view(dtype) is not offered; use to(dtype) to convert the values")
    return shape.view(input, _resolved(input, sizes_of(size)))  # type: ignore[no-any-return]


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Show the same memory in the shape of another tensor."""
    return view(input, other._array.shape)


def reshape(input: Tensor, shape: Any) -> Tensor:
    """Give the same entries in another shape: a view where the memory allows it, else a copy."""
    return linear_algebra.reshape(input, _resolved(input, _several("reshape", "shape", shape)))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge a range of dimensions into one."""
    sizes = input._array.shape
    first, last = dimension(start_dim, len(sizes)), dimension(end_dim, len(sizes))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last and sizes:
        return input
    return reshape(input, (*sizes[:first], -1, *sizes[last + 1 :]))


def t(input: Tensor) -> Tensor:
    """Transpose a matrix."""
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D. "
            "Use transpose(dim0, dim1) to say which dimensions to exchange."
        )
    return shape.t(input)  # type: ignore[no-any-return]


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions."""
    ndim = input.ndim
    return shape.transpose(input, dimension(dim0, ndim), dimension(dim1, ndim))  # type: ignore[no-any-return]


def permute(input: Tensor, dims: Any) -> Tensor:
    """Reorder the dimensions."""
    order = tuple(dimension(d, input.ndim) for d in _several("permute", "dims", dims))
    if len(order) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {input.ndim} is not "
            f"equal to len(dims) = {len(order)}"
        )
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return shape.permute(input, order)  # type: ignore[no-any-return]


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reverse the order along dimensions."""
    order = tuple(dimension(d, input.ndim) for d in _several("flip", "dims", dims))
    return shape.flip(input, order)  # type: ignore[no-any-return]


def squeeze(input: Tensor, dim: int | None = None) -> Tensor:
    """Leave out dimensions of size 1: all, or one."""
    if dim is None:
        return shape.squeeze_all(input)  # type: ignore[no-any-return]
    return shape.squeeze_dim(input, dimension(dim, input.ndim))  # type: ignore[no-any-return]


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Add a dimension of size 1."""
    return shape.unsqueeze(input, dimension(dim, input.ndim + 1))  # type: ignore[no-any-return]


def expand(input: Tensor, *sizes: Any) -> Tensor:
    """Repeat dimensions of size 1 without copying; -1 keeps a size."""
    wanted = sizes_of(sizes)
    have = input._array.shape
    added = len(wanted) - len(have)
    if added < 0:
        raise RuntimeError(
            f"expand({type_name(input._array)}{{{list(have)}}}, size={list(wanted)}): "
            f"the number of sizes provided ({len(wanted)}) must be greater or equal to the number "
            f"of dimensions in the tensor ({len(have)})"
        )
    full = tuple(
        have[i - added] if size == -1 and i >= added else size for i, size in enumerate(wanted)
    )
    check_expand(have, full)
    return shape.expand(input, full)  # type: ignore[no-any-return]


def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Copy the tensor side by side along each dimension."""
    counts = sizes_of(repeats)
    if len(counts) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: got {len(counts)} and {input.ndim}"
        )
    return shape.repeat(input, counts)  # type: ignore[no-any-return]


def clone(input: Tensor) -> Tensor:
    """Copy the values; gradients pass through."""
    return shape.clone(input)  # type: ignore[no-any-return]


def contiguous(input: Tensor) -> Tensor:
    """Give the tensor itself if its memory is in order, else a copy that is."""
    return input if input.is_contiguous() else shape.clone_contiguous(input)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a dimension.

    Raises:
        RuntimeError: If the other sizes differ.
        ValueError: If there is nothing to join.
    """
    tensors = list(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    _check_tensors(tensors)
    # what is of shape (0,) may be joined to anything, as it always could
    first = next((t._array.shape for t in tensors if t._array.shape != (0,)), (0,))
    number = 0 if first == (0,) else dimension(dim, len(first))
    for position, tensor in enumerate(tensors):
        sizes = tensor._array.shape
        if sizes == (0,):
            continue
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


def _check_tensors(tensors: Sequence[Any]) -> None:
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got "
                f"{type(tensor).__name__}"
            )


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    _check_tensors(tensors)
    return joining.stack(tensors, dimension(dim, tensors[0].ndim + 1))


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Take a tensor apart along a dimension."""
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return joining.unbind(input, dimension(dim, input.ndim))


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    number = dimension(dim, tensor.ndim)
    total = tensor._array.shape[number]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size == 0 and total:
            raise RuntimeError(
                "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{total}"
            )
        size = size or 1
        sizes = [min(size, total - start) for start in range(0, total, size)] or [0]
    else:
        sizes = list(split_size_or_sections)
        if sum(sizes) != total:
            raise RuntimeError(
                "split_with_sizes expects split_sizes to sum exactly to "
                f"{total} (input tensor's size at dimension {number}), but got split_sizes={sizes}"
            )
        return joining.split(tensor, sizes, number, joining.SplitWithSizesBackward0)
    return joining.split(tensor, sizes, number)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces along a dimension."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    total = input._array.shape[dimension(dim, input.ndim)]
    return split(input, -(-total // chunks) or 1, dim)


def to(input: Tensor, *arguments: Any, dtype: Any = None, copy: bool = False) -> Tensor:
    """Convert to another dtype; devices are accepted if they are the CPU."""
    for argument in arguments:
        if isinstance(argument, dtypes.dtype):
            dtype = argument
        elif isinstance(argument, Tensor):
            dtype = argument.dtype
        elif str(argument) != "cpu":
            raise RuntimeError(
                f"minigrad computes on the CPU only, but got device {str(argument)!r}"
            )
    result = input if dtype is None else cast(input, dtype.numpy)
    return clone(result) if copy and result is input else result
