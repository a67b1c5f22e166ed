"""Invert and factor matrices of symbols by the textbook's formulas: what LAPACK does for numbers.

They are Laplace's expansion of the determinant, the adjugate, and Cholesky's factor row by row:
exact, and meant for small matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.determinants import nearly_zero
from minigrad.ops.matrix_functions import pseudoinverse
from minigrad.symbolic.array import SymbolicArray, entries, symbolic


def _without(matrix: Any, row: int, column: int) -> Any:
    """Leave out a row and a column."""
    rows = [r for r in range(matrix.shape[-2]) if r != row]
    columns = [c for c in range(matrix.shape[-1]) if c != column]
    return matrix[..., rows, :][..., columns]


def determinant(matrix: Any) -> Any:
    """Expand a determinant along its first row.

    Example:
        >>> import sympy
        >>> a, b, c, d = sympy.symbols("a b c d")
        >>> determinant(SymbolicArray([[a, b], [c, d]]))
        SymbolicArray(a*d - b*c)
    """
    size = matrix.shape[-1]
    if not size:
        return np.ones_like(matrix, shape=matrix.shape[:-2])
    if size == 1:
        return matrix[..., 0, 0]
    total = matrix[..., 0, 0] * determinant(_without(matrix, 0, 0))
    for column in range(1, size):
        term = matrix[..., 0, column] * determinant(_without(matrix, 0, column))
        total = total - term if column % 2 else total + term
    return total


def _adjugate(matrix: Any) -> Any:
    """Give the transposed matrix of cofactors; over the determinant it is the inverse."""
    size = matrix.shape[-1]
    result = np.zeros_like(matrix)
    for row in range(size):
        for column in range(size):
            minor = determinant(_without(matrix, row, column))
            result[..., column, row] = -minor if (row + column) % 2 else minor
    return result


def inverse(matrix: Any) -> Any:
    """Invert a matrix: its adjugate over its determinant.

    Example:
        >>> import sympy
        >>> a, b = sympy.symbols("a b")
        >>> inverse(SymbolicArray([[a, b], [0, 1]]))
        SymbolicArray([[1/a, -b/a], [0, 1]])
    """
    return _adjugate(matrix) / determinant(matrix)[..., None, None]


def _solution(a: Any, b: Any) -> Any:
    return inverse(symbolic(entries(a))) @ b


def _sign_and_logarithm(a: Any) -> tuple[Any, Any]:
    found = determinant(a)
    return np.sign(found), np.log(np.abs(found))


def cholesky_factor(matrix: Any) -> Any:
    """Factor a positive-definite matrix as L L^T, row by row.

    Example:
        >>> import sympy
        >>> a = sympy.Symbol("a", positive=True)
        >>> cholesky_factor(SymbolicArray([[a**2, a], [a, 2]]))
        SymbolicArray([[a, 0], [1, 1]])
    """
    size = matrix.shape[-1]
    result = np.zeros_like(matrix)
    for row in range(size):
        for column in range(row + 1):
            value = matrix[..., row, column]
            for k in range(column):
                value = value - result[..., row, k] * result[..., column, k]
            if row == column:
                result[..., row, column] = np.sqrt(value)
            else:
                result[..., row, column] = value / result[..., column, column]
    return result


def _pseudoinverse(matrix: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """Give the pseudoinverse of a matrix of full rank: no symbol is too small to count."""
    turned = np.swapaxes(matrix, -1, -2)
    if matrix.shape[-2] >= matrix.shape[-1]:
        return inverse(turned @ matrix) @ turned
    return turned @ inverse(matrix @ turned)


SymbolicArray._functions.update(
    {
        np.linalg.cholesky: cholesky_factor,
        np.linalg.det: determinant,
        np.linalg.inv: inverse,
        np.linalg.slogdet: _sign_and_logarithm,
        np.linalg.solve: _solution,
        nearly_zero: lambda values: np.zeros(values.shape, bool),
        pseudoinverse: _pseudoinverse,
    }
)
