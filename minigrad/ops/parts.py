"""Take parts of a tensor: select, narrow, windows, index, any strides, and their reverses.

The reverse of taking a part is to put a gradient into zeros, at the place that was taken. It is an
operation with a rule of its own, which takes that part of the next gradient.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate, in_order, with_arguments, zeros_for
from minigrad.autograd.views import Geometry, check_strides, root_of, seen
from minigrad.core.operation import Array, arguments_of, operation
from minigrad.core.tensor import Tensor
from minigrad.signatures import arguments, variants
from minigrad.signatures.arguments import dimension, whole

# ---------------------------------------------------------------------- one entry, a range


def part(name: str) -> Any:
    """Declare an operation that gives a part of a tensor as a view, and its rule.

    The rule, the operation `select_backward` of `select`, puts a gradient into zeros where the part
    was; its own rule takes that part of the next gradient.

    Args:
        name: What the nodes are called: "Select" for `SelectBackward0`.
    """

    def decorate(take: Any) -> Any:
        given = ", ".join(arguments_of(take)[1:])

        @with_arguments(f"grad, {given}")
        def again(grad: Any, *settings: Any) -> Any:
            return dispatch(declared, grad, *settings)

        @with_arguments(f"grad_output, self_sym_sizes, {given}")
        def put(grad_output: Array, self_sym_sizes: Any, *settings: Any) -> Array:
            whole = zeros_for(grad_output, self_sym_sizes)
            take(whole, *settings)[...] = grad_output
            return whole

        put.__name__ = f"{name.lower()}_backward"
        put.__doc__ = f"Rule of {name.lower()}: zeros, and the gradient where the part was."
        rule = operation(f"{name}BackwardBackward0", grad_output=again)(put)
        declared = operation(f"{name}Backward0", view=True, self=rule)(take)
        return declared

    return decorate


@part("Select")
def select(self: Array, dim: Any, index: int) -> Array:
    """One entry along a dimension: the rest of the input gets no gradient."""
    return self[(slice(None),) * dim + (index, ...)]


@part("Slice")
def slice_dim(self: Array, dim: Any, start: int, end: int, step: int) -> Array:
    """A range along a dimension: the rest of the input gets no gradient."""
    return self[(slice(None),) * dim + (slice(start, end, step),)]


# ---------------------------------------------------------------------- index arrays and masks


@operation(
    "IndexPutImplBackward0",
    self=lambda grad: grad,
    values=lambda grad, indices: dispatch(index, grad, indices),
)
@ignore_errstate
def index_add(self: Array, values: Array, indices: Any) -> Array:
    """Values added at indices: an entry that is named twice collects both."""
    return _added(self.copy(), values, indices)


def _added(whole: Any, values: Any, indices: Any) -> Any:
    """Add values at indices in place."""
    rows = _rows(whole, indices)
    if rows is not None:
        add_rows(rows[0], rows[1], values)
    elif len(indices) == 1 and np.asarray(indices[0]).dtype.kind == "b":
        whole[indices] += values  # under a mask no entry is named twice
    else:
        np.add.at(whole, indices, values)
    return whole


def _rows(whole: Any, indices: Any) -> Any:
    """Give an array and one array of places along its first dimension, if the indices are such.

    So are many whole numbers for each of the first dimensions. NumPy is slow with several arrays.
    """
    if {i.dtype.kind if isinstance(i, np.ndarray) else "" for i in indices} != {"i"}:
        return None
    count = len(indices)
    if count == 1:
        return whole, indices[0]
    try:
        places = np.ravel_multi_index(indices, whole.shape[:count])
    except ValueError:  # not if some are negative
        return None
    return whole.reshape(math.prod(whole.shape[:count]), *whole.shape[count:]), places


def add_rows(whole: Any, positions: Any, values: Any) -> None:
    """Add values to the listed entries along the first dimension, in place, in their order.

    `whole` is C-contiguous. `np.add.at` would do it, but is slow with rows. If most rows are listed
    often, it gets single numbers to add. Otherwise all rows get their first value, then those that
    are listed again get their second one, and so on.
    """
    if positions.size < 16 or whole.ndim == 1:
        np.add.at(whole, positions, values)
        return
    values = np.broadcast_to(values, (*positions.shape, *whole.shape[1:]))
    values = values.reshape(-1, *whole.shape[1:])
    positions = positions.reshape(-1) % len(whole)
    if positions.size > 2 * len(whole):
        places = np.arange(whole.size).reshape(len(whole), -1)[positions]
        np.add.at(whole.reshape(-1), places.reshape(-1), values.reshape(-1))
        return
    order = np.argsort(positions, kind="stable")
    turns = np.arange(positions.size) - np.searchsorted(positions, positions[order], sorter=order)
    order, ends = order[turns.argsort(kind="stable")], np.bincount(turns).cumsum()
    for chosen in np.split(order, ends[:-1]):
        whole[positions[chosen]] += values[chosen]


def index_rule(grad: Any, self_sym_sizes: Any, indices: Any) -> Any:
    """Add each gradient to the entry of zeros that it came from."""
    zeros = zeros_for(grad, self_sym_sizes)
    return (index_add if isinstance(grad, Tensor) else _added)(zeros, grad, indices)


@operation("IndexBackward0", self=index_rule)
def index(self: Array, indices: Any) -> Array:
    """Entries at index arrays or under a mask: the rule adds each gradient where it came from."""
    rows = _rows(self, indices) if self.flags.c_contiguous else None
    if rows is None:
        return in_order(self[indices])
    return rows[0].take(rows[1].astype(np.intp, copy=False), 0)


@operation(
    "IndexPutBackward0",
    broadcasts=True,
    self=lambda grad, indices: dispatch(index_put, grad, zeros_for(grad, ()), indices),
    values=lambda grad, indices: dispatch(index, grad, indices),
)
def index_put(self: Array, values: Array, indices: Any) -> Array:
    """The input with other values at indices: these get the gradient of their places."""
    result = self.copy()
    result[indices] = values
    return result


# ---------------------------------------------------------------------- windows


def _unfold_rule(grad: Any, self_sym_sizes: Any, dim: int, size: int, step: int) -> Any:
    places = np.arange(grad.shape[dim])[:, None] * step + np.arange(size)
    windows = np.moveaxis(grad, -1, dim + 1)
    return index_rule(windows, self_sym_sizes, ((slice(None),) * dim + (places,)))


@operation("UnfoldBackward0", view=True, self=_unfold_rule)
def unfold_dim(self: Array, dim: int, size: int, step: int) -> Array:
    """Slide a window along a dimension: an entry collects from as many windows as see it.

    Windows have the place of the dimension, and at the end is one of the entries of each.
    """
    count = (self.shape[dim] - size) // step + 1
    shape = (*self.shape[:dim], count, *self.shape[dim + 1 :], size)
    along = self.strides[dim]
    strides = (*self.strides[:dim], along * step, *self.strides[dim + 1 :], along)
    return np.lib.stride_tricks.as_strided(self, shape, strides, subok=True)


# ---------------------------------------------------------------------- any strides at all


def memory_of(array: Any) -> Any:
    """Give the whole memory that an array is a part of, as a vector."""
    root = root_of(array)
    if not root.flags.c_contiguous:
        root = root.transpose(np.argsort([-step for step in root.strides], kind="stable"))
    return root.reshape(-1)


def _places(shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
    """Give the place in memory of each entry of an array, as a vector."""
    places = np.asarray(start)
    for size, step in zip(shape, strides, strict=True):
        places = places[..., None] + np.arange(size) * step
    return places.reshape(-1)


def _from_strides(grad: Any, own: Any, size: Any, storage_offset: Any, stride: Any) -> Any:
    """Add up the gradients at each place in memory, and give every entry of the base its place's.

    Entries of the base that share a place share its gradient.
    """
    start = own.start if storage_offset is None else storage_offset
    first = min(start, own.start)
    shown = _places(size, stride, start - first)
    held = _places(own.shape, own.strides, own.start - first)
    count = 1 + max(shown.max(initial=0), held.max(initial=0))
    memory = dispatch(index_add, zeros_for(grad, (count,)), grad.reshape(-1), (shown,))
    shares = np.bincount(held, minlength=count)
    if shares.max(initial=0) > 1:
        memory = memory / shares.clip(1).astype(getattr(grad, "_array", grad).dtype)
    return dispatch(index, memory, (held,)).reshape(own.shape)


@operation("AsStridedBackward0", view=True, self=_from_strides)
def as_strided(self: Array, size: Any, stride: Any, storage_offset: Any, own: Any) -> Array:
    """Look at the memory with any size and strides: an entry collects from all its appearances.

    How the input lies in the memory is `own`; without an offset the view starts where it does.
    """
    start = own.start if storage_offset is None else storage_offset
    return seen(memory_of(self), size, stride, start)


# ---------------------------------------------------------------------- what one calls


@variants("select")
def selected(input: Tensor, dim: int, index: int) -> Tensor:
    """Give one entry along a dimension, as a view without that dimension.

    Raises:
        IndexError: If there is none, or the tensor has no dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)
        tensor([1, 3])
    """
    number = dimension(dim, input.ndim)
    size = input._array.shape[number] if input.ndim else 0
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size "
            f"{list(input._array.shape)} at dimension {number}"
        )
    return select(input, number, index % size)


@variants()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Give a range along a dimension, by its start and length, as a view.

    Raises:
        RuntimeError: If it ends outside of the tensor, or the tensor has no dimensions.
        IndexError: If it begins outside.

    Example:
        >>> import minigrad as torch
        >>> torch.narrow(torch.tensor([1, 2, 3, 4]), 0, 1, 2)
        tensor([2, 3])
    """
    start = whole("narrow", start, "start")
    number = dimension(dim, input.ndim)
    size = input._array.shape[number] if input.ndim else -1
    if size >= 0 and not -size <= start <= size:
        raise IndexError(f"narrow(): start {start} is out of range for a dimension of size {size}")
    first = start + size if start < 0 else start
    if size < 0 or length < 0 or first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return slice_dim(input, number, first, first + length, 1)


