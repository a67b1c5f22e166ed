"""Decide whether two formulas are equal: proved, refuted with a counterexample, or undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries


class Refuted(AssertionError):
    """Two formulas are different, and here are numbers at which they are.

    Attributes:
        entry: The index of the entry, `()` for formulas that are no arrays.
        left: The first formula.
        right: The second formula.
        counterexample: Values of the symbols at which the two differ.
    """

    def __init__(
        self, entry: tuple[int, ...], left: Any, right: Any, counterexample: Mapping[Any, Any]
    ) -> None:
        self.entry, self.left, self.right = entry, left, right
        self.counterexample = dict(counterexample)
        where = f"entry {list(entry)}: " if entry else ""
        numbers = [_shown(each.subs(self.counterexample)) for each in (left, right)]
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.counterexample.items())
        super().__init__(
            f"{where}{left} is not {right}"
            + (f": at {at} they are {numbers[0]} and {numbers[1]}" if at else "")
        )


class Undecided(AssertionError):
    """SymPy could neither bring the difference of two formulas to 0 nor find where it is not 0.

    Attributes:
        entry: The index of the entry, `()` for formulas that are no arrays.
        left: The first formula.
        right: The second formula.
        difference: What is left of their difference after simplification.
    """

    def __init__(self, entry: tuple[int, ...], left: Any, right: Any, difference: Any) -> None:
        self.entry, self.left, self.right, self.difference = entry, left, right, difference
        where = f"entry {list(entry)}: " if entry else ""
        super().__init__(
            f"{where}undecided whether {left} is {right}: they agree wherever numbers were tried, "
            f"but the difference {difference} was not brought to 0. Stronger assumptions on the "
            "symbols (positive=True) often help."
        )


def equal(a: Any, b: Any) -> bool:
    """Prove that two formulas, or two arrays of formulas, are equal.

    Args:
        a: A tensor, an array, a SymPy expression or matrix, a number, or nested lists of these.
        b: Likewise, of the same shape. A matrix may stand for a vector: see `expression`.

    Returns:
        True. There is no other result.

    Raises:
        Refuted: If they differ; it names the entry, the two formulas and a counterexample.
        Undecided: If neither a proof nor a counterexample was found.
        ValueError: If the shapes differ.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x = symbols("x")
        >>> equal((x + 1) ** 2, x**2 + 2 * x + 1)
        True
        >>> equal(x * x, 2 * x)
        Traceback (most recent call last):
        ...
        minigrad.symbolic.equality.Refuted: x**2 is not 2*x: at x = -3 they are 9 and -6
    """
    first, second = map(entries, (a, b))
    if first.shape != second.shape:
        shapes = [array.shape for array in (first, second)]
        if first.size != second.size or not {sum(n != 1 for n in s) for s in shapes} <= {0, 1}:
            raise ValueError(f"formulas of shapes {shapes[0]} and {shapes[1]} can't be equal")
        second = second.reshape(first.shape)
    for entry in np.ndindex(first.shape):
        check(entry if first.size > 1 else (), first[entry], second[entry])
    return True


def check(entry: tuple[int, ...], left: Any, right: Any) -> None:
    """Prove that two expressions are equal, or raise `Refuted` or `Undecided`."""
    if left == right:
        return
    for point in _points(left.free_symbols | right.free_symbols):
        if _differ(left, right, point):
            raise Refuted(entry, left, right, point)
    difference = left - right
    if _numerator(difference) == 0:
        return
    for simplified in _simplifications(difference):
        if simplified == 0:
            return
    raise Undecided(entry, left, right, simplified)


def same(left: Any, right: Any) -> bool:
    """Tell whether two expressions are equal; raise `Undecided` if that is not known."""
    try:
        check((), left, right)
    except Refuted:
        return False
    return True


def simplify(formula: Any) -> Any:
    """Give the shortest form of an expression that is found, equal to it exactly.

    Args:
        formula: A SymPy expression, or a tensor, array or matrix of them.

    Returns:
        An expression; of several entries a SymPy matrix or array, as from `expression`.

    Example:
        >>> from minigrad.symbolic import expression, symbols
        >>> x = symbols("x")
        >>> simplify(x.exp() / (1 + x.exp()) - 1)
        -1/(exp(x) + 1)
    """
    array = entries(formula)
    return shaped(list(map(_shortest, array.flat)), array.shape)


def shaped(listed: list[Any], shape: tuple[int, ...]) -> Any:
    """Give expressions as SymPy has them: one alone, a column, a matrix, or an array."""
    if len(listed) == 1:
        return listed[0]
    if len(shape) <= 2:
        rows, columns = (*shape, 1, 1)[:2]
        return sympy.Matrix(rows, columns, listed)
    return sympy.Array(listed, shape)


def _shortest(expression: Any) -> Any:
    forms = [expression, *_simplifications(expression)]
    forms += [sympy.factor(forms[-1])] if not forms[-1].has(sympy.Piecewise) else []
    return min(forms, key=lambda form: (form.count_ops(), len(str(form))))


# ---------------------------------------------------------------------- simplification


def _powers_apart(expression: Any) -> Any:
    """Write exp(a - b) as exp(a) / exp(b) everywhere, and log(c exp(b)) as log(c) + b."""

    def log_apart(argument: Any) -> Any:
        return sympy.expand_log(sympy.log(sympy.factor_terms(sympy.cancel(argument))), force=False)

    def exp_apart(argument: Any) -> Any:
        return sympy.expand(sympy.exp(argument), power_exp=True)

    expression = sympy.expand(expression, power_exp=True)
    expression = expression.replace(sympy.log, log_apart).replace(sympy.exp, exp_apart)
    return sympy.expand(expression, power_exp=True)


def _numerator(expression: Any) -> Any:
    """Give the numerator over a common denominator, multiplied out: 0 if the expression is 0."""
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


def _simplifications(expression: Any) -> Iterator[Any]:
    """Give ever more simplified forms of an expression, all equal to it."""
    yield expression
    for step in _steps:
        try:
            simplified = step(expression)
        except (sympy.PolynomialError, NotImplementedError):
            continue  # a form that this step is not made for, such as cases in a polynomial
        yield simplified
        if simplified == 0:
            return


# ---------------------------------------------------------------------- counterexamples


_TRIES = 6
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def _points(symbols: set[Any]) -> Iterator[dict[Any, Any]]:
    """Give values for symbols that respect what is assumed of them, different for each."""
    ordered = sorted(symbols, key=str)
    for trial in range(_TRIES):
        values = {}
        for position, symbol in enumerate(ordered):
            fitting = (value for value in _numbers(position + 5 * trial) if _fits(symbol, value))
            found = next(islice(fitting, 1), None)
            if found is None:
                return
            values[symbol] = found
        yield values


def _numbers(start: int) -> Iterator[Any]:
    """Give fractions and integers of both signs, most of them between -4 and 4."""
    for step in islice(count(start), 60):
        sign = (-1) ** (step // 2 + step)
        small = _PRIMES[step % len(_PRIMES)]
        yield sympy.Rational(sign * (1 + (7 * step + 3) % (3 * small)), small)
        yield sympy.Integer(sign * (1 + step % 4))
        yield sympy.Rational(1 + step, 3 + 2 * step)
        yield -sympy.Rational(2 + step, 3 + 2 * step)


def _fits(symbol: Any, value: Any) -> bool:
    return all(getattr(value, f"is_{kind}") is truth for kind, truth in symbol.assumptions0.items())


def _differ(left: Any, right: Any, point: Mapping[Any, Any]) -> bool:
    """Tell whether two expressions are certainly different at a point."""
    values = [side.subs(point) for side in (left, right)]
    for value in values:
        if not value.is_number or value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            return False  # a Heaviside at its jump, or outside of where the formula has a value
    if all(value.is_Rational for value in values):
        return bool(values[0] != values[1])
    # evalf gives 30 right digits, so a difference before the 20th is one of the formulas
    first, second = (value.evalf(30) for value in values)
    return bool(abs(first - second) > sympy.Float("1e-20") * (1 + abs(first) + abs(second)))


def _shown(value: Any) -> Any:
    return value if not value.is_number or value.is_Rational else value.evalf(8)
