"""Join tensors and take them apart: cat, stack, unbind, split, chunk and their relatives."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.core.modes import attend, grad_mode
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.reduce import reduce_gradient
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, make_view, wrap
from minigrad.creation import dtypes
from minigrad.faces import face
from minigrad.faces.arguments import check_tensors, dimension
from minigrad.ops import shape
from minigrad.ops.own_nodes import new_node
from minigrad.ops.parts import slice_dim
from minigrad.ops.type_promotion import applied


def _reduced(node: Node, parts: list[Any]) -> list[Any]:
    """Bring gradients back to the dtypes of the inputs, where these were converted."""
    wanted = node._broadcast or (None,) * len(parts)
    return [reduce_gradient(part, each) for part, each in zip(parts, wanted, strict=True)]


class CatBackward0(Node):
    """Backward of `cat`: each input gets its part of the gradient."""

    __slots__ = ()
    _computes = "together"
    _names_of_saved = ("dim", "sizes")

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Cut the gradient where the inputs were joined."""
        dim, sizes = self._saved or ()
        parts, start = [], 0
        for size in sizes:
            if size is None:  # what has no entries is not really joined
                nothing = np.zeros(0, self._dtype)
                parts.append(wrap(nothing) if isinstance(gradient, Tensor) else nothing)
                continue
            parts.append(applied(slice_dim, gradient, dim, start, start + size, 1))
            start += size
        return _reduced(self, parts)

    _run_recorded = _run


class StackBackward0(Node):
    """Backward of `stack`: each input gets its layer of the gradient."""

    __slots__ = ()
    _computes = "together"
    _names_of_saved = ("dim",)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Take the gradient apart along the new dimension."""
        (dim,) = self._saved or ()
        count = len(self.next_functions)
        parts = [gradient[(slice(None),) * dim + (i,)] for i in range(count)]
        return _reduced(self, parts)

    _run_recorded = _run


class SplitBackward0(Node):
    """Backward of `split` into pieces of one size: join the gradients of the pieces."""

    __slots__ = ()
    _multiple = True
    _names_of_saved = ("dim",)
    _put_together: Any = staticmethod(np.concatenate)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Put the gradients together, with zeros for what was not used."""
        (dim,) = self._saved or ()
        parts = [
            np.zeros(sizes, dtype) if part is None else part
            for part, sizes, dtype in zip(gradient, self._shape, self._dtype, strict=True)
        ]
        return (self._put_together(parts, dim),)

    _run_recorded = _run


class UnbindBackward0(SplitBackward0):
    """Backward of `unbind`: stack the gradients of the parts."""

    __slots__ = ()
    _put_together = staticmethod(np.stack)


# nodes of the other ways to cut, which differ in their names only
_CUTS = {
    name: type(name, (SplitBackward0,), {"__slots__": (), "__doc__": "Backward of a split."})
    for name in (
        "SplitWithSizesBackward0",
        "UnsafeSplitBackward0",
        "UnsafeSplitWithSizesBackward0",
    )
}


def _meeting(arrays: Sequence[Any]) -> np.dtype[Any]:
    return functools.reduce(dtypes.promote, (array.dtype for array in arrays))


def _joined(
    kind: type[Node], tensors: Sequence[Tensor], array: Any, saved: tuple[Any, ...]
) -> Tensor:
    """Put what was joined into a tensor, and record how."""
    result = wrap(np.asanyarray(array, order="C"))
    node = new_node(kind, tensors, every=True)
    if node is not None:
        node._saved = saved
        node._shape, node._dtype = result._array.shape, result._array.dtype
        arrays = [tensor._array for tensor in tensors]
        if any(array.dtype != node._dtype for array in arrays):
            refuse_complex(node._dtype)
            node._broadcast = tuple(
                None if edge is NO_EDGE else (array.shape, array.dtype)  # no gradient goes there
                for edge, array in zip(node.next_functions, arrays, strict=True)
            )
        result._edge = (node, 0)
        attend(node)
    return result


def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along a dimension: each gets its part of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    whole = [array for array in arrays if array.shape != (0,)] or arrays
    joined = np.concatenate(whole, dim, dtype=_meeting(arrays))
    sizes = [None if array.shape == (0,) else array.shape[dim] for array in arrays]
    return _joined(CatBackward0, tensors, joined, (dim, sizes))


def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along a new dimension: each gets its layer of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    if any(array.shape != arrays[0].shape for array in arrays):
        other = next(i for i, array in enumerate(arrays) if array.shape != arrays[0].shape)
        raise RuntimeError(
            f"stack expects each tensor to be equal size, but got {list(arrays[0].shape)} at "
            f"entry 0 and {list(arrays[other].shape)} at entry {other}"
        )
    joined = np.stack(arrays, dim, dtype=_meeting(arrays))
    return _joined(StackBackward0, tensors, joined, (dim,))


def _take_apart(
    kind: type[Node],
    tensor: Tensor,
    dim: int,
    keys: Sequence[tuple[Any, ...]],
    views: bool = True,
) -> tuple[Tensor, ...]:
    arrays = [tensor._array[key] for key in keys]
    results = tuple(wrap(array) for array in arrays)
    node = new_node(kind, (tensor,), every=True)
    if node is not None:
        node._saved = (dim,)
        node._shape = tuple(array.shape for array in arrays)
        node._dtype = tuple(array.dtype for array in arrays)
        for output_nr, result in enumerate(results):
            result._edge = (node, output_nr)
        attend(node)
    if not views:
        return results
    for result, key in zip(results, keys, strict=True):
        make_view(result, tensor, operator.itemgetter(key))
        view = result._view
        if view is not None and grad_mode.enabled and view.origin != "inference":
            # several views of one node: changing one in place would not be seen by the others
            view.origin = "several"
    return results


