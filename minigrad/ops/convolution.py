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

import math
import warnings
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, quietly, taking
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces import face
from minigrad.faces.arguments import no_combination
from minigrad.ops import correlation, shape
from minigrad.ops.correlation import Sizes, face_of, output_sizes, padded
from minigrad.ops.padding import constant_pad_nd
from minigrad.ops.type_promotion import check_one_type, differ

# Stands for a tensor that is not there, such as the bias of a layer without one.
ABSENT = wrap(np.zeros(0, np.float32))


_SETTINGS = "stride, padding, dilation, transposed, output_padding, groups"


def _again(input: Any, weight: Any, *settings: Any) -> Any:
    """Convolve within a rule of a rule, without a bias."""
    bias = ABSENT if isinstance(input, Tensor) else ABSENT._array
    return applied(convolution, input, weight, bias, *settings)


# The rules of the rules. What is linear in two things is differentiated by putting the gradient in
# the place of one of them. PyTorch computes all three gradients in one node, which knows all three
# inputs; so each rule here takes them too, and its gradient in what it has no use for is zeros.


def _reached(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, more: Sizes
) -> tuple[int, ...]:
    """Give the sizes of what a transposed convolution makes."""
    settings = zip(sizes, kernel, stride, padding, dilation, more, strict=True)
    return tuple((n - 1) * s + d * (k - 1) + 1 - 2 * p + m for n, k, s, p, d, m in settings)


@taking(f"grad, grad_output, weight, {_SETTINGS}")
def _input_in_weight(grad: Any, grad_output: Any, weight: Any, *settings: Any) -> Any:
    return applied(convolution_backward_weight, grad_output, grad, weight, *settings)


@taking(f"grad, grad_output, input, {_SETTINGS}")
def _weight_in_input(grad: Any, grad_output: Any, input: Any, *settings: Any) -> Any:
    return applied(convolution_backward_input, grad_output, input, grad, *settings)


@differentiable(
    "ConvolutionBackwardBackward0",
    grad_output=taking(f"grad, weight, {_SETTINGS}")(
        lambda grad, weight, *settings: _again(grad, weight, *settings)
    ),
    input=lambda grad: None,
    weight=_input_in_weight,
)
@taking(f"grad_output, input, weight, {_SETTINGS}")
def convolution_backward_input(
    grad_output: Array, input: Array, weight: Array, *settings: Any
) -> Array:
    r"""Gradient in the input, :math:`\bar x_i = \sum_{so + dk - p = i} w_k g_o`."""
    stride, padding, dilation, transposed, _, groups = settings
    sizes = input.shape[2:]
    if transposed:
        whole = padded(grad_output, padding, padding)
        gradient = correlation.correlate(whole, weight, sizes, stride, dilation, groups)
    else:
        gradient = correlation.spread(grad_output, weight, sizes, stride, padding, dilation, groups)
    return gradient if gradient.flags.c_contiguous else gradient.copy()


@differentiable(
    "ConvolutionBackwardBackward0",
    grad_output=taking(f"grad, input, {_SETTINGS}")(
        lambda grad, input, *settings: _again(input, grad, *settings)
    ),
    input=_weight_in_input,
    weight=lambda grad: None,
)
@taking(f"grad_output, input, weight, {_SETTINGS}")
def convolution_backward_weight(
    grad_output: Array, input: Array, weight: Array, *settings: Any
) -> Array:
    r"""Gradient of a convolution in its kernel, :math:`\bar w_k = \sum_o g_o x_{so + dk - p}`."""
    stride, padding, dilation, transposed, _, groups = settings
    if transposed:
        grad_output, input = input, grad_output
    whole = padded(input, padding, padding)
    sizes = weight.shape[2:]
    return correlation.kernel_gradient(whole, grad_output, sizes, stride, dilation, groups)


def _like_channels(grad: Any, grad_output: Any) -> Any:
    spatial = tuple(range(1, len(grad_output.shape) - 1))
    return np.broadcast_to(np.expand_dims(grad, spatial), grad_output.shape)


@differentiable(
    "ConvolutionBackwardBackward0",
    grad_output=_like_channels,
    input=lambda grad: None,
    weight=lambda grad: None,
)
def convolution_backward_bias(grad_output: Array, input: Array, weight: Array) -> Array:
    r"""Gradient of a convolution in its bias: the sum over samples and places."""
    sizes = grad_output.shape
    rows = grad_output.reshape(*sizes[:2], math.prod(sizes[2:]))  # -1 says nothing of no samples
    if type(rows) is np.ndarray:  # quickest as a product with ones
        return np.add.reduce(rows @ np.ones(rows.shape[2], rows.dtype), axis=0)
    return np.einsum("ncp->c", rows)


