"""Call the products of matrices, and the losses, as functions and methods."""

from __future__ import annotations

from typing import Any

from minigrad.ops import elementwise, factors, linear_algebra, losses
from minigrad.ops.calling import shaping
from minigrad.ops.calling.arguments import check_tensor
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


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, as `input @ other` does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    check_tensor("matmul", input)
    check_tensor("matmul", other, "other", 2)
    return linear_algebra.matmul(input, other)


linear = linear_algebra.linear


def _checked(check: Any, operation: Any) -> Any:
    """Let a product of fixed numbers of dimensions check its factors."""

    def product(input: Tensor, other: Tensor) -> Tensor:
        check(input._array, other._array)
        return operation(input, other)  # type: ignore[no-any-return]

    product.__name__ = operation.__name__
    product.__doc__ = operation.__doc__
    return product


mm = _checked(factors.check_mm, linear_algebra.mm)
mv = _checked(factors.check_mv, linear_algebra.mv)
dot = _checked(factors.check_dot, linear_algebra.dot)
bmm = _checked(factors.check_bmm, linear_algebra.bmm)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Multiply matrices and add a bias: `beta * input + alpha * (mat1 @ mat2)`.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    factors.check_addmm(input._array, mat1._array, mat2._array)
    if alpha == 1 and beta == 1:
        return linear_algebra.addmm(input, mat1, mat2)  # type: ignore[no-any-return]
    return linear_algebra.addmm_scaled(input, mat1, mat2, beta, alpha)  # type: ignore[no-any-return]


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
