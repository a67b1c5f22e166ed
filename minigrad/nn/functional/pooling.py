r"""Pooling and resizing: the largest entry or the mean of each window of an image, or a new size.

The gradient of the largest goes to the entry that was chosen, that of a mean in equal shares to all
entries. Windows go over the last dimensions of an array, as many as the window has. Each entry of
the window is looked at for all windows at once: there are few entries in a window, and many
windows. Pooling of one dimension is that of two, of height 1.

Resizing goes dimension by dimension: each new entry is a sum of a few old ones times weights.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
import math
import operator
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
from minigrad.ops import convolution, shape
from minigrad.ops.choices import where_true
from minigrad.ops.convolution import of_dimensions, padded, per_dimension, window_entries
from minigrad.ops.reduction import mean_dim
from minigrad.signatures import functional
from minigrad.signatures.arguments import different, not_implemented
from minigrad.signatures.variants import in_functional

Sizes = Sequence[int]


def bordered(array: Any, settings: Any, value: Any) -> tuple[Any, tuple[int, ...], Any]:
    """Give an array with its border, how many windows there are, and where the array lies in it."""
    kernel, stride, padding, dilation, ceil_mode = settings
    sizes = array.shape[-len(kernel) :]
    outputs = convolution.output_sizes(sizes, kernel, stride, padding, dilation, ceil_mode)
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
    rule = operation(f"{node}BackwardBackward0", grad_output=second, self=bend)(backward)
    declared = operation(f"{node}Backward0", self=rule)(ignore_errstate(forward))
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

    def positions(self, sizes: Sizes, settings: Any, apart: bool = False) -> Any:
        """Give the positions in the input, each dimension after the other in one number.

        Args:
            sizes: The image's sizes.
            settings: Those of the windows.
            apart: Whether to count on from one image to the next, or from 0 in each.
        """
        kernel, stride, padding, dilation, _ = settings
        outputs = self.entry.shape[-len(kernel) :]
        images = self.entry.size // math.prod(outputs)
        entries, starts = np.zeros(1, np.int64), np.arange(images * apart or 1)
        for n, k, o, s, p, d in zip(sizes, kernel, outputs, stride, padding, dilation, strict=True):
            entries = np.add.outer(entries * n, np.arange(k) * d)
            starts = np.add.outer(starts * n, np.arange(o) * s - p)
        found = entries.reshape(-1).take(self.entry.reshape(-1, *outputs))
        return (found + starts).reshape(self.entry.shape)


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
        first: The number of the entry that counts if all are equal, or one for each window.

    Returns:
        The largest entries, and their numbers from 0 on. Of equal ones the first counts, and if
        some are NaN the last of these.
    """
    number_of = np.full(array.shape, first, np.uint8 if len(others) < 255 else np.int64)
    best = array.copy()
    for number, strided in enumerate(others, 1):
        seen = strided.copy()  # a copy is looked at twice sooner than what lies apart in memory
        np.maximum(number_of, (seen > best) * number_of.dtype.type(number), out=number_of)
        np.maximum(best, seen, out=best)
    if np.isnan(np.min(best, initial=0)):  # one is: it is sought in one pass
        for number, seen in enumerate((array, *others)):
            np.maximum(number_of, np.isnan(seen) * number_of.dtype.type(number), out=number_of)
    return best, number_of


def _largest(array: Any, *given: Any) -> Any:
    """Largest entry of each window: the first of them gets the gradient."""
    *settings, chosen = given
    kernel, stride, padding, dilation, _ = settings
    if chosen.entry is not None:
        return array.reshape(-1)[chosen.positions(array.shape[-len(kernel) :], settings, True)]
    lowest = np.iinfo(array.dtype).min if array.dtype.kind in "iu" else -np.inf
    whole, outputs, _ = bordered(array, settings, lowest)
    entries = [whole[places] for places in window_entries(kernel, outputs, stride, dilation)]
    first = _first_inside(outputs, settings) if any(padding) else 0
    best, chosen.entry = largest_of(entries[0], entries[1:], first)
    return best


def _to_largest(grad: Any, array: Any, *given: Any) -> Any:
    """Rule of the largest in each window: the entry that was chosen gets the gradient."""
    *settings, chosen = given
    kernel, stride, padding, dilation, ceil_mode = settings
    whole, dims = zeros_for(grad, array.shape), len(kernel)
    reach = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    if ceil_mode or any(padding) or any(s <= r for s, r in zip(stride, reach, strict=True)):
        positions = chosen.positions(array.shape[-dims:], settings, True)
        np.add.at(whole.reshape(-1), positions.reshape(-1), grad.reshape(-1))
        return whole
    # no entry is in two windows
    outputs = chosen.entry.shape[-dims:]
    for number, places in enumerate(window_entries(kernel, outputs, stride, dilation)):
        whole[places] = where_true(chosen.entry == number, grad)
    return whole


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


