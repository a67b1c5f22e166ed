"""Compute what is one line of other functions: `take`, `kron`, `trapezoid`, `nansum`, ...

Gradients and errors are those of the functions that each is composed of, and so are the nodes in
the graph: `TakeBackward0` is not among them.
"""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.type_promotion import check_one_type
from minigrad.random import stream
from minigrad.signatures import VARIANTS, variants
from minigrad.signatures.signature import Dim, Dtype, Number

torch: Any = sys.modules["minigrad"]

# ---------------------------------------------------------------------- what they share


def by_numpy(function: Any, *given: Any, **options: Any) -> Tensor:
    """Let NumPy find places or counts: whole numbers."""
    arrays = (each._array if isinstance(each, Tensor) else each for each in given)
    return wrap(np.asarray(function(*arrays, **options)))


def having(fits: Any, value: Any, otherwise: str) -> Any:
    """Give a tensor, or another value, that is as it must be.

    Raises:
        RuntimeError: If it is not.
    """
    if not fits:
        raise RuntimeError(otherwise)
    return value


# ---------------------------------------------------------------------- sums of products

_writing = partial(variants, in_place=True)
_alone = partial(variants, method=False)
_method = partial(variants, function=False)
_linalg = partial(variants, function=False, method=False)


@_alone()
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply matrices: the first may be sparse in PyTorch."""
    return torch.mm(input, mat2)


@variants("kron")
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Multiply each entry of one tensor by the whole other one."""
    ndim = max(input.ndim, other.ndim)
    ours, theirs = ((1,) * (ndim - each.ndim) + tuple(each.shape) for each in (input, other))
    product = input.reshape([n for size in ours for n in (size, 1)]) * other.reshape(
        [n for size in theirs for n in (1, size)]
    )
    return product.reshape([a * b for a, b in zip(ours, theirs, strict=True)])


@variants(out="kind")
def cross(input: Tensor, other: Tensor, dim: Dim | None = None) -> Tensor:
    """Give the vectors that are orthogonal to two, along a dimension of size 3."""
    sizes = [*input.shape]
    if dim is None:
        warn("torch.cross without dim takes the first dimension of size 3. Say which: dim=-1.")
        dim = sizes.index(3) if 3 in sizes else -1
    check_one_type(input._array, other._array)
    fits = input.ndim == other.ndim and input.size(dim) == other.size(dim) == 3
    having(fits, input, f"cross: dimension {dim} of {sizes} and {[*other.shape]} must be of size 3")
    return input.roll(-1, dim) * other.roll(-2, dim) - input.roll(-2, dim) * other.roll(-1, dim)


@_linalg("linalg_cross")
def _cross(input: Tensor, other: Tensor, *, dim: Dim = -1) -> Tensor:
    """Give the vectors that are orthogonal to two; see `torch.cross`."""
    return cross(input, other, dim)


@_alone()
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: Dim = -1) -> Tensor:
    """Sum the areas of the trapezoids between samples along a dimension."""
    all_before: tuple[Any, ...] = (slice(None),) * dim
    heights: Any = y[(*all_before, slice(1, None))] + y[(*all_before, slice(None, -1))]
    if x is not None:
        fits = x.ndim != 1 or x.shape[0] == y.shape[dim]
        having(fits, x, "trapezoid: there must be one x for each sample")
        rest = y.ndim - dim - 1 if x.ndim == 1 else 0
        x = x[(*(None,) * (y.ndim - x.ndim - rest), ..., *(None,) * rest)]
    return (heights / 2 * (dx if x is None else x.diff(dim=dim))).sum(dim)


# ---------------------------------------------------------------------- matrices


