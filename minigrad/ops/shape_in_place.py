"""Give a tensor another shape in place: t_, transpose_, squeeze_, unsqueeze_, resize_, set_.

The entries stay where they are in memory. The tensor itself becomes another view of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.views import check_inplace, mark_views_stale, rebase_history
from minigrad.core.leaves import resolve_edge
from minigrad.core.modes import grad_mode
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces import attach
from minigrad.faces.arguments import dimension, sizes_of
from minigrad.ops import parts, shape


def _node(operation: Any, name: str) -> Any:
    """Make the kind of node that the in-place version of an operation leaves."""
    return type(name, (operation.node,), {"__slots__": (), "__doc__": f"In place: {name}."})


_NODES = {
    "t": _node(shape.t, "TBackward1"),
    "transpose": _node(shape.transpose, "TransposeBackward1"),
    "squeeze_all": _node(shape.squeeze_all, "SqueezeBackward3"),
    "squeeze_dim": _node(shape.squeeze_dim, "SqueezeBackward4"),
    "squeeze_dims": _node(shape.squeeze_dims, "SqueezeBackward5"),
    "unsqueeze": _node(shape.unsqueeze, "UnsqueezeBackward1"),
    "as_strided": _node(parts.as_strided, "AsStridedBackward1"),
}


def _seen_as(operation: Any, tensor: Tensor, *settings: Any) -> Tensor:
    """Turn a tensor into the view of itself that an operation gives."""
    recording = grad_mode.enabled
    check_inplace(tensor, recording=bool(recording) and tensor.requires_grad)
    old = wrap(tensor._array)
    if recording and tensor.requires_grad:
        old._edge = tensor._edge or resolve_edge(tensor)
    if recording:
        grad_mode.enabled = True  # who watches new nodes shall see the finished one, below
    try:
        result = operation(old, *settings)
    finally:
        grad_mode.enabled = recording
    tensor._array = result._array
    tensor._bump_version()
    edge, view = result._edge, tensor._view
    recorded = recording and edge is not None and edge[0] is not None
    if recorded:
        edge[0].__class__ = _NODES[operation.__name__]
    if view is None:
        if recorded:
            rebase_history(tensor, edge[0], retains_here=False)
        else:
            mark_views_stale(tensor)
    else:
        inner = view.replay
        view.replay = lambda base: _replayed(operation, inner(base), settings)
        mark_views_stale(tensor)
        if recorded:
            tensor._edge, view.edge, view.stale = edge, None, False
    if recorded and recording is not True:
        recording.attend(edge[0], tensor)
    return tensor


def _replayed(operation: Any, base: Any, settings: Any) -> Any:
    return (operation if isinstance(base, Tensor) else operation.forward)(base, *settings)


def t_(tensor: Tensor) -> Tensor:
    """Transpose a matrix in place."""
    if tensor.ndim > 2:
        raise RuntimeError(
            f"t_() expects a tensor with <= 2 dimensions, but self is {tensor.ndim}D. "
            "Use transpose_(dim0, dim1) to say which dimensions to exchange."
        )
    return _seen_as(shape.t, tensor)


def transpose_(tensor: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions in place."""
    ndim = tensor.ndim
    return _seen_as(shape.transpose, tensor, dimension(dim0, ndim), dimension(dim1, ndim))


def squeeze_(tensor: Tensor, dim: Any = None) -> Tensor:
    """Leave out dimensions of size 1 in place: all, one, or several."""
    if dim is None:
        return _seen_as(shape.squeeze_all, tensor)
    if isinstance(dim, (tuple, list)):
        return _seen_as(shape.squeeze_dims, tensor, shape.different(dim, tensor.ndim))
    return _seen_as(shape.squeeze_dim, tensor, dimension(dim, tensor.ndim))


def unsqueeze_(tensor: Tensor, dim: int) -> Tensor:
    """Add a dimension of size 1 in place."""
    return _seen_as(shape.unsqueeze, tensor, dimension(dim, tensor.ndim + 1))


def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Look at the tensor's memory with any size and strides, in place."""
    settings = parts.strided(input, size, stride, storage_offset)
    return _seen_as(parts.as_strided, input, *settings)


# ---------------------------------------------------------------------- other memory


def resize_(tensor: Tensor, *sizes: Any, size: Any = None, memory_format: Any = None) -> Tensor:
    """Give the tensor another size in place, with the entries that its memory has.

    If the memory is too small, the tensor gets a larger one, with zeros where there is nothing; its
    views keep the old one.

    Args:
        tensor: The tensor.
        *sizes: The sizes, one by one or in a sequence.
        size: The same, by name.
        memory_format: Nothing but the usual order of memory can be asked for.

    Raises:
        RuntimeError: If the tensor requires a gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([[1, 2], [3, 4]]).resize_(3)
        tensor([1, 2, 3])
    """
    wanted = sizes_of(sizes if size is None else (size,))
    if grad_mode.enabled and tensor.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if min(wanted, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow: a size is negative")
    check_inplace(tensor, recording=False)
    array = tensor._array
    count = int(np.prod(wanted, dtype=np.int64))
    storage = parts.storage_of(array)
    row = storage[parts.first_place(array, storage) if array.size else 0 :]
    if row.size < count:
        larger = np.zeros(count, array.dtype)
        larger[: row.size] = row
        row = larger
    tensor._array = row[:count].reshape(wanted)
    tensor._bump_version()
    return tensor


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the size of another one in place; see `resize_`."""
    return resize_(input, the_template._array.shape)


def set_(
    tensor: Tensor,
    source: Tensor | None = None,
    storage_offset: int | None = None,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Let the tensor share the memory of another one, and its size; without one, have no entries.

    Args:
        tensor: The tensor.
        source: A tensor of the same type.
        storage_offset: Where in the memory of the source to begin, if not where the source does.
        size: The size, together with `storage_offset`.
        stride: The steps in memory; by default those of entries in order.

    Raises:
        RuntimeError: If the other tensor is of another type.
        NotImplementedError: If one of them requires a gradient: PyTorch has no derivative either.

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.zeros(3), torch.ones(2)
        >>> x.set_(y)
        tensor([1., 1.])
    """
    dtype = tensor._array.dtype
    array = np.zeros(0, dtype) if source is None else source._array
    if array.dtype != dtype:
        raise RuntimeError(
            f"Could not set tensor of type {dtypes.c_name(array)} to a tensor of type "
            f"{dtypes.c_name(tensor._array)}"
        )
    recording = bool(grad_mode.enabled) and (
        tensor.requires_grad or (source is not None and source.requires_grad)
    )
    check_inplace(tensor, recording=recording)
    if recording:
        raise NotImplementedError(
            "set_ has no derivative. Call it on a tensor outside of the graph, such as x.detach()."
        )
    if source is not None and size is not None:
        sizes = sizes_of((size,))
        steps = stride
        if steps is None:
            steps = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
        settings = parts.strided(source, sizes, steps, storage_offset)
        array = parts.as_strided.forward(array, *settings)
    tensor._array = array
    tensor._bump_version()
    return tensor


attach(
    __name__,
    {
        "t_": t_,
        "transpose_": transpose_,
        "swapdims_": transpose_,
        "swapaxes_": lambda tensor, axis0, axis1: transpose_(tensor, axis0, axis1),
        "squeeze_": squeeze_,
        "unsqueeze_": unsqueeze_,
        "as_strided_": as_strided_,
        "resize_": resize_,
        "resize_as_": resize_as_,
        "set_": set_,
    },
    {"as_strided_": as_strided_, "resize_as_": resize_as_},
)
