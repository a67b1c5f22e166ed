"""Normalize over the batch, with running statistics: `BatchNorm1d`, `BatchNorm2d` and so on."""

from __future__ import annotations

from typing import Any

from minigrad.creation import empty, ones, tensor, zeros
from minigrad.dtypes import int64
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.on_cpu import check_device
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]


class _NormBase(Module):
    """What batch and instance normalization share: parameters, buffers, and how they are loaded.

    Version 2 of the saved state has `num_batches_tracked`; an older one gets it when it is loaded.
    """

    _version = 2
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_device(device)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = Parameter(empty(num_features, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(empty(num_features, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        track = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype) if track else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype) if track else None)
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
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Give the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        *rest: Any,
    ) -> None:
        version = local_metadata.get("version")
        key = f"{prefix}num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            kept = self.num_batches_tracked
            state_dict[key] = tensor(0, dtype=int64) if kept is None else kept
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
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
        return F.batch_norm(
            input,
            self.running_mean if use else None,
            self.running_var if use else None,
            self.weight,
            self.bias,
            of_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
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

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Normalize each channel of images over the batch; arguments as for `BatchNorm1d`.

    Shape:
        - input and output: (N, C, H, W)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Normalize each channel of volumes over the batch; arguments as for `BatchNorm1d`.

    Shape:
        - input and output: (N, C, D, H, W)
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")
