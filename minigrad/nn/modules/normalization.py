"""Keep activations at mean 0 and variance 1: normalization within samples, or over the batch."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import tensor
from minigrad.creation.dtypes import int64
from minigrad.creation.factories import ones, zeros
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.layer import Layer, add_parameters

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "LayerNorm", "RMSNorm",
]  # fmt: skip


class _Normalization(Layer):
    """What the layers share that scale and shift what they normalized."""

    weight: Tensor | None
    bias: Tensor | None

    def _scale_and_shift(self, shape: Any, settings: dict[str, Any], affine: bool) -> None:
        """Keep the settings, and register the two parameters, or that there are none."""
        shapes = {"weight": shape if affine else None}
        if "bias" in settings:
            shapes["bias"] = shape if settings.pop("bias") and affine else None
        Layer._keep(self, settings)
        add_parameters(self, settings, **shapes)

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)  # type: ignore[arg-type]


# Within samples -------------------------------------------------------------------------------


class _OverShape(_Normalization):
    """What layers share that normalize over the last dimensions, of a given shape."""

    def _keep(self, settings: dict[str, Any]) -> None:
        shape = settings["normalized_shape"]
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        settings["normalized_shape"] = shape
        self._scale_and_shift(shape, settings, settings["elementwise_affine"])
        self.reset_parameters()


class LayerNorm(
    _OverShape,
    calls=F.layer_norm,
    settings="normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, "
    "dtype=None",
    shows="normalized_shape, eps=, elementwise_affine=, bias!",
):
    r"""Normalize over the last dimensions: $y = w (x - \mu) / \sqrt{v + \varepsilon} + b$.

    Args:
        normalized_shape: The sizes of these dimensions, or one number for the last.
        eps: Added to the variance, so that nothing is divided by 0.
        elementwise_affine: Whether there are weights and biases to learn.
        bias: Whether there are biases, if there are weights.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.

    Shape:
        - input and output: (..., *normalized_shape)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.LayerNorm(2)
        >>> layer(torch.tensor([[1.0, 3.0]]))
        tensor([[-1.0000,  1.0000]], grad_fn=<NativeLayerNormBackward0>)
    """


class RMSNorm(
    _OverShape,
    calls=F.rms_norm,
    settings="normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None",
    shows="normalized_shape, eps=, elementwise_affine=",
):
    r"""Divide by the root of the mean square: $y = w x / \sqrt{\langle x^2 \rangle + \varepsilon}$.

    Args:
        normalized_shape: The sizes of the last dimensions, over which the mean is taken.
        eps: Added to the mean square; if None, the distance of 1 to the next number.
        elementwise_affine: Whether there are weights to learn.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.

    Shape:
        - input and output: (..., *normalized_shape)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor([[3.0, 4.0]]))
        tensor([[0.8485, 1.1314]])
    """


class GroupNorm(
    _Normalization,
    calls=F.group_norm,
    settings="num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, "
    "bias=True",
    shows="num_groups, num_channels, eps=, affine=, bias!",
):
    r"""Normalize groups of channels, each sample by itself.

    Args:
        num_groups: Into how many groups the channels are divided.
        num_channels: The number of channels $C$.
        eps: Added to the variance, so that nothing is divided by 0.
        affine: Whether there are weights and biases to learn.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.
        bias: Whether there are biases, if there are weights.

    Raises:
        ValueError: If the channels are not divisible by the groups.

    Shape:
        - input and output: (N, C, ...)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.GroupNorm(2, 4, affine=False)
        >>> layer(torch.tensor([[1.0, 3.0, 5.0, 9.0]]))
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        channels, groups = settings["num_channels"], settings["num_groups"]
        if channels % groups != 0:
            raise ValueError(f"num_channels={channels} must be divisible by num_groups={groups}")
        self._scale_and_shift((channels,), settings, settings["affine"])
        self.reset_parameters()


# Over the batch -------------------------------------------------------------------------------

_MADE = "device=None, dtype=None, *, bias=True"
BATCH_NORM = f"num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, {_MADE}"


