"""Compute what is one line of other functions: `take`, `kron`, `addbmm`, `nansum`, ...

Each entry of the tables is a signature and the expression that it stands for, with PyTorch's
names. So gradients and errors are those of the functions in the expression, and so are the nodes in
the graph: `TakeBackward0` is not among them.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.own_nodes import not_differentiable, nothing_passes, without_derivative
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.memory import shared
from minigrad.faces import FACES, attach, face, lazy_loading
from minigrad.faces.arguments import check_tensors
from minigrad.faces.face import in_place_form
from minigrad.faces.signature import expressions
from minigrad.ops.choices import masked_select as chosen
from minigrad.ops.linear import factors
from minigrad.ops.scatter import refuse_misfits
from minigrad.ops.type_promotion import broadcast_shape, check_one_type
from minigrad.random import stream

torch: Any = sys.modules["minigrad"]
# What the tables speak of beside what is below, and what programs set and only ask for again.
SPOKEN_OF = stream, check_tensors, chosen, shared
SETTINGS = {"precision": "highest", "threads": 1}

# ---------------------------------------------------------------------- what the tables speak of


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


def areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """Sum the areas of the trapezoids between samples along a dimension."""
    all_before: tuple[Any, ...] = (slice(None),) * dim
    heights: Any = y[(*all_before, slice(1, None))] + y[(*all_before, slice(None, -1))]
    if x is not None:
        fits = x.ndim != 1 or x.shape[0] == y.shape[dim]
        having(fits, x, "trapezoid: there must be one x for each sample")
        rest = y.ndim - dim - 1 if x.ndim == 1 else 0
        x = x[(*(None,) * (y.ndim - x.ndim - rest), ..., *(None,) * rest)]
    return (heights / 2 * (dx if x is None else x.diff(dim=dim))).sum(dim)


def having(fits: Any, value: Any, otherwise: str) -> Any:
    """Give a tensor, or another value, that is as it must be.

    Raises:
        RuntimeError: If it is not.
    """
    if not fits:
        raise RuntimeError(otherwise)
    return value


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Multiply each entry of one tensor by the whole other one."""
    ndim = max(input.ndim, other.ndim)
    ours, theirs = ((1,) * (ndim - each.ndim) + tuple(each.shape) for each in (input, other))
    product = input.reshape([n for size in ours for n in (size, 1)]) * other.reshape(
        [n for size in theirs for n in (1, size)]
    )
    return product.reshape([a * b for a, b in zip(ours, theirs, strict=True)])


