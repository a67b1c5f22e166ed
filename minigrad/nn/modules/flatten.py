"""Flatten the dimensions of a tensor between two layers."""

from __future__ import annotations

from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = ["Flatten"]


class Flatten(Module):
    """Make one dimension of several neighbors; by default of all but the first.

    Args:
        start_dim: The first dimension to flatten.
        end_dim: The last one.

    Shape:
        - input: (N, a, b, ...)
        - output: (N, a * b * ...) with the defaults

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
        torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Flatten the input."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Give the range of dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
