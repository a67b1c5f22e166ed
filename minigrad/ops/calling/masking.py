"""Call the operations on entries under a mask: masked_select and masked_scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import choices, shape
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.choosing import spread
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.positional import in_place
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Tensor

__all__ = ["masked_scatter", "masked_select"]


def _together(input: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast a tensor and a mask."""
    have, own = mask._array.shape, input._array.shape
    try:
        wanted = np.broadcast_shapes(have, own)
    except ValueError:
        raise broadcast_error(have, own) from None
    return (input if own == wanted else shape.expand(input, wanted)), spread(mask, wanted)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Give the entries under a mask, in a row.

    Args:
        input: The tensor.
        mask: Booleans; it and the tensor broadcast.

    Raises:
        RuntimeError: If the mask is not boolean, or the shapes do not broadcast.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, -2.0, 3.0])
        >>> torch.masked_select(x, x > 0)
        tensor([1., 3.])
    """
    check_tensor("masked_select", mask, "mask", 2)
    if mask._array.dtype.kind in "iufc":
        raise RuntimeError(
            "masked_select: expected BoolTensor for mask. Compare it with something, such as "
            "`mask != 0`."
        )
    return choices.masked_select(*_together(input, mask))  # type: ignore[no-any-return]


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write the first entries of a source, one after the other, to the places under a mask.

    Args:
        input: The tensor.
        mask: Booleans; it and the tensor broadcast.
        source: At least as many entries as the mask has places.

    Raises:
        RuntimeError: If there are too few, or types or shapes do not fit.

    Example:
        >>> import minigrad as torch
        >>> mask = torch.tensor([True, False, True])
        >>> torch.masked_scatter(torch.zeros(3), mask, torch.tensor([5.0, 6.0, 7.0]))
        tensor([5., 0., 6.])
    """
    check_tensor("masked_scatter", mask, "mask", 2)
    check_tensor("masked_scatter", source, "source", 3)
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{dtypes.scalar_name(input._array)} and {dtypes.scalar_name(source._array)}"
        )
    if mask._array.dtype.kind in "iufc":
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.scalar_name(mask._array)}"
        )
    input, mask = _together(input, mask)
    if np.count_nonzero(mask._array) > source._array.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return choices.masked_scatter(input, mask, source)  # type: ignore[no-any-return]


methods: dict[str, Any] = {
    "masked_scatter": masked_scatter,
    "masked_scatter_": in_place(masked_scatter),
    "masked_select": masked_select,
}
masked_select = with_out(masked_select)
