r"""Convolutions and their derivatives, plain and transposed, in one, two or three dimensions.

What deep learning calls a convolution is a correlation: it slides a kernel over its input. It is
linear in the input :math:`x`, in the kernel :math:`w`, and so is its gradient :math:`g`. All of its
derivatives are therefore three sums over one set of products,

.. math:: y_o = \sum_k w_k x_{so + dk}, \qquad
          \bar x_i = \sum_{so + dk = i} w_k g_o, \qquad
          \bar w_k = \sum_o g_o x_{so + dk},

for stride :math:`s` and dilation :math:`d`: `correlate`, `transposed_correlation` and
`kernel_gradient`. Each is a product of matrices, once the windows of the input stand side by side
as columns (`im2col`). With stride 1 it is quicker to copy only the lines that windows share: one
product gives what each line of a kernel adds, and the results are added, one line further each. The
gradient of a convolution in its input is the transposed convolution with the same kernel, and the
other way round: so the rules lead from one operation here to another.

Formulas: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016).
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import dispatch, ignore_errstate, with_arguments, zeros_for
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import shape
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import functional, lazy_loading, variants
from minigrad.signatures.arguments import wholes

Sizes = Sequence[int]

# So many bytes of columns are made at a time: a large batch should not fill the memory.
_AT_ONCE = 1 << 22

# Of fewer numbers all columns are made, which takes fewer calls.
_SMALL = 1 << 10

# Stands for a tensor that is not there, such as the bias of a layer without one.
ABSENT = wrap(np.zeros(0, np.float32))


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
        raise RuntimeError(f"{name} takes one {setting}, or {ndim}, not {value}")
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
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, over: bool = False
) -> tuple[int, ...]:
    """Count the places of a window along each dimension; the last may reach over the end or not."""
    counts = []
    for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        count = (n + 2 * p - d * (k - 1) - 1 + (s - 1) * over) // s + 1
        # no window begins in the border at the end
        counts.append(count - (over and (count - 1) * s >= n + p))
    return tuple(counts)


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


@functools.lru_cache(32)
def window_entries(
    kernel: Sizes, outputs: Sizes, stride: Sizes, dilation: Sizes
) -> list[tuple[Any, ...]]:
    """Give the places that each entry of the window takes, as the window goes along."""

    def along(k: int, d: int, s: int, o: int) -> slice:
        return slice(d * k, d * k + s * (o - 1) + 1, s)

    return [(..., *map(along, entry, dilation, stride, outputs)) for entry in np.ndindex(*kernel)]


def _seen(x: Any, kernel: Sizes, outputs: Sizes, stride: Sizes, dilation: Sizes) -> Any:
    """Give a view of the windows: (samples, channels, *kernel, *outputs)."""
    steps = x.strides[2:]
    along = [s * step for s, step in zip(stride, steps, strict=True)]
    within = [d * step for d, step in zip(dilation, steps, strict=True)]
    sizes, strides = (*x.shape[:2], *kernel, *outputs), (*x.strides[:2], *within, *along)
    if type(x) is np.ndarray and x.dtype.kind == "f" and x.flags.c_contiguous:
        return np.ndarray(sizes, x.dtype, x, 0, strides)  # quicker than the other way
    return np.lib.stride_tricks.as_strided(x, sizes, strides, True, False)


def _columns(x: Any, kernel: Sizes, outputs: Sizes, stride: Sizes, dilation: Sizes) -> Any:
    """Copy the windows side by side: (samples, channels * entries of a window, *outputs)."""
    seen = _seen(x, kernel, outputs, stride, dilation)
    columns = seen.reshape(len(x), x.shape[1] * math.prod(kernel), *outputs)
    return columns if columns.flags.c_contiguous else columns.copy()  # quicker to multiply with


def _portions(count: int, bytes_each: int) -> list[slice]:
    """Divide a batch into parts of which the columns are not too many bytes."""
    step = max(1, _AT_ONCE // max(bytes_each, 1))
    return [slice(start, start + step) for start in range(0, count, step)]


def _shared(x: Any, kernel: Sizes, outputs: Sizes, stride: Sizes, kernels: int) -> int:
    """Tell how many entries of a window see lines that are copied once; 1 if all are copied.

    With stride 1 a copied line is seen by all entries that differ in other dimensions only. That
    takes more calls, and some products in vain, which costs more the more kernels there are.
    """
    shared = x.size > _SMALL and max(stride) == 1 and kernels <= 4 * outputs[0]
    return math.prod(kernel[:-1]) if shared else 1


def _lines(x: Any, settings: Any, before: Sizes, after: Sizes, shared: int) -> Any:
    """Copy what the windows see: (samples, channels * entries, *sizes).

    If lines are `_shared`, the entries are those along the last dimension, and the sizes those of
    the input with its border, except for the last.
    """
    kernel, outputs, stride, dilation = settings
    (*_, width), last, first = x.shape, kernel[-1], before[-1]
    if shared > 1:
        sizes = [b + n + a for b, n, a in zip(before, x.shape[2:], after, strict=True)]
        kernel, outputs = (*[1] * (len(kernel) - 1), last), (*sizes[:-1], outputs[-1])
    if shared == 1 or min(*before, *after) < 0 or not width == outputs[-1] > max(first, after[-1]):
        return _columns(padded(x, before, after), kernel, outputs, stride, dilation)
    lines = np.empty_like(x, order="C", shape=(*x.shape[:2], last, *outputs))
    inner = [*zip(before[:-1], x.shape[2:], strict=False)]
    for axis, (b, n) in enumerate(inner, 3):
        for border in (slice(b), slice(b + n, None)):
            lines[(*[slice(None)] * axis, border)] = 0
    # All lines are shifted in one piece, and what came from the line before or after is made zero.
    inside = [slice(b, b + n) for b, n in inner[:-1]]
    pieces, source = lines.reshape(*lines.shape[:-2], -1), x.reshape(*x.shape[:-2], -1)
    for entry in range(last):
        shift = entry * dilation[-1] - first
        start = before[-2] * width - shift
        stop = min(start + source.shape[-1], pieces.shape[-1])
        place = (slice(None), slice(None), entry, *inside, slice(max(start, 0), stop))
        pieces[place] = source[..., max(-start, 0) : stop - start]
        lines[:, :, entry, ..., : max(-shift, 0)] = 0
        lines[:, :, entry, ..., width - max(shift, 0) :] = 0
    return lines.reshape(len(x), -1, *outputs)


def correlate(
    x: Any, weight: Any, outputs: Sizes, stride: Sizes, dilation: Sizes, groups: int,
    before: Sizes, after: Sizes,
) -> Any:  # fmt: skip
    """Sum the products of a kernel and each window of an input.

    Args:
        x: Of shape (N, C, *sizes).
        weight: Of shape (out, C / groups, *kernel).
        outputs: The number of windows along each dimension.
        stride: How far apart the windows are.
        dilation: How far apart the entries of a window are.
        groups: Into how many parts the channels are divided, each with kernels of its own.
        before: How wide the border of zeros is at the beginning of each dimension.
        after: How wide it is at the end.

    Returns:
        An array of shape (N, out, *outputs).
    """
    kernels, channels, *kernel = weight.shape
    each, settings = kernels // groups, (tuple(kernel), outputs, stride, dilation)
    shared = _shared(x, kernel, outputs, stride, each) if each <= 2 * channels else 1
    entries = math.prod(kernel) // shared
    rows = np.moveaxis(weight.reshape(groups, each, channels, shared, entries), 3, 1)
    rows = rows.reshape(groups, shared * each, channels * entries)
    places = window_entries(*[(*setting[:-1],) for setting in settings])
    result = np.empty_like(x, order="C", shape=(len(x), groups, each, *outputs))
    for part in _portions(len(x), x.shape[1] * math.prod((*kernel, *outputs)) * x.itemsize):
        lines, made = _lines(x[part], settings, before, after, shared), result[part]
        sizes = lines.shape[2:]
        seen = lines.reshape(len(lines), groups, channels * entries, math.prod(sizes))
        if shared == 1:
            np.matmul(rows, seen, out=made.reshape(len(made), groups, each, seen.shape[3]))
        else:
            product = (rows @ seen).reshape(len(lines), groups, shared, each, *sizes)
            *most, last = (product[:, :, i][(*at, slice(None))] for i, at in enumerate(places))
            np.add(functools.reduce(np.add, most), last, out=made)
    return result.reshape(len(x), kernels, *outputs)


def transposed_correlation(
    grad: Any, weight: Any, sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int,
) -> Any:  # fmt: skip
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
    if kernels == groups and channels == 1:
        # so few products are quicker done with zeros between the gradients than added by windows
        outputs = [(o - 1) * s + 1 for o, s in zip(outputs, stride, strict=True)]
        whole: Any = zeros_for(grad, (count, kernels, *outputs))
        whole[(..., *[slice(None, None, s) for s in stride])] = grad
        grad, stride = whole, (1,) * len(stride)
    if all(s == 1 for s in stride):
        before = [r - p for r, p in zip(reach, padding, strict=True)]
        after = [n + p - o for n, p, o in zip(sizes, padding, outputs, strict=True)]
        turned = weight.reshape(groups, kernels // groups, channels, *kernel).swapaxes(1, 2)
        turned = turned.reshape(groups * channels, kernels // groups, *kernel)
        turned = turned[(..., *[slice(None, None, -1)] * len(kernel))]
        return correlate(grad, turned, sizes, stride, dilation, groups, before, after)
    reached = [
        max((o - 1) * s + r + 1, n + p)
        for o, s, r, n, p in zip(outputs, stride, reach, sizes, padding, strict=True)
    ]
    whole = zeros_for(grad, (count, groups * channels, *reached))
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
    kernel, outputs = columns.shape[2 : 2 + ndim], columns.shape[2 + ndim :]
    entries = window_entries(kernel, outputs, tuple(stride), tuple(dilation))
    for entry, places in zip(np.ndindex(*kernel), entries, strict=True):
        whole[places] += columns[(slice(None), slice(None), *entry)]


def kernel_gradient(
    x: Any, grad: Any, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Any:
    """Sum for each entry of the kernel the products of gradients and what it was multiplied with.

    Args:
        x: Of shape (N, C, *sizes).
        grad: Of shape (N, out, *outputs).
        kernel: The kernel's sizes.
        stride: How far apart the windows are.
        padding: How wide the border was.
        dilation: How far apart the entries of a window are.
        groups: Into how many parts the channels are divided.

    Returns:
        An array of shape (out, C / groups, *kernel).
    """
    outputs, channels, each = grad.shape[2:], x.shape[1] // groups, grad.shape[1] // groups
    length, shared = math.prod(outputs), _shared(x, kernel, outputs, stride, each)
    entries = math.prod(kernel) // shared
    total = zeros_for(x, (groups, shared, each, channels * entries))
    grad = grad.reshape(len(x), groups, 1, each, length)
    for part in _portions(len(x), x.shape[1] * math.prod(kernel) * length * x.itemsize):
        settings = kernel, outputs, stride, dilation
        seen = _lines(x[part], settings, padding, padding, shared)
        if shared > 1:
            seen = _seen(seen, (*kernel[:-1], 1), outputs, stride, dilation)
        seen = seen.reshape(len(seen), groups, channels * entries, shared, length)
        if each == 1 and type(seen) is np.ndarray:
            products = np.vecdot(grad[part], seen).swapaxes(2, 3)[..., None, :]
        else:
            products = grad[part] @ seen.transpose(0, 1, 3, 4, 2)
        total += np.add.reduce(products, axis=0)
    total = np.moveaxis(total.reshape(groups, shared, each, channels, entries), 1, 3).copy()
    return total.reshape(groups * each, channels, *kernel)


# ---------------------------------------------------------------------- the operation

_SETTINGS = "stride, padding, dilation, transposed, output_padding, groups"


@functools.lru_cache(256)
def _reached(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, more: Sizes,
) -> tuple[int, ...]:  # fmt: skip
    """Give the sizes of what a convolution makes, plain or transposed.

    A transposed one is longer at the end by `more`; a plain one leaves out so many windows there.
    """
    if not transposed:
        outputs = output_sizes(sizes, kernel, stride, padding, dilation)
        return tuple(o - m for o, m in zip(outputs, more, strict=True))
    settings = zip(sizes, kernel, stride, padding, dilation, more, strict=True)
    return tuple((n - 1) * s + d * (k - 1) + 1 - 2 * p + m for n, k, s, p, d, m in settings)


# To differentiate what is linear in two things, the gradient replaces one of them. A rule takes all
# three, because it needs the shape of the third.


def _again(input: Any, weight: Any, *settings: Any) -> Any:
    """Convolve within a rule, without a bias."""
    bias = ABSENT if isinstance(input, Tensor) else ABSENT._array
    return dispatch(convolution, input, weight, bias, *settings)


@with_arguments(f"grad, input, weight, {_SETTINGS}")
def _input_rule(
    grad: Any, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, more: Any, groups: int,
) -> Any:  # fmt: skip
    """Convolve the gradient the other way, plain or transposed, so that it reaches the input."""
    shapes, none = (tuple(grad.shape[2:]), tuple(weight.shape[2:])), (0,) * len(stride)
    reached = _reached(*shapes, stride, padding, dilation, not transposed, none)
    more = tuple(abs(n - r) for n, r in zip(input.shape[2:], reached, strict=True))
    return _again(grad, weight, stride, padding, dilation, not transposed, more, groups)


@operation(
    "ConvolutionBackwardBackward0",
    constants=("weight",),
    grad_output=with_arguments(f"grad, input, {_SETTINGS}")(
        lambda grad, input, *settings: _again(input, grad, *settings)
    ),
    input=with_arguments(f"grad, grad_output, input, {_SETTINGS}")(
        lambda grad, grad_output, input, *settings: _input_rule(grad_output, input, grad, *settings)
    ),
)
@with_arguments(f"grad_output, input, weight, {_SETTINGS}")
def convolution_backward_weight(
    grad_output: Array, input: Array, weight: Any, *settings: Any
) -> Array:
    r"""Gradient of a convolution in its kernel, :math:`\bar w_k = \sum_o g_o x_{so + dk - p}`."""
    stride, padding, dilation, transposed, _, groups = settings
    if transposed:
        grad_output, input = input, grad_output
    settings = (weight.shape[2:], stride, padding, dilation, groups)
    return kernel_gradient(input, grad_output, *settings)


@operation(
    "ConvolutionBackward0",
    input=_input_rule,
    weight=convolution_backward_weight,
    bias=lambda grad: np.add.reduce(grad, axis=(0, *range(2, grad.ndim))),
)
@ignore_errstate
@with_arguments(f"input, weight, bias, {_SETTINGS}")
def convolution(input: Array, weight: Array, bias: Array, *settings: Any) -> Array:
    r"""Convolution :math:`y_o = b + \sum_k w_k x_{so + dk - p}`, or its transposed.

    The transposed one is :math:`y_i = b + \sum_{so + dk - p = i} w_k x_o`. A bias of size 0 is
    none; it gets the sum of the gradients over samples and places.
    """
    stride, padding, dilation, transposed, more, groups = settings
    sizes = input.shape[2:], weight.shape[2:]
    reached = _reached(*sizes, stride, padding, dilation, transposed, more)
    if transposed:
        result = transposed_correlation(input, weight, reached, stride, padding, dilation, groups)
    else:
        result = correlate(input, weight, reached, stride, dilation, groups, padding, padding)
    result = result if result.flags.c_contiguous else result.copy()
    if bias.size:
        result += bias.reshape(-1, *[1] * len(stride))
    return result


# ---------------------------------------------------------------------- what is called


@functools.lru_cache(256)
def _fitting(
    ndim: int, xs: Any, ws: Any, bs: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, more: Any, groups: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Give the settings for each dimension, if they and the shapes of the tensors fit.

    Raises:
        RuntimeError: If they do not.
    """
    names = ("stride", "padding", "dilation", "output_padding")
    given = zip(names, (stride, padding, dilation, more), strict=True)
    pairs = [per_dimension("convolution", *each, ndim) for each in given]
    stride, padding, dilation, more = pairs
    if min(*stride, *dilation, groups) < 1 or min(*padding, *more) < 0:
        raise RuntimeError(f"a convolution takes positive steps, and no negative padding: {pairs}")
    if any(m >= max(s, d) for m, s, d in zip(more, stride, dilation, strict=True)):
        raise RuntimeError(f"output_padding={more} is not smaller than stride or dilation")
    if not len(xs) == len(ws) == ndim + 2:
        raise RuntimeError(f"input and weight have {ndim + 2} dimensions, got {xs} and {ws}")
    inner, outer = (ws[0], ws[1] * groups) if transposed else (ws[1] * groups, ws[0])
    fits = xs[1] == inner and not ws[0] % groups and bs in (None, (outer,))
    if not fits or min(_reached(xs[2:], ws[2:], *pairs[:3], transposed, more)) < 1:
        raise RuntimeError(
            f"a convolution of an input of size {list(xs)} with a weight of size {list(ws)} and a "
            f"bias of size {bs and list(bs)} does not fit: with groups={groups} the input has "
            f"{inner} channels, the bias has {outer} numbers, and the kernel is no larger than the "
            "padded input"
        )
    return stride, padding, dilation, transposed, more, groups


