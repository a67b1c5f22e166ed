"""Call the operations that pad a tensor at its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.ops import padding, parts
from minigrad.ops.calling.arguments import entry
from minigrad.ops.inplace import copy_
from minigrad.tensor import Tensor, wrap

_KINDS = {"reflect": padding.reflection, "replicate": padding.replication}


def constant(input: Tensor, pad: Sequence[int], value: Any) -> Tensor:
    """Surround a tensor with a number.

    Raises:
        RuntimeError: If there is nothing left of a dimension that is cut.
    """
    have = input._array.shape
    for place in range(len(pad) // 2):
        left, right = pad[2 * place : 2 * place + 2]
        size = have[len(have) - 1 - place]
        if size + min(left, 0) + min(right, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        if size + left + right < 0:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {left} and {right} resulted in a "
                "negative output size, which is invalid. Check dimension "
                f"{len(have) - 1 - place} of your input."
            )
    dtype = input._array.dtype
    number = 0 if value is None else value
    if dtype.kind in "iub" and isinstance(number, float):
        number = int(number) if dtype.kind != "b" else bool(number)
    inside = entry(number, dtype).item() if dtype.kind in "fiub" else number
    return padding.constant_pad_nd(input, tuple(pad), inside)  # type: ignore[no-any-return]


def copied(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    """Surround a tensor with copies of its own entries: by "reflect" or "replicate".

    Raises:
        RuntimeError: If the padding does not fit the tensor.
    """
    dims = len(pad) // 2
    have, name = input._array.shape, "reflection" if mode == "reflect" else "replication"
    batched = len(have) == dims + 2
    if 0 in (have[1:] if batched else have):
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(have)}"
        )
    if mode == "reflect":
        for place in range(dims):
            left, right = pad[2 * place : 2 * place + 2]
            dim = len(have) - 1 - place
            if left >= have[dim] or right >= have[dim]:
                raise RuntimeError(
                    f"Argument #{4 + 2 * place}: Padding size should be less than the "
                    f"corresponding input dimension, but got: padding ({left}, {right}) at "
                    f"dimension {dim} of input {list(have)}"
                )
    if input._array.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}_pad{dims}d\" not implemented for 'Bool'")
    for place in range(dims):
        left, right = pad[2 * place : 2 * place + 2]
        size = have[len(have) - 1 - place]
        if size + left + right < 1:
            raise RuntimeError(
                f"input (W: {size}) is too small. Calculated output W: {size + left + right}"
            )
    return _KINDS[mode][dims](input, tuple(pad))  # type: ignore[no-any-return]


def circular(input: Tensor, pad: Sequence[int]) -> Tensor:
    """Surround a tensor with the entries from its other side.

    As in PyTorch it is written in place, side by side, into a tensor of the right size.

    Raises:
        RuntimeError: If the padding is larger than the tensor.
    """
    have = list(input._array.shape)
    last, sizes = len(have) - 1, list(have)
    pairs = [(last - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    for dim, left, right in pairs:
        sizes[dim] += left + right
        if left > have[dim] or right > have[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if sizes[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension.")
    if not pairs:
        return input.clone()  # type: ignore[no-any-return]
    result = wrap(np.zeros_like(input._array, shape=tuple(sizes)))
    inside, given = result, input
    for dim, left, right in pairs:
        inside = parts.slice_dim(inside, dim, max(left, 0), sizes[dim] - max(right, 0), 1)
        given = parts.slice_dim(given, dim, max(-left, 0), have[dim] - max(-right, 0), 1)
    copy_(inside, given)
    for dim, left, right in reversed(pairs):
        if left > 0:
            end = sizes[dim] - max(right, 0)
            to = parts.slice_dim(result, dim, 0, left, 1)
            copy_(to, parts.slice_dim(result, dim, end - left, end, 1))
        if right > 0:
            start = max(left, 0)
            to = parts.slice_dim(result, dim, sizes[dim] - right, sizes[dim], 1)
            copy_(to, parts.slice_dim(result, dim, start, start + right, 1))
    return result


def pad_all(input: Tensor, pad: Sequence[int], mode: str, value: Any = None) -> Tensor:
    """Pad any dimensions in any mode, one after the other where PyTorch knows no other way.

    Args:
        input: The tensor.
        pad: How much on the left and right of each dimension; the last dimension is first.
        mode: "constant", "reflect", "replicate" or "circular".
        value: The number to surround it with.
    """
    if mode == "constant":
        return constant(input, pad, value)
    if mode == "circular":
        return circular(input, pad)
    for place in range(len(pad) // 2):
        last = input.ndim - 1
        moved = input.transpose(last - place, last)
        flat = moved.reshape((-1, moved.shape[-1]))
        padded = copied(flat, pad[2 * place : 2 * place + 2], mode)
        input = padded.reshape((*moved.shape[:-1], padded.shape[-1])).transpose(last - place, last)
    return input
