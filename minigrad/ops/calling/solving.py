"""Call inverses, and solutions of systems of linear equations."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.ops import shape, solving
from minigrad.ops.calling.matrices import (
    check_argument,
    check_floating,
    check_kernel,
    check_square,
    refuse_singular,
    refuse_unsolvable,
    return_type,
    zero_pivots,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.factors import differ
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Tensor, wrap

__all__ = ["inverse"]

_inv_ex = return_type("linalg_inv_ex", "inverse", "info")
_solve_ex = return_type("linalg_solve_ex", "result", "info")


def _inverted(function: str, A: Any) -> tuple[Tensor, Any]:
    check_argument(function, A)
    check_square("linalg.inv", A)
    check_floating("linalg.inv", A, low=False)
    result = solving.inv(A)
    return result, zero_pivots(A._array, result._array)


@with_out
def inv(A: Tensor) -> Tensor:
    r"""Invert square matrices.

    Args:
        A: Of shape (..., n, n).

    Returns:
        :math:`A^{-1}`, of the same shape.

    Raises:
        LinAlgError: If a matrix is singular.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    result, info = _inverted("linalg_inv", A)
    refuse_singular("linalg.inv", info)
    return result


@functools.partial(with_out, name="linalg_inv_ex")
def inverse(input: Tensor) -> Tensor:
    """Invert square matrices: `linalg.inv` under its older name."""
    check_argument("inverse", input, "input")
    result, info = _inverted("inverse", input)
    refuse_singular("linalg.inv", info)
    return result


@with_out
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Invert, and say for each matrix at which pivot it is singular (0: it is not)."""
    result, info = _inverted("linalg_inv_ex", A)
    if check_errors:
        refuse_singular("linalg.inv_ex", info)
    return _inv_ex(result, wrap(info))


# ---------------------------------------------------------------------- linear systems


def batches_meet(A: Tensor, B: Tensor) -> None:
    """Raise if two batches do not broadcast."""
    try:
        np.broadcast_shapes(A._array.shape[:-2], B._array.shape[:-2])
    except ValueError:
        raise broadcast_error(B._array.shape[:-2], A._array.shape[:-2]) from None


def _check_fit(name: str, A: Tensor, B: Any, left: bool) -> None:
    """Raise if A X = B, or X A = B, makes no sense."""
    a, b = A._array.shape, B
    if a[-1] != (b[-2] if left else b[-1]):
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )


def _solved(A: Any, B: Any, left: bool) -> tuple[Tensor, Any]:
    check_argument("linalg_solve", A)
    check_argument("linalg_solve", B, "B", 2)
    a, b = A._array, B._array
    check_square("linalg.solve", A)
    check_floating("linalg.solve", A)
    check_kernel("lu_cpu", A)
    if differ(a, b):
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{scalar_name(a)} and B of type {scalar_name(b)} instead"
        )
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    _check_fit("linalg.solve", A, (*b.shape, 1) if vector else b.shape, left)
    if vector and b.ndim == 1 and a.ndim > 2:
        B = shape.expand(B, a.shape[:-1])
    if not vector:
        batches_meet(A, B)
    result = solving.solve(A, B, left, vector)
    return result, zero_pivots(a, result._array)


@with_out
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    r"""Solve systems of linear equations.

    Args:
        A: Of shape (..., n, n).
        B: Of shape (..., n, k), or (..., n) for one right side each.
        left: Whether to solve :math:`A X = B`; else :math:`X A = B`, with B of shape (..., k, n).

    Returns:
        X, in the shape of B with the batches broadcast.

    Raises:
        LinAlgError: If a matrix is singular.
        RuntimeError: If shapes do not fit, or dtypes differ.

    Example:
        >>> import minigrad as torch
        >>> A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> torch.linalg.solve(A, torch.tensor([4.0, 8.0]))
        tensor([1., 2.])
    """
    result, info = _solved(A, B, left)
    refuse_unsolvable("torch.linalg.solve", info)
    return result


@with_out
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """Solve, and say for each matrix at which pivot it is singular (0: it is not)."""
    result, info = _solved(A, B, left)
    if check_errors:
        refuse_unsolvable("torch.linalg.solve_ex", info)
    return _solve_ex(result, wrap(info))


@with_out
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    r"""Solve systems whose matrix is triangular; the other triangle is not read.

    Args:
        A: Of shape (..., n, n).
        B: Of shape (..., n, k).
        upper: Whether A is an upper triangle.
        left: Whether to solve :math:`A X = B`; else :math:`X A = B`.
        unitriangular: Whether the diagonal of A is taken to be all ones.

    Example:
        >>> import minigrad as torch
        >>> A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> torch.linalg.solve_triangular(A, torch.tensor([[4.0], [8.0]]), upper=True)
        tensor([[1.],
                [2.]])
    """
    check_argument("linalg_solve_triangular", A)
    check_argument("linalg_solve_triangular", B, "B", 2)
    check_square("linalg.solve_triangular", A)
    if B._array.ndim < 2:
        raise RuntimeError(
            "linalg.solve_triangular: The input tensor B must have at least 2 dimensions."
        )
    _check_fit("linalg.solve_triangular", A, B._array.shape, left)
    batches_meet(A, B)
    check_kernel("triangular_solve_cpu", A)
    return solving.solve_triangular(A, B, upper, left, unitriangular)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- of more dimensions


@with_out
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Invert a tensor as a matrix: its first `ind` dimensions count rows, the others columns.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.tensorinv(torch.eye(6).reshape(2, 3, 6)).shape
        torch.Size([6, 2, 3])
    """
    check_argument("linalg_tensorinv", A)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, last = A._array.shape[:ind], A._array.shape[ind:]
    rows, columns = math.prod(first), math.prod(last)
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}"
        )
    return inv(A.reshape(rows, columns)).reshape(*last, *first)  # type: ignore[no-any-return]


@with_out
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """Solve A X = B where A is a tensor: its first dimensions are those of B.

    Args:
        A: The tensor; the sizes of B multiply to the product of its other sizes.
        B: The right side.
        dims: Dimensions of A to move to the end first.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.tensorsolve(torch.eye(6).reshape(2, 3, 6), torch.ones(2, 3))
        tensor([1., 1., 1., 1., 1., 1.])
    """
    check_argument("linalg_tensorsolve", A)
    check_argument("linalg_tensorsolve", B, "B", 2)
    if dims is not None:
        moved = [dim % A._array.ndim for dim in dims]
        A = A.permute(*(d for d in range(A._array.ndim) if d not in moved), *moved)
    split = B._array.ndim
    rows, last = B._array.size, A._array.shape[split:]
    if rows != math.prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {math.prod(last)} != {rows}"
        )
    return solve(A.reshape(rows, rows), B.reshape(-1)).reshape(*last)  # type: ignore[no-any-return]


methods: dict[str, Any] = {"inverse": inverse}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


functions: dict[Any, Any] = {
    np.linalg.inv: inv,
    np.linalg.solve: lambda a, b: solve(_tensor(a), _tensor(b)),
}
