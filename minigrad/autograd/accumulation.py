"""What becomes `.grad` of a leaf: a copy that lies in memory as the leaf does."""

from __future__ import annotations

from typing import Any

from minigrad.core import extensions
from minigrad.core.tensor import Tensor


def laid_out_like(leaf: Any, gradient: Any) -> Any:
    """Copy a gradient into the order in which the entries of its leaf lie in memory.

    So that `leaf.grad.view(...)` can do what `leaf.view(...)` can. The gradient of a leaf whose
    entries share memory, or lie apart, lies in the order of printing.
    """
    if leaf.flags.c_contiguous or gradient.ndim != leaf.ndim:
        return gradient.copy()
    order = sorted(range(leaf.ndim), key=lambda dim: -leaf.strides[dim])
    if not leaf.transpose(order).flags.c_contiguous:
        return gradient.copy()
    places = sorted(range(leaf.ndim), key=order.__getitem__)
    return gradient.transpose(order).copy().transpose(places)


def own(variable: Tensor, gradient: Any) -> Any:
    """Copy a gradient; one that lies in memory as the leaf does, or as it is printed, stays so."""
    leaf = variable._array
    if isinstance(gradient, Tensor):  # which is recorded
        return gradient._copied_to(laid_out_like(leaf, gradient._array))
    usual = gradient.flags.c_contiguous and leaf.flags.c_contiguous
    if leaf.ndim > 1 and gradient.strides != leaf.strides and not usual:
        return laid_out_like(leaf, gradient)
    return gradient.copy("K")


extensions.register(own=own)
