"""Differentiate a function by its backward rules; each pass runs twice, to compare the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.gradcheck.differences import Array, Subject
from minigrad.autograd.gradcheck.messages import NOT_REENTRANT, GradcheckError
from minigrad.autograd.gradients import grad
from minigrad.core.tensor import wrap_as_normal


def jacobians(
    subject: Subject, output: Any, nondet_tol: float, check_grad_dtypes: bool
) -> list[Array]:
    """Compute the Jacobian of one output with respect to each input, a column for a backward pass.

    Args:
        subject: The function and its inputs.
        output: One of its outputs; the graph that leads to it is kept.
        nondet_tol: How much two runs of the same backward pass may differ.
        check_grad_dtypes: Whether each gradient must have the dtype of its input.

    Returns:
        For each input that requires a gradient an array with a row for each of its entries and a
        column for each entry of the output.

    Raises:
        GradcheckError: If two runs differ, or a gradient has the wrong shape or dtype.
    """
    return _in_columns(
        subject, output, lambda: _basis(output), output._array.size, nondet_tol, check_grad_dtypes
    )


def gradients(
    subject: Subject, output: Any, weights: Array, nondet_tol: float, check_grad_dtypes: bool
) -> list[Array]:
    """Compute the gradient of a weighted sum of one output's entries, flattened, for each input."""
    cotangent = weights.reshape(output._array.shape)
    columns = _in_columns(
        subject, output, lambda: iter([cotangent]), 1, nondet_tol, check_grad_dtypes
    )
    return [column[:, 0] for column in columns]


def _basis(output: Any) -> Iterator[Array]:
    """Give a cotangent for each entry of an output: 1 there, 0 elsewhere."""
    for place in np.ndindex(output._array.shape):
        unit = np.zeros(output._array.shape, output._array.dtype)
        unit[place] = 1
        yield unit


def _in_columns(
    subject: Subject,
    output: Any,
    cotangents: Callable[[], Iterator[Array]],
    count: int,
    nondet_tol: float,
    check_grad_dtypes: bool,
) -> list[Array]:
    sources = subject.sources
    first = _pulled_back(output, sources, cotangents())
    again = _pulled_back(output, sources, cotangents())
    columns, shapes_agree, dtypes_agree = _stacked(first, sources, count)
    same, _, _ = _stacked(again, sources, count)
    if check_grad_dtypes and not dtypes_agree:
        raise GradcheckError("Gradient has dtype mismatch")
    if not shapes_agree:
        raise GradcheckError("Analytical gradient has incorrect size")
    if any(_apart(a, b) > nondet_tol for a, b in zip(columns, same, strict=True)):
        raise GradcheckError(NOT_REENTRANT.format(nondet_tol))
    return columns


def _pulled_back(
    output: Any, sources: Sequence[Any], cotangents: Iterator[Array]
) -> list[list[Array | None]]:
    """Run backward for each cotangent, and give what reaches each of the sources."""
    rows: list[list[Array | None]] = []
    for cotangent in cotangents:
        found = grad(
            output, sources, wrap_as_normal(cotangent), retain_graph=True, allow_unused=True
        )
        rows.append([None if g is None else g._array.copy() for g in found])
    return rows


def _stacked(
    rows: list[list[Array | None]], sources: Sequence[Any], count: int
) -> tuple[list[Array], bool, bool]:
    """Make columns of gradients; tell whether they have their inputs' shapes and dtypes."""
    shapes_agree = dtypes_agree = True
    stacked = []
    for position, source in enumerate(sources):
        array = source._array
        columns = np.zeros((array.size, count), array.dtype)
        for number, row in enumerate(rows):
            gradient = row[position]
            if gradient is None:
                continue
            shapes_agree = shapes_agree and gradient.shape == array.shape
            dtypes_agree = dtypes_agree and gradient.dtype == array.dtype
            if gradient.size != array.size:
                raise AssertionError(
                    f"Expected out_jacobian column to have {gradient.size} elements, but got "
                    f"{array.size}"
                )
            columns[:, number] = gradient.reshape(-1)
        stacked.append(columns)
    return stacked, shapes_agree, dtypes_agree


def _apart(a: Array, b: Array) -> Any:
    """Give the largest difference between two arrays."""
    with np.errstate(all="ignore"):
        return np.abs(a - b).max(initial=0)
