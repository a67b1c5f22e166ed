"""Normalize over layers, groups of channels, or neighbors: `LayerNorm`, `GroupNorm`, `RMSNorm`."""

from __future__ import annotations

from typing import Any

from minigrad.creation import empty
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.on_cpu import check_device
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LayerNorm(Module):
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

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(empty(self.normalized_shape, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(empty(self.normalized_shape, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to 1 and biases to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Give the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


def _sizes(normalized_shape: Any) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class GroupNorm(Module):
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

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_device(device)
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        if affine:
            self.weight = Parameter(empty(num_channels, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(empty(num_channels, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to 1 and biases to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Give the settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
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

    weight: Tensor | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(empty(self.normalized_shape, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the input."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Give the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    r"""Divide each channel by its neighbors' squares, $x / (k + \alpha \langle x^2 \rangle)^\beta$.

    Args:
        size: How many neighboring channels count.
        alpha: The factor $\alpha$ of the mean square.
        beta: The exponent $\beta$.
        k: What is added.

    Shape:
        - input and output: (N, C, ...)
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Give the settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
