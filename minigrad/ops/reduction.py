"""Make fewer entries of many: sums, means, extremes, norms.

The registered operations come first, then what is called: `x.sum(0)`, `x.max(dim=1)`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched
from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.node import sum_to_shape
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.choices import masked_fill, masked_fill_number, maximum, minimum, sgn
from minigrad.ops.scatter import gather, scatter
from minigrad.ops.shape import expand, unsqueeze
from minigrad.signatures import arguments, attach, variants
from minigrad.signatures.arguments import cast, dimensions
from minigrad.signatures.signature import Dtype
from minigrad.signatures.variants import documented, named_tuple

_add_up = np.add.reduce  # looked up once


def _repeated(grad: Any, sizes: tuple[int, ...]) -> Any:
    return (expand if isinstance(grad, Tensor) else expand.forward)(grad, sizes)


def expand_reduced(grad: Any, self_sym_sizes: Any, dim: tuple[int, ...], keepdim: Any) -> Any:
    """Repeat a gradient along the dimensions that were reduced."""
    if not keepdim and dim:
        if isinstance(grad, Tensor):
            for d in sorted(dim):
                grad = unsqueeze(grad, d)
        else:
            grad = grad.reshape([1 if d in dim else size for d, size in enumerate(self_sym_sizes)])
    return _repeated(grad, self_sym_sizes)


def count(sizes: tuple[int, ...], dim: tuple[int, ...]) -> int:
    """Tell how many entries become one."""
    return math.prod([sizes[d] for d in dim])


@operation("SumBackward0", self=lambda grad, self_sym_sizes: _repeated(grad, self_sym_sizes))
@ignore_errstate
def sum_all(self: Array) -> Array:
    """Sum of all entries: each entry gets the gradient."""
    return _add_up(self, None)


@operation("SumBackward1", self=expand_reduced)
@ignore_errstate
def sum_dim(self: Array, dim: Any, keepdim: Any) -> Array:
    """Sum over dimensions: each entry gets the gradient of the sum it went into."""
    return _add_up(self, axis=dim, keepdims=keepdim)


@operation(
    "MeanBackward0",
    self=lambda grad, self_sym_sizes: _repeated(grad, self_sym_sizes) / math.prod(self_sym_sizes),
)
@ignore_errstate
def mean_all(self: Array) -> Array:
    """Mean of all entries: each entry gets the gradient over their number."""
    return _add_up(self, None) / (self.size or np.nan)  # the mean of nothing is NaN


@operation(
    "MeanBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: (
        expand_reduced(grad, self_sym_sizes, dim, keepdim) / count(self_sym_sizes, dim)
    ),
)
@ignore_errstate
def mean_dim(self: Array, dim: Any, keepdim: Any) -> Array:
    """Mean over dimensions: each entry gets the gradient of its mean over their number."""
    entries = count(self.shape, dim) or np.nan  # the mean of nothing is NaN
    return np.true_divide(_add_up(self, axis=dim, keepdims=keepdim), entries)


def _number(chosen: Any, grad: Any, dim: Any, keepdims: Any = True) -> Any:
    """Count chosen entries: for tensors in integers, since float16 does not count far."""
    number = np.add.reduce(chosen, axis=dim, keepdims=keepdims)
    return number.astype(grad.dtype) if isinstance(number, (np.integer, np.ndarray)) else number


def share_among_equal(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    """Give the gradient of an extreme to all entries that are equal to it, in equal parts."""
    if not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    chosen = self == result
    return grad / _number(chosen, grad, dim) * chosen


def share_among_all_equal(grad: Any, self: Any, result: Any) -> Any:
    """Give the gradient of an entry of all to those that are equal to it, in equal parts."""
    chosen = (self == result) + (self != self) * (result != result)  # NaN is not equal to itself
    share = grad / _number(chosen, grad, None, False)
    return dispatch(masked_fill, np.zeros_like(self), chosen, share)


@operation("MaxBackward1", self=share_among_all_equal)
def max_all(self: Array) -> Array:
    """Largest entry: gets the gradient; equal ones share it."""
    return np.maximum.reduce(self, axis=None)


@operation("MinBackward1", self=share_among_all_equal)
def min_all(self: Array) -> Array:
    """Smallest entry: gets the gradient; equal ones share it."""
    return np.minimum.reduce(self, axis=None)


@operation("AmaxBackward0", self=share_among_equal)
def amax(self: Array, dim: Any, keepdim: Any) -> Array:
    """Largest entries along dimensions: get the gradient; equal ones share it."""
    return np.maximum.reduce(self, axis=dim, keepdims=keepdim)


@operation("AminBackward0", self=share_among_equal)
def amin(self: Array, dim: Any, keepdim: Any) -> Array:
    """Smallest entries along dimensions: get the gradient; equal ones share it."""
    return np.minimum.reduce(self, axis=dim, keepdims=keepdim)


def select_rule(grad: Any, self_sym_sizes: Any, dim: Any, keepdim: Any, positions: Any) -> Any:
    """Give the gradient of entries that were chosen to them alone."""
    if not keepdim and self_sym_sizes:
        grad = np.expand_dims(grad, dim)
    zeros = np.zeros_like(grad, shape=self_sym_sizes)
    return dispatch(scatter, zeros, dim, positions, grad)


@operation("MaxBackward0", self=select_rule)
def max_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Largest entries along a dimension, at known positions: these get the gradient alone."""
    return taken(self, dim, keepdim, positions)


