"""Attach the operations to `Tensor`, as methods and as operators."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.read_only import refuse_writing
from minigrad.ops import choices, comparison, elementwise, indexing, inplace
from minigrad.ops.calling import (
    arithmetic,
    choosing,
    converting,
    products,
    reducing,
    shaping,
    sizes,
)
from minigrad.ops.calling.arguments import cast
from minigrad.tensor import Tensor, wrap

# The methods of the last six wait: they say more about what they cannot compare.
_function_only = {"cat", "stack", "where", "eq", "ge", "gt", "le", "lt", "ne"}


def attach() -> None:
    """Give `Tensor` its operations."""
    for name, value in at_once().items():
        setattr(Tensor, name, value)
    refuse_writing(Tensor)


def at_once() -> dict[str, Any]:
    """Give the methods, operators and attributes that are loaded with the package, by name."""
    functions = {
        name: getattr(room, name)
        for room in (arithmetic, choosing, reducing, shaping, products, comparison)
        for name in room.__all__
        if name not in _function_only
    }
    return functions | sizes.methods | inplace.methods | _operators | _more


def _rmatmul(self: Tensor, other: Any) -> Any:
    return products.matmul(wrap(other), self) if isinstance(other, np.ndarray) else NotImplemented


def _deleted(tensor: Tensor, index: Any) -> None:
    """Refuse `del tensor[index]`."""
    raise TypeError("Tensor does not support deleting items")


def _matmul(self: Tensor, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        other = wrap(other)
    return products.matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expand to the shape of another tensor."""
    return shaping.expand(self, other.shape)


_operators: dict[str, Any] = {
    "__add__": elementwise.add,
    "__radd__": elementwise.add,
    "__sub__": elementwise.sub,
    "__rsub__": arithmetic.rsub,
    "__mul__": elementwise.mul,
    "__rmul__": elementwise.mul,
    "__truediv__": elementwise.div,
    "__rtruediv__": arithmetic.rdiv,
    "__pow__": arithmetic.pow,
    "__rpow__": lambda self, other: arithmetic.pow(other, self),
    "__matmul__": _matmul,
    "__rmatmul__": _rmatmul,
    "__neg__": elementwise.neg,
    "__abs__": choices.abs,
    "__and__": comparison.bitwise_and,
    "__or__": comparison.bitwise_or,
    "__xor__": comparison.bitwise_xor,
    "__eq__": comparison.eq,
    "__ne__": comparison.ne,
    "__lt__": comparison.lt,
    "__le__": comparison.le,
    "__gt__": comparison.gt,
    "__ge__": comparison.ge,
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "__delitem__": _deleted,
}

_SCALAR_TRANSPOSED = (
    "Tensor.{} is deprecated on 0-D tensors. This function is the identity in these cases."
)


def _reversed(tensor: Tensor) -> Tensor:
    """Give the tensor with its dimensions in reversed order."""
    if tensor.ndim == 0:
        warnings.warn(_SCALAR_TRANSPOSED.format("T"), UserWarning, stacklevel=2)
    elif tensor.ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return shaping.permute(tensor, tuple(reversed(range(tensor.ndim))))


def _matrices_transposed(tensor: Tensor) -> Tensor:
    """Transpose each matrix of a batch."""
    if tensor.ndim == 0:
        warnings.warn(_SCALAR_TRANSPOSED.format("mT"), UserWarning, stacklevel=2)
        return tensor
    if tensor.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return shaping.transpose(tensor, -2, -1)


_more: dict[str, Any] = {
    "T": property(_reversed, doc="Transpose: the dimensions in reversed order."),
    "mT": property(_matrices_transposed, doc="Transpose of each matrix of a batch."),
    "expand_as": _expand_as,
    "_copied_to": lambda self, memory: inplace.copy_(wrap(memory), self),
    "_to_numpy_dtype": cast,
    "_computed_by_numpy": staticmethod(
        lambda *call: import_module("minigrad.ops.calling.numpy_calls").compute(*call)
    ),
    "_from_data": staticmethod(
        lambda *data: import_module("minigrad.tensor_types").array_for(*data)
    ),
    **converting.methods,
}
