"""Say which operation stands for which of NumPy's functions: `np.exp(t)` records itself.

The tables hold the operations that are loaded with the package; the rooms that are loaded late add
their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.ops import choices, comparison, elementwise, joining
from minigrad.ops.calling import (
    arithmetic,
    choosing,
    converting,
    products,
    reducing,
    shaping,
    sizes,
)
from minigrad.ops.calling.numpy_memory import by_numpy
from minigrad.tensor import Tensor, wrap


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def _two(operation: Any, reflected: Any) -> Any:
    """Make what stands for a function of two arrays; NumPy's numbers count as Python's."""

    def call(a: Any, b: Any) -> Any:
        if isinstance(a, Tensor):
            return operation(a, b)
        if isinstance(a, np.ndarray):
            return operation(wrap(a), b)
        return reflected(b, a.item() if isinstance(a, np.generic) else a)

    return call


def _reflected(operation: Any) -> Any:
    """Swap the operands of an operation that has no name of its own for that."""
    return lambda self, other: operation(other, self)


def _with_array(operation: Any) -> Any:
    return _two(operation, lambda self, other: operation(wrap(np.asarray(other)), self))


_NOT_GIVEN: Any = np._NoValue  # NumPy's own sign of an argument that was not given


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Leave out arguments that change nothing."""
    return {
        name: value
        for name, value in options.items()
        if not (value is None or value is _NOT_GIVEN or (name == "where" and value is True))
    }


def _reduction(function: Any, operation: Any) -> Any:
    """Make what stands for `np.sum(a, axis, keepdims=...)`; what it has not, NumPy does."""

    def call(a: Any, axis: Any = None, *rest: Any, keepdims: Any = False, **options: Any) -> Any:
        options = _given(options)
        if isinstance(options.get("dtype"), (type, str, np.dtype)):
            dtype = np.dtype(options.pop("dtype"))
            a = a.to(dtypes.of_array(np.empty(0, dtype)))
        keepdims = False if keepdims is _NOT_GIVEN else keepdims
        if any(each is not None for each in rest) or options or not isinstance(a, Tensor):
            return by_numpy(function, a, axis, *rest, keepdims=keepdims, **options)
        return operation(a, axis, keepdims)

    return call


def _over(operation: Any) -> Any:
    """Let an operation that wants dimensions take None for all of them."""
    return lambda a, axis, keepdims: operation(a, () if axis is None else axis, keepdims)


def _reduce(operation: Any) -> Any:
    """Make what stands for `np.add.reduce(array)`, which goes along the first dimension."""

    def call(array: Any, axis: Any = 0, keepdims: bool = False) -> Any:
        return operation(_tensor(array), axis, keepdims)

    return call


def _expand_dims(a: Tensor, axis: Any) -> Tensor:
    for dim in sorted(axis if isinstance(axis, (tuple, list)) else (axis,)):
        a = shaping.unsqueeze(a, dim)
    return a


def _squeeze(a: Tensor, axis: Any = None) -> Tensor:
    if isinstance(axis, tuple):
        for dim in sorted((dim % a.ndim for dim in axis), reverse=True):
            a = shaping.squeeze(a, dim)
        return a
    return shaping.squeeze(a) if axis is None else shaping.squeeze(a, axis)


def _transpose(a: Tensor, axes: Any = None) -> Tensor:
    if axes is None:
        return shaping.permute(a, tuple(reversed(range(a.ndim))))
    return shaping.permute(a, tuple(axes))


def _reshape(a: Tensor, /, shape: Any = None, order: str = "C", **options: Any) -> Tensor:
    shape = options.pop("newshape", shape)
    if order != "C" or _given(options):
        return wrap(by_numpy(np.reshape, a, shape, order, **options))
    return shaping.reshape(a, (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape))


def _concatenate(arrays: Any, axis: Any = 0, out: Any = None, **options: Any) -> Any:
    if out is not None or _given(options):
        return by_numpy(np.concatenate, arrays, axis, out=out, **options)
    tensors = [_tensor(a) for a in arrays]
    if axis is None:
        return shaping.cat([shaping.flatten(tensor) for tensor in tensors])
    return shaping.cat(tensors, axis)


