"""Do what NumPy is asked to do with tensors: `np.exp(t)` records itself.

NumPy gives operators and functions with a tensor among their arguments to the tensor. Where an
operation of minigrad stands for the function, it is called and recorded, also with arguments that
change nothing. The tables here hold what NumPy calls by other arguments (`axis`, not `dim`) or in
another way; files of operations add their own. For the rest PyTorch's way remains: NumPy computes
with the tensors' memory, and a tensor that requires a gradient is refused, because nothing would
be recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import choices, comparison, elementwise, joining
from minigrad.ops import reduction as reduction  # its variants are asked for
from minigrad.signatures import VARIANTS, lazy_loading, numpy_protocols
from minigrad.signatures.arguments import as_tensor, plain

_NOT_GIVEN: Any = np._NoValue  # NumPy's own sign of an argument that was not given
# Arguments with the values that change nothing, as None does.
_DEFAULTS: dict[str, Any] = {
    "casting": "same_kind",
    "keepdims": False,
    "order": "K",
    "subok": True,
    "where": True,
}


def compute(function: Any, method: str | None, inputs: Any, options: dict[str, Any]) -> Any:
    """Compute what NumPy was asked for.

    Args:
        function: NumPy's function.
        method: What of a ufunc was called, such as "reduce" or "__call__"; None for a function
            that isn't a ufunc.
        inputs: The arguments by position.
        options: The arguments by name.

    Raises:
        RuntimeError: If it cannot be recorded and a tensor requires a gradient.
        TypeError: If it cannot be computed with symbols.
    """
    name = function.__name__
    if method is None:
        return (_operation(function) or partial(by_numpy, function))(*inputs, **options)
    if method == "at" and isinstance(inputs[0], Tensor):
        raise ValueError(f"to NumPy's {name}.at a tensor is read-only: use x.index_add_ instead")
    options = _given(options)
    recorded = _operation(function if method == "__call__" else (function, method))
    known = {"axis", "keepdims"} if method == "reduce" else set()
    if recorded is not None and not set(options) - known:
        return recorded(*inputs, **options)
    called = function if method == "__call__" else getattr(function, method)
    result = called(*arrays_of(inputs, name), **arrays_of(options, name))
    return result if "out" in options else _tensors(result)  # as `array += tensor` has it


def _operation(key: Any) -> Callable[..., Any] | None:
    """Look up what stands for a function of NumPy's; at a miss once more, with all loaded."""
    tables = numpy_protocols
    table = tables.ufuncs if isinstance(key, (np.ufunc, tuple)) else tables.functions
    if key not in table:
        lazy_loading.load_all()
    return table.get(key)


def _tensors(result: Any) -> Any:
    """Turn the arrays that a ufunc gave into tensors."""
    if isinstance(result, tuple):
        return tuple(map(_tensors, result))
    return wrap(result) if isinstance(result, (np.ndarray, np.generic)) else result


def by_numpy(function: Any, *inputs: Any, **options: Any) -> Any:
    """Call a function of NumPy's with the memory of tensors; what it gives are arrays.

    Raises:
        RuntimeError: If a tensor requires a gradient.
    """
    name = function.__name__
    return function(*arrays_of(inputs, name), **arrays_of(options, name))


def arrays_of(value: Any, name: str) -> Any:
    """Turn tensors into arrays, also within sequences.

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
        array = value._array.view()
        array.flags.writeable = False  # what NumPy writes into it, the graph would not know of
        return array
    if type(value) in (list, tuple):
        return type(value)(arrays_of(each, name) for each in value)
    if type(value) is dict:
        return {key: arrays_of(each, name) for key, each in value.items()}
    return value


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Leave out arguments that change nothing."""

    def changes(name: str, value: Any) -> bool:
        default = _DEFAULTS.get(name)
        same = value is default or (isinstance(value, str) and value == default)
        return name == "axis" or not (value is None or value is _NOT_GIVEN or same)

    return {name: value for name, value in options.items() if changes(name, value)}


# ---------------------------------------------------------------------- the tables


def _two(operation: Any, reflected: Any) -> Any:
    """Make what stands for a function of two arrays; NumPy's numbers count as Python's."""

    def call(a: Any, b: Any) -> Any:
        if isinstance(a, Tensor):
            return operation(a, b)
        if isinstance(a, np.ndarray):
            return operation(as_tensor(a), b)
        return reflected(b, plain(a))

    return call


def _with_array(operation: Any) -> Any:
    return _two(operation, lambda self, other: operation(as_tensor(other), self))


def _with(operation: Any, function: Any, most: int, *names: str) -> Any:
    """Let an operation stand for a function of NumPy's; called with more, NumPy computes.

    Args:
        operation: What is recorded.
        function: NumPy's function.
        most: How many arguments the operation takes by position.
        *names: What it takes by name.
    """

    def call(*inputs: Any, **options: Any) -> Any:
        options = _given(options)
        if len(inputs) > most or set(options) - set(names):
            return by_numpy(function, *inputs, **options)
        return operation(*inputs, **options)

    return call


