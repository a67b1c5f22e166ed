"""Join tensors, take them apart, repeat and pad them: cat, split, meshgrid, pad and more."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import lead_back, new_node
from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.rules import dispatch, in_order
from minigrad.core.modes import modes, notify
from minigrad.core.node import NO_EDGE, Node, reduce_gradient
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, make_view, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import entry
from minigrad.ops import shape
from minigrad.ops.convolution import padded
from minigrad.ops.parts import slice_dim
from minigrad.ops.scatter import index_select
from minigrad.ops.type_promotion import broadcast_shape
from minigrad.signatures import attach, functional, variants
from minigrad.signatures.arguments import check_tensors, dimension, whole, wholes
from minigrad.signatures.signature import Dim


def _reduced(node: Node, parts: list[Any]) -> list[Any]:
    """Bring gradients back to the dtypes of the inputs, where these were converted."""
    layouts = node._broadcast or (None,) * len(parts)
    return [reduce_gradient(part, each) for part, each in zip(parts, layouts, strict=True)]


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
            parts.append(dispatch(slice_dim, gradient, dim, start, start + size, 1))
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


def _promoted(arrays: Sequence[Any]) -> np.dtype[Any]:
    return functools.reduce(dtypes.promote, (array.dtype for array in arrays))


def _joined(
    kind: type[Node], tensors: Sequence[Tensor], array: Any, saved: tuple[Any, ...]
) -> Tensor:
    """Put what was joined into a tensor, and record how."""
    result = wrap(in_order(array))
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
    joined = np.concatenate(whole, dim, dtype=_promoted(arrays))
    sizes = [None if array.shape == (0,) else array.shape[dim] for array in arrays]
    return _joined(CatBackward0, tensors, joined, (dim, sizes))


def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along a new dimension: each gets its layer of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    return _joined(StackBackward0, tensors, np.stack(arrays, dim, dtype=_promoted(arrays)), (dim,))


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


@variants()
def unbind(input: Tensor, dim: Dim = 0) -> tuple[Tensor, ...]:
    """Take a tensor apart along a dimension: the rule stacks the gradients."""
    if not input._array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return _take_apart(UnbindBackward0, input, dim, range(input._array.shape[dim]))


def unsafe_chunk(tensor: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    """Cut a tensor into so many equal pieces that are no views: they may be changed in place."""
    size = tensor._array.shape[dim] // chunks
    pieces = [slice(number * size, (number + 1) * size) for number in range(chunks)]
    return _take_apart(UnsafeSplitBackward0, tensor, dim, pieces)


# ---------------------------------------------------------------------- what one calls


@variants("cat", out="kind", method=False, also="concat concatenate")
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
    shapes = {tensor._array.shape for tensor in tensors}
    ndim = max(map(len, shapes))
    return cat(tensors, 0 if shapes == {(0,)} else dimension(dim, ndim))


@variants("stack", out="kind", method=False)
def stacked(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    tensors = check_tensors(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    return stack(tensors, dimension(dim, tensors[0].ndim + 1))


def _stack_rows(name: str, ndim: int, meaning: str) -> None:
    def body(tensors: Sequence[Tensor]) -> Tensor:
        rows = [
            each
            if each.ndim >= ndim
            else (shape.unsqueeze(each, 0) if each.ndim else shape.reshape(each, (1,) * ndim))
            for each in check_tensors(tensors, name)
        ]
        if not rows:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        return joined(rows, 1 if ndim == 1 and rows[0].ndim > 1 else 0)

    body.__doc__ = f"Join tensors {meaning}."
    variants(name, out="kind", method=False)(body)


_stack_rows("hstack", 1, "side by side: along the second dimension, vectors along their only one")
_stack_rows("vstack", 2, "one below the other: along the first dimension, vectors as rows")


@variants(method=False)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    size = split_size_or_sections
    number = dimension(dim, tensor.ndim)
    total = tensor._array.shape[number] if tensor.ndim else -1
    if isinstance(size, (tuple, list)):
        sizes, kind = list(size), SplitWithSizesBackward0
    else:
        step, kind = whole("split", size, "split_size"), SplitBackward0
        sizes = [min(step, total - start) for start in range(0, total, max(step, 1))] or [0]
    if sum(sizes) != total or min(sizes) < 0:
        raise RuntimeError(f"split(): the sizes {sizes} do not add up to {total}")
    ends = list(itertools.accumulate(sizes, initial=0))
    pieces = [slice(*pair) for pair in itertools.pairwise(ends)]
    return _take_apart(kind, tensor, number, pieces)


@variants("split", function=False)
def _split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of a size, or of given sizes, along a dimension."""
    return split(input, split_size, dim)