@operation("MinBackward0", self=select_rule)
def min_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Smallest entries along a dimension, at known positions: these get the gradient alone."""
    return taken(self, dim, keepdim, positions)


def taken(array: Any, dim: Any, keepdim: Any, positions: Any) -> Any:
    """Give the entries at known positions along a dimension, one for each place in the others."""
    entries = gather.forward(array, dim, positions)
    return entries if keepdim or not array.ndim else entries.squeeze(dim)


def norm_rule(grad: Any, self: Any, result: Any, ord: Any, dim: Any, keepdim: Any) -> Any:
    r"""Rule of the p-norm, :math:`g\, \mathrm{sign}(x) (|x| / \|x\|)^{p-1}`."""
    if not keepdim and dim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    if ord == 0:
        return None  # as in PyTorch: how many entries are not zero has no derivative
    if ord in (math.inf, -math.inf):
        largest = np.abs(self) == result
        share = grad / _number(largest, grad, dim)
        return dispatch(sgn, self) * (share * largest)
    if ord == 1:
        return dispatch(sgn, self) * grad
    if ord == 2:
        return grad * dispatch(masked_fill_number, self / result, result == 0, 0)
    powers = np.abs(self) ** (ord - 1)
    if ord < 1:  # infinitely steep at 0
        powers = dispatch(masked_fill_number, powers, self == 0, 0)
    scale = dispatch(masked_fill_number, grad * result ** (1 - ord), result == 0, 0)
    return dispatch(sgn, self) * powers * scale


@operation("LinalgVectorNormBackward0", self=norm_rule)
@ignore_errstate
def vector_norm(self: Array, ord: Any, dim: Any, keepdim: Any) -> Array:
    r"""Norm :math:`(\sum |x|^p)^{1/p}`: :math:`g\, \mathrm{sign}(x) (|x| / \|x\|)^{p-1}`."""
    if ord == 0:  # the number of entries that are not zero
        return np.add.reduce((self != 0).astype(self.dtype), axis=dim, keepdims=keepdim)
    added = self.size if dim is None else count(self.shape, dim if type(dim) is tuple else (dim,))
    if ord == 1 or added <= 1:  # of one entry, or none
        return np.add.reduce(np.abs(self), axis=dim, keepdims=keepdim)
    if ord in (math.inf, -math.inf):
        extreme = np.maximum if ord > 0 else np.minimum
        return extreme.reduce(np.abs(self), axis=dim, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(np.add.reduce(self * self, axis=dim, keepdims=keepdim))
    return np.add.reduce(np.abs(self) ** ord, axis=dim, keepdims=keepdim) ** (1 / ord)


# ---------------------------------------------------------------------- sums and means


def converted_to_add(input: Tensor, dtype: Any) -> Tensor:
    """Give a tensor in the dtype in which to add up or multiply its entries: int64 for integers."""
    if dtype is not None:
        return input.to(dtype)
    return cast(input, np.dtype("int64")) if input._array.dtype.kind in "iub" else input


def _reduced(dim: Any, ndim: int) -> tuple[int, ...]:
    """Give the numbers of the dimensions to reduce; none means all."""
    return tuple(range(ndim)) if dim is None else dimensions(dim, ndim)


@variants(out="any")
def sum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """Add up all entries, or those along dimensions. Integers add up in int64.

    Args:
        input: The tensor.
        dim: A dimension or several; all if it is left out.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to add up in.

    Example:
        >>> import minigrad as torch
        >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
        tensor([4., 6.])
    """
    if dtype is not None or input._array.dtype.kind in "iub":
        input = converted_to_add(input, dtype)
    if dim is None and not keepdim:
        return sum_all(input)
    return sum_dim(input, _reduced(dim, input._array.ndim), keepdim)


@variants(out="kind")
def mean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """Average all entries, or those along dimensions; for the arguments see `sum`.

    Raises:
        RuntimeError: If the entries are integers.

    Example:
        >>> import minigrad as torch
        >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
        tensor([2., 3.])
    """
    if dtype is not None:
        input = input.to(dtype)
    if input._array.dtype.kind in "iub":
        raise RuntimeError(f"mean() takes floats, not {input.dtype}: use .float() first")
    if dim is None and not keepdim:
        return mean_all(input)
    return mean_dim(input, _reduced(dim, input._array.ndim), keepdim)


def _sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Add up along the dimensions in which a tensor of another size would be broadcast.

    Raises:
        RuntimeError: If a tensor of that size does not broadcast to this one's.
    """
    sizes, have = arguments.sizes_given("sum_to_size", "size", size, None), tuple(self.shape)
    if np.broadcast_shapes(sizes, have) != have:
        raise RuntimeError(f"size {list(sizes)} is not expandable to size {list(have)}")
    return sum_to_shape(self, sizes)


