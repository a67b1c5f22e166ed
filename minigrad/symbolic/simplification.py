"""Bring a formula into other forms that are equal to it exactly, until it is 0 or short."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy

from minigrad.symbolic.own import own


def _powers_apart(expression: Any) -> Any:
    """Write exp(a - b) as exp(a) / exp(b) everywhere, and log(c exp(b)) as log(c) + b."""

    def log_apart(argument: Any) -> Any:
        return sympy.expand_log(sympy.log(sympy.factor_terms(sympy.cancel(argument))), force=False)

    def exp_apart(argument: Any) -> Any:
        return sympy.expand(sympy.exp(argument), power_exp=True)

    expression = sympy.expand(expression, power_exp=True)
    expression = expression.replace(sympy.log, log_apart).replace(sympy.exp, exp_apart)
    return sympy.expand(expression, power_exp=True)


def numerator(expression: Any) -> Any:
    """Give the numerator over a common denominator, multiplied out: 0 if the expression is 0.

    Functions are taken for symbols at first: most of what is equal is so whatever they are.
    """
    functions = expression.atoms(sympy.Function) - expression.atoms(sympy.Piecewise)
    if functions:
        put = {each: own("f", real=True) for each in functions if each.is_real}
        simple = sympy.together(expression.xreplace(put))
        if sympy.expand(sympy.fraction(simple)[0]) == 0:
            return sympy.Integer(0)
    return sympy.expand(sympy.fraction(sympy.together(_powers_apart(expression)))[0])


def _by_cases(expression: Any) -> Any:
    cases = sympy.piecewise_fold(expression.rewrite(sympy.Piecewise))
    return sympy.simplify(cases)


_steps: tuple[Callable[[Any], Any], ...] = (
    sympy.expand,
    sympy.cancel,
    lambda e: sympy.cancel(_powers_apart(e)),
    sympy.simplify,
    lambda e: sympy.simplify(_powers_apart(e).rewrite(sympy.exp)),
    _by_cases,
)


def simplifications(expression: Any) -> Iterator[Any]:
    """Give ever more simplified forms of an expression, all equal to it."""
    yield expression
    for step in _steps:
        try:
            simplified = step(expression)
        except (sympy.PolynomialError, NotImplementedError, AttributeError):
            # A form that this step is not made for, such as cases in a polynomial. SymPy stumbles
            # over conditions that become true while it works on cases: "no attribute 'lhs'".
            continue
        yield simplified
        if simplified == 0:
            return
