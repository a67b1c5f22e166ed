"""Join tensors, take them apart and repeat them: cat, stack, split, repeat_interleave, meshgrid."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.own_nodes import lead_back, new_node
from minigrad.autograd.rules import applied
from minigrad.core.modes import modes, notify
from minigrad.core.node import NO_EDGE, Node, reduce_gradient
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, make_view, wrap
from minigrad.creation import dtypes
from minigrad.faces import arguments, attach, face
from minigrad.faces.arguments import check_tensors, dimension, no_combination, sequence_of, whole
from minigrad.ops import shape
from minigrad.ops.parts import slice_dim
from minigrad.ops.scatter import index_select
from minigrad.ops.type_promotion import broadcast_shape


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
        parts = [gradient[(slice(None),) * dim + (i,)] for i in range(len(self.next_functions))]
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


class SplitWithSizesBackward0(SplitBackward0):
    """Backward of `split` into pieces of given sizes: join the gradients of the pieces."""

    __slots__ = ()


class UnsafeSplitBackward0(SplitBackward0):
    """Backward of a split into pieces that are no views."""

    __slots__ = ()


class UnbindBackward0(SplitBackward0):
    """Backward of `unbind`: stack the gradients of the parts."""

    __slots__ = ()
    _put_together = staticmethod(np.stack)


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
        notify(node)
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
    for place, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(arrays[0].shape)} at "
                f"entry 0 and {list(array.shape)} at entry {place}"
            )
    return _joined(StackBackward0, tensors, np.stack(arrays, dim, dtype=_meeting(arrays)), (dim,))


def _take_apart(
    kind: type[Node], tensor: Tensor, dim: int, pieces: Sequence[Any]
) -> tuple[Tensor, ...]:
    """Take parts of a tensor along a dimension, as views of one node unless they are unsafe."""
    results = tuple(wrap(tensor._array[(slice(None),) * dim + (piece, ...)]) for piece in pieces)
    node = new_node(kind, (tensor,), every=True)
    if node is not None:
        node._saved = (dim,)
        lead_back(node, results)
    if kind is UnsafeSplitBackward0:
        return results
    for result in results:
        make_view(result, tensor)
        view = result._view
        if view is not None and modes.recording and view.origin != "inference":
            # several views of one node: changing one in place would not be seen by the others
            view.origin = "several"
    return results


@face("unbind(Tensor input, Dim dim=0)")
def unbind(tensor: Tensor, dim: int) -> tuple[Tensor, ...]:
    """Take a tensor apart along a dimension: the rule stacks the gradients."""
    if not tensor._array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return _take_apart(UnbindBackward0, tensor, dim, range(tensor._array.shape[dim]))


def unsafe_chunk(tensor: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    """Cut a tensor into so many equal pieces that are no views: they may be changed in place."""
    size = tensor._array.shape[dim] // chunks
    pieces = [slice(number * size, (number + 1) * size) for number in range(chunks)]
    return _take_apart(UnsafeSplitBackward0, tensor, dim, pieces)


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


@face("split(Tensor input, split_size, int dim=0)", function=False)
@face("split(Tensor tensor, split_size_or_sections, int dim=0)", method=False)
def split(tensor: Tensor, size: Any, dim: int) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    number = dimension(dim, tensor.ndim)
    total = tensor._array.shape[number]
    if isinstance(size, Tensor) and size._array.size == 1:
        size = int(size)
    if isinstance(size, int):
        size = whole("split", size, "split_size", 2)
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
        kind: type[Node] = SplitBackward0
    else:
        sizes = list(sequence_of("split_with_sizes", "split_sizes", size))
        kind = SplitWithSizesBackward0
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
    ends = list(itertools.accumulate(sizes, initial=0))
    pieces = [slice(*pair) for pair in itertools.pairwise(ends)]
    return _take_apart(kind, tensor, number, pieces)


face("split_with_sizes(Tensor input, split_sizes, int dim=0)")(
    lambda input, sizes, dim: split(
        input, list(sequence_of("split_with_sizes", "split_sizes", sizes)), dim
    )
)


@face("chunk(Tensor input, int chunks, int dim=0)")
def chunk(input: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces along a dimension."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._array.shape[dimension(dim, input.ndim)]
    return split(input, -(-total // chunks) if total else [0] * chunks, dim)


@face(
    "tensor_split(Tensor input, indices_or_sections=None, int dim=0, *, indices=None, "
    "sections=None)"
)
def tensor_split(
    input: Tensor, indices_or_sections: Any, dim: int, indices: Any, sections: Any
) -> tuple[Tensor, ...]:
    """Cut a tensor into views along a dimension: into so many, or before some places.

    Args:
        input: The tensor.
        indices_or_sections: How many pieces, the first ones one longer if need be; or the places.
        dim: The dimension.
        indices: The places, by name.
        sections: How many pieces, by name.

    Raises:
        TypeError: If neither is given.
        RuntimeError: If the tensor has no dimensions, or there is no piece.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor_split(torch.tensor([1, 2, 3, 4]), 3)
        (tensor([1, 2]), tensor([3]), tensor([4]))
    """
    if not input.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    number = dimension(dim, input.ndim)
    size = input._array.shape[number]
    given = [each for each in (indices_or_sections, indices, sections) if each is not None]
    if len(given) != 1:
        raise TypeError("tensor_split() takes either indices or a number of sections")
    places = given[0]
    if sections is not None:
        places = whole("tensor_split", sections, "sections")
    elif indices is not None:
        places = arguments.wholes("tensor_split", indices, "indices")
    if isinstance(places, Tensor):
        if places._array.dtype != np.int64 or places.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                "one-dimensional tensor of dtype long"
            )
        places = places.tolist()
    if isinstance(places, int):
        if places < 1:
            raise RuntimeError(f"number of sections must be larger than 0, got {places}")
        if whole("tensor_split", places, "indices_or_sections") >= 2**31:
            raise RuntimeError(f"cannot make {places} tensors: ask for fewer sections")
        smallest, longer = divmod(size, places)
        places = [i * smallest + min(i, longer) for i in range(1, places)]
    return tuple(
        slice_dim(input, number, *slice(first, last).indices(size)[:2], 1)
        for first, last in itertools.pairwise((0, *places, size))
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


# ---------------------------------------------------------------------- copies side by side


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
    tensors = tuple(check_tensors(tensors))
    shapes = [t._array.shape for t in tensors]
    wanted = broadcast_shape(*shapes)
    return tuple(t if t._array.shape == wanted else shape.expand(t, wanted) for t in tensors)


@face("repeat_interleave(input=None, repeats=None, dim=None, *, output_size=None)", method=False)
def repeat_interleave(input: Any, repeats: Any, dim: int | None, output_size: int | None) -> Tensor:
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
    if repeats is None:
        places = _places(input, len(input), output_size)
        return wrap(places.astype(input._array.dtype))
    if not isinstance(repeats, Tensor):
        repeats = whole("repeat_interleave", repeats, "repeats", 2)
    if isinstance(repeats, int) and repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        input, dim = input if input.ndim == 1 else shape.ravel(input), 0
    number = dimension(dim, input.ndim)
    if isinstance(repeats, int):
        have = input._array.shape
        dimension(number + 1, input.ndim + 1 if input.ndim else 0)
        total = have[number] * repeats
        if output_size is not None and output_size != total:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {total} but got {output_size}"
            )
        wide = shape.unsqueeze(input, number + 1)
        wide = shape.expand(wide, (*have[: number + 1], repeats, *have[number + 1 :]))
        copied = shape.clone_contiguous(wide)
        return shape.view(copied, (*have[:number], total, *have[number + 1 :]))
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
    return index_select(input, number, _places(repeats, size, output_size))


def repeated(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each entry, or each slice along a dimension, next to itself."""
    if repeats is None:
        raise no_combination("repeat_interleave", repeats)
    return repeat_interleave(input, repeats, dim, output_size)


def _places(repeats: Tensor, size: int, output_size: int | None) -> Any:
    counts = repeats._array
    if counts.dtype.name not in ("int32", "int64"):
        raise arguments.not_implemented("repeat_interleave_cpu", counts)
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    places = np.repeat(np.arange(size), counts.astype(np.intp, copy=False))
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
    {"repeat_interleave": repeated},
    {"broadcast_tensors": broadcast_tensors, "meshgrid": meshgrid},
)
