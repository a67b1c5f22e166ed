"""Compute what is one line of other functions: `take`, `nansum`, `quantile`, ...

Gradients and errors are those of the functions that each is composed of, and so are the nodes in
the graph: `TakeBackward0` is not among them.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.signatures import variants
from minigrad.signatures.signature import Dim

torch: Any = sys.modules["minigrad"]

# ---------------------------------------------------------------------- what they share


def check(fits: Any, otherwise: str) -> None:
    """Raise RuntimeError with a sentence unless something fits."""
    if not fits:
        raise RuntimeError(otherwise)


_linalg = partial(variants, function=False, method=False)


# ---------------------------------------------------------------------- matrices


@_linalg("linalg_lstsq", results="solution residuals rank singular_values")
def _least_squares(A: Tensor, b: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """Solve linear systems by least squares."""
    nothing = A.new_empty(0)
    return torch.linalg.pinv(A, rcond) @ b, nothing, torch.linalg.matrix_rank(A), nothing


@_linalg("linalg_matrix_rank")
def _matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Count the singular values of matrices that are not too small."""
    more = {"rtol": rtol} if rtol else {}
    least = atol if tol is None else tol
    return wrap(np.asarray(np.linalg.matrix_rank(A._array, least, hermitian, **more)))


# ---------------------------------------------------------------------- statistics


@variants()
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Add up the entries that are numbers."""
    return torch.where(input.isnan(), 0, input).sum(dim, keepdim)


@variants(out="kind")
def quantile(input: Tensor, q: Any, dim: Dim | None = None, keepdim: bool = False) -> Tensor:
    """Give the numbers below which parts of the entries lie, between the entries next to them."""
    q = torch.as_tensor(q, dtype=None if torch.is_tensor(q) else input.dtype)
    fits = q.ndim < 2 and q.dtype is input.dtype and ((q >= 0) & (q <= 1)).all()
    check(fits, "quantile: q is a number or a row from 0 to 1, of the input's type")
    rows = (input.flatten() if dim is None else torch.movedim(input, dim, -1)).sort(-1)[0]
    last = rows.shape[-1] - 1
    ranks = torch.where(rows.isnan().any(-1, True), last, q.flatten() * last)
    low, high = (rows.gather(-1, each.long()) for each in (ranks.floor(), ranks.ceil()))
    found = torch.movedim(low.lerp(high, ranks - ranks.floor()), -1, 0)
    if keepdim:
        found = found.view(-1, *[1] * input.ndim) if dim is None else found.unsqueeze(dim + 1)
    return found if q.ndim else found[0]


# ---------------------------------------------------------------------- indices


@variants()
def take(input: Tensor, index: Tensor) -> Tensor:
    """Take entries by their places, as if all were in a row."""
    check(index.dtype is torch.int64, "take(): Expected a long tensor for index")
    entries = input.flatten()[index]
    return entries if index.ndim else entries.clone()
