"""Pooling of parts and its derivatives: the mean or the largest entry of so many parts of an image.

Along a dimension of n entries, part i of o goes from floor(i n / o) up to ceil((i + 1) n / o);
parts may overlap.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched
from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.nn.functional.pooling import as_image, as_signal
from minigrad.ops.correlation import of_dimensions
from minigrad.ops.reduction import mean_dim
from minigrad.signatures.arguments import check_tensor, different, not_implemented, whole


def parts(size: int, count: int) -> list[slice]:
    """Divide a dimension into parts of nearly the same size."""
    return [slice(i * size // count, -((i + 1) * size // -count)) for i in range(count)]


def _shares(like: Any, size: int, count: int) -> Any:
    """Give a matrix that averages parts: the share of each entry in the mean of each part."""
    matrix = np.zeros((count, size))
    for row, part in zip(matrix, parts(size, count), strict=True):
        row[part] = 1 / (part.stop - part.start)
    return matrix.astype(like.dtype)


def _multiplied(array: Any, matrices: Sequence[Any]) -> Any:
    """Multiply the last dimensions, each with a matrix."""
    for axis, matrix in enumerate(matrices, -len(matrices)):
        array = (array.swapaxes(axis, -1) @ matrix).swapaxes(axis, -1)
    return array.copy("C")


def _to_parts(grad: Any, sizes: Any, outputs: Any) -> Any:
    """Give the entries of each part equal shares of its gradient."""
    inner = zip(sizes[-len(outputs) :], outputs, strict=True)
    return _multiplied(grad, [_shares(grad, *each) for each in inner])


def _of_parts(array: Any, outputs: Any) -> Any:
    """Average each part."""
    inner = zip(array.shape[-len(outputs) :], outputs, strict=True)
    return _multiplied(array, [_shares(array, *each).T for each in inner])


def _adaptive_pooling(dims: int) -> Any:
    """Make the pooling of the mean of parts in some dimensions, and its rule."""

    def backward(grad_output: Array, self: Array) -> Array:
        """Rule of the mean of each part: its entries get equal shares of the gradient."""
        return _to_parts(grad_output, self.shape, grad_output.shape[-dims:])

    def pool(self: Array, output_size: Any) -> Array:
        """Mean of each part: its entries get equal shares of the gradient."""
        return _of_parts(self, output_size)

    name, title = f"adaptive_avg_pool{dims}d", f"AdaptiveAvgPool{dims}D"
    pool.__name__, backward.__name__ = name, f"{name}_backward"
    rule = operation(
        f"{title}BackwardBackward0",
        grad_output=lambda grad, grad_output_sym_sizes: dispatch(
            declared, grad, tuple(grad_output_sym_sizes[-dims:])
        ),
        self=lambda grad: np.zeros_like(grad),
    )(backward)
    declared = operation(f"{title}Backward0", self=rule)(ignore_errstate(pool))
    return declared


ADAPTIVE_MEANS = {dims: _adaptive_pooling(dims) for dims in (2, 3)}  # by the number of dimensions


def largest_positions(array: Any, output_size: Any) -> Any:
    """Give the position of the first largest entry of each part, or of the last NaN."""
    *outer, height, width = array.shape
    numbers = np.arange(height * width).reshape(height, width)
    found = np.zeros((*outer, *output_size), np.int64)
    for i, rows in enumerate(parts(height, output_size[0])):
        for j, columns in enumerate(parts(width, output_size[1])):
            among = numbers[rows, columns].reshape(-1)
            part = array[..., rows, columns].reshape(*outer, among.size)
            place = part.argmax(-1)
            strange = np.isnan(part)
            if strange.any():
                last = part.shape[-1] - 1 - strange[..., ::-1].argmax(-1)
                place = np.where(strange.any(-1), last, place)
            found[..., i, j] = among[place]
    return found


@operation(
    "AdaptiveMaxPool2DBackwardBackward0",
    grad_output=lambda grad, indices: dispatch(adaptive_max_pool2d, grad, indices),
    self=lambda grad, self: np.zeros_like(grad),
)
def adaptive_max_pool2d_backward(grad_output: Array, self: Array, indices: Any) -> Array:
    """Rule of the largest of each part: it gets the gradient, of each part that it is in."""
    whole = np.zeros_like(grad_output, order="C", shape=self.shape)
    count, pixels = math.prod(self.shape[:-2]), self.shape[-2] * self.shape[-1]
    first = np.arange(count).reshape(*self.shape[:-2], 1, 1) * pixels
    np.add.at(whole.reshape(-1), first + indices, grad_output)
    return whole


@operation("AdaptiveMaxPool2DBackward0", self=adaptive_max_pool2d_backward)
def adaptive_max_pool2d(self: Array, indices: Any) -> Array:
    """Largest entry of each part of an image, at known positions: these get the gradient."""
    *outer, height, width = self.shape
    rows = self.reshape(*outer, height * width)
    places = indices.reshape(*outer, indices.shape[-2] * indices.shape[-1])
    return np.take_along_axis(rows, places, -1).reshape(indices.shape)


# ---------------------------------------------------------------------- what is called


def _adaptive(name: str, ndim: int, input: Tensor, output_size: Any) -> tuple[Tensor, Any]:
    """Check an input and a size; None keeps a dimension, and a signal becomes an image."""
    check_tensor(name, input)
    array = input._array
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * ndim
    if len(given) != ndim:
        raise RuntimeError(f"{name}(): output_size must be one number or {ndim}, not {given}")
    if array.ndim not in (ndim + 1, ndim + 2) or 0 in array.shape[-ndim:]:
        raise RuntimeError(
            f"{name}() takes a tensor of shape (N, C, ...) or (C, ...) with {ndim} dimensions of "
            f"at least one entry to pool, not one of shape {list(array.shape)}"
        )
    sizes = zip(given, array.shape[-ndim:], strict=True)
    size = tuple(n if each is None else whole(name, each, "output_size", 2) for each, n in sizes)
    if min(size) < 0 or math.prod(size) >= 1 << 31:
        raise RuntimeError(f"{name}(): there is no result of size {list(size)}")
    if array.dtype.kind in "iubc":
        raise not_implemented(name, array)
    return (as_image(input), (1, *size)) if ndim == 1 else (input, size)


def _adaptive_mean(name: str, ndim: int, input: Tensor, output_size: Any) -> Tensor:
    r"""Average each of so many parts of an image.

    Args:
        name: The function that is called.
        ndim: How many dimensions its windows have: signals have 1, volumes 3.
        input: The images.
        output_size: Into how many parts height and width are divided, or one number for both;
            None leaves a dimension as it is.

    Raises:
        RuntimeError: If there are no entries, or the size is negative.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, *output_size)

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> torch.nn.functional.adaptive_avg_pool2d(image, 2)
        tensor([[[[2., 3.],
                  [5., 6.]]]])
    """
    high, size = _adaptive(name, ndim, input, output_size)
    if set(size) == {1}:  # PyTorch takes the mean as everywhere else
        dims = different(tuple(range(-1, -1 - len(size), -1)), high._array.ndim)
        result = mean_dim(high, dims, True)
    else:
        result = ADAPTIVE_MEANS[len(size)](high, size)
    return as_signal(result) if ndim == 1 else result


def _adaptive_maximum(
    name: str, ndim: int, input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """Take the largest entry of each of so many parts of an image.

    Args:
        name: The function that is called.
        ndim: How many dimensions its windows have: signals have 1, volumes 3.
        input: The images.
        output_size: Into how many parts height and width are divided, or one number for both;
            None leaves a dimension as it is.
        return_indices: Whether to give the positions of the largest entries, too.

    Returns:
        The largest entries; or these and their positions within each image.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, *output_size)
    """
    high, size = _adaptive(name, ndim, input, output_size)
    array = high._array
    positions = largest_positions(array, size)
    indices = wrap(positions)
    result = watched(adaptive_max_pool2d(high, positions), indices)
    if ndim == 1:
        result = as_signal(result)
        indices = indices.squeeze(array.ndim - 2) if return_indices else indices
    return (result, indices) if return_indices else result


for _ndim in (1, 2, 3):
    of_dimensions(_adaptive_mean, _ndim, f"adaptive_avg_pool{_ndim}d")
    if _ndim < 3:
        of_dimensions(_adaptive_maximum, _ndim, f"adaptive_max_pool{_ndim}d")