def unbind(tensor: Tensor, dim: int) -> tuple[Tensor, ...]:
    """Take a tensor apart along a dimension: the rule stacks the gradients."""
    keys = [(slice(None),) * dim + (i, ...) for i in range(tensor._array.shape[dim])]
    return _take_apart(UnbindBackward0, tensor, dim, keys)


def _ranges(sizes: Sequence[int], dim: int) -> list[tuple[Any, ...]]:
    keys, start = [], 0
    for size in sizes:
        keys.append((slice(None),) * dim + (slice(start, start + size),))
        start += size
    return keys


# ---------------------------------------------------------------------- what one calls


@face("cat(tensors, int dim=0, *, out=None)", method=False, also="concat concatenate")
def joined(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a dimension.

    Args:
        tensors: The tensors; their other sizes must be equal.
        dim: The dimension.

    Raises:
        RuntimeError: If the other sizes differ.
        ValueError: If there is nothing to join.
    """
    tensors = check_tensors(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
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
    return cat(tensors, number)


@face("stack(tensors, int dim=0, *, out=None)", method=False)
def stacked(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    tensors = check_tensors(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    return stack(tensors, dimension(dim, tensors[0].ndim + 1))


def _row(tensor: Tensor, ndim: int) -> Tensor:
    """Give a tensor so many dimensions at least, with size 1."""
    if not tensor._array.ndim:
        return shape.reshape(tensor, (1,) * ndim)
    return tensor if tensor._array.ndim >= ndim else shape.unsqueeze(tensor, 0)


def _stack_rows(name: str, ndim: int, meaning: str) -> None:
    def body(tensors: Sequence[Tensor]) -> Tensor:
        rows = [_row(tensor, ndim) for tensor in check_tensors(tensors, name)]
        if not rows:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        return joined(rows, 1 if ndim == 1 and rows[0].ndim > 1 else 0)

    body.__doc__ = f"Join tensors {meaning}."
    face(f"{name}(tensors, *, out=None)", method=False)(body)


_stack_rows("hstack", 1, "side by side: along the second dimension, vectors along their only one")
_stack_rows("vstack", 2, "one below the other: along the first dimension, vectors as rows")


@face("unbind(Tensor input, int dim=0)")
def unbound(input: Tensor, dim: int) -> tuple[Tensor, ...]:
    """Take a tensor apart along a dimension."""
    number = dimension(dim, input.ndim)
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return unbind(input, number)


def _cut(tensor: Tensor, size: Any, dim: int, unsafe: str = "") -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes.

    Pieces that are "Unsafe" do not count as views, so that they may be changed in place; what
    becomes of the others is not recorded.
    """
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    number = dimension(dim, tensor.ndim)
    total = tensor._array.shape[number]
    if isinstance(size, int):
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
        kind = "SplitBackward0"
    else:
        sizes, kind = list(size), "SplitWithSizesBackward0"
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
    node = _CUTS.get(f"{unsafe}{kind}", SplitBackward0)
    return _take_apart(node, tensor, number, _ranges(sizes, number), views=not unsafe)


@face("split(Tensor input, split_size, int dim=0)", function=False)
@face("split(Tensor tensor, split_size_or_sections, int dim=0)", method=False)
def split(tensor: Tensor, split_size: Any, dim: int) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    return _cut(tensor, split_size, dim)


@face("chunk(Tensor input, int chunks, int dim=0)")
def chunk(input: Tensor, chunks: int, dim: int, unsafe: str = "") -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces along a dimension."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._array.shape[dimension(dim, input.ndim)]
    return _cut(input, -(-total // chunks) if total else [0] * chunks, dim, unsafe)


# pieces that do not count as views, so that they may be changed in place
face("split_with_sizes(Tensor input, split_sizes, int dim=0)")(
    lambda input, sizes, dim: _cut(input, list(sizes), dim)
)
face("unsafe_split(Tensor input, split_size, int dim=0)")(
    lambda input, size, dim: _cut(input, size, dim, "Unsafe")
)
face("unsafe_split_with_sizes(Tensor input, split_sizes, int dim=0)")(
    lambda input, sizes, dim: _cut(input, list(sizes), dim, "Unsafe")
)
face("unsafe_chunk(Tensor input, int chunks, int dim=0)")(
    lambda input, chunks, dim: chunk(input, chunks, dim, "Unsafe")
)


# ---------------------------------------------------------------------- sequences without padding


@differentiable(
    "PackPaddedSequenceBackward0", grad=lambda grad, present: grad[: len(present)][present]
)
def unpack(grad: Array, present: Any, sizes: Any) -> Array:
    """Packed sequences, padded with zeros: each entry has the gradient of its place."""
    padded = np.zeros(sizes, dtype=grad.dtype)
    padded[: len(present)][present] = grad
    return padded


@differentiable("PackPaddedSequenceBackward0", self=unpack)
def pack(self: Array, present: Any, sizes: Any) -> Array:
    """The entries that are present, step by step: each gets the gradient from its new place."""
    return self[: len(present)][present]
