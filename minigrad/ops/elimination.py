"""Solve triangular systems, eliminate where a matrix is singular, and find out where it is."""

from __future__ import annotations

from typing import Any

import numpy as np


def substituted(matrix: Any, right: Any, upper: bool, unit: bool) -> Any:
    """Solve a triangular system by substitution; where the diagonal has a 0 come inf or NaN.

    Args:
        matrix: Of shape (..., n, n). The other triangle is not read, nor the diagonal if `unit`.
        right: Of shape (..., n, k).
        upper: Whether the upper triangle is the matrix; then the last row comes first.
        unit: Whether the diagonal is all ones.
    """
    size = matrix.shape[-1]
    if size > _FEW_ROWS and matrix.dtype.kind == "f":
        solved = _substituted_at_once(matrix, right, upper, unit)
        if solved is not None:
            return solved
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    result = np.zeros_like(right, shape=(*batch, *right.shape[-2:]))
    order = range(size - 1, -1, -1) if upper else range(size)
    for step, row in enumerate(order):
        value = right[..., row : row + 1, :]
        if step:
            known = slice(row + 1, None) if upper else slice(None, row)
            value = value - matrix[..., row : row + 1, known] @ result[..., known, :]
        if not unit:
            value = value / matrix[..., row : row + 1, row : row + 1]
        result[..., row : row + 1, :] = value
    return result


_FEW_ROWS = 8  # with more, LAPACK's elimination is quicker than a loop over the rows


def _halved(triangle: Any, right: Any) -> Any:
    """Solve for the lower half of the unknowns first, and put them into the upper half."""
    size = triangle.shape[-1]
    if size <= 4 * _FEW_ROWS:
        return np.linalg.solve(triangle, right)
    half = size // 2
    below = _halved(triangle[..., half:, half:], right[..., half:, :])
    known = triangle[..., :half, half:] @ below
    above = _halved(triangle[..., :half, :half], right[..., :half, :] - known)
    return np.concatenate([above, below], -2)


def _substituted_at_once(matrix: Any, right: Any, upper: bool, unit: bool) -> Any:
    """Let LAPACK eliminate what is triangular already, or give None if that finds no numbers.

    Of an upper triangle it makes no other one, and exchanges no rows; a lower one is turned over.
    """
    if not upper:
        matrix, right = matrix[..., ::-1, ::-1], right[..., ::-1, :]
    triangle = np.triu(matrix, 1 if unit else 0)
    if unit:
        place = range(matrix.shape[-1])
        triangle[..., place, place] = 1
    try:
        result = _halved(triangle, right)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(result).all():
        return None
    return result if upper else result[..., ::-1, :]


def factored_by_pivots(matrix: Any) -> tuple[Any, Any, Any]:
    """Factor one matrix as P A = L U, with the largest pivot of each column.

    Returns:
        The rows' order P; L below the diagonal and U on and above it, in one matrix; and P as
        LAPACK gives it: which row, counted from 1, each step exchanged with its own.
    """
    rest = np.array(matrix)
    rows, columns = rest.shape
    order = np.arange(rows)
    exchanged = np.arange(1, min(rows, columns) + 1, dtype=np.int32)
    for step in range(min(rows, columns)):
        pivot = step + int(np.argmax(np.abs(rest[step:, step])))
        exchanged[step] = pivot + 1
        if rest[pivot, step] == 0:
            continue
        for each in (rest, order):
            each[[step, pivot]] = each[[pivot, step]]
        rest[step + 1 :, step] /= rest[step, step]
        rest[step + 1 :, step + 1 :] -= rest[step + 1 :, step, None] * rest[step, step + 1 :]
    return order, rest, exchanged


def solved_by_elimination(matrix: Any, right: Any) -> Any:
    """Solve linear systems of which some are singular: those get infinities and NaNs."""
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    matrix = np.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    result = np.empty(right.shape, right.dtype)
    for place in np.ndindex(batch):
        order, factors, _ = factored_by_pivots(matrix[place])
        lower = substituted(factors, right[place][order], upper=False, unit=True)
        result[place] = substituted(factors, lower, upper=True, unit=False)
    return result


def zero_pivot(matrix: Any) -> int:
    """Tell which diagonal entry of U in P A = L U is 0, counted from 1; 0 if none is."""
    _, factors, _ = factored_by_pivots(matrix)
    zeros = np.flatnonzero(factors.diagonal() == 0)
    return int(zeros[0]) + 1 if zeros.size else 0


def bad_minor(matrix: Any) -> int:
    """Tell the order of the first leading minor that is not positive-definite; 0 if all are."""
    for order in range(1, len(matrix) + 1):
        try:
            factor = np.linalg.cholesky(matrix[:order, :order])
        except np.linalg.LinAlgError:
            return order
        if not (factor.diagonal().real > 0).all():
            return order
    return 0
