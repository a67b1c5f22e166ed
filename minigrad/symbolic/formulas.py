"""Take formulas out of tensors: as SymPy expressions, with numbers put in, as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from minigrad.dtypes import dtype as Dtype
from minigrad.dtypes import float64
from minigrad.symbolic.array import entries, symbolic, vector_of
from minigrad.symbolic.equality import shaped
from minigrad.symbolic.evaluation import numbers_of, symbols_in
from minigrad.symbolic.exact import exact
from minigrad.symbolic.integers import Integers
from minigrad.symbolic.making import entry_names
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
        values: What to put for what. A key is a symbolic tensor, a SymPy symbol, or a name as
            `symbols` takes it; a tensor of several symbols, or its name, takes as many values, in
            its shape. Floating-point numbers become exact, as everywhere here. Keys that do not
            occur do no harm.

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
    by_symbol, by_name = _sorted_by_kind(values)
    named = {s: by_name[s.name] for s in symbols_in(array.flat) if s.name in by_name}
    results = [exact(each.subs(by_symbol | named, simultaneous=True)) for each in array.flat]
    return shaped(results, array.shape)


def evaluate(formula: Any, values: Mapping[Any, Any], dtype: Dtype = float64) -> Tensor:
    """Compute the numbers that formulas give, as an ordinary tensor.

    It computes with fractions, and with 40 digits from where something irrational comes in; the
    results are rounded once. So they say what the exact result is, where a run on numbers rounds
    after every operation.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.
        values: A number for each symbol. The keys are those of `substitute`.
        dtype: The dtype of the result. In a real one, what is not real becomes NaN.

    Returns:
        A tensor in the shape of the formula, without symbols.

    Raises:
        ValueError: If a symbol has no value; it names those.
        TypeError: If the dtype is not one of numbers, or a key is no symbol.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> w, x = symbols("w", 2), symbols("x", 2)
        >>> evaluate((w * x).sum().tanh(), {w: [0.1, 0.2], "x": [1, 2]})
        tensor(0.4621, dtype=torch.float64)
        >>> evaluate(w * x, {"x": [1, 2]})
        Traceback (most recent call last):
        ...
        ValueError: no value was given for w_{0}, w_{1}: evaluate() needs a number for each symbol
    """
    if not isinstance(dtype, Dtype) or dtype.numpy.kind == "O":
        raise TypeError(f"evaluate() gives numbers, such as torch.float64, but dtype is {dtype}")
    array = entries(formula)
    by_symbol, by_name = _sorted_by_kind(values)
    given = {s: by_symbol.get(s, by_name.get(s.name)) for s in symbols_in(array.flat)}
    missing = [s.name for s, value in given.items() if value is None or value.free_symbols]
    if missing:
        shown = sorted(missing)[:8]
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        raise ValueError(
            f"no value was given for {', '.join(shown)}{more}: evaluate() needs a number for each "
            "symbol"
        )
    results = [_python_number(each, dtype) for each in numbers_of(array.flat, given)]
    with np.errstate(all="ignore"):  # what is too large for a dtype is infinite there, as always
        return wrap(np.array(results).reshape(array.shape).astype(dtype.numpy))  # type: ignore[no-any-return]


def _python_number(value: Any, dtype: Dtype) -> Any:
    if value is sympy.nan or value is sympy.zoo:
        return float("nan")
    if not dtype.is_floating_point and value.is_Integer:
        return int(value)
    number = complex(value)
    return number if dtype.is_complex else number.real if number.imag == 0 else float("nan")


def _sorted_by_kind(values: Mapping[Any, Any]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Tell values for symbols from values for names, an entry each."""
    by_symbol: dict[Any, Any] = {}
    by_name: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(key, str):
            given = entries(value)
            by_name |= dict(zip(entry_names(key, given.shape), given.flat, strict=True))
        else:
            by_symbol |= _pairs(key, value)
    return by_symbol, by_name


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

    What is rounded down or up is constant, apart from where it jumps.

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
    integers = Integers()
    read = integers.read(whole.item())
    partial = vector_of(integers.back(sympy.diff(read, symbol)) for symbol in symbols.flat)
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
        >>> print(latex(symbols("mu", 2)[1]))
        \mu_{1}
    """
    whole = expression(formula)
    names = {s: _in_latex(s.name) for s in whole.free_symbols if "{" in s.name}
    settings["symbol_names"] = names | dict(settings.get("symbol_names", {}))
    return str(sympy.latex(whole, **settings))


def _in_latex(name: str) -> str:
    """Give the name of an entry as LaTeX: SymPy translates no name that has braces."""
    stem, _, subscript = name.partition("_")
    return f"{sympy.latex(sympy.Symbol(stem))}_{subscript}"