@_linalg("linalg_lstsq", results="solution residuals rank singular_values")
def _least_squares(A: Tensor, b: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """Solve linear systems by least squares."""
    nothing = A.new_empty(0)
    return torch.linalg.pinv(A, rcond) @ b, nothing, torch.linalg.matrix_rank(A), nothing


@_linalg("linalg_matrix_norm")
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """Give a norm of matrices: of their entries, of sums of rows or columns, of singular values."""
    if ord == "fro":
        return torch.linalg.vector_norm(A, 2, dim, keepdim, dtype=dtype)
    having(ord in (1, -1, 2, -2, np.inf, -np.inf, "nuc"), A, f"there is no matrix norm {ord!r}")
    A = (A if dtype is None else A.to(dtype)).movedim(dim, (-2, -1))
    if ord in (2, -2, "nuc"):
        values = torch.linalg.svd(A, full_matrices=False)[1]
    else:
        values = A.abs().sum(-2 if abs(ord) == 1 else -1)
    norm = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord > 0 else values.amin(-1)
    return norm[..., None, None].movedim((-2, -1), dim) if keepdim else norm


@_linalg("linalg_matrix_rank")
def _matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Count the singular values of matrices that are not too small."""
    more = {"rtol": rtol} if rtol else {}
    return by_numpy(np.linalg.matrix_rank, A, atol if tol is None else tol, hermitian, **more)


# ---------------------------------------------------------------------- statistics


@variants()
def cov(input: Tensor, *, correction: Number = 1) -> Tensor:
    """Give the covariances of variables, a row each."""
    having(input.ndim < 3, input, "cov() takes a matrix, or a row of one variable")
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    centered = rows - rows.sum(1, keepdim=True) / rows.shape[1]
    return (centered @ centered.T / (rows.shape[1] - correction)).squeeze()


@variants()
def nanmedian(input: Tensor) -> Tensor:
    """Give the median of the entries that are numbers."""
    return input[~input.isnan()].median()


@variants()
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Add up the entries that are numbers."""
    return torch.where(input.isnan(), 0, input).sum(dim, keepdim)


@variants(out="kind")
def quantile(input: Tensor, q: Any, dim: Dim | None = None, keepdim: bool = False) -> Tensor:
    """Give the numbers below which parts of the entries lie, between the entries next to them."""
    q = torch.as_tensor(q, dtype=None if torch.is_tensor(q) else input.dtype)
    fits = q.ndim < 2 and q.dtype is input.dtype and ((q >= 0) & (q <= 1)).all()
    having(fits, q, "quantile: q is a number or a row from 0 to 1, of the input's type")
    rows = (input.flatten() if dim is None else torch.movedim(input, dim, -1)).sort(-1)[0]
    last = rows.shape[-1] - 1
    ranks = torch.where(rows.isnan().any(-1, True), last, q.flatten() * last)
    low, high = (rows.gather(-1, each.long()) for each in (ranks.floor(), ranks.ceil()))
    found = torch.movedim(low.lerp(high, ranks - ranks.floor()), -1, 0)
    if keepdim:
        found = found.view(-1, *[1] * input.ndim) if dim is None else found.unsqueeze(dim + 1)
    return found if q.ndim else found[0]


# ---------------------------------------------------------------------- indices


@_writing()
def index_reduce(
    input: Tensor,
    dim: Dim,
    index: Tensor,
    source: Tensor,
    reduce: Any,
    *,
    include_self: bool = True,
) -> Tensor:
    """Bring together the rows that go to one place, as `scatter_reduce` does."""
    rows = [-1 if other == dim else 1 for other in range(input.ndim)]
    index = index.view(rows).expand(source.shape)
    return scatter_reduce(input, dim, index, source, reduce, include_self=include_self)


@_writing()
def scatter_reduce(
    input: Tensor, dim: Dim, index: Tensor, src: Tensor, reduce: Any, *, include_self: bool = True
) -> Tensor:
    """Bring together what goes to one place: its sum, mean, product, largest or smallest."""
    steps = {"prod": torch.mul, "amax": torch.maximum, "amin": torch.minimum}
    having(reduce in ("sum", "mean", *steps), input, f"there is no reduce={reduce!r}")
    check_one_type(input._array, src._array)
    if input.is_floating_point():
        least, most = -float("inf"), float("inf")
    else:
        least, most = torch.iinfo(input.dtype).min, torch.iinfo(input.dtype).max
    first = {"prod": 1, "amax": least, "amin": most}.get(reduce, 0)
    start = input if include_self else input.scatter(dim, index, first)
    if reduce in steps:  # along the dimension, no two of one step go to one entry
        src = src[tuple(map(slice, index.shape))]
        for rows, part in zip(index.split(1, dim), src.split(1, dim), strict=True):
            start = start.scatter(dim, rows, steps[reduce](start.gather(dim, rows), part))
        return start
    result = start.scatter_add(dim, index, src)
    if reduce == "sum":
        return result
    count = torch.full_like(input, include_self).scatter_add(dim, index, torch.ones_like(src))
    rounding = None if result.is_floating_point() else "floor"
    return torch.div(result, count.clamp(min=1), rounding_mode=rounding)


@variants()
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Give the entries where a mask is true, in a row."""
    having(mask.dtype is torch.bool, mask, "masked_select: expected BoolTensor for mask")
    values, mask = torch.broadcast_tensors(input, mask)
    return values[mask]


@variants()
def take(input: Tensor, index: Tensor) -> Tensor:
    """Take entries by their places, as if all were in a row."""
    having(index.dtype is torch.int64, index, "take(): Expected a long tensor for index")
    entries = input.flatten()[index]
    return entries if index.ndim else entries.clone()


@_alone()
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Find between which boundaries numbers lie."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@_alone()
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
) -> Tensor:
    """Find where numbers belong among others, row by row."""
    side, values = "right" if right else side or "left", torch.as_tensor(input)
    if sorted_sequence.ndim == 1:
        found = by_numpy(np.searchsorted, sorted_sequence, values, side)
    else:
        fits = values.ndim and sorted_sequence.shape[:-1] == values.shape[:-1]
        having(fits, values, "searchsorted: give one row, or one for each row of values")
        rows = zip(sorted_sequence.flatten(0, -2), values.flatten(0, -2), strict=True)
        found = torch.stack([by_numpy(np.searchsorted, *row, side) for row in rows])
    return found.view(values.shape).to(torch.int32 if out_int32 else torch.int64)


@variants()
def unsafe_split(input: Tensor, split_size: int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """Copy the pieces that `split` gives."""
    return tuple(each.clone() for each in input.split(split_size, dim))


@variants()
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: Dim = 0) -> tuple[Tensor, ...]:
    """Copy the pieces that `split_with_sizes` gives."""
    return tuple(each.clone() for each in input.split(split_sizes, dim))


@variants()
def unsafe_chunk(input: Tensor, chunks: int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """Copy the pieces that `chunk` gives."""
    return tuple(each.clone() for each in input.chunk(chunks, dim))


# ---------------------------------------------------------------------- making tensors


@_alone()
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: Any = 10.0,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor:
    """Give numbers whose logarithms are spaced evenly."""
    made = base ** torch.linspace(start, end, steps, dtype=torch.float64, device=device)
    return made.to(dtype or torch.get_default_dtype()).requires_grad_(requires_grad)


@_alone()
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Draw counts with rates."""
    return wrap(stream(generator).poisson(input._array).astype(input._array.dtype))


@_alone()
def randint_like(
    input: Tensor, low: Any, high: Any = None, *, dtype: Dtype | None = None, device: Any = None
) -> Tensor:
    """Draw whole numbers in the shape of a tensor."""
    limits = (0, low) if high is None else (low, high)
    return torch.randint(*limits, input.shape, dtype=dtype or input.dtype, device=device)


@_method()
def exponential_(input: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponentially distributed numbers."""
    fits = input.is_floating_point() and lambd > 0
    having(fits, input, "exponential_ takes floats, and lambd > 0")
    return input.copy_(wrap(stream(generator).exponential(input.shape, lambd)))


# ---------------------------------------------------------------------- sparse tensors


@_alone()
def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor:
    """Make the tensor whose other entries are zeros; entries that are named twice are added."""
    warn("minigrad keeps sparse tensors in full: results are the same, memory and time are not.")
    indices, values = torch.as_tensor(indices).long(), torch.as_tensor(values, dtype=dtype)
    size = (indices.amax(1) + 1).tolist() + list(values.shape[1:]) if size is None else size
    made = torch.zeros(size, dtype=values.dtype)
    positions = torch.arange(made.numel()).view(made.shape)[indices.unbind()]
    values = values.expand(positions.shape).flatten()
    made = made.flatten().index_add(0, positions.flatten(), values).view(made.shape)
    return made.requires_grad_() if requires_grad else made


@_method()
def coalesce(input: Tensor) -> Tensor:
    """Give the tensor itself: no entry is there twice."""
    return input


@_method()
def to_sparse(input: Tensor) -> Tensor:
    """Give the tensor itself: all are kept in full."""
    return input


sparse = SimpleNamespace(mm=VARIANTS["spmm"].function)
