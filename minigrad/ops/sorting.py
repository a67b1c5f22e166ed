"""Put entries in order, search and count them; add and multiply along a dimension; variances.

Where entries are put in order their positions are found first. The registered operations take the
entries from there, and their rules write the gradients to where the entries came from. NaN counts
as the largest. Which of several equal entries is found PyTorch leaves open; here it is the first,
unless it is said otherwise.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import without_derivative
from minigrad.autograd.rules import dispatch, ignore_errstate, overridable
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import reduction
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.joining import cat
from minigrad.ops.parts import slice_dim
from minigrad.ops.reduction import converted_to_add, count, mean_all, mean_dim, refuse_empty
from minigrad.ops.scatter import gather
from minigrad.ops.shape import flip
from minigrad.signatures import arguments, numpy_protocols, variants
from minigrad.signatures.arguments import dimensions, refuse
from minigrad.signatures.signature import Dim, Dtype, Number
from minigrad.signatures.variants import named_tuple


def _axes(dim: Any, input: Tensor) -> tuple[int, ...] | None:
    """Give the dimensions that an argument names; None if none was said, which means all."""
    return None if dim is None else arguments.dimensions(dim, input.ndim)


def _asked(reduce: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    array = input._array
    answer = reduce(array.astype(bool), axis=_axes(dim, input), keepdims=keepdim)
    return wrap(answer.astype(np.uint8) if array.dtype == np.uint8 else answer)


@variants("all", out="booleans", numpy=np.all)
def all_true(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Tell whether all entries are true, that is not 0, or along dimensions.

    Args:
        input: The tensor.
        dim: A dimension or several; all if it is left out.
        keepdim: Keep the dimensions, with size 1.

    Returns:
        Booleans; of uint8, as in PyTorch, numbers of uint8.

    Example:
        >>> import minigrad as torch
        >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=0)
        tensor([ True, False])
    """
    return _asked(np.logical_and.reduce, input, dim, keepdim)