@differentiable(
    "ConvolutionBackward0",
    input=convolution_backward_input,
    weight=convolution_backward_weight,
    bias=convolution_backward_bias,
)
@quietly
@taking(f"input, weight, bias, {_SETTINGS}")
def convolution(input: Array, weight: Array, bias: Array, *settings: Any) -> Array:
    r"""Convolution :math:`y_o = b + \sum_k w_k x_{so + dk - p}`, or its transposed.

    The transposed one is :math:`y_i = b + \sum_{so + dk - p = i} w_k x_o`. A bias of size 0 is
    none.
    """
    stride, padding, dilation, transposed, output_padding, groups = settings
    sizes, kernel = input.shape[2:], weight.shape[2:]
    if transposed:
        reached = _reached(sizes, kernel, stride, padding, dilation, output_padding)
        result = correlation.spread(input, weight, reached, stride, padding, dilation, groups)
    else:
        outputs = output_sizes(sizes, kernel, stride, padding, dilation)
        whole = padded(input, padding, padding)
        result = correlation.correlate(whole, weight, outputs, stride, dilation, groups)
    if bias.size:
        return result + bias.reshape(-1, *[1] * len(sizes))
    return result if result.flags.c_contiguous else result.copy()


# ---------------------------------------------------------------------- checks


def _check(x: Any, w: Any, b: Any, *settings: Any) -> None:
    """Raise if something does not fit."""
    stride, padding, dilation, transposed, output_padding, groups = settings
    lowest = min(*stride, *dilation, *w.shape[2:], *x.shape[2:], groups)
    if w.ndim != x.ndim or lowest <= 0 or min(*padding, *output_padding) < 0:
        raise _out_of_range(x, w, *settings)
    _check_channels(x, w, b, transposed, groups)
    _check_sizes(x, w, *settings)
    _check_dtypes(x, w, b, transposed)


def _out_of_range(x: Any, w: Any, *settings: Any) -> RuntimeError:
    """Make the error for a setting that is out of range."""
    stride, padding, dilation, _, output_padding, groups = settings
    other_ndim = (
        f"Expected {w.ndim}-dimensional input for {w.ndim}-dimensional weight {list(w.shape)}, "
        f"but got {x.ndim}-dimensional input of size {list(x.shape)} instead"
    )
    faults = (
        (min(padding) < 0, "negative padding is not supported"),
        (min(output_padding) < 0, "negative output_padding is not supported"),
        (min(stride) <= 0, "non-positive stride is not supported"),
        (min(dilation) <= 0, f"dilation should be greater than zero, but got {list(dilation)}"),
        (groups <= 0, "non-positive groups is not supported"),
        (x.ndim != w.ndim, other_ndim),
        (0 in x.shape[2:], f"Only zero batch or zero channel inputs are supported, got {x.shape}"),
        (True, f"kernel size should be greater than zero, but got {w.shape[2:]}"),
    )
    return RuntimeError(next(told for found, told in faults if found))


def _check_channels(x: Any, w: Any, bias: Any, transposed: bool, groups: int) -> None:
    """Raise if the channels of input, weight and bias do not fit."""
    outer = w.shape[0]
    if outer < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(w.shape)} instead"
        )
    if outer % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(w.shape)}] instead"
        )
    channels = outer if transposed else w.shape[1] * groups
    if x.shape[1] != channels:
        which = "transposed=1" if transposed else f"groups={groups}"
        raise RuntimeError(
            f"Given {which}, weight of size {list(w.shape)}, expected input{list(x.shape)} to have "
            f"{channels} channels, but got {x.shape[1]} channels instead"
        )
    kernels = w.shape[1] * groups if transposed else outer
    if bias is not None and bias.shape != (kernels,):
        which = "transposed=1, weight" if transposed else "weight"
        raise RuntimeError(
            f"Given {which} of size {list(w.shape)}, expected bias to be 1-dimensional with "
            f"{kernels} elements, but got bias of size {list(bias.shape)} instead"
        )


def _check_sizes(x: Any, w: Any, *settings: Any) -> None:
    """Raise if no window fits, or a transposed convolution leaves nothing."""
    stride, padding, dilation, transposed, output_padding, _ = settings
    sizes, kernel = x.shape[2:], w.shape[2:]
    if not transposed:
        if min(output_sizes(sizes, kernel, stride, padding, dilation)) >= 1:
            return
        whole = " x ".join(str(n + 2 * p) for n, p in zip(sizes, padding, strict=True))
        wide = " x ".join(str(d * (k - 1) + 1) for d, k in zip(dilation, kernel, strict=True))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({whole}). Kernel size: ({wide}). Kernel "
            "size can't be greater than actual input size"
        )
    limits = [max(s, d) for s, d in zip(stride, dilation, strict=True)]
    if any(more >= limit for more, limit in zip(output_padding, limits, strict=True)):
        ndim = max(len(sizes), 2)
        names = ("depth", "height", "width")[3 - ndim :]
        listed = " ".join(
            f"{label}_{name}: {value}"
            for label, values, missing in (
                ("output_padding", output_padding, 0),
                ("stride", stride, 1),
                ("dilation", dilation, 1),
            )
            for name, value in zip(names, (missing,) * (ndim - len(sizes)) + values, strict=True)
        )
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got {listed}"
        )
    reached = _reached(sizes, kernel, stride, padding, dilation, output_padding)
    if min(reached) < 1:
        if len(sizes) == 1:  # PyTorch computes it as an image of height 1
            sizes, reached = (1, *sizes), (1, *reached)
        raise RuntimeError(
            f"Given input size per channel: ({' x '.join(map(str, sizes))}). Calculated output "
            f"size per channel: ({' x '.join(map(str, reached))}). Output size is too small"
        )