attach(__name__, {"sum_to_size": _sum_to_size})


# ---------------------------------------------------------------------- extremes


def refuse_empty(name: str, input: Tensor, *dims: int) -> None:
    """Raise if there are no entries to choose one from: of all, or along a dimension.

    The error names the dimension as it is given here: by its number, or counted from the end.
    """
    if input._array.size:
        return
    if not dims:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for no entries")
    for dim in dims:
        if input.ndim and not input._array.shape[dim]:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def _along(name: str, operation: Any) -> Callable[[Any], None]:
    """Make `amax` or `amin`; what is decorated says what it is."""

    def extreme(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        given = dim if isinstance(dim, (tuple, list)) else () if dim is None else (dim,)
        dims = dimensions(() if dim is None else dim, input.ndim)
        refuse_empty(name, input, *given)
        return operation(input, dims, keepdim)

    return documented(extreme, partial(variants, name, out="none"))


@_along("amax", amax)
def _largest_along() -> None:
    """Give the largest entry, of all or along dimensions. Equal ones share the gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        tensor([5., 7.])
    """


@_along("amin", amin)
def _smallest_along() -> None:
    """Give the smallest entry, of all or along dimensions. Equal ones share the gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        tensor([1., 0.])
    """


def with_indices(values: Tensor, positions: Any) -> tuple[Tensor, Tensor]:
    """Give values, and their positions as a tensor that the values' node watches."""
    indices = wrap(positions.reshape(values._array.shape).astype(np.int64, copy=False))
    return watched(values, indices), indices


def _extreme(name: str, find: Any, of_all: Any, along: Any, of_two: Any) -> Callable[[Any], None]:
    """Make `max` or `min` from their three meanings; what is decorated says what it is."""
    kind = named_tuple(name, ("values", "indices"))

    def extreme(
        input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None
    ) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return of_two(input, dim if other is None else other)
        array = input._array
        if dim is None:
            if keepdim:
                raise TypeError(f"{name}() takes keepdim only together with dim")
            refuse_empty(name, input)
            return of_all(input)
        number = arguments.dimension(dim, array.ndim)
        refuse_empty(name, input, number)
        positions = find(array, number, keepdims=True) if array.ndim else np.asarray(0)
        return kind(*with_indices(along(input, number, keepdim, positions), positions))

    return documented(extreme, partial(variants, name, out="kind"))


@_extreme("max", np.argmax, max_all, max_dim, maximum)
def _largest() -> None:
    """Give the maximum of all entries, along a dimension, or of two tensors.

    Where `dim` is another tensor, or `other` is given, the two are compared entry by entry.

    Returns:
        A tensor; along a dimension a named tuple of the `values` and their `indices`.

    Raises:
        RuntimeError: If there are no entries and no dimension is given.
        IndexError: If there is no such dimension, or its size is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        torch.return_types.max(
        values=tensor([5., 7.]),
        indices=tensor([1, 0]))
    """


@_extreme("min", np.argmin, min_all, min_dim, minimum)
def _smallest() -> None:
    """Give the minimum, as `max` gives the maximum.

    Example:
        >>> import minigrad as torch
        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        torch.return_types.min(
        values=tensor([1., 0.]),
        indices=tensor([0, 1]))
    """