@variants("any", out="booleans", numpy=np.any)
def any_true(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Tell whether any entry is true, that is not 0, or along dimensions; see `all`.

    Example:
        >>> import minigrad as torch
        >>> torch.any(torch.tensor([[True, False], [True, True]]), dim=0)
        tensor([True, True])
    """
    return _asked(np.logical_or.reduce, input, dim, keepdim)


def _position(find: Any, input: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    array, name = input._array, find.__name__
    if array.dtype.kind in "bc":
        raise RuntimeError(f"{name}() does not take tensors of type {array.dtype}")
    if dim is not None:
        refuse_empty(name, input, dim)
    elif not array.size:
        raise IndexError(f"{name}() of all entries: there are none")
    if not array.ndim:
        return wrap(np.zeros((), np.int64))
    return _places(find(array, axis=dim, keepdims=keepdim))


@variants(out="none", numpy=np.argmax)
def argmax(input: Tensor, dim: Dim | None = None, keepdim: bool = False) -> Tensor:
    """Give the position of the largest entry, among all or along a dimension.

    Of equal ones it is the first; NaN is found before all numbers.

    Args:
        input: The tensor.
        dim: The dimension; all entries, one after the other, if it is left out.
        keepdim: Keep the dimension, with size 1.

    Example:
        >>> import minigrad as torch
        >>> torch.argmax(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
        tensor([1, 0])
    """
    return _position(np.argmax, input, dim, keepdim)


@variants(out="none", numpy=np.argmin)
def argmin(input: Tensor, dim: Dim | None = None, keepdim: bool = False) -> Tensor:
    """Give the position of the smallest entry, among all or along a dimension; see `argmax`.

    Example:
        >>> import minigrad as torch
        >>> torch.argmin(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
        tensor([0, 1])
    """
    return _position(np.argmin, input, dim, keepdim)


@variants(numpy=np.count_nonzero)
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """Count the entries that are not 0, all or along dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.count_nonzero(torch.tensor([[1, 0], [2, 3]]), dim=0)
        tensor([2, 1])
    """
    axes = _axes(dim, input)
    return wrap(np.asarray(np.count_nonzero(input._array, axis=axes), np.int64))


@variants(out="none")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Give the positions of the entries that are not 0.

    Args:
        input: The tensor.
        as_tuple: Give a tuple with a tensor for each dimension, to index with.

    Returns:
        A matrix with a row for each entry that is not 0; or a tuple.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1, 0], [0, 2]])
        >>> torch.nonzero(x)
        tensor([[0, 0],
                [1, 1]])
        >>> x[x.nonzero(as_tuple=True)]
        tensor([1, 2])
    """
    array = input._array
    if as_tuple:
        return tuple(map(_places, np.nonzero(array if array.ndim else array.reshape(1))))
    return _places(np.argwhere(array))


def _places(array: Any) -> Tensor:
    """Give NumPy's whole numbers as PyTorch's: NumPy's are as wide as an address of the machine."""
    return wrap(array.astype(np.int64, copy=False))


@variants(numpy=np.argwhere)
def argwhere(input: Tensor) -> Tensor:
    """Give the positions of the entries that are not 0, one in each row.

    Example:
        >>> import minigrad as torch
        >>> torch.argwhere(torch.tensor([0, 5, 6]))
        tensor([[1],
                [2]])
    """
    return nonzero(input)


@variants(out="none", method=False)
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Tell for each entry whether it is among others.

    Args:
        elements: A tensor, or a number.
        test_elements: The others: a tensor, or a number.
        assume_unique: Whether no entry comes twice; it may help, and is of no use here.
        invert: Tell for each whether it is not.

    Example:
        >>> import minigrad as torch
        >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3]))
        tensor([False,  True,  True])
    """
    given = (elements, test_elements)
    first, second = (one._array if isinstance(one, Tensor) else np.asarray(one) for one in given)
    if "b" in (first.dtype.kind, second.dtype.kind):
        raise RuntimeError("isin() takes numbers, not booleans")
    return wrap(np.isin(first, second, invert=invert))


# ---------------------------------------------------------------------- different entries


@variants()
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
) -> Any:
    """Give the different entries, or the different parts along a dimension, in order.

    Args:
        input: The tensor.
        sorted: Whether they must be in order. Here they always are.
        return_inverse: Give also for each entry which of them it is.
        return_counts: Give also how often each comes.
        dim: The dimension along which parts are compared; each entry by itself if it is left out.

    Returns:
        A tensor; or a tuple of it and of what else was asked for.

    Example:
        >>> import minigrad as torch
        >>> torch.unique(torch.tensor([2, 1, 2]), return_counts=True)
        (tensor([1, 2]), tensor([1, 2]))
    """
    arguments.refuse("unique", "c", input)
    parts: dict[str, Any] = {"return_inverse": return_inverse, "return_counts": return_counts}
    found = np.unique(input._array, axis=dim, equal_nan=False, **parts)
    values, *more = found if isinstance(found, tuple) else (found,)
    first = without_derivative("unique", wrap(values), input)
    return (first, *map(_places, more)) if more else first


# ---------------------------------------------------------------------- histograms


@variants(results="hist bin_edges", out="kind")
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, density: bool = False) -> Any:
    """Count the entries in each bin.

    Args:
        input: The tensor, of floating-point numbers.
        bins: How many bins of one width, or a tensor of their edges.
        range: The two ends of the bins; those of the entries if it is left out.
        density: Give densities, whose integral is 1, instead of counts.

    Returns:
        A named tuple of the counts, `hist`, and the `bin_edges`.

    Example:
        >>> import minigrad as torch
        >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist
        tensor([0., 2., 1., 0.])
    """
    array = input._array.reshape(-1)
    if array.dtype.kind != "f":
        raise arguments.not_implemented("histogramdd", array)
    whole = bins._array if isinstance(bins, Tensor) else bins
    counts, edges = np.histogram(array, whole, range, density)
    hist = without_derivative("histogram", wrap(counts.astype(array.dtype)), input)
    return hist, without_derivative("histogram", wrap(edges.astype(array.dtype)), input)


numpy_protocols.functions[np.nonzero] = lambda a: nonzero(a, as_tuple=True)


# ---------------------------------------------------------------------- positions


def _in_order(array: Array, dim: int, descending: bool = False) -> Array:
    """Give the positions of entries along a dimension in their order, equal ones as they were."""
    if not array.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, axis=dim, kind="stable").astype(np.int64, copy=False)
    last = array.shape[dim] - 1
    return last - np.flip(_in_order(np.flip(array, dim), dim), dim)


def _of_rank(array: Array, dim: int, rank: int) -> Array:
    """Give the position of the entry of a rank, counted from 0, along a dimension."""
    positions = _in_order(array, dim)
    return np.take(positions, [rank], dim) if array.ndim else positions


def _middle(array: Array, dim: int) -> Array:
    """Give the position of the median along a dimension, or of the first NaN if there is one."""
    if not array.ndim:
        return np.zeros((), np.int64)
    missing = array != array
    found = _of_rank(array, dim, (array.shape[dim] - 1) // 2)
    any_missing = np.logical_or.reduce(missing, axis=dim, keepdims=True)
    return np.where(any_missing, np.argmax(missing, axis=dim, keepdims=True), found)


# ---------------------------------------------------------------------- rules


def _order_rule(grad: Any, self_sym_sizes: Any, dim: Any, positions: Any) -> Any:
    return reduction.select_rule(grad, self_sym_sizes, dim, True, positions)


@operation("SortBackward0", self=_order_rule)
def sort(self: Array, dim: Any, positions: Any) -> Array:
    """Entries in order, from known positions: each gradient goes back to where its entry was."""
    return gather.forward(self, dim, positions)


@operation("TopkBackward0", self=_order_rule)
def topk(self: Array, dim: Any, positions: Any) -> Array:
    """The largest or smallest entries, from known positions: the others get no gradient."""
    return gather.forward(self, dim, positions)


@operation("KthvalueBackward0", self=reduction.select_rule)
def kthvalue(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """The k-th smallest entry along a dimension, at known positions: it gets the gradient alone."""
    return reduction.taken(self, dim, keepdim, positions)


@operation("MedianBackward1", self=reduction.select_rule)
def median_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Median along a dimension, at known positions: it gets the gradient alone."""
    return reduction.taken(self, dim, keepdim, positions)


