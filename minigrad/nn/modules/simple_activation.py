"""Bend what linear layers compute entry by entry, with nothing or one number to set."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = [
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "LogSigmoid",
    "Mish",
    "Softshrink",
    "Softsign",
    "Tanhshrink",
]


class SELU(Module):
    r"""$s x$ for $x > 0$, and $s \alpha (e^x - 1)$ otherwise: keeps mean 0 and variance 1.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017.

    Args:
        inplace: Overwrite the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        """Say if it works in place."""
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(Module):
    r"""$\min(\max(x + 3, 0), 6) / 6$, elementwise.

    Args:
        inplace: Overwrite the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    r"""$x \min(\max(x + 3, 0), 6) / 6$, elementwise.

    Source: Howard et al., *Searching for MobileNetV3*, 2019.

    Args:
        inplace: Overwrite the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardswish(input, self.inplace)


class Mish(Module):
    r"""$x \tanh(\ln(1 + e^x))$, elementwise.

    Source: Misra, *Mish: a self regularized non-monotonic activation function*, 2019.

    Args:
        inplace: Overwrite the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.mish(input, self.inplace)

    def extra_repr(self) -> str:
        """Say if it works in place."""
        return "inplace=True" if self.inplace else ""


class LogSigmoid(Module):
    r"""$\ln(1 / (1 + e^{-x}))$, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.logsigmoid(input)


class Softsign(Module):
    r"""$x / (1 + |x|)$, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softsign(input)


class Tanhshrink(Module):
    r"""$x - \tanh x$, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.tanhshrink(input)


class Hardshrink(Module):
    r"""0 in $[-\lambda, \lambda]$, and $x$ elsewhere, elementwise.

    Args:
        lambd: The number $\lambda$.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Give the number."""
        return str(self.lambd)


class Softshrink(Module):
    r"""$x$ moved by $\lambda$ towards 0, at most up to 0, elementwise.

    Args:
        lambd: The number $\lambda$.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Give the number."""
        return str(self.lambd)
