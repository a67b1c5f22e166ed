"""Look up vectors in a table, one by one or in bags that are summed."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched
from minigrad.autograd.rules import zeros_for
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.parts import index_rule
from minigrad.ops.shape import type_name
from minigrad.signatures import functional


def _rule(grad: Any, positions: Any, weight_sym_sizes: Any, padding_idx: int) -> Any:
    """Add up in each row the gradients of the places where it was used, but not that of padding."""
    kept = positions != padding_idx
    if not kept.all():
        grad = grad * kept[..., None].astype(getattr(grad, "_array", grad).dtype)
    return index_rule(grad, weight_sym_sizes, (positions,))


@operation("EmbeddingBackward0", weight=_rule)
def embedding(weight: Array, positions: Any, padding_idx: int) -> Array:
    """Rows of a table at listed places; the row of padding gets no gradient."""
    return weight[positions]


# ---------------------------------------------------------------------- what is called


@functional()
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Give for each class number a vector with 1 in its place and 0 elsewhere.

    Args:
        input: The numbers of the classes, of type int64.
        num_classes: How many classes there are; by default one more than the largest number.

    Returns:
        A tensor of type int64 with one dimension more.

    Raises:
        RuntimeError: If a number is negative or too large, or the tensor is of another type.

    Shape:
        - input: (...)
        - output: (..., num_classes)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    classes = input._array
    if classes.dtype != np.int64:
        raise RuntimeError("one_hot takes an index tensor of int64. Convert with .long().")
    if num_classes == -1 and classes.size:
        num_classes = int(classes.max()) + 1
    if num_classes < 1 or (classes.size and not 0 <= classes.min() <= classes.max() < num_classes):
        raise RuntimeError(f"one_hot: the classes must be numbers from 0 below {num_classes}")
    result = np.zeros((*classes.shape, num_classes), np.int64)
    np.put_along_axis(result, classes[..., None], 1, -1)
    hot = wrap(result)
    for _ in range(2):
        hot._bump_version()  # as in PyTorch, which fills zeros in place
    return hot


def _check(name: str, positions: Any, table: Any, **settings: Any) -> None:
    """Raise if there are no such rows, or a setting asks for what is not supported."""
    if positions.dtype not in (np.dtype("int64"), np.dtype("int32")) or table.ndim != 2:
        raise RuntimeError(
            f"{name} takes numbers of rows, in int64 or int32, and a table of two dimensions, not "
            f"{type_name(positions)} and {list(table.shape)}. Convert the numbers with .long()."
        )
    for setting, value in settings.items():
        if value not in (None, False):
            raise NotImplementedError(f"{name} has no {setting} here. Leave out {setting}={value}.")
    if positions.size and not 0 <= positions.min() <= positions.max() < len(table):
        raise IndexError(
            f"index out of range in self. The table has {len(table)} rows, and the numbers go "
            f"from {positions.min()} to {positions.max()}."
        )


def row_of_padding(padding_idx: int | None, rows: int) -> int:
    """Give the number of the row that is padding, counted from 0 on; -1 if there is none."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise AssertionError("padding_idx must be within num_embeddings")
    return padding_idx % rows


@functional("embedding")
def looked_up(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: Any = None,
    norm_type: Any = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up rows of a table by their numbers.

    Args:
        input: The numbers of rows.
        weight: The table.
        padding_idx: A row that gets no gradient; negative ones count from the end.
        max_norm: Must be None: no row is shortened.
        norm_type: Belongs to `max_norm`.
        scale_grad_by_freq: Must be False: gradients are not divided by how often a row is used.
        sparse: Must be False: there are no sparse tensors here.

    Returns:
        The rows.

    Raises:
        AssertionError: If there is no row `padding_idx`.
        IndexError: If a number is out of range.
        NotImplementedError: If `sparse` or `scale_grad_by_freq` is set.
        RuntimeError: If the numbers are no integers of 32 or 64 bits, or the table is no matrix.

    Shape:
        - input: any shape (*)
        - weight: (V, D)
        - output: (*, D)

    Example:
        >>> import minigrad as torch
        >>> table = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
        >>> torch.nn.functional.embedding(torch.tensor([1, 0]), table)
        tensor([[2., 3.],
                [0., 1.]])
    """
    padding = row_of_padding(padding_idx, weight.size(0))
    refused = {"max_norm": max_norm, "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    _check("embedding", input._array, weight._array, **refused)
    return watched(embedding(weight, input._array, padding), input)


@functional()
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Look up rows of a table, and join those of each bag to their mean or sum.

    Args:
        input: The numbers of rows: one bag in each row, or all bags one after the other.
        weight: The table.
        offsets: Where each bag begins, if they come one after the other.
        max_norm: Must be None: no row is shortened.
        norm_type: Belongs to `max_norm`.
        scale_grad_by_freq: Must be False: gradients are not divided by how often a row is used.
        mode: `"sum"` or `"mean"`.
        sparse: Must be False: there are no sparse tensors here.
        per_sample_weights: A factor for each number in `input`, for sums only.
        include_last_offset: Whether the last offset is the end of the last bag.
        padding_idx: A row that does not count.

    Returns:
        One vector for each bag; an empty bag gives zeros.

    Raises:
        IndexError: If a number is out of range.
        NotImplementedError: If the largest entries are asked for, or a gradient by frequency, or
            a sparse one, or weights for a mean.
        RuntimeError: If an offset is out of range.
        ValueError: If shapes do not fit together.

    Shape:
        - input: (B, N), or (N,) with offsets (B,)
        - weight: (V, D)
        - output: (B, D)

    Example:
        >>> import minigrad as torch
        >>> table = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
        >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [1, 1]]), table)
        tensor([[1., 2.],
                [2., 3.]])
    """
    if mode not in ("sum", "mean") or (per_sample_weights is not None and mode != "sum"):
        raise NotImplementedError(
            f"embedding_bag has no mode={mode!r} here, and per_sample_weights for mode='sum' only. "
            "Look rows up with embedding, and join them yourself."
        )
    padding = row_of_padding(padding_idx, weight.size(0))
    positions, starts = input._array, offsets if offsets is None else offsets._array
    if positions.ndim == 2 and starts is None:
        starts, positions = np.arange(len(positions)) * positions.shape[1], positions.reshape(-1)
    if positions.ndim != 1 or starts is None or starts.ndim != 1:
        raise ValueError("embedding_bag takes a matrix of bags, or a vector and the bags' offsets")
    refused = {"max_norm": max_norm, "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    _check("embedding_bag", positions, weight._array, **refused)
    if starts.size and (starts[0] != 0 or starts[-1] > len(positions)):
        raise RuntimeError("embedding_bag: offsets go from 0 to the end of the input")
    count, end = len(starts), len(positions)
    if include_last_offset:
        count, end, starts = count - 1, int(starts[-1]), starts[:-1]
    bags = np.searchsorted(starts, np.arange(len(positions)), side="right") - 1
    kept = (positions != padding).astype(np.float64)
    kept[end:] = 0  # what comes after the last offset counts nowhere
    if mode == "mean":
        kept /= np.maximum(np.bincount(bags, kept, count), 1)[bags]
    dtype = weight._array.dtype
    rows = embedding(weight, positions, -1) * wrap(kept[:, None].astype(dtype))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    sums = wrap(zeros_for(weight._array, (count, weight._array.shape[1])))
    return sums.index_add(0, wrap(bags), rows)