def _stack(arrays: Any, axis: int = 0, out: Any = None, **options: Any) -> Any:
    if out is not None or _given(options):
        return by_numpy(np.stack, arrays, axis, out=out, **options)
    return joining.stack([_tensor(a) for a in arrays], axis)


def _where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return by_numpy(np.where, condition)
    first, second = (_tensor(c) if isinstance(c, np.ndarray) else c for c in choices)
    condition = _tensor(condition)
    if condition._array.dtype.kind != "b":
        condition = comparison.ne(condition, 0)
    return choosing.where(condition, first, second)


def _clip(a: Any, *limits: Any, out: Any = None, **options: Any) -> Any:
    options = _given(options)
    named = {name.removeprefix("a_"): value for name, value in options.items()}
    if out is not None or set(named) - {"min", "max"}:
        return by_numpy(np.clip, a, *limits, out=out, **options)
    limits = tuple(_tensor(c) if isinstance(c, np.ndarray) else c for c in limits)
    return choosing.clamp(_tensor(a), *limits, **named)


ufuncs: dict[Any, Any] = {
    np.add: _two(elementwise.add, elementwise.add),
    np.subtract: _two(elementwise.sub, arithmetic.rsub),
    np.multiply: _two(elementwise.mul, elementwise.mul),
    np.true_divide: _two(elementwise.div, arithmetic.rdiv),
    np.power: _two(arithmetic.pow, _reflected(arithmetic.pow)),
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
    np.maximum: _with_array(choices.maximum),
    np.minimum: _with_array(choices.minimum),
    np.matmul: lambda a, b: products.matmul(_tensor(a), _tensor(b)),
    np.equal: _two(comparison.eq, comparison.eq),
    np.not_equal: _two(comparison.ne, comparison.ne),
    np.less: _two(comparison.lt, comparison.gt),
    np.less_equal: _two(comparison.le, comparison.ge),
    np.greater: _two(comparison.gt, comparison.lt),
    np.greater_equal: _two(comparison.ge, comparison.le),
    np.isnan: comparison.isnan,
    np.isinf: comparison.isinf,
    np.isfinite: comparison.isfinite,
    (np.add, "reduce"): _reduce(reducing.sum),
    (np.maximum, "reduce"): _reduce(_over(reducing.amax)),
    (np.minimum, "reduce"): _reduce(_over(reducing.amin)),
    (np.multiply, "outer"): lambda a, b: products.outer(_tensor(a), _tensor(b)),
}


def _like(make: Any) -> Any:
    def constant(a: Tensor, dtype: Any = None, shape: Any = None, **layout: Any) -> Tensor:
        return wrap(make(a._array, dtype, shape=shape))

    return constant


functions: dict[Any, Any] = {
    np.zeros_like: _like(np.zeros_like),
    np.ones_like: _like(np.ones_like),
    np.full_like: lambda a, fill_value, dtype=None, order="K", subok=True, shape=None: wrap(
        np.full_like(a._array, fill_value, dtype, shape=shape)
    ),
    np.empty_like: _like(np.empty_like),
    np.where: _where,
    np.broadcast_to: lambda array, shape, subok=False: shaping.expand(array, shape),
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.swapaxes: shaping.transpose,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.ravel: lambda a, order="C": _reshape(a, -1, "F") if order == "F" else shaping.flatten(a),
    np.flip: lambda m, axis=None: sizes.flip(m, range(m.ndim) if axis is None else axis),
    np.reshape: _reshape,
    np.sum: _reduction(np.sum, reducing.sum),
    np.mean: _reduction(np.mean, reducing.mean),
    np.max: _reduction(np.max, _over(reducing.amax)),
    np.min: _reduction(np.min, _over(reducing.amin)),
    np.amax: _reduction(np.amax, _over(reducing.amax)),
    np.amin: _reduction(np.amin, _over(reducing.amin)),
    np.stack: _stack,
    np.concatenate: _concatenate,
    np.copy: lambda a, order="K", subok=False: converting.clone(a),
    np.clip: _clip,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.numel() if axis is None else a.size(axis),
}
