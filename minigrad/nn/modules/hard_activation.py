"""Bend what linear layers compute by straight pieces, and by slopes that are learned or drawn."""

from __future__ import annotations

from typing import Any

from minigrad.creation import full
from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.nn.warning import warn
from minigrad.tensor import Tensor

__all__ = [
    "CELU",
    "GELU",
    "GLU",
    "Hardtanh",
    "PReLU",
    "RReLU",
    "ReLU6",
    "Softmax2d",
    "Softmin",
    "Threshold",
]


def _place(inplace: bool) -> str:
    """Say at the end of a printed form if a module works in place."""
    return ", inplace=True" if inplace else ""


class Hardtanh(Module):
    """Limits to an interval, elementwise.

    Args:
        min_val: The lower end.
        max_val: The upper end.
        inplace: Overwrite the input.
        min_value: The old name of `min_val`.
        max_value: The old name of `max_val`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, value in (("min", min_value), ("max", max_value)):
            if value is not None:
                warn(
                    f"keyword argument `{old}_value` is deprecated and renamed to `{old}_val`",
                    FutureWarning,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Give the limits."""
        return f"min_val={self.min_val}, max_val={self.max_val}{_place(self.inplace)}"


class ReLU6(Hardtanh):
    r"""$\min(\max(x, 0), 6)$, elementwise.

    Args:
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReLU6()(torch.tensor([-3.0, 8.0]))
        tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Say if it works in place."""
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """Keeps what is greater than a threshold, and puts a value in the place of the rest.

    Args:
        threshold: The threshold.
        value: What takes the place.
        inplace: Overwrite the input.
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Give the two numbers."""
        return f"threshold={self.threshold}, value={self.value}{_place(self.inplace)}"


class RReLU(Module):
    """A leaky ReLU whose slopes are drawn at random while the module is trained.

    Source: Xu et al., *Empirical evaluation of rectified activations in convolution network*, 2015.

    Args:
        lower: The smallest slope.
        upper: The largest slope.
        inplace: Overwrite the input.
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Give the bounds."""
        return f"lower={self.lower}, upper={self.upper}{_place(self.inplace)}"


class PReLU(Module):
    """A leaky ReLU whose slope is learned: one, or one for each channel (dimension 1).

    Source: He et al., *Delving deep into rectifiers*, 2015.

    Args:
        num_parameters: How many slopes.
        init: What they begin with.
        device: Only the CPU is there.
        dtype: The element type of the slopes; the default dtype if None.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).detach()
        tensor([-0.2500,  2.0000])
    """

    weight: Tensor

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), float(init), dtype=dtype, device=device))

    def reset_parameters(self) -> None:
        """Begin anew with the first slope."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Give the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class CELU(Module):
    r"""$x$ for $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ otherwise, elementwise.

    Source: Barron, *Continuously differentiable exponential linear units*, 2017.

    Args:
        alpha: Minus the value far on the left.
        inplace: Overwrite the input.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Give alpha."""
        return f"alpha={self.alpha}{_place(self.inplace)}"


class GELU(Module):
    r"""$x \Phi(x)$, elementwise, with the distribution function of the normal distribution.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016.

    Args:
        approximate: `"none"`, or `"tanh"` to compute $\Phi$ by a hyperbolic tangent.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.GELU()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Give the way of computing."""
        return f"approximate={self.approximate!r}"


class GLU(Module):
    r"""$a\, \sigma(b)$ from the two halves $a$ and $b$ of the input.

    Source: Dauphin et al., *Language modeling with gated convolutional networks*, 2016.

    Args:
        dim: The dimension to halve.
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Give the dimension."""
        return f"dim={self.dim}"


class Softmin(Module):
    """The softmax of minus the input along one dimension.

    Args:
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmin(input, self.dim)

    def extra_repr(self) -> str:
        """Give the dimension."""
        return f"dim={self.dim}"


class Softmax2d(Module):
    """The softmax over the channels of pictures.

    Shape:
        - input: (N, C, H, W), or (C, H, W)
        - output: the same
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)
