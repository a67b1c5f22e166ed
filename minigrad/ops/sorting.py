"""Put entries in order, or find those of a rank: medians, modes, the largest few.

The positions are found in `minigrad.ops.order`. The operations of the book take the entries from
there, and their rules write the gradients to where the entries came from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import face, numpy_protocols
from minigrad.faces.arguments import dimension_of, refuse
from minigrad.faces.results import named_tuple
from minigrad.ops import order
from minigrad.ops.choices import masked_fill
from minigrad.ops.parts import gather, scatter
from minigrad.ops.reduction import refuse_empty, select_rule, taken, with_indices
from minigrad.ops.type_promotion import applied


def _order_rule(grad: Any, self_sym_sizes: Any, dim: Any, positions: Any) -> Any:
    zeros = np.zeros_like(grad, shape=self_sym_sizes)
    return applied(scatter, zeros, dim, positions, grad)


@differentiable("SortBackward0", self=_order_rule)
def sort(self: Array, dim: Any, positions: Any) -> Array:
    """Entries in order, from known positions: each gradient goes back to where its entry was."""
    return gather.forward(self, dim, positions)


@differentiable("SortBackward1", self=_order_rule)
def sort_stable(self: Array, dim: Any, positions: Any) -> Array:
    """Entries in order, where it was said whether equal ones keep theirs."""
    return gather.forward(self, dim, positions)


@differentiable("TopkBackward0", self=_order_rule)
def topk(self: Array, dim: Any, positions: Any) -> Array:
    """The largest or smallest entries, from known positions: the others get no gradient."""
    return gather.forward(self, dim, positions)


@differentiable("KthvalueBackward0", self=select_rule)
def kthvalue(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """The k-th smallest entry along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


@differentiable("MedianBackward1", self=select_rule)
def median_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Median along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


