"""Bend what linear layers compute: the activation functions as modules."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.ops.calling.arithmetic import sigmoid, tanh
from minigrad.tensor import Tensor

__all__ = [
    "ELU",
    "LeakyReLU",
    "LogSoftmax",
    "ReLU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
]


class ReLU(Module):
    r"""$\max(x, 0)$, elementwise.

    Args:
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """Say if it works in place."""
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    r"""$\tanh x$, elementwise.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Tanh()(torch.tensor([0.0]))
        tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return tanh(input)


class Sigmoid(Module):
    r"""$1 / (1 + e^{-x})$, elementwise.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Sigmoid()(torch.tensor([0.0]))
        tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return sigmoid(input)


class Softplus(Module):
    r"""$\frac{1}{\beta} \log(1 + e^{\beta x})$, elementwise: a smooth ReLU.

    Args:
        beta: How sharply it bends.
        threshold: Above $\beta x$ = threshold it is computed as $x$.
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Give the two numbers."""
        return f"beta={self.beta}, threshold={self.threshold}"


class LeakyReLU(Module):
    r"""$x$ for $x > 0$, and `negative_slope` times $x$ otherwise, elementwise.

    Args:
        negative_slope: The slope on the left.
        inplace: Overwrite the input.
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Give the slope."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" * self.inplace)


class ELU(Module):
    r"""$x$ for $x > 0$, and $\alpha (e^x - 1)$ otherwise, elementwise.

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
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Give alpha."""
        return f"alpha={self.alpha}" + (", inplace=True" * self.inplace)


class SiLU(Module):
    r"""$x / (1 + e^{-x})$, elementwise, also known as swish.

    Args:
        inplace: Overwrite the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.silu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """Say if it works in place."""
        return "inplace=True" if self.inplace else ""


class Softmax(Module):
    r"""$e^{x_i} / \sum_j e^{x_j}$ along one dimension.

    Args:
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Softmax(dim=0)(torch.zeros(4))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """Give the dimension."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    r"""$x_i - \log \sum_j e^{x_j}$ along one dimension.

    Args:
        dim: The dimension along which the probabilities sum to 1. Leaving it out is deprecated.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.log_softmax(input, self.dim)

    def extra_repr(self) -> str:
        """Give the dimension."""
        return f"dim={self.dim}"
