"""Normalization as it is called: over a batch, a layer, groups; its rules: `ops.normalization`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.ops import normalization as ops
from minigrad.ops.convolution import ABSENT
from minigrad.ops.elementwise import add_number, rsqrt
from minigrad.signatures import functional
from minigrad.signatures.arguments import check_tensor, not_implemented
from minigrad.signatures.signature import Sizes

MIXED = (
    "mixed dtype (CPU): all inputs must share same datatype. Convert the input or the layer with "
    ".to(dtype)."
)


def _normalized(
    operation: Any,
    name: str,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    layout: ops.Layout,
    eps: float,
    statistics: ops.Statistics | None = None,
) -> Tensor:
    """Normalize: input, weight and bias are of one dtype, of floating point."""
    _refuse_integers(name, input)
    weight, bias = ABSENT if weight is None else weight, ABSENT if bias is None else bias
    for each in (weight, bias):
        if each is not ABSENT and each._array.dtype != input._array.dtype:
            raise RuntimeError(MIXED)
    statistics = ops.Statistics() if statistics is None else statistics
    return operation(input, weight, bias, layout, eps, statistics)


def _refuse_integers(name: str, input: Tensor) -> None:
    if input._array.dtype.kind in "iub":
        raise not_implemented(name, input._array)


def _check_sizes(name: str, expected: tuple[int, ...], *given: Tensor | None) -> None:
    """Raise if a tensor that goes with what is normalized has another shape."""
    for each in given:
        if each is not None and each._array.shape != expected:
            found = list(each._array.shape)
            raise RuntimeError(f"{name}: expected a tensor of shape {list(expected)}, got {found}")


def _last_sizes(name: str, input: Tensor, normalized: tuple[int, ...], *given: Any) -> Any:
    """Give the dimensions to normalize over: the last ones, of given sizes."""
    sizes = input._array.shape
    if not normalized or sizes[-len(normalized) :] != normalized:
        raise RuntimeError(f"{name}: {list(normalized)} must be the last sizes of {list(sizes)}")
    _check_sizes(name, normalized, *given)
    return tuple(range(len(sizes) - len(normalized), len(sizes)))


@functional()
def layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> Tensor:
    r"""Normalize over the last dimensions: $y = w (x - \mu) / \sqrt{v + \varepsilon} + b$.

    Args:
        input: The activations.
        normalized_shape: The sizes of these last dimensions.
        weight: A factor for each entry, of shape `normalized_shape`.
        bias: What is added to each entry, of shape `normalized_shape`.
        eps: Added to the variance, so that nothing is divided by 0.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    axes = _last_sizes("layer_norm", input, normalized_shape, weight, bias)
    layout = ops.layout_of(input._array.shape, axes, tuple(range(axes[0])))
    return _normalized(ops.native_layer_norm, "layer_norm", input, weight, bias, layout, eps)


def _refuse_one_value(sizes: tuple[int, ...]) -> None:
    raise ValueError(f"Expected more than 1 value per channel when training, got {list(sizes)}")


