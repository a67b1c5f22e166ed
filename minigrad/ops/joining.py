"""The derivatives of operations with many inputs or many outputs: cat, stack, unbind, split."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import attend, grad_mode
from minigrad.autograd.node import Node, next_priority
from minigrad.autograd.reduce import reduce_gradients
from minigrad.autograd.variable import resolve_edge
from minigrad.autograd.views import make_view
from minigrad.tensor import Tensor, wrap


def _record(node: Node, inputs: Sequence[Tensor]) -> bool:
    """Set up a node if any input needs a gradient."""
    if not grad_mode.enabled or not any(t.requires_grad for t in inputs):
        return False
    node.next_functions = tuple(t._edge or resolve_edge(t) for t in inputs)
    node.hooks = None
    node.broadcast = None
    node._priority = next_priority()
    attend(node)
    return True


class CatBackward0(Node):
    """Backward of `cat`: each input gets its part of the gradient."""

    __slots__ = ()
    computes = "together"
    saved_names = ("dim", "sizes")

    def run(self, gradient: Any, keep: bool = True) -> Any:
        """Cut the gradient where the inputs were joined."""
        dim, sizes = self.saved or ()
        parts, start = [], 0
        for size in sizes:
            parts.append(gradient[(slice(None),) * dim + (slice(start, start + size),)])
            start += size
        return parts if self.broadcast is None else reduce_gradients(self, parts)

    run_recorded = run


class StackBackward0(Node):
    """Backward of `stack`: each input gets its layer of the gradient."""

    __slots__ = ()
    computes = "together"
    saved_names = ("dim",)

    def run(self, gradient: Any, keep: bool = True) -> Any:
        """Take the gradient apart along the new dimension."""
        (dim,) = self.saved or ()
        count = len(self.next_functions)
        parts = [gradient[(slice(None),) * dim + (i,)] for i in range(count)]
        return parts if self.broadcast is None else reduce_gradients(self, parts)

    run_recorded = run


class _ManyOutputs(Node):
    """Backward of an operation that takes a tensor apart: put the parts together again."""

    __slots__ = ()
    multiple = True
    saved_names = ("dim",)

    def _parts(self, gradients: Sequence[Any], zeros: Callable[[Any], Any]) -> list[Any]:
        return [
            zeros(np.zeros(shape, dtype)) if gradient is None else gradient
            for gradient, shape, dtype in zip(gradients, self.shape, self.dtype, strict=True)
        ]


class UnbindBackward0(_ManyOutputs):
    """Backward of `unbind`."""

    __slots__ = ()

    def run(self, gradient: Any, keep: bool = True) -> Any:
        """Stack the gradients of the parts."""
        (dim,) = self.saved or ()
        return (np.stack(self._parts(gradient, np.asarray), dim),)

    def run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Stack the gradients of the parts, recorded."""
        (dim,) = self.saved or ()
        return (stack(self._parts(gradient, wrap), dim),)


class SplitBackward0(_ManyOutputs):
    """Backward of `split` into pieces of one size."""

    __slots__ = ()

    def run(self, gradient: Any, keep: bool = True) -> Any:
        """Join the gradients of the parts."""
        (dim,) = self.saved or ()
        return (np.concatenate(self._parts(gradient, np.asarray), dim),)

    def run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Join the gradients of the parts, recorded."""
        (dim,) = self.saved or ()
        return (cat(self._parts(gradient, wrap), dim),)


class SplitWithSizesBackward0(SplitBackward0):
    """Backward of `split` into pieces of given sizes."""

    __slots__ = ()


def _meeting(arrays: Sequence[Any]) -> np.dtype[Any]:
    return functools.reduce(dtypes.promote, (array.dtype for array in arrays))


def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along a dimension: each gets its part of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    result = wrap(np.concatenate(arrays, dim, dtype=_meeting(arrays)))
    node = object.__new__(CatBackward0)
    if _record(node, tensors):
        node.saved = (dim, [array.shape[dim] for array in arrays])
        node.shape, node.dtype = result._array.shape, result._array.dtype
        if any(array.dtype != node.dtype for array in arrays):
            node.broadcast = tuple((array.shape, array.dtype) for array in arrays)
        result._edge = (node, 0)
    return result


def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along a new dimension: each gets its layer of the gradient."""
    arrays = [tensor._array for tensor in tensors]
    if any(array.shape != arrays[0].shape for array in arrays):
        other = next(i for i, array in enumerate(arrays) if array.shape != arrays[0].shape)
        raise RuntimeError(
            f"stack expects each tensor to be equal size, but got {list(arrays[0].shape)} at "
            f"entry 0 and {list(arrays[other].shape)} at entry {other}"
        )
    result = wrap(np.stack(arrays, dim, dtype=_meeting(arrays)))
    node = object.__new__(StackBackward0)
    if _record(node, tensors):
        node.saved = (dim,)
        node.shape, node.dtype = result._array.shape, result._array.dtype
        if any(array.dtype != node.dtype for array in arrays):
            node.broadcast = tuple((array.shape, array.dtype) for array in arrays)
        result._edge = (node, 0)
    return result


def _take_apart(
    kind: type[Node], tensor: Tensor, dim: int, keys: Sequence[tuple[Any, ...]]
) -> tuple[Tensor, ...]:
    arrays = [tensor._array[key] for key in keys]
    results = tuple(wrap(array) for array in arrays)
    node = object.__new__(kind)
    if _record(node, (tensor,)):
        node.saved = (dim,)
        node.shape = tuple(array.shape for array in arrays)
        node.dtype = tuple(array.dtype for array in arrays)
        for output_nr, result in enumerate(results):
            result._edge = (node, output_nr)
    for result, key in zip(results, keys, strict=True):
        make_view(result, tensor, operator.itemgetter(key))
        view = result._view
        if view is not None and grad_mode.enabled:
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
    keys, start = [], 0
    for size in sizes:
        keys.append((slice(None),) * dim + (slice(start, start + size),))
        start += size
    return _take_apart(kind, tensor, dim, keys)
