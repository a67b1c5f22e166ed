"""Say what NumPy's functions that are no ufuncs mean for arrays of symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import (
    SymbolicArray,
    again_symbolic,
    entries,
    entrywise,
    plain,
    reduce_along,
    symbolic,
)
from minigrad.symbolic.equality import same
from minigrad.symbolic.mathematics import ENTRYWISE, choose


def _filled(shape: Any, value: Any) -> SymbolicArray:
    array = np.empty(shape, object)
    array[...] = value
    return symbolic(array)


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    **device: Any,
) -> Any:
    """Fill an array like another: with expressions, unless it shall be one of numbers."""
    sizes = np.shape(a) if shape is None else shape
    if np.dtype(dtype or object) != object:
        return np.full(sizes, fill_value, dtype)
    array = _filled(sizes, sympy.Integer(0))
    array[...] = fill_value
    return array


def _like(value: int) -> Callable[..., Any]:
    return lambda a, *settings, **named: _full_like(a, value, *settings, **named)


def _made(data: Any, dtype: Any = None, **layout: Any) -> SymbolicArray:
    return SymbolicArray(data)


def _where(condition: Any, *choices: Any) -> SymbolicArray:
    if len(choices) != 2:
        raise TypeError(
            "where() of symbols needs two arrays to choose from: which entries are 0 "
            "depends on the symbols' values"
        )
    return entrywise(choose, condition, *choices)


def _reduction(ufunc: Any) -> Callable[..., SymbolicArray]:
    def total(a: Any, axis: Any = None, keepdims: bool = False) -> SymbolicArray:
        return reduce_along(ufunc, a, axis, keepdims)

    return total


def _mean(a: Any, axis: Any = None, keepdims: bool = False) -> SymbolicArray:
    total = reduce_along(np.add, a, axis, keepdims)
    return entrywise(ENTRYWISE[np.true_divide], total, a.size // max(total.size, 1))


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> SymbolicArray:
    result = a if a_min is None else entrywise(ENTRYWISE[np.maximum], a, a_min)
    return result if a_max is None else entrywise(ENTRYWISE[np.minimum], result, a_max)


def _copy_to(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    dst[...] = src if where is True else _where(where, src, dst)


def _einsum(*operands: Any, optimize: Any = False, **options: Any) -> Any:
    """Sum the products as they stand: in whichever order they are quickest is for numbers."""
    return again_symbolic(np.einsum(*plain(operands), **plain(options)))


def _array_equal(a1: Any, a2: Any) -> bool:
    first, second = entries(a1), entries(a2)
    return first.shape == second.shape and all(map(same, first.flat, second.flat))


SymbolicArray._functions.update(
    {
        np.array: _made,
        np.asarray: _made,
        np.zeros_like: _like(0),
        np.empty_like: _like(0),
        np.ones_like: _like(1),
        np.full_like: _full_like,
        np.where: _where,
        np.clip: _clip,
        np.copyto: _copy_to,
        np.einsum: _einsum,
        np.mean: _mean,
        np.array_equal: _array_equal,
        np.all: _reduction(np.logical_and),
        np.any: _reduction(np.logical_or),
    }
)
SymbolicArray._functions.update(dict.fromkeys((np.sum,), _reduction(np.add)))
SymbolicArray._functions.update(dict.fromkeys((np.prod,), _reduction(np.multiply)))
SymbolicArray._functions.update(dict.fromkeys((np.max, np.amax), _reduction(np.maximum)))
SymbolicArray._functions.update(dict.fromkeys((np.min, np.amin), _reduction(np.minimum)))

# These move entries, or add and multiply them: on arrays of objects NumPy's own are right.
SymbolicArray._rearranging.update(
    {
        np.append, np.array_split, np.atleast_1d, np.atleast_2d, np.broadcast_arrays,
        np.broadcast_to, np.column_stack, np.concatenate, np.copy, np.cumsum, np.diag,
        np.diagonal, np.diff, np.dot, np.dstack, np.expand_dims, np.flip, np.fliplr,
        np.flipud, np.hstack, np.inner, np.may_share_memory, np.moveaxis, np.ndim, np.outer,
        np.ravel, np.repeat, np.reshape, np.roll, np.rollaxis, np.rot90, np.shape,
        np.shares_memory, np.size, np.split, np.squeeze, np.stack, np.swapaxes, np.take,
        np.take_along_axis, np.tensordot, np.tile, np.trace, np.transpose, np.tril, np.triu,
        np.vstack,
    }
)  # fmt: skip
