"""Say what NumPy's functions, and minigrad's own, mean for arrays of symbols."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import numpy as np
import sympy

from minigrad.nn.functional.pooling import largest_of
from minigrad.ops import special_functions
from minigrad.ops.sorting import may_have_zero
from minigrad.symbolic import array as arrays
from minigrad.symbolic.array import OrderUnknown, SymbolicArray, again_symbolic, entries, entrywise
from minigrad.symbolic.equality import Refuted, equal
from minigrad.symbolic.mathematics import ENTRYWISE, choose, exact
from minigrad.symbolic.regions import sign_of


def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, *_: Any, shape: Any = None, **layout: Any
) -> Any:
    """Fill an array like another: with expressions, unless it should be one of numbers."""
    sizes = np.shape(a) if shape is None else shape
    if np.dtype(dtype or object) != object:
        return np.full(sizes, fill_value, dtype)
    return entrywise(lambda each: each, np.full(sizes, exact(fill_value)))


def _like(value: int) -> Callable[..., Any]:
    return lambda a, *settings, **named: _full_like(a, value, *settings, **named)


def _where(condition: Any, *choices: Any) -> SymbolicArray:
    if not choices:
        raise TypeError("which entries are not 0 depends on the values of symbols")
    return entrywise(choose, condition, *choices)


def _reduction(ufunc: Any) -> Callable[..., SymbolicArray]:
    return lambda a, axis=None, keepdims=False: arrays.reduce_along(ufunc, a, axis, keepdims)


def _mean(a: Any, axis: Any = None, keepdims: bool = False) -> SymbolicArray:
    total = arrays.reduce_along(np.add, a, axis, keepdims)
    return entrywise(ENTRYWISE[np.true_divide], total, a.size // max(total.size, 1))


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> SymbolicArray:
    result = a if a_min is None else entrywise(ENTRYWISE[np.maximum], a, a_min)
    return result if a_max is None else entrywise(ENTRYWISE[np.minimum], result, a_max)


def _copy_to(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    dst[...] = src if where is True else _where(where, src, dst)


def _array_equal(a1: Any, a2: Any) -> bool:
    try:
        return np.shape(a1) == np.shape(a2) and equal(a1, a2)
    except Refuted:
        return False


def _compared(what: str) -> Callable[[Any, Any], int]:
    """Make a comparison of expressions that raises where the order is not known."""

    def compare(first: Any, second: Any) -> int:
        sign = 0 if first == second else sign_of(first - second)
        if sign is None:
            raise OrderUnknown(
                f"{what} has to know which is larger, {first} or {second}. Put numbers in first "
                "(minigrad.symbolic.substitute).",
                first - second,
            )
        return sign

    return compare


def _argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    def in_order(row: Any) -> list[int]:
        """Give the places from the smallest entry to the largest; equal ones as they stand."""
        return sorted(range(len(row)), key=lambda place: compare(row[place]))

    compare = cmp_to_key(_compared("argsort"))
    return np.apply_along_axis(in_order, axis, entries(a)).astype(np.int64)


def _extreme(name: str, first: Any) -> Callable[..., Any]:
    size = cmp_to_key(_compared(name))

    def place(row: Any) -> Any:
        return first(range(len(row)), key=lambda number: size(row[number]))

    def find(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        array = entries(a)
        rows = array.reshape(-1) if axis is None else array
        found = np.apply_along_axis(place, 0 if axis is None else axis, rows)
        return np.expand_dims(found, axis) if keepdims else np.int64(found)

    return find


def _of_each_matrix(function: Callable[[Any], Any], signature: str) -> Callable[[Any], Any]:
    """Let a function of one of SymPy's matrices take a stack of arrays."""

    def of_one(array: Any) -> Any:
        found = function(sympy.Matrix(*array.shape, list(array.flat)))
        return entries(found).reshape(array.shape) if signature.endswith("(n,n)") else found

    apply = np.vectorize(of_one, [object], signature=signature)
    return lambda stack: again_symbolic(apply(entries(stack)))


# Expanded along their first rows; the adjugate over the determinant is the inverse.
determinant = _of_each_matrix(lambda matrix: matrix.det("laplace"), "(n,n)->()")
_adjugate = _of_each_matrix(lambda matrix: matrix.adjugate("laplace"), "(n,n)->(n,n)")


def inverse(matrix: Any) -> Any:
    """Invert a matrix: its adjugate over its determinant.

    Example:
        >>> import sympy
        >>> a, b = sympy.symbols("a b")
        >>> inverse(SymbolicArray([[a, b], [0, 1]]))
        SymbolicArray([[1/a, -b/a], [0, 1]])
    """
    return _adjugate(matrix) / determinant(matrix)[..., None, None]


def _largest_of(array: Any, others: list[Any], first: Any) -> tuple[Any, Any]:
    """Give the largest of several entries, and which it is, where their order is known."""
    stacked = np.stack([array, *others])
    number = np.argmax(stacked, 0, keepdims=True)
    return np.take_along_axis(stacked, number, 0)[0], number[0]


SymbolicArray._functions |= {
    np.array: lambda data, *_, **layout: SymbolicArray(data),
    np.asarray: lambda data, *_, **layout: SymbolicArray(data),
    np.zeros_like: _like(0),
    np.empty_like: _like(0),
    np.ones_like: _like(1),
    np.full_like: _full_like,
    np.where: _where,
    np.clip: _clip,
    np.copyto: _copy_to,
    # as it stands: in whichever order it is quickest is for numbers
    np.einsum: lambda *given, optimize=False: again_symbolic(np.einsum(*arrays.plain(given))),
    np.mean: _mean,
    np.array_equal: _array_equal,
    np.all: _reduction(np.logical_and),
    np.any: _reduction(np.logical_or),
    np.sum: _reduction(np.add),
    np.prod: _reduction(np.multiply),
    **dict.fromkeys((np.max, np.amax), _reduction(np.maximum)),
    **dict.fromkeys((np.min, np.amin), _reduction(np.minimum)),
    np.argsort: _argsort,
    np.argmax: _extreme("argmax", max),
    np.argmin: _extreme("argmin", min),
    np.linalg.det: determinant,
    np.linalg.inv: inverse,
    np.linalg.slogdet: lambda a: (np.sign(determinant(a)), np.log(np.abs(determinant(a)))),
    np.linalg.solve: lambda a, b: inverse(a) @ b,
    special_functions.erf.forward: functools.partial(entrywise, sympy.erf),
    special_functions.erfc.forward: functools.partial(entrywise, sympy.erfc),
    largest_of: _largest_of,
    may_have_zero: lambda values: True,  # of a symbol nobody knows
}

# NumPy's own methods of these names know nothing of symbols.
for _function in (np.any, np.all, np.argmax, np.argmin, np.argsort):
    setattr(SymbolicArray, _function.__name__, _function)

# These move entries, or add and multiply them: on arrays of objects NumPy's own are right.
SymbolicArray._rearranging |= {
    np.append, np.atleast_1d, np.atleast_2d, np.broadcast_arrays, np.broadcast_to,
    np.concatenate, np.copy, np.cumsum, np.diag, np.diagonal, np.diff, np.dot,
    np.expand_dims, np.flip, np.hstack, np.inner, np.may_share_memory, np.moveaxis, np.ndim,
    np.outer, np.ravel, np.repeat, np.reshape, np.roll, np.shape, np.shares_memory, np.size,
    np.split, np.squeeze, np.stack, np.swapaxes, np.take, np.take_along_axis, np.tensordot,
    np.tile, np.trace, np.transpose, np.tril, np.triu, np.vstack,
}  # fmt: skip
