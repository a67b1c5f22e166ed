r"""Pooling and its derivatives: the largest entry or the mean of each window of an image.

The gradient of the largest goes to the entry that was chosen, that of a mean in equal shares to all
entries. Windows go over the last dimensions of an array, as many as the window has. Each entry of
the window is looked at for all windows at once: there are few entries in a window, and many
windows. Pooling of one dimension is that of two, of height 1.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched
from minigrad.autograd.rules import (
    dispatch,
    ignore_errstate,
    overridable,
    with_arguments,
    zeros_for,
)
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import shape
from minigrad.ops.choices import where_true
from minigrad.ops.correlation import of_dimensions, padded, per_dimension, window_entries
from minigrad.ops.reduction import mean_dim
from minigrad.signatures.arguments import check_tensor, different, not_implemented, whole

Sizes = Sequence[int]


@functools.lru_cache(128)
def pooled_sizes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[int, ...]:
    """Count the windows along each dimension; with `ceil_mode` the last may reach over the end."""
    counts = []
    for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        count = (room + (s - 1 if ceil_mode else 0)) // s + 1
        # no window begins in the border at the end
        counts.append(count - (ceil_mode and (count - 1) * s >= n + p))
    return tuple(counts)


def bordered(array: Any, settings: Any, value: Any) -> tuple[Any, tuple[int, ...], Any]:
    """Give an array with its border, how many windows there are, and where the array lies in it."""
    kernel, stride, padding, dilation, ceil_mode = settings
    sizes = array.shape[-len(kernel) :]
    outputs = pooled_sizes(sizes, kernel, stride, padding, dilation, ceil_mode)
    if not ceil_mode and not any(padding):
        return array, outputs, (...,)
    after = [
        max((o - 1) * s + d * (k - 1) + 1 - n - p, 0)
        for o, s, d, k, n, p in zip(outputs, stride, dilation, kernel, sizes, padding, strict=True)
    ]
    inner = (..., *[slice(p, p + n) for p, n in zip(padding, sizes, strict=True)])
    return padded(array, padding, after, value, array.ndim - len(kernel)), outputs, inner


def _pooling(name: str, node: str, settings: str, pool: Any, bring_back: Any, bend: Any) -> Any:
    """Make an operation on windows, whose rule leads to a second operation with rules of its own.

    Args:
        name: What it is called.
        node: What its node is called.
        settings: What it takes beside the images.
        pool: Gives the result.
        bring_back: Gives the gradient of the images.
        bend: The derivative of that in the images: zeros.
    """

    @with_arguments(f"self, {settings}")
    def forward(self: Array, *given: Any) -> Array:
        return pool(self, *given)

    @with_arguments(f"grad_output, self, {settings}")
    def backward(grad_output: Array, self: Array, *given: Any) -> Array:
        return bring_back(grad_output, self, *given)

    @with_arguments(f"grad, {settings}")
    def second(grad: Any, *given: Any) -> Any:
        return dispatch(declared, grad, *given)

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    forward.__doc__, backward.__doc__ = pool.__doc__, bring_back.__doc__
    rule = operation(f"{node}BackwardBackward0", grad_output=second, self=bend)
    declared = operation(f"{node}Backward0", self=rule(backward))
    declared = declared(ignore_errstate(forward))
    return declared


# ---------------------------------------------------------------------- the largest of a window


class Chosen:
    """Which entry of its window was the largest: known after the forward.

    Attributes:
        entry: The entry's number within the window, for each window.
    """

    __slots__ = ("entry",)

    def __init__(self, entry: Any = None) -> None:
        self.entry = entry

    def positions(self, sizes: Sizes, settings: Any) -> np.ndarray[Any, Any]:
        """Give the positions in the input, each dimension after the other in one number."""
        kernel, stride, padding, dilation, _ = settings
        within = np.unravel_index(self.entry, kernel)
        outputs = self.entry.shape[-len(kernel) :]
        position = np.zeros(outputs, np.int64)
        for axis, (n, s, p, d) in enumerate(zip(sizes, stride, padding, dilation, strict=True)):
            start = np.arange(outputs[axis]) * s - p
            start = start.reshape(-1, *[1] * (len(kernel) - axis - 1))
            position = position * n + start + within[axis] * d
        return position


def _first_inside(outputs: Sizes, settings: Any) -> Any:
    """Number the first entry of each window that is not in the border."""
    kernel, stride, padding, dilation, _ = settings
    first: Any = 0
    for o, k, s, p, d in zip(outputs, kernel, stride, padding, dilation, strict=True):
        inside = -(np.minimum(np.arange(o) * s - p, 0) // d)
        first = np.asarray(first * k)[..., None] + inside
    return first


@overridable
def largest_of(array: Any, others: list[Any], first: Any) -> tuple[Any, Any]:
    """Give the largest of several entries, for each window, and which of them it is.

    Args:
        array: The first entry of each window.
        others: Arrays of the second entries, the third ones, ...
        first: For each window the number of the entry that counts if all are equal; None if it is
            the first of all.

    Returns:
        The largest entries, and their numbers from 0 on. Of equal ones the first counts, and if
        some are NaN the last of these.
    """
    small = np.dtype(np.uint8 if len(others) < 255 else np.int64)
    number_of = np.zeros(array.shape, small)
    if first is not None:
        number_of += first.astype(small)
    best = array.copy()
    for number, strided in enumerate(others, 1):
        seen = strided.copy()  # a copy is looked at twice sooner than what lies apart in memory
        better = (seen > best).view(np.uint8)
        np.maximum(number_of, better * small.type(number), out=number_of)
        np.maximum(best, seen, out=best)
    if best.dtype.kind == "f" and np.isnan(best).any():
        for number, seen in enumerate((array, *others)):
            np.maximum(number_of, np.isnan(seen) * small.type(number), out=number_of)
    return best, number_of


def _largest(array: Any, *given: Any) -> Any:
    """Largest entry of each window: the first of them gets the gradient."""
    *settings, chosen = given
    kernel, stride, padding, dilation, _ = settings
    lowest = np.iinfo(array.dtype).min if array.dtype.kind in "iu" else -np.inf
    whole, outputs, _ = bordered(array, settings, lowest)
    entries = [whole[places] for places in window_entries(kernel, outputs, stride, dilation)]
    if chosen.entry is not None:
        taken = np.empty_like(array, order="C", shape=entries[0].shape)
        for number, seen in enumerate(entries):
            np.copyto(taken, seen, where=chosen.entry == number)
        return taken
    first = _first_inside(outputs, settings) if any(padding) else None
    best, chosen.entry = largest_of(entries[0], entries[1:], first)
    return best


def _to_largest(grad: Any, array: Any, *given: Any) -> Any:
    """Rule of the largest in each window: the entry that was chosen gets the gradient."""
    *settings, chosen = given
    kernel, stride, _, dilation, _ = settings
    whole = zeros_for(grad, array.shape)
    whole, outputs, inner = bordered(whole, settings, 0)
    for number, places in enumerate(window_entries(kernel, outputs, stride, dilation)):
        whole[places] += where_true(chosen.entry == number, grad)
    return whole if whole.shape == array.shape else whole[inner].copy()


MAXIMA = {  # by the number of dimensions
    dims: _pooling(
        f"max_pool{dims}d_with_indices",
        f"MaxPool{dims}DWithIndices",
        "kernel_size, stride, padding, dilation, ceil_mode, chosen",
        _largest,
        _to_largest,
        # saved though there is no use for it: as in PyTorch it must not be changed
        lambda grad, self: np.zeros_like(grad),
    )
    for dims in (2, 3)
}

# ---------------------------------------------------------------------- the mean of a window


def _divisor(sizes: Sizes, outputs: Sizes, like: Any, settings: Any) -> Any:
    """Give what the sums of the windows are divided by: one number, or one for each window."""
    kernel, stride, padding, ceil_mode, count_include_pad, divisor_override = settings
    if divisor_override is not None:
        return divisor_override
    if not ceil_mode and (count_include_pad or not any(padding)):
        return math.prod(kernel)
    counts: Any = 1
    for n, o, k, s, p in zip(sizes, outputs, kernel, stride, padding, strict=True):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        counts = np.asarray(counts)[..., None] * (end - start)
    return counts.astype(like.dtype)


def _mean(array: Any, *settings: Any) -> Any:
    """Mean of each window: its entries get equal shares of the gradient."""
    kernel, stride, padding, ceil_mode, _, _ = settings
    steps = (1,) * len(kernel)
    whole, outputs, _ = bordered(array, (kernel, stride, padding, steps, ceil_mode), 0)
    total: Any = None
    for places in window_entries(kernel, outputs, stride, steps):
        seen = whole[places]
        if total is None:
            total = seen.copy("C")
        else:
            total += seen
    by = _divisor(array.shape[-len(kernel) :], outputs, array, settings)
    if array.dtype.kind in "iu":
        return (total / by).astype(array.dtype)
    total /= by
    return total


def _to_all(grad: Any, array: Any, *settings: Any) -> Any:
    """Rule of the mean of each window: its entries get equal shares of the gradient."""
    kernel, stride, padding, ceil_mode, _, _ = settings
    steps = (1,) * len(kernel)
    whole = zeros_for(grad, array.shape)
    whole, outputs, inner = bordered(whole, (kernel, stride, padding, steps, ceil_mode), 0)
    share = grad / _divisor(array.shape[-len(kernel) :], outputs, grad, settings)
    for places in window_entries(kernel, outputs, stride, steps):
        whole[places] += share
    return whole if whole.shape == array.shape else whole[inner].copy()


MEANS = {  # by the number of dimensions
    dims: _pooling(
        f"avg_pool{dims}d",
        f"AvgPool{dims}D",
        "kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
        _mean,
        _to_all,
        lambda grad: np.zeros_like(grad),
    )
    for dims in (2, 3)
}

# ---------------------------------------------------------------------- checks


def _windows(name: str, ndim: int, input: Any, **given: Any) -> list[tuple[int, ...]]:
    """Give the settings of windows as tuples; a stride that was not said is the window's size."""
    check_tensor(name, input)
    if given["stride"] is None:
        given["stride"] = given["kernel_size"]
    return [per_dimension(name, setting, value, ndim) for setting, value in given.items()]


