r"""Convolutions and their derivatives, plain and transposed, in one, two or three dimensions.

What deep learning calls a convolution is a correlation, :math:`y = w \star x`. Its gradient in the
input is the transposed convolution with the same kernel, its gradient in the kernel a correlation
of input and gradient. A transposed convolution is the same three with the roles of input and result
exchanged. So the rules lead from one operation here to another, and so do the rules of the rules.

Formulas: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016).
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate, with_arguments
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import correlation, shape
from minigrad.ops.correlation import Sizes, of_dimensions, output_sizes, padded, per_dimension
from minigrad.ops.joining import constant_pad_nd
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import variants
from minigrad.signatures.arguments import not_implemented

# Stands for a tensor that is not there, such as the bias of a layer without one.
ABSENT = wrap(np.zeros(0, np.float32))


_SETTINGS = "stride, padding, dilation, transposed, output_padding, groups"


def _again(input: Any, weight: Any, *settings: Any) -> Any:
    """Convolve within a rule of a rule, without a bias."""
    bias = ABSENT if isinstance(input, Tensor) else ABSENT._array
    return dispatch(convolution, input, weight, bias, *settings)


def _transposed_sizes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, more: Sizes
) -> tuple[int, ...]:
    """Give the sizes of what a transposed convolution makes."""
    settings = zip(sizes, kernel, stride, padding, dilation, more, strict=True)
    return tuple((n - 1) * s + d * (k - 1) + 1 - 2 * p + m for n, k, s, p, d, m in settings)


# What is linear in two things is differentiated by putting the gradient in the place of one of
# them. A rule takes all three, as it needs the shape of the third.


@operation(
    "ConvolutionBackwardBackward0",
    grad_output=with_arguments(f"grad, weight, {_SETTINGS}")(lambda *given: _again(*given)),
    input=lambda grad: None,
    weight=with_arguments(f"grad, grad_output, weight, {_SETTINGS}")(
        lambda grad, grad_output, weight, *settings: dispatch(
            convolution_backward_weight, grad_output, grad, weight, *settings
        )
    ),
)
@with_arguments(f"grad_output, input, weight, {_SETTINGS}")
def convolution_backward_input(
    grad_output: Array, input: Any, weight: Array, *settings: Any
) -> Array:
    r"""Gradient in the input, :math:`\bar x_i = \sum_{so + dk - p = i} w_k g_o`."""
    stride, padding, dilation, transposed, _, groups = settings
    sizes = input.shape[2:]
    if transposed:
        whole = padded(grad_output, padding, padding)
        gradient = correlation.correlate(whole, weight, sizes, stride, dilation, groups)
    else:
        gradient = correlation.transposed_correlation(
            grad_output, weight, sizes, stride, padding, dilation, groups
        )
    return gradient if gradient.flags.c_contiguous else gradient.copy()


@operation(
    "ConvolutionBackwardBackward0",
    grad_output=with_arguments(f"grad, input, {_SETTINGS}")(
        lambda grad, input, *settings: _again(input, grad, *settings)
    ),
    input=with_arguments(f"grad, grad_output, input, {_SETTINGS}")(
        lambda grad, grad_output, input, *settings: dispatch(
            convolution_backward_input, grad_output, input, grad, *settings
        )
    ),
    weight=lambda grad: None,
)
@with_arguments(f"grad_output, input, weight, {_SETTINGS}")
def convolution_backward_weight(
    grad_output: Array, input: Array, weight: Any, *settings: Any
) -> Array:
    r"""Gradient of a convolution in its kernel, :math:`\bar w_k = \sum_o g_o x_{so + dk - p}`."""
    stride, padding, dilation, transposed, _, groups = settings
    if transposed:
        grad_output, input = input, grad_output
    whole = padded(input, padding, padding)
    sizes = weight.shape[2:]
    return correlation.kernel_gradient(whole, grad_output, sizes, stride, dilation, groups)


@operation(
    "ConvolutionBackward0",
    input=convolution_backward_input,
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
    sizes, kernel = input.shape[2:], weight.shape[2:]
    if transposed:
        reached = _transposed_sizes(sizes, kernel, stride, padding, dilation, more)
        result = correlation.transposed_correlation(
            input, weight, reached, stride, padding, dilation, groups
        )
    else:
        outputs = output_sizes(sizes, kernel, stride, padding, dilation)
        whole = padded(input, padding, padding)
        result = correlation.correlate(whole, weight, outputs, stride, dilation, groups)
    if bias.size:
        return result + bias.reshape(-1, *[1] * len(sizes))
    return result if result.flags.c_contiguous else result.copy()


# ---------------------------------------------------------------------- what is called


@lru_cache(256)
def _fitting(
    xs: Any, ws: Any, bs: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, more: Any, groups: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Give the settings for each dimension, if they and the shapes of the tensors fit.

    Raises:
        RuntimeError: If they do not.
    """
    ndim = len(ws) - 2
    names = ("stride", "padding", "dilation", "output_padding")
    given = zip(names, (stride, padding, dilation, more), strict=True)
    stride, padding, dilation, more = (per_dimension("convolution", *each, ndim) for each in given)
    limits = [max(s, d) for s, d in zip(stride, dilation, strict=True)]
    inner, outer = (ws[0], ws[1] * groups) if transposed else (ws[1] * groups, ws[0])
    faults = (
        (min(*padding, *more) < 0, "a padding is not negative"),
        (min(*stride, *dilation, groups) <= 0, "stride, dilation and groups are positive"),
        (len(xs) != len(ws), "input and weight have the same number of dimensions"),
        (0 in (*xs[2:], *ws[2:]), "no size of input and kernel is 0, but for batch and channels"),
        (groups > 0 and (ws[0] % groups or ws[0] < groups), "the channels divide into groups"),
        (xs[1] != inner, f"the input has {inner} channels, as the weight says"),
        (bs not in (None, (outer,)), f"the bias has one number for each of {outer} channels"),
        (
            transposed and any(m >= limit for m, limit in zip(more, limits, strict=True)),
            "output padding is smaller than stride or dilation",
        ),
    )
    for found, expected in faults:
        if found:
            raise RuntimeError(_misfit(xs, ws, bs, expected))
    if transposed:
        reached = _transposed_sizes(xs[2:], ws[2:], stride, padding, dilation, more)
    else:
        reached = output_sizes(xs[2:], ws[2:], stride, padding, dilation)
    if min(reached) < 1:
        raise RuntimeError(_misfit(xs, ws, bs, "the kernel is no larger than the padded input"))
    return stride, padding, dilation, transposed, more, groups