@functional()
def group_norm(
    input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> Tensor:
    """Normalize over groups of channels, each sample by itself.

    Args:
        input: The activations, of shape (N, C, ...).
        num_groups: Into how many groups the channels are divided.
        weight: A factor for each channel.
        bias: What is added to each channel.
        eps: Added to the variance, so that nothing is divided by 0.

    Raises:
        RuntimeError: If the channels are not divisible by the groups, or sizes do not fit.
        ValueError: If each group has only one value.
    """
    sizes = input._array.shape
    if len(sizes) < 2 or num_groups < 1 or sizes[1] % num_groups:
        raise RuntimeError(f"group_norm: {sizes} is not (N, C, ...), C divisible by {num_groups}")
    if math.prod(sizes) == num_groups:
        _refuse_one_value(sizes)
    _check_sizes("group_norm", sizes[1:2], weight, bias)
    view = (sizes[0], num_groups, sizes[1] // num_groups, math.prod(sizes[2:]))
    layout = ops.layout_of(view, (2, 3), (0, 3))
    return _normalized(ops.native_group_norm, "group_norm", input, weight, bias, layout, eps)


@functional()
def rms_norm(
    input: Tensor, normalized_shape: Sizes, weight: Any = None, eps: float | None = None
) -> Tensor:
    r"""Divide by the root of the mean square over the last dimensions.

    $y = w x / \sqrt{\langle x^2 \rangle + \varepsilon}$: no mean is subtracted, and nothing added.

    Args:
        input: The activations.
        normalized_shape: The sizes of these last dimensions.
        weight: A factor for each entry, of shape `normalized_shape`.
        eps: Added to the mean square; if None, the distance of 1 to the next number.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
        tensor([[0.8485, 1.1314]])
    """
    dims, array = _last_sizes("rms_norm", input, normalized_shape, weight), input._array
    _refuse_integers("rms_norm", input)
    if eps is None:
        eps = float(np.finfo(np.float64 if array.dtype == np.float64 else np.float32).eps)
    wide = input.float() if array.dtype == np.float16 else input
    result = wide * rsqrt(add_number(wide.pow(2).mean(dims, keepdim=True), eps))
    if weight is not None:
        result = result * weight
    return result if result._array.dtype == array.dtype else result.to(input.dtype)


@functional
def normalize(
    input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    r"""Divide vectors by their norm: $x / \max(\|x\|_p, \varepsilon)$.

    Args:
        input: The vectors.
        p: Which norm it is.
        dim: The dimension or dimensions along which they lie.
        eps: The least that they are divided by.
        out: Where the result is written to.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    check_tensor("normalize", input)
    result = input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)


@functional()
def batch_norm(
    input: Tensor,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Normalize each channel over the batch: $y = w (x - \mu) / \sqrt{v + \varepsilon} + b$.

    Args:
        input: The activations.
        running_mean: The mean of each channel so far. Training changes it in place; otherwise it
            is the mean that is subtracted.
        running_var: The same for the variance.
        weight: A factor for each channel.
        bias: What is added to each channel.
        training: Whether mean and variance are those of the input.
        momentum: How much of the new mean and variance goes into the running ones.
        eps: Added to the variance, so that nothing is divided by 0.

    Raises:
        RuntimeError: If sizes or dtypes do not fit, or there are no running ones to use.
        ValueError: If each channel has only one value to learn from.

    Shape:
        - input: (N, C, ...); the others: (C,)
        - output: (N, C, ...)

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
        >>> torch.nn.functional.batch_norm(x, None, None, training=True)
        tensor([[-1.0000,  0.0000],
                [ 1.0000,  0.0000]])
    """
    sizes = input._array.shape
    if training and math.prod(sizes[:1] + sizes[2:]) == 1:
        _refuse_one_value(sizes)
    array = input._array
    channels = array.shape[1]
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var: give both, or none")
    if running_mean is None and not training:
        raise RuntimeError("Without running_mean and running_var there is nothing to evaluate by")
    _check_sizes("batch_norm", (channels,), running_mean, running_var, weight, bias)
    axes = (0, *range(2, array.ndim))
    layout = ops.layout_of(array.shape, axes, axes)
    statistics = ops.Statistics()
    if running_mean is not None:
        mean, var = running_mean._array, running_var._array
        if array.dtype.kind == "f" and mean.dtype != array.dtype:
            raise RuntimeError(MIXED)
    if not training:
        statistics.fixed = True
        statistics.mean = mean.reshape(layout.beside)
        statistics.rstd = 1 / np.sqrt(var.reshape(layout.beside) + eps)
    result = _normalized(
        ops.native_batch_norm, "batch_norm", input, weight, bias, layout, eps, statistics
    )
    if training and running_mean is not None and array.size:
        count = array.size // channels
        unbiased = statistics.variance * (count / max(count - 1, 1))
        # without a new version, as in PyTorch
        for kept, new in ((mean, statistics.mean), (var, unbiased)):
            kept *= 1 - momentum
            kept += momentum * new.reshape(kept.shape)
    return result


@functional()
def instance_norm(
    input: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each sample by itself; arguments as for `batch_norm`.

    Args:
        input: The activations, of shape (N, C, ...).
        running_mean: The mean of each channel so far.
        running_var: The variance of each channel so far.
        weight: A factor for each channel.
        bias: What is added to each channel.
        use_input_stats: Whether mean and variance are those of the input.
        momentum: How much of the new mean and variance goes into the running ones.
        eps: Added to the variance.

    Raises:
        ValueError: If each channel has only one value to learn from.
    """
    sizes = input._array.shape
    count, channels = sizes[:2]
    # as PyTorch does it: all samples beside each other, as channels of one sample
    mean, var, weight, bias = (
        None if each is None else each.repeat(count)
        for each in (running_mean, running_var, weight, bias)
    )
    together = input.contiguous().view(1, count * channels, *sizes[2:])
    result = batch_norm(together, mean, var, weight, bias, use_input_stats, momentum, eps)
    for kept, new in ((running_mean, mean), (running_var, var)):
        if kept is not None and new is not None and use_input_stats:
            kept._array[...] = new._array.reshape(count, channels).mean(0)
    return result.view(*sizes)
