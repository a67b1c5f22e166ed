"""Say how forwards and rules of operations run: silently, recorded or not; attach methods.

NumPy does not compute an error function. Where a forward needs such a function, it is written in
NumPy beside it, for numbers; and an array of a class of its own is asked first, by NumPy's
protocol, so that the forward need not know what it was given: see `overridable`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core.engine import quiet_numpy
from minigrad.core.modes import modes
from minigrad.core.operation import operation
from minigrad.core.tensor import Tensor


def ignore_errstate(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a forward that meets infinities and NaN as a matter of course, as a logarithm does.

    PyTorch never warns of them, so NumPy should not either. To enter a copy of a context costs a
    fraction of what `np.errstate` costs.
    """

    @functools.wraps(forward)
    def silent(*arguments: Any, **options: Any) -> Any:
        return quiet_numpy.copy().run(forward, *arguments, **options)

    silent.quiet = True  # type: ignore[attr-defined]
    return silent


def in_rule(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let numbers in what a method records be converted as in PyTorch's own rules."""

    @functools.wraps(method)
    def run_recorded(*arguments: Any) -> Any:
        outer, modes.in_rule = modes.in_rule, True
        try:
            return method(*arguments)
        finally:
            modes.in_rule = outer

    return run_recorded


def in_order(array: Any) -> Any:
    """Give an array that is C-contiguous: itself, or a copy."""
    return array if array.flags.c_contiguous else np.copy(array, order="C", subok=True)


def dispatch(operation: Any, *arguments: Any) -> Any:
    """Call an operation within a rule: recorded on tensors, its bare forward on arrays."""
    recorded = isinstance(arguments[0], Tensor)
    return (operation if recorded else operation.forward)(*arguments)


def linear_rule(node: str, **rules: Any) -> Any:
    """Declare a rule as an operation. It is linear in the gradient: its own rule there is itself.

    Args:
        node: The name of its node.
        **rules: Its rules in its other inputs.
    """

    def decorate(backward: Any) -> Any:
        def again(grad: Any, *given: Any) -> Any:
            return dispatch(rule, grad, *given)

        again.__wrapped__ = backward  # type: ignore[attr-defined]
        rule = operation(node, grad_output=again, **rules)(backward)
        return rule

    return decorate


def with_arguments(arguments: str) -> Any:
    """Say what a forward or a rule takes that is written for several operations as `*settings`.

    Args:
        arguments: Their names; the values of those that a rule names are saved for it.
    """

    def decorate(function: Any) -> Any:
        function.__wrapped__ = eval(f"lambda {arguments}: None")
        return function

    return decorate


def zeros_for(like: Any, shape: tuple[int, ...]) -> Any:
    """Give zeros of the same kind of array: numbers or symbols."""
    if type(like) is np.ndarray:
        return np.zeros(shape, like.dtype)
    return np.zeros_like(like, order="C", shape=shape)


# ---------------------------------------------------------------------- other kinds of arrays


# Of these classes are NumPy's own arrays, and the scalars that it makes of arrays of one entry
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


# ---------------------------------------------------------------------- members of other rooms


class _Empty:  # it needs a name: one that nobody holds may be collected while it is read
    __slots__ = ()


def attach(kind: type) -> Callable[[type], type]:
    """Decorate a class whose members are to be members of `kind`: of `Tensor` or of `Node`.

    Example:
        >>> class Tensor: ...
        >>> @attach(Tensor)
        ... class Doubling:
        ...     __slots__ = ()
        ...
        ...     def doubled(self):
        ...         return 2
        >>> Tensor().doubled()
        2
    """

    def give(part: type) -> type:
        for name, member in vars(part).items():
            if name not in vars(_Empty):  # what every class has
                setattr(kind, name, member)
        return part

    return give
