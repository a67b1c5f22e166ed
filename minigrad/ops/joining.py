"""The derivatives of operations with many inputs or many outputs: cat, stack, unbind, split."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.complex_numbers import refuse_complex
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import attend, grad_mode
from minigrad.autograd.node import NO_EDGE, Node, next_priority
from minigrad.autograd.reduce import reduce_gradients
from minigrad.autograd.views import make_view
from minigrad.ops.meeting import applied
from minigrad.ops.parts import slice_dim
from minigrad.tensor import Tensor, wrap


def _record(node: Node, inputs: Sequence[Tensor]) -> bool:
    """Set up a node if any input needs a gradient."""
    if not grad_mode.enabled or not any(t.requires_grad for t in inputs):
        return False
    node.next_functions = tuple(t._edge or resolve_edge(t) for t in inputs)
    node._hooks = None
    node._broadcast = None
    node._priority = next_priority()
    attend(node)
    return True


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
        return parts if self._broadcast is None else reduce_gradients(self, parts)

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
        return parts if self._broadcast is None else reduce_gradients(self, parts)

    _run_recorded = _run


class _ManyOutputs(Node):
    """Backward of an operation that takes a tensor apart: put the parts together again."""

    __slots__ = ()
    _multiple = True
    _names_of_saved = ("dim",)

    def _parts(self, gradients: Sequence[Any], zeros: Callable[[Any], Any]) -> list[Any]:
        return [
            zeros(np.zeros(shape, dtype)) if gradient is None else gradient
            for gradient, shape, dtype in zip(gradients, self._shape, self._dtype, strict=True)
        ]


class UnbindBackward0(_ManyOutputs):
    """Backward of `unbind`."""

    __slots__ = ()

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Stack the gradients of the parts."""
        (dim,) = self._saved or ()
        return (np.stack(self._parts(gradient, np.asarray), dim),)

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Stack the gradients of the parts, recorded."""
        (dim,) = self._saved or ()
        return (stack(self._parts(gradient, wrap), dim),)


class SplitBackward0(_ManyOutputs):
    """Backward of `split` into pieces of one size."""

    __slots__ = ()

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Join the gradients of the parts."""
        (dim,) = self._saved or ()
        return (np.concatenate(self._parts(gradient, np.asarray), dim),)

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Join the gradients of the parts, recorded."""
        (dim,) = self._saved or ()
        return (cat(self._parts(gradient, wrap), dim),)


class SplitWithSizesBackward0(SplitBackward0):
    """Backward of `split` into pieces of given sizes."""

    __slots__ = ()


class UnsafeSplitBackward0(SplitBackward0):
    """Backward of `unsafe_split` into pieces of one size."""

    __slots__ = ()


class UnsafeSplitWithSizesBackward0(SplitBackward0):
    """Backward of `unsafe_split` into pieces of given sizes."""

    __slots__ = ()


class BlockDiagBackward0(Node):
    """Backward of `block_diag`: each input gets its block of the gradient."""

    __slots__ = ()
    _computes = "together"
    _names_of_saved = ("sizes",)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Cut the blocks out of the gradient."""
        (sizes,) = self._saved or ()
        parts, row, column = [], 0, 0
        for size in sizes:
            rows, columns = (1,) * (2 - len(size)) + size
            part = applied(slice_dim, gradient, 0, row, row + rows, 1)
            part = applied(slice_dim, part, 1, column, column + columns, 1)
            for _ in range(2 - len(size)):
                part = np.squeeze(part, 0)
            parts.append(part)
            row, column = row + rows, column + columns
        return parts if self._broadcast is None else reduce_gradients(self, parts)

    _run_recorded = _run


def _meeting(arrays: Sequence[Any]) -> np.dtype[Any]:
    return functools.reduce(dtypes.promote, (array.dtype for array in arrays))


def _joined(
    kind: type[Node],
    tensors: Sequence[Tensor],
    array: Any,
    saved: Callable[[], tuple[Any, ...]],
) -> Tensor:
    """Put what was joined into a tensor, and record how."""
    result = wrap(np.asanyarray(array, order="C"))
    node = object.__new__(kind)
    if _record(node, tensors):
        node._saved = saved()
        node._shape, node._dtype = result._array.shape, result._array.dtype
        arrays = [tensor._array for tensor in tensors]
        if any(array.dtype != node._dtype for array in arrays):
            refuse_complex(node._dtype)
            node._broadcast = tuple(
                None if edge is NO_EDGE else (array.shape, array.dtype)  # no gradient goes there
                for edge, array in zip(node.next_functions, arrays, strict=True)
            )
        result._edge = (node, 0)
    return result


def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along a dimension: each gets its part of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    whole = [array for array in arrays if array.shape != (0,)] or arrays
    joined = np.concatenate(whole, dim, dtype=_meeting(arrays))

    def saved() -> tuple[Any, ...]:
        return dim, [None if array.shape == (0,) else array.shape[dim] for array in arrays]

    return _joined(CatBackward0, tensors, joined, saved)


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
    return _joined(StackBackward0, tensors, joined, lambda: (dim,))


def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Join matrices along the diagonal of one: each gets its block of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    if not arrays:
        return wrap(np.zeros((1, 0), dtypes.get_default_dtype().numpy))
    blocks = [np.atleast_2d(array) for array in arrays]
    shape = tuple(sum(block.shape[dim] for block in blocks) for dim in (0, 1))
    whole = np.zeros_like(arrays[0], _meeting(arrays), shape=shape)
    row = column = 0
    for block in blocks:
        rows, columns = block.shape
        whole[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    sizes = [array.shape for array in arrays]
    return _joined(BlockDiagBackward0, tensors, whole, lambda: (sizes,))


def _take_apart(
    kind: type[Node],
    tensor: Tensor,
    dim: int,
    keys: Sequence[tuple[Any, ...]],
    views: bool = True,
) -> tuple[Tensor, ...]:
    arrays = [tensor._array[key] for key in keys]
    results = tuple(wrap(array) for array in arrays)
    node = object.__new__(kind)
    if _record(node, (tensor,)):
        node._saved = (dim,)
        node._shape = tuple(array.shape for array in arrays)
        node._dtype = tuple(array.dtype for array in arrays)
        for output_nr, result in enumerate(results):
            result._edge = (node, output_nr)
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


def split(
    tensor: Tensor, sizes: Sequence[int], dim: int, kind: type[Node] = SplitBackward0
) -> tuple[Tensor, ...]:
    """Cut a tensor along a dimension: the rule joins the gradients."""
    return _take_apart(kind, tensor, dim, _ranges(sizes, dim))


def unsafe_split(
    tensor: Tensor, sizes: Sequence[int], dim: int, kind: type[Node]
) -> tuple[Tensor, ...]:
    """Cut a tensor along a dimension, without noting that the pieces share its memory."""
    return _take_apart(kind, tensor, dim, _ranges(sizes, dim), views=False)


def _ranges(sizes: Sequence[int], dim: int) -> list[tuple[Any, ...]]:
    keys, start = [], 0
    for size in sizes:
        keys.append((slice(None),) * dim + (slice(start, start + size),))
        start += size
    return keys
