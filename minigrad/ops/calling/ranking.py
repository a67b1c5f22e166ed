"""Call sorting, and what depends on the order of entries: medians, quantiles, the largest few."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.watched import watched
from minigrad.ops import sorting, statistics
from minigrad.ops.calling import order, results
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.results import with_named_out
from minigrad.ops.calling.spellings import numpy_spellings, one_dimension, refuse_empty
from minigrad.tensor import Tensor, wrap

__all__ = [
    "argsort",
    "kthvalue",
    "median",
    "mode",
    "msort",
    "nanmedian",
    "sort",
    "topk",
]


def _refuse(name: str, input: Tensor, kinds: str) -> None:
    if input._array.dtype.kind in kinds:
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.tensor_type}'")


def _ordered(name: str, input: Tensor, dim: Any, descending: bool) -> tuple[int, Any]:
    check_tensor(name, input)
    if input._array.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    number = one_dimension(name, dim, input)
    return number, order.argsort(input._array, number, descending)


@with_named_out
@numpy_spellings
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None
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
    number, positions = _ordered("sort", input, dim, descending)
    operation = sorting.sort if stable is None else sorting.sort_stable
    indices = wrap(positions)
    return results.sort(watched(operation(input, number, positions), indices), indices)


@with_out
@numpy_spellings
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
) -> Tensor:
    """Give the positions of the entries along a dimension, in the order of the entries.

    Example:
        >>> import minigrad as torch
        >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
        tensor([1, 2, 0])
    """
    return wrap(_ordered("argsort", input, dim, descending)[1])


@with_out
def msort(input: Tensor) -> Tensor:
    """Put the entries along the first dimension in order.

    Example:
        >>> import minigrad as torch
        >>> torch.msort(torch.tensor([[3.0, 1.0], [2.0, 4.0]]))
        tensor([[2., 1.],
                [3., 4.]])
    """
    return sort(input, 0).values  # type: ignore[no-any-return]


@with_named_out
@numpy_spellings
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
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
    check_tensor("topk", input)
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise TypeError(f"topk(): argument 'k' (position 2) must be int, not {type(k).__name__}")
    array, k = input._array, k.__index__()
    number = one_dimension("topk", dim, input)
    if not 0 <= k <= (array.shape[number] if array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if array.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if array.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    positions = order.extremes(array, number, k, largest)
    indices = wrap(positions)
    return results.topk(watched(sorting.topk(input, number, positions), indices), indices)


def _with_indices(values: Tensor, positions: Any) -> tuple[Tensor, Tensor]:
    """Give values, and their positions as a tensor that the node watches."""
    indices = wrap(positions.reshape(values._array.shape))
    return watched(values, indices), indices


@with_named_out
@numpy_spellings
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Give the k-th smallest entry along a dimension, counted from 1.

    Example:
        >>> import minigrad as torch
        >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2)
        torch.return_types.kthvalue(
        values=tensor(2.),
        indices=tensor(2))
    """
    check_tensor("kthvalue", input)
    number = one_dimension("kthvalue", dim, input)
    refuse_empty("kthvalue", input, number)
    if not 1 <= k <= (input._array.shape[number] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {number}")
    if input.ndim:
        _refuse("kthvalue_cpu", input, "bc")
    positions = order.kth(input._array, number, k - 1)
    values = sorting.kthvalue(input, number, keepdim, positions)
    return results.kthvalue(*_with_indices(values, positions))


def _median(name: str, of_all: Any, along: Any, kind: Any, *, skips: bool) -> Any:
    def function(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        check_tensor(name, input)
        array = input._array
        if dim is None:
            if keepdim:
                raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
            _refuse("median_cpu", input, "bc")
            flat = array.reshape(-1)
            return of_all(input, int(order.middle(flat, 0, skips)[0]) if flat.size else 0)
        number = one_dimension(name, dim, input)
        refuse_empty("median", input, number)
        _refuse("median_out", input, "bc")
        positions = order.middle(array, number, skips)
        values = along(input, number, keepdim, positions)
        return kind(*_with_indices(values, positions))

    function.__name__ = name
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
    return with_named_out(numpy_spellings(function))


median = _median("median", statistics.median_all, sorting.median_dim, results.median, skips=False)
nanmedian = _median(
    "nanmedian", statistics.nanmedian_all, sorting.nanmedian_dim, results.nanmedian, skips=True
)


@with_named_out
@numpy_spellings
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
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
    check_tensor("mode", input)
    number = one_dimension("mode", dim, input)
    refuse_empty("mode", input, number)
    if input.ndim:
        _refuse("mode_cpu", input, "c")
    positions = order.most_frequent(input._array, number)
    values = sorting.mode(input, number, keepdim, positions)
    return results.mode(*_with_indices(values, positions))


methods: dict[str, Any] = {name: globals()[name] for name in __all__}


def _sort(
    a: Tensor, axis: Any = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Any:
    return sort(a.reshape(-1), 0).values if axis is None else sort(a, axis).values


def _argsort(
    a: Tensor, axis: Any = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Tensor:
    return argsort(a.reshape(-1), 0) if axis is None else argsort(a, axis)


functions: dict[Any, Any] = {np.sort: _sort, np.argsort: _argsort}
