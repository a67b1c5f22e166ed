r"""Slide a kernel over arrays of any number of dimensions, by products of matrices.

A correlation is linear in the input :math:`x`, in the kernel :math:`w`, and so is its gradient
:math:`g`. All of a convolution's derivatives are therefore three sums over one set of products,

.. math:: y_o = \sum_k w_k x_{so + dk}, \qquad
          \bar x_i = \sum_{so + dk = i} w_k g_o, \qquad
          \bar w_k = \sum_o g_o x_{so + dk},

for stride :math:`s` and dilation :math:`d`: `correlate`, `transposed_correlation` and `kernel_gradient`. Each is a
product of matrices, once the windows of the input stand side by side as columns (`im2col`).

With stride 1 a column need not be copied row by row. All outputs, taken in the order of memory with
the few positions between rows that are no outputs, lie in one piece, and the kernel's next entry
sees the same piece a little further on. What stands between the rows is dropped in the end.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, zeros_for
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.signatures import functional
from minigrad.signatures.arguments import refuse, wholes

Sizes = Sequence[int]

# So many bytes of columns are made at a time: a large batch shall not fill the memory.
_AT_ONCE = 1 << 22


def per_dimension(name: str, setting: str, value: Any, ndim: int) -> tuple[int, ...]:
    """Give a setting of a window for each dimension, as whole numbers.

    Args:
        name: The function that asks, for errors.
        setting: What the setting is called.
        value: One number for all dimensions, or several.
        ndim: The number of dimensions.

    Raises:
        TypeError: If there is something else than whole numbers.
        RuntimeError: If there are not as many as dimensions.
    """
    if value.__class__ is int:
        return (value,) * ndim
    given = wholes(name, value if isinstance(value, (tuple, list)) else [value], setting)
    if len(given) not in (1, ndim):
        raise RuntimeError(
            f"{name}: {setting} is one number or {ndim}, one for each dimension, got {value}"
        )
    return (given * ndim)[:ndim]


def of_dimensions(
    compute: Callable[..., Any], ndim: int, name: str, say: Callable[[str], Any] = functional
) -> None:
    """Make a function of some dimensions.

    Args:
        compute: What computes it: gets the function's name, the dimensions and the arguments.
        ndim: How many dimensions.
        name: What it is called.
        say: Gives the decorator that makes the function.
    """
    function: Any = functools.partial(compute, name, ndim)
    function.__name__, function.__doc__ = name, compute.__doc__
    function.__module__, function.__annotations__ = compute.__module__, compute.__annotations__
    say(name)(function)


@functools.lru_cache(256)
def output_sizes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> tuple[int, ...]:
    """Count the places of a window along each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )


def padded(x: Any, before: Sizes, after: Sizes, value: Any = 0, lead: int = 2) -> Any:
    """Put a border around all dimensions but the first; one of negative width is cut off."""
    if not (any(before) or any(after)):
        return x if x.flags.c_contiguous else x.copy()
    borders = list(zip(before, x.shape[lead:], after, strict=True))
    whole = zeros_for(x, (*x.shape[:lead], *[b + n + a for b, n, a in borders]))
    if value:
        whole.fill(value)
    inside: Any = (..., *[slice(max(b, 0), b + n) for b, n, _ in borders])
    whole[inside] = x[(..., *[slice(max(-b, 0), n + min(a, 0)) for b, n, a in borders])]
    return whole


def window_entry(entry: Sizes, outputs: Sizes, stride: Sizes, dilation: Sizes) -> tuple[slice, ...]:
    """Give the places that one entry of the window takes, as the window goes along."""
    return tuple(
        slice(d * k, d * k + s * (o - 1) + 1, s)
        for d, k, s, o in zip(dilation, entry, stride, outputs, strict=True)
    )


@functools.lru_cache(32)
def window_entries(
    kernel: Sizes, outputs: Sizes, stride: Sizes, dilation: Sizes
) -> list[tuple[Any, ...]]:
    """Give the places of each entry of the window, as indices; remembered for the next time."""
    return [(..., *window_entry(entry, outputs, stride, dilation)) for entry in np.ndindex(*kernel)]