@variants(function=False)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Give all windows of a size along a dimension, a step apart, as a view.

    Args:
        input: The tensor.
        dimension: The dimension that the window slides along.
        size: The size of the window.
        step: How far it moves.

    Returns:
        A view with a dimension of windows, and at the end one of the entries of each.

    Raises:
        RuntimeError: If the window is larger than the dimension, or the step is not positive.

    Example:
        >>> import minigrad as torch
        >>> torch.arange(5).unfold(0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3],
                [2, 3, 4]])
    """
    number = arguments.dimension(dimension, input.ndim)
    limit = input._array.shape[number] if input.ndim else 0
    if not 0 <= size <= limit or step <= 0:
        raise RuntimeError(f"unfold(): no windows of size {size}, step {step}, in size {limit}")
    return unfold_dim(input, number, size, step)


@variants("as_strided", in_place="function", writes="shape")
def strided_view(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """Look at the tensor's memory with any size and strides.

    Args:
        input: The tensor.
        size: The size of the view.
        stride: How many entries in memory lie between neighbors, along each dimension.
        storage_offset: How many entries of the memory come before the first; by default as many
            as before the tensor's own first.

    Raises:
        RuntimeError: If the view would reach outside of the memory.

    Example:
        >>> import minigrad as torch
        >>> torch.as_strided(torch.arange(6), (2, 2), (3, 1))
        tensor([[0, 1],
                [3, 4]])
    """
    sizes, steps = tuple(size), tuple(stride)
    own, array = Geometry(input._array), input._array
    if len(sizes) != len(steps) or min(sizes + steps, default=0) < 0:
        raise RuntimeError(f"as_strided(): sizes {sizes} and strides {steps} are no view")
    start = own.start if storage_offset is None else storage_offset
    check_strides(array, sizes, steps, start, root_of(array).size)
    return as_strided(input, sizes, steps, storage_offset, own)
