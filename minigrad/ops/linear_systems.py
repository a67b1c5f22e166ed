r"""Inverses, solutions of linear systems, and derivatives.

All matrices may come in batches. With :math:`G` the gradient of the result, the formulas are those
of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); conventions about symmetric matrices are PyTorch's.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face
from minigrad.faces.arguments import not_implemented
from minigrad.ops import shape
from minigrad.ops.triangular import tril, triu
from minigrad.ops.type_promotion import broadcast_shape, differ


def linalg(schema: str, **options: Any) -> Any:
    """Give a body its face in `minigrad.linalg`; see `minigrad.faces.face`."""
    return face(f"linalg_{schema}", out="none", function=False, method=False, **options)


def mT(matrix: Any) -> Any:
    """Transpose each matrix of a batch."""
    return np.swapaxes(matrix, -2, -1)


def column_major(matrix: Any) -> Any:
    """Lay matrices out in memory column by column, as LAPACK gives them and PyTorch keeps them."""
    if type(matrix) is not np.ndarray:
        return matrix
    return mT(np.ascontiguousarray(mT(matrix)))


# ---------------------------------------------------------------------- what does not fit


class _LinAlgError(RuntimeError):
    """A matrix is singular, or an algorithm did not converge."""


LinAlgError = _LinAlgError


def check_matrix(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raise if a tensor has less than two dimensions."""
    if tensor._array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(name: str, tensor: Tensor) -> None:
    """Raise if a tensor is no batch of square matrices."""
    check_matrix(name, tensor)
    rows, columns = tensor._array.shape[-2:]
    if rows != columns:
        told = f"{rows} by {columns} matrices"
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {told}")


def check_floating(name: str, tensor: Tensor, low: bool = True) -> None:
    """Raise if entries are no floating-point or complex numbers, or have too few bits."""
    dtype = tensor._array.dtype
    if dtype.kind in "iub":
        told = f"a floating point or complex tensor as input. Got {scalar_name(tensor._array)}"
        raise RuntimeError(f"{name}: Expected {told}")
    if not low and dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def check_kernel(kernel: str, tensor: Tensor) -> None:
    """Raise if LAPACK has no such routine for a type of numbers."""
    dtype = tensor._array.dtype
    if dtype.kind in "iub" or (dtype.kind == "f" and dtype.itemsize == 2):
        raise not_implemented(kernel, tensor._array)


def check(name: str, tensor: Tensor, kernel: str, square: bool = True) -> None:
    """Raise if a tensor is no batch of matrices that a routine of LAPACK takes."""
    (check_square if square else check_matrix)(name, tensor)
    check_floating(name, tensor)
    check_kernel(kernel, tensor)


def _zero_pivot(matrix: Any) -> int:
    """Tell which column depends on those before it, counted from 1; 0 if none does.

    That is where elimination meets a pivot of 0.
    """
    if not np.isfinite(matrix).all():
        return 0
    counts = range(1, len(matrix) + 1)
    return next((n for n in counts if np.linalg.matrix_rank(matrix[:, :n]) < n), 0)


def _computed(name: str, compute: Any, matrices: Any, text: str) -> Any:
    """Compute something of regular matrices, or say which of them is singular.

    Args:
        name: The function.
        compute: What gives the result, or raises NumPy's error.
        matrices: The batch.
        text: What to say, with a place for the row where a matrix fails.
    """
    result = None
    try:
        result = compute()
        if np.isfinite(result._array).all():
            return result
    except np.linalg.LinAlgError:
        pass
    for number, place in enumerate(np.ndindex(matrices.shape[:-2])):
        row = _zero_pivot(matrices[place])
        if row:
            batch = f"(Batch element {number}): " if place else ""
            raise _LinAlgError(f"{name}: {batch}{text.format(row)}")
    if result is None:
        raise _LinAlgError(f"{name}: {text.format(matrices.shape[-1])}")
    return result


def of_regular(compute: Any, matrices: Any) -> Any:
    """Compute something, NaN of singular matrices: no error in PyTorch, unless it is recorded."""
    try:
        return compute(matrices)
    except np.linalg.LinAlgError:
        if isinstance(matrices, Tensor):
            solved(matrices, matrices)
        singular = np.linalg.slogdet(matrices)[0] == 0
        return compute(np.where(singular[..., None, None], np.nan, matrices))


