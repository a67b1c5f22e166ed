"""Decide whether two formulas are equal: proved, refuted with a counterexample, or undecided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.deciding import Verdict, decide
from minigrad.symbolic.parts import decide_in_parts, in_cases
from minigrad.symbolic.points import Comparison, shown
from minigrad.symbolic.simplification import simplifications


class Refuted(AssertionError):
    """Two formulas are different, and here are numbers at which they are.

    Attributes:
        of: What the formulas are of, such as "the gradient of x"; empty if that was not said.
        entry: The index of the entry, `()` for formulas that are no arrays.
        left: The first formula.
        right: The second formula.
        counterexample: Values of the symbols at which the two differ.
        numbers: What the first and the second are there.
        ran: What the rule gives there and what the derivative is, if the formulas do not tell.
    """

    def __init__(
        self,
        entry: tuple[int, ...],
        left: Any,
        right: Any,
        counterexample: Mapping[Any, Any],
        of: str = "",
        note: str = "",
        ran: tuple[float, float] | None = None,
    ) -> None:
        self.of, self.entry, self.left, self.right = of, entry, left, right
        self.counterexample, self.ran = dict(counterexample), ran
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.counterexample.items())
        if ran is None:
            first, second = (shown(each.subs(self.counterexample).doit()) for each in (left, right))
            told = f"{left} is not {right}" + (
                f": at {at} they are {first} and {second}" if at else ""
            )
        else:  # what the run shows, where the formulas do not
            first, second = map(_measured, ran)
            told = (
                f"the run gives {first}, and the derivative is {second}: at {at}. Its formula, "
                f"{left}, does not tell what the run does there"
            )
        self.numbers = (first, second)
        super().__init__(f"{note}{place_of(of, entry)}{told}")


class Undecided(AssertionError):
    """SymPy could neither bring the difference of two formulas to 0 nor find where it is not 0.

    Attributes:
        of: What the formulas are of, such as "the gradient of x"; empty if that was not said.
        entry: The index of the entry, `()` for formulas that are no arrays.
        left: The first formula.
        right: The second formula.
        difference: What is left of their difference after simplification.
        comparison: What comparing them at numbers gave. It stands in for a proof, and is none.
    """

    def __init__(
        self,
        entry: tuple[int, ...],
        left: Any,
        right: Any,
        difference: Any,
        comparison: Comparison | None = None,
        of: str = "",
        advice: str = "Stronger assumptions on the symbols (positive=True) often help.",
        because: str = "",
    ) -> None:
        self.of, self.entry, self.left, self.right = of, entry, left, right
        self.difference, self.comparison = difference, comparison
        if because:
            super().__init__(f"{place_of(of, entry)}could not decide, because {because}")
            return
        agree = "they agree wherever numbers were tried" if comparison is None else str(comparison)
        super().__init__(
            f"{place_of(of, entry)}undecided whether {left} is {right}: {agree}, but the "
            f"difference {difference} was not brought to 0. {advice}"
        )


def _measured(number: float) -> Any:
    """Write a number that a run gave with eight digits, as a fraction if it is a simple one."""
    if number != number or abs(number) == float("inf"):
        return sympy.sympify(number)
    fraction = sympy.Rational(f"{number:.8g}")
    return fraction if fraction.q <= 64 else sympy.Float(number, 8)


def place_of(of: str, entry: tuple[int, ...]) -> str:
    """Say of what array and which entry formulas are, to be followed by a formula."""
    place = ", ".join(filter(None, [of, f"entry {list(entry)}" if entry else ""]))
    return f"{place}: " if place else ""


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
    found = _decided(left, right)
    if isinstance(found, dict):
        raise Refuted(entry, left, right, found)
    if found is not None:
        raise Undecided(entry, left, right, *found)


def _decided(left: Any, right: Any) -> Verdict:
    """Decide part by part where there are parts, and if that does not do, as a whole."""
    if not in_cases(left, right):
        return decide(left, right)
    parted = decide_in_parts(left, right)
    if isinstance(parted.verdict, dict) or (parted.verdict is None and not parted.kinks):
        return parted.verdict
    whole = decide(left, right)
    return whole if whole is None or parted.on_a_kink is None else parted.on_a_kink


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
    forms = [expression, *simplifications(expression)]
    forms += [sympy.factor(forms[-1])] if not forms[-1].has(sympy.Piecewise) else []
    return min(forms, key=lambda form: (form.count_ops(), len(str(form))))
