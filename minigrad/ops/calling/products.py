"""Call the products of matrices, and the losses, as functions and methods."""

from __future__ import annotations

from typing import Any

from minigrad.ops import elementwise, linear_algebra, losses
from minigrad.ops.calling import arithmetic, shaping
from minigrad.tensor import Tensor

__all__ = [
    "addmm",
    "bmm",
    "dot",
    "linear",
    "matmul",
    "mm",
    "mse_loss",
    "mv",
    "nll_loss",
    "outer",
]


matmul = linear_algebra.matmul
linear = linear_algebra.linear
mm, mv, dot, bmm = (
    linear_algebra.matmul_of(2, 2, "mm"),
    linear_algebra.matmul_of(2, 1, "mv"),
    linear_algebra.matmul_of(1, 1, "dot"),
    linear_algebra.matmul_of(3, 3, "bmm"),
)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Multiply matrices and add a bias: `beta * input + alpha * (mat1 @ mat2)`."""
    linear_algebra.check_product(mat1._array, mat2._array, input._array)
    if alpha != 1:
        mat1 = arithmetic.mul(mat1, alpha)
    if beta != 1:
        input = arithmetic.mul(input, beta)
    return linear_algebra.addmm(input, mat1, mat2)  # type: ignore[no-any-return]


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each entry of one vector by each of another."""
    return elementwise.mul(shaping.view(input, (-1, 1)), vec2)  # type: ignore[no-any-return]


_reductions = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name: str) -> int:
    if name not in _reductions:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _reductions[name]


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Give the mean (or the sum, or each) of the squared differences."""
    return losses.mse_loss(input, target, _reduction(reduction))  # type: ignore[no-any-return]


def nll_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Give the mean (or the sum, or each) of the negative log-likelihoods of the targets."""
    return losses.nll_loss(input, target, _reduction(reduction))  # type: ignore[no-any-return]
