r"""The derivatives of pooling to a given size: the mean, or the largest, of each part of an image.

Along a dimension of :math:`n` entries, part :math:`i` of :math:`o` goes from
:math:`\lfloor i n / o \rfloor` up to :math:`\lceil (i + 1) n / o \rceil`; parts may overlap.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.correlation import in_single
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.tape import Array, differentiable


def parts(size: int, count: int) -> list[slice]:
    """Divide a dimension into parts of nearly the same size."""
    return [slice(i * size // count, -((i + 1) * size // -count)) for i in range(count)]


def _along(axis: int, part: Any) -> tuple[Any, ...]:
    return (..., part, *[slice(None)] * (-axis - 1))


def _lengths(like: Any, axis: int, divided: list[slice]) -> Any:
    lengths = np.array([part.stop - part.start for part in divided])
    lengths = lengths.reshape(-1, *[1] * (-axis - 1))
    return lengths.astype(like.dtype)


def _to_parts(grad: Any, sizes: Any, outputs: Any) -> Any:
    """Give the entries of each part equal shares of its gradient."""
    for axis in range(-len(outputs), 0):
        divided = parts(sizes[axis], outputs[axis])
        shape = list(grad.shape)
        shape[axis] = sizes[axis]
        share = grad / _lengths(grad, axis, divided)
        whole = np.zeros_like(grad, order="C", shape=tuple(shape))
        for i, part in enumerate(divided):
            whole[_along(axis, part)] += share[_along(axis, slice(i, i + 1))]
        grad = whole
    return grad


def _of_parts(array: Any, outputs: Any) -> Any:
    """Average each part."""
    for axis in range(-len(outputs), 0):
        divided = parts(array.shape[axis], outputs[axis])
        shape = list(array.shape)
        shape[axis] = outputs[axis]
        whole = np.zeros_like(array, order="C", shape=tuple(shape))
        for i, part in enumerate(divided):
            total = np.add.reduce(array[_along(axis, part)], axis=axis, keepdims=True)
            whole[_along(axis, slice(i, i + 1))] = total
        array = whole / _lengths(whole, axis, divided)
    return array


@differentiable(
    "AdaptiveAvgPool2DBackwardBackward0",
    grad_output=lambda grad, grad_output_sym_sizes: applied(
        adaptive_avg_pool2d, grad, tuple(grad_output_sym_sizes[-2:])
    ),
    self=lambda grad: np.zeros_like(grad),
)
@in_single
def adaptive_avg_pool2d_backward(grad_output: Array, self: Array) -> Array:
    """Rule of the mean of each part: its entries get equal shares of the gradient."""
    return _to_parts(grad_output, self.shape, grad_output.shape[-2:])


@differentiable("AdaptiveAvgPool2DBackward0", self=adaptive_avg_pool2d_backward)
@quietly
@in_single
def adaptive_avg_pool2d(self: Array, output_size: Any) -> Array:
    """Mean of each part of an image: its entries get equal shares of the gradient."""
    return _of_parts(self, output_size)


@differentiable(
    "AdaptiveAvgPool3DBackwardBackward0",
    grad_output=lambda grad, grad_output_sym_sizes: applied(
        adaptive_avg_pool3d, grad, tuple(grad_output_sym_sizes[-3:])
    ),
    self=lambda grad: np.zeros_like(grad),
)
@in_single
def adaptive_avg_pool3d_backward(grad_output: Array, self: Array) -> Array:
    """Rule of the mean of each part of a volume."""
    return _to_parts(grad_output, self.shape, grad_output.shape[-3:])


@differentiable("AdaptiveAvgPool3DBackward0", self=adaptive_avg_pool3d_backward)
@quietly
@in_single
def adaptive_avg_pool3d(self: Array, output_size: Any) -> Array:
    """Mean of each part of a volume: its entries get equal shares of the gradient."""
    return _of_parts(self, output_size)


def largest_positions(array: Any, output_size: Any) -> Any:
    """Give the position of the first largest entry of each part, or of the last NaN."""
    height, width = array.shape[-2:]
    numbers = np.arange(height * width).reshape(height, width)
    found = np.zeros((*array.shape[:-2], *output_size), np.int64)
    for i, rows in enumerate(parts(height, output_size[0])):
        for j, columns in enumerate(parts(width, output_size[1])):
            part = array[..., rows, columns].reshape(*array.shape[:-2], -1)
            place = part.argmax(-1)
            strange = np.isnan(part)
            if strange.any():
                last = part.shape[-1] - 1 - strange[..., ::-1].argmax(-1)
                place = np.where(strange.any(-1), last, place)
            found[..., i, j] = numbers[rows, columns].reshape(-1)[place]
    return found


@differentiable(
    "AdaptiveMaxPool2DBackwardBackward0",
    grad_output=lambda grad, indices: applied(adaptive_max_pool2d, grad, indices),
    self=lambda grad, self: np.zeros_like(grad),
)
def adaptive_max_pool2d_backward(grad_output: Array, self: Array, indices: Any) -> Array:
    """Rule of the largest of each part: it gets the gradient, of each part that it is in."""
    count = int(np.prod(self.shape[:-2]))
    whole = np.zeros_like(grad_output, order="C", shape=(count, self.shape[-2] * self.shape[-1]))
    rows = np.arange(count)[:, None]
    np.add.at(whole, (rows, indices.reshape(count, -1)), grad_output.reshape(count, -1))
    return whole.reshape(self.shape)


@differentiable("AdaptiveMaxPool2DBackward0", self=adaptive_max_pool2d_backward)
def adaptive_max_pool2d(self: Array, indices: Any) -> Array:
    """Largest entry of each part of an image, at known positions: these get the gradient."""
    rows = self.reshape(*self.shape[:-2], -1)
    places = indices.reshape(*indices.shape[:-2], -1)
    return np.take_along_axis(rows, places, -1).reshape(indices.shape)