@differentiable("NanmedianBackward1", self=select_rule)
def nanmedian_dim(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Median of all but NaN along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


@differentiable("ModeBackward0", self=select_rule)
def mode(self: Array, dim: Any, keepdim: Any, positions: Any) -> Array:
    """Most frequent entry along a dimension, at known positions: it gets the gradient alone."""
    return taken(self, dim, keepdim, positions)


def _share_among_middle(grad: Any, self: Any, result: Any) -> Any:
    chosen = (self == result) + (self != self) * (result != result)  # NaN is not equal to itself
    counted = np.where(chosen, np.ones_like(grad), np.zeros_like(grad))
    share = grad / np.add.reduce(counted, axis=None)
    return applied(masked_fill, np.zeros_like(self), chosen, share)


def _entry(array: Any, position: int) -> Any:
    """Give one entry of all, or NaN if there are none."""
    if array.size:
        return array.reshape(-1)[position, ...].copy()
    smallest = np.iinfo(array.dtype).min if array.dtype.kind in "iu" else math.nan
    return np.asarray(smallest).astype(array.dtype)


@differentiable("MedianBackward0", self=_share_among_middle)
def median_all(self: Array, position: Any) -> Array:
    """Median of all entries, at a known position: equal ones share the gradient."""
    return _entry(self, position)


@differentiable("NanmedianBackward0", self=_share_among_middle)
def nanmedian_all(self: Array, position: Any) -> Array:
    """Median of all entries but NaN, at a known position: equal ones share the gradient."""
    return _entry(self, position)


# ---------------------------------------------------------------------- what is called


def _positions(input: Tensor, dim: int, descending: bool) -> Any:
    if input._array.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    return order.argsort(input._array, dim, descending)


@face(
    "sort(Tensor input, Dim dim=-1, descending=False, *, stable=None, out=None)"
    " -> (values, indices)"
)
def in_order(input: Tensor, dim: int, descending: bool, stable: bool | None) -> Any:
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
    operation = sort if stable is None else sort_stable
    return with_indices(operation(input, dim, positions), positions)


@face("argsort(Tensor input, Dim dim=-1, descending=False, *, stable=False, out=None)")
def argsort(input: Tensor, dim: int, descending: bool, stable: bool) -> Tensor:
    """Give the positions of the entries along a dimension, in the order of the entries.

    Example:
        >>> import minigrad as torch
        >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
        tensor([1, 2, 0])
    """
    return wrap(_positions(input, dim, descending))


@face(
    "topk(Tensor input, k, Dim dim=-1, largest=True, sorted=True, *, out=None) -> (values, indices)"
)
def largest_few(input: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> Any:
    """Give the k largest or smallest entries along a dimension.

    Args:
        input: The tensor.
        k: How many.
        dim: The dimension; the last unless said otherwise.
        largest: Whether the largest are wanted, or the smallest.
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
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise TypeError(f"topk(): argument 'k' (position 2) must be int, not {type_name(k)}")
    array, k = input._array, k.__index__()
    if not 0 <= k <= (array.shape[dim] if array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if array.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if array.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    positions = order.extremes(array, dim, k, largest)
    return with_indices(topk(input, dim, positions), positions)


@face("kthvalue(Tensor input, k, Dim dim=-1, keepdim=False, *, out=None) -> (values, indices)")
def smallest_kth(input: Tensor, k: int, dim: int, keepdim: bool) -> Any:
    """Give the k-th smallest entry along a dimension, counted from 1.

    Example:
        >>> import minigrad as torch
        >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2)
        torch.return_types.kthvalue(
        values=tensor(2.),
        indices=tensor(2))
    """
    refuse_empty("kthvalue", input, dim)
    if not 1 <= k <= (input._array.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if input.ndim:
        refuse("kthvalue_cpu", "bc", input)
    positions = order.kth(input._array, dim, k - 1)
    return with_indices(kthvalue(input, dim, keepdim, positions), positions)


def _median(name: str, of_all: Any, along: Any, *, skips: bool) -> None:
    kind = named_tuple(name, ("values", "indices"))

    def function(input: Tensor, dim: Any, keepdim: bool) -> Any:
        array = input._array
        if dim is None:
            if keepdim:
                raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
            refuse("median_cpu", "bc", input)
            flat = array.reshape(-1)
            return of_all(input, int(order.middle(flat, 0, skips)[0]) if flat.size else 0)
        number = dimension_of(name, dim, input)
        refuse_empty("median", input, number)
        refuse("median_out", "bc", input)
        positions = order.middle(array, number, skips)
        values = along(input, number, keepdim, positions)
        return kind(*with_indices(values, positions))

    function.__doc__ = f"""Give the median of all entries, or along a dimension.

    It is an entry: of the two in the middle the smaller one.{" NaN does not count." * skips}

    Args:
        input: The tensor.
        dim: The dimension; all entries if it is left out.
        keepdim: Keep the dimension, with size 1.

    Returns:
        A tensor; along a dimension a named tuple of the `values` and their `indices`.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([4.0, 1.0, 3.0, 2.0]))
        tensor(2.)
    """
    face(f"{name}(Tensor input, dim=None, keepdim=False, *, out=None)")(function)


_median("median", median_all, median_dim, skips=False)
_median("nanmedian", nanmedian_all, nanmedian_dim, skips=True)


@face("mode(Tensor input, Dim dim=-1, keepdim=False, *, out=None) -> (values, indices)")
def most_frequent(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Give the most frequent entry along a dimension: the smallest of several.

    Returns:
        A named tuple of the `values` and the `indices` of one of their places.

    Example:
        >>> import minigrad as torch
        >>> torch.mode(torch.tensor([3, 1, 3, 2]))
        torch.return_types.mode(
        values=tensor(3),
        indices=tensor(2))
    """
    refuse_empty("mode", input, dim)
    if input.ndim:
        refuse("mode_cpu", "c", input)
    positions = order.most_frequent(input._array, dim)
    return with_indices(mode(input, dim, keepdim, positions), positions)


def _sorted(
    a: Tensor, axis: Any = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Tensor:
    return a.flatten().sort(0).values if axis is None else a.sort(axis).values


def _argsorted(
    a: Tensor, axis: Any = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Tensor:
    return a.flatten().argsort(0) if axis is None else a.argsort(axis)


numpy_protocols.functions.update({np.sort: _sorted, np.argsort: _argsorted})
