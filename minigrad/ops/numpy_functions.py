"""Say which operation stands for which of NumPy's functions: `np.exp(t)` records itself.

The tables hold what NumPy calls by other arguments (`axis`, not `dim`) or in another way, and the
operations that are loaded with the package; those that are loaded late add their own. For what is
in no table NumPy computes with the memory of tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces import FACES
from minigrad.faces.face import functions as functions_in_minigrad
from minigrad.ops import choices, comparison, elementwise, joining, padding, repetition
from minigrad.ops.joining import joined


def by_numpy(function: Any, *inputs: Any, **options: Any) -> Any:
    """Call a function of NumPy's with the memory of tensors; what it gives are arrays.

    Raises:
        RuntimeError: If a tensor requires a gradient.
    """
    name = function.__name__
    return function(*arrays_of(inputs, name), **arrays_of(options, name))


def arrays_of(value: Any, name: str) -> Any:
    """Put arrays in the place of tensors, also within sequences.

    Args:
        value: A tensor, a sequence or dictionary that may have tensors in it, or anything else.
        name: The function that is to be called, for the message.

    Raises:
        RuntimeError: If a tensor requires a gradient.
    """
    if isinstance(value, Tensor):
        if value.requires_grad and is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                f"instead. (NumPy's {name}, as it was called, is not known for tensors: nothing "
                "would be recorded.)"
            )
        return value._array
    if type(value) in (list, tuple):
        return type(value)(arrays_of(each, name) for each in value)
    if type(value) is dict:
        return {key: arrays_of(each, name) for key, each in value.items()}
    return value


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
        a = a.unsqueeze(dim)
    return a


def _squeeze(a: Tensor, axis: Any = None) -> Tensor:
    if isinstance(axis, tuple):
        for dim in sorted((dim % a.ndim for dim in axis), reverse=True):
            a = a.squeeze(dim)
        return a
    return a.squeeze() if axis is None else a.squeeze(axis)


def _transpose(a: Tensor, axes: Any = None) -> Tensor:
    if axes is None:
        return a.permute(tuple(reversed(range(a.ndim))))
    return a.permute(tuple(axes))


def _reshape(a: Tensor, /, shape: Any = None, order: str = "C", **options: Any) -> Tensor:
    shape = options.pop("newshape", shape)
    if order != "C" or _given(options):
        return wrap(by_numpy(np.reshape, a, shape, order, **options))
    return a.reshape((shape,) if isinstance(shape, (int, np.integer)) else tuple(shape))


def _concatenate(arrays: Any, axis: Any = 0, out: Any = None, **options: Any) -> Any:
    if out is not None or _given(options):
        return by_numpy(np.concatenate, arrays, axis, out=out, **options)
    tensors = [_tensor(a) for a in arrays]
    if axis is None:
        return joined([tensor.flatten() for tensor in tensors])
    return joined(tensors, axis)


def _stack(arrays: Any, axis: int = 0, out: Any = None, **options: Any) -> Any:
    if out is not None or _given(options):
        return by_numpy(np.stack, arrays, axis, out=out, **options)
    return joining.stack([_tensor(a) for a in arrays], axis)


def _where(condition: Any, *values: Any) -> Any:
    if not values:
        return by_numpy(np.where, condition)
    first, second = (_tensor(c) if isinstance(c, np.ndarray) else c for c in values)
    condition = _tensor(condition)
    if condition._array.dtype.kind != "b":
        condition = comparison.ne(condition, 0)
    return choices.where_function(condition, first, second)


def _clip(a: Any, *limits: Any, out: Any = None, **options: Any) -> Any:
    options = _given(options)
    named = {name.removeprefix("a_"): value for name, value in options.items()}
    if out is not None or set(named) - {"min", "max"}:
        return by_numpy(np.clip, a, *limits, out=out, **options)
    limits = tuple(_tensor(c) if isinstance(c, np.ndarray) else c for c in limits)
    return FACES["clamp"].method(_tensor(a), *limits, **named)


def _tensors(values: Any) -> list[Tensor]:
    return [_tensor(value) for value in values]


def _each(function: Any) -> Any:
    """Let a function of tensors accept arrays and numbers among them."""
    return lambda tup, **options: function(_tensors(tup))


def _tile(A: Tensor, reps: Any) -> Tensor:
    counts = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    return _tensor(A).tile(counts)


def _repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    many = repeats if isinstance(repeats, int) else _tensor(repeats)
    return repetition.repeat_interleave(_tensor(a), many, axis)


def _take(a: Tensor, indices: Any, axis: int | None = None, **options: Any) -> Tensor:
    places = _tensor(indices)._array
    if axis is None:
        return _tensor(a).take(wrap(places.astype(np.int64)))
    key = (slice(None),) * (axis % a.ndim) + (int(places) if not places.ndim else wrap(places),)
    return _tensor(a)[key]


def _pad(array: Tensor, pad_width: Any, mode: str = "constant", **options: Any) -> Tensor:
    modes = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    if mode not in modes:
        raise NotImplementedError(f"np.pad has no mode={mode!r} for tensors.")
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))[::-1]
    flat = [int(width) for pair in widths for width in pair]
    value = options.pop("constant_values", None)
    if options or not (value is None or np.isscalar(value)):
        raise NotImplementedError("np.pad takes one number as constant_values for tensors.")
    return padding.pad_all(array, flat, modes[mode], value)


def _broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tensor, ...]:
    if any(not isinstance(each, (Tensor, int, float, np.ndarray)) for each in args):
        return by_numpy(np.broadcast_arrays, *args, subok=subok)
    return repetition.broadcast_tensors(*_tensors(args))


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if sparse:
        raise NotImplementedError("np.meshgrid has no sparse=True for tensors.")
    return repetition.meshgrid(*_tensors(xi), indexing=indexing)


ufuncs: dict[Any, Any] = {
    np.add: _two(elementwise.add, elementwise.add),
    np.subtract: _two(elementwise.sub, elementwise.rsub),
    np.multiply: _two(elementwise.mul, elementwise.mul),
    np.true_divide: _two(elementwise.div, elementwise.rdiv),
    np.power: _two(elementwise.power, _reflected(elementwise.power)),
    np.sign: choices.sgn,
    np.maximum: _with_array(choices.maximum),
    np.minimum: _with_array(choices.minimum),
    np.equal: _two(comparison.eq, comparison.eq),
    np.not_equal: _two(comparison.ne, comparison.ne),
    np.less: _two(comparison.lt, comparison.gt),
    np.less_equal: _two(comparison.le, comparison.ge),
    np.greater: _two(comparison.gt, comparison.lt),
    np.greater_equal: _two(comparison.ge, comparison.le),
    (np.add, "reduce"): _reduce(FACES["sum"].method),
    (np.maximum, "reduce"): _reduce(_over(FACES["amax"].method)),
    (np.minimum, "reduce"): _reduce(_over(FACES["amin"].method)),
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
    np.broadcast_to: lambda array, shape, subok=False: array.expand(shape),
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.swapaxes: lambda a, axis1, axis2: a.transpose(axis1, axis2),
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.ravel: lambda a, order="C": _reshape(a, -1, "F") if order == "F" else a.flatten(),
    np.flip: lambda m, axis=None: m.flip(range(m.ndim) if axis is None else axis),
    np.reshape: _reshape,
    np.sum: _reduction(np.sum, FACES["sum"].method),
    np.mean: _reduction(np.mean, FACES["mean"].method),
    np.max: _reduction(np.max, _over(FACES["amax"].method)),
    np.min: _reduction(np.min, _over(FACES["amin"].method)),
    np.amax: _reduction(np.amax, _over(FACES["amax"].method)),
    np.amin: _reduction(np.amin, _over(FACES["amin"].method)),
    np.stack: _stack,
    np.concatenate: _concatenate,
    np.copy: lambda a, order="K", subok=False: a.clone(),
    np.clip: _clip,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.numel() if axis is None else a.size(axis),
    np.broadcast_arrays: _broadcast_arrays,
    np.fliplr: lambda m: m.fliplr(),
    np.flipud: lambda m: m.flipud(),
    np.hstack: _each(functions_in_minigrad["hstack"]),
    np.meshgrid: _meshgrid,
    np.moveaxis: lambda a, source, destination: a.movedim(source, destination),
    np.pad: _pad,
    np.repeat: _repeat,
    np.take: _take,
    np.tile: _tile,
    np.vstack: _each(functions_in_minigrad["vstack"]),
}
