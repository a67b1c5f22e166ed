"""Put the largest entries of windows back where they were found, with zeros around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.own_nodes import watched
from minigrad.autograd.rules import applied, quietly, zeros_for
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation.dtypes import scalar_name
from minigrad.faces.arguments import check_tensor, not_implemented
from minigrad.ops import shape
from minigrad.ops.correlation import face_of
from minigrad.ops.scatter import gather


def _unpooling(dims: int) -> Any:
    """Make the operation of so many dimensions; its rule looks up the gradients of the places."""

    def back(grad: Any, indices: Any) -> Any:
        rows = (*indices.shape[:-dims], math.prod(indices.shape[-dims:]))
        places = indices.reshape(rows)
        flat = grad.reshape(*rows[:-1], math.prod(grad.shape[-dims:]))
        return applied(gather, flat, len(rows) - 1, places).reshape(indices.shape)

    def unpool(self: Array, indices: Any, output_size: Any) -> Array:
        """Entries at listed places, zeros elsewhere: each gets the gradient of its place."""
        outer = self.shape[:-dims]
        rows = zeros_for(self, (math.prod(outer), math.prod(output_size)))
        if rows.size:
            places = indices.reshape(len(rows), -1)
            rows[np.arange(len(rows))[:, None], places] = self.reshape(places.shape)
        return rows.reshape(*outer, *output_size)

    unpool.__name__ = f"max_unpool{dims}d"
    operation: Any = differentiable(f"MaxUnpool{dims}DBackward0", self=back)(quietly(unpool))
    return operation


UNPOOLINGS = {dims: _unpooling(dims) for dims in (2, 3)}  # by the number of dimensions


def _output_size(sizes: Any, kernel: Any, stride: Any, padding: Any, wanted: Any) -> list[int]:
    """Give the size of what was pooled: what is wanted, if the windows could have come from it."""
    dims = len(kernel)
    usual = [(sizes[d - dims] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(dims)]
    if wanted is None:
        found = usual
    else:
        found = wanted[2:] if len(wanted) == dims + 2 else wanted
        if len(found) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but "
                f"it has a length of '{len(found)}'"
            )
        for d in range(dims):
            least, most = usual[d] - stride[d], usual[d] + stride[d]
            if not least < found[d] < most:
                raise ValueError(
                    f'invalid output_size "{found}" (dim {d} must be between {least} and {most})'
                )
    for d in range(dims):
        if found[d] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={found[d]}"
            )
    return [*found]


def _check(array: Any, places: Any, size: list[int], stride: Any) -> None:
    """Raise unless positions belong to entries, and lie in a result of this size."""
    dims = len(size)
    if places.dtype != np.int64:
        got = f" but got: {scalar_name(places)}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got "
            f"a tensor with {array.ndim} dimensions."
        )
    if array.shape != places.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(array.shape)}) but got indices tensor with shape: {list(places.shape)}"
        )
    if 0 in array.shape[1:]:
        raise RuntimeError(
            f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for "
            f"non-batch dimensions, but got {list(array.shape)} with dimension "
            f"{array.shape.index(0, 1)} being empty."
        )
    if dims == 3 and min(stride) < 1:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {[*stride]}")
    if array.dtype.kind in "iubc":
        raise not_implemented(f"max_unpool{dims}d", array)
    wrong = (places < 0) | (places >= math.prod(size))
    if math.prod(size) and wrong.any():
        raise RuntimeError(
            f"Found an invalid max index: {places[wrong][-1]} (output volumes are of size "
            f"{'x'.join(map(str, size))})"
        )


def _unpooled(
    name: str,
    ndim: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Tensor:
    """Put the largest entries of windows back where they were found, with zeros around them.

    Args:
        name: The function that is called.
        ndim: How many dimensions the windows have.
        input: The largest entries, as pooling gave them.
        indices: Their positions, as pooling gave them with `return_indices=True`.
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moved at each step; the size of the window if None.
        padding: How wide the border around the image was.
        output_size: The size of the image, where several would have given as many windows.

    Raises:
        RuntimeError: If positions do not belong to the entries, or lie outside.
        ValueError: If no image of this size has so many windows.

    Example:
        >>> import minigrad as torch
        >>> F = torch.nn.functional
        >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> F.max_unpool2d(*F.max_pool2d(image, 2, return_indices=True), 2)
        tensor([[[[ 0.,  0.,  0.,  0.],
                  [ 0.,  5.,  0.,  7.],
                  [ 0.,  0.,  0.,  0.],
                  [ 0., 13.,  0., 15.]]]])
    """
    check_tensor(name, input)
    check_tensor(name, indices, "indices", 2)
    kernel = _tuple(kernel_size, ndim)
    moves = kernel if stride is None else _tuple(stride, ndim)
    size = _output_size(input.shape, kernel, moves, _tuple(padding, ndim), output_size)
    high, places = input, indices._array
    if ndim == 1:
        high, places, size = shape.unsqueeze(input, places.ndim), places[..., None], [*size, 1]
    _check(high._array, places, size, moves)
    result = watched(UNPOOLINGS[len(size)](high, places, tuple(size)), indices)
    return shape.squeeze_dim(result, high._array.ndim - 1) if ndim == 1 else result


def _tuple(value: Any, count: int) -> tuple[Any, ...]:
    """Give one number as often as there are dimensions, and several as they are."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


for _ndim in (1, 2, 3):
    _arguments = "(input, indices, kernel_size, stride=None, padding=0, output_size=None)"
    face_of(_unpooled, _ndim, f"max_unpool{_ndim}d{_arguments}")
