"""Call convolutions, and check in PyTorch's words that their arguments fit together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.type_name import type_name
from minigrad.ops import convolution as rules
from minigrad.ops import shape
from minigrad.ops.calling.convolution_checks import (
    check_channels,
    check_dtypes,
    check_sizes,
    out_of_range,
)
from minigrad.ops.convolution import ABSENT
from minigrad.ops.padding import constant_pad_nd
from minigrad.tensor import Tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

methods: dict[str, Any] = {}

_PLAIN = """Slide kernels over a signal with {0}: $y_o = b + \\sum_k w_k x_{{so + dk - p}}$.

    Args:
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
          $\\lfloor (n + 2p - d(k - 1) - 1) / s \\rfloor + 1$
    """

_TRANSPOSED = """Spread each entry over a window with {0}: a convolution backwards.

    Args:
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


def _plain(name: str, ndim: int) -> Callable[..., Tensor]:
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        batch, single = _batched(name, ndim, input, weight, bias)
        if isinstance(padding, str):
            batch, padding = _named_padding(padding, batch, weight, stride, dilation)
        settings = _settings(ndim, weight, stride, padding, dilation, 0)
        stride, padding, dilation, more = settings
        result = _convolved(batch, weight, bias, stride, padding, dilation, False, more, groups)
        return shape.squeeze_dim(result, 0) if single else result

    return _named(convolve, name, _PLAIN, ndim)


def _transposed(name: str, ndim: int) -> Callable[..., Tensor]:
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        batch, single = _batched(name, ndim, input, weight, bias)
        settings = _settings(ndim, weight, stride, padding, dilation, output_padding)
        stride, padding, dilation, output_padding = settings
        result = _convolved(
            batch, weight, bias, stride, padding, dilation, True, output_padding, groups
        )
        return shape.squeeze_dim(result, 0) if single else result

    return _named(convolve, name, _TRANSPOSED, ndim)


def _named(function: Any, name: str, text: str, ndim: int) -> Any:
    sizes = ("one dimension", "two dimensions", "three dimensions")[ndim - 1]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text.format(sizes)
    return function


def _batched(name: str, ndim: int, input: Any, weight: Any, bias: Any) -> tuple[Tensor, bool]:
    """Give the input with a batch, and whether it was without one."""
    for place, (label, given) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(given, Tensor):
            raise TypeError(
                f"{name}() received an invalid combination of arguments: '{label}' (position "
                f"{place}) must be Tensor, not {type_name(given)}"
            )
    if bias is not None and not isinstance(bias, Tensor):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: 'bias' (position 3) must be "
            f"Tensor, not {type(bias).__name__}"
        )
    single = input._array.ndim == ndim + 1
    if not single and input._array.ndim != ndim + 2:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input._array.shape)}"
        )
    return (shape.unsqueeze(input, 0) if single else input), single


def _expanded(name: str, value: Any, ndim: int) -> tuple[int, ...]:
    """Give a setting for each dimension."""
    if value.__class__ is int:
        return (value,) * ndim
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(each, (int, np.integer)) for each in given):
        raise TypeError(
            f"argument '{name}' must be tuple of ints, not {type(value).__name__}: {value}"
        )
    if len(given) == 1:
        return tuple(map(int, given)) * ndim
    if len(given) != ndim:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {ndim} values to match "
            f"the convolution dimensions, but got {name}={list(given)}"
        )
    return tuple(map(int, given))


def _settings(
    ndim: int, weight: Tensor, stride: Any, padding: Any, dilation: Any, output_padding: Any
) -> tuple[tuple[int, ...], ...]:
    given = (stride, padding, dilation, output_padding)
    if weight._array.ndim == ndim + 2 and {*map(type, given)} == {int}:  # as they mostly are
        return tuple((each,) * ndim for each in given)
    whole = (each.__class__ is int for each in given)
    # a number stands for as many as the function has dimensions, whatever the weight has
    pairs = [(each,) * ndim if one else each for each, one in zip(given, whole, strict=True)]
    wanted = weight._array.ndim - 2
    names = ("stride", "padding", "dilation", "output_padding")
    return tuple(_expanded(name, each, wanted) for name, each in zip(names, pairs, strict=True))


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
            UserWarning,
            stacklevel=4,
        )
        longer = [side for total in reversed(totals) for side in (0, total % 2)]
        input = constant_pad_nd(input, tuple(longer), 0)
    return input, tuple(total // 2 for total in totals)


def _convolved(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
) -> Tensor:
    """Check that everything fits, and convolve."""
    x, w = input._array, weight._array
    if (
        w.ndim != x.ndim
        or min(stride) <= 0
        or min(dilation) <= 0
        or min(padding) < 0
        or min(output_padding) < 0
        or groups <= 0
    ):
        raise out_of_range(x, w, stride, padding, dilation, output_padding, groups)
    check_channels(x, w, None if bias is None else bias._array, transposed, groups)
    check_sizes(x, w, stride, padding, dilation, transposed, output_padding)
    check_dtypes(x, w, None if bias is None else bias._array, transposed)
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    bias = ABSENT if bias is None else bias
    return rules.convolution(input, weight, bias, *settings)  # type: ignore[no-any-return]


conv1d, conv2d, conv3d = (_plain(f"conv{ndim}d", ndim) for ndim in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    _transposed(f"conv_transpose{ndim}d", ndim) for ndim in (1, 2, 3)
)
