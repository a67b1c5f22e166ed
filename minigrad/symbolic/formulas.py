"""Take formulas out of tensors: as SymPy expressions, with numbers put in, as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries, symbolic, vector_of
from minigrad.symbolic.equality import shaped
from minigrad.symbolic.exact import exact
from minigrad.tensor import Tensor, wrap


def expression(formula: Any) -> Any:
    """Give what a tensor holds as SymPy has it.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.

    Returns:
        An expression if there is one entry; else a SymPy matrix, a column for a vector; of three
        dimensions and more a SymPy array.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> expression(symbols("x") ** 2)
        x**2
        >>> expression(symbols("x", 2) * 2)
        Matrix([
        [2*x_{0}],
        [2*x_{1}]])
    """
    array = entries(formula)
    return shaped(list(array.flat), array.shape)


def substitute(formula: Any, values: Mapping[Any, Any]) -> Any:
    """Put numbers, or other expressions, in the place of symbols, exactly.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.
        values: What to put for what. A key is a symbolic tensor, a SymPy symbol, or a symbol's
            name; a tensor of several symbols takes as many values, in its shape. Floating-point
            numbers become exact, as everywhere here. Keys that do not occur do no harm.

    Returns:
        What `expression` returns, with the values put in. `float()` makes a number of it.

    Raises:
        TypeError: If a key is something else, or a tensor that holds more than symbols.
        ValueError: If the values for a tensor do not have its shape.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> w, x = symbols("w x")
        >>> substitute(w * x + 1, {w: 0.3, "x": 0.1})
        103/100
    """
    array = entries(formula)
    by_symbol: dict[Any, Any] = {}
    by_name: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(key, str):
            by_name[key] = exact(expression(value))
        else:
            by_symbol |= _pairs(key, value)
    results = []
    for each in array.flat:
        named = {s: by_name[s.name] for s in each.free_symbols if s.name in by_name}
        results.append(exact(each.subs(by_symbol | named, simultaneous=True)))
    return shaped(results, array.shape)


def _pairs(key: Any, value: Any) -> dict[Any, Any]:
    symbols = entries(key)
    given = entries(value)
    if not all(symbol.is_Symbol for symbol in symbols.flat):
        raise TypeError(f"values are put in for symbols, but {expression(key)} is more than that")
    if symbols.shape != given.shape and not symbols.size == given.size == 1:
        raise ValueError(
            f"symbols of shape {symbols.shape} need values of that shape, but got {given.shape}"
        )
    return dict(zip(symbols.flat, given.flat, strict=True))


def derivative(formula: Any, wrt: Any) -> Tensor:
    r"""Differentiate by SymPy alone, without the engine: the referee's opinion.

    Args:
        formula: A tensor or expression of one entry, $L$.
        wrt: A tensor of symbols, $x$, or one symbol.

    Returns:
        The tensor of all $\partial L / \partial x_i$, in the shape of `wrt`.

    Raises:
        TypeError: If `wrt` holds more than symbols.
        ValueError: If the formula has several entries.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x = symbols("x", 2)
        >>> derivative((x**2).sum(), x)
        tensor([2*x_{0}, 2*x_{1}])
    """
    whole = entries(formula)
    if whole.size != 1:
        raise ValueError(f"a formula of one entry is differentiated, this has {whole.size}")
    symbols = entries(wrt)
    if not all(symbol.is_Symbol for symbol in symbols.flat):
        raise TypeError(f"differentiate with respect to symbols: {expression(wrt)} is more")
    partial = vector_of(sympy.diff(whole.item(), symbol) for symbol in symbols.flat)
    return wrap(symbolic(partial.reshape(np.shape(symbols))))


def latex(formula: Any, **settings: Any) -> str:
    r"""Write a tensor or an expression as LaTeX.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.
        **settings: What `sympy.latex` takes, such as `mul_symbol="dot"`.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> print(latex(symbols("w_0") / 2))
        \frac{w_{0}}{2}
    """
    return str(sympy.latex(expression(formula), **settings))
