"""Flatten the dimensions of a tensor between two layers, or take one apart."""

from __future__ import annotations

from typing import Any

from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = ["Flatten", "Unflatten"]


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


class Unflatten(Module):
    """Make several dimensions of one.

    Args:
        dim: The dimension.
        unflattened_size: The sizes that it is split into; one of them may be -1.

    Raises:
        TypeError: If the sizes are no integers.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Unflatten(1, (2, 3))(torch.ones(4, 6)).shape
        torch.Size([4, 2, 3])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Split the dimension."""
        result: Tensor = input.unflatten(self.dim, self.unflattened_size)
        return result

    def extra_repr(self) -> str:
        """Give the dimension and its sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
