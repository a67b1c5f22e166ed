"""Normalize each channel over a batch, or each channel of each sample by itself."""

from __future__ import annotations

import math

import numpy as np

from minigrad.nn.functional.normalizing import MIXED, array_of, normalized
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.normalization import Layout, Statistics, native_batch_norm
from minigrad.tensor import Size, Tensor, wrap

__all__ = ["batch_norm", "instance_norm"]


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


def _batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    array = input._array
    if array.ndim < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(array.ndim, 1)}, "
            f"{max(array.ndim, 1) - 1}], but got 1)"
        )
    if not isinstance(momentum, (int, float)):
        raise TypeError(
            "batch_norm(): argument 'momentum' (position 7) must be float, not "
            f"{type(momentum).__name__}"
        )
    channels = array.shape[1]
    if training and (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    for name, given in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if given is not None and given._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given._array.size}")
        if given is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    mean, var = array_of(running_mean), array_of(running_var)
    for kept in (mean, var):
        if kept is None or kept.dtype == array.dtype or array.dtype.kind != "f":
            continue
        if array.dtype != np.float16 or kept.dtype != np.float32:
            raise RuntimeError(MIXED)
    beside = (channels, *[1] * (array.ndim - 2))
    layout = Layout(array.shape, (0, *range(2, array.ndim)), beside)
    statistics = Statistics()
    if not training:
        statistics.fixed = True
        statistics.mean = mean.reshape(1, *beside)
        statistics.rstd = 1 / np.sqrt(var.reshape(1, *beside) + eps)
    result = normalized(
        native_batch_norm, "batch_norm", input, weight, bias, layout, eps, statistics
    )
    if training and mean is not None and array.size:
        count = array.size // channels
        unbiased = statistics.variance * (count / max(count - 1, 1))
        # without a new version, as in PyTorch
        for kept, new in ((mean, statistics.mean), (var, unbiased)):
            kept *= 1 - momentum
            kept += momentum * new.reshape(kept.shape)
    return result


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
    check_tensor("instance_norm", input)
    sizes = input._array.shape
    if use_input_stats and math.prod(sizes[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {Size(sizes)}"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
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
    return result.view(*sizes)  # type: ignore[no-any-return]
