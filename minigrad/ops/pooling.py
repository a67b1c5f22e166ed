r"""The derivatives of pooling: the largest entry, or the mean, of each window or part of an image.

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
from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.ops.choices import _BITS, where_true
from minigrad.ops.correlation import Sizes, in_single, padded, window_entries
from minigrad.ops.type_promotion import applied, overridable, quietly


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
    if any(padding) or any(after):
        batch = array if array.ndim == len(kernel) + 2 else array[None]
        array = padded(batch, padding, after, value).reshape(
            *array.shape[: -len(kernel)],
            *[p + n + a for p, n, a in zip(padding, sizes, after, strict=True)],
        )
    return array, outputs, inner


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
    best = array if others else array.copy()
    for number, seen in enumerate(others, 1):
        better = (seen > best).view(np.uint8)
        np.maximum(number_of, better * small.type(number), out=number_of)
        best = np.maximum(best, seen, out=None if number == 1 else best)
    if best.dtype.kind == "f" and np.isnan(best).any():
        for number, seen in enumerate((array, *others)):
            np.maximum(number_of, np.isnan(seen) * small.type(number), out=number_of)
    return best, number_of


def _largest(array: Any, chosen: Chosen, *settings: Any) -> Any:
    """Take each window's largest entry, and note which it was."""
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


def _to_largest(grad: Any, array: Any, chosen: Chosen, *settings: Any) -> Any:
    """Bring each window's gradient to the entry that was chosen."""
    kernel, stride, _, dilation, _ = settings
    whole = np.zeros_like(grad, order="C", shape=array.shape)
    whole, outputs, inner = bordered(whole, settings, 0)
    apart = all(s >= d * (k - 1) + 1 for k, s, d in zip(kernel, stride, dilation, strict=True))
    bits = _BITS.get(whole.itemsize) if apart and whole.dtype.kind == "f" else None
    for number, places in enumerate(window_entries(kernel, outputs, stride, dilation)):
        mask = chosen.entry == number
        if bits is not None:  # as `where_true` does, but written where it belongs
            np.multiply(grad.view(bits), mask, out=whole.view(bits)[places])
        else:
            whole[places] += where_true(mask, grad)
    return whole if whole.shape == array.shape else whole[inner].copy()


def _named(function: Any, name: str, dims: int) -> Any:
    """Name a function of some dimensions, and complete its text."""
    function.__name__ = name
    function.__doc__ = f"{function.__doc__} In {dims} dimensions."
    return function


def _max_pooling(dims: int) -> Any:
    """Make the pooling of the largest in some dimensions, and its rule."""

    def backward(
        grad_output: Array,
        self: Array,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: Any,
        chosen: Any,
    ) -> Array:
        """Rule of the largest in each window: the entry that was chosen gets the gradient."""
        settings = (kernel_size, stride, padding, dilation, ceil_mode)
        return _to_largest(grad_output, self, chosen, *settings)

    def pool(
        self: Array,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: Any,
        chosen: Any,
    ) -> Array:
        """Largest entry of each window: the first of them gets the gradient."""
        return _largest(self, chosen, kernel_size, stride, padding, dilation, ceil_mode)

    def second(
        grad: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: Any,
        chosen: Any,
    ) -> Any:
        settings = (kernel_size, stride, padding, dilation, ceil_mode)
        return applied(operation, grad, *settings, chosen)

    name, title = f"max_pool{dims}d_with_indices", f"MaxPool{dims}DWithIndices"
    rule = differentiable(
        f"{title}BackwardBackward0",
        grad_output=second,
        # saved though there is no use for it: as in PyTorch it must not be changed
        self=lambda grad, self: np.zeros_like(grad),
    )(_named(backward, f"{name}_backward", dims))
    operation = differentiable(f"{title}Backward0", self=rule)(quietly(_named(pool, name, dims)))
    return operation


MAXIMA = {dims: _max_pooling(dims) for dims in (2, 3)}  # by the number of dimensions

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
        return np.trunc(total / by).astype(array.dtype)
    total /= by
    return total


def _to_all(grad: Any, array: Any, *settings: Any) -> Any:
    kernel, stride, padding, ceil_mode, _, _ = settings
    steps = (1,) * len(kernel)
    whole = np.zeros_like(grad, order="C", shape=array.shape)
    whole, outputs, inner = bordered(whole, (kernel, stride, padding, steps, ceil_mode), 0)
    share = grad / _divisor(array.shape[-len(kernel) :], outputs, grad, settings)
    for places in window_entries(kernel, outputs, stride, steps):
        whole[places] += share
    return whole if whole.shape == array.shape else whole[inner].copy()


def _avg_pooling(dims: int) -> Any:
    """Make the pooling of the mean in some dimensions, and its rule."""

    def backward(
        grad_output: Array,
        self: Array,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: Any,
        count_include_pad: Any,
        divisor_override: Any,
    ) -> Array:
        """Rule of the mean of each window: its entries get equal shares of the gradient."""
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return _to_all(grad_output, self, *settings)

    def pool(
        self: Array,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: Any,
        count_include_pad: Any,
        divisor_override: Any,
    ) -> Array:
        """Mean of each window: its entries get equal shares of the gradient."""
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return _mean(self, *settings)

    def second(
        grad: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: Any,
        count_include_pad: Any,
        divisor_override: Any,
    ) -> Any:
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return applied(operation, grad, *settings)

    name, title = f"avg_pool{dims}d", f"AvgPool{dims}D"
    rule = differentiable(
        f"{title}BackwardBackward0", grad_output=second, self=lambda grad: np.zeros_like(grad)
    )(in_single(_named(backward, f"{name}_backward", dims)))
    operation = differentiable(f"{title}Backward0", self=rule)(
        quietly(in_single(_named(pool, name, dims)))
    )
    return operation


MEANS = {dims: _avg_pooling(dims) for dims in (2, 3)}  # by the number of dimensions

# ---------------------------------------------------------------------- parts of an image

# Along a dimension of n entries, part i of o goes from floor(i n / o) up to ceil((i + 1) n / o);
# parts may overlap.


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


def _adaptive_pooling(dims: int) -> Any:
    """Make the pooling of the mean of parts in some dimensions, and its rule."""

    def backward(grad_output: Array, self: Array) -> Array:
        """Rule of the mean of each part: its entries get equal shares of the gradient."""
        return _to_parts(grad_output, self.shape, grad_output.shape[-dims:])

    def pool(self: Array, output_size: Any) -> Array:
        """Mean of each part: its entries get equal shares of the gradient."""
        return _of_parts(self, output_size)

    name, title = f"adaptive_avg_pool{dims}d", f"AdaptiveAvgPool{dims}D"
    rule = differentiable(
        f"{title}BackwardBackward0",
        grad_output=lambda grad, grad_output_sym_sizes: applied(
            operation, grad, tuple(grad_output_sym_sizes[-dims:])
        ),
        self=lambda grad: np.zeros_like(grad),
    )(in_single(_named(backward, f"{name}_backward", dims)))
    operation = differentiable(f"{title}Backward0", self=rule)(
        quietly(in_single(_named(pool, name, dims)))
    )
    return operation


ADAPTIVE_MEANS = {dims: _adaptive_pooling(dims) for dims in (2, 3)}  # by the number of dimensions


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
