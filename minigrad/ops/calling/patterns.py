"""Call indices of triangles, matrices of powers, and adjoints."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.ops import joining, shape
from minigrad.ops.calling.arguments import cast
from minigrad.ops.calling.matrices import check_argument, check_number
from minigrad.tensor import Tensor, wrap

__all__ = ["adjoint", "tril_indices", "triu_indices", "vander"]


def _indices(name: str, numbers: Any) -> Any:
    def indices(
        row: int,
        col: int,
        offset: int = 0,
        *,
        dtype: Any = None,
        device: Any = None,
        layout: Any = None,
        pin_memory: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        check_number(name, row, "row", 1)
        check_number(name, col, "col", 2)
        for what, size in (("row", row), ("col", col)):
            if size < 0:
                raise RuntimeError(f"{what} must be non-negative, got{size}")
        kind = np.dtype(np.int64) if dtype is None else dtype.numpy
        if kind.kind not in "iu":
            raise NotImplementedError(
                f"\"{name}\" not implemented for '{scalar_name(np.empty(0, kind))}'"
            )
        return wrap(np.stack(numbers(row, offset, col)).astype(kind))

    indices.__name__ = name
    indices.__doc__ = f"""Give the rows and columns of the entries of a triangle.

    Args:
        row: The number of rows of the matrix.
        col: The number of its columns.
        offset: The diagonal at which the triangle ends.
        dtype: The type of the indices; by default int64.
        device: None or "cpu".
        layout: Changes nothing.
        pin_memory: Changes nothing.
        requires_grad: Indices have no gradient.

    Returns:
        Of shape (2, count): the rows, and the columns.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(2, 2)
        tensor([[0, {0 if name == "triu_indices" else 1}, 1],
                [0, {1 if name == "triu_indices" else 0}, 1]])
    """
    return indices


tril_indices = _indices("tril_indices", np.tril_indices)
triu_indices = _indices("triu_indices", np.triu_indices)


def _powers(x: Tensor, count: int) -> Tensor:
    """Give the powers of entries from 0 on, in a new last dimension."""
    ones = wrap(np.ones_like(x._array))
    powers = [ones, x][:count]
    while len(powers) < count:
        powers.append(powers[-1] * x)
    return joining.stack(powers, x._array.ndim)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Give the powers of a vector's entries, the highest first, as rows of a matrix.

    Args:
        x: A vector.
        N: The number of columns; by default that of the entries.
        increasing: Whether the lowest power comes first.

    Example:
        >>> import minigrad as torch
        >>> torch.vander(torch.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """
    check_argument("vander", x, "x")
    if x._array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = len(x._array) if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if x._array.dtype.kind in "iub":
        x = cast(x, np.dtype(np.int64))
    if not count:
        return wrap(np.zeros((len(x._array), 0), x._array.dtype))
    result = _powers(x, count)
    return result if increasing else shape.flip(result, (1,))  # type: ignore[no-any-return]


def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Give the powers of entries, the lowest first, in a new last dimension."""
    check_argument("linalg_vander", x, "x")
    kind = x._array.dtype
    if kind.kind == "b" or (kind.kind == "f" and kind.itemsize == 2):
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{scalar_name(x._array)}"
        )
    last = x._array.shape[-1] if x._array.ndim else 1
    count = last if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    if kind.kind in "iu":
        x = cast(x, np.dtype(np.int64))
    return _powers(x, count)


# ---------------------------------------------------------------------- transposes


def _adjoint(input: Tensor, what: str) -> Tensor:
    ndim = input._array.ndim
    if ndim == 1:
        raise RuntimeError(
            f"tensor.{what} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if ndim == 0:
        name = what if what.endswith("()") else f"Tensor.{what}"
        warnings.warn(
            f"{name} is deprecated on 0-D tensors. Consider using x.conj().",
            UserWarning,
            stacklevel=3,
        )
        return input
    result: Tensor = shape.transpose(input, ndim - 2, ndim - 1)
    return wrap(result._array.conj()) if input._array.dtype.kind == "c" else result


def adjoint(input: Tensor) -> Tensor:
    """Transpose each matrix of a batch; complex numbers are conjugated."""
    return _adjoint(input, "adjoint()")


def _matrix_adjoint(input: Tensor) -> Tensor:
    if input._array.ndim not in (0, 2):
        advice = (
            " For batches of matrices, consider using tensor.mH" if input._array.ndim > 2 else ""
        )
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors). Got "
            f"{input._array.ndim}-D tensor.{advice}"
        )
    return _adjoint(input, "H")


methods: dict[str, Any] = {
    "H": property(_matrix_adjoint, doc="Transpose of a matrix, conjugated."),
    "adjoint": adjoint,
    "mH": property(lambda self: _adjoint(self, "mH"), doc="Adjoint of each matrix of a batch."),
}

functions: dict[Any, Any] = {
    np.vander: lambda x, N=None, increasing=False: vander(x, N, increasing),
}
