"""Compute what is one line of other functions: `take`, `kron`, `addbmm`, `nansum`, ...

Gradients and errors are those of the functions that each is composed of, and so are the nodes in
the graph: `TakeBackward0` is not among them.
"""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import without_derivative
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.choices import masked_select as chosen
from minigrad.ops.linear import factors
from minigrad.ops.scatter import refuse_misfits
from minigrad.ops.type_promotion import broadcast_shape, check_one_type
from minigrad.random import stream
from minigrad.signatures import VARIANTS, attach, lazy_loading, variants
from minigrad.signatures.arguments import check_tensors
from minigrad.signatures.signature import Dim, Dtype, Number
from minigrad.signatures.variants import in_place_form

torch: Any = sys.modules["minigrad"]
# What programs set, and only ask for again.
SETTINGS: dict[str, Any] = {"precision": "highest", "threads": 1}

# ---------------------------------------------------------------------- what they share


def by_numpy(function: Any, *given: Any, **options: Any) -> Tensor:
    """Let NumPy find places or counts, which have no derivative."""
    arrays = (each._array if isinstance(each, Tensor) else each for each in given)
    result = wrap(np.asarray(function(*arrays, **options)))
    weighted = result.is_floating_point()
    return without_derivative(function.__name__, result, *given) if weighted else result


