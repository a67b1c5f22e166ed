"""Map vectors linearly."""

from __future__ import annotations

from minigrad.nn.functional.refusing import not_a_tensor
from minigrad.ops import linear_algebra
from minigrad.ops.calling.measuring import bilinear
from minigrad.tensor import Tensor

__all__ = [
    "bilinear",
    "linear",
]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Map vectors affinely: $y = x W^\top + b$.

    A matrix with a bias becomes one `addmm`, over the transposed weight; anything else contiguous
    is viewed as a matrix first and viewed back after. These are the nodes one meets in the graph.

    Args:
        input: The vectors.
        weight: The matrix $W$.
        bias: The vector $b$, or None.

    Returns:
        The mapped vectors.

    Raises:
        RuntimeError: If the shapes do not fit together, or the input has no dimension.

    Shape:
        - input: (..., in_features)
        - weight: (out_features, in_features)
        - bias: (out_features,)
        - output: (..., out_features)

    Example:
        >>> import minigrad as torch
        >>> weight = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
        >>> torch.nn.functional.linear(torch.tensor([1.0, 1.0]), weight)
        tensor([3., 1., 3.])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("linear", input)
    if not input._array.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are 0D and {weight.ndim}D"
        )
    return linear_algebra.linear(input, weight, bias)
