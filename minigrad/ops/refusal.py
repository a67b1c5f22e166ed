"""Refuse tensors that an operation has no values for, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor
from minigrad.faces.arguments import check_tensor


def no_kernel(kernel: str, given: Tensor) -> NotImplementedError:
    """Make the error for an operation that has no values among integers."""
    return NotImplementedError(
        f"\"{kernel}\" not implemented for '{given.dtype.tensor_type}'. Convert to float first."
    )


def check_floats(name: str, kernel: str, input: Any) -> None:
    """Raise if an input is no tensor, or one of integers."""
    check_tensor(name, input)
    if input._array.dtype.kind in "iub":
        raise no_kernel(kernel, input)


def refuse_gradient(name: str, argument: str, given: Tensor | None) -> None:
    """Raise if an argument would need a gradient that does not exist."""
    if given is not None and given.requires_grad and is_grad_enabled():
        raise RuntimeError(
            f"The function '{name}' is not differentiable with respect to argument '{argument}'. "
            "This input cannot have requires_grad True."
        )