class _Windows:
    """How the windows of an input lie in memory.

    Attributes:
        lattice: The sizes of what is computed, which has the outputs in its first corner.
        length: How many columns there are.
    """

    def __init__(
        self,
        shape: Sizes,
        strides: Sizes,
        itemsize: int,
        kernel: Sizes,
        outputs: Sizes,
        stride: Sizes,
        dilation: Sizes,
    ) -> None:
        steps = strides[2:]
        self.kernel, self.outputs = kernel, outputs
        self.in_one_piece = all(s == 1 for s in stride)
        self.strides = tuple(d * step for d, step in zip(dilation, steps, strict=True))
        if self.in_one_piece:
            self.lattice = (*outputs[:1], *shape[3:])
            last = sum((o - 1) * step for o, step in zip(outputs, steps, strict=True))
            self.length = last // itemsize + 1
            self.shape: tuple[int, ...] = (*kernel, self.length)
            self.strides += (itemsize,)
        else:
            self.lattice = tuple(outputs)
            self.length = math.prod(outputs)
            self.shape = (*kernel, *outputs)
            self.strides += tuple(s * step for s, step in zip(stride, steps, strict=True))

    def columns(self, x: Any, groups: int) -> Any:
        """Copy the windows side by side: (samples, groups, entries of a window, windows)."""
        shape, strides = x.shape[:2] + self.shape, x.strides[:2] + self.strides
        if type(x) is np.ndarray and x.dtype.kind == "f" and x.flags.c_contiguous:
            seen: Any = np.ndarray(shape, x.dtype, x, 0, strides)  # quicker than the other way
        else:
            seen = np.lib.stride_tricks.as_strided(x, shape, strides, True, False)
        entries = x.shape[1] // groups * math.prod(self.kernel)
        return seen.reshape(len(x), groups, entries, self.length)

    def spaced(self, grad: Any) -> Any:
        """Give a gradient of the outputs the places of the lattice, with zeros between."""
        if self.lattice != tuple(self.outputs):
            whole = zeros_for(grad, (*grad.shape[:2], *self.lattice))
            corner: Any = (..., *map(slice, self.outputs))
            whole[corner] = grad
            grad = whole
        return grad.reshape(*grad.shape[:2], -1)[..., : self.length]


_remembered = functools.lru_cache(64)(_Windows)


def _windows(x: Any, kernel: Sizes, outputs: Sizes, stride: Sizes, dilation: Sizes) -> _Windows:
    """Tell how the windows of an input lie; what was found is remembered for the next time."""
    outputs = tuple(outputs)
    return _remembered(x.shape, x.strides, x.itemsize, tuple(kernel), outputs, stride, dilation)