def _misfit(xs: Sizes, ws: Sizes, bs: Any, expected: str) -> str:
    return (
        f"a convolution of an input of size {list(xs)} with a weight of size {list(ws)} and a bias "
        f"of size {bs and list(bs)} does not fit: {expected}"
    )


def _padded_alike(input: Tensor, weight: Tensor, stride: Any, dilation: Any) -> tuple[Tensor, Any]:
    """Give the padding that keeps the size; what is longer at the end is put there already."""
    kernel = weight._array.shape[2:]
    if set(per_dimension("convolution", "stride", stride, len(kernel))) != {1}:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    steps = per_dimension("convolution", "dilation", dilation, len(kernel))
    totals = [d * (k - 1) for d, k in zip(steps, kernel, strict=True)]
    if any(total % 2 for total in totals):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a "
            "zero-padded copy of the input be created",
            stacklevel=4,
        )
        longer = [side for total in reversed(totals) for side in (0, total % 2)]
        input = constant_pad_nd(input, tuple(longer), 0)
    return input, tuple([total // 2 for total in totals])


def _convolved(
    name: str, ndim: int, transposed: bool, input: Tensor, weight: Tensor, bias: Tensor | None,
    stride: Any, padding: Any, dilation: Any, more: Any, groups: int,
) -> Tensor:  # fmt: skip
    """Check that everything fits, and convolve."""
    x, w, b = input._array, weight._array, ABSENT._array if bias is None else bias._array
    single = x.ndim == ndim + 1
    if not single and x.ndim != ndim + 2:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got "
            f"input of size: {list(x.shape)}"
        )
    if x.dtype.kind == "b":
        raise not_implemented(name, x)
    if not x.dtype is w.dtype is b.dtype:
        check_one_type(x, w)
        if bias is not None:
            check_one_type(x, b)
    batch = shape.unsqueeze(input, 0) if single else input
    if padding == "same":
        batch, padding = _padded_alike(batch, weight, stride, dilation)
    elif padding == "valid":
        padding = 0
    elif isinstance(padding, str):
        raise RuntimeError(f"padding is a number, numbers, 'same' or 'valid', not '{padding}'")
    sizes = batch._array.shape, w.shape, None if bias is None else b.shape
    given: Any = (stride, padding, dilation, transposed, more, groups)
    try:
        settings = _fitting(*sizes, *given)
    except TypeError:  # lists have no hash
        given = tuple([tuple(each) if isinstance(each, list) else each for each in given])
        settings = _fitting(*sizes, *given)
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
    settings = (stride, padding, dilation, 0, groups)
    return _convolved(name, ndim, False, input, weight, bias, *settings)


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
    return _convolved(name, ndim, True, input, weight, bias, *settings)


_say = partial(variants, method=False)
for _ndim in (1, 2, 3):
    of_dimensions(_convolve, _ndim, f"conv{_ndim}d", _say)
    of_dimensions(_transposed, _ndim, f"conv_transpose{_ndim}d", _say)