@operation("MedianBackward0", self=reduction.share_among_all_equal)
def median_all(self: Array, position: Any) -> Array:
    """Median of all entries, at a known position: equal ones share the gradient."""
    return self.reshape(-1)[position, ...].copy()


# ---------------------------------------------------------------------- what is called


def _positions(input: Tensor, dim: int, descending: bool) -> Any:
    refuse("sort", "c", input)
    return _in_order(input._array, dim, descending)


# These tell where the entries were, too.
_with_positions = partial(variants, results="values indices", out="kind")


@_with_positions("sort")
def in_order(
    input: Tensor, dim: Dim = -1, descending: bool = False, *, stable: bool | None = None
) -> Any:
    """Put the entries along a dimension in order; NaN counts as the largest.

    Args:
        input: The tensor.
        dim: The dimension; the last unless said otherwise.
        descending: Whether the largest comes first.
        stable: Whether equal entries keep their order. Here they always do.

    Returns:
        A named tuple of the `values` and the `indices` where they were.

    Example:
        >>> import minigrad as torch
        >>> torch.sort(torch.tensor([3.0, 1.0, 2.0]))
        torch.return_types.sort(
        values=tensor([1., 2., 3.]),
        indices=tensor([1, 2, 0]))
    """
    positions = _positions(input, dim, descending)
    return reduction.with_indices(sort(input, dim, positions), positions)


