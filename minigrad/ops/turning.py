"""The derivatives of operations that roll a tensor, turn it, or look at it through a window.

Rolling and turning move every entry to one other place, so the rules move the gradients back. A
window shows an entry several times: the entry collects the gradients of all the places.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.parts import _zeros, index, index_add
from minigrad.ops.tape import Array, differentiable


@differentiable(
    "RollBackward0",
    self=lambda grad, shifts, dims: applied(roll, grad, tuple(-shift for shift in shifts), dims),
)
def roll(self: Array, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    """Shift entries along dimensions, and those that fall off at the end to the beginning.

    Without dimensions, all entries are shifted in a row. The rule shifts back.
    """
    if not self.size:
        return self.copy()
    return np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0])


@differentiable("Rot90Backward0", self=lambda grad, k, dims: applied(rot90, grad, -k, dims))
def rot90(self: Array, k: int, dims: tuple[int, int]) -> Array:
    """Turn by 90 degrees, k times, from one dimension to another: the rule turns back."""
    return np.rot90(self, k, dims).copy()


# ---------------------------------------------------------------------- windows


def _windows(array: Any, dim: int, size: int, step: int) -> Any:
    """Give a view with a dimension of windows, and at the end one of the entries of each."""
    if not array.ndim:
        return np.lib.stride_tricks.as_strided(array, (size,), (array.itemsize,), subok=True)
    count = (array.shape[dim] - size) // step + 1
    shape = (*array.shape[:dim], count, *array.shape[dim + 1 :], size)
    along = array.strides[dim]
    strides = (*array.strides[:dim], along * step, *array.strides[dim + 1 :], along)
    return np.lib.stride_tricks.as_strided(array, shape, strides, subok=True)


@differentiable(
    "UnfoldBackwardBackward0",
    grad_output=lambda grad, dim, size, step: applied(unfold_dim, grad, dim, size, step),
)
def unfold_backward(
    grad_output: Array, self_sym_sizes: Any, dim: int, size: int, step: int
) -> Array:
    """Rule of unfold: an entry collects its gradients from all windows that show it."""
    whole = _zeros(grad_output, self_sym_sizes)
    if not whole.ndim:
        return whole + np.add.reduce(grad_output, axis=None)
    count = grad_output.shape[dim]
    before = (slice(None),) * dim
    for place in range(size):  # one entry of every window at a time: those do not overlap
        whole[(*before, slice(place, place + count * step, step))] += grad_output[..., place]
    return whole


@differentiable("UnfoldBackward0", view=True, self=unfold_backward)
def unfold_dim(self: Array, dim: int, size: int, step: int) -> Array:
    """Slide a window along a dimension: an entry is in as many windows as see it."""
    return _windows(self, dim, size, step)


# ---------------------------------------------------------------------- any strides at all


def storage_of(array: Any) -> Any:
    """Give the whole memory that an array is a part of, as a vector."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):  # NumPy keeps a strided array's base one step away
            base = getattr(base, "base", None)
        if not isinstance(base, np.ndarray) or base.dtype != array.dtype:
            break
        array = base
    order = sorted(range(array.ndim), key=lambda dim: -array.strides[dim])
    return array.transpose(order).reshape(-1)


def first_place(array: Any, storage: Any) -> int:
    """Tell how many entries of the memory come before an array's first."""
    start, first = (each.__array_interface__["data"][0] for each in (storage, array))
    return int(first - start) // int(array.itemsize)


def _places(size: tuple[int, ...], stride: tuple[int, ...], offset: int = 0) -> Any:
    """Give the place in memory of each entry of a tensor of some size and strides."""
    places = np.asarray(offset)
    for count, step in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(count) * step
    return places


def _from_strides(
    grad: Any, sizes: Any, size: Any, stride: Any, offset: int, own_stride: Any
) -> Any:
    """Add up the gradients at each place in memory, and give every input entry its place's."""
    shown, own = _places(size, stride, offset), _places(sizes, own_stride)
    if not own.size:
        return _zeros(grad, sizes)
    low = int(min(own.min(), shown.min(initial=0)))
    high = int(max(own.max(), shown.max(initial=0)))
    storage = applied(index_add, _zeros(grad, (high + 1 - low,)), grad, (shown - low,))
    shares = np.bincount((own - low).reshape(-1))[own - low]
    gradient = applied(index, storage, (own - low,))
    return (
        gradient
        if shares.max() == 1
        else gradient / shares.astype(grad._array.dtype if hasattr(grad, "_array") else grad.dtype)
    )


@differentiable(
    "AsStridedBackward0",
    view=True,
    self=lambda grad, self_sym_sizes, size, stride, offset, own_stride: _from_strides(
        grad, self_sym_sizes, size, stride, offset, own_stride
    ),
)
def as_strided(self: Array, size: Any, stride: Any, offset: int, own_stride: Any) -> Array:
    """Look at the memory with any size and strides: an entry collects from all its appearances.

    The offset counts from the input's own first entry, whose strides are `own_stride`.
    """
    storage = storage_of(self)
    start = first_place(self, storage) + offset
    steps = tuple(step * self.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[start:], size, steps, subok=True)
