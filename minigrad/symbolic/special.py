"""Say what minigrad's own functions mean for arrays of symbols: error functions, gamma functions.

NumPy has none of these. Rules call them as they call NumPy's (see `minigrad.ops.overriding`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from minigrad.ops import error_function, gamma_function
from minigrad.ops.cumulative import may_have_zero
from minigrad.ops.exponentials import times_log_of
from minigrad.ops.pooling import largest_of
from minigrad.symbolic.array import SymbolicArray, entrywise
from minigrad.symbolic.needs import NEEDS, Need

_ROOT_2 = sympy.sqrt(2)


def _entrywise(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.partial(entrywise, function)


class NumberOfLargest:
    """Which of several arrays has the largest entry, where only conditions on the entries tell.

    Args:
        arrays: Arrays of one shape.

    Example:
        >>> x, y = sympy.symbols("x y", real=True)
        >>> NumberOfLargest([SymbolicArray([x]), SymbolicArray([y])]) == 1
        SymbolicArray([Piecewise((1, x <= y), (0, True))])
    """

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays
        self.largest = functools.reduce(np.maximum, arrays)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, number: object) -> Any:
        """Give the condition that it is the array of a number."""
        return self._arrays[number] == self.largest  # type: ignore[call-overload]

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        raise TypeError(
            "which entry of a window is the largest depends on the values of its symbols, so "
            "there are no indices. Leave out return_indices, or put numbers in first "
            "(minigrad.symbolic.substitute)."
        )


def _largest_of(array: Any, others: list[Any], first: Any) -> tuple[Any, NumberOfLargest]:
    number = NumberOfLargest([array, *others])
    return number.largest, number


SymbolicArray._functions.update(
    {
        error_function.erf: _entrywise(sympy.erf),
        error_function.erfc: _entrywise(sympy.erfc),
        error_function.erfcx: _entrywise(lambda x: sympy.exp(x**2) * sympy.erfc(x)),
        error_function.erfinv: _entrywise(sympy.erfinv),
        error_function.log_normal_distribution: lambda array: np.log(
            error_function.erfc(-array / _ROOT_2) / 2
        ),
        error_function.normal_quantile: _entrywise(lambda p: _ROOT_2 * sympy.erfinv(2 * p - 1)),
        gamma_function.lgamma: _entrywise(sympy.loggamma),
        gamma_function.digamma: _entrywise(sympy.digamma),
        gamma_function.polygamma: _entrywise(lambda x, n: sympy.polygamma(n, x)),
        largest_of: _largest_of,
        times_log_of: lambda array, number: array * np.log(SymbolicArray(number)),
        may_have_zero: lambda values: True,  # of a symbol nobody knows
    }
)

NEEDS.update(
    {
        error_function.erfinv: NEEDS[np.arctanh],
        error_function.normal_quantile: lambda p: (Need(p, ">"), Need(1 - p, ">")),
        # below 0 they have poles, and SymPy's loggamma is complex
        gamma_function.lgamma: NEEDS[np.log],
        gamma_function.digamma: NEEDS[np.log],
        gamma_function.polygamma: lambda x, n: (Need(x, ">"),),
    }
)
