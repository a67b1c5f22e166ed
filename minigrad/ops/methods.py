"""Attach the operations to `Tensor`: as methods, as operators, and for NumPy's own functions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.read_only import refuse_writing
from minigrad.ops import choices, comparison, elementwise, indexing, inplace, joining
from minigrad.ops.calling import arithmetic, choosing, products, reducing, shaping, sizes
from minigrad.ops.calling.arguments import cast
from minigrad.tensor import Tensor, wrap

_function_only = {"cat", "stack", "where"}


def attach() -> None:
    """Give `Tensor` its operations."""
    for room in (arithmetic, choosing, reducing, shaping, products, comparison):
        for name in room.__all__:
            if name not in _function_only:
                setattr(Tensor, name, getattr(room, name))
    for name, method in (sizes.methods | inplace.methods).items():
        setattr(Tensor, name, method)
    for name, operator in _operators.items():
        setattr(Tensor, name, operator)
    for name, value in _more.items():
        setattr(Tensor, name, value)
    refuse_writing(Tensor)
    Tensor._ufuncs.update(_ufuncs)
    Tensor._functions.update(_functions)


def _rmatmul(self: Tensor, other: Any) -> Any:
    return products.matmul(wrap(other), self) if isinstance(other, np.ndarray) else NotImplemented


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
    "__pos__": lambda self: self,
    "__abs__": choices.abs,
    "__invert__": comparison.logical_not,
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
    "multiply": arithmetic.mul,
    "negative": arithmetic.neg,
    "clip": choosing.clamp,
    "clamp_min": lambda self, min: choosing.clamp(self, min=min),
    "clamp_max": lambda self, max: choosing.clamp(self, max=max),
    "float": lambda self: shaping.to(self, dtype=dtypes.float32),
    "double": lambda self: shaping.to(self, dtype=dtypes.float64),
    "half": lambda self: shaping.to(self, dtype=dtypes.float16),
    "long": lambda self: shaping.to(self, dtype=dtypes.int64),
    "int": lambda self: shaping.to(self, dtype=dtypes.int32),
    "short": lambda self: shaping.to(self, dtype=dtypes.int16),
    "char": lambda self: shaping.to(self, dtype=dtypes.int8),
    "byte": lambda self: shaping.to(self, dtype=dtypes.uint8),
    "bool": lambda self: shaping.to(self, dtype=dtypes.bool),
    "cpu": lambda self: self,
    "_copied_to": lambda self, memory: inplace.copy_(wrap(memory), self),
    "_to_numpy_dtype": cast,
}


def _reduce_add(array: Tensor, axis: Any = 0, keepdims: bool = False, **options: Any) -> Tensor:
    return reducing.sum(array, axis, keepdims)


def _reduce_max(array: Tensor, axis: Any = 0, keepdims: bool = False, **options: Any) -> Tensor:
    return reducing.amax(array, () if axis is None else axis, keepdims)


def _expand_dims(array: Tensor, axis: Any) -> Tensor:
    for dim in sorted(axis if isinstance(axis, tuple) else (axis,)):
        array = shaping.unsqueeze(array, dim)
    return array


def _transpose(array: Tensor, axes: Any = None) -> Tensor:
    return array.T if axes is None else shaping.permute(array, axes)


_ufuncs: dict[Any, Any] = {
    np.add: lambda a, b: elementwise.add(a, b),
    np.subtract: lambda a, b: elementwise.sub(_tensor(a), b),
    np.multiply: lambda a, b: elementwise.mul(a, b),
    np.true_divide: lambda a, b: elementwise.div(_tensor(a), b),
    np.power: lambda a, b: arithmetic.pow(_tensor(a), b),
    np.square: arithmetic.square,
    np.negative: arithmetic.neg,
    np.absolute: arithmetic.abs,
    np.sign: choices.sgn,
    np.exp: arithmetic.exp,
    np.expm1: arithmetic.expm1,
    np.log: arithmetic.log,
    np.log1p: arithmetic.log1p,
    np.sqrt: arithmetic.sqrt,
    np.sin: arithmetic.sin,
    np.cos: arithmetic.cos,
    np.tanh: arithmetic.tanh,
    np.maximum: lambda a, b: choices.maximum(_tensor(a), b),
    np.minimum: lambda a, b: choices.minimum(_tensor(a), b),
    np.matmul: lambda a, b: products.matmul(_tensor(a), _tensor(b)),
    np.equal: lambda a, b: comparison.eq(_tensor(a), b),
    np.not_equal: lambda a, b: comparison.ne(_tensor(a), b),
    np.less: lambda a, b: comparison.lt(_tensor(a), b),
    np.less_equal: lambda a, b: comparison.le(_tensor(a), b),
    np.greater: lambda a, b: comparison.gt(_tensor(a), b),
    np.greater_equal: lambda a, b: comparison.ge(_tensor(a), b),
    np.isnan: comparison.isnan,
    np.isinf: comparison.isinf,
    np.isfinite: comparison.isfinite,
    (np.add, "reduce"): _reduce_add,
    (np.maximum, "reduce"): _reduce_max,
    (np.multiply, "outer"): lambda a, b: products.outer(_tensor(a), _tensor(b)),
}


def _like(make: Any) -> Any:
    def constant(a: Tensor, dtype: Any = None, shape: Any = None, **layout: Any) -> Tensor:
        return wrap(make(a._array, dtype, shape=shape))

    return constant


_functions: dict[Any, Any] = {
    np.zeros_like: _like(np.zeros_like),
    np.ones_like: _like(np.ones_like),
    np.where: choosing.where,
    np.broadcast_to: lambda array, shape, subok=False: shaping.expand(array, shape),
    np.expand_dims: _expand_dims,
    np.squeeze: shaping.squeeze,
    np.swapaxes: shaping.transpose,
    np.transpose: _transpose,
    np.flip: lambda m, axis=None: sizes.flip(m, range(m.ndim) if axis is None else axis),
    np.reshape: lambda a, shape: shaping.reshape(a, shape),
    np.sum: lambda a, axis=None, keepdims=False: reducing.sum(a, axis, keepdims),
    np.mean: lambda a, axis=None, keepdims=False: reducing.mean(a, axis, keepdims),
    np.stack: lambda arrays, axis=0: joining.stack([_tensor(a) for a in arrays], axis),
    np.concatenate: lambda arrays, axis=0: shaping.cat([_tensor(a) for a in arrays], axis),
    np.copy: lambda a, order="K", subok=False: shaping.clone(a),
    np.clip: choosing.clamp,
}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))