def _of_means(array: Any, settings: Any) -> tuple[Any, Any, list[Any], Any]:
    """Give an array with its border, where it lies in it, and the places of the windows' entries.

    The last thing given is what the sums are divided by: one number, or one for each window.
    """
    kernel, stride, padding, ceil_mode, count_include_pad, divisor = settings
    steps = (1,) * len(kernel)
    whole, outputs, inner = bordered(array, (kernel, stride, padding, steps, ceil_mode), 0)
    places = window_entries(kernel, outputs, stride, steps)
    if divisor is not None:
        return whole, inner, places, divisor
    if not ceil_mode and (count_include_pad or not any(padding)):
        return whole, inner, places, math.prod(kernel)
    counts: Any = 1
    sizes = array.shape[-len(kernel) :]
    for n, o, k, s, p in zip(sizes, outputs, kernel, stride, padding, strict=True):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        counts = np.multiply.outer(counts, end - start)
    return whole, inner, places, counts.astype(array.dtype)


def _mean(array: Any, *settings: Any) -> Any:
    """Mean of each window: its entries get equal shares of the gradient."""
    whole, _, places, divisor = _of_means(array, settings)
    total = whole[places[0]].copy("C")
    for others in places[1:]:
        total += whole[others]
    total /= divisor
    return total


def _to_all(grad: Any, array: Any, *settings: Any) -> Any:
    """Rule of the mean of each window: its entries get equal shares of the gradient."""
    whole, inner, places, divisor = _of_means(zeros_for(grad, array.shape), settings)
    share = grad / divisor
    for each in places:
        whole[each] += share
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

# ---------------------------------------------------------------------- what is called


def _check_images(name: str, array: Any, dims: int, first: int) -> None:
    """Raise if there are no images, or no entries in the dimensions from the first one named on."""
    if array.ndim not in (dims + 1, dims + 2) or 0 in array.shape[first:]:
        raise RuntimeError(f"{name}(): no {dims} dimensions to pool in a shape {[*array.shape]}")