# ---------------------------------------------------------------------- inverses


@differentiable(
    "LinalgInvExBackward0", self=lambda grad, result: -(mT(result) @ (grad @ mT(result)))
)
@quietly
def inv(self: Array) -> Array:
    r"""Inverse: :math:`-A^{-\top} G A^{-\top}` (Giles, 2.2.3)."""
    return column_major(np.linalg.inv(self))


@face("inverse(Tensor input, *, out=None)", out="none")
@linalg("inv(Tensor A, *, out=None)", numpy=np.linalg.inv)
def inverted(A: Tensor) -> Tensor:
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
    check_square("linalg.inv", A)
    check_floating("linalg.inv", A, low=False)
    text = (
        "The diagonal element {} is zero, the inversion could not be completed because the "
        "input matrix is singular."
    )
    return _computed("linalg.inv", lambda: inv(A), A._array, text)


# ---------------------------------------------------------------------- linear systems


def _solve_right(grad: Any, A: Any, vector: bool) -> Any:
    if vector:
        return np.squeeze(applied(solve, mT(A), np.expand_dims(grad, -1), False), -1)
    return applied(solve, mT(A), grad, False)


def _solve_left(grad: Any, A: Any, result: Any, vector: bool) -> Any:
    if vector:
        grad, result = np.expand_dims(grad, -1), np.expand_dims(result, -1)
    return -(applied(solve, mT(A), grad, False) @ mT(result))


@differentiable("LinalgSolveExBackward0", broadcasts=True, A=_solve_left, B=_solve_right)
@quietly
def solve(A: Array, B: Array, vector: bool) -> Array:
    r"""Solution of :math:`A X = B`: :math:`G_B = A^{-\top} G`, :math:`G_A = -G_B X^\top`."""
    if vector:
        return solve.forward(A, np.expand_dims(B, -1), False)[..., 0]
    return column_major(np.linalg.solve(A, B))


@linalg("solve(Tensor A, Tensor B, *, out=None)", numpy=np.linalg.solve)
def solved(A: Tensor, B: Tensor) -> Tensor:
    r"""Solve systems of linear equations.

    Args:
        A: Of shape (..., n, n).
        B: Of shape (..., n, k), or (..., n) for one right side each.

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
    a, b = A._array, B._array
    check("linalg.solve", A, "lu_cpu")
    if differ(a, b):
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{scalar_name(a)} and B of type {scalar_name(b)} instead"
        )
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    if vector and b.ndim == 1 and a.ndim > 2 and b.shape == a.shape[-1:]:
        B = shape.expand(B, a.shape[:-1])
    rows, columns = B._array.shape[-1 if vector else -2], 1 if vector else b.shape[-1]
    if a.shape[-1] != rows:
        raise RuntimeError(
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
            f"({a.shape[-2]}x{a.shape[-1]} and {rows}x{columns})"
        )
    broadcast_shape(B._array.shape[: -1 if vector else -2], a.shape[:-2])
    text = "The solver failed because the input matrix is singular."
    return _computed("torch.linalg.solve", lambda: solve(A, B, vector), a, text)


def _triangular_right(grad: Any, A: Any, upper: bool) -> Any:
    return applied(solve_triangular, mT(A), grad, not upper)


def _triangular_left(grad: Any, A: Any, result: Any, upper: bool) -> Any:
    whole = -(mT(result) @ _triangular_right(grad, A, upper))
    return applied(triu if upper else tril, whole, 0)


@differentiable(
    "LinalgSolveTriangularBackward0", broadcasts=True, A=_triangular_left, B=_triangular_right
)
@quietly
def solve_triangular(A: Array, B: Array, upper: bool) -> Array:
    r"""Solution of :math:`X A = B` for a triangular A, whose gradient has that triangle only."""
    triangle = mT(np.triu(A) if upper else np.tril(A))
    return mT(of_regular(lambda a: np.linalg.solve(a, mT(B)), triangle))
