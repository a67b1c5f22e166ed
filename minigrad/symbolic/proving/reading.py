"""Read formulas before they are compared: floats as the constants meant, rounding as integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

from minigrad.symbolic.integers import Integers

# Fractions with larger denominators are taken for floats; nobody writes 1/1000003 into a rule.
_WRITTEN = 10**6


class Reading(Integers):
    """What stands for what while formulas are compared.

    Args:
        constants: Exact numbers that are meant where there is the float next to them.
        gradients: What the symbols of the result's gradient are called.
    """

    def __init__(self, constants: Sequence[Any] = (), gradients: str = "g") -> None:
        super().__init__()
        self.gradients = gradients
        self._constants = [sympy.sympify(each) for each in constants]

    def read(self, formula: Any) -> Any:
        """Give a formula with symbols for what is rounded, and with exact constants."""
        if self._constants:
            found = formula.atoms(sympy.Rational)
            formula = formula.xreplace({each: self._meant(each) for each in found})
        return super().read(formula)

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
