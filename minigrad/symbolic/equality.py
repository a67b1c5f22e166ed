"""Decide whether two formulas are equal: proved, refuted with a counterexample, or undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.points import (
    Admits,
    Comparison,
    anywhere,
    compare,
    differ,
    points,
    shown,
    symbols_in,
)
from minigrad.symbolic.regions import EVERYWHERE, ROUNDED, Integers, Region, parts, substituted
from minigrad.symbolic.signs import own, sign_of


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


_steps: tuple[Callable[[Any], Any], ...] = (
    sympy.expand,
    sympy.cancel,
    lambda e: sympy.cancel(_powers_apart(e)),
    sympy.simplify,
    lambda e: sympy.simplify(_powers_apart(e).rewrite(sympy.exp)),
    lambda e: sympy.simplify(sympy.piecewise_fold(e.rewrite(sympy.Piecewise))),
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


# A point at which two expressions differ; or what is left of their difference, and how they
# compare at numbers; or None, if they are proved to be equal.
Verdict = dict[Any, Any] | tuple[Any, Comparison] | None


def decide(
    left: Any, right: Any, admits: Admits = anywhere, also: Set[Any] = frozenset()
) -> Verdict:
    """Decide whether two expressions are equal.

    Args:
        left: An expression.
        right: An expression.
        admits: Tells whether they have to be equal at a point.
        also: More symbols that need values to tell this.

    Returns:
        None if they are, proved. If not, values of the symbols at which they differ. If it was not
        decided, what is left of the difference, and the comparison at numbers.
    """
    if left == right:
        return None
    found = refuted_at(left, right, admits, also)
    if found is not None:
        return found
    difference = left - right
    if numerator(difference) == 0:
        return None
    *_, simplest = simplifications(difference)
    return None if simplest == 0 else _compared(left, right, simplest, admits, also)


def _compared(left: Any, right: Any, difference: Any, *restrictions: Any) -> Verdict:
    """Compare two expressions at numbers, where this was not decided of their difference."""
    compared = compare(left, right, *restrictions)
    return (difference, compared) if isinstance(compared, Comparison) else compared


def decide_in(region: Region, sides: Sequence[Any], admits: Admits, also: Set[Any]) -> Verdict:
    """Decide whether two expressions are equal in a region, by what is known there, too."""
    verdict = decide(sides[0], sides[1], admits, also)
    if verdict is None or isinstance(verdict, dict):
        return verdict
    if numerator(region.settle(verdict[0])) == 0:
        return None
    narrower = substituted(region)  # symbols that are positive help SymPy
    proved = (decide(*map(each.enter, sides)) is None for each in narrower)
    return None if any(proved) else verdict


def refuted_at(
    left: Any, right: Any, admits: Admits = anywhere, also: Set[Any] = frozenset()
) -> dict[Any, Any] | None:
    """Give one of a few points at which two expressions differ, or None if they agree there."""
    few = points(symbols_in([left, right]) | also)
    return next((each for each in few if differ(left, right, each) and admits(each)), None)


_PARTS = 32  # the most cuts of space
_DEEP = 3  # on the edge of a part there may be kinks again, and so on
_LONGEST_EDGE = 20  # operations in an expression that is solved for a variable
_CASES = (sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.Abs, sympy.Mod, *ROUNDED)
_REAL = sympy.Symbol("r", real=True).assumptions0.keys()


@dataclass
class VerdictInParts:
    """What came of comparing two expressions part by part.

    Attributes:
        verdict: As from `decide`, for all parts; a point has the symbols of the expressions.
        kinks: Expressions at whose zeros space was cut; what is equal there too is not among them.
        on_a_kink: A point on one of those kinks at which the two differ, if one was found.
    """

    verdict: Verdict = None
    kinks: list[Any] = field(default_factory=list)
    on_a_kink: dict[Any, Any] | None = None


def decide_in_parts(
    left: Any, right: Any, deep: int = _DEEP, on_kinks: bool = True, around: Region = EVERYWHERE
) -> VerdictInParts:
    """Decide whether two expressions are equal, on both sides of each of their kinks.

    Where space is cut at a kink, the expressions are compared at the kink itself as well, with a
    variable replaced by what it is there. As everywhere with formulas, what counts is where both
    have a value.

    Args:
        left: An expression.
        right: An expression.
        deep: How often edges of edges are looked at.
        on_kinks: Whether they are different if they differ on a kink only.
        around: A region in which they are compared.
    """
    outcome = VerdictInParts()
    if left == right:
        return outcome
    outcome.verdict = refuted_at(left, right) if on_kinks else None
    if outcome.verdict is not None:
        return outcome
    integers = Integers()
    met: list[Any] = []
    read = [integers.read(formula) for formula in (left, right)]

    def formulas_in(region: Region) -> list[list[Any]]:
        sides = [region.enter(formula) for formula in read]
        plain = not any(side.has(*_CASES) for side in sides)
        same = sides[0] == sides[1] or (plain and numerator(sides[0] - sides[1]) == 0)
        return [] if same else [sides]

    whole = replace(around, assumed={**around.assumed, **integers.facts})
    for region, different in parts(whole, formulas_in, _PARTS, met):
        for sides in different:
            verdict = decide_in(region, sides, region.admits, symbols_in(region.assumed))
            if isinstance(verdict, dict):
                symbols = sorted(symbols_in([left, right]), key=str)
                verdict = original_point(verdict, region, symbols)
                if not differ(left, right, verdict):  # an integer has its own value at a point
                    verdict = _compared(left, right, sides[0] - sides[1], around.admits)
            if verdict is not None:
                outcome.verdict = verdict
                return outcome
    jumps = integers.jumps()
    edges = {jump.lhs - jump.rhs: _edge(jump.lhs - own("k", integer=True)) for jump in jumps}
    for kink in _distinct(map(integers.back, met)):
        short = deep > 0 and kink.count_ops() <= _LONGEST_EDGE and not kink.has(*ROUNDED)
        edges[kink] = _edge(kink) if short else None
    for kink, edge in edges.items():
        there = VerdictInParts(kinks=[kink]) if edge is None else _at(edge, left, right, deep)
        if there.verdict is not None or there.kinks:
            outcome.kinks.append(kink)
            outcome.on_a_kink = outcome.on_a_kink or there.on_a_kink
    outcome.kinks = _distinct(outcome.kinks)
    return outcome


def _distinct(kinks: Iterable[Any]) -> list[Any]:
    """Write expressions with 1 in front of their first terms, each once."""
    found: dict[Any, None] = {}
    for kink in kinks:
        terms = sympy.expand(kink).as_ordered_terms("grlex")
        first = next((term for term in terms if not term.is_number), sympy.Integer(1))
        factor = first.as_coeff_Mul()[0]
        found[sympy.Add(*(term / factor for term in terms))] = None
    return list(found)


def finite(formula: Any, values: Mapping[Any, Any]) -> Any:
    """Put values in for symbols; None where that gives no value, or an infinite one."""
    try:
        found = formula.subs(values)
    except (TypeError, ValueError):
        return None  # SymPy does not compare with what is infinite
    return None if found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) else found


def _at(edge: dict[Any, Any], left: Any, right: Any, deep: int) -> VerdictInParts:
    """Compare two expressions where a variable has a value; they may have none there."""
    sides = [finite(formula, edge) for formula in (left, right)]
    if any(side is None for side in sides):
        return VerdictInParts()
    outcome = decide_in_parts(sides[0], sides[1], deep - 1)
    point = outcome.verdict if isinstance(outcome.verdict, dict) else outcome.on_a_kink
    if point is not None:
        ((variable, root),) = edge.items()
        whole = {**next(points(root.free_symbols - point.keys()), {}), **point}
        outcome.on_a_kink = {**whole, variable: root.subs(whole)}
    return outcome


def _edge(kink: Any) -> dict[Any, Any] | None:
    """Solve for a symbol where an expression is 0, if it has a value there."""
    for variable in sorted(kink.free_symbols, key=str):
        slope = sympy.diff(kink, variable)
        if variable in slope.free_symbols:
            continue
        rest = sympy.expand(kink.subs(variable, 0))
        if not sign_of(slope) and not sign_of(rest):
            continue  # the slope may be 0, and then any value will do
        root = sympy.cancel(-rest / slope)
        if _allowed(root, variable):
            return {variable: root}
    return None


def _allowed(root: Any, variable: Any) -> bool:
    """Tell whether a symbol can have a value, as far as its assumptions go."""
    if variable.assumptions0.keys() <= _REAL and all(s.is_real for s in root.free_symbols):
        return True
    assumed = variable.assumptions0.items()
    return all(getattr(root, f"is_{kind}") is truth for kind, truth in assumed)


def original_point(
    point: Mapping[Any, Any], region: Region, symbols: Iterable[Any]
) -> dict[Any, Any]:
    """Give the values at a point of a region of symbols that were there before it was entered."""
    values = {symbol: region.place.get(symbol, symbol) for symbol in symbols}
    spare = next(points(symbols_in(values.values()) - point.keys()), {})
    return {symbol: value.subs({**spare, **point}) for symbol, value in values.items()}


@dataclass(eq=False, repr=False)
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

    entry: tuple[int, ...]
    left: Any
    right: Any
    counterexample: Mapping[Any, Any]
    of: str = ""
    note: str = ""
    ran: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.counterexample.items())
        if self.ran is None:
            numbers = (each.subs(self.counterexample).doit() for each in (self.left, self.right))
            first, second = map(shown, numbers)
            told = f"{self.left} is not {self.right}"
            told += f": at {at} they are {first} and {second}" if at else ""
        else:  # what the run shows, where the formulas do not
            first, second = map(_measured, self.ran)
            told = (
                f"the run gives {first}, and the derivative is {second}: at {at}. Its formula, "
                f"{self.left}, does not tell what the run does there"
            )
        self.numbers = (first, second)
        super().__init__(f"{self.note}{place_of(self.of, self.entry)}{told}")


@dataclass(eq=False, repr=False)
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

    entry: tuple[int, ...]
    left: Any
    right: Any
    difference: Any
    comparison: Comparison | None = None
    of: str = ""
    advice: str = "Stronger assumptions on the symbols (positive=True) often help."
    because: str = ""

    def __post_init__(self) -> None:
        told = f"could not decide, because {self.because}"
        if not self.because:
            agree = self.comparison or "they agree wherever numbers were tried"
            told = (
                f"undecided whether {self.left} is {self.right}: {agree}, but the difference "
                f"{self.difference} was not brought to 0. {self.advice}"
            )
        super().__init__(f"{place_of(self.of, self.entry)}{told}")


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
        place, left, right = entry if first.size > 1 else (), first[entry], second[entry]
        found = decided(left, right)
        if isinstance(found, dict):
            raise Refuted(place, left, right, found)
        if found is not None:
            raise Undecided(place, left, right, *found)
    return True


def decided(left: Any, right: Any) -> Verdict:
    """Decide part by part where there are parts, and if that does not do, as a whole."""
    if not any(formula.has(sympy.Max, sympy.Min, *_CASES) for formula in (left, right)):
        return decide(left, right)
    parted = decide_in_parts(left, right)
    if isinstance(parted.verdict, dict) or (parted.verdict is None and not parted.kinks):
        return parted.verdict
    whole = decide(left, right)
    return whole if whole is None or parted.on_a_kink is None else parted.on_a_kink


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
