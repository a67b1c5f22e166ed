"""Normalize over layers, groups of channels or neighbors, or bring vectors to length 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.nn.functional.normalizing import array_of
from minigrad.nn.functional.normalizing import normalized as apply
from minigrad.nn.functional.pooling import avg_pool2d, avg_pool3d
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.elementwise import add_number, rsqrt
from minigrad.ops.normalization import Layout, Statistics, native_group_norm, native_layer_norm
from minigrad.ops.padding import constant_pad_nd
from minigrad.tensor import Tensor

__all__ = [
    "group_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


def _sizes(name: str, normalized_shape: Any) -> tuple[int, ...]:
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}"
        )
    return tuple(int(size) for size in normalized_shape)


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


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
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
    check_tensor("layer_norm", input)
    normalized = _sizes("layer_norm", normalized_shape)
    array = input._array
    _check_shape(array, normalized, array_of(weight), array_of(bias), ", ")
    axes = tuple(range(array.ndim - len(normalized), array.ndim))
    layout = Layout(array.shape, axes, normalized)
    operation = native_layer_norm
    return apply(operation, "LayerNormKernelImpl", input, weight, bias, layout, eps, Statistics())


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
    array = input._array
    sizes = array.shape
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
    within = math.prod(sizes[1:]) // num_groups
    layout = Layout((sizes[0], num_groups, within), (2,), (sizes[1], *[1] * (len(sizes) - 2)))
    operation = native_group_norm
    return apply(operation, "GroupNormKernelImpl", input, weight, bias, layout, eps, Statistics())


def rms_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    eps: float | None = None,
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
    check_tensor("rms_norm", input)
    normalized = _sizes("rms_norm", normalized_shape)
    array = input._array
    _check_shape(array, normalized, array_of(weight), None, "")
    if array.dtype.kind in "iub":
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{scalar_name(array)}'")
    if eps is None:
        eps = float(np.finfo(np.float64 if array.dtype == np.float64 else np.float32).eps)
    wide = input.float() if array.dtype == np.float16 else input
    dims = tuple(range(array.ndim - len(normalized), array.ndim))
    scale = rsqrt(add_number(wide.pow(2).mean(dims, keepdim=True), eps))
    result = wide * scale
    if weight is not None:
        result = result * weight
    return result if result._array.dtype == array.dtype else result.to(input.dtype)


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
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    result = input / length
    if out is None:
        return result
    return out.copy_(result)  # type: ignore[no-any-return]


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
    border = (size // 2, (size - 1) // 2)
    if dim == 3:
        whole = constant_pad_nd(squares.unsqueeze(1), (0, 0, *border), 0)
        around = avg_pool2d(whole, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        volume = squares.view(sizes[0], 1, sizes[1], sizes[2] if dim > 3 else 1, -1)
        whole = constant_pad_nd(volume, (0, 0, 0, 0, *border), 0)
        around = avg_pool3d(whole, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / around.mul(alpha).add(k).pow(beta)  # type: ignore[no-any-return]
