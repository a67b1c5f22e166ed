"""Call Cholesky factors of positive-definite matrices, and what is solved with their help."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.ops import shape, solving
from minigrad.ops.calling.matrices import (
    bad_minors,
    check_argument,
    check_floating,
    check_kernel,
    check_square,
    refuse_indefinite,
    refuse_singular,
    return_type,
)
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.solving import batches_meet
from minigrad.tensor import Tensor, wrap

__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve"]

_cholesky_ex = return_type("linalg_cholesky_ex", "L", "info")


def _factored(operation: Any, name: str, A: Tensor, upper: bool) -> Tensor:
    array = A._array
    try:
        result: Tensor = operation(A, upper)
    except np.linalg.LinAlgError:
        refuse_indefinite(name, bad_minors(np.swapaxes(array, -1, -2) if upper else array))
        raise
    if not np.isfinite(result._array).all():
        refuse_indefinite(name, bad_minors(np.swapaxes(array, -1, -2) if upper else array))
    return result


@with_out
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    r"""Factor positive-definite matrices as :math:`L L^\top`, with a lower triangle L.

    Args:
        A: Of shape (..., n, n), symmetric; only its lower triangle is read (the upper one if
            `upper`). Its gradient is symmetric.
        upper: Whether to give the transpose of L.

    Raises:
        LinAlgError: If a matrix is not positive-definite.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """
    check_argument("linalg_cholesky", A)
    check_square("linalg.cholesky", A)
    check_floating("linalg.cholesky", A)
    check_kernel("cholesky_cpu", A)
    return _factored(solving.cholesky, "linalg.cholesky", A, upper)


@with_out
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Factor, and say for each matrix which leading minor is not positive (0: all are).

    Raises:
        LinAlgError: If a matrix is not positive-definite, and errors are to be checked.
        NotImplementedError: If one is not and errors are not checked, but a gradient is needed.
    """
    check_argument("linalg_cholesky_ex", A)
    check_square("linalg.cholesky", A)
    check_floating("linalg.cholesky", A)
    check_kernel("cholesky_cpu", A)
    array = A._array
    info = bad_minors(np.swapaxes(array, -1, -2) if upper else array)
    if check_errors:
        refuse_indefinite("linalg.cholesky_ex", info)
    if not info.any():
        return _cholesky_ex(solving.cholesky(A, upper), wrap(info))
    if A.requires_grad:
        raise NotImplementedError(
            "cholesky_ex has no gradient here where a matrix is not positive-definite. Call it on "
            "A.detach(), or with check_errors=True."
        )
    factors = np.empty_like(array)
    for place in np.ndindex(array.shape[:-2]):
        matrix = array[place].T if upper else array[place]
        factors[place] = _as_far_as_possible(matrix, int(info[place]))
    return _cholesky_ex(wrap(np.swapaxes(factors, -1, -2) if upper else factors), wrap(info))


def _as_far_as_possible(matrix: Any, stop: int) -> Any:
    """Factor a matrix column by column, up to a leading minor that is not positive."""
    factor = np.tril(matrix)
    with np.errstate(all="ignore"):
        for step in range(len(matrix) if not stop else stop - 1):
            factor[step, step] = np.sqrt(factor[step, step])
            factor[step + 1 :, step] /= factor[step, step]
            column = factor[step + 1 :, step]
            factor[step + 1 :, step + 1 :] -= np.tril(np.multiply.outer(column, column))
    return factor


@with_out
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Factor positive-definite matrices: `linalg.cholesky` under its older name.

    Raises:
        LinAlgError: If a matrix is not positive-definite.
    """
    warnings.warn(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
        "future PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\nL = "
        "torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be replaced "
        "with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results "
        "for all valid (symmetric positive definite) inputs.",
        UserWarning,
        stacklevel=3,
    )
    check_argument("cholesky", input, "input")
    if not input._array.size and input._array.ndim >= 2:
        return shape.clone(input)  # type: ignore[no-any-return]
    check_square("cholesky", input)
    check_kernel("cholesky_cpu", input)
    return _factored(solving.cholesky_old, "cholesky", input, upper)


@with_out
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    r"""Solve :math:`A X = B` where the Cholesky factor of A is known.

    Args:
        input: B, of shape (..., n, k).
        input2: The factor L, of shape (..., n, n).
        upper: Whether it is the upper triangle.

    Example:
        >>> import minigrad as torch
        >>> L = torch.tensor([[2.0, 0.0], [1.0, 2.0]])
        >>> torch.cholesky_solve(torch.tensor([[8.0], [14.0]]), L)
        tensor([[0.7500],
                [2.5000]])
    """
    check_argument("cholesky_solve", input, "input")
    check_argument("cholesky_solve", input2, "input2", 2)
    for name, tensor in (("b", input), ("u", input2)):
        if tensor._array.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {tensor._array.ndim} "
                "dimensions instead"
            )
    check_square("", input2)
    b, factor = input._array.shape, input2._array.shape
    if b[-2] != factor[-1]:
        raise RuntimeError(
            "Incompatible matrix sizes for cholesky_solve: each A matrix is "
            f"{factor[-1]} by {factor[-1]} but each b matrix is {b[-2]} by {b[-1]}"
        )
    batches_meet(input, input2)
    check_kernel("cholesky_solve_cpu", input)
    return solving.cholesky_solve(input, input2, upper)  # type: ignore[no-any-return]


@with_out
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """Invert positive-definite matrices whose Cholesky factors are known.

    Raises:
        LinAlgError: If a factor has a 0 on its diagonal.
    """
    check_argument("cholesky_inverse", input, "input")
    check_square("cholesky_inverse", input)
    check_kernel("cholesky_inverse_out_cpu", input)
    zeros = input._array.diagonal(0, -2, -1) == 0
    refuse_singular(
        "cholesky_inverse",
        np.where(zeros.any(-1), zeros.argmax(-1) + 1, 0)
        if zeros.shape[-1]
        else np.zeros(zeros.shape[:-1], int),
    )
    return solving.cholesky_inverse(input, upper)  # type: ignore[no-any-return]


methods: dict[str, Any] = {
    "cholesky": cholesky,
    "cholesky_inverse": cholesky_inverse,
    "cholesky_solve": cholesky_solve,
}


def _numpy_cholesky(a: Tensor, /, *, upper: bool = False) -> Tensor:
    return linalg_cholesky(a, upper=upper)  # type: ignore[no-any-return]


functions: dict[Any, Any] = {np.linalg.cholesky: _numpy_cholesky}
