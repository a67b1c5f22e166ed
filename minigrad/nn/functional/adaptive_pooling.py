"""Pooling of parts and its derivatives: the mean or the largest entry of so many parts of an image.

Along a dimension of n entries, part i of o goes from floor(i n / o) up to ceil((i + 1) n / o);
parts may overlap.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import wrong_type
from minigrad.autograd.own_nodes import watched, without_derivative
from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import empty
from minigrad.faces.arguments import check_tensor, different, not_implemented, whole
from minigrad.nn.functional.pooling import as_image, as_signal, check_signal
from minigrad.ops.correlation import face_of, is_whole
from minigrad.ops.reduction import mean_dim


def parts(size: int, count: int) -> list[slice]:
    """Divide a dimension into parts of nearly the same size."""
    return [slice(i * size // count, -((i + 1) * size // -count)) for i in range(count)]


def _along(axis: int, part: Any) -> tuple[Any, ...]:
    return (..., part, *[slice(None)] * (-axis - 1))


def _lengths(like: Any, axis: int, divided: list[slice]) -> Any:
    lengths = np.array([part.stop - part.start for part in divided])
    return lengths.reshape(-1, *[1] * (-axis - 1)).astype(like.dtype)


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


def _adaptive_pooling(dims: int) -> Any:
    """Make the pooling of the mean of parts in some dimensions, and its rule."""

    def backward(grad_output: Array, self: Array) -> Array:
        """Rule of the mean of each part: its entries get equal shares of the gradient."""
        if 0 in grad_output.shape[1:] and 0 not in self.shape:
            raise RuntimeError(
                f"adaptive_avg_pool{dims}d_backward(): Expected grad_output to have non-zero size "
                f"for non-batch dimensions, but grad_output has sizes {list(grad_output.shape)} "
                f"with dimension {grad_output.shape.index(0, 1)} being empty"
            )
        return _to_parts(grad_output, self.shape, grad_output.shape[-dims:])

    def pool(self: Array, output_size: Any) -> Array:
        """Mean of each part: its entries get equal shares of the gradient."""
        return _of_parts(self, output_size)

    name, title = f"adaptive_avg_pool{dims}d", f"AdaptiveAvgPool{dims}D"
    pool.__name__, backward.__name__ = name, f"{name}_backward"
    rule = differentiable(
        f"{title}BackwardBackward0",
        grad_output=lambda grad, grad_output_sym_sizes: applied(
            operation, grad, tuple(grad_output_sym_sizes[-dims:])
        ),
        self=lambda grad: np.zeros_like(grad),
    )(backward)
    operation = differentiable(f"{title}Backward0", self=rule)(quietly(pool))
    return operation


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


@differentiable(
    "AdaptiveMaxPool2DBackwardBackward0",
    grad_output=lambda grad, indices: applied(adaptive_max_pool2d, grad, indices),
    self=lambda grad, self: np.zeros_like(grad),
)
def adaptive_max_pool2d_backward(grad_output: Array, self: Array, indices: Any) -> Array:
    """Rule of the largest of each part: it gets the gradient, of each part that it is in."""
    whole = np.zeros_like(grad_output, order="C", shape=self.shape)
    count, pixels = math.prod(self.shape[:-2]), self.shape[-2] * self.shape[-1]
    first = np.arange(count).reshape(*self.shape[:-2], 1, 1) * pixels
    np.add.at(whole.reshape(-1), first + indices, grad_output)
    return whole


@differentiable("AdaptiveMaxPool2DBackward0", self=adaptive_max_pool2d_backward)
def adaptive_max_pool2d(self: Array, indices: Any) -> Array:
    """Largest entry of each part of an image, at known positions: these get the gradient."""
    *outer, height, width = self.shape
    rows = self.reshape(*outer, height * width)
    places = indices.reshape(*outer, indices.shape[-2] * indices.shape[-1])
    return np.take_along_axis(rows, places, -1).reshape(indices.shape)


# ---------------------------------------------------------------------- what is called


def _adaptive_size(name: str, size: Any, array: Any, ndim: int) -> tuple[int, ...]:
    """Give the wanted size for each dimension; None leaves a dimension as it is."""
    if ndim == 1:
        given = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        if len(given) != 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got 3)")
        if not is_whole(given[0]):
            raise wrong_type(name, "output_size", "tuple of ints", size, 2)
        return (int(given[0]),)
    several = isinstance(size, (tuple, list))
    given = tuple(size) if several else (size,) * ndim
    if not (size.__class__ is int or (several and all(n is None or is_whole(n) for n in given))):
        raise wrong_type(name, "output_size", "tuple of ints", size, 2)
    if several and len(given) >= array.ndim:
        raise ValueError(
            f"Input dimension should be at least {len(given) + 1}, but got {array.ndim}"
        )
    if len(given) != ndim:
        if "max" in name:
            raise RuntimeError(f"{name}(): internal error: output_size.size() must be {ndim}")
        raise RuntimeError(f"{name}: output_size must be {ndim}")
    inner = ((0,) * ndim + array.shape)[-ndim:]
    return tuple(n if each is None else int(each) for each, n in zip(given, inner, strict=True))


def _check(name: str, array: Any, size: tuple[int, ...]) -> None:
    """Raise if an input or a wanted size is out of range."""
    ndim, maximum = len(size), "max" in name
    if array.ndim not in (ndim + 1, ndim + 2):
        if ndim == 1:
            check_signal(name, array)
        colon = ":" if maximum else ""
        raise RuntimeError(
            f"{name}(): Expected {ndim + 1}D or {ndim + 2}D tensor, but got{colon} "
            f"{list(array.shape)}"
        )
    function, sizes, wanted = name, list(array.shape), size
    if not maximum and ndim == 1:
        function, wanted = "adaptive_avg_pool2d", (1, *size)
        sizes.insert(-1, 1)
    first = 1 if maximum and array.ndim == ndim + 2 else len(sizes) - len(wanted)
    for dim in range(first, len(sizes)):
        if sizes[dim] == 0:
            raise RuntimeError(
                f"{function}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {sizes} with dimension {dim} being empty"
            )
    if min(size) < 0:
        if maximum:
            whole = [*array.shape[:-ndim], *((1,) if ndim == 1 else ()), *size]
            wrong = min(size)
            raise RuntimeError(f"Trying to create tensor with negative dimension {wrong}: {whole}")
        listed = ", ".join(map(str, wanted))
        raise RuntimeError(
            f"{function}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{listed}}}"
        )
    if array.dtype.kind in "iubc":
        raise not_implemented("adaptive_max_pool2d" if maximum else "adaptive_avg_pool2d", array)


def _adaptive(name: str, ndim: int, input: Tensor, output_size: Any) -> tuple[Tensor, Any]:
    """Check an input and a size; a signal becomes an image of one row."""
    check_tensor(name, input)
    size = _adaptive_size(name, output_size, input._array, ndim)
    if math.prod(size) >= 1 << 31:  # windows are made one by one: it would not end
        whole(name, max(size), "output_size")
        raise RuntimeError(
            f"{name}(): can't allocate memory for a result of size {list(size)}. Ask for fewer "
            "entries."
        )
    _check(name, input._array, size)
    if ndim == 1:
        return as_image(input), (1, *size)
    return input, size


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
    name: str, ndim: int, input: Tensor, output_size: Any, return_indices: bool
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
    if 0 in size:
        nothing = empty((*array.shape[:-2], *size), dtype=high.dtype)
        result = without_derivative("adaptive_max_pool2d", nothing, high)
        indices = wrap(nothing._array.astype("int64"))
    else:
        positions = largest_positions(array, size)
        indices = wrap(positions)
        result = watched(adaptive_max_pool2d(high, positions), indices)
    if ndim == 1:
        result = as_signal(result)
        indices = indices.squeeze(array.ndim - 2) if return_indices else indices
    return (result, indices) if return_indices else result


for _ndim in (1, 2, 3):
    face_of(_adaptive_mean, _ndim, f"adaptive_avg_pool{_ndim}d(input, output_size)")
    if _ndim < 3:
        _arguments = "(input, output_size, return_indices=False)"
        face_of(_adaptive_maximum, _ndim, f"adaptive_max_pool{_ndim}d{_arguments}")
