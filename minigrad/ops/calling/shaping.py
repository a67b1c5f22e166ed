"""Call the operations that rearrange entries or convert them, as functions and methods."""

from __future__ import annotations

import math
from typing import Any

from minigrad import dtypes
from minigrad.autograd.versions import counter_of
from minigrad.autograd.views import make_view
from minigrad.ops import linear_algebra, shape
from minigrad.ops.calling.arguments import check_tensor, dimension, sizes_of
from minigrad.ops.calling.converting import clone
from minigrad.ops.calling.pieces import cat, chunk, split, stack, unbind
from minigrad.ops.factors import check_expand, type_name
from minigrad.tensor import Tensor, wrap

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


def resolved(tensor: Tensor, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Work out a size given as -1."""
    count = tensor._array.size
    known = math.prod(sizes)
    if known == count and (known > 0 or min(sizes) >= 0):
        return sizes
    return _inferred(count, sizes)


def _inferred(count: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Work out the size -1, and raise if there is none or no size will do."""
    for place, size in enumerate(sizes):
        if size < -1:
            raise RuntimeError(
                f"invalid shape dimension {size} at index {place} of shape {list(sizes)}"
            )
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = math.prod([size for size in sizes if size != -1])
    if -1 in sizes and (count % known == 0 if known else not count):
        if not known:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the "
                "unspecified dimension size -1 can be any value and is ambiguous"
            )
        return tuple(count // known if size == -1 else size for size in sizes)
    raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")


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
        return _as_type(input, size[0])
    return shape.view(input, resolved(input, sizes_of(size)))  # type: ignore[no-any-return]


def _as_type(input: Tensor, dtype: dtypes.dtype) -> Tensor:
    """Read the same memory as numbers of another type. No gradient flows through."""
    array, wanted = input._array, dtype.numpy
    have, size = array.itemsize, wanted.itemsize
    if have != size:
        names = f"to view {input.dtype.tensor_type} as {dtype.tensor_type}"
        if not array.ndim:
            raise RuntimeError(
                f"self.dim() cannot be 0 {names} (different element sizes). "
                "Give it a dimension with unsqueeze(0)."
            )
        if array.shape[-1] * have % size:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {size // have} {names} (different element "
                f"sizes), but got {array.shape[-1]}"
            )
        if array.size and array.strides[-1] != have and array.shape[-1] > 1:
            raise RuntimeError(
                f"self.stride(-1) must be 1 {names} (different element sizes), but got "
                f"{array.strides[-1] // have}. Use contiguous() first."
            )
    result = wrap(array.view(wanted))
    if input.requires_grad:
        result._version_counter = counter_of(input)
    else:
        make_view(result, input, lambda base: base.view(wanted))
    return result


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Show the same memory in the shape of another tensor."""
    return view(input, other._array.shape)


def reshape(input: Tensor, shape: Any) -> Tensor:
    """Give the same entries in another shape: a view where the memory allows it, else a copy."""
    return linear_algebra.reshape(input, resolved(input, _several("reshape", "shape", shape)))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge a range of dimensions into one."""
    check_tensor("flatten", input)
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


def different(dims: Any, ndim: int) -> tuple[int, ...]:
    """Bring the numbers of several dimensions into the range from 0 on.

    Raises:
        RuntimeError: If one is named twice.
    """
    numbers = tuple(dimension(int(d), ndim) for d in dims)
    if len(set(numbers)) != len(numbers):
        twice = next(number for place, number in enumerate(numbers) if number in numbers[:place])
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return numbers


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reverse the order along dimensions."""
    order = different(_several("flip", "dims", dims), input.ndim)
    if not input.ndim:
        order = ()
    return shape.flip(input, order)  # type: ignore[no-any-return]


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Leave out dimensions of size 1: all, one, or several."""
    check_tensor("squeeze", input)
    if dim is None:
        return shape.squeeze_all(input)  # type: ignore[no-any-return]
    if isinstance(dim, (tuple, list)):
        return shape.squeeze_dims(input, different(dim, input.ndim))  # type: ignore[no-any-return]
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
    if min(full, default=0) < 0:
        place = next(i for i, size in enumerate(full) if size < 0)
        raise RuntimeError(
            f"The expanded size of the tensor ({full[place]}) isn't allowed in a leading, "
            f"non-existing dimension {place}"
        )
    return shape.expand(input, full)  # type: ignore[no-any-return]


def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Copy the tensor side by side along each dimension."""
    counts = sizes_of(repeats)
    if len(counts) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: got {len(counts)} and {input.ndim}"
        )
    if min(counts, default=0) < 0:
        padded = (1,) * (len(counts) - input.ndim) + input._array.shape
        sizes = [size * count for size, count in zip(padded, counts, strict=True)]
        wrong = next(size for size, count in zip(sizes, counts, strict=True) if count < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {wrong}: {sizes}")
    return shape.repeat(input, counts)  # type: ignore[no-any-return]
