r"""The derivatives of pooling: the largest entry of each window.

A window's gradient goes to the entry that was chosen. Windows go over the last dimensions of an
array, as many as the window has. Each entry of the window is looked at for all windows at once:
there are few entries in a window, and many windows.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad.ops.choices import _BITS, where_true
from minigrad.ops.correlation import Sizes, padded, window_entries
from minigrad.ops.meeting import applied, quietly
from minigrad.ops.overriding import overridable
from minigrad.ops.tape import Array, differentiable


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


def _max_second(
    grad: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: Any,
    chosen: Any,
) -> Any:
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return applied(MAXIMA[len(kernel_size)], grad, *settings, chosen)


@differentiable(
    "MaxPool2DWithIndicesBackwardBackward0",
    grad_output=_max_second,
    # saved though there is no use for it: as in PyTorch it must not be changed
    self=lambda grad, self: np.zeros_like(grad),
)
def max_pool2d_with_indices_backward(
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


@differentiable("MaxPool2DWithIndicesBackward0", self=max_pool2d_with_indices_backward)
@quietly
def max_pool2d_with_indices(
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


@differentiable(
    "MaxPool3DWithIndicesBackwardBackward0",
    grad_output=_max_second,
    self=lambda grad, self: np.zeros_like(grad),
)
def max_pool3d_with_indices_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: Any,
    chosen: Any,
) -> Array:
    """Rule of the largest in each window of three dimensions."""
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return _to_largest(grad_output, self, chosen, *settings)


@differentiable("MaxPool3DWithIndicesBackward0", self=max_pool3d_with_indices_backward)
@quietly
def max_pool3d_with_indices(
    self: Array,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: Any,
    chosen: Any,
) -> Array:
    """Largest entry of each window of three dimensions."""
    return _largest(self, chosen, kernel_size, stride, padding, dilation, ceil_mode)


MAXIMA: dict[int, Any] = {2: max_pool2d_with_indices, 3: max_pool3d_with_indices}
