"""Find the different entries, or rows, and count how often each comes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import attend, grad_mode
from minigrad.autograd.node import NO_EDGE, Node, next_priority
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.spellings import one_dimension
from minigrad.tensor import Tensor, wrap

__all__ = ["unique", "unique_consecutive"]


# ---------------------------------------------------------------------- different entries


class _NotDifferentiable(Node):
    """Backward of an operation that has no derivative: it says so."""

    __slots__ = ()
    _operation = ""

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Raise: there is no rule."""
        raise NotImplementedError(f"the derivative for '{self._operation}' is not implemented.")

    _run_recorded = _run


class Unique2Backward0(_NotDifferentiable):
    """Backward of `unique`, which has no derivative."""

    __slots__ = ()
    _operation = "_unique2"


class UniqueDimBackward0(_NotDifferentiable):
    """Backward of `unique` along a dimension, which has no derivative."""

    __slots__ = ()
    _operation = "unique_dim"


class UniqueConsecutiveBackward0(_NotDifferentiable):
    """Backward of `unique_consecutive`, which has no derivative."""

    __slots__ = ()
    _operation = "unique_consecutive"


def _recorded(kind: type[Node], input: Tensor, array: Any) -> Tensor:
    result = wrap(array)
    edge = (input._edge or resolve_edge(input)) if grad_mode.enabled else NO_EDGE
    if edge is not NO_EDGE:
        node = object.__new__(kind)
        node.next_functions, node._saved = (edge,), ()
        node._hooks = node._broadcast = None
        node._priority = next_priority()
        result._edge = (node, 0)
        attend(node, result)
    return result


def _rows(input: Tensor, dim: int | None) -> Any:
    """Give what is compared: the entries, or the parts along a dimension as rows."""
    array = input._array
    if dim is None:
        return array.reshape(-1)
    sizes = array.shape
    if 0 in sizes and sizes[dim]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    rows = np.moveaxis(array, dim, 0)
    return rows.reshape(rows.shape[0], -1 if array.size else 0)


def _number(name: str, dim: int | None, input: Tensor) -> int | None:
    if dim is not None and not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return None if dim is None else one_dimension(name, dim, input)


def _runs(rows: Any) -> Any:
    """Tell for each row whether it differs from the one before."""
    starts = np.ones(len(rows), bool)
    if rows.ndim > 1:
        starts[1:] = (rows[1:] != rows[:-1]).any(1)
    else:
        starts[1:] = rows[1:] != rows[:-1]
    return starts


def _answer(
    kind: type[Node], input: Tensor, dim: int | None, order: Any, starts: Any, wanted: Any
) -> Any:
    """Give the first of each run of rows in an order, and what else is wanted."""
    if dim is None:
        values = input._array.reshape(-1)[order][starts]
    else:
        values = np.take(input._array, order[starts], dim)
    number = np.cumsum(starts, dtype=np.int64) - 1
    inverse = np.empty_like(number)
    inverse[order] = number
    counts = np.bincount(number, minlength=values.shape[dim or 0] if values.ndim else 0)
    sizes = input._array.shape if dim is None else (-1,)
    extra = [inverse.reshape(sizes), counts.astype(np.int64)]
    chosen = [wrap(array) for array, ask in zip(extra, wanted, strict=True) if ask]
    first = _recorded(kind, input, values)
    return (first, *chosen) if chosen else first


def _check_unique(input: Tensor) -> None:
    check_tensor("unique", input)
    if input._array.dtype.kind == "c":
        raise NotImplementedError(f"\"unique\" not implemented for '{input.dtype.tensor_type}'")


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
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
    _check_unique(input)
    number = _number("unique", dim, input)
    rows = _rows(input, number)
    if rows.ndim == 1:
        order = np.argsort(rows, kind="stable")
    elif rows.shape[1]:
        order = np.lexsort(rows.T[::-1])
    else:
        order = np.arange(len(rows))
    kind = Unique2Backward0 if dim is None else UniqueDimBackward0
    wanted = (return_inverse, return_counts)
    return _answer(kind, input, number, order, _runs(rows[order]), wanted)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Give the entries, or the parts along a dimension, that differ from the one before.

    Example:
        >>> import minigrad as torch
        >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    _check_unique(input)
    number = _number("unique_consecutive", dim, input)
    rows = _rows(input, number)
    wanted = (return_inverse, return_counts)
    order = np.arange(len(rows))
    return _answer(UniqueConsecutiveBackward0, input, number, order, _runs(rows), wanted)


methods: dict[str, Any] = {name: globals()[name] for name in __all__}
functions: dict[Any, Any] = {
    np.unique: lambda ar, return_inverse=False, return_counts=False, axis=None: unique(
        ar, True, return_inverse, return_counts, axis
    ),
}
