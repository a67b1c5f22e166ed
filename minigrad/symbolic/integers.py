"""Reason about floor, ceiling and remainders exactly: by integers of their own and what ties them.

Between two jumps floor(x) is one integer n, and n < x < n + 1. A formula is read with a symbol for
n. What it says of integers alone, such as n = 2, holds in a region of positive length.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy

from minigrad.symbolic.own import own

ROUNDED = (sympy.floor, sympy.ceiling)
_READ = (sympy.Mod, *ROUNDED)


class Integers:
    """Symbols for what is rounded in some formulas, and what is known of them."""

    def __init__(self) -> None:
        self._symbols: dict[Any, Any] = {}  # what stands for the floor of what
        self.facts: dict[Any, int] = {}  # expressions that are positive, apart from jumps

    def read(self, formula: Any) -> Any:
        """Give a formula with integers of their own for what is rounded.

        Example:
            >>> x = sympy.Symbol("x", real=True)
            >>> known = Integers()
            >>> known.read(sympy.ceiling(x) - sympy.floor(x)), list(known.facts)
            (1, [-n_1 + x, n_1 - x + 1])
        """
        if not formula.has(*_READ):
            return formula
        done: dict[Any, Any] = {}
        return self._read(formula, done)

    def _read(self, node: Any, done: dict[Any, Any]) -> Any:
        if not node.args:
            return node
        if node not in done:
            arguments = [self._read(each, done) for each in node.args]
            if isinstance(node, sympy.floor):
                done[node] = self._floor(arguments[0])
            elif isinstance(node, sympy.ceiling):
                steady = is_steady(arguments[0])
                done[node] = -self._floor(-arguments[0]) if steady else self._floor(*arguments) + 1
            elif isinstance(node, sympy.Mod):
                first, second = arguments
                done[node] = first - second * self._floor(first / second)
            else:
                same = all(a is b for a, b in zip(arguments, node.args, strict=True))
                done[node] = node if same else node.func(*arguments)
        return done[node]

    def _floor(self, argument: Any) -> Any:
        """Give the floor of what is read already; of integers alone it stays one."""
        found = sympy.floor(argument)
        for each in found.atoms(sympy.floor):
            if not is_steady(each.args[0]):
                found = found.xreplace({each: self._symbol(each.args[0])})
        return found

    def _symbol(self, argument: Any) -> Any:
        if argument.could_extract_minus_sign():
            return -self._symbol(-argument) - 1  # apart from jumps
        if argument not in self._symbols:
            symbol = own(f"n_{len(self._symbols) + 1}", integer=True)
            self._symbols[argument] = symbol
            self.facts |= {argument - symbol: 1, symbol + 1 - argument: 1}
        return self._symbols[argument]

    def back(self, formula: Any) -> Any:
        """Put back what symbols stand for."""
        for argument, symbol in reversed(self._symbols.items()):
            if formula.has(symbol):
                formula = formula.xreplace({symbol: sympy.floor(argument)})
        return formula

    def symbols(self) -> list[Any]:
        """List the symbols that stand for something rounded."""
        return list(self._symbols.values())

    def symbols_in(self, formula: Any) -> list[Any]:
        """List the symbols for what is rounded in a formula that was not read."""
        found = (
            [self._read(each, {}) for each in formula.atoms(*_READ)] if formula.has(*_READ) else []
        )
        inside = set().union(*(each.free_symbols for each in found))
        return [symbol for symbol in self._symbols.values() if symbol in inside]

    def stands_for(self, symbols: set[Any]) -> list[Any]:
        """List the symbols for something rounded in which one of given symbols occurs."""
        return [
            symbol
            for argument, symbol in self._symbols.items()
            if self.back(argument).free_symbols & symbols
        ]

    def jumps(self, formulas: Iterable[Any]) -> list[Any]:
        """List the conditions under which there is no jump: x is no integer."""
        seen = set().union(*(each.free_symbols for each in formulas))
        return [
            sympy.Ne(whole, sympy.floor(whole), evaluate=False)
            for argument, symbol in self._symbols.items()
            if symbol in seen
            for whole in [self.back(argument)]
        ]


def is_steady(expression: Any) -> bool:
    """Tell whether an expression depends on integers alone: it stays as it is for a while."""
    return all(symbol.is_integer for symbol in expression.free_symbols)


def residues(formulas: Iterable[Any]) -> tuple[Any, int] | None:
    """Find an integer on whose rest something rounded depends: in floor(n/2) that of n by 2."""
    for formula in formulas:
        for node in formula.atoms(*_READ) if formula.has(*_READ) else ():
            argument = node.args[0] / node.args[1] if isinstance(node, sympy.Mod) else node.args[0]
            for symbol in sorted(node.free_symbols, key=str):
                slope = sympy.diff(argument, symbol)
                if slope.is_Rational and not slope.is_Integer and slope.q <= _LARGEST:
                    return symbol, int(slope.q)
    return None


_LARGEST = 12  # for larger denominators there would be too many rests to look at