def plus(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """Add a product to a tensor, each with its factor; what has the factor 0 counts nothing."""
    check_one_type(input._array, product._array)
    beta, alpha = factors(product, beta, alpha)
    input = input.expand(product.shape)
    scaled = beta * input if beta else input.masked_fill(torch.tensor(True), 0)
    return scaled + alpha * product


def indexed(input: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """Give a copy with other values at indices, or with these values added there."""
    indices = tuple(indices)
    if accumulate:
        places = torch.arange(input.numel()).view(input.shape)[indices]
        values = values.expand(places.shape).flatten()
        return input.flatten().index_add(0, places.flatten(), values).view(input.shape)
    result = input.clone()
    result[indices] = values
    return result


def having(fits: Any, value: Any, otherwise: str) -> Any:
    """Give a tensor, or another value, that is as it must be.

    Raises:
        RuntimeError: If it is not.
    """
    if not fits:
        raise RuntimeError(otherwise)
    return value


def places(boundaries: Tensor, input: Any, side: str) -> Tensor:
    """Find where numbers belong among others, row by row."""
    values = torch.as_tensor(input)
    if boundaries.ndim == 1:
        return by_numpy(np.searchsorted, boundaries, values, side)
    fits = values.ndim and boundaries.shape[:-1] == values.shape[:-1]
    having(fits, values, "searchsorted: give one row of boundaries, or one for each row of values")
    rows = zip(boundaries.flatten(0, -2), values.flatten(0, -2), strict=True)
    return torch.stack([by_numpy(np.searchsorted, *row, side) for row in rows]).view(values.shape)


# ---------------------------------------------------------------------- sums of products

_writing = partial(variants, in_place=True)
_alone = partial(variants, method=False)
_method = partial(variants, function=False)
_linalg = partial(variants, function=False, method=False)


@_writing()
def addbmm(
    input: Any, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Add the sum of the products of matrices."""
    return plus(input, torch.bmm(batch1, batch2).sum(0), beta, alpha)


@_writing()
def addmv(input: Any, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Add the product of a matrix and a vector."""
    return plus(input, torch.mv(mat, vec), beta, alpha)


@_writing()
def addr(input: Any, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Add the outer product of two vectors."""
    return plus(input, torch.outer(vec1, vec2), beta, alpha)


@_writing()
def baddbmm(
    input: Any, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Add the products of matrices, one by one."""
    return plus(input, torch.bmm(batch1, batch2), beta, alpha)


@variants()
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Give the dot product with the complex conjugate of the first."""
    return torch.dot(input.conj(), other)


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
    having(A.ndim > 1 and A.is_floating_point(), A, "matrix_norm takes matrices of floats")
    rows, columns = (each % A.ndim for each in dim)
    if ord == "fro":
        return torch.linalg.vector_norm(A, 2, dim, keepdim, dtype=dtype)
    having(ord in (1, -1, 2, -2, np.inf, -np.inf, "nuc"), A, f"there is no matrix norm {ord!r}")
    A = A if dtype is None else A.to(dtype)
    if ord in (2, -2, "nuc"):
        values = torch.linalg.svd(A.movedim((rows, columns), (-2, -1)), full_matrices=False)[1]
        norm = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord > 0 else values.amin(-1)
        low, high = sorted((rows, columns))
        return norm.unsqueeze(low).unsqueeze(high) if keepdim else norm
    summed, left = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = A.abs().sum(summed, True)
    norm = sums.amax(left, True) if ord > 0 else sums.amin(left, True)
    return norm if keepdim else norm.squeeze((rows, columns))


@_linalg("linalg_matrix_rank")
def _matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Count the singular values of matrices that are not too small."""
    more = {"rtol": rtol} if rtol else {}
    return by_numpy(np.linalg.matrix_rank, A, atol if tol is None else tol, hermitian, **more)


@variants()
def fliplr(input: Tensor) -> Tensor:
    """Reverse the columns of matrices."""
    return having(input.ndim > 1, input, "Input must be >= 2-d.").flip(1)


@variants()
def flipud(input: Tensor) -> Tensor:
    """Reverse the rows of matrices."""
    return having(input.ndim, input, "Input must be >= 1-d.").flip(0)


def _triangle(name: str, find: Any) -> None:
    def indices(
        row: int, col: int, offset: int = 0, *, dtype: Dtype | None = None, device: Any = None
    ) -> Tensor:
        found = by_numpy(np.stack, find(row, offset, col))
        return found.to(device=device, dtype=dtype or torch.int64)

    indices.__doc__ = f"Give the row and column of each entry of a triangle, as `np.{name}` does."
    _alone(name)(indices)


_triangle("tril_indices", np.tril_indices)
_triangle("triu_indices", np.triu_indices)


# ---------------------------------------------------------------------- statistics


@variants()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each whole number comes, or add up its weights."""
    counts = by_numpy(np.bincount, input, weights, minlength)
    if weights is None or not input.numel():
        return counts.to(torch.int64)
    return counts.to(torch.float32 if weights.dtype is torch.float32 else torch.float64)


@variants()
def cov(
    input: Tensor,
    *,
    correction: Number = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Give the covariances of variables, a row each, whose observations may be aweights."""
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    counts = torch.ones(rows.shape[1:], dtype=torch.int64) if fweights is None else fweights
    weights = counts if aweights is None else counts * aweights
    fits = input.ndim < 3 and counts.shape == weights.shape == rows.shape[1:]
    having(fits, input, "cov() takes a matrix, and a weight for each of its columns")
    total = weights.sum()
    free = total - correction * (weights * (1 if aweights is None else aweights)).sum() / total
    centered = rows - (rows * weights).sum(1, keepdim=True) / total
    return (centered @ (centered * weights).T / free.clamp(min=0)).squeeze()


@variants(out="kind")
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Count the entries in intervals of one size between two numbers, or the extremes."""
    array = input._array
    low, high = (array.min(), array.max()) if min == max and array.size else (min, max)
    limits = low - (low == high), high + (low == high)
    return wrap(np.histogram(array, bins, limits)[0].astype(array.dtype))


@variants()
def nanmedian(input: Tensor) -> Tensor:
    """Give the median of the entries that are numbers."""
    return input[~input.isnan()].median()


@variants()
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Add up the entries that are numbers."""
    return torch.where(input.isnan(), 0, input).sum(dim, keepdim)


@variants(out="kind")
def quantile(
    input: Tensor,
    q: Any,
    dim: Dim | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Give the numbers below which parts of the entries lie, between the entries next to them."""
    q = torch.as_tensor(q, dtype=None if torch.is_tensor(q) else input.dtype)
    steps = {"lower": torch.floor, "higher": torch.ceil, "nearest": torch.round}
    fits = interpolation in ("linear", "midpoint", *steps) and q.ndim < 2 and q.dtype is input.dtype
    having(fits and input.numel(), q, "quantile: q is a number or a row, of the input's type")
    having(((q >= 0) & (q <= 1)).all(), q, "quantile: q is from 0 to 1")
    rows = (input.flatten() if dim is None else torch.movedim(input, dim, -1)).sort(-1)[0]
    last = rows.shape[-1] - 1
    ranks = torch.where(rows.isnan().any(-1, True), last, q.flatten() * last)
    ranks = steps.get(interpolation, torch.clone)(ranks)
    found = rows.gather(-1, ranks.long())
    if interpolation not in steps:
        weight = ranks - ranks.floor() if interpolation == "linear" else torch.full_like(ranks, 0.5)
        found = found.lerp(rows.gather(-1, ranks.ceil().long()), weight)
    found = torch.movedim(found, -1, 0)
    if keepdim:
        found = found.view(-1, *[1] * input.ndim) if dim is None else found.unsqueeze(dim + 1)
    return found if q.ndim else found[0]


@_writing()
def renorm(input: Tensor, p: Number, dim: Dim, maxnorm: Number) -> Tensor:
    """Make the slices along a dimension smaller whose norm is larger than a number."""
    others = [each for each in range(input.ndim) if each != dim]
    norm = torch.linalg.vector_norm(input, p, others, True)
    factor = maxnorm / (torch.where(norm > maxnorm, norm, 1.0) + 1e-7)
    return input * torch.where(norm > maxnorm, factor, 1.0)


# ---------------------------------------------------------------------- places


@_writing()
def index_fill(input: Tensor, dim: Dim, index: Tensor, value: Any) -> Tensor:
    """Fill slices along a dimension with a number."""
    return indexed(input, (*[slice(None)] * dim, index), value)


@_writing()
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write values at indices, or add them there."""
    return indexed(input, check_tensors(indices, "index_put", "indices"), values, accumulate)


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
    having(reduce != "sum", input, "index_reduce() takes prod, mean, amax or amin: see index_add()")
    refuse_misfits("index_reduce_", input, dim, index, source)
    warn("index_reduce() is in beta and the API may change at any time.")
    rows = [-1 if other == dim else 1 for other in range(input.ndim)]
    return scatter_reduce(
        input, dim, index.view(rows).expand(source.shape), source, reduce, include_self=include_self
    )


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
    if reduce in steps:  # along the dimension, no two of one step go to one place
        src = src[tuple(map(slice, index.shape))]
        for place, part in zip(index.split(1, dim), src.split(1, dim), strict=True):
            start = start.scatter(dim, place, steps[reduce](start.gather(dim, place), part))
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
    return chosen(*torch.broadcast_tensors(input, mask))


@variants()
def take(input: Tensor, index: Tensor) -> Tensor:
    """Take entries by their places, as if all were in a row."""
    having(index.dtype is torch.int64, index, "take(): Expected a long tensor for index")
    entries = input.flatten()[index]
    return entries if index.ndim else entries.clone()


@variants(out="kind")
def take_along_dim(input: Tensor, indices: Tensor, dim: Dim | None = None) -> Tensor:
    """Take entries along a dimension; in the others the two are broadcast."""
    if dim is None:
        input, indices, dim = input.flatten(), indices.flatten(), 0
    size, sizes = input.size(dim), list(input.shape)
    sizes[dim] = indices.size(dim)
    whole = broadcast_shape(tuple(sizes), indices.shape)
    kept = (*whole[:dim], size, *whole[dim + 1 :])
    return input.expand(kept).gather(dim, indices.expand(whole) % max(size, 1))


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
    where = places(sorted_sequence, input, "right" if right else side or "left")
    return where.to(torch.int32 if out_int32 else torch.int64)


@variants()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Dim | None = None
) -> Any:
    """Give what each run of equal entries consists of, and what else is asked for."""
    array: Any = input._array.ravel() if dim is None else np.moveaxis(input._array, dim, 0)
    starts = np.ones(len(array), bool)
    starts[1:] = (array[1:] != array[:-1]).any(axis=tuple(range(1, array.ndim)))
    found = [np.moveaxis(array[starts], 0, dim or 0)]
    if return_inverse:
        found.append((starts.cumsum() - 1).reshape(input.shape if dim is None else -1))
    if return_counts:
        found.append(np.diff(np.flatnonzero(starts), append=len(array)))
    values = without_derivative("unique_consecutive", wrap(found[0]), input)
    return (values, *map(wrap, found[1:])) if len(found) > 1 else values


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
def asarray(
    obj: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Give the tensor that an object is, or make one; a gradient is kept if nothing is said."""
    made: Tensor = torch.as_tensor(obj, dtype=dtype, device=device)
    made = made.clone() if copy else made
    if requires_grad is None:
        return made
    return made.requires_grad_() if requires_grad else made.detach()


@_alone()
def atleast_2d(*tensors: Any) -> Any:
    """Give tensors two dimensions at least, new ones first."""
    single = len(tensors) == 1 and torch.is_tensor(tensors[0])
    given = tensors if single or len(tensors) != 1 else tensors[0]
    made = [
        each if each.ndim > 1 else each.view(1, -1) for each in check_tensors(given, "atleast_2d")
    ]
    return made[0] if single else tuple(made)


@_alone()
def cartesian_prod(*tensors: Any) -> Tensor:
    """Give all combinations of the entries of vectors, one in each row."""
    if len(tensors) == 1:
        return tensors[0]
    grid = torch.meshgrid(*tensors, indexing="ij")
    return torch.stack(grid, -1).view(-1, len(tensors))


@_alone()
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor:
    """Make a tensor of any numbers with certain strides."""
    last = sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    memory = torch.empty(1 + last, dtype=dtype, device=device)
    return memory.as_strided(size, stride).requires_grad_(requires_grad)


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


@_method()
def map_(input: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Put the results of a Python function of two entries in the place of the first."""
    pairs = zip(input.flatten().tolist(), tensor.expand_as(input).flatten().tolist(), strict=True)
    made = torch.tensor([callable(*pair) for pair in pairs], dtype=input.dtype)
    return input.copy_(made.view(input.shape))


# ---------------------------------------------------------------------- sparse tensors, settings


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
    made = indexed(torch.zeros(size, dtype=values.dtype), indices.unbind(), values, True)
    return made.requires_grad_() if requires_grad else made


@_method()
def coalesce(input: Tensor) -> Tensor:
    """Give the tensor itself: no entry is there twice."""
    return input


@_method()
def to_sparse(input: Tensor) -> Tensor:
    """Give the tensor itself: all are kept in full."""
    return input


@_alone()
def get_float32_matmul_precision() -> Any:
    """Tell what `set_float32_matmul_precision` has set, which changes nothing."""
    return SETTINGS["precision"]


@_alone()
def set_float32_matmul_precision(precision: Any) -> None:
    """Keep a setting that changes nothing: products are exact."""
    SETTINGS.update(precision=precision)


@_alone()
def get_num_threads() -> Any:
    """Tell what `set_num_threads` has set, which changes nothing."""
    return SETTINGS["threads"]


@_alone()
def set_num_threads(threads: int) -> None:
    """Keep a setting that changes nothing: NumPy chooses."""
    SETTINGS.update(threads=threads)


lazy_loading.load("ops.comparison")


def _compared_in_place(name: str) -> Any:
    """Make `name_`, in place: no gradient passes through what becomes 0 and 1."""
    method = VARIANTS[name].method

    def compared(input: Tensor, other: Any) -> Any:
        result = method(input, other)
        if not isinstance(result, Tensor) or not input.requires_grad:
            return result
        return input.masked_fill(torch.ones_like(input, dtype=torch.bool), 0) + result

    compared.__qualname__ = compared.__name__ = f"{name}_"
    return in_place_form(compared, VARIANTS[name])


_COMPARED = ("eq", "ge", "gt", "le", "lt", "ne")
attach(__name__, {f"{_name}_": _compared_in_place(_name) for _name in _COMPARED})

sparse = SimpleNamespace(mm=VARIANTS["spmm"].function)
