"""Change numbers in place as an optimizer does: in arrays at once, in tensors as recorded steps.

A rule of an optimizer is written once. Its operands are NumPy arrays where nothing is recorded,
and tensors in a step that is differentiated through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.views import mark_views_stale, write_watchers
from minigrad.core.modes import grad_mode
from minigrad.core.tensor import INFERENCE, Tensor


def number(value: Any) -> Any:
    """Give a setting as a number; it may be kept in a tensor, to be changed in place."""
    if type(value) is float or type(value) is int:
        return value
    return value.item() if isinstance(value, (np.generic, Tensor, np.ndarray)) else value


def setting(value: Any) -> Any:
    """Give a setting as a number, or as the tensor it is if the step is to be differentiated.

    A number that a tensor keeps goes on in the tensor's precision.
    """
    if isinstance(value, Tensor):
        if value.requires_grad and grad_mode.enabled:
            return value if value.ndim == 0 else value.squeeze()
        return value._array.reshape(())[()]
    return value


def is_plain(parameter: Tensor, gradient: Tensor) -> bool:
    """Tell whether a step may change the arrays themselves: floats, and nothing is recorded."""
    array, other = parameter._array, gradient._array
    return (
        not grad_mode.enabled
        and type(array) is np.ndarray
        and array.dtype.kind == "f"
        and array.dtype == other.dtype
        and array.shape == other.shape
        and 0 not in array.strides
        and parameter._version_counter is not INFERENCE
        and not write_watchers
    )


def written(tensor: Tensor) -> None:
    """Note that a tensor's array was changed."""
    counter = tensor._version_counter
    if counter is None or counter is INFERENCE:
        tensor._bump_version()
        return
    counter.value += 1
    if counter.views is not None:
        mark_views_stale(tensor)


def sqrt(value: Any) -> Any:
    """Give the square root, as something new."""
    return value.sqrt() if isinstance(value, Tensor) else np.sqrt(value)


def divided(value: Any, divisor: Any) -> Any:
    """Divide what the rule has just made: an array in place, a tensor not (it may be saved)."""
    if isinstance(value, Tensor):
        return value / divisor
    value /= divisor
    return value


def added(value: Any, other: Any, alpha: Any) -> Any:
    r"""Give $v + \alpha\, o$, as something new."""
    return value.add(other, alpha=alpha) if isinstance(value, Tensor) else value + other * alpha


def add_(value: Any, other: Any, alpha: Any = 1) -> None:
    r"""Add in place: $v \leftarrow v + \alpha\, o$."""
    alpha = number(alpha)  # NumPy's would change the type of an array
    if isinstance(value, Tensor):
        value.add_(other, alpha=alpha)
    else:
        value += other if alpha == 1 else other * alpha


def lerp_(value: Any, end: Any, weight: Any) -> None:
    r"""Move towards an end in place: $v \leftarrow v + w (e - v)$."""
    if isinstance(value, Tensor):
        value.lerp_(end, weight)
        return
    difference = end - value
    if weight < 0.5:
        difference *= weight
        value += difference
    else:
        difference *= 1 - weight
        np.subtract(end, difference, out=value)


def addcmul_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
    r"""Add a product in place: $v \leftarrow v + f\, a\, b$."""
    if isinstance(factor, Tensor):
        value.add_(a * b * factor)
    elif isinstance(value, Tensor):
        value.addcmul_(a, b, value=number(factor))
    else:
        product = a * number(factor)
        product *= b
        value += product


def addcdiv_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
    r"""Add a quotient in place: $v \leftarrow v + f\, a / b$."""
    if isinstance(factor, Tensor):
        value.add_(a / b * factor)
    elif isinstance(value, Tensor):
        value.addcdiv_(a, b, value=number(factor))
    else:
        quotient = a * number(factor)
        quotient /= b
        value += quotient


def maximum_(value: Any, other: Any) -> None:
    r"""Take the larger in place: $v \leftarrow \max(v, o)$."""
    if isinstance(value, Tensor):
        value.copy_(value.clone().maximum(other))
    else:
        np.maximum(value, other, out=value)


def copy_(value: Any, other: Any) -> None:
    """Take over the numbers of another one, in place."""
    if isinstance(value, Tensor):
        value.copy_(other)
    else:
        value[...] = other
