"""Bring sequences of different lengths together, by padding or by packing, and apart again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.messages import wrong_type
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import as_tensor
from minigrad.creation.dtypes import int64
from minigrad.creation.factories import full
from minigrad.faces.arguments import check_tensor, check_tensors, dimension
from minigrad.nn.modules.rnn import PackedSequence as PackedSequence
from minigrad.nn.modules.rnn import invert_permutation as invert_permutation
from minigrad.ops.joining import pack
from minigrad.ops.type_promotion import broadcast_error

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence",
]  # fmt: skip


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
    if not isinstance(batch_first, bool):
        raise wrong_type("_pack_padded_sequence", "batch_first", "bool", batch_first, 3)
    check_tensor("_pack_padded_sequence", input)
    counts = as_tensor(lengths, dtype=int64)
    order = None
    if not enforce_sorted:
        order = wrap(np.argsort(-counts._array, kind="stable"))
        counts = wrap(counts._array[order._array])
        input = input.index_select(0 if batch_first else 1, order)
    turned = input.transpose(0, 1) if batch_first else input
    dimension(1, turned.ndim)
    batch = turned.shape[1]
    if counts.ndim != 1 or len(counts) != batch:
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{counts.numel()} (batch_size={batch})"
        )
    if (counts._array <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (np.diff(counts._array) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    longest = int(counts._array[0])
    if longest > turned.shape[0]:
        raise RuntimeError(
            f"start ({0}) + length ({longest}) exceeds dimension size ({turned.shape[0]}). "
            "A length is greater than that of the padded sequences."
        )
    present = np.arange(longest)[:, None] < counts._array
    data = pack(turned, present, tuple(turned.shape))
    return PackedSequence(data, wrap(present.sum(1)), order, None)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad what was packed: the inverse of `pack_padded_sequence`.

    Args:
        sequence: The packed sequences.
        batch_first: Whether the batch shall be the first dimension.
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
    if batch_first.__class__ is not bool:
        raise wrong_type("_pad_packed_sequence", "batch_first", "bool", batch_first, 3)
    sizes = sequence.batch_sizes._array
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{longest}"
            )
        longest = total_length
    data = sequence.data
    batch = int(sizes[0])
    padded = full((longest, batch, *data.shape[1:]), padding_value, dtype=data.dtype)
    start = step = 0
    while step < len(sizes):  # steps at which the same sequences are there, all at once
        size = int(sizes[step])
        count = int((sizes == size).sum())
        block = data[start : start + count * size].view(count, size, *data.shape[1:])
        padded[step : step + count, :size] = block
        start, step = start + count * size, step + count
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
        batch_first: Whether the batch shall be the first dimension, not the second.
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
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    tensors = check_tensors(tuple(sequences))
    if batch_first.__class__ is not bool:
        raise wrong_type("pad_sequence", "batch_first", "bool", batch_first, 2)
    if not tensors:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("right", "left"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not tensors[0].ndim:
        raise RuntimeError(
            "ArrayRef: invalid slice, N = 1; size = 0. A sequence has at least one dimension."
        )
    longest = max(tensor.size(0) for tensor in tensors)
    rest = tensors[0].shape[1:]
    size = (len(tensors), longest) if batch_first else (longest, len(tensors))
    padded = full((*size, *rest), padding_value, dtype=tensors[0].dtype)
    for place, tensor in enumerate(tensors):
        length = tensor.shape[0]
        if tensor.shape[1:] != rest:
            _check_rest((length, *rest), tuple(tensor.shape))
        steps = slice(0, length) if padding_side == "right" else slice(longest - length, longest)
        padded[(place, steps) if batch_first else (steps, place)] = tensor
    return padded


def _check_rest(place: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Raise if a sequence cannot be broadcast to its place."""
    try:
        np.broadcast_to(np.empty(shape, bool), place)
    except ValueError:
        raise broadcast_error(place, shape) from None


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