def _check_images(name: str, array: Any, dims: int, first: int) -> None:
    """Raise if there are no images, or no entries in the dimensions from the first one named on."""
    if array.ndim not in (dims + 1, dims + 2) or 0 in array.shape[first:]:
        raise RuntimeError(
            f"{name}() takes a tensor of shape (N, C, ...) or (C, ...) with {dims} dimensions of "
            f"at least one entry to pool, not one of shape {list(array.shape)}"
        )


def _check(name: str, array: Any, windows: Any, ceil_mode: bool, refused: str) -> None:
    """Raise if a setting is out of range, there is nothing to pool, or no kernel for the dtype."""
    kernel, stride, padding, dilation = windows
    dims = len(kernel)
    _check_images(name, array, dims, -dims - 1)
    wide = any(
        p > (d * (k - 1) + 1) // 2 for k, p, d in zip(kernel, padding, dilation, strict=True)
    )
    if min(*kernel, *stride, *dilation, min(padding) + 1) < 1 or wide:
        raise RuntimeError(
            f"{name}() needs windows and steps of at least 1, and a padding of at most half a "
            f"window; got kernel_size={kernel}, stride={stride}, padding={padding} and "
            f"dilation={dilation}"
        )
    if min(pooled_sizes(array.shape[-dims:], *windows, ceil_mode)) < 1:
        raise RuntimeError(f"{name}(): a window is larger than the input {list(array.shape)}")
    if array.dtype.kind in refused:
        raise not_implemented(name, array)


