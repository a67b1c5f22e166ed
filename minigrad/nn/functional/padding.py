"""Pad a tensor at its edges: with a number, by reflection, with the edge, or around a circle."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.nn.functional.refusing import not_a_tensor
from minigrad.ops.calling import padding
from minigrad.tensor import Tensor

__all__ = ["pad"]


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    r"""Pad a tensor at its edges.

    Args:
        input: The tensor.
        pad: How much to add on the left and right of the last dimension, then of the one before,
            and so on. Negative numbers cut.
        mode: `"constant"`: one number all around. `"reflect"`: the entries backwards from the edge,
            which itself is not repeated. `"replicate"`: the entry at the edge. `"circular"`: the
            entries from the other side.
        value: The number; by default 0.

    Returns:
        A tensor whose padded dimensions are larger by both amounts.

    Raises:
        RuntimeError: If the padding is odd or too long, or larger than a mode allows.
        NotImplementedError: If there is no such mode, or not for so many dimensions.

    Shape:
        - input: any shape for `"constant"`; else 1 to 3 padded dimensions after (N, C) or (C,)

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1.0, 2.0, 3.0]])
        >>> torch.nn.functional.pad(x, (1, 2))
        tensor([[0., 1., 2., 3., 0., 0.]])
        >>> torch.nn.functional.pad(x, (2, 1), mode="reflect")
        tensor([[3., 2., 1., 2., 3., 2.]])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("pad", input)
    if not isinstance(pad, (tuple, list)):
        raise TypeError(
            f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}"
        )
    if isinstance(value, str):
        raise TypeError("pad(): argument 'value' (position 4) must be float, not str")
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    ndim, sides = input.ndim, [int(count) for count in pad]
    if len(sides) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(sides) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(sides)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return padding.constant(input, sides, value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(sides) not in (2, 4, 6) or ndim - len(sides) // 2 not in (1, 2):
        raise NotImplementedError(
            f"Padding size {len(sides)} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode in ("reflect", "replicate"):
        return padding.copied(input, sides, mode)
    return padding.circular(input, sides)
