"""Decide whether two formulas are equal: proved, refuted with a counterexample, or undecided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count, islice
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic import regions
from minigrad.symbolic.array import entries
from minigrad.symbolic.regions import EVERYWHERE, ROUNDED, Region, beside_jumps, jumps_of

# ---------------------------------------------------------------------- numbers

# Of so many digits twenty are right, unless all the others cancel.
_DIGITS = 100
_ROUNDS_NOTHING = (sympy.Integer, sympy.Rational)


def numbers_of(formulas: Iterable[Any], values: Mapping[Any, Any]) -> list[Any]:
    """Give the number that each formula is, once all its symbols have values.

    Fractions stay exact as long as nothing irrational comes in. A formula that has no value there,
    or no real one, gives what SymPy says: `nan`, or a complex number.

    Args:
        formulas: SymPy expressions.
        values: A SymPy number for each symbol.
    """
    known = dict(values)
    return [_value(formula, known) for formula in formulas]


def number_of(value: Any) -> float:
    """Give what a formula without symbols is as a float; NaN if it is not real."""
    try:
        number = complex(value)
    except (TypeError, ValueError):
        return float("nan")
    return number.real if number.imag == 0 else float("nan")


def symbols_in(formulas: Iterable[Any]) -> set[Any]:
    """Give the symbols in formulas; a part that occurs often is looked at once.

    Example:
        >>> x, y = sympy.symbols("x y")
        >>> sorted(symbols_in([x + 1, x * y]), key=str)
        [x, y]
    """
    return set().union(*map(_symbols_of, formulas))


@lru_cache(maxsize=200_000)
def _symbols_of(part: Any) -> frozenset[Any]:
    return frozenset([part]) if part.is_Symbol else frozenset().union(*map(_symbols_of, part.args))


def _value(part: Any, known: dict[Any, Any]) -> Any:
    found = known.get(part)
    if found is None:
        found = known[part] = _computed(part, known)
    return found


def _computed(part: Any, known: dict[Any, Any]) -> Any:
    if isinstance(part, sympy.Piecewise):
        # only the case that holds: the others may have no value here
        holding = (v for v, case in part.args if _value(case, known) == True)  # noqa: E712
        return _value(next(holding, sympy.nan), known)
    if not part.args:
        return _rounded(part)
    arguments = [_value(each, known) for each in part.args]
    if part.is_Relational and any(side in (sympy.nan, sympy.zoo) for side in arguments):
        return sympy.sympify(isinstance(part, sympy.Ne))  # as for numbers
    return _rounded(part.func(*arguments))


def _rounded(value: Any) -> Any:
    """Write what is not a fraction with all the digits."""
    if isinstance(value, _ROUNDS_NOTHING) or not isinstance(value, sympy.Expr):
        return value
    if value.is_Float or value.is_infinite or value is sympy.nan:
        return value
    return value.evalf(_DIGITS)


_CLOSE = sympy.Float("1e-20")
_FEW, _SOME = 6, 14  # points at which formulas are compared: at once, and if nothing else helps
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def points(symbols: Set[Any], most: int = _FEW) -> Iterator[dict[Any, Any]]:
    """Give values for symbols that respect what is assumed of them, different for each."""
    ordered = sorted(symbols, key=str)
    for trial in range(most):
        values = {}
        for place, symbol in enumerate(ordered):
            numbers = (n for n in _numbers(place + 5 * trial) if _fits(symbol, n))
            values[symbol] = next(numbers, None)
        if None in values.values():
            return
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


def differ(left: Any, right: Any, point: Mapping[Any, Any]) -> bool:
    """Tell whether two expressions are certainly different at a point."""
    try:
        first, second = numbers_of([left, right], point)
    except (TypeError, ValueError, ArithmeticError):
        return False  # outside of where a function has a value, or complex numbers are compared
    if not all(v.is_number and v.is_finite for v in (first, second)):
        return False
    return bool(abs(first - second) > _CLOSE * (1 + abs(first) + abs(second)))


def refuted_at(left: Any, right: Any, region: Region, most: int = _FEW) -> dict[Any, Any] | None:
    """Give one of a few points at which two expressions differ, or None if they agree there."""
    few = points(symbols_in([left, right, *region.assumed]), most)
    return next((each for each in few if differ(left, right, each) and region.admits(each)), None)


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


def numerator(expression: Any) -> Any:
    """Give the numerator over a common denominator, multiplied out: 0 if the expression is 0.

    Functions are taken for symbols at first: most of what is equal is so whatever they are.
    """
    functions = expression.atoms(sympy.Function) - expression.atoms(sympy.Piecewise)
    if functions:
        put = {each: sympy.Dummy("f", real=True) for each in functions if each.is_real}
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


# A point at which two expressions differ; or what is left of their difference, if that is not
# decided; or None, if they are proved to be equal.
Decision = Any


def decide(left: Any, right: Any, region: Region = EVERYWHERE) -> Decision:
    """Decide whether two expressions, as they are in a region without kinks, are equal there."""
    if left == right:
        return None
    found = refuted_at(left, right, region)
    if found is not None:
        return found
    if numerator(left - right) == 0:
        return None
    *_, simplest = simplifications(left - right)
    if simplest == 0 or (region.assumed and numerator(region.settle(simplest)) == 0):
        return None
    found = refuted_at(left, right, region, _SOME)
    if found is not None:
        return found
    for formula, sign in region.assumed.items():  # a positive symbol, as x - 1, helps SymPy
        wider = regions.cut(sign * formula, replace(region, assumed={}))[0]
        if wider.substitution and decide(wider.enter(left), wider.enter(right)) is None:
            return None
    return simplest


# ---------------------------------------------------------------------- in parts

_PARTS = 32  # the most cuts of space
_CASES = (sympy.Max, sympy.Min, sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.Abs, sympy.Mod)


def decide_in_parts(
    left: Any, right: Any, around: Region = EVERYWHERE
) -> tuple[Decision, list[Any]]:
    """Decide whether two expressions are equal on both sides of each of their kinks.

    Args:
        left: An expression.
        right: An expression.
        around: A region in which they are compared.

    Returns:
        As from `decide`, for all parts, and the expressions at whose zeros space was cut.
    """
    if left == right:
        return None, []
    read = [beside_jumps(formula) for formula in (left, right)]
    kinks: list[Any] = []

    def formulas_in(region: Region) -> list[list[Any]]:
        sides = [region.enter(formula) for formula in read]
        return [] if sides[0] == sides[1] else [sides]

    for region, different in regions.parts(around, formulas_in, _PARTS, kinks):
        for sides in different:
            decision = decide(sides[0], sides[1], region)
            if isinstance(decision, dict):
                symbols = sorted(symbols_in([left, right]), key=str)
                decision = original_point(decision, region, symbols)
            if decision is not None:
                return decision, []
    steps = [jump.lhs - jump.rhs for jump in jumps_of(sympy.Tuple(left, right))]
    return None, list(dict.fromkeys([*kinks, *steps]))


# what has no jump, and powers with a number as exponent: equal beside kinks is equal on them
_CONTINUOUS = (sympy.Add, sympy.Mul, sympy.Max, sympy.Min, sympy.Abs, sympy.exp, sympy.log)


def _is_continuous(formula: Any) -> bool:
    return all(
        not node.args or isinstance(node, _CONTINUOUS) or (node.is_Pow and node.exp.is_number)
        for node in sympy.preorder_traversal(formula)
    )


def decided(left: Any, right: Any) -> Decision:
    """Decide whether two expressions are equal: in parts, and on the kinks between them."""
    if left.has(*_CASES, *ROUNDED) or right.has(*_CASES, *ROUNDED):
        found = refuted_at(left, right, EVERYWHERE)
        if found is not None:
            return found
        decision, _ = decide_in_parts(left, right)
        if isinstance(decision, dict) or (decision is None and _is_continuous(left - right)):
            return decision
    return decide(left, right)


def original_point(
    point: Mapping[Any, Any], region: Region, symbols: Iterable[Any]
) -> dict[Any, Any]:
    """Give the values at a point of a region of symbols that were there before it was entered."""
    values = {symbol: region.substitution.get(symbol, symbol) for symbol in symbols}
    spare = next(points(symbols_in(values.values()) - point.keys()), {})
    return {symbol: value.subs({**spare, **point}) for symbol, value in values.items()}


# ---------------------------------------------------------------------- refuted and undecided


@dataclass(eq=False, repr=False)
class Refuted(AssertionError):
    """Two formulas are different, and here are numbers at which they are.

    Attributes:
        of: What the formulas are of, such as "the gradient of x"; empty if not given.
        entry: The index of the entry, `()` for formulas that are no arrays.
        left: The first formula.
        right: The second formula.
        counterexample: Values of the symbols at which the two differ.
        numbers: What the first and the second are there.
        ran: What the rule gives there and what the derivative is, if the formulas do not show it.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> a, b = symbols("a b")
        >>> try:
        ...     equal(a, a + b)
        ... except Refuted as refuted:
        ...     print(refuted)
        a is not a + b: at a = 2, b = -2/3 they are 2 and 4/3
    """

    entry: tuple[int, ...] = ()
    left: Any = None
    right: Any = None
    counterexample: Mapping[Any, Any] = field(default_factory=dict)
    of: str = ""
    note: str = ""
    ran: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.left is None:
            super().__init__(self.note)
            return
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.counterexample.items())
        if self.ran is None:
            numbers = (each.subs(self.counterexample).doit() for each in (self.left, self.right))
            first, second = map(_shown, numbers)
            reason = f"{self.left} is not {self.right}"
            reason += f": at {at} they are {first} and {second}" if at else ""
        else:  # what the run shows, where the formulas do not
            first, second = map(_measured, self.ran)
            reason = (
                f"the run gives {first}, and the derivative is {second}: at {at}. Its formula, "
                f"{self.left}, does not show what the run does there"
            )
        self.numbers = (first, second)
        super().__init__(f"{self.note}{place_of(self.of, self.entry)}{reason}")


@dataclass(eq=False, repr=False)
class Undecided(AssertionError):
    """SymPy could neither bring the difference of two formulas to 0 nor find where it is not 0.

    Attributes:
        of: What the formulas are of, such as "the gradient of x"; empty if not given.
        entry: The index of the entry, `()` for formulas that are no arrays.
        left: The first formula.
        right: The second formula.
        difference: What is left of their difference after simplification.

    Example:
        >>> x = sympy.Symbol("x")
        >>> undecided = Undecided(left=x, right=x + 1, because="SymPy gave up")
        >>> print(undecided, [undecided.left, undecided.right])
        could not decide, because SymPy gave up [x, x + 1]
    """

    entry: tuple[int, ...] = ()
    left: Any = sympy.nan
    right: Any = sympy.nan
    difference: Any = sympy.nan
    of: str = ""
    because: str = ""

    def __post_init__(self) -> None:
        reason = f"could not decide, because {self.because}"
        if not self.because:
            reason = (
                f"undecided whether {self.left} is {self.right}: they agree wherever numbers were "
                f"tried, but the difference {self.difference} was not brought to 0. Stronger "
                "assumptions on the symbols (positive=True) often help."
            )
        super().__init__(f"{place_of(self.of, self.entry)}{reason}")


# what may go wrong in a run on symbols, or in SymPy
TROUBLE = (AttributeError, TypeError, ValueError, RuntimeError, LookupError, ArithmeticError)


def undecided(error: Exception) -> Undecided:
    """Say that something could not be decided because a run on symbols, or SymPy, failed."""
    reason = (str(error) or type(error).__name__).removeprefix("could not decide, because ")
    if isinstance(error, (RecursionError, AttributeError, ValueError, NotImplementedError)):
        reason = f"SymPy gave up on it ({type(error).__name__}): {reason}"
    return Undecided(because=reason)


def _shown(value: Any) -> Any:
    """Give a number as it is shown: exact if it is a fraction, else with eight digits."""
    return value if not value.is_number or value.is_Rational else value.evalf(8)


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
            raise Undecided(place, left, right, found)
    return True


def shaped(listed: list[Any], shape: tuple[int, ...]) -> Any:
    """Give expressions as SymPy has them: one alone, a column, a matrix, or an array."""
    if len(listed) == 1:
        return listed[0]
    if len(shape) <= 2:
        rows, columns = (*shape, 1, 1)[:2]
        return sympy.Matrix(rows, columns, listed)
    return sympy.Array(listed, shape)
