"""Read formulas before they are compared: floats as the constants meant, rounding as a constant."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

_ROUNDED = (sympy.floor, sympy.ceiling)
# Fractions with larger denominators are taken for floats; nobody writes 1/1000003 into a rule.
_WRITTEN = 10**6


class Reading:
    """What stands for what while formulas are compared.

    Between two jumps floor(x) is constant. So a symbol stands for it, and SymPy, which has no
    derivative of floor, gives 0.

    Args:
        constants: Exact numbers that are meant where there is the float next to them.
    """

    def __init__(self, constants: Sequence[Any] = ()) -> None:
        self._constants = [sympy.sympify(each) for each in constants]
        self._symbols: dict[Any, Any] = {}

    def read(self, formula: Any) -> Any:
        """Give a formula with symbols for what is rounded, and with exact constants."""
        if self._constants:
            found = formula.atoms(sympy.Rational)
            formula = formula.xreplace({each: self._meant(each) for each in found})
        if not formula.has(sympy.Mod, *_ROUNDED):
            return formula
        # a rest is equal to something at jumps only, which are left out
        at_jumps = {each for each in formula.atoms(sympy.Eq) if each.has(sympy.Mod)}
        mods = set().union(*(each.atoms(sympy.Mod) for each in at_jumps))
        for rest in sorted(mods, key=sympy.default_sort_key):
            self._symbol(sympy.floor(rest.args[0] / rest.args[1]))
        formula = formula.xreplace(dict.fromkeys(at_jumps, sympy.false))
        formula = formula.replace(sympy.Mod, lambda a, b: a - b * sympy.floor(a / b))
        return formula.replace(lambda each: isinstance(each, _ROUNDED), self._symbol)

    def back(self, formula: Any) -> Any:
        """Put back what symbols stand for."""
        for rounded, symbol in reversed(self._symbols.items()):
            formula = formula.xreplace({symbol: rounded})
        return formula

    def stands_for(self, symbols: set[Any]) -> list[Any]:
        """List the symbols that stand for something rounded in which given symbols occur."""
        return [
            s for rounded, s in self._symbols.items() if self.back(rounded).free_symbols & symbols
        ]

    def in_use(self, *formulas: Any) -> bool:
        """Tell whether a symbol stands for something rounded in one of some formulas."""
        symbols = set(self._symbols.values())
        return any(each.free_symbols & symbols for each in formulas)

    def jumps(self, formulas: Sequence[Any]) -> list[Any]:
        """List the conditions under which there is no jump: x is no integer."""
        seen = set().union(*(each.free_symbols for each in formulas))
        return [
            sympy.Ne(self.back(rounded.args[0]), self.back(rounded), evaluate=False)
            for rounded, symbol in self._symbols.items()
            if symbol in seen
        ]

    def _symbol(self, rounded: Any) -> Any:
        if rounded not in self._symbols:
            name = f"n_{len(self._symbols) + 1}"
            self._symbols[rounded] = sympy.Symbol(name, integer=True)
        return self._symbols[rounded]

    def _meant(self, number: Any) -> Any:
        if number.q <= _WRITTEN:
            return number
        for constant in self._constants:
            ratio = number / sympy.Rational(str(constant.evalf(30)))
            simple = Fraction(f"{float(ratio):.12g}")
            # a float errs by 1.1e-16 of itself, the product of two by twice that
            if abs(ratio / sympy.Rational(simple.numerator, simple.denominator) - 1) < 2.3e-16:
                return sympy.Rational(simple.numerator, simple.denominator) * constant
        return number
