"""Make images and signals as small as you say: the largest or the mean of each part."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.watched import watched
from minigrad.creation import empty
from minigrad.nn.functional.pooling_settings import adaptive_size, check_adaptive
from minigrad.ops import adaptive_pooling, shape
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.reduction import mean_dim
from minigrad.tensor import Tensor, wrap

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
]


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Average each of so many parts of a signal; see `adaptive_avg_pool2d`."""
    check_tensor("adaptive_avg_pool1d", input)
    size = adaptive_size("adaptive_avg_pool1d", output_size, input._array, 1)
    check_adaptive("adaptive_avg_pool1d", input._array, size)
    high = shape.unsqueeze(input, input._array.ndim - 1)
    return shape.squeeze_dim(_adaptive_mean(high, (1, *size)), input._array.ndim - 1)  # type: ignore[no-any-return]


def _adaptive_mean(input: Tensor, size: tuple[int, ...]) -> Tensor:
    if size == (1, 1):  # PyTorch takes the mean as everywhere else
        ndim = input._array.ndim
        return mean_dim(input, (ndim - 2, ndim - 1), True)  # type: ignore[no-any-return]
    return adaptive_pooling.adaptive_avg_pool2d(input, size)  # type: ignore[no-any-return]


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    r"""Average each of so many parts of an image.

    Args:
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
    check_tensor("adaptive_avg_pool2d", input)
    size = adaptive_size("adaptive_avg_pool2d", output_size, input._array, 2)
    check_adaptive("adaptive_avg_pool2d", input._array, size)
    return _adaptive_mean(input, size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Average each of so many parts of a volume; see `adaptive_avg_pool2d`."""
    check_tensor("adaptive_avg_pool3d", input)
    size = adaptive_size("adaptive_avg_pool3d", output_size, input._array, 3)
    check_adaptive("adaptive_avg_pool3d", input._array, size)
    if size == (1, 1, 1):
        ndim = input._array.ndim
        return mean_dim(input, (ndim - 3, ndim - 2, ndim - 1), True)  # type: ignore[no-any-return]
    return adaptive_pooling.adaptive_avg_pool3d(input, size)  # type: ignore[no-any-return]


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Take the largest entry of each of so many parts of a signal; see `adaptive_max_pool2d`."""
    check_tensor("adaptive_max_pool1d", input)
    size = adaptive_size("adaptive_max_pool1d", output_size, input._array, 1)
    check_adaptive("adaptive_max_pool1d", input._array, size)
    dim = input._array.ndim - 1
    result, indices = _adaptive_maximum(shape.unsqueeze(input, dim), (1, *size))
    result = shape.squeeze_dim(result, dim)
    return (result, indices.squeeze(dim)) if return_indices else result


def _adaptive_maximum(input: Tensor, size: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    if 0 in size:
        nothing = (*input._array.shape[:-2], *size)
        return empty(nothing, dtype=input.dtype), wrap(empty(nothing)._array.astype("int64"))
    positions = adaptive_pooling.largest_positions(input._array, size)
    indices = wrap(positions)
    result = adaptive_pooling.adaptive_max_pool2d(input, positions)
    return watched(result, indices), indices


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Take the largest entry of each of so many parts of an image.

    Args:
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
    check_tensor("adaptive_max_pool2d", input)
    size = adaptive_size("adaptive_max_pool2d", output_size, input._array, 2)
    check_adaptive("adaptive_max_pool2d", input._array, size)
    result, indices = _adaptive_maximum(input, size)
    return (result, indices) if return_indices else result


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Do what `adaptive_max_pool1d` does, and always give the positions."""
    return adaptive_max_pool1d(input, output_size, True)  # type: ignore[no-any-return]


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Do what `adaptive_max_pool2d` does, and always give the positions."""
    return adaptive_max_pool2d(input, output_size, True)  # type: ignore[no-any-return]
