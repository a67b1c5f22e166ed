"""Undo broadcasting: sum a gradient over the axes along which an input was repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from minigrad.autograd.node import Node


def reduce_gradients(node: Node, gradients: Sequence[Any]) -> list[Any]:
    """Reduce each gradient to the shape and dtype of the input it belongs to.

    Args:
        node: A node that broadcast or converted some of its inputs.
        gradients: The gradients that its rule gave, in the shape of the result.
    """
    assert node._broadcast is not None
    pairs = zip(gradients, node._broadcast, strict=True)
    return [reduce_gradient(gradient, wanted) for gradient, wanted in pairs]


def reduce_gradient(gradient: Any, wanted: tuple[Any, Any] | None) -> Any:
    """Reduce a gradient to a shape and a dtype, if there is one and something is wanted of it."""
    if gradient is None or wanted is None:
        return gradient
    shape, dtype = wanted
    if gradient.shape != shape:
        gradient = sum_to_shape(gradient, shape)
    return gradient if gradient.dtype is dtype else _converted(gradient, dtype)


def _converted(gradient: Any, dtype: Any) -> Any:
    """Convert an array or a tensor to a NumPy dtype."""
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


_ROW = 1024  # so short that summing in float32 loses nothing to speak of


def sum_of_products(a: Any, b: Any, wanted: tuple[Any, Any] | None) -> Any:
    """Multiply two arrays; where only the sum of all is wanted of many, compute just that.

    This is the numeric twin of `a * b`: it saves writing and reading the array of products.

    Args:
        a: An array.
        b: Another one, which may have to be broadcast.
        wanted: The shape and dtype that the gradient will be reduced to.

    Returns:
        The products, to be reduced by `reduce_gradient`, or their sum in the wanted shape.

    Example:
        >>> import numpy as np
        >>> sum_of_products(np.arange(4096.0), np.full(4096, 2.0), ((1,), np.dtype("float64")))
        array([16773120.])
    """
    if (
        wanted is None
        or a.size < 4 * _ROW
        or type(a) is not np.ndarray
        or type(b) is not np.ndarray
        or math.prod(wanted[0]) != 1
        or a.shape != b.shape
        or a.dtype is not b.dtype
        or a.dtype.kind != "f"
        or not (a.flags.c_contiguous and b.flags.c_contiguous)
    ):
        return a * b
    a, b = a.reshape(-1), b.reshape(-1)
    whole = a.size - a.size % _ROW
    sums = np.vecdot(a[:whole].reshape(-1, _ROW), b[:whole].reshape(-1, _ROW))
    total = np.add.reduce(sums) + np.vecdot(a[whole:], b[whole:])
    return np.asarray(total, a.dtype).reshape(wanted[0])
