"""Check in PyTorch's words that what is to be convolved fits together."""

from __future__ import annotations

from typing import Any

from minigrad import dtypes
from minigrad.ops.correlation import output_sizes
from minigrad.ops.factors import differ


def out_of_range(
    x: Any, w: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any, groups: int
) -> RuntimeError:
    """Make the error for a setting that is out of range."""
    if min(padding) < 0:
        return RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        return RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        return RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        return RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        return RuntimeError("non-positive groups is not supported")
    return RuntimeError(
        f"Expected {w.ndim}-dimensional input for {w.ndim}-dimensional weight {list(w.shape)}, "
        f"but got {x.ndim}-dimensional input of size {list(x.shape)} instead"
    )


def check_channels(x: Any, w: Any, bias: Any, transposed: bool, groups: int) -> None:
    """Raise if the channels of input, weight and bias do not fit."""
    which = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
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
        raise RuntimeError(
            f"Given {which}, weight of size {list(w.shape)}, expected input{list(x.shape)} to have "
            f"{channels} channels, but got {x.shape[1]} channels instead"
        )
    kernels = w.shape[1] * groups if transposed else outer
    if bias is not None and bias.shape != (kernels,):
        which = f"{which}, weight" if transposed else "weight"
        raise RuntimeError(
            f"Given {which} of size {list(w.shape)}, expected bias to be 1-dimensional with "
            f"{kernels} elements, but got bias of size {list(bias.shape)} instead"
        )


def check_sizes(
    x: Any,
    w: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
) -> None:
    """Raise if no window fits, or a transposed convolution leaves nothing."""
    sizes, kernel = x.shape[2:], w.shape[2:]
    if not transposed:
        if all(o >= 1 for o in output_sizes(sizes, kernel, stride, padding, dilation)):
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
    reached = [
        (n - 1) * s - 2 * p + d * (k - 1) + 1 + more
        for n, s, p, d, k, more in zip(
            sizes, stride, padding, dilation, kernel, output_padding, strict=True
        )
    ]
    if min(reached) < 1:
        if len(sizes) == 1:  # PyTorch computes it as an image of height 1
            sizes, reached = (1, *sizes), [1, *reached]
        raise RuntimeError(
            f"Given input size per channel: ({' x '.join(map(str, sizes))}). Calculated output "
            f"size per channel: ({' x '.join(map(str, reached))}). Output size is too small"
        )


def check_dtypes(x: Any, w: Any, bias: Any, transposed: bool) -> None:
    """Raise if input, weight and bias are of different types."""
    if bias is not None and differ(bias, x) and not (transposed and differ(w, x)):
        raise RuntimeError(
            f"Input type ({dtypes.c_name(x)}) and bias type ({dtypes.c_name(bias)}) should be the "
            "same"
        )
    if differ(x, w):
        raise RuntimeError(
            f"expected scalar type {dtypes.scalar_name(x)} but found {dtypes.scalar_name(w)}. "
            "Convert one of them with .to(dtype)."
        )
    if x.dtype.kind == "b":
        kernel = "slow_conv_transpose2d_out_cpu" if transposed else "slow_conv2d_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
