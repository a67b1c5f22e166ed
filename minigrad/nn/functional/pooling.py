"""Make images and signals smaller: maxima, means and norms of windows and parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.index_versions import watched
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.dtypes import scalar_name
from minigrad.creation.factories import empty
from minigrad.faces.arguments import check_tensor
from minigrad.nn.signatures import arguments_of, written
from minigrad.ops import pooling, shape
from minigrad.ops.pooling import pooled_sizes
from minigrad.ops.reduction import mean_dim

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d",
    "max_pool3d_with_indices",
]  # fmt: skip


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
    if setting == "stride":
        either = "either be omitted,"
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


def _by_axis(prefix: str, values: tuple[int, ...]) -> str:
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


def _check_entries(array: Any, ndim: int, sizes: tuple[int, ...]) -> None:
    if array.ndim not in (ndim + 1, ndim + 2) or 0 in sizes[-ndim - 1 :]:
        raise RuntimeError(
            f"Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with optional 0 dim "
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


def _high(pair: tuple[int, ...]) -> tuple[int, ...]:
    """Give a setting of one dimension for an image of height 1."""
    return (1, *pair)


def _pool(
    name: str, ndim: int, compute: Callable[..., Any], signature: str, given: str = ""
) -> Any:
    """Make a function that hands its name and its arguments on.

    Args:
        name: What it is called.
        ndim: How many dimensions its windows have.
        compute: The function that they go to.
        signature: Its arguments.
        given: What the function gets, if these are not all of them in this order.
    """
    names = {"compute": compute, "__name__": __name__}
    given = given or ", ".join(arguments_of(signature))
    line = f"return compute({name!r}, {ndim}, {given})"
    return written(f"{name}({signature})", [line], names, compute.__doc__)


def _max_pool(ndim: int, with_indices: bool) -> Any:
    signature = (
        "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "
        "return_indices=False"
    )
    wants = "True" if with_indices else "return_indices"
    given = f"{wants}, input, kernel_size, stride, padding, dilation, ceil_mode"
    name = f"max_pool{ndim}d{'_with_indices' if with_indices else ''}"
    return _pool(name, ndim, _maximum, signature, given)


def _maximum(
    name: str,
    ndim: int,
    return_indices: bool,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
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
    check_tensor(name, input)
    stride = kernel_size if stride is None or stride in ((), []) else stride
    kernel = per_dimension(name, "kernel_size", kernel_size, ndim)
    moves = per_dimension(name, "stride", stride, ndim)
    border = per_dimension(name, "padding", padding, ndim)
    steps = per_dimension(name, "dilation", dilation, ndim)
    check_maximum(name, input._array, kernel, moves, border, steps, bool(ceil_mode))
    chosen = pooling.Chosen()
    if ndim == 1:
        kernel, moves, steps = _high(kernel), _high(moves), _high(steps)
        border = (0, *border)
        input = shape.unsqueeze(input, input._array.ndim - 1)
    operation = pooling.MAXIMA[len(kernel)]
    given: tuple[Any, ...] = (kernel, moves, border, steps, bool(ceil_mode))
    sizes = input._array.shape[-len(kernel) :]
    result = operation(input, *given, chosen)
    if ndim == 1:
        result = shape.squeeze_dim(result, result._array.ndim - 2)
    if not return_indices:
        return wrap(result._array) if ndim == 1 and not result.requires_grad else result
    positions = chosen.positions(sizes, given)
    indices = wrap(positions.reshape(result._array.shape))
    return watched(result, indices), indices


max_pool1d, max_pool2d, max_pool3d = (_max_pool(ndim, False) for ndim in (1, 2, 3))
max_pool1d_with_indices = _max_pool(1, True)
max_pool2d_with_indices = _max_pool(2, True)
max_pool3d_with_indices = _max_pool(3, True)


def _mean(
    name: str,
    ndim: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
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
    check_tensor(name, input)
    stride = kernel_size if stride is None or stride in ((), []) else stride
    kernel = per_dimension(name, "kernel_size", kernel_size, ndim)
    moves = per_dimension(name, "stride", stride, ndim)
    border = per_dimension(name, "padding", padding, ndim)
    check_average(name, input._array, kernel, moves, border, bool(ceil_mode), divisor_override)
    if ndim == 1:
        kernel, moves, border = _high(kernel), _high(moves), (0, *border)
        input = shape.unsqueeze(input, input._array.ndim - 1)
    given = (kernel, moves, border, bool(ceil_mode), bool(count_include_pad), divisor_override)
    result = pooling.MEANS[len(kernel)](input, *given)
    return shape.squeeze_dim(result, result._array.ndim - 2) if ndim == 1 else result


_MEAN = "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True"
avg_pool1d = _pool("avg_pool1d", 1, _mean, _MEAN)
avg_pool2d = _pool("avg_pool2d", 2, _mean, f"{_MEAN}, divisor_override=None")
avg_pool3d = _pool("avg_pool3d", 3, _mean, f"{_MEAN}, divisor_override=None")


def _power_average(averaged: Tensor, norm_type: float, count: int) -> Tensor:
    signs = averaged.sign() * averaged.abs().relu()
    return signs.mul(count).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    r"""Take $(\sum x^p)^{1/p}$ of each window of a signal."""
    powers = input.pow(norm_type)
    averaged = avg_pool1d(powers, kernel_size, stride, 0, ceil_mode)
    return _power_average(averaged, norm_type, kernel_size)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    r"""Take $(\sum x^p)^{1/p}$ of each window of an image."""
    height, width = per_dimension("lp_pool2d", "kernel_size", kernel_size, 2)
    powers = input.pow(norm_type)
    averaged = avg_pool2d(powers, kernel_size, stride, 0, ceil_mode)
    return _power_average(averaged, norm_type, height * width)


def _adaptive(name: str, ndim: int, input: Tensor, output_size: Any) -> tuple[Tensor, Any]:
    """Check an input and a size; a signal becomes an image of one row."""
    check_tensor(name, input)
    size = adaptive_size(name, output_size, input._array, ndim)
    check_adaptive(name, input._array, size)
    if ndim == 1:
        return shape.unsqueeze(input, input._array.ndim - 1), (1, *size)
    return input, size


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
        last = high._array.ndim
        result = mean_dim(high, tuple(range(last - len(size), last)), True)
    elif ndim == 3:
        result = pooling.ADAPTIVE_MEANS[3](high, size)
    else:
        result = pooling.ADAPTIVE_MEANS[2](high, size)
    return shape.squeeze_dim(result, high._array.ndim - 2) if ndim == 1 else result


def _adaptive_maximum(
    name: str, ndim: int, input: Tensor, output_size: Any, return_indices: bool
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
    if 0 in size:
        nothing = empty((*array.shape[:-2], *size), dtype=high.dtype)
        result, indices = nothing, wrap(nothing._array.astype("int64"))
    else:
        positions = pooling.largest_positions(array, size)
        indices = wrap(positions)
        result = watched(pooling.adaptive_max_pool2d(high, positions), indices)
    if ndim == 1:
        result = shape.squeeze_dim(result, array.ndim - 2)
        indices = indices.squeeze(array.ndim - 2) if return_indices else indices
    return (result, indices) if return_indices else result


_PARTS = "input, output_size"
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _pool(f"adaptive_avg_pool{ndim}d", ndim, _adaptive_mean, _PARTS) for ndim in (1, 2, 3)
)
adaptive_max_pool1d, adaptive_max_pool2d = (
    _pool(f"adaptive_max_pool{ndim}d", ndim, _adaptive_maximum, f"{_PARTS}, return_indices=False")
    for ndim in (1, 2)
)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Do what `adaptive_max_pool1d` does, and always give the positions."""
    return adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Do what `adaptive_max_pool2d` does, and always give the positions."""
    return adaptive_max_pool2d(input, output_size, True)