def _check_dtypes(x: Any, w: Any, bias: Any, transposed: bool) -> None:
    """Raise if input, weight and bias are of different types."""
    if bias is not None and differ(bias, x) and not (transposed and differ(w, x)):
        raise RuntimeError(
            f"Input type ({dtypes.c_name(x)}) and bias type ({dtypes.c_name(bias)}) should be the "
            "same"
        )
    check_one_type(x, w)
    if x.dtype.kind == "b":
        kernel = "slow_conv_transpose2d_out_cpu" if transposed else "slow_conv2d_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def _batched(name: str, ndim: int, input: Any, weight: Any, bias: Any) -> tuple[Tensor, bool]:
    """Give the input with a batch, and whether it was without one."""
    given = (input, weight) if bias is None else (input, weight, bias)
    if not all(isinstance(each, Tensor) for each in given):
        raise no_combination(name, *given)
    if weight._array.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    single = input._array.ndim == ndim + 1
    if not single and input._array.ndim != ndim + 2:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input._array.shape)}"
        )
    return (shape.unsqueeze(input, 0) if single else input), single


# Which arguments the settings are, for errors.
_PLACES = {"stride": 4, "padding": 5, "dilation": 6, "output_padding": 6}


def _expanded(setting: str, value: Any, ndim: int) -> tuple[int, ...]:
    """Give a setting for each dimension."""
    return correlation.per_dimension(
        f"conv{ndim}d",
        setting,
        _PLACES[setting],
        value,
        ndim,
        lambda given: (
            f"expected {setting} to be a single integer value or a list of {ndim} values to match "
            f"the convolution dimensions, but got {setting}={given}"
        ),
    )


def _settings(ndim: int, weight: Tensor, *given: Any) -> tuple[tuple[int, ...], ...]:
    # a number stands for as many as the function has dimensions, whatever the weight has
    pairs = [(each,) * ndim if each.__class__ is int else each for each in given]
    wanted = weight._array.ndim - 2
    return tuple(_expanded(name, each, wanted) for name, each in zip(_PLACES, pairs, strict=True))


def _named_padding(
    padding: str, input: Tensor, weight: Tensor, stride: Any, dilation: Any
) -> tuple[Tensor, tuple[int, ...]]:
    """Give the padding that a name stands for; what is longer at the end is put there already."""
    kernel = weight._array.shape[2:]
    ndim = len(kernel)
    if padding == "valid":
        return input, (0,) * ndim
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in _expanded("stride", stride, ndim)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    steps = _expanded("dilation", dilation, ndim)
    totals = [d * (k - 1) for d, k in zip(steps, kernel, strict=True)]
    if any(total % 2 for total in totals):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a "
            "zero-padded copy of the input be created",
            stacklevel=4,
        )
        longer = [side for total in reversed(totals) for side in (0, total % 2)]
        input = constant_pad_nd(input, tuple(longer), 0)
    return input, tuple(total // 2 for total in totals)


def _convolved(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Tensor:
    """Check that everything fits, and convolve."""
    _check(input._array, weight._array, None if bias is None else bias._array, *settings)
    return convolution(input, weight, ABSENT if bias is None else bias, *settings)


# ---------------------------------------------------------------------- what is called


def _convolve(
    name: str,
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
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
    batch, single = _batched(name, ndim, input, weight, bias)
    if isinstance(padding, str):
        batch, padding = _named_padding(padding, batch, weight, stride, dilation)
    *settings, more = _settings(ndim, weight, stride, padding, dilation, 0)
    result = _convolved(batch, weight, bias, *settings, False, more, groups)
    if not batch._array.shape[1]:
        result = result.narrow(1, 0, 0)  # as PyTorch has it
    return shape.squeeze_dim(result, 0) if single else result


def _spread(
    name: str,
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
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
    batch, single = _batched(name, ndim, input, weight, bias)
    *settings, more = _settings(ndim, weight, stride, padding, dilation, output_padding)
    result = _convolved(batch, weight, bias, *settings, True, more, groups)
    return shape.squeeze_dim(result, 0) if single else result


_say = partial(face, method=False)
_FIRST = "input, weight, bias=None, stride=1, padding=0"
for _ndim in (1, 2, 3):
    face_of(_convolve, _ndim, f"conv{_ndim}d({_FIRST}, dilation=1, groups=1)", _say)
    _more = "output_padding=0, groups=1, dilation=1"
    face_of(_spread, _ndim, f"conv_transpose{_ndim}d({_FIRST}, {_more})", _say)