class _NormBase(
    _Normalization, shows="num_features, eps=, momentum=, affine=, bias!, track_running_stats="
):
    """What batch and instance normalization share: parameters, buffers, and how they are loaded.

    Version 2 of the saved state has `num_batches_tracked`.
    """

    _version = 2
    _spatial: ClassVar[int]
    _batched: ClassVar[bool] = False  # whether inputs must have a dimension for the samples
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def _keep(self, settings: dict[str, Any]) -> None:
        size, dtype, track = (
            settings[name] for name in ("num_features", "dtype", "track_running_stats")
        )
        self._scale_and_shift((size,), settings, settings["affine"])
        self.register_buffer("running_mean", zeros(size, dtype=dtype) if track else None)
        self.register_buffer("running_var", ones(size, dtype=dtype) if track else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if track else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Set weights to 1 and biases to 0, and forget the running statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        large = self._spatial + 2
        allowed = (large,) if self._batched else (large - 1, large)
        if input.ndim not in allowed:
            listed = " or ".join(f"{ndim}D" for ndim in allowed)
            raise ValueError(f"expected {listed} input (got {input.ndim}D input)")


class _BatchNorm(_NormBase, settings=BATCH_NORM):
    """Batch normalization of any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalize; in training, the running statistics move towards those of the input."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches so far
                factor = 1.0 / float(self.num_batches_tracked)
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        use = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if use else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, of_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm, spatial=1):
    r"""Normalize each feature over the batch: $y = w (x - \mu) / \sqrt{v + \varepsilon} + b$.

    In training, mean and variance are those of the batch, and the running ones move towards them:
    $\hat\mu \leftarrow (1 - m) \hat\mu + m \mu$, with the unbiased variance. In evaluation, the
    running ones are used.

    Args:
        num_features: The number of features or channels $C$.
        eps: Added to the variance, so that nothing is divided by 0.
        momentum: The share $m$ of the new in the running statistics; None for the mean of all.
        affine: Whether there are weights and biases to learn.
        track_running_stats: Whether there are running statistics; else those of the batch are used
            in evaluation, too.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.
        bias: Whether there are biases, if there are weights.

    Raises:
        ValueError: If the input has another number of dimensions, or too few values to learn from.

    Shape:
        - input and output: (N, C) or (N, C, L)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.BatchNorm1d(2)
        >>> layer(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
        tensor([[-1.0000,  0.0000],
                [ 1.0000,  0.0000]], grad_fn=<NativeBatchNormBackward0>)
        >>> layer.running_mean
        tensor([0.2000, 0.5000])
    """


class BatchNorm2d(_BatchNorm, spatial=2, batched=True):
    """Normalize each channel of images over the batch; arguments as for `BatchNorm1d`.

    Shape:
        - input and output: (N, C, H, W)
    """


class BatchNorm3d(_BatchNorm, spatial=3, batched=True):
    """Normalize each channel of volumes over the batch; arguments as for `BatchNorm1d`.

    Shape:
        - input and output: (N, C, D, H, W)
    """


class _InstanceNorm(
    _NormBase,
    settings="num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, "
    + _MADE,
):
    """Instance normalization of any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        self._check_input_dim(input)
        single = input.dim() == self._spatial + 1
        dim = 0 if single else 1
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(f"{input.size(dim)} channels, not {self.num_features}")
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False"
            )
        batch = input.unsqueeze(0) if single else input
        kept = (self.running_mean, self.running_var, self.weight, self.bias)
        of_input = self.training or not self.track_running_stats
        momentum = self.momentum if self.momentum is not None else 0.0
        result = F.instance_norm(batch, *kept, of_input, momentum, self.eps)
        return result.squeeze(0) if single else result


class InstanceNorm1d(_InstanceNorm, spatial=1):
    """Normalize each channel of each signal; arguments as for `InstanceNorm2d`.

    Shape:
        - input and output: (N, C, L) or (C, L)
    """


class InstanceNorm2d(_InstanceNorm, spatial=2):
    r"""Normalize each channel of each image: $y = w (x - \mu) / \sqrt{v + \varepsilon} + b$.

    Args:
        num_features: The number of channels $C$.
        eps: Added to the variance, so that nothing is divided by 0.
        momentum: The share of the new in the running statistics.
        affine: Whether there are weights and biases to learn.
        track_running_stats: Whether to keep running statistics, and to use them in evaluation.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.
        bias: Whether there are biases, if there are weights.

    Raises:
        ValueError: If the input has another number of dimensions, or other channels than weights.

    Shape:
        - input and output: (N, C, H, W) or (C, H, W)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.InstanceNorm2d(1)
        >>> layer(torch.tensor([[[[1.0, 3.0]]]]))
        tensor([[[[-1.0000,  1.0000]]]])
    """


class InstanceNorm3d(_InstanceNorm, spatial=3):
    """Normalize each channel of each volume; arguments as for `InstanceNorm2d`.

    Shape:
        - input and output: (N, C, D, H, W) or (C, D, H, W)
    """