def _reduction(function: Any, operation: Any) -> Any:
    """Make what stands for `np.sum(a, axis, keepdims=...)`."""

    def reduce(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if not isinstance(a, Tensor):  # tensors within a list
            return by_numpy(function, a, axis, keepdims=keepdims)
        return operation(a, axis, keepdims)

    return _with(reduce, function, 2, "axis", "keepdims")


def _over(operation: Any) -> Any:
    """Let an operation that wants dimensions take None for all of them."""
    return lambda a, axis, keepdims: operation(a, () if axis is None else axis, keepdims)


def _reduce(operation: Any) -> Any:
    """Make what stands for `np.add.reduce(array)`, which goes along the first dimension."""
    return lambda array, axis=0, keepdims=False: operation(as_tensor(array), axis, keepdims)


def _expand_dims(a: Tensor, axis: Any) -> Tensor:
    for dim in sorted(axis if isinstance(axis, (tuple, list)) else (axis,)):
        a = a.unsqueeze(dim)
    return a


def _transpose(a: Tensor, axes: Any = None) -> Tensor:
    return a.permute(tuple(reversed(range(a.ndim)) if axes is None else axes))


def _reshape(a: Tensor, shape: Any) -> Tensor:
    return a.reshape((shape,) if isinstance(shape, (int, np.integer)) else tuple(shape))


def _concatenate(arrays: Any, axis: Any = 0) -> Any:
    tensors = [as_tensor(a) for a in arrays]
    if axis is None:
        return joining.joined([tensor.flatten() for tensor in tensors])
    return joining.joined(tensors, axis)


def _stack(arrays: Any, axis: int = 0) -> Any:
    return joining.stacked([as_tensor(a) for a in arrays], axis)


def _clip(a: Any, *limits: Any, **named: Any) -> Any:
    limits = tuple(as_tensor(c) if isinstance(c, np.ndarray) else c for c in limits)
    named = {name.removeprefix("a_"): value for name, value in named.items()}
    return VARIANTS["clamp"].method(as_tensor(a), *limits, **named)


def _where(condition: Any, *values: Any) -> Any:
    if not values:
        return by_numpy(np.where, condition)
    first, second = (as_tensor(c) if isinstance(c, np.ndarray) else c for c in values)
    condition = as_tensor(condition)
    if condition._array.dtype.kind != "b":
        condition = comparison.ne(condition, 0)
    return choices.where_function(condition, first, second)


ufuncs: dict[Any, Any] = {
    np.add: _two(elementwise.add, elementwise.add),
    np.subtract: _two(elementwise.sub, elementwise.rsub),
    np.multiply: _two(elementwise.mul, elementwise.mul),
    np.true_divide: _two(elementwise.div, elementwise.rdiv),
    np.power: _two(elementwise.power, lambda self, other: elementwise.power(other, self)),
    np.sign: choices.sgn,
    np.maximum: _with_array(choices.maximum),
    np.minimum: _with_array(choices.minimum),
    np.equal: _two(comparison.eq, comparison.eq),
    np.not_equal: _two(comparison.ne, comparison.ne),
    np.less: _two(comparison.lt, comparison.gt),
    np.less_equal: _two(comparison.le, comparison.ge),
    np.greater: _two(comparison.gt, comparison.lt),
    np.greater_equal: _two(comparison.ge, comparison.le),
    (np.add, "reduce"): _reduce(VARIANTS["sum"].method),
    (np.maximum, "reduce"): _reduce(_over(VARIANTS["amax"].method)),
    (np.minimum, "reduce"): _reduce(_over(VARIANTS["amin"].method)),
}


def _like(make: Any) -> Any:
    return lambda a, dtype=None, shape=None, **layout: wrap(make(a._array, dtype, shape=shape))


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
    np.squeeze: lambda a, axis=None: a.squeeze() if axis is None else a.squeeze(axis),
    np.swapaxes: lambda a, axis1, axis2: a.transpose(axis1, axis2),
    np.transpose: _transpose,
    np.ravel: _with(lambda a: a.flatten(), np.ravel, 1),
    np.flip: lambda m, axis=None: m.flip(range(m.ndim) if axis is None else axis),
    np.reshape: _with(_reshape, np.reshape, 2),
    np.sum: _reduction(np.sum, VARIANTS["sum"].method),
    np.mean: _reduction(np.mean, VARIANTS["mean"].method),
    np.max: _reduction(np.max, _over(VARIANTS["amax"].method)),
    np.min: _reduction(np.min, _over(VARIANTS["amin"].method)),
    np.stack: _with(_stack, np.stack, 2, "axis"),
    np.concatenate: _with(_concatenate, np.concatenate, 2, "axis"),
    np.copy: lambda a, order="K", subok=False: a.clone(),
    np.clip: _with(_clip, np.clip, 3, "min", "max", "a_min", "a_max"),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.numel() if axis is None else a.size(axis),
}

# what files have entered already counts more
numpy_protocols.ufuncs.update(ufuncs | numpy_protocols.ufuncs)
numpy_protocols.functions.update(functions | numpy_protocols.functions)
