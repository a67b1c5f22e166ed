"""Map vectors linearly: `Linear`, and `Identity`, which leaves them as they are."""

from __future__ import annotations

import math
from typing import Any

from minigrad.creation import empty
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

__all__ = ["Identity", "Linear"]


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
        if str(device) not in ("None", "cpu"):
            raise RuntimeError(
                f"Invalid device string: '{device}'. minigrad computes on 'cpu' only."
            )
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
