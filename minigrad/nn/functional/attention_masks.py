"""Bring the masks of attention into one form: numbers that are added to the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.nn.warning import warn
from minigrad.tensor import Tensor, wrap


def canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Any,
    other_name: str,
    target_type: Any,
    check_other: bool = True,
) -> Tensor | None:
    """Give a mask as numbers to add: minus infinity where it is True, else 0.

    Args:
        mask: Of booleans, or of numbers, which are left as they are; or None.
        mask_name: What to call it in messages.
        other_type: The dtype of another mask, or None.
        other_name: What to call the other one.
        target_type: The dtype of the result, if the mask is of booleans.
        check_other: Whether to warn if the masks are of different dtypes.

    Raises:
        AssertionError: If the mask is of integers.
    """
    if mask is None:
        return None
    kind = mask._array.dtype.kind
    if kind not in "bf":
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. "
            "Use same type for both instead.",
            UserWarning,
        )
    if kind == "f":
        return mask
    return wrap(np.where(mask._array, -np.inf, 0).astype(target_type.numpy))


def none_or_dtype(input: Tensor | None) -> Any:
    """Give the dtype of a mask, or None.

    Raises:
        RuntimeError: If it is neither a tensor nor None.
    """
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
