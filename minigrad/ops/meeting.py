"""Bring the operands of an operation together: numbers, arrays, and tensors of different types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.node import NO_EDGE
from minigrad.autograd.variable import resolve_edge
from minigrad.tensor import Tensor, wrap

_NUMBERS = (int, float, complex, np.number, np.bool_)
_scalars: dict[tuple[type, Any, Any], Tensor] = {}


def as_array(result: Any) -> np.ndarray[Any, Any]:
    """Give what NumPy returned as an array: it turns arrays without dimensions into scalars."""
    return result if isinstance(result, np.ndarray) else np.asarray(result)


def scalar(value: Any, meets: np.dtype[Any]) -> Tensor:
    """Give a Python number as a tensor without dimensions, in the type it takes beside `meets`."""
    key = (value.__class__, value, meets)
    try:
        found = _scalars.get(key)
    except TypeError:  # a symbol may have no hash
        found = None
    if found is None:
        if isinstance(value, np.generic):
            value = value.item()
        found = wrap(np.array(value, dtypes.scalar_dtype(value, meets)))
        if value and len(_scalars) < 4096:  # 0.0 and -0.0 are equal as keys
            _scalars[key] = found
    return found


def meet_other(operation: Callable[..., Any], self: Any, other: Any) -> Any:
    """Call an operation of a tensor and something that is not a tensor.

    Returns:
        The operation's result, or NotImplemented if the other thing is neither a number nor an
        array.
    """
    if not isinstance(self, Tensor):
        if isinstance(other, Tensor) and isinstance(self, _NUMBERS):
            return operation(scalar(self, other._array.dtype), other)
        return NotImplemented
    if isinstance(other, _NUMBERS):
        return operation(self, scalar(other, self._array.dtype))
    if isinstance(other, np.ndarray):
        return operation(self, wrap(other))
    if self._array.dtype.kind == "O" and hasattr(other, "free_symbols"):
        return operation(self, wrap(np.array(other, dtype=object)))
    return NotImplemented


def meet_types(operation: Callable[..., Any], a: Tensor, b: Tensor) -> Tensor:
    """Call an operation of two tensors of different dtypes, in the dtype in which they meet.

    The gradients come back in the dtypes of the originals. No node is recorded for the
    conversion, as in PyTorch.
    """
    meeting = dtypes.result_type(a._array, b._array)
    result: Tensor = operation(_converted(a, meeting), _converted(b, meeting))
    edge = result._edge
    if edge is not None and edge[0] is not None:
        edge[0].broadcast = tuple((t._array.shape, t._array.dtype) for t in (a, b))
    return result


def _converted(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Give a tensor in another dtype that has the original's place in the graph."""
    array = tensor._array
    if array.dtype is dtype:
        return tensor
    shadow = wrap(array.astype(dtype))
    shadow._edge = NO_EDGE if not tensor.requires_grad else tensor._edge or resolve_edge(tensor)
    return shadow


def retry(forward: Callable[..., Any], error: Exception, *arguments: Any) -> Any:
    """Handle what NumPy raised in a forward.

    A warning about overflow or division by zero that was turned into an error is no error here:
    like PyTorch, compute on. Shapes that do not fit are explained in PyTorch's words.
    """
    if isinstance(error, (RuntimeWarning, FloatingPointError)):
        with np.errstate(all="ignore"):
            return forward(*arguments)
    shapes = [a.shape for a in arguments if isinstance(a, np.ndarray)]
    if "broadcast" in str(error) and len(shapes) >= 2:
        raise broadcast_error(*shapes) from None
    raise error


def broadcast_error(*shapes: tuple[int, ...]) -> RuntimeError:
    """Make the error for shapes that do not broadcast."""
    a = shapes[0]
    for b in shapes[1:]:
        for back in range(1, min(len(a), len(b)) + 1):
            if a[-back] != b[-back] and a[-back] != 1 and b[-back] != 1:
                dimension = max(len(a), len(b)) - back
                return RuntimeError(
                    f"The size of tensor a ({a[-back]}) must match the size of tensor b "
                    f"({b[-back]}) at non-singleton dimension {dimension}. The shapes are "
                    f"{list(a)} and {list(b)}; compared from the right, sizes must be equal or 1."
                )
        a = np.broadcast_shapes(a, b)
    return RuntimeError(f"shapes do not broadcast: {shapes}")