def _windows(
    name: str, ndim: int, input: Tensor, refused: str, ceil_mode: Any, *given: Any
) -> tuple[Tensor, list[tuple[int, ...]]]:
    """Check what is pooled and the settings of the windows; a signal becomes an image of height 1.

    Raises:
        RuntimeError: If a setting is out of range, or there is nothing to pool.
        NotImplementedError: If there is no pooling of such numbers.
    """
    array = input._array
    settings = dict(zip(("kernel_size", "stride", "padding", "dilation"), given, strict=True))
    if settings["stride"] is None:
        settings["stride"] = settings["kernel_size"]
    windows = [per_dimension(name, *setting, ndim) for setting in settings.items()]
    kernel, stride, padding, dilation = windows
    _check_images(name, array, ndim, -ndim - 1)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    wide = any(p > r // 2 for p, r in zip(padding, reach, strict=True))
    if min(*kernel, *stride, *dilation, min(padding) + 1) < 1 or wide:
        raise RuntimeError(f"{name}(): steps below 1, or padding over half a window: {settings}")
    if min(convolution.output_sizes(array.shape[-ndim:], *windows, ceil_mode)) < 1:
        raise RuntimeError(f"{name}(): a window is larger than the input {list(array.shape)}")
    if array.dtype.kind in refused:
        raise not_implemented(name, array)
    if ndim > 1:
        return input, windows
    one = zip((1, 1, 0, 1), windows, strict=True)
    return shape.unsqueezed(input, -2), [(least, *each) for least, each in one]


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
    windows = kernel_size, stride, padding, dilation
    image, given = _windows(name, ndim, input, "b", bool(ceil_mode), *windows)
    chosen, settings = Chosen(), (*given, bool(ceil_mode))
    result = MAXIMA[len(given[0])](image, *settings, chosen)
    sizes = image._array.shape[-len(given[0]) :]
    if ndim == 1:
        result = shape.squeeze(result, -2)
    if not return_indices:
        return result
    indices = wrap(chosen.positions(sizes, settings).reshape(result._array.shape))
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
    windows = kernel_size, stride, padding, 1
    image, given = _windows(name, ndim, input, "iubc", bool(ceil_mode), *windows)
    settings = (*given[:3], bool(ceil_mode), bool(count_include_pad), divisor_override)
    result = MEANS[len(given[0])](image, *settings)
    return shape.squeeze(result, -2) if ndim == 1 else result


def _put_back(
    name: str,
    ndim: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    r"""Put what a pooling took back into its place, among zeros: visualizations invert one so.

    Args:
        name: The function that is called.
        ndim: How many dimensions its windows have.
        input: The largest entries.
        indices: Their positions within each image, from `return_indices=True`.
        kernel_size: The window's sizes.
        stride: How far the window moved at each step; the size of the window if None.
        padding: How wide the border around the image was.
        output_size: The image's sizes; otherwise the smallest that fit.

    Raises:
        RuntimeError: If a position lies outside of the image.

    Shape:
        - input, indices: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where $H_{out} = (H - 1) s - 2p + k$

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> largest, where = torch.nn.functional.max_pool2d(image, 2, return_indices=True)
        >>> torch.nn.functional.max_unpool2d(largest, where, 2)[0, 0, 3]
        tensor([ 0., 13.,  0., 15.])
    """
    lead = (*input.shape[:-ndim],)
    kernel = per_dimension(name, "kernel_size", kernel_size, ndim)
    steps = per_dimension(name, "stride", kernel_size if stride is None else stride, ndim)
    border = per_dimension(name, "padding", padding, ndim)
    settings = zip(input.shape[-ndim:], steps, border, kernel, strict=True)
    sizes = [(n - 1) * s - 2 * p + k for n, s, p, k in settings]
    if output_size is not None:
        sizes = [*output_size][-ndim:]
    zeros: Any = wrap(np.zeros((*lead, math.prod(sizes)), input._array.dtype))
    put = zeros.scatter(-1, shape.flatten(indices, -ndim), shape.flatten(input, -ndim))
    return shape.view(put, (*lead, *sizes))


for _ndim in (1, 2, 3):
    of_dimensions(_maximum, _ndim, f"max_pool{_ndim}d")
    of_dimensions(_put_back, _ndim, f"max_unpool{_ndim}d")
    of_dimensions(_average, _ndim, f"avg_pool{_ndim}d")


# ---------------------------------------------------------------------- parts of an image
# Along a dimension of n entries, part i of o goes from floor(i n / o) up to
# ceil((i + 1) n / o); parts may overlap.


def parts(size: int, count: int) -> list[slice]:
    """Divide a dimension into parts of nearly the same size."""
    return [slice(i * size // count, -((i + 1) * size // -count)) for i in range(count)]


def _shares(like: Any, size: int, count: int) -> Tensor:
    """Give a matrix that averages parts: the share of each entry in the mean of each part."""
    matrix = np.zeros((size, count))
    for column, part in zip(matrix.T, parts(size, count), strict=True):
        column[part] = 1 / (part.stop - part.start)
    return wrap(matrix.astype(like.dtype))


def _largest_positions(array: Any, output_size: Any) -> Any:
    """Give the position of the first largest entry of each part of an image."""
    *outer, height, width = array.shape
    numbers = np.arange(height * width).reshape(height, width)
    found = np.zeros((*outer, *output_size), np.int64)
    for i, rows in enumerate(parts(height, output_size[0])):
        for j, columns in enumerate(parts(width, output_size[1])):
            among = numbers[rows, columns].reshape(-1)
            part = array[..., rows, columns].reshape(*outer, among.size)
            found[..., i, j] = among[part.argmax(-1)]
    return found


def _adaptive(name: str, ndim: int, input: Tensor, output_size: Any) -> tuple[Tensor, Any]:
    """Check an input and a size; None keeps a dimension, and a signal becomes an image."""
    array = input._array
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * ndim
    _check_images(name, array, ndim, -ndim)
    sizes = zip(given, array.shape[-ndim:], strict=False)
    size = tuple(n if each is None else operator.index(each) for each, n in sizes)
    if len(given) != ndim or min(size) < 0:
        raise RuntimeError(f"{name}(): output_size must be one size or {ndim}, not {given}")
    if array.dtype.kind in "iubc":
        raise not_implemented(name, array)
    return (shape.unsqueezed(input, -2), (1, *size)) if ndim == 1 else (input, size)


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
    result, size = _adaptive(name, ndim, input, output_size)
    if set(size) == {1}:  # PyTorch takes the mean as everywhere else
        dims = different(tuple(range(-1, -1 - len(size), -1)), result._array.ndim)
        result = mean_dim(result, dims, True)
    else:
        for axis, count in enumerate(size, -len(size)):
            shares = _shares(result._array, result._array.shape[axis], count)
            result = (result.transpose(axis, -1) @ shares).transpose(axis, -1)
    return shape.squeeze(result, -2) if ndim == 1 else result


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
    image, size = _adaptive(name, ndim, input, output_size)
    indices = wrap(_largest_positions(image._array, size))
    result = image.flatten(-2).gather(-1, indices.flatten(-2)).unflatten(-1, size)
    if ndim == 1:
        result, indices = result.squeeze(-2), indices.squeeze(-2)
    return (result, indices) if return_indices else result


for _ndim in (1, 2, 3):
    of_dimensions(_adaptive_mean, _ndim, f"adaptive_avg_pool{_ndim}d")
    if _ndim < 3:
        of_dimensions(_adaptive_maximum, _ndim, f"adaptive_max_pool{_ndim}d")


# ---------------------------------------------------------------------- resizing

# how many dimensions the modes mix that mix entries
_MIXED = {"linear": 1, "bilinear": 2, "trilinear": 3}


@functional()
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: Any = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: Any = None,
    antialias: Any = False,
) -> Tensor:
    """Resize signals, images or volumes.

    Args:
        input: What to resize.
        size: The new size of each dimension, or one number for all.
        scale_factor: By how much to resize instead, for each dimension or all.
        mode: `"nearest"` and `"nearest-exact"` repeat entries; `"linear"`, `"bilinear"` and
            `"trilinear"` mix the nearest ones; `"area"` averages.
        align_corners: Whether the first and the last entries keep their places, for modes that mix.
        recompute_scale_factor: Whether to compute the scale again from the sizes.
        antialias: Must be False: nothing is smoothed before it is made smaller.

    Raises:
        NotImplementedError: If the mode does not go with the dimensions, or is not supported.
        ValueError: If sizes and scales are both there, both missing, or too many.

    Shape:
        - input: (N, C, L), (N, C, H, W) or (N, C, D, H, W)
        - output: the same with new sizes

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[[1.0, 3.0]]])
        >>> torch.nn.functional.interpolate(x, scale_factor=2)
        tensor([[[1., 1., 3., 3.]]])
        >>> torch.nn.functional.interpolate(x, size=3, mode="linear", align_corners=True)
        tensor([[[1., 2., 3.]]])
    """
    array = input._array
    dims, old = array.ndim - 2, array.shape[2:]
    if align_corners is not None and mode not in _MIXED:
        raise ValueError(f"interpolate: align_corners means nothing to mode={mode!r}")
    sizes, scales = _new_sizes(old, size, scale_factor, recompute_scale_factor)
    plain = mode in ("nearest", "nearest-exact", "area") and dims in (1, 2, 3)
    if antialias or not (plain or _MIXED.get(mode) == dims):
        raise NotImplementedError(
            f"interpolate has no mode={mode!r} with antialias={antialias} here for inputs of "
            f"{dims + 2} dimensions. It resizes (N, C, L) by linear, (N, C, H, W) by bilinear, "
            "(N, C, D, H, W) by trilinear, and all by nearest, nearest-exact and area."
        )
    if mode == "area":
        return in_functional[f"adaptive_avg_pool{dims}d"](input, sizes if dims > 1 else sizes[0])
    if 0 in array.shape[1:] or min(sizes) < 1:
        raise RuntimeError(f"interpolate: no entries, from {list(array.shape)} to {list(sizes)}")
    if array.dtype.kind in "ibc" or (array.dtype.kind == "u" and mode != "nearest"):
        raise not_implemented("interpolate", array)
    taps = tuple(
        _taps(mode, n, new, scale, bool(align_corners), array.dtype)
        for n, new, scale in zip(old, sizes, scales, strict=True)
    )
    return _RESIZED[mode, dims](input, taps, old)


def _new_sizes(
    old: tuple[int, ...], size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Give the new sizes, and the scales if these are not to be computed from them."""
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give one of size and scale_factor")
    given = scale_factor if size is None else size
    several = tuple(given) if isinstance(given, (tuple, list)) else (given,) * len(old)
    if len(several) != len(old):
        raise ValueError(f"interpolate: {given} is not one number for each of the sizes {old}")
    unknown = (None,) * len(old)
    if size is not None:
        return tuple(map(operator.index, several)), unknown
    sizes = tuple(int(n * float(scale)) for n, scale in zip(old, several, strict=True))
    return sizes, unknown if recompute else tuple(map(float, several))


def _taps(
    mode: str, old: int, new: int, factor: Any, align_corners: bool, dtype: Any
) -> tuple[tuple[Any, Any], ...]:
    """Give where each new entry comes from, with weights; in the precision that PyTorch uses."""
    wide = np.can_cast(np.float64, dtype)  # into formulas as well
    precise: Any = np.float64 if wide and mode in _MIXED else np.float32
    steps: Any = np.arange(new).astype(precise)
    scale = precise(1.0 / factor if factor else old / new)
    if mode.startswith("nearest"):
        shift = precise(0.5 if mode == "nearest-exact" else 0)
        nearest = np.floor((steps + shift) * scale).astype(np.int64)
        return ((np.minimum(nearest, old - 1), None),)
    if align_corners:
        places = steps * precise((old - 1) / (new - 1) if new > 1 else 0)
    else:
        places = np.maximum((steps + precise(0.5)) * scale - precise(0.5), 0)
    below = np.minimum(np.floor(places).astype(np.int64), old - 1)
    share = np.minimum(places - below, 1)
    return (below, 1 - share), (np.minimum(below + 1, old - 1), share)


def _mixed(array: Any, taps: Any) -> Any:
    """Make entries along the last dimensions, each a sum of entries times weights."""
    for axis, lines in enumerate(taps, 2):
        parts = []
        for positions, weight in lines:
            part = array.take(positions, axis)
            if weight is not None:
                along = weight.reshape(-1, *[1] * (array.ndim - axis - 1))
                part = part * along.astype(array.dtype)
                if np.isnan(weight).any():  # not 0 times what may be infinite
                    part = np.where(np.isnan(along), 0, part)
            parts.append(part)
        array = functools.reduce(operator.add, parts)
    return array


def _transposed(lines: Any, old: int) -> Any:
    """Give for each old entry which new ones it went into, with the same weights, NaN for none."""
    positions = np.concatenate([positions for positions, _ in lines])
    weights = np.concatenate([np.ones(len(p)) if w is None else w for p, w in lines])
    order, counts = np.argsort(positions, kind="stable"), np.bincount(positions, minlength=old)
    starts = np.cumsum(counts) - counts
    turns = [(turn, order[starts + np.minimum(turn, counts - 1)]) for turn in range(counts.max())]
    new = len(lines[0][0])
    return [(at % new, np.where(counts > turn, weights[at], np.nan)) for turn, at in turns]


def _resizing(name: str) -> Any:
    """Make the resizing of one mode as one node. It is linear: its rule is its transposed."""

    def upsample_backward(grad_output: Array, taps: Any, old: Any) -> Array:
        """Add up for each old entry the gradients of those that it went into."""
        return _mixed(grad_output, [*map(_transposed, taps, old)])

    def upsample(self: Array, taps: Any, old: Any) -> Array:
        r"""Sums :math:`y_j = \sum_i w_{ji} x_i` of near entries: :math:`\sum_j w_{ji} g_j`."""
        return _mixed(self, taps)

    upsample.__name__ = "upsample_" + name.lower()
    upsample_backward.__name__ = upsample.__name__ + "_backward"
    again = lambda grad, taps, old: dispatch(forward, grad, taps, old)  # noqa: E731
    rule = operation(f"Upsample{name}BackwardBackward0", grad_output=again)(upsample_backward)
    forward = operation(f"Upsample{name}Backward0", self=rule)(upsample)
    return forward


_RESIZED = {
    (mode, dims): _resizing(f"{mode.title().replace('-', '')}{dims}D")
    for mode in ("nearest", "nearest-exact", *_MIXED)
    for dims in (1, 2, 3)
    if _MIXED.get(mode, dims) == dims
}


# ---------------------------------------------------------------------- channels into space


@functional()
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Make blocks of pixels of channels: (..., C r^2, H, W) becomes (..., C, H r, W r).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.pixel_shuffle(torch.ones(1, 8, 3, 3), 2).shape
        torch.Size([1, 2, 6, 6])
    """
    r = upscale_factor
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels // (r * r), r, r, height, width)
    pixels = blocks.movedim((-2, -4, -1, -3), (-4, -3, -2, -1))
    return pixels.reshape(*batch, channels // (r * r), height * r, width * r)
