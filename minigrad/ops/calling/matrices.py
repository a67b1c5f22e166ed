"""Check matrices before linear algebra, and name its several results, as PyTorch does."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from minigrad.autograd.type_name import type_name
from minigrad.dtypes import scalar_name
from minigrad.ops.elimination import bad_minor, zero_pivot
from minigrad.ops.meeting import quietly
from minigrad.tensor import Tensor


class _LinAlgError(RuntimeError):
    """A matrix is singular, or not positive-definite, or an algorithm did not converge."""


LinAlgError = _LinAlgError


def return_type(name: str, *fields: str) -> Any:
    """Make a named tuple for several results; it prints as PyTorch prints it.

    Args:
        name: Its name.
        *fields: The names of the results.
    """

    def written(results: Any) -> str:
        pairs = zip(fields, results, strict=True)
        listed = ",\n".join(f"{field}={value!r}" for field, value in pairs)
        return f"torch.return_types.{name}(\n{listed})"

    base = namedtuple(name, fields)  # type: ignore[misc]
    return type(name, (base,), {"__slots__": (), "__repr__": written})


def check_argument(function: str, value: Any, argument: str = "A", position: int = 1) -> None:
    """Raise if an argument that must be a tensor is none."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be Tensor, not "
            f"{type_name(value)}"
        )


def check_number(function: str, value: Any, argument: str, position: int) -> None:
    """Raise if an argument that must be a whole number is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be int, not "
            f"{type_name(value)}"
        )


def check_matrix(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raise if a tensor has less than two dimensions."""
    if tensor._array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(name: str, tensor: Tensor, argument: str = "A") -> None:
    """Raise if a tensor is no batch of square matrices."""
    check_matrix(name, tensor, argument)
    rows, columns = tensor._array.shape[-2:]
    if rows != columns:
        start = f"{name}: " if name else ""
        raise RuntimeError(
            f"{start}{argument} must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices"
        )


def check_floating(name: str, tensor: Tensor, low: bool = True) -> None:
    """Raise if entries are no floating-point or complex numbers, or have too few bits."""
    dtype = tensor._array.dtype
    if dtype.kind in "iub":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(tensor._array)}"
        )
    if not low and dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def check_kernel(kernel: str, tensor: Tensor) -> None:
    """Raise if LAPACK has no such routine for a type of numbers."""
    dtype = tensor._array.dtype
    if dtype.kind in "iub" or (dtype.kind == "f" and dtype.itemsize == 2):
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{scalar_name(tensor._array)}'"
        )


@quietly
def zero_pivots(matrices: Any, results: Any) -> Any:
    """Tell for each matrix of a batch at which pivot it is singular; 0 if it is not.

    Args:
        matrices: An array of matrices.
        results: What was computed; where all of it is finite, no matrix was singular.
    """
    batch = matrices.shape[:-2]
    info = np.zeros(batch, np.int32)
    if not np.isfinite(results).all():
        for place in np.ndindex(batch):
            info[place] = zero_pivot(matrices[place])
    return info


def bad_minors(matrices: Any) -> Any:
    """Tell for each matrix of a batch which leading minor is not positive; 0 if all are."""
    batch = matrices.shape[:-2]
    info = np.zeros(batch, np.int32)
    for place in np.ndindex(batch):
        info[place] = bad_minor(matrices[place])
    return info


def _first(info: Any) -> tuple[str, int]:
    """Give the number of the first matrix that failed, in words, and what it has failed at."""
    places = np.flatnonzero(info)
    batch = f"(Batch element {places[0]}): " if info.ndim else ""
    return batch, int(info.reshape(-1)[places[0]])


def refuse_singular(name: str, info: Any) -> None:
    """Raise if a matrix that was to be inverted is singular."""
    if info.any():
        batch, place = _first(info)
        raise _LinAlgError(
            f"{name}: {batch}The diagonal element {place} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )


def refuse_unsolvable(name: str, info: Any) -> None:
    """Raise if a system has no single solution."""
    if info.any():
        batch, _ = _first(info)
        raise _LinAlgError(
            f"{name}: {batch}The solver failed because the input matrix is singular."
        )


def refuse_indefinite(name: str, info: Any) -> None:
    """Raise if a matrix is not positive-definite."""
    if info.any():
        batch, order = _first(info)
        raise _LinAlgError(
            f"{name}: {batch}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        )