# ---------------------------------------------------------------------- what is called


def as_image(signal: Tensor) -> Tensor:
    """Give a signal as an image of height 1."""
    return shape.unsqueezed(signal, -2)


def as_signal(image: Tensor) -> Tensor:
    """Give an image of height 1 as a signal."""
    return shape.squeeze(image, -2)


def _of_image(windows: Any) -> list[tuple[int, ...]]:
    """Give the windows of a signal as those of an image of height 1."""
    return [(least, *given) for least, given in zip((1, 1, 0, 1), windows, strict=False)]


def _maximum(
    name: str,
    ndim: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    r"""Take the largest entry of each window of an image.

    Args:
        name: The function that is called.
        ndim: How many dimensions its windows have: signals have 1, volumes 3.
        input: The images.
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step; the size of the window if None.
        padding: How wide the border around the image is; it never wins.
        dilation: How far apart the entries of the window are.
        ceil_mode: Whether a last window may reach over the end.
        return_indices: Whether to give the positions of the largest entries, too.

    Returns:
        The largest entries; or these and their positions within each image.

    Raises:
        RuntimeError: If a setting is out of range.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where
          $H_{out} = \lfloor (H + 2p - d (k - 1) - 1) / s \rfloor + 1$

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> torch.nn.functional.max_pool2d(image, 2)
        tensor([[[[ 5.,  7.],
                  [13., 15.]]]])
    """
    windows = _windows(
        name,
        ndim,
        input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
    )
    _check(name, input._array, windows, bool(ceil_mode), "iubc" if ndim == 1 else "b")
    if ndim == 1:
        windows, input = _of_image(windows), as_image(input)
    chosen, given = Chosen(), (*windows, bool(ceil_mode))
    result = MAXIMA[len(windows[0])](input, *given, chosen)
    sizes = input._array.shape[-len(windows[0]) :]
    if ndim == 1:
        result = as_signal(result)
    if not return_indices:
        return result
    indices = wrap(chosen.positions(sizes, given).reshape(result._array.shape))
    return watched(result, indices), indices


def _average(
    name: str,
    ndim: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    r"""Average each window of an image.

    Args:
        name: The function that is called.
        ndim: How many dimensions its windows have: signals have 1, volumes 3.
        input: The images.
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step; the size of the window if None.
        padding: How many zeros go around the image.
        ceil_mode: Whether a last window may reach over the end.
        count_include_pad: Whether these zeros count as entries.
        divisor_override: What the sums are divided by, instead of the number of entries.

    Raises:
        RuntimeError: If a setting is out of range.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where $H_{out} = \lfloor (H + 2p - k) / s \rfloor + 1$

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> torch.nn.functional.avg_pool2d(image, 2)
        tensor([[[[ 2.5000,  4.5000],
                  [10.5000, 12.5000]]]])
    """
    windows = _windows(name, ndim, input, kernel_size=kernel_size, stride=stride, padding=padding)
    refused = "bc" if input._array.dtype == np.int64 else "iubc"
    _check(name, input._array, [*windows, (1,) * ndim], bool(ceil_mode), refused)
    if divisor_override == 0:
        raise RuntimeError(f"{name}(): divisor_override must not be zero")
    if ndim == 1:
        windows, input = _of_image(windows), as_image(input)
    given = (*windows, bool(ceil_mode), bool(count_include_pad), divisor_override)
    result = MEANS[len(windows[0])](input, *given)
    return as_signal(result) if ndim == 1 else result


def _average_of_signals(
    name: str,
    ndim: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Average each window of a signal; see `avg_pool2d`."""
    windows = kernel_size, stride, padding
    return _average(name, ndim, input, *windows, ceil_mode, count_include_pad)


for _ndim in (1, 2, 3):
    of_dimensions(_maximum, _ndim, f"max_pool{_ndim}d")
    of_dimensions(_average_of_signals if _ndim == 1 else _average, _ndim, f"avg_pool{_ndim}d")


# ---------------------------------------------------------------------- parts of an image
# Along a dimension of n entries, part i of o goes from floor(i n / o) up to
# ceil((i + 1) n / o); parts may overlap.


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


def _adaptive(name: str, ndim: int, input: Tensor, output_size: Any) -> tuple[Tensor, Any]:
    """Check an input and a size; None keeps a dimension, and a signal becomes an image."""
    check_tensor(name, input)
    array = input._array
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * ndim
    if len(given) != ndim:
        raise RuntimeError(f"{name}(): output_size must be one number or {ndim}, not {given}")
    _check_images(name, array, ndim, -ndim)
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
