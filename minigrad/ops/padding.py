"""The derivatives of padding: with a constant, by reflection, or by repeating the edge.

A constant takes no gradient with it, so the rule cuts the padding off again. An entry that was
reflected or repeated collects the gradients of all its copies.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.ops.meeting import applied
from minigrad.ops.parts import _zeros
from minigrad.ops.tape import Array, differentiable


def _pairs(padding: Sequence[int]) -> list[tuple[int, int]]:
    """Give what is added on the left and right of each dimension; the last dimension is first."""
    return list(zip(padding[::2], padding[1::2], strict=True))


def _interior(size: int, left: int, right: int) -> tuple[slice, slice]:
    """Give the part of the input that is kept, negative padding cuts, and where it comes to lie."""
    kept = slice(max(-left, 0), size - max(-right, 0))
    start = max(left, 0)
    return kept, slice(start, start + kept.stop - kept.start)


@differentiable(
    "ConstantPadNdBackward0",
    self=lambda grad, pad: applied(constant_pad_nd, grad, tuple(-count for count in pad), 0),
)
def constant_pad_nd(self: Array, pad: tuple[int, ...], value: Any) -> Array:
    """One number all around: the rule cuts it off again."""
    sizes, kept, places = list(self.shape), [...], [...]
    inside: list[Any] = []
    for back, (left, right) in enumerate(_pairs(pad), 1):
        inside.insert(0, _interior(self.shape[-back], left, right))
        sizes[-back] += left + right
    kept += [each[0] for each in inside]
    places += [each[1] for each in inside]
    result = _zeros(self, tuple(sizes))
    if value != 0:
        result[...] = value
    result[tuple(places)] = self[tuple(kept)]
    return result


# ---------------------------------------------------------------------- copies of the entries

# Of which entry each place is a copy; places and entries count from the first entry.
Copied = Callable[[Any, int], Any]


def _reflected(places: Any, size: int) -> Any:
    """Walk back from the edge, without repeating the edge itself."""
    return size - 1 - np.abs(size - 1 - np.abs(places))


def _at_edge(places: Any, size: int) -> Any:
    """Stay at the edge."""
    return np.clip(places, 0, size - 1)


def _padded(array: Any, padding: Sequence[int], copied: Copied) -> Any:
    """Copy entries to places around the tensor."""
    for back, (left, right) in enumerate(_pairs(padding), 1):
        size = array.shape[-back]
        array = np.take(array, copied(np.arange(-left, size + right), size), axis=-back)
    return array


def _collected(grad: Any, sizes: Sequence[int], padding: Sequence[int], copied: Copied) -> Any:
    """Add the gradients of copies to the gradient of their entry."""
    for back, (left, right) in reversed(list(enumerate(_pairs(padding), 1))):
        size, shape = sizes[-back], list(grad.shape)
        shape[-back] = size
        whole = _zeros(grad, tuple(shape))
        # two views with the dimension that is folded back at the end
        onto, given = np.moveaxis(whole, -back, -1), np.moveaxis(grad, -back, -1)
        kept, place = _interior(size, left, right)
        onto[..., kept] = given[..., place]
        entries = copied(np.arange(-left, size + right), size)
        for outside in (*range(place.start), *range(place.stop, size + left + right)):
            onto[..., entries[outside]] += given[..., outside]
        grad = whole
    return grad


def _padding_by(name: str, title: str, copied: Copied, dims: int) -> Any:
    """Make the padding of one kind in some dimensions, and its rule."""

    def backward(grad_output: Array, self: Array, padding: tuple[int, ...]) -> Array:
        """Rule of such a padding: an entry collects the gradients of all its copies."""
        return _collected(grad_output, self.shape, padding, copied)

    def padded(self: Array, padding: tuple[int, ...]) -> Array:
        return _padded(self, padding, copied)

    backward.__name__, padded.__name__ = f"{name}{dims}d_backward", f"{name}{dims}d"
    padded.__doc__ = f"{title.removesuffix('Pad')} in {dims} dimensions: copies of the entries."
    rule = differentiable(
        f"{title}{dims}DBackwardBackward0",
        grad_output=lambda grad, padding: applied(operation, grad, padding),
        self=lambda grad, self: np.zeros_like(self),
    )(backward)
    operation = differentiable(f"{title}{dims}DBackward0", self=rule)(padded)
    return operation


# by the number of dimensions
reflection = {
    dims: _padding_by("reflection_pad", "ReflectionPad", _reflected, dims) for dims in (1, 2, 3)
}
replication = {
    dims: _padding_by("replication_pad", "ReplicationPad", _at_edge, dims) for dims in (1, 2, 3)
}
