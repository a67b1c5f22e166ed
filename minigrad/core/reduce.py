"""Undo broadcasting: sum a gradient over the axes along which an input was repeated."""

from __future__ import annotations

from typing import Any

import numpy as np


def reduce_gradient(gradient: Any, wanted: tuple[Any, Any] | None) -> Any:
    """Reduce a gradient to a shape and a dtype, if there is one and something is wanted of it."""
    if gradient is None or wanted is None:
        return gradient
    shape, dtype = wanted
    if gradient.shape != shape:
        gradient = sum_to_shape(gradient, shape)
    if gradient.dtype is dtype:
        return gradient
    if hasattr(gradient, "_array"):
        return gradient._to_numpy_dtype(dtype)
    return gradient if gradient.dtype == dtype else gradient.astype(dtype)


def sum_to_shape(gradient: Any, shape: tuple[int, ...]) -> Any:
    r"""Sum a gradient over the axes that broadcasting added or stretched.

    If :math:`b_{ij} = a_j`, then :math:`\partial L / \partial a_j = \sum_i \partial L / \partial
    b_{ij}`: a value that was used several times collects the gradients of all its uses.

    Args:
        gradient: An array or tensor of a shape that `shape` broadcasts to.
        shape: The shape to go back to.

    Example:
        >>> import numpy as np
        >>> sum_to_shape(np.ones((3, 2)), (1, 2))
        array([[3., 3.]])
    """
    if not shape:
        return np.add.reduce(gradient, axis=None)
    added = gradient.ndim - len(shape)
    if added == 1 and type(gradient) is np.ndarray and gradient.shape[1:] == shape:
        return np.add.reduce(gradient, axis=0)  # a bias: the commonest case, in one step
    axes = tuple(range(added)) + tuple(
        axis + added
        for axis, size in enumerate(shape)
        if size == 1 and gradient.shape[axis + added] != 1
    )
    if axes:
        gradient = np.add.reduce(gradient, axis=axes, keepdims=True)
    return gradient.reshape(shape) if added else gradient
