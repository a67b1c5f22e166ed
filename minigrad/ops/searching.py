"""Search and count entries: positions, places in a sorted row, different ones, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.own_nodes import not_differentiable, without_derivative
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes, factories
from minigrad.faces import arguments, face, numpy_protocols
from minigrad.ops.reduction import refuse_empty


def _axes(dim: Any, input: Tensor) -> tuple[int, ...] | None:
    """Give the dimensions that an argument names, which may be a tensor with one number."""
    if isinstance(dim, Tensor):
        dim = arguments.whole("any", dim, "dim")
    return None if dim is None else arguments.dimensions(dim, input.ndim)


def _asked(reduce: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    array = input._array
    if isinstance(dim, (tuple, list)) and not dim:
        axes: Any = ()  # as in PyTorch: each entry by itself
    else:
        axes = _axes(dim, input)
    answer = np.asarray(reduce(array.astype(bool), axis=axes, keepdims=keepdim))
    return wrap(answer.astype(np.uint8) if array.dtype == np.uint8 else answer)


@face("all(Tensor input, dim=None, keepdim=False, *, out=None)", out="booleans", numpy=np.all)
def all_true(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
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


@face("any(Tensor input, dim=None, keepdim=False, *, out=None)", out="booleans", numpy=np.any)
def any_true(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Tell whether any entry is true, that is not 0, or along dimensions; see `all`.

    Example:
        >>> import minigrad as torch
        >>> torch.any(torch.tensor([[True, False], [True, True]]), dim=0)
        tensor([True, True])
    """
    return _asked(np.logical_or.reduce, input, dim, keepdim)


_POSITION = "(Tensor input, Dim? dim=None, keepdim=False, *, out=None)"


def _position(find: Any, input: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    array, name = input._array, find.__name__
    if array.dtype.kind in "bc":
        raise RuntimeError(f"{name}() does not take tensors of type {array.dtype}")
    if dim is not None:
        refuse_empty(name, input, dim)
    elif not array.size:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        )
    if not array.ndim:
        return wrap(np.zeros((), np.int64))
    return _places(find(array, axis=dim, keepdims=keepdim))


@face(f"argmax{_POSITION}", out="none", numpy=np.argmax)
def argmax(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
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


@face(f"argmin{_POSITION}", out="none", numpy=np.argmin)
def argmin(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Give the position of the smallest entry, among all or along a dimension; see `argmax`.

    Example:
        >>> import minigrad as torch
        >>> torch.argmin(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
        tensor([0, 1])
    """
    return _position(np.argmin, input, dim, keepdim)


@face("count_nonzero(Tensor input, dim=None)", numpy=np.count_nonzero)
def count_nonzero(input: Tensor, dim: Any) -> Tensor:
    """Count the entries that are not 0, all or along dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.count_nonzero(torch.tensor([[1, 0], [2, 3]]), dim=0)
        tensor([2, 1])
    """
    axes = _axes(dim, input)
    return wrap(np.asarray(np.count_nonzero(input._array, axis=axes), np.int64))


@face("nonzero(Tensor input, *, out=None, as_tuple=False)", out="none")
def nonzero(input: Tensor, as_tuple: bool) -> Any:
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


@face("argwhere(Tensor input)", numpy=np.argwhere)
def argwhere(input: Tensor) -> Tensor:
    """Give the positions of the entries that are not 0, one in each row.

    Example:
        >>> import minigrad as torch
        >>> torch.argwhere(torch.tensor([0, 5, 6]))
        tensor([[1],
                [2]])
    """
    return nonzero(input, False)


@face(
    "isin(elements, test_elements, *, assume_unique=False, invert=False, out=None)",
    out="none",
    method=False,
)
def isin(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Tensor:
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


_UNIQUE = not_differentiable("Unique2Backward0", "_unique2")
_UNIQUE_DIM = not_differentiable("UniqueDimBackward0", "unique_dim")


@face("unique(Tensor input, sorted=True, return_inverse=False, return_counts=False, Dim? dim=None)")
def unique(
    input: Tensor, sorted: bool, return_inverse: bool, return_counts: bool, dim: int | None
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
    array, sizes = input._array, input._array.shape
    if dim is not None and 0 in sizes and sizes[dim]:
        raise RuntimeError("unique(): a dimension has size 0, and is not the one that is compared")
    parts: dict[str, Any] = {"return_inverse": return_inverse, "return_counts": return_counts}
    found = np.unique(array, axis=dim, equal_nan=False, **parts)
    values, *more = found if isinstance(found, tuple) else (found,)
    first = (_UNIQUE if dim is None else _UNIQUE_DIM)(values, input)
    return (first, *map(_places, more)) if more else first


# ---------------------------------------------------------------------- histograms


@face(
    "histogram(Tensor input, bins=100, *, range=None, density=False, out=None) -> (hist, bin_edges)"
)
def histogram(input: Tensor, bins: Any, range: Any, density: bool) -> Any:
    """Count the entries in each bin.

    Args:
        input: The tensor, of floating-point numbers.
        bins: How many bins of one width, or a tensor of their edges.
        range: The two ends of the bins; those of the entries if it is left out.
        density: Give densities, whose integral is 1, in place of counts.

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
    edges = _edges(array, bins, range)
    counts, _ = np.histogram(array, edges, density=density)
    hist = without_derivative("histogram", wrap(counts.astype(array.dtype)), input)
    return hist, without_derivative("histogram", wrap(edges), input)


def _edges(array: Any, bins: Any, ends: Any) -> Any:
    """Give the edges of the bins of a histogram."""
    if isinstance(bins, Tensor) and bins._array.ndim:
        return bins._array
    bins = arguments.whole("histogram", bins, "bins")
    if ends is None:
        ends = (float(array.min()), float(array.max())) if array.size else (0.0, 1.0)
    low, high = ends
    if bins <= 0 or not low <= high or not np.isfinite((low, high)).all():
        raise RuntimeError(f"histogram(): no {bins} bins between {low:g} and {high:g}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return factories.linspace(low, high, bins + 1, dtype=dtypes.of_array(array))._array


numpy_protocols.functions[np.nonzero] = lambda a: nonzero(a, True)