def _portions(count: int, bytes_each: int) -> list[slice]:
    """Divide a batch into parts of which the columns are not too many bytes."""
    step = max(1, _AT_ONCE // max(bytes_each, 1))
    return [slice(start, start + step) for start in range(0, count, step)]


def correlate(
    x: Any, weight: Any, outputs: Sizes, stride: Sizes, dilation: Sizes, groups: int
) -> Any:
    """Sum the products of a kernel and each window of an input.

    Args:
        x: Of shape (N, C, *sizes).
        weight: Of shape (out, C / groups, *kernel).
        outputs: The number of windows along each dimension.
        stride: How far apart the windows are.
        dilation: How far apart the entries of a window are.
        groups: Into how many parts the channels are divided, each with kernels of its own.

    Returns:
        An array of shape (N, out, *outputs), which may not be contiguous.
    """
    windows = _windows(x, weight.shape[2:], outputs, stride, dilation)
    count, kernels = len(x), len(weight)
    rows = weight.reshape(groups, kernels // groups, math.prod(weight.shape[1:]))
    result = np.empty_like(x, shape=(count, groups, rows.shape[1], math.prod(windows.lattice)))
    wanted = result[..., : windows.length]
    for part in _portions(count, rows.shape[2] * groups * windows.length * x.itemsize):
        np.matmul(rows, windows.columns(x[part], groups), out=wanted[part])
    result = result.reshape(count, kernels, *windows.lattice)
    return result[(..., *map(slice, outputs))]


def transposed_correlation(
    grad: Any,
    weight: Any,
    sizes: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Any:
    """Add each output's gradient, times the kernel, to the window that the output came from.

    With stride 1 that is a correlation with the kernel turned around.

    Args:
        grad: Of shape (N, out, *outputs).
        weight: Of shape (out, C / groups, *kernel).
        sizes: The sizes of the input, without the border.
        stride: How far apart the windows are.
        padding: How wide the border was.
        dilation: How far apart the entries of a window are.
        groups: Into how many parts the channels are divided.

    Returns:
        An array of shape (N, C, *sizes), which may not be contiguous.
    """
    count, kernels, *outputs = grad.shape
    channels, *kernel = weight.shape[1:]
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if all(s == 1 for s in stride):
        before = [r - p for r, p in zip(reach, padding, strict=True)]
        after = [n + p - o for n, p, o in zip(sizes, padding, outputs, strict=True)]
        turned = weight.reshape(groups, kernels // groups, channels, *kernel).swapaxes(1, 2)
        turned = turned.reshape(groups * channels, kernels // groups, *kernel)
        turned = turned[(..., *[slice(None, None, -1)] * len(kernel))]
        return correlate(padded(grad, before, after), turned, sizes, stride, dilation, groups)
    reached = [
        max((o - 1) * s + r + 1, n + p)
        for o, s, r, n, p in zip(outputs, stride, reach, sizes, padding, strict=True)
    ]
    whole: Any = zeros_for(grad, (count, groups * channels, *reached))
    rows = weight.reshape(groups, kernels // groups, math.prod(weight.shape[1:])).swapaxes(1, 2)
    grad = grad.reshape(count, groups, kernels // groups, math.prod(outputs))
    for part in _portions(count, rows.shape[1] * groups * grad.shape[3] * grad.itemsize):
        columns = rows @ grad[part]
        columns = columns.reshape(len(columns), groups * channels, *kernel, *outputs)
        add_windows(whole[part], columns, stride, dilation)
    return whole[(..., *[slice(p, p + n) for p, n in zip(padding, sizes, strict=True)])]


def add_windows(whole: Any, columns: Any, stride: Sizes, dilation: Sizes) -> None:
    """Add windows that stand side by side to their places (`col2im`).

    Args:
        whole: Of shape (N, C, *sizes); changed in place.
        columns: Of shape (N, C, *kernel, *outputs).
        stride: How far apart the windows are.
        dilation: How far apart the entries of a window are.
    """
    ndim = len(stride)
    outputs = columns.shape[2 + ndim :]
    for entry in np.ndindex(*columns.shape[2 : 2 + ndim]):
        places = window_entry(entry, outputs, stride, dilation)
        whole[(..., *places)] += columns[(slice(None), slice(None), *entry)]


def kernel_gradient(
    x: Any, grad: Any, kernel: Sizes, stride: Sizes, dilation: Sizes, groups: int
) -> Any:
    """Sum for each entry of the kernel the products of gradients and what it was multiplied with.

    Args:
        x: Of shape (N, C, *sizes).
        grad: Of shape (N, out, *outputs).
        kernel: The kernel's sizes.
        stride: How far apart the windows are.
        dilation: How far apart the entries of a window are.
        groups: Into how many parts the channels are divided.

    Returns:
        An array of shape (out, C / groups, *kernel).
    """
    count, kernels, *outputs = grad.shape
    windows = _windows(x, kernel, outputs, stride, dilation)
    channels = x.shape[1] // groups
    entries = channels * math.prod(kernel)
    total = zeros_for(x, (groups, kernels // groups, entries))
    for part in _portions(count, entries * groups * windows.length * x.itemsize):
        spaced = windows.spaced(grad[part])
        spaced = spaced.reshape(len(spaced), groups, -1, windows.length)
        columns = windows.columns(x[part], groups)
        total += np.add.reduce(spaced @ columns.swapaxes(2, 3), axis=0)
    return total.reshape(kernels, channels, *kernel)


# ---------------------------------------------------------------------- windows as columns


def _unfolded_rule(
    grad: Any, self_sym_sizes: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    sizes = tuple(self_sym_sizes[-2:])
    return dispatch(col2im, grad, sizes, kernel_size, dilation, padding, stride)


def _folded_rule(grad: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return dispatch(im2col, grad, kernel_size, dilation, padding, stride)


@operation("Im2ColBackward0", self=_unfolded_rule)
def im2col(self: Array, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    """Windows side by side as columns: each entry collects the gradients of its windows."""
    batch = self if self.ndim == 4 else self[None]
    outputs = output_sizes(batch.shape[2:], kernel_size, stride, padding, dilation)
    whole = padded(batch, padding, padding)
    columns = np.empty_like(whole, shape=(*batch.shape[:2], *kernel_size, *outputs))
    for entry in np.ndindex(*kernel_size):
        columns[(slice(None), slice(None), *entry)] = whole[
            (..., *window_entry(entry, outputs, stride, dilation))
        ]
    rows = batch.shape[1] * math.prod(kernel_size)
    return columns.reshape(*self.shape[:-3], rows, math.prod(outputs))


@operation("Col2ImBackward0", self=_folded_rule)
def col2im(
    self: Array, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Array:
    """Columns added up at the places of their windows: each gets the gradient of its window."""
    outputs = output_sizes(output_size, kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // math.prod(kernel_size)
    count = self.shape[0] if self.ndim == 3 else 1
    sizes = [n + 2 * p for n, p in zip(output_size, padding, strict=True)]
    whole = zeros_for(self, (count, channels, *sizes))
    columns = self.reshape(count, channels, *kernel_size, *outputs)
    add_windows(whole, columns, stride, dilation)
    inner = padded(whole, [-p for p in padding], [-p for p in padding])
    return inner.reshape(*self.shape[:-2], channels, *output_size)


@functional
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    r"""Put the windows of images side by side as columns (`im2col`).

    A convolution is then a product of matrices.

    Args:
        input: The images.
        kernel_size: The window's height and width, or one number for both.
        dilation: How far apart the entries of the window are.
        padding: How many zeros go around the image.
        stride: How far the window moves at each step.

    Raises:
        RuntimeError: If a setting is out of range, or no window fits.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C * kernel height * kernel width, number of windows)

    Example:
        >>> import minigrad as torch
        >>> image = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> torch.nn.functional.unfold(image, 2)[0, :, 0]
        tensor([0., 1., 3., 4.])
    """
    kernel, steps, border, moves = _window(kernel_size, dilation, padding, stride)
    sizes = input._array.shape
    outputs = output_sizes(sizes[-2:], kernel, moves, border, steps)
    if len(sizes) not in (3, 4) or min(outputs) < 1:
        raise RuntimeError(
            f"unfold takes images of size (N, C, H, W) or (C, H, W) that are no smaller than the "
            f"window, got {list(sizes)} and a window of size {kernel}"
        )
    refuse("im2col_out_cpu", "iu", input)
    return im2col(input, kernel, steps, border, moves)


@functional
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    r"""Add columns up at the places of their windows in images (`col2im`).

    It is not the inverse of `unfold`, but its gradient: where windows overlap, values add up.

    Args:
        input: The columns.
        output_size: Height and width of the images, or one number for both.
        kernel_size: The window's height and width, or one number for both.
        dilation: How far apart the entries of the window are.
        padding: How many zeros went around the image.
        stride: How far the window moved at each step.

    Raises:
        RuntimeError: If a setting is out of range, or the columns do not fit.

    Shape:
        - input: (N, C * kernel height * kernel width, number of windows), or without N
        - output: (N, C, H, W)

    Example:
        >>> import minigrad as torch
        >>> columns = torch.nn.functional.unfold(torch.ones(1, 1, 2, 3), 2)
        >>> torch.nn.functional.fold(columns, (2, 3), 2)
        tensor([[[[1., 2., 1.],
                  [1., 2., 1.]]]])
    """
    sizes = per_dimension("fold", "output_size", output_size, 2)
    kernel, steps, border, moves = _window(kernel_size, dilation, padding, stride)
    outputs = output_sizes(sizes, kernel, moves, border, steps)
    have = input._array.shape
    wanted = math.prod(outputs)
    fits = have[-1] == wanted and min(outputs) > 0 and not have[-2] % math.prod(kernel)
    if len(have) not in (2, 3) or not fits:
        raise RuntimeError(
            f"fold takes columns of size (N, C * {math.prod(kernel)}, {wanted}), one for each "
            f"place of the window, got {list(have)}"
        )
    refuse("col2im_out_cpu", "iu", input)
    return col2im(input, sizes, kernel, steps, border, moves)


def _window(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Give the settings of a window as pairs, if they are in range."""
    named = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    given = [per_dimension("unfold", name, value, 2) for name, value in named.items()]
    kernel, steps, border, moves = given
    if min(*kernel, *steps, *moves, 1 + min(border)) < 1:
        raise RuntimeError(f"sizes and steps of a window are positive, got {named}")
    return given
