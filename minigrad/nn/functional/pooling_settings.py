"""Check the settings of pooling in PyTorch's words, and give one for each dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.ops.pooling import pooled_sizes

_AXES = ("T", "H", "W")
_COUNTS = {1: "one int", 2: "two ints", 3: "three ints"}


def _wrong_length(name: str, setting: str, ndim: int, count: int) -> str:
    """Say that there are too many or too few numbers in a setting, as each function says it."""
    if name == "max_pool1d":
        none = "None, " if setting == "stride" else ""
        comma = "," if setting in ("stride", "padding") else ""
        kinds = f"{none}an int, list of ints{comma} or tuple"
        return f"max_pool1d() {setting} must be {kinds} of ints of size 1 but got size {count}"
    if ndim == 1:
        return f"{name}() argument '{setting}' should contain one int (got {count})"
    either = "be either" if setting == "dilation" else "either be"
    omitted = "be omitted, " if setting == "stride" else ""
    if omitted:
        return f"{name}: stride must either {omitted}a single int, or a tuple of {_COUNTS[ndim]}"
    return f"{name}: {setting} must {either} a single int, or a tuple of {_COUNTS[ndim]}"


def per_dimension(name: str, setting: str, value: Any, ndim: int) -> tuple[int, ...]:
    """Give a setting for each dimension, as whole numbers."""
    if value.__class__ is int:
        return (value,) * ndim
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(each, (int, np.integer)) for each in given):
        place = {"kernel_size": 2, "stride": 3, "padding": 4, "dilation": 5}[setting]
        raise TypeError(
            f"{name}(): argument '{setting}' (position {place}) must be tuple of ints, not "
            f"{type(value).__name__}"
        )
    if len(given) == 1:
        return tuple(map(int, given)) * ndim
    if len(given) != ndim:
        raise RuntimeError(_wrong_length(name, setting, ndim, len(given)))
    return tuple(map(int, given))


def _by_axis(prefix: str, values: tuple[int, ...], before: bool = True) -> str:
    """List values with their axes: `dH: 2 dW: 2`."""
    values = (1,) * (2 - len(values)) + values
    axes = _AXES[3 - len(values) :]
    pairs = zip(axes, values, strict=True)
    return " ".join(f"{prefix}{axis}: {value}" for axis, value in pairs)


def _check_window(array: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> None:
    """Raise if a setting is out of range, in the words of two dimensions and more."""
    if min(stride) == 0:
        raise RuntimeError("stride should not be zero")
    if min(kernel) < 1:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {_by_axis('k', kernel)}"
        )
    if min(stride) < 1:
        raise RuntimeError(f"stride should be greater than zero, but got {_by_axis('d', stride)}")
    if min(dilation) < 1:
        raise RuntimeError(
            f"dilation should be greater than zero, but got {_by_axis('dilation', dilation)}"
        )
    if min(padding) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(padding)}")
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )


def _check_output(array: Any, ndim: int, outputs: tuple[int, ...]) -> None:
    if min(outputs) >= 1:
        return
    channels = array.shape[-ndim - 1]
    high = (1,) if ndim == 1 else ()
    given = "x".join(map(str, (channels, *high, *array.shape[-ndim:])))
    found = "x".join(map(str, (channels, *high, *outputs)))
    raise RuntimeError(
        f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
    )


def _check_entries(array: Any, ndim: int, sizes: tuple[int, ...], prefix: str = "") -> None:
    if array.ndim not in (ndim + 1, ndim + 2) or 0 in sizes[-ndim - 1 :]:
        raise RuntimeError(
            f"{prefix}Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with optional 0 dim "
            f"batch size for input, but got:{list(sizes)}"
        )


def _check_kind(name: str, array: Any, refused: str = "b") -> None:
    if array.dtype.kind in refused:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(array)}'")


def check_maximum(
    name: str, array: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> None:
    """Raise if an input or the settings of a maximum are out of range."""
    ndim = len(kernel)
    if ndim == 1:
        _check_signal(array, kernel[0], stride[0], padding[0], dilation[0])
    else:
        if ndim == 2 and array.ndim not in (3, 4):
            raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
        _check_window(array, kernel, stride, padding, dilation)
        _check_entries(array, ndim, array.shape)
    outputs = pooled_sizes(array.shape[-ndim:], kernel, stride, padding, dilation, ceil_mode)
    if ndim == 1:
        if outputs[0] < 1:
            raise RuntimeError(f"max_pool1d() Invalid computed output size: {outputs[0]}")
        _check_kind("max_pool1d_impl", array, "iub")
        return
    _check_output(array, ndim, outputs)
    _check_kind(name, array)


def _check_signal(array: Any, kernel: int, stride: int, padding: int, dilation: int) -> None:
    if array.ndim not in (2, 3) or 0 in array.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(array.shape)}"
        )
    for setting, value in (("kernel_size", kernel), ("stride", stride)):
        if value < 1:
            raise RuntimeError(f"max_pool1d() {setting} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding} and kernel_size={kernel}"
        )
    if dilation < 1:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")


def check_average(
    name: str,
    array: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    divisor_override: Any,
) -> None:
    """Raise if an input or the settings of a mean are out of range."""
    ndim = len(kernel)
    if ndim == 1:
        if array.ndim not in (2, 3):
            raise RuntimeError(_dimensions(name, array))
        kernel, stride, padding = (1, *kernel), (1, *stride), (0, *padding)
    elif array.ndim < ndim + 1:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(array.ndim, 1)}, "
            f"{max(array.ndim, 1) - 1}], but got {-ndim - 1})"
        )
    steps = (1,) * len(kernel)
    _check_window(array, kernel, stride, padding, steps)
    sizes = array.shape if ndim > 1 else (*array.shape[:-1], 1, array.shape[-1])
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    spatial = sizes[-len(kernel) :]
    whole = array if ndim > 1 else array[..., None, :]
    _check_entries(whole, len(kernel), sizes)
    outputs = pooled_sizes(spatial, kernel, stride, padding, steps, ceil_mode)
    _check_output(whole, len(kernel), outputs)
    refused = "b" if array.dtype == np.int64 else "iub"
    _check_kind("avg_pool2d" if ndim < 3 else "avg_pool3d_out_frame", array, refused)


def _dimensions(name: str, array: Any) -> str:
    return (
        f"Expected 2 to 3 dimensions, but got {array.ndim}-dimensional tensor for argument #1 "
        f"'self' (while checking arguments for {name})"
    )


def adaptive_size(name: str, size: Any, array: Any, ndim: int) -> tuple[int, ...]:
    """Give the wanted size for each dimension; None leaves a dimension as it is."""
    if ndim == 1:
        given = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        if len(given) != 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got 3)")
        if not isinstance(given[0], (int, np.integer)):
            raise TypeError(
                f"{name}(): argument 'output_size' (position 2) must be tuple of ints, not "
                f"{type(size).__name__}"
            )
        return (int(given[0]),)
    if size is None:
        raise TypeError("object of type 'NoneType' has no len()")
    several = isinstance(size, (tuple, list))
    given = tuple(size) if several else (size,) * ndim
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


def check_adaptive(name: str, array: Any, size: tuple[int, ...]) -> None:
    """Raise if an input or a wanted size is out of range."""
    ndim, maximum = len(size), "max" in name
    if array.ndim not in (ndim + 1, ndim + 2):
        if ndim == 1:
            raise RuntimeError(_dimensions(name, array))
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
    _check_kind("adaptive_max_pool2d" if maximum else "adaptive_avg_pool2d", array, "iub")
