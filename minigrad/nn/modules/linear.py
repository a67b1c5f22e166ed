"""Map vectors linearly: `Linear`, `Bilinear`, and `Identity`, which leaves them as they are."""

from __future__ import annotations

import math
from typing import Any

from minigrad.creation import empty
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.on_cpu import check_device
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Return the input, the very same object. Arguments are accepted and ignored.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> torch.nn.Identity()(x) is x
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    r"""The affine map $y = x W^\top + b$.

    Weight and bias start out uniformly distributed on $(-1/\sqrt{n}, 1/\sqrt{n})$ for $n$ input
    features.

    Args:
        in_features: The size of each input vector.
        out_features: The size of each output vector.
        bias: Whether to add $b$.
        device: Only the CPU is there.
        dtype: The element type of weight and bias; the default dtype if None.

    Shape:
        - input: (..., in_features)
        - output: (..., out_features)
        - weight: (out_features, in_features); bias: (out_features,)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(3, 2)
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
        >>> layer(torch.ones(4, 3)).shape
        torch.Size([4, 2])
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if device is not None:
            check_device(device)
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        # With a = sqrt(5), Kaiming's bound sqrt(6 / ((1 + a^2) n)) is 1 / sqrt(n).
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Map the last dimension of the input."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Give the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    r"""The map of pairs of vectors $y_o = \sum_{ij} x_i W_{oij} z_j + b_o$.

    Weight and bias start out uniformly distributed on $(-1/\sqrt{n}, 1/\sqrt{n})$ for $n$ features
    of the first input.

    Args:
        in1_features: The size of each vector of the first input.
        in2_features: The size of each vector of the second input.
        out_features: The size of each output vector.
        bias: Whether to add $b$.
        device: Only the CPU is there.
        dtype: The element type of weight and bias; the default dtype if None.

    Shape:
        - input1: (..., in1_features)
        - input2: (..., in2_features)
        - output: (..., out_features)
        - weight: (out_features, in1_features, in2_features); bias: (out_features,)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Bilinear(2, 3, 4)(torch.ones(5, 2), torch.ones(5, 3)).shape
        torch.Size([5, 4])
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        sizes = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(sizes, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Map pairs of vectors."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Give the sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
