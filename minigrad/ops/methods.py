"""Attach the operations to `Tensor`, as methods and as operators."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.attributes import refuse_writing
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import factories, from_data
from minigrad.faces.arguments import cast
from minigrad.ops import indexing, inplace, linear_algebra


def attach() -> None:
    """Give `Tensor` its operations."""
    for name, value in at_once().items():
        setattr(Tensor, name, value)
    refuse_writing(Tensor)


def at_once() -> dict[str, Any]:
    """Give the methods, operators and attributes that are loaded with the package, by name."""
    return _operators | _more


def _rmatmul(self: Tensor, other: Any) -> Any:
    return (
        linear_algebra.matmul(wrap(other), self)
        if isinstance(other, np.ndarray)
        else NotImplemented
    )


def _deleted(tensor: Tensor, index: Any) -> None:
    """Refuse `del tensor[index]`."""
    raise TypeError("Tensor does not support deleting items")


def _matmul(self: Tensor, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        other = wrap(other)
    return linear_algebra.matmul(self, other) if isinstance(other, Tensor) else NotImplemented


_operators: dict[str, Any] = {
    "__matmul__": _matmul,
    "__rmatmul__": _rmatmul,
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
    return tensor.permute(tuple(reversed(range(tensor.ndim))))


def _matrices_transposed(tensor: Tensor) -> Tensor:
    """Transpose each matrix of a batch."""
    if tensor.ndim == 0:
        warnings.warn(_SCALAR_TRANSPOSED.format("mT"), UserWarning, stacklevel=2)
        return tensor
    if tensor.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return tensor.transpose(-2, -1)


_more: dict[str, Any] = {
    "name": property(lambda self: None, doc="None, as for PyTorch's tensors."),
    "T": property(_reversed, doc="Transpose: the dimensions in reversed order."),
    "mT": property(_matrices_transposed, doc="Transpose of each matrix of a batch."),
    **factories.methods,
    **from_data.methods,
    "_copied_to": lambda self, memory: inplace.copy_(wrap(memory), self),
    "_to_numpy_dtype": cast,
    "_computed_by_numpy": staticmethod(
        lambda *call: import_module("minigrad.ops.numpy_calls").compute(*call)
    ),
    "_from_data": staticmethod(
        lambda *data: import_module("minigrad.creation.tensor_types").array_for(*data)
    ),
}
