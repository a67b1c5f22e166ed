"""Let other kinds of arrays say what a function of ours means, as NumPy's own functions let them.

NumPy does not compute an error function. Where a forward needs one, it is written here in NumPy,
for numbers; and an array of a class of its own is asked first, by NumPy's protocol, so that the
forward need not know what it was given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

# of these classes are NumPy's own arrays, and the scalars that it makes of arrays of one entry
_OWN = frozenset({np.ndarray, *np.sctypeDict.values()})


def overridable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let an array's class answer a function, by `__array_function__`, as it does for NumPy's own.

    Args:
        function: Takes an array first, then any other values; no keywords.

    Returns:
        The function. It asks the first argument, unless that is one of NumPy's own arrays.

    Example:
        >>> @overridable
        ... def double(array):
        ...     return array * 2
        >>> class Proud(np.ndarray):
        ...     def __array_function__(self, function, types, arguments, options):
        ...         return f"I answer {function.__name__} myself"
        >>> double(np.array([1, 2]))
        array([2, 4])
        >>> double(np.array([1, 2]).view(Proud))
        'I answer double myself'
    """

    @functools.wraps(function)
    def ask(array: Any, *others: Any) -> Any:
        kind = type(array)
        if kind in _OWN:
            return function(array, *others) if others else function(array)
        return array.__array_function__(ask, (kind,), (array, *others), {})

    ask._implementation = function  # type: ignore[attr-defined]  # as NumPy's have it
    return ask
