"""Put sequences of different lengths into one tensor: padded with a value, or packed without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import as_tensor
from minigrad.creation.dtypes import int64
from minigrad.creation.factories import arange, empty_like, full


class PackedSequence(NamedTuple):
    """Sequences of different lengths, packed: made by functions such as `pack_sequence`.

    Attributes:
        data: The elements: first the first ones of all sequences, then the second ones, ...
        batch_sizes: How many sequences have a first element, a second one, ...
        sorted_indices: The order in which the sequences were taken, or None if it is theirs.
        unsorted_indices: What brings them back into their order, or None.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.nn.utils.rnn import pack_sequence
        >>> packed = pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Give the permutation that undoes another one.

    Example:
        >>> import minigrad as torch
        >>> invert_permutation(torch.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    return empty_like(permutation).scatter_(0, permutation, arange(permutation.numel()))


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences, leaving out the padding.

    Args:
        input: Of shape (L, N, ...), or (N, L, ...) with `batch_first`.
        lengths: The length of each sequence.
        batch_first: Whether the batch is the first dimension.
        enforce_sorted: Whether the lengths must not increase; else they are sorted here.

    Raises:
        RuntimeError: If lengths are not sorted, not positive, or not one for each sequence.

    Example:
        >>> import minigrad as torch
        >>> padded = torch.tensor([[1, 2, 3], [4, 0, 0]])
        >>> pack_padded_sequence(padded, [3, 1], batch_first=True).data
        tensor([1, 4, 2, 3])
    """
    counts, order = as_tensor(lengths, dtype=int64)._array, None
    if not enforce_sorted:
        order = wrap(np.argsort(-counts, kind="stable"))
        counts = counts[order._array]
        input = input.index_select(0 if batch_first else 1, order)
    turned = input.transpose(0, 1) if batch_first else input
    longest, batch = turned.shape[:2]
    fits = counts.shape == (batch,) and 0 < counts.min() <= counts.max() <= longest
    if not fits or (np.diff(counts) > 0).any():
        raise RuntimeError(
            f"lengths={counts.tolist()} must be one for each of {batch} sequences, from 1 to "
            f"{longest}, and not increase. enforce_sorted=False sorts them."
        )
    longest = int(counts[0])
    present = np.arange(longest)[:, None] < counts
    data = turned[:longest][wrap(present)]
    return PackedSequence(data, wrap(present.sum(1)), order, invert_permutation(order))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad what was packed: the inverse of `pack_padded_sequence`.

    Args:
        sequence: The packed sequences.
        batch_first: Whether the batch should be the first dimension.
        padding_value: What to pad with.
        total_length: The length to pad to; the greatest one there is if None.

    Returns:
        The padded sequences, and their lengths.

    Raises:
        ValueError: If a sequence is longer than `total_length`.

    Example:
        >>> import minigrad as torch
        >>> packed = pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
        >>> pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2, 3],
                [4, 0, 0]]), tensor([3, 1]))
    """
    sizes = sequence.batch_sizes._array
    longest = len(sizes) if total_length is None else total_length
    if longest < len(sizes):
        raise ValueError(f"total_length={longest} is less than the longest: {len(sizes)}")
    data, batch = sequence.data, int(sizes[0])
    padded = full((longest, batch, *data.shape[1:]), padding_value, dtype=data.dtype)
    present = np.arange(batch) < np.pad(sizes, (0, longest - len(sizes)))[:, None]
    padded[wrap(present)] = data
    lengths = wrap((sizes[:, None] > np.arange(batch)).sum(0))
    if batch_first:
        padded = padded.transpose(0, 1)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order]


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences along a new dimension, padding those that are shorter.

    Args:
        sequences: Tensors of shapes (L, ...), with lengths of their own.
        batch_first: Whether the batch should be the first dimension, not the second.
        padding_value: What to pad with.
        padding_side: "right" or "left".

    Raises:
        RuntimeError: If there are no sequences, or they do not fit.

    Example:
        >>> import minigrad as torch
        >>> pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
        tensor([[1, 2, 3],
                [4, 0, 0]])
    """
    tensors = list(sequences)
    if not tensors or padding_side not in ("right", "left"):
        raise RuntimeError("pad_sequence takes sequences, and pads them on the right or left")
    longest = max(tensor.size(0) for tensor in tensors)
    size = (len(tensors), longest) if batch_first else (longest, len(tensors))
    padded = full((*size, *tensors[0].shape[1:]), padding_value, dtype=tensors[0].dtype)
    for index, tensor in enumerate(tensors):
        length = tensor.shape[0]
        steps = slice(0, length) if padding_side == "right" else slice(longest - length, longest)
        padded[(index, steps) if batch_first else (steps, index)] = tensor
    return padded


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths.

    Args:
        sequences: Tensors of shapes (L, ...).
        enforce_sorted: Whether the lengths must not increase; else they are sorted here.

    Raises:
        RuntimeError: If the lengths increase although they must not.

    Example:
        >>> import minigrad as torch
        >>> pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]).batch_sizes
        tensor([2, 1])
    """
    lengths = as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)
