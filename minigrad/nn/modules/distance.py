"""Compare vectors: their distances and angles, as modules."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    r"""The distance of vectors, $\|x_1 - x_2 + \epsilon\|_p$ along the last dimension.

    Args:
        p: The order of the norm.
        eps: Is added to the difference, so that the norm has a gradient where they are equal.
        keepdim: Keep the last dimension, with size 1.

    Shape:
        - x1 and x2: (N, D), or (D,)
        - output: (N,), or ()

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PairwiseDistance(p=1)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor(7.0000)
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compute the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    r"""The cosine of the angle of vectors, $x_1 \cdot x_2 / (\|x_1\| \|x_2\|)$.

    Args:
        dim: The dimension along which the vectors lie.
        eps: The least that a norm counts as.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.CosineSimilarity(dim=0)(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(0.6000)
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compute the cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