def _padded_alike(input: Tensor, weight: Tensor, stride: Any, dilation: Any) -> tuple[Tensor, Any]:
    """Give the padding that keeps the size; what is longer at the end is put there already."""
    kernel = weight._array.shape[2:]
    if set(per_dimension("convolution", "stride", stride, len(kernel))) != {1}:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    steps = per_dimension("convolution", "dilation", dilation, len(kernel))
    totals = [d * (k - 1) for d, k in zip(steps, kernel, strict=True)]
    if any(total % 2 for total in totals):
        warn("padding='same' with an even kernel and an odd dilation copies the input")
        longer = [side for total in reversed(totals) for side in (0, total % 2)]
        input = lazy_loading.load("ops.joining").constant_pad_nd(input, tuple(longer), 0)
    return input, tuple([total // 2 for total in totals])


def _convolved(
    ndim: int, transposed: bool, input: Tensor, weight: Tensor, bias: Tensor | None,
    stride: Any, padding: Any, dilation: Any, more: Any, groups: int,
) -> Tensor:  # fmt: skip
    """Check that everything fits, and convolve."""
    x, w, b = input._array, weight._array, ABSENT._array if bias is None else bias._array
    single = x.ndim == ndim + 1
    if not x.dtype is w.dtype is b.dtype:
        check_one_type(x, w)
        if bias is not None:
            check_one_type(x, b)
    batch = shape.unsqueeze(input, 0) if single else input
    if padding == "same":
        batch, padding = _padded_alike(batch, weight, stride, dilation)
    elif padding == "valid":
        padding = 0
    sizes = batch._array.shape, w.shape, None if bias is None else b.shape
    given: Any = (stride, padding, dilation, transposed, more, groups)
    settings = _fitting(ndim, *sizes, *[tuple(v) if v.__class__ is list else v for v in given])
    result = convolution(batch, weight, ABSENT if bias is None else bias, *settings)
    return shape.squeeze_dim(result, 0) if single else result


def _convolve(
    name: str, ndim: int, input: Tensor, weight: Tensor, bias: Tensor | None = None,
    stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    r"""Slide kernels over a signal: $y_o = b + \sum_k w_k x_{so + dk - p}$.

    Args:
        name: The function that is called.
        ndim: How many dimensions the signal has, beside batch and channels.
        input: The signal, with or without a batch.
        weight: The kernels.
        bias: What is added to each output channel, or None.
        stride: How far the window moves at each step.
        padding: How many zeros go around the signal; or `"valid"` for none, or `"same"` for as many
            as keep its size, which needs a stride of 1.
        dilation: How far apart the entries of the window are.
        groups: Into how many parts the channels are divided, each with kernels of its own.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a setting is out of range.

    Shape:
        - input: (N, in_channels, *sizes), or without N
        - weight: (out_channels, in_channels / groups, *kernel)
        - output: (N, out_channels, *outputs), where an output's size is
          $\lfloor (n + 2p - d(k - 1) - 1) / s \rfloor + 1$
    """
    return _convolved(ndim, False, input, weight, bias, stride, padding, dilation, 0, groups)


def _transposed(
    name: str, ndim: int, input: Tensor, weight: Tensor, bias: Tensor | None = None,
    stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    r"""Spread each entry over a window: a convolution backwards.

    Args:
        name: The function that is called.
        ndim: How many dimensions the signal has, beside batch and channels.
        input: The entries to spread, with or without a batch.
        weight: The kernels.
        bias: What is added to each output channel, or None.
        stride: How far apart the windows are.
        padding: How much is cut off on each side of the result.
        output_padding: How much the result is longer at the end of each dimension.
        groups: Into how many parts the channels are divided, each with kernels of its own.
        dilation: How far apart the entries of a window are.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a setting is out of range.

    Shape:
        - input: (N, in_channels, *sizes), or without N
        - weight: (in_channels, out_channels / groups, *kernel)
        - output: (N, out_channels, *outputs), where an output's size is
          $(n - 1) s - 2p + d (k - 1) + 1$ + output_padding
    """
    settings = (stride, padding, dilation, output_padding, groups)
    return _convolved(ndim, True, input, weight, bias, *settings)


_say = functools.partial(variants, method=False)
for _ndim in (1, 2, 3):
    of_dimensions(_convolve, _ndim, f"conv{_ndim}d", _say)
    of_dimensions(_transposed, _ndim, f"conv_transpose{_ndim}d", _say)


# ---------------------------------------------------------------------- windows as columns


_WINDOW = "kernel_size, dilation, padding, stride"


@with_arguments(f"grad, self_sym_sizes, {_WINDOW}")
def _im2col_rule(grad: Any, sizes: Any, *window: Any) -> Any:
    return dispatch(col2im, grad, tuple(sizes[-2:]), *window)


@operation("Im2ColBackward0", self=_im2col_rule)
def im2col(self: Array, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    """Windows side by side as columns: each entry collects the gradients of its windows."""
    batch = self if self.ndim == 4 else self[None]
    outputs = output_sizes(batch.shape[2:], kernel_size, stride, padding, dilation)
    whole = padded(batch, padding, padding)
    columns = _columns(whole, kernel_size, outputs, stride, dilation)
    return columns.reshape(*self.shape[:-3], columns.shape[1], math.prod(outputs))


@operation(
    "Col2ImBackward0",
    self=with_arguments(f"grad, {_WINDOW}")(lambda *given: dispatch(im2col, *given)),
)
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
        raise RuntimeError(f"unfold: no window of size {kernel} fits into {list(sizes)}")
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
    expected = math.prod(outputs)
    fits = have[-1] == expected and min(outputs) > 0 and not have[-2] % math.prod(kernel)
    if len(have) not in (2, 3) or not fits:
        needed = f"(N, C * {math.prod(kernel)}, {expected})"
        raise RuntimeError(f"fold takes columns of size {needed}, not {list(have)}")
    return col2im(input, sizes, kernel, steps, border, moves)


def _window(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Give the settings of a window as pairs, if they are in range."""
    named = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    given = [per_dimension("unfold", name, value, 2) for name, value in named.items()]
    kernel, steps, border, moves = given
    if min(*kernel, *steps, *moves, 1 + min(border)) < 1:
        raise RuntimeError(f"sizes and steps of a window are positive, got {named}")
    return given
