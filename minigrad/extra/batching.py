"""Compute all examples of a batch at once, by rules that were written for one: see `vmap`.

A forward and its backward rule compute with whatever answers NumPy's functions. A `BatchedArray`
looks like the array of one example, has a first axis that nobody sees, and answers for all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from minigrad.core.tensor import Tensor, wrap, wrap_as_normal


class NotBatched(BaseException):
    """Something has no meaning for all examples at once.

    It is no `Exception`, because a function that catches those must not catch it.
    """


def refuse(*_: Any, **__: Any) -> Any:
    """Say that something must be done for each example by itself.

    Raises:
        NotBatched: Always.
    """
    raise NotBatched("this belongs to a batch that vmap computes at once, and has no value outside")


class BatchedArray(NDArrayOperatorsMixin):
    """The arrays of all examples of a batch, which look like that of one.

    NumPy asks it what its functions mean (`__array_ufunc__`, `__array_function__`). Where there is
    no rule for all examples, a function is called for each, and the results are stacked. What is
    the same for all examples, such as whether they are positive, is given as it is. The rest
    raises `NotBatched`.

    A batch within a batch has a higher level. What an array holds may be batched on lower ones.

    Args:
        data: The arrays, stacked along the first axis. If it can't be written to, nor can this be.
        level: Which batch it is.

    Example:
        >>> rows = BatchedArray(np.array([[1.0, 2.0], [3.0, 4.0]]), level=0)
        >>> rows.shape, np.add.reduce(rows * 10)._data
        ((2,), array([30., 70.]))
    """

    __slots__ = ("_data", "_level", "dtype", "shape")

    # For Python code this is an array (`isinstance`); NumPy's own code in C asks for its real type.
    __class__: Any = property(lambda self: np.ndarray)

    def __init__(self, data: Any, level: int) -> None:
        self._data, self._level = data, level
        self.shape, self.dtype = data.shape[1:], data.dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: self._data.size // len(self._data))
    strides = property(lambda self: self._data.strides[1:])
    flat = property(lambda self: iter(self.reshape(-1)))
    real = property(lambda self: BatchedArray(self._data.real, self._level))
    T = property(lambda self: self.transpose(range(self.ndim)[::-1]))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute for all examples what NumPy was asked for."""
        outputs = options.pop("out", ())
        given, axis = (*inputs, *outputs), options.get("axis", 0)
        if any(isinstance(each, Tensor) for each in given):
            return NotImplemented
        level, call, first = _level_of(given), getattr(ufunc, method), inputs[0]
        if method == "at" and (_data_of(first, level) is first or not first.flags.writeable):
            refuse()  # NumPy's `at` would write all the same
        if ufunc is np.matmul and not outputs:
            return _matmul(*inputs)
        if method in ("reduce", "accumulate") and not outputs and (axis is None or self.shape):
            axes = tuple(range(1, len(self.shape) + 1)) if axis is None else _shifted(axis)
            return BatchedArray(call(self._data, **options | {"axis": axes}), level)
        if method != "__call__" or ufunc.signature or "where" in options:
            return _each(partial(call, **options), *given)
        result = _entrywise(partial(ufunc, **options), *given)
        return outputs[0] if outputs else result

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        """Compute for all examples what NumPy was asked for."""
        if any(issubclass(each, Tensor) for each in types):
            return NotImplemented
        name = function.__name__ if function.__module__ == "numpy" else ""
        return _called(name, function, *inputs, **options)

    def __getattr__(self, name: str) -> Any:
        if name in ("base", "flags", "itemsize", "setflags"):  # of all together
            return getattr(self._data, name)
        if name.startswith("__") or not callable(getattr(np.ndarray, name, None)):
            raise AttributeError(name)
        return partial(_called, name, _method(name), self)

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        if all(type(each) in _BASIC for each in keys):
            return BatchedArray(self._data[(slice(None), *keys)], self._level)
        places = [each for each in keys if getattr(each, "dtype", bool) == np.int64]
        if len(places) == len(keys) and self._level == _level_of((self, places)):
            most = max([each.ndim for each in places])
            rows = np.arange(len(self._data)).reshape(-1, *(1,) * most)
            places = [_data_of(each, self._level, most) for each in places]
            return BatchedArray(self._data[(rows, *places)], self._level)
        return _each(operator.getitem, self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _each(operator.setitem, self, key, value)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        truths = {*self._data.astype(bool).reshape(-1).tolist()}
        return truths.pop() if self.size == len(truths) == 1 else refuse()

    __array__ = __float__ = __int__ = __index__ = __complex__ = refuse


_BASIC = {int, slice, type(None), type(...)}  # what gives a view, as a part of a key


def _method(name: str) -> Any:
    return lambda array, *given, **options: getattr(array, name)(*given, **options)


def _batched(value: Any) -> list[BatchedArray]:
    """List the batched arrays in nested arguments."""
    if type(value) in (list, tuple):
        return [each for part in value for each in _batched(part)]
    return [value] if type(value) is BatchedArray else []


def _level_of(value: Any) -> int:
    return max([each._level for each in _batched(value)])


def _shifted(axis: Any) -> Any:
    """Count axes with the first one; those that are counted from the end stay as they are."""
    return axis + (axis >= 0) if isinstance(axis, int) else tuple(map(_shifted, axis))


def _data_of(array: Any, level: int, ndim: int = 0) -> Any:
    """Give what an array holds, with axes of size 1 for examples of so many dimensions."""
    if type(array) is not BatchedArray or array._level != level:
        return array
    missing, data = ndim - array.ndim, array._data
    return data.reshape(len(data), *(1,) * missing, *array.shape) if missing > 0 else data


def _entrywise(function: Any, *arrays: Any) -> Any:
    """Call a function that broadcasts."""
    level = _level_of(arrays)
    most = max([each.ndim if hasattr(each, "ndim") else np.ndim(each) for each in arrays])
    return BatchedArray(function(*[_data_of(each, level, most) for each in arrays]), level)


def _matmul(a: Any, b: Any) -> Any:
    level = _level_of((a, b))
    if b.ndim == 2 and _data_of(b, level) is b:  # many rows, one matrix
        rows = a._data.reshape(-1, b.shape[0]) @ b
        return BatchedArray(rows.reshape(*a._data.shape[:-1], b.shape[1]), level)
    left, right = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    product = _entrywise(np.matmul, left, right)
    product = product[..., 0] if b.ndim == 1 else product
    return product if a.ndim > 1 else product[..., 0] if b.ndim == 1 else product[..., 0, :]


def _sizes(data: Any, *sizes: Any) -> tuple[int, ...]:
    """Give the shape of all, from that of one: in a tuple or not."""
    return (len(data), *(sizes[0] if hasattr(sizes[0], "__len__") else sizes))


def _alike(make: Any, data: Any, *given: Any, shape: Any = None, **options: Any) -> Any:
    """Make zeros or other numbers in the shape of an array, or in another one."""
    shape = None if shape is None else _sizes(data, shape)
    return make(data, *given, shape=shape, **options)


def _along(function: Any, data: Any, *axes: Any) -> Any:
    return function(data, *map(_shifted, axes))


# By the names of NumPy's functions and methods: for one array, what to do with what it holds,
_RULES: dict[str, Callable[..., Any]] = {
    "astype": lambda data, *given, **options: data.astype(*given, **options),
    "broadcast_to": lambda data, shape, subok=False: np.broadcast_to(
        _data_of(BatchedArray(data, 0), 0, len(shape)), (len(data), *shape)
    ),
    "copy": lambda data, order="C", subok=False: data.copy(order),
    "diagonal": lambda data, offset=0, a=0, b=1: data.diagonal(offset, *_shifted((a, b))),
    "reshape": lambda data, *sizes: data.reshape(_sizes(data, *sizes)),
    "transpose": lambda data, axes: data.transpose((0, *_shifted(axes))),
    "view": lambda data, *dtype: data.view(*dtype),
}
for _like in (np.zeros_like, np.ones_like, np.empty_like, np.full_like):
    _RULES[_like.__name__] = partial(_alike, _like)
for _move in (np.expand_dims, np.flip, np.moveaxis, np.squeeze, np.swapaxes):
    _RULES[_move.__name__] = partial(_along, _move)
# and for several, of which some may be the same for all examples.
_JOINING: dict[str, Callable[..., Any]] = {
    "dot": lambda a, b: _matmul(a, b) if a.ndim and b.ndim in (1, 2) else _each(np.dot, a, b),
    "may_share_memory": lambda *pair: np.may_share_memory(*[getattr(p, "_data", p) for p in pair]),
    "where": partial(_entrywise, np.where),
}


def _called(name: str, function: Any, *inputs: Any, **options: Any) -> Any:
    """Call one of NumPy's functions or methods by its rule, or for each example."""
    if name in _JOINING:
        return _JOINING[name](*inputs, **options)
    array, *others = inputs
    if name in _RULES and type(array) is BatchedArray and not _batched(others):
        return BatchedArray(_RULES[name](array._data, *others, **options), array._level)
    return _each(partial(function, **options), *inputs)


def _each(function: Any, *inputs: Any) -> Any:
    """Call a function for each example, and put the results together."""
    if not _batched(inputs):
        return function(*inputs)
    level = _level_of(inputs)
    given = [each._data for each in _batched(inputs) if each._level == level]
    if type(inputs[0]) is np.ndarray:
        refuse()  # it may be written to, for one example after the other

    def of(value: Any, example: int) -> Any:
        if type(value) is BatchedArray and value._level == level:
            return value._data[example, ...]
        several = type(value) in (list, tuple)
        return type(value)([of(part, example) for part in value]) if several else value

    return _together([function(*of(inputs, at)) for at in range(len(given[0]))], level, given)


def _together(results: Sequence[Any], level: int, given: list[Any]) -> Any:
    """Stack the results of all examples; a result that is no array must be the same for all."""
    first = results[0]
    if isinstance(first, (np.ndarray, np.generic)):
        view = any(np.may_share_memory(first, data) for data in given)  # and a stack is none
        if not view and len({each.shape for each in results}) == 1:
            return BatchedArray(np.stack(results), level)
    elif all(each == first for each in results):
        return first
    return refuse()


# ------------------------------------------------------------------ into a batch, and out of it


def batch(tensor: Tensor, dim: int, level: int) -> Tensor:
    """Give a tensor for each example along a dimension, all in one."""
    data = np.moveaxis(tensor._array, dim, 0)
    data.flags.writeable = False
    return wrap_as_normal(BatchedArray(data, level))


def unbatch(result: Any, dim: int | None, level: int, size: int) -> Any:
    """Give a tensor of all examples, stacked along a dimension; None is for what isn't."""
    array = getattr(result, "_array", None)
    if dim is not None and not result.requires_grad:
        data = _data_of(array, level)  # the same for all, or not
        whole = np.broadcast_to(array, (size, *array.shape)) if data is array else data
        return wrap(np.moveaxis(whole, 0, dim).copy())
    # what requires a gradient, something outside can ask for derivatives of
    return refuse() if _batched(array) or dim is not None else result
