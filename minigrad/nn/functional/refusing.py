"""Refuse inputs that a function cannot compute with, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.type_name import type_name
from minigrad.tensor import Tensor


def not_for_integers(function: str, given: Tensor) -> NotImplementedError:
    """Make the error for a function that has no values among integers."""
    return NotImplementedError(
        f"\"{function}_cpu\" not implemented for '{given.dtype.tensor_type}'. "
        "Convert to float first."
    )


def not_a_tensor(function: str, given: Any) -> TypeError:
    """Make the error for an input that is no tensor."""
    return TypeError(
        f"{function}(): argument 'input' (position 1) must be Tensor, not {type_name(given)}"
    )
