"""Normalization as it is called: over a batch, a layer, groups; its rules: `ops.normalization`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import wrong_type
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.dtypes import scalar_name
from minigrad.creation.layout import Size
from minigrad.faces import functional
from minigrad.faces.arguments import check_tensor, dimension, not_implemented, number, whole
from minigrad.faces.face import in_functional
from minigrad.faces.out import refuse_gradient
from minigrad.ops import normalization as ops
from minigrad.ops.convolution import ABSENT
from minigrad.ops.elementwise import add_number, rsqrt
from minigrad.ops.padding import constant_pad_nd

# ---------------------------------------------------------------------- what is called

MIXED = (
    "mixed dtype (CPU): all inputs must share same datatype. Convert the input or the layer with "
    ".to(dtype)."
)


def _array(tensor: Tensor | None) -> Any:
    """Give the array of a tensor that may be missing."""
    return None if tensor is None else tensor._array


def _applied(
    operation: Any,
    name: str,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    layout: ops.Layout,
    eps: float,
    statistics: ops.Statistics | None = None,
) -> Tensor:
    """Normalize, in the dtype of the input; weights of float16 inputs may be of float32."""
    array = input._array
    if array.dtype.kind in "iub":
        raise not_implemented(name, array)
    if eps.__class__ is not float:
        eps = number(eps, name, "eps", 5, "float")
    statistics = ops.Statistics() if statistics is None else statistics
    kinds = {each._array.dtype for each in (weight, bias) if each is not None}
    weight, bias = ABSENT if weight is None else weight, ABSENT if bias is None else bias
    if kinds - {array.dtype}:
        if array.dtype != np.float16 or kinds != {np.dtype(np.float32)}:
            raise RuntimeError(MIXED)
        return operation(input.float(), weight, bias, layout, eps, statistics).half()
    return operation(input, weight, bias, layout, eps, statistics)


def _check_shape(
    input: Any, normalized: tuple[int, ...], weight: Any, bias: Any, comma: str
) -> None:
    if not normalized:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given.shape != normalized:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(given.shape)} and normalized_shape = {list(normalized)}"
            )
    if input.shape[-len(normalized) :] != normalized:
        listed = ", ".join(map(str, normalized))
        raise RuntimeError(
            f"Given normalized_shape={list(normalized)}, expected input with shape [*{comma}"
            f"{listed}], but got input of size{list(input.shape)}"
        )


@functional(
    "layer_norm(Tensor input, Sizes normalized_shape, weight=None, bias=None, float eps=1e-05)"
)
def layer_norm(input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Tensor:
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
    array = input._array
    _check_shape(array, normalized_shape, _array(weight), _array(bias), ", ")
    axes = tuple(range(array.ndim - len(normalized_shape), array.ndim))
    layout = ops.layout_of(array.shape, axes, tuple(range(axes[0])))
    return _applied(ops.native_layer_norm, "LayerNormKernelImpl", input, weight, bias, layout, eps)


@functional
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
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
    check_tensor("group_norm", input)
    sizes, num_groups = input._array.shape, whole("group_norm", num_groups, "num_groups", 2)
    if len(sizes) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(sizes)}"
        )
    if math.prod((sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:])) // num_groups == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{[sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]]}"
        )
    if num_groups < 1:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if sizes[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(sizes)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given._array.shape != sizes[1:2]:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(given._array.shape)} and input of shape "
                f"{list(sizes)}"
            )
    view = (sizes[0], num_groups, sizes[1] // num_groups, math.prod(sizes[2:]))
    layout = ops.layout_of(view, (2, 3), (0, 3))
    return _applied(ops.native_group_norm, "GroupNormKernelImpl", input, weight, bias, layout, eps)


@functional("rms_norm(Tensor input, Sizes normalized_shape, weight=None, float? eps=None)")
def rms_norm(
    input: Tensor, normalized_shape: tuple[int, ...], weight: Tensor | None, eps: float | None
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
    array = input._array
    _check_shape(array, normalized_shape, _array(weight), None, "")
    if array.dtype.kind in "iub":
        raise not_implemented("rms_norm", array)
    if eps is None:
        eps = float(np.finfo(np.float64 if array.dtype == np.float64 else np.float32).eps)
    wide = input.float() if array.dtype == np.float16 else input
    dims = tuple(range(array.ndim - len(normalized_shape), array.ndim))
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
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(input._array)}"
        )
    p, eps = number(p, "normalize", "p", 2), number(eps, "normalize", "eps", 4)
    if out is not None and is_grad_enabled():
        refuse_gradient("div", input)
    result = input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)


@functional
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    r"""Divide each channel by the squares of its neighbors.

    $y_c = x_c / (k + \alpha \langle x^2 \rangle)^\beta$, with the mean over `size` channels around.

    Args:
        input: The activations, of shape (N, C, ...).
        size: How many neighboring channels count.
        alpha: The factor of the mean square.
        beta: The exponent.
        k: What is added.

    Raises:
        ValueError: If the input has fewer than three dimensions.
    """
    check_tensor("local_response_norm", input)
    dim = input._array.ndim
    if dim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          "
            f"input (got {dim} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    size = whole("avg_pool3d", size, "kernel_size", 2)
    border = (size // 2, (size - 1) // 2)
    if dim == 3:
        wide = constant_pad_nd(squares.unsqueeze(1), (0, 0, *border), 0)
        around = in_functional["avg_pool2d"](wide, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        volume = squares.view(sizes[0], 1, sizes[1], sizes[2] if dim > 3 else 1, -1)
        wide = constant_pad_nd(volume, (0, 0, 0, 0, *border), 0)
        around = in_functional["avg_pool3d"](wide, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / around.mul(alpha).add(k).pow(beta)


@functional
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
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
    check_tensor("batch_norm", input)
    if not isinstance(training, bool):
        raise wrong_type("batch_norm", "training", "bool", training, 6)
    sizes = input._array.shape
    if training:
        values = math.prod(sizes[:1] + sizes[2:])
        if values == 1:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size "
                f"{Size(sizes)}"
            )
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _batch_norm(input: Tensor, *settings: Any) -> Tensor:
    running_mean, running_var, weight, bias, training, momentum, eps = settings
    array = input._array
    dimension(1, array.ndim)
    momentum = number(momentum, "batch_norm", "momentum", 7, "float")
    eps = number(eps, "batch_norm", "eps", 8, "float")
    channels = array.shape[1]
    if training and (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    names = ("running_mean", "running_var", "weight", "bias")
    for name, given in zip(names, settings, strict=False):
        if given is not None and given._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given._array.size}")
        if given is not None and given._array.ndim != 1 and name.startswith("running"):
            raise RuntimeError(f"TensorAccessor expected 1 dims but tensor has {given._array.ndim}")
        if given is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    mean, var = _array(running_mean), _array(running_var)
    for kept in (mean, var):
        if kept is None or kept.dtype == array.dtype or array.dtype.kind != "f":
            continue
        if array.dtype != np.float16 or kept.dtype != np.float32:
            raise RuntimeError(MIXED)
    axes = (0, *range(2, array.ndim))
    layout = ops.layout_of(array.shape, axes, axes)
    statistics = ops.Statistics(running_mean, running_var)
    if not training:
        statistics.fixed = True
        statistics.mean = mean.reshape(layout.beside)
        statistics.rstd = 1 / np.sqrt(var.reshape(layout.beside) + eps)
    result = _applied(
        ops.native_batch_norm, "batch_norm", input, weight, bias, layout, eps, statistics
    )
    if training and mean is not None and array.size:
        count = array.size // channels
        unbiased = statistics.variance * (count / max(count - 1, 1))
        # without a new version, as in PyTorch
        for kept, new in ((mean, statistics.mean), (var, unbiased)):
            kept *= 1 - momentum
            kept += momentum * new.reshape(kept.shape)
    return result


@functional(
    "instance_norm(Tensor input, running_mean=None, running_var=None, weight=None, bias=None, "
    "bool use_input_stats=True, momentum=0.1, eps=1e-5)"
)
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
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
    if use_input_stats and math.prod(sizes[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {Size(sizes)}"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    count, channels = sizes[:2]
    # as PyTorch does it: all samples beside each other, as channels of one sample
    together = input.contiguous().view(1, count * channels, *sizes[2:])
    mean, var = (
        None if kept is None else wrap(np.tile(kept._array, count))
        for kept in (running_mean, running_var)
    )
    weight, bias = (None if each is None else each.repeat(count) for each in (weight, bias))
    result = _batch_norm(together, mean, var, weight, bias, use_input_stats, momentum, eps)
    for kept, new in ((running_mean, mean), (running_var, var)):
        if kept is not None and new is not None and use_input_stats:
            kept._array[...] = new._array.reshape(count, channels).mean(0)
    return result.view(*sizes)
