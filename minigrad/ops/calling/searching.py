"""Search for values: where they belong in a sorted sequence, and whether they are among others."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor, wrap

__all__ = ["bucketize", "isin", "searchsorted"]


def _check_search(edges: Tensor, values: Any, right: bool, side: str | None, sorter: Any) -> None:
    name = "torch.searchsorted():"
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"{name} side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{name} side and right can't be set to opposites, got side of left while right was "
            "True"
        )
    if not edges.ndim:
        raise RuntimeError(
            f"{name} boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if not values.ndim and edges.ndim != 1:
        raise RuntimeError(
            f"{name} input value can be a scalar only when boundaries tensor dimension is 1, but "
            f"we got boundaries tensor dim({edges.ndim}) and input value's dim(0) numel(1)"
        )
    if edges.ndim > 1 and (edges.ndim != values.ndim or edges.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(
            f"{name} boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(edges.shape)} and input value tensor {list(values.shape)}"
        )
    if sorter is not None:
        if sorter.shape != edges.shape:
            raise RuntimeError(
                f"{name} boundary and sorter must have the same size, but got boundary tensor "
                f"{list(edges.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter._array.dtype != np.int64:
            raise RuntimeError(
                f"{name} sorter must be a tensor of long dtype but got dtype "
                f"{sorter.dtype.tensor_type}"
            )
        if sorter.numel() and not (
            sorter._array.min() >= 0 and sorter._array.max() < edges.shape[-1]
        ):
            raise RuntimeError(f"{name} sorter index out of range")


@with_out
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Give the places at which values would go into a sorted sequence.

    Args:
        sorted_sequence: Sorted entries, in one row or in many.
        input: The values: a number, or a tensor with as many rows.
        out_int32: Whether to give int32 in place of int64.
        right: Whether equal values go behind.
        side: The same in words: "left" or "right".
        sorter: The order of the sequence, if it is not sorted.

    Example:
        >>> import minigrad as torch
        >>> torch.searchsorted(torch.tensor([1.0, 3.0, 5.0]), torch.tensor([2.0, 3.0]))
        tensor([1, 1])
    """
    check_tensor("searchsorted", sorted_sequence, "sorted_sequence")
    values = input if isinstance(input, Tensor) else wrap(np.asarray(input))
    _check_search(sorted_sequence, values, right, side, sorter)
    edges = sorted_sequence._array
    if sorter is not None:
        edges = np.take_along_axis(edges, sorter._array, -1)
    where: Any = "right" if right or side == "right" else "left"
    if edges.ndim == 1:
        places = np.searchsorted(edges, values._array, where)
    else:
        places = np.empty(values.shape, np.int64)
        for row in np.ndindex(edges.shape[:-1]):
            places[row] = np.searchsorted(edges[row], values._array[row], where)
    return wrap(np.asarray(places).astype(np.int32 if out_int32 else np.int64))


@with_out
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Give the number of the bucket, between sorted boundaries, that each value belongs to.

    Example:
        >>> import minigrad as torch
        >>> torch.bucketize(torch.tensor([0.0, 2.0, 9.0]), torch.tensor([1.0, 3.0]))
        tensor([0, 1, 2])
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)  # type: ignore[no-any-return]


@with_out
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
    if not any(isinstance(one, Tensor) for one in given):
        raise TypeError("isin() takes two tensors, or a tensor and a number")
    for one in given:
        if not isinstance(one, (Tensor, int, float, complex)):
            raise TypeError(f"isin() takes tensors and numbers, not {type(one).__name__}")
        if isinstance(one, Tensor) and one._array.dtype.kind in "bc":
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {one.dtype.tensor_type}"
            )
    first, second = (one._array if isinstance(one, Tensor) else np.asarray(one) for one in given)
    return wrap(np.isin(first, second, invert=invert))


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


methods: dict[str, Any] = {}
functions: dict[Any, Any] = {
    np.isin: lambda element, test_elements, invert=False: isin(
        _tensor(element), _tensor(test_elements), invert=invert
    ),
    np.searchsorted: lambda a, v, side="left": searchsorted(_tensor(a), _tensor(v), side=side),
    np.digitize: lambda x, bins, right=False: bucketize(_tensor(x), _tensor(bins), right=not right),
}
