"""Padding and its derivatives: with a constant, by reflection, or by repeating the edge.

A constant takes no gradient with it, so the rule cuts the padding off again. An entry that was
reflected or repeated collects the gradients of all its copies.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, zeros_for
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import entry
from minigrad.ops.convolution import padded
from minigrad.signatures import functional
from minigrad.signatures.arguments import wholes


def _pairs(padding: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Give what is added on the left and right of each dimension, counted from the last one."""
    return enumerate(zip(padding[::2], padding[1::2], strict=True), 1)


def _interior(size: int, left: int, right: int) -> tuple[slice, slice]:
    """Give the part of the input that is kept, negative padding cuts, and where it comes to lie."""
    kept = slice(max(-left, 0), size - max(-right, 0))
    start = max(left, 0)
    return kept, slice(start, start + kept.stop - kept.start)


@operation(
    "ConstantPadNdBackward0",
    self=lambda grad, pad: dispatch(constant_pad_nd, grad, tuple(-count for count in pad), 0),
)
def constant_pad_nd(self: Array, pad: tuple[int, ...], value: Any) -> Array:
    """One number all around: the rule cuts it off again."""
    # the last dimension is first
    result = padded(self, pad[-2::-2], pad[:0:-2], value, self.ndim - len(pad) // 2)
    return self.copy() if result is self else result


# ---------------------------------------------------------------------- copies of the entries

# Of which entry each place is a copy; places and entries count from the first entry.
Copied = Callable[[Any, int], Any]


def _reflected(places: Any, size: int) -> Any:
    """Walk back from the edge, without repeating the edge itself."""
    return size - 1 - np.abs(size - 1 - np.abs(places))


def _at_edge(places: Any, size: int) -> Any:
    """Stay at the edge."""
    return np.clip(places, 0, size - 1)


def _padding_by(kind: str, copied: Copied, dims: int) -> Any:
    """Make the padding of one kind in some dimensions, and its rule."""

    def forward(self: Array, padding: tuple[int, ...]) -> Array:
        for back, (left, right) in _pairs(padding):
            size = self.shape[-back]
            self = np.take(self, copied(np.arange(-left, size + right), size), axis=-back)
        return self

    def backward(grad_output: Array, self: Array, padding: tuple[int, ...]) -> Array:
        """Rule of such a padding: an entry collects the gradients of all its copies."""
        grad = grad_output
        for back, (left, right) in reversed([*_pairs(padding)]):
            size, shape = self.shape[-back], list(grad.shape)
            shape[-back] = size
            whole = zeros_for(grad, tuple(shape))
            # two views with the dimension that is folded back at the end
            onto, given = np.moveaxis(whole, -back, -1), np.moveaxis(grad, -back, -1)
            kept, place = _interior(size, left, right)
            onto[..., kept] = given[..., place]
            entries = copied(np.arange(-left, size + right), size)
            for outside in (*range(place.start), *range(place.stop, size + left + right)):
                onto[..., entries[outside]] += given[..., outside]
            grad = whole
        return grad

    forward.__name__ = f"{kind}_pad{dims}d"
    backward.__name__ = f"{kind}_pad{dims}d_backward"
    forward.__doc__ = f"{kind.title()} in {dims} dimensions: copies of the entries."
    rule = operation(
        f"{kind.title()}Pad{dims}DBackwardBackward0",
        grad_output=lambda grad, padding: dispatch(declared, grad, padding),
        self=lambda grad, self: np.zeros_like(self),
    )(backward)
    declared = operation(f"{kind.title()}Pad{dims}DBackward0", self=rule)(forward)
    return declared


# the operations by the mode and the number of dimensions
_KINDS = {
    mode: {dims: _padding_by(kind, copied, dims) for dims in (1, 2, 3)}
    for mode, kind, copied in (
        ("reflect", "reflection", _reflected),
        ("replicate", "replication", _at_edge),
    )
}

# ---------------------------------------------------------------------- what is called


@functional()
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
    r"""Pad a tensor at its edges.

    Args:
        input: The tensor.
        pad: How much to add on the left and right of the last dimension, then of the one before,
            and so on. Negative numbers cut.
        mode: `"constant"`: one number all around. `"reflect"`: the entries backwards from the edge,
            which itself is not repeated. `"replicate"`: the entry at the edge.
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
    if mode not in ("constant", *_KINDS):
        told = "Join the other side with torch.cat." if mode == "circular" else ""
        raise NotImplementedError(f"pad has no mode='{mode}' here. {told}")
    sizes, sides = input._array.shape, wholes("pad", pad, "pad")
    dims = len(sides) // 2
    if len(sides) % 2 or dims > len(sizes):
        raise RuntimeError(
            f"padding is two numbers for each dimension, from the last one on, got {list(sides)} "
            f"for a tensor of size {list(sizes)}"
        )
    if mode != "constant" and value:
        raise RuntimeError(f"pad takes no value with mode='{mode}'")
    if mode == "constant":
        value = entry(0 if value is None else value, input._array.dtype).item()
        return constant_pad_nd(input, sides, value)
    if dims not in (1, 2, 3) or len(sizes) - dims not in (1, 2):
        raise NotImplementedError(f"mode='{mode}' pads 1 to 3 dimensions after (N, C) or (C,)")
    for back, added in _pairs(sides):
        size = sizes[-back]
        if (mode == "reflect" and max(added) >= size) or size + sum(added) < 1 or not size:
            raise RuntimeError(f"a dimension of size {size} can't be padded by {added}")
    return _KINDS[mode][dims](input, sides)