@variants()
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into pieces of given sizes along a dimension."""
    return split(input, list(split_sizes), dim)


@variants()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into a number of pieces along a dimension."""
    if chunks < 1 or not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor, and 1 piece or more")
    total = input._array.shape[dimension(dim, input.ndim)]
    return split(input, -(-total // chunks) if total else [0] * chunks, dim)


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
    target = broadcast_shape(*shapes)
    return tuple(t if t._array.shape == target else shape.expand(t, target) for t in tensors)


@variants()
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: Any = None
) -> Tensor:
    """Repeat each entry, or each slice along a dimension, next to itself.

    Args:
        input: The tensor; or, as the only argument, how often each number from 0 on is given.
        repeats: How often: one number, or one for each slice.
        dim: The dimension; by default all entries in a row.
        output_size: The resulting number of slices; it follows from the others.

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
        return wrap(np.repeat(np.arange(len(input)), input._array).astype(input._array.dtype))
    if dim is None:
        input, dim = input if input.ndim == 1 else shape.ravel(input), 0
    number = dimension(dim, input.ndim)
    times = repeats._array if isinstance(repeats, Tensor) else repeats
    if np.any(np.less(times, 0)):
        raise RuntimeError(f"repeat_interleave(): repeats can not be negative, got {times}")
    have = input._array.shape
    if isinstance(repeats, Tensor):
        return index_select(input, number, np.repeat(np.arange(have[number]), times))
    wide = shape.unsqueeze(input, number + 1)
    wide = shape.expanded(wide, (*have[: number + 1], times, *have[number + 1 :]))
    sizes = (*have[:number], have[number] * times, *have[number + 1 :])
    return shape.view(shape.clone_contiguous(wide), sizes)


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
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    several = check_tensors(given)
    if indexing is None:
        warnings.warn('torch.meshgrid: say indexing="ij" for the meaning it has now', stacklevel=2)
    if not several or indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'meshgrid(): takes tensors and indexing "ij" or "xy", got {indexing}')
    places = list(range(len(several)))
    if indexing == "xy":
        places[:2] = reversed(places[:2])
    sizes = tuple(several[place].numel() for place in places)
    return tuple(
        shape.expand(shape.view(each, (1,) * at + (-1,) + (1,) * (len(sizes) - at - 1)), sizes)
        for at, each in zip(places, several, strict=True)
    )


# ---------------------------------------------------------------------- padding


@operation(
    "ConstantPadNdBackward0",
    self=lambda grad, pad: dispatch(constant_pad_nd, grad, tuple(-count for count in pad), 0),
)
def constant_pad_nd(self: Array, pad: tuple[int, ...], value: Any) -> Array:
    """One number all around: the rule cuts it off again."""
    # the last dimension is first
    result = padded(self, pad[-2::-2], pad[:0:-2], value, self.ndim - len(pad) // 2)
    return self.copy() if result is self else result


# Of which entry each place is a copy: walk back from the edge, without repeating it; or stay there.
_COPIED = {
    "reflect": lambda places, size: size - 1 - np.abs(size - 1 - np.abs(places)),
    "replicate": lambda places, size: np.clip(places, 0, size - 1),
}


@functional()
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
    r"""Pad a tensor at its edges.

    Args:
        input: The tensor.
        pad: How much to add on the left and right of the last dimension, then of the one before,
            and so on. Negative numbers cut.
        mode: `"constant"`: one number all around. `"reflect"`: the entries backwards from the edge,
            which itself is not repeated. `"replicate"`: the entry at the edge.
        value: The number; by default 0.

    Returns:
        A tensor whose padded dimensions are larger by both amounts.

    Raises:
        RuntimeError: If the padding is odd or too long, or larger than a mode allows.
        NotImplementedError: If there is no such mode, or not for so many dimensions.

    Shape:
        - input: any shape for `"constant"`; else 1 to 3 padded dimensions after (N, C) or (C,)

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1.0, 2.0, 3.0]])
        >>> torch.nn.functional.pad(x, (1, 2))
        tensor([[0., 1., 2., 3., 0., 0.]])
        >>> torch.nn.functional.pad(x, (2, 1), mode="reflect")
        tensor([[3., 2., 1., 2., 3., 2.]])
    """
    if mode not in ("constant", *_COPIED):
        raise NotImplementedError(f"pad has no mode='{mode}' here: constant, reflect, replicate")
    sizes, sides = input._array.shape, wholes("pad", pad, "pad")
    dims = len(sides) // 2
    if len(sides) % 2 or dims > len(sizes) or (mode != "constant" and value):
        raise RuntimeError(
            f"padding is two numbers for each dimension, from the last one on, got {list(sides)} "
            f"for a tensor of size {list(sizes)}; only mode='constant' takes a value"
        )
    if mode == "constant":
        value = entry(0 if value is None else value, input._array.dtype).item()
        return constant_pad_nd(input, sides, value)
    if dims not in (1, 2, 3) or len(sizes) - dims not in (1, 2):
        raise NotImplementedError(f"mode='{mode}' pads 1 to 3 dimensions after (N, C) or (C,)")
    for place in range(dims):
        left, right, dim = sides[2 * place], sides[2 * place + 1], len(sizes) - 1 - place
        size = sizes[dim]
        if (mode == "reflect" and max(left, right) >= size) or size + left + right < 1 or not size:
            raise RuntimeError(f"a dimension of size {size} can't be padded by {left}, {right}")
        places = _COPIED[mode](np.arange(-left, size + right), size)
        input = index_select(input, dim, places)
    return input


attach(__name__, {}, {"broadcast_tensors": broadcast_tensors, "meshgrid": meshgrid})