def matrix_norm(A: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
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


def crossed(input: Tensor, other: Tensor, dim: int | None) -> Tensor:
    """Give the vectors that are orthogonal to two, along a dimension of size 3."""
    sizes = [*input.shape]
    if dim is None:
        warn("torch.cross without dim takes the first dimension of size 3. Say which: dim=-1.")
        dim = sizes.index(3) if 3 in sizes else -1
    check_one_type(input._array, other._array)
    fits = input.ndim == other.ndim and input.size(dim) == other.size(dim) == 3
    having(fits, input, f"cross: dimension {dim} of {sizes} and {[*other.shape]} must be of size 3")
    return input.roll(-1, dim) * other.roll(-2, dim) - input.roll(-2, dim) * other.roll(-1, dim)


def covariances(input: Tensor, correction: Any, counted: Any, weighted: Any) -> Tensor:
    """Give the covariances of variables, a row each, whose observations may be weighted."""
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    counts = torch.ones(rows.shape[1:], dtype=torch.int64) if counted is None else counted
    weights = counts if weighted is None else counts * weighted
    fits = input.ndim < 3 and counts.shape == weights.shape == rows.shape[1:]
    having(fits, input, "cov() takes a matrix, and a weight for each of its columns")
    total = weights.sum()
    free = total - correction * (weights * (1 if weighted is None else weighted)).sum() / total
    centered = rows - (rows * weights).sum(1, keepdim=True) / total
    return (centered @ (centered * weights).T / free.clamp(min=0)).squeeze()


def binned(input: Tensor, bins: int, low: Any, high: Any) -> Tensor:
    """Count the entries in intervals of one size between two numbers, or the extremes."""
    array = input._array
    low, high = (array.min(), array.max()) if low == high and array.size else (low, high)
    limits = low - (low == high), high + (low == high)
    return wrap(np.histogram(array, bins, limits)[0].astype(array.dtype))


def quantiles(input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str) -> Tensor:
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


def along(input: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    """Take entries along a dimension; in the others the two are broadcast."""
    if dim is None:
        input, indices, dim = input.flatten(), indices.flatten(), 0
    size, sizes = input.size(dim), list(input.shape)
    sizes[dim] = indices.size(dim)
    whole = broadcast_shape(tuple(sizes), indices.shape)
    kept = (*whole[:dim], size, *whole[dim + 1 :])
    return input.expand(kept).gather(dim, indices.expand(whole) % max(size, 1))


def places(boundaries: Tensor, input: Any, side: str) -> Tensor:
    """Find where numbers belong among others, row by row."""
    values = torch.as_tensor(input)
    if boundaries.ndim == 1:
        return by_numpy(np.searchsorted, boundaries, values, side)
    fits = values.ndim and boundaries.shape[:-1] == values.shape[:-1]
    having(fits, values, "searchsorted: give one row of boundaries, or one for each row of values")
    rows = zip(boundaries.flatten(0, -2), values.flatten(0, -2), strict=True)
    return torch.stack([by_numpy(np.searchsorted, *row, side) for row in rows]).view(values.shape)


def as_array(obj: Any, dtype: Any, device: Any, copy: Any, requires_grad: Any) -> Tensor:
    """Give the tensor that an object is, or make one; a gradient is kept if nothing is said."""
    made: Tensor = torch.as_tensor(obj, dtype=dtype, device=device)
    made = made.clone() if copy else made
    if requires_grad is None:
        return made
    return made.requires_grad_() if requires_grad else made.detach()


def dense(indices: Any, values: Any, size: Any, dtype: Any) -> Tensor:
    """Make the tensor whose other entries are zeros; entries that are named twice are added."""
    warn("minigrad keeps sparse tensors in full: results are the same, memory and time are not.")
    indices, values = torch.as_tensor(indices).long(), torch.as_tensor(values, dtype=dtype)
    size = (indices.amax(1) + 1).tolist() + list(values.shape[1:]) if size is None else size
    return indexed(torch.zeros(size, dtype=values.dtype), indices.unbind(), values, True)


def runs(input: Tensor, inverse: bool, counts: bool, dim: int | None) -> Any:
    """Give what each run of equal entries consists of, and what else is asked for."""
    array: Any = input._array.ravel() if dim is None else np.moveaxis(input._array, dim, 0)
    starts = np.ones(len(array), bool)
    starts[1:] = (array[1:] != array[:-1]).any(axis=tuple(range(1, array.ndim)))
    found = [np.moveaxis(array[starts], 0, dim or 0)]
    if inverse:
        found.append((starts.cumsum() - 1).reshape(input.shape if dim is None else -1))
    if counts:
        found.append(np.diff(np.flatnonzero(starts), append=len(array)))
    values = _UNIQUE_CONSECUTIVE(found[0], input)
    return (values, *map(wrap, found[1:])) if len(found) > 1 else values


_UNIQUE_CONSECUTIVE = not_differentiable("UniqueConsecutiveBackward0", "unique_consecutive")


def gathered(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
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


def gathered_in_rows(input: Tensor, dim: int, index: Tensor, src: Tensor, *how: Any) -> Tensor:
    """Bring together the rows that go to one place, as `gathered` does."""
    having(how[0] != "sum", input, "index_reduce() takes prod, mean, amax or amin: see index_add()")
    refuse_misfits("index_reduce_", input, dim, index, src)
    warn("index_reduce() is in beta and the API may change at any time.")
    shape = [-1 if other == dim else 1 for other in range(input.ndim)]
    return gathered(input, dim, index.view(shape).expand(src.shape), src, *how)


# ---------------------------------------------------------------------- the tables

# Functions and methods; those after `_` are there in place, too.
_BOTH = """
_addbmm(input, Tensor batch1, Tensor batch2, *, beta=1, alpha=1)
    = plus(input, torch.bmm(batch1, batch2).sum(0), beta, alpha)
_addmv(input, Tensor mat, Tensor vec, *, beta=1, alpha=1)
    = plus(input, torch.mv(mat, vec), beta, alpha)
_addr(input, Tensor vec1, Tensor vec2, *, beta=1, alpha=1)
    = plus(input, torch.outer(vec1, vec2), beta, alpha)
_baddbmm(input, Tensor batch1, Tensor batch2, *, beta=1, alpha=1)
    = plus(input, torch.bmm(batch1, batch2), beta, alpha)
bincount(Tensor input, Tensor? weights=None, int minlength=0)
    = by_numpy(np.bincount, input, weights, minlength).to(
    torch.int64 if weights is None or not input.numel() else torch.float32
    if weights.dtype is torch.float32 else torch.float64)
cov(Tensor input, *, Number correction=1, Tensor? fweights=None, Tensor? aweights=None)
    = covariances(input, correction, fweights, aweights)
cross(Tensor input, Tensor other, Dim? dim=None, *, out=None) = crossed(input, other, dim)
fliplr(Tensor input) = having(input.ndim > 1, input, "Input must be >= 2-d.").flip(1)
flipud(Tensor input) = having(input.ndim, input, "Input must be >= 1-d.").flip(0)
histc(Tensor input, int bins=100, Number min=0, Number max=0, *, out=None)
    = binned(input, bins, min, max)
_index_fill(Tensor input, Dim dim, Tensor index, value)
    = indexed(input, (*[slice(None)] * dim, index), value)
_index_put(Tensor input, indices, Tensor values, bool accumulate=False)
    = indexed(input, check_tensors(indices, "index_put", "indices"), values, accumulate)
_index_reduce(Tensor input, Dim dim, Tensor index, Tensor source, reduce, *,
    bool include_self=True) = gathered_in_rows(input, dim, index, source, reduce, include_self)
kron(Tensor input, Tensor other) = kron(input, other)
masked_select(Tensor input, Tensor mask) = chosen(
    *torch.broadcast_tensors(input, having(
    mask.dtype is torch.bool, mask, "masked_select: expected BoolTensor for mask")))
nanmedian(Tensor input) = input[~input.isnan()].median()
nansum(Tensor input, dim=None, bool keepdim=False)
    = torch.where(input.isnan(), 0, input).sum(dim, keepdim)
quantile(Tensor input, q, Dim? dim=None, bool keepdim=False, *, str interpolation="linear",
    out=None) = quantiles(input, q, dim, keepdim, interpolation)
_renorm(Tensor input, Number p, Dim dim, Number maxnorm) = input * (lambda norm: torch.where(
    norm > maxnorm, maxnorm / (torch.where(norm > maxnorm, norm, 1.0) + 1e-7), 1.0))(
    torch.linalg.vector_norm(input, p, [each for each in range(input.ndim) if each != dim], True))
_scatter_reduce(Tensor input, Dim dim, Tensor index, Tensor src, reduce, *,
    bool include_self=True) = gathered(input, dim, index, src, reduce, include_self)
take(Tensor input, Tensor index) = (lambda entries: entries if index.ndim else entries.clone())(
    input.flatten()[having(
    index.dtype is torch.int64, index, "take(): Expected a long tensor for index")])
take_along_dim(Tensor input, Tensor indices, Dim? dim=None, *, out=None)
    = along(input, indices, dim)
unique_consecutive(Tensor input, return_inverse=False, return_counts=False, Dim? dim=None)
    = runs(input, return_inverse, return_counts, dim)
unsafe_chunk(Tensor input, int chunks, Dim dim=0) = tuple(
    each.clone() for each in input.chunk(chunks, dim))
unsafe_split(Tensor input, int split_size, Dim dim=0) = tuple(
    each.clone() for each in input.split(split_size, dim))
unsafe_split_with_sizes(Tensor input, split_sizes, Dim dim=0) = tuple(
    each.clone() for each in input.split(split_sizes, dim))
vdot(Tensor input, Tensor other) = torch.dot(input.conj(), other)
"""

_FUNCTIONS = """
asarray(obj, *, dtype=None, device=None, bool copy=None, bool requires_grad=None)
    = as_array(obj, dtype, device, copy, requires_grad)
atleast_2d(*tensors) = (lambda made: made[0] if len(tensors) == 1 and torch.is_tensor(tensors[0])
    else tuple(made))([each if each.ndim > 1 else each.view(1, -1) for each in check_tensors(
    tensors[0] if len(tensors) == 1 and not torch.is_tensor(tensors[0]) else tensors, "atleast_2d"
    )])
bucketize(input, Tensor boundaries, *, bool out_int32=False, bool right=False)
    = torch.searchsorted(boundaries, input, out_int32=out_int32, right=right)
cartesian_prod(*tensors) = tensors[0] if len(tensors) == 1 else torch.stack(
    torch.meshgrid(*tensors, indexing="ij"), -1).view(-1, len(tensors))
empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False) = torch.empty(1 + sum(
    (n - 1) * step for n, step in zip(size, stride, strict=True)), dtype=dtype, device=device
    ).as_strided(size, stride).requires_grad_(requires_grad)
linalg_cross(Tensor input, Tensor other, *, Dim dim=-1) = crossed(input, other, dim)
linalg_lstsq(Tensor A, Tensor b, rcond=None, *, driver=None)
    -> (solution, residuals, rank, singular_values)
    = (torch.linalg.pinv(A, rcond) @ b, A.new_empty(0), torch.linalg.matrix_rank(A),
    A.new_empty(0))
linalg_matrix_norm(Tensor A, ord='fro', dim=(-2, -1), bool keepdim=False, *, dtype=None)
    = matrix_norm(A, ord, dim, keepdim, dtype)
linalg_matrix_rank(Tensor A, tol=None, bool hermitian=False, *, atol=None, rtol=None)
    = by_numpy(np.linalg.matrix_rank, A, atol if tol is None else tol, hermitian,
    **({"rtol": rtol} if rtol else {}))
logspace(start, end, int steps, base=10.0, *, dtype=None, device=None, requires_grad=False)
    = (base ** torch.linspace(start, end, steps, dtype=torch.float64, device=device)).to(
    dtype or torch.get_default_dtype()).requires_grad_(requires_grad)
poisson(Tensor input, generator=None) = wrap(
    stream(generator).poisson(input._array).astype(input._array.dtype))
randint_like(Tensor input, low, high=None, *, dtype=None, device=None) = torch.randint(
    *((0, low) if high is None else (low, high)), input.shape, dtype=dtype or input.dtype,
    device=device)
get_float32_matmul_precision() = SETTINGS["precision"]
get_num_threads() = SETTINGS["threads"]
set_float32_matmul_precision(precision) = SETTINGS.update(precision=precision)
set_num_threads(int threads) = SETTINGS.update(threads=threads)
searchsorted(Tensor sorted_sequence, input, *, bool out_int32=False, bool right=False, side=None)
    = places(sorted_sequence, input, "right" if right else side or "left").to(
    torch.int32 if out_int32 else torch.int64)
sparse_coo_tensor(indices, values, size=None, *, dtype=None, device=None, requires_grad=False)
    = (lambda made: made.requires_grad_() if requires_grad else made)(
    dense(indices, values, size, dtype))
spmm(Tensor input, Tensor mat2) = torch.mm(input, mat2)
trapezoid(Tensor y, Tensor? x=None, *, Number dx=1, Dim dim=-1) = areas(y, x, dx, dim)
tril_indices(int row, int col, int offset=0, *, dtype=None, device=None)
    = by_numpy(np.stack, np.tril_indices(row, offset, col)).to(
    device=device, dtype=dtype or torch.int64)
triu_indices(int row, int col, int offset=0, *, dtype=None, device=None)
    = by_numpy(np.stack, np.triu_indices(row, offset, col)).to(
    device=device, dtype=dtype or torch.int64)
"""

_METHODS = """
coalesce(Tensor input) = input
exponential_(Tensor input, float lambd=1, *, generator=None) = having(
    input.is_floating_point() and lambd > 0, input, "exponential_ takes floats, and lambd > 0"
    ).copy_(wrap(stream(generator).exponential(input.shape, lambd)))
map_(Tensor input, Tensor tensor, callable) = input.copy_(torch.tensor([
    callable(*pair) for pair in zip(input.flatten().tolist(), tensor.expand_as(
    input).flatten().tolist(), strict=True)], dtype=input.dtype).view(input.shape))
share_memory_(Tensor input) = shared(input)
to_sparse(Tensor input) = input
"""


def _say(table: str, **forms: bool) -> None:
    """Give the entries of a table their forms."""
    for schema, body in expressions(table, globals()):
        own: dict[str, Any] = {"in_place": schema.startswith("_"), **forms}
        own["function"] = forms.get("function", True) and not schema.startswith("linalg_")
        face(schema.lstrip("_"), **own)(body)


_say(_BOTH)
_say(_FUNCTIONS, method=False)
_say(_METHODS, function=False)
lazy_loading.load("ops.comparison")


def _compared_in_place(name: str) -> Any:
    """Make `name_`: the graph keeps that the values are gone, and no gradient passes."""
    method = FACES[name].method

    def compared(input: Tensor, other: Any) -> Any:
        result = method(input, other)
        record = nothing_passes(f"{name.capitalize()}Backward{int(isinstance(other, Tensor))}")
        return record(result, input, other) if isinstance(result, Tensor) else result

    compared.__qualname__ = compared.__name__ = f"{name}_"
    return in_place_form(compared, FACES[name])


_COMPARED = ("eq", "ge", "gt", "le", "lt", "ne")
attach(__name__, {f"{_name}_": _compared_in_place(_name) for _name in _COMPARED})

sparse = SimpleNamespace(mm=FACES["spmm"].function)
