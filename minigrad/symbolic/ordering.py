"""Sort symbols and find the largest of them, wherever it is known which of two is larger."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import numpy as np

from minigrad.symbolic.array import OrderUnknown, SymbolicArray, entries
from minigrad.symbolic.signs import sign_of


def _compared(what: str) -> Callable[[Any, Any], int]:
    """Make a comparison of expressions that raises where the order is not known."""

    def compare(first: Any, second: Any) -> int:
        sign = 0 if first == second else sign_of(first - second)
        if sign is None:
            raise OrderUnknown(
                f"NumPy's {what} is not known for arrays of symbols unless it is known which is "
                f"larger, {first} or {second}. Put numbers in first "
                "(minigrad.symbolic.substitute).",
                first - second,
            )
        return sign

    return compare


def _places_in_order(row: Any, what: str) -> list[int]:
    """Give the places of entries from the smallest to the largest; equal ones as they stand."""
    compare = cmp_to_key(_compared(what))
    return sorted(range(len(row)), key=lambda place: compare(row[place]))


def _argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    array = entries(a)
    if axis is None:
        array, axis = array.reshape(-1), 0
    return np.apply_along_axis(_places_in_order, axis, array, "argsort").astype(np.int64)


def _extreme(name: str, sign: int) -> Callable[..., Any]:
    def place(row: Any) -> int:
        compare, best = _compared(name), 0
        for each in range(1, len(row)):
            if compare(row[each], row[best]) == sign:
                best = each
        return best

    def find(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        array = entries(a)
        rows = array.reshape(-1) if axis is None else array
        found = np.apply_along_axis(place, 0 if axis is None else axis, rows)
        if keepdims:
            kept = (1,) * array.ndim
            return found.reshape(kept) if axis is None else np.expand_dims(found, axis)
        return found if found.ndim else np.int64(found)

    return find


def _sort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    array = entries(a)
    return SymbolicArray(np.take_along_axis(array, _argsort(array, axis), axis))


_argmax, _argmin = _extreme("argmax", 1), _extreme("argmin", -1)
SymbolicArray._functions.update(
    {np.argsort: _argsort, np.argmax: _argmax, np.argmin: _argmin, np.sort: _sort}
)


def _method(function: Any) -> Callable[..., Any]:
    def method(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
    ) -> Any:
        return function(self, axis=axis, keepdims=keepdims)

    return method


# NumPy's own methods of these names know nothing of symbols.
for _name, _function in {
    "any": _method(np.any),
    "all": _method(np.all),
    "argmax": _argmax,
    "argmin": _argmin,
    "argsort": _argsort,
}.items():
    setattr(SymbolicArray, _name, _function)