@variants(out="kind")
def argsort(
    input: Tensor, dim: Dim = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """Give the positions of the entries along a dimension, in the order of the entries.

    Example:
        >>> import minigrad as torch
        >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
        tensor([1, 2, 0])
    """
    return wrap(_positions(input, dim, descending))


@_with_positions("topk")
def largest_few(
    input: Tensor, k: int, dim: Dim = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """Give the k largest or smallest entries along a dimension.

    Args:
        input: The tensor.
        k: How many.
        dim: The dimension; the last unless said otherwise.
        largest: Whether to give the largest, or the smallest.
        sorted: Whether they must be in order. Here they always are.

    Returns:
        A named tuple of the `values` and the `indices` where they were.

    Raises:
        RuntimeError: If there are fewer than `k`.

    Example:
        >>> import minigrad as torch
        >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2)
        torch.return_types.topk(
        values=tensor([3., 2.]),
        indices=tensor([0, 2]))
    """
    array = input._array
    if not 0 <= k <= (array.shape[dim] if array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if array.dtype.kind in "bc":
        raise RuntimeError(f"topk() does not take tensors of type {array.dtype}")
    positions = _in_order(array, dim, largest)
    positions = np.take(positions, range(k), dim) if array.ndim else np.resize(positions, k)
    return reduction.with_indices(topk(input, dim, positions), positions)


@_with_positions("kthvalue")
def smallest_kth(input: Tensor, k: int, dim: Dim = -1, keepdim: bool = False) -> Any:
    """Give the k-th smallest entry along a dimension, counted from 1.

    Example:
        >>> import minigrad as torch
        >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2)
        torch.return_types.kthvalue(
        values=tensor(2.),
        indices=tensor(2))
    """
    reduction.refuse_empty("kthvalue", input, dim)
    if not 1 <= k <= (input._array.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    refuse("kthvalue", "bc", input)
    positions = _of_rank(input._array, dim, k - 1)
    return reduction.with_indices(kthvalue(input, dim, keepdim, positions), positions)


_MEDIAN = named_tuple("median", ("values", "indices"))


@variants(out="kind")
def median(input: Tensor, dim: Dim | None = None, keepdim: bool = False) -> Any:
    """Give the median of all entries, or along a dimension.

    It is an entry: of the two in the middle the smaller one.

    Args:
        input: The tensor.
        dim: The dimension; all entries if it is left out.
        keepdim: Keep the dimension, with size 1.

    Returns:
        A tensor; along a dimension a named tuple of the `values` and their `indices`.

    Example:
        >>> import minigrad as torch
        >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
        tensor(2.)
    """
    array = input._array
    if dim is None:
        if keepdim:
            raise TypeError('median() missing 1 required positional arguments: "dim"')
        refuse("median_cpu", "bc", input)
        return median_all(input, int(_middle(array.reshape(-1), 0)[0]))
    reduction.refuse_empty("median", input, dim)
    refuse("median_out", "bc", input)
    positions = _middle(array, dim)
    return _MEDIAN(*reduction.with_indices(median_dim(input, dim, keepdim, positions), positions))


# ---------------------------------------------------------------- running sums, products, variances


# Running sums and products are kept in a wider type than they are written in, as in PyTorch.
_WIDER = {np.dtype("float16"): np.dtype("float32"), np.dtype("float32"): np.dtype("float64")}


@overridable
def may_have_zero(array: Any) -> bool:
    """Tell whether an entry may be 0."""
    return bool((array == 0).any())


@ignore_errstate
def _accumulated(ufunc: Any, array: Any, dim: int, step: int = 1) -> Any:
    if not array.ndim:
        return array.copy()
    many = array.size > 4096  # for fewer numbers the calls are what costs
    if many and ufunc is np.add and array.dtype == np.float32 and 0 < dim == array.ndim - 1:
        return _sums_in_pairs(array, step)
    order = (slice(None),) * dim + (slice(None, None, step),)
    results = ufunc.accumulate(array[order], axis=dim, dtype=_WIDER.get(array.dtype))[order]
    return results.astype(array.dtype, order="C", copy=False)


def _sums_in_pairs(array: Any, step: int) -> Any:
    """Sum rows up, two rows as the parts of complex numbers, and every other place first.

    The next sum has to wait for the last one: NumPy adds a complex number in the time of a real.
    """
    rows, size = array.reshape(-1, array.shape[-1]), array.shape[-1]
    half = (len(rows) + 1) // 2  # if there is a middle row, it is in both halves
    pairs, sums = np.empty((half, size), np.complex128), np.empty_like(rows, order="C")
    pairs.real, pairs.imag = rows[:half], rows[-half:]
    places = pairs[:, ::step]
    later = places[:, 1::2]
    np.add.accumulate(np.add(later, places[:, :-1:2], later), axis=1, out=later)
    places[:, 2::2] += places[:, 1:-1:2]
    sums[:half], sums[-half:] = pairs.real, pairs.imag
    return sums.reshape(array.shape)


def _flipped(array: Any, dim: int) -> Any:
    return dispatch(flip, array, (dim,))


def _from_the_end(grad: Any, dim: Any) -> Any:
    """Sum from each place to the end of a dimension."""
    if type(grad) is np.ndarray:
        return _accumulated(np.add, grad, dim, -1)
    return _flipped(dispatch(cumsum, _flipped(grad, dim), dim), dim) if grad.ndim else grad


def _at(array: Any, dim: int, place: int | slice) -> Any:
    return array[(slice(None),) * dim + (place,)]


def product_without(array: Any, dim: int) -> Any:
    r"""Give for each entry the product of the others along a dimension, without dividing.

    It is that of the entries before, :math:`\prod_{j < i} x_j`, times that of those after.
    """
    if array.shape[dim] == 1:
        return np.ones_like(array)
    behind = _product_before(_flipped(array, dim), dim)
    return _product_before(array, dim) * _flipped(behind, dim)


def _product_before(array: Any, dim: int) -> Any:
    one = np.ones_like(_at(array, dim, slice(0, 1)))
    before = np.concatenate([one, _at(array, dim, slice(0, array.shape[dim] - 1))], dim)
    return dispatch(cumprod, before, dim)


def _cumprod_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    if not self.ndim or self.shape[dim] <= 1:
        return grad
    if not may_have_zero(getattr(self, "_array", self)):
        return _from_the_end(result * grad, dim) / self
    # Where an entry is 0 nothing can be divided by it. The gradient is the product of the entries
    # before, times what comes after: s_k = g_k + x_{k+1} s_{k+1}.
    size = self.shape[dim]
    behind = [_at(grad, dim, size - 1)]
    for k in range(size - 2, -1, -1):
        behind.append(_at(grad, dim, k) + _at(self, dim, k + 1) * behind[-1])
    return _product_before(self, dim) * np.stack(behind[::-1], dim)


@operation("CumsumBackward0", self=_from_the_end)
def cumsum(self: Array, dim: Any) -> Array:
    r"""Running sum :math:`y_i = \sum_{j \le i} x_j`: :math:`\sum_{i \ge j} g_i`."""
    return _accumulated(np.add, self, dim)


@operation("CumprodBackward0", self=_cumprod_rule)
def cumprod(self: Array, dim: Any) -> Array:
    r"""Running product :math:`y_i`: :math:`\sum_{i \ge j} g_i y_i / x_j`, also if this is 0."""
    return _accumulated(np.multiply, self, dim)


# ---------------------------------------------------------------------- what is called


@variants("cumsum", out="any", in_place=True)
def running_sum(input: Tensor, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
    """Give the running sum along a dimension. Integers use int64.

    Args:
        input: The tensor.
        dim: The dimension.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 3., 6.])
    """
    return cumsum(converted_to_add(input, dtype), dim)


@variants("cumprod", out="any", in_place=True)
def running_product(input: Tensor, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
    """Give the running product along a dimension; see `cumsum`.

    Example:
        >>> import minigrad as torch
        >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 2., 6.])
    """
    return cumprod(converted_to_add(input, dtype), dim)


# ---------------------------------------------------------------------- differences


@variants(out="kind")
def diff(
    input: Tensor,
    n: int = 1,
    dim: Dim = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Give the differences between neighbors along a dimension.

    Args:
        input: The tensor.
        n: How many times to take differences.
        dim: The dimension; the last unless said otherwise.
        prepend: What to put before the tensor along the dimension.
        append: What to put after it.

    Example:
        >>> import minigrad as torch
        >>> torch.diff(torch.tensor([1, 3, 2]))
        tensor([ 2, -1])
    """
    if not input.ndim:
        raise RuntimeError("diff() takes a tensor with dimensions")
    if prepend is not None or append is not None:
        input = cat([t for t in (prepend, input, append) if t is not None], dim)
    for _ in range(min(n, input._array.shape[dim])):
        size = input._array.shape[dim]
        earlier = slice_dim(input, dim, 0, size - 1, 1)  # the first of the two, as in PyTorch
        later = slice_dim(input, dim, 1, size, 1)
        of_two = later.ne if input._array.dtype.kind == "b" else later.sub
        input = of_two(earlier)
    return input


# ---------------------------------------------------------------------- products


# PyTorch saves the result, too.
def _prod_all_rule(grad: Any, self: Any, result: Any) -> Any:
    return (grad * product_without(self.reshape(-1), 0)).reshape(self.shape)


def _prod_dim_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not self.ndim:
        return grad
    return (grad if keepdim else np.expand_dims(grad, dim)) * product_without(self, dim)


@operation("ProdBackward0", self=_prod_all_rule)
@ignore_errstate
def prod_all(self: Array) -> Array:
    r"""Product of all entries: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return np.multiply.reduce(self, axis=None)


@operation("ProdBackward1", self=_prod_dim_rule)
@ignore_errstate
def prod_dim(self: Array, dim: Any, keepdim: Any) -> Array:
    r"""Product along a dimension: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return np.multiply.reduce(self, axis=dim if self.ndim else None, keepdims=keepdim)


# ---------------------------------------------------------------------- variances


def variance_rule(grad: Any, self: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    r"""Rule of the variance, :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    dims = tuple(range(self.ndim)) if dim is None else dim
    grad = grad if keepdim or dim is None or self.ndim < 2 else np.expand_dims(grad, dims)
    freedom = count(self.shape, dims) - correction
    scale = 2.0 / freedom if freedom > 0 else math.inf
    off = self - (dispatch(mean_all, self) if dim is None else dispatch(mean_dim, self, dims, True))
    return scale * grad * off


def deviation_rule(
    grad: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    r"""Rule of the standard deviation, :math:`g\, (x_i - \bar x) / ((n - c)\, s)`, 0 if s is 0."""
    share = dispatch(masked_fill_number, grad / (result * 2), result == 0, 0)
    return variance_rule(share, self, dim, correction, keepdim)


@operation("VarBackward0", self=variance_rule)
@ignore_errstate
def var(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Variance :math:`\sum (x - \bar x)^2 / (n - c)`: :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    return _variance(self, dim, correction, keepdim).astype(self.real.dtype)


@operation("StdBackward0", self=deviation_rule)
@ignore_errstate
def std(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Standard deviation :math:`s`: :math:`g\, (x_i - \bar x) / ((n - c)\, s)`."""
    return np.sqrt(_variance(self, dim, correction, keepdim)).astype(self.real.dtype)


def _variance(array: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    """Give variances along dimensions, or of all entries; as PyTorch in float64."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    size = array.size if dim is None else count(array.shape, dim)
    total = np.add.reduce(array, axis=dim, keepdims=True)
    centered = array - np.true_divide(total, size or math.nan)
    other = np.conj(centered) if array.dtype.kind == "c" else centered
    squares = np.add.reduce((centered * other).real, axis=dim, keepdims=keepdim)
    # with no freedom 0 / 0 is NaN, and anything else infinite
    return np.true_divide(squares, max(0, size - correction))


# ---------------------------------------------------------------------- what is called


@variants(out="any")
def prod(
    input: Tensor, dim: Dim | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """Multiply all entries, or those along a dimension. Integers multiply in int64.

    Args:
        input: The tensor.
        dim: A dimension; all entries if it is left out.
        keepdim: Keep the dimension, with size 1.
        dtype: The type to multiply in.

    Example:
        >>> import minigrad as torch
        >>> torch.prod(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
        tensor([3., 8.])
    """
    input = converted_to_add(input, dtype)
    if dim is not None:
        return prod_dim(input, dim, keepdim)
    if keepdim:
        raise TypeError("prod() takes keepdim only together with one dim")
    return prod_all(input)


def _variance_of(
    operation: Any, input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    """Give a variance or its root: check the arguments, and apply the operation."""
    if isinstance(dim, bool):  # x.std(False)
        dim, unbiased = None, dim
    if input._array.dtype.kind in "iub":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if correction is None:
        correction = int(unbiased is not False)
    dims = None if dim is None else dimensions(dim, input.ndim)
    reduced = input._array.size if dims is None else count(input._array.shape, dims)
    if reduced <= correction:
        warnings.warn(f"{operation.__name__}(): degrees of freedom is <= 0", stacklevel=4)
    return operation(input, dims, correction, keepdim)


@variants("var", out="kind")
def variance(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Any:
    r"""Give the variance of all entries, or along dimensions.

    The variance of :math:`n` entries is :math:`\sum (x - \bar x)^2 / (n - c)`, the standard
    deviation its square root.

    Args:
        input: The tensor, of floating-point numbers.
        dim: A dimension or several; all if it is left out.
        unbiased: An older way to say correction: True is 1 and False is 0.
        keepdim: Keep the dimensions, with size 1.
        correction: What is subtracted from the number of entries; 1 unless said otherwise.

    Raises:
        RuntimeError: If the entries are integers.

    Example:
        >>> import minigrad as torch
        >>> torch.var(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        tensor(4.6667)
    """
    return _variance_of(var, input, dim, unbiased, keepdim, correction)


@variants("std", out="kind", like=variance)
def standard_deviation(input: Tensor, *given: Any, **options: Any) -> Any:
    """Give the standard deviation of all entries, or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        tensor(2.1602)
    """
    return _variance_of(std, input, *given, **options)


def _numpy_product(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return a.prod() if axis is None else a.prod(axis, keepdims)


numpy_protocols.functions[np.prod] = _numpy_product
numpy_protocols.ufuncs[np.multiply, "reduce"] = lambda array, axis=0, keepdims=False: (
    _numpy_product(array, axis, keepdims)
)
