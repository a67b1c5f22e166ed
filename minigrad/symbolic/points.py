"""Choose numbers at which formulas are compared, and compute what formulas are there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice, pairwise
from typing import Any

import numpy as np
import sympy

from minigrad.ops import special_functions
from minigrad.symbolic.regions import Region

# Of so many digits twenty are right, unless all the others cancel.
_DIGITS = 100
_ROUNDS_NOTHING = (sympy.Integer, sympy.Rational)
_BINDING = (sympy.Derivative, sympy.Integral, sympy.Subs, sympy.Sum, sympy.Lambda)


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
    if part.is_Symbol or isinstance(part, _BINDING):
        return frozenset(part.free_symbols)
    return frozenset().union(*map(_symbols_of, part.args))


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
    if isinstance(part, _BINDING):  # has symbols of its own, which stand for no value
        given = {s: known[s] for s in part.free_symbols}
        return _rounded(part.subs(given, simultaneous=True).doit())
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
_TRIES = 6
_WANTED = 8  # points at which formulas are compared, if there are so many
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def points(symbols: Set[Any]) -> Iterator[dict[Any, Any]]:
    """Give values for symbols that respect what is assumed of them, different for each."""
    return _fitting_points(symbols, _TRIES, lambda trial, place: _numbers(place + 5 * trial))


def random_points(symbols: Set[Any], count: int, seed: int = 0) -> Iterator[dict[Any, Any]]:
    """Give values drawn at random, the same ones for the same seed, that respect assumptions."""
    draw = random.Random(seed)
    return _fitting_points(symbols, count, lambda *_: (_drawn(draw) for _ in range(60)))


def _fitting_points(
    symbols: Set[Any], count: int, numbers: Callable[[int, int], Iterable[Any]]
) -> Iterator[dict[Any, Any]]:
    ordered = sorted(symbols, key=str)
    for trial in range(count):
        values = {}
        for place, symbol in enumerate(ordered):
            found = next((v for v in numbers(trial, place) if _fits(symbol, v)), None)
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


def _drawn(draw: random.Random) -> Any:
    if draw.random() < 0.2:
        return sympy.Integer(draw.randint(-4, 4))
    # half of them near 0, where formulas with exponentials are neither 0 nor huge
    return sympy.Rational(draw.randint(-999, 999), draw.choice((300, 1000)))


def _fits(symbol: Any, value: Any) -> bool:
    return all(getattr(value, f"is_{kind}") is truth for kind, truth in symbol.assumptions0.items())


def values_at(left: Any, right: Any, point: Mapping[Any, Any]) -> list[Any] | None:
    """Give what two expressions are at a point, or None where one of them has no value."""
    try:
        values = numbers_of([left, right], point)
    except (TypeError, ValueError, ArithmeticError):
        return None  # outside of where a function has a value, or complex numbers are compared
    return values if all(v.is_number and v.is_finite for v in values) else None


def differ(left: Any, right: Any, point: Mapping[Any, Any]) -> bool:
    """Tell whether two expressions are certainly different at a point."""
    values = values_at(left, right, point)
    if values is None:
        return False
    first, second = values
    return bool(abs(first - second) > _CLOSE * (1 + abs(first) + abs(second)))


Admits = Callable[[Mapping[Any, Any]], bool]  # tells whether a point is to be looked at


def anywhere(point: Mapping[Any, Any]) -> bool:
    """Admit all points."""
    return True


@dataclass(frozen=True)
class Comparison:
    """What comparing two formulas at numbers gave; it proves nothing.

    Attributes:
        points: At how many points both had a value.
        largest: The largest difference between the two values there.
    """

    points: int
    largest: float

    def __str__(self) -> str:
        if not self.points:
            return "no point was found at which both have a value"
        return (
            f"at {self.points} points drawn at random they differ by {self.largest:.1e} at most, "
            "which stands in for a proof but is none"
        )


def compare(
    left: Any, right: Any, admits: Admits = anywhere, also: Set[Any] = frozenset()
) -> Comparison | dict[Any, Any]:
    """Compare two formulas at random points; give a point at which they differ if there is one."""
    seen, largest = 0, 0.0
    for point in random_points(left.free_symbols | right.free_symbols | also, 12 * _WANTED):
        values = values_at(left, right, point) if admits(point) else None
        if values is None:
            continue
        if differ(left, right, point):
            return point
        seen += 1
        largest = max(largest, abs(float(sympy.re(values[0] - values[1]))))
        if seen == _WANTED:
            break
    return Comparison(seen, largest)


def shown(value: Any) -> Any:
    """Give a number as it is told: exact if it is a fraction, else with eight digits."""
    return value if not value.is_number or value.is_Rational else value.evalf(8)


_STEPS = 6  # of the search for a border
_NEAR = (2e-4, 5e-3, 0.05, 0.5)  # how far from a border points are drawn
_GENERIC, _ROOTS = 400, 12
_SIGNS = {
    "positive": np.greater,
    "negative": np.less,
    "nonnegative": np.greater_equal,
    "nonpositive": np.less_equal,
    "nonzero": np.not_equal,
}

_MODULES: list[Any] = [
    {
        "erf": special_functions.erf.forward,
        "erfc": special_functions.erfc.forward,
        "erfinv": special_functions.erfinv.forward,
        "loggamma": special_functions.lgamma.forward,
        "polygamma": lambda n, x: special_functions.polygamma.forward(np.asarray(x, float), int(n)),
        "Heaviside": lambda x, half=0.5: np.heaviside(x, half),
        "DiracDelta": lambda x: np.where(np.equal(x, 0), np.nan, 0.0),
    },
    "numpy",
]


def compiled(formulas: Sequence[Any], symbols: Sequence[Any]) -> Callable[[Any], Any]:
    """Make a function that gives the numbers of formulas at many points at once.

    Args:
        formulas: Expressions.
        symbols: Their symbols; a row of points has a number for each.

    Returns:
        A function of an array of n points that gives an array of n numbers for each formula, NaN
        where it has none.

    Example:
        >>> x, y = sympy.symbols("x y", real=True)
        >>> compiled([x + y, sympy.log(x)], [x, y])(np.array([[1.0, 2.0], [-1.0, 2.0]]))
        array([[ 3.,  1.],
               [ 0., nan]])
    """
    columns = [sympy.Symbol(f"s{place}", real=True) for place in range(len(symbols))]
    renamed = [each.xreplace(dict(zip(symbols, columns, strict=True))) for each in formulas]
    functions = [_one(columns, each) for each in renamed]

    def compute(points: Any) -> Any:
        results = np.full((len(functions), len(points)), np.nan)
        with np.errstate(all="ignore"):
            for place, function in enumerate(functions):
                try:
                    found = np.asarray(function(*points.T))
                    results[place] = np.where(np.imag(found) == 0, np.real(found), np.nan)
                except (TypeError, ValueError, NameError, ArithmeticError):
                    continue  # NumPy has not all of SymPy's functions: then it is not known
        return results

    return compute


def _one(columns: Sequence[Any], formula: Any) -> Callable[..., Any]:
    try:
        return sympy.lambdify(columns, formula, _MODULES)
    except (TypeError, ValueError, NotImplementedError, SyntaxError):
        return lambda *values: np.nan


def holds(condition: Any, symbols: Sequence[Any], rows: Any) -> Any:
    """Tell at which points a condition holds, of which nothing is known on its border."""
    compare = {
        sympy.Gt: np.greater, sympy.Ge: np.greater, sympy.Lt: np.less, sympy.Le: np.less,
        sympy.Eq: np.equal, sympy.Ne: np.not_equal,
    }[type(condition)]  # fmt: skip
    values = compiled([condition.lhs - condition.rhs], symbols)(rows)[0]
    return compare(values, 0) & ~np.isnan(values)


def borders_at(formulas: Sequence[Any], symbols: Sequence[Any], rows: Any) -> Any:
    """Tell for each point which formula is 0 there: its place, -1 for none, -2 for several."""
    compute = compiled(formulas, symbols)
    values = compute(rows)
    beside = compute(rows + 1e-4 * np.random.default_rng(1).uniform(0.5, 1, rows.shape))
    found = np.full(len(rows), -1)
    for place in range(len(formulas)):
        # floor(x) - 2 is 0 in all of a part, which is no border
        thin = (values[place] == 0) & (beside[place] != 0)
        found[thin] = np.where(found[thin] == -1, place, -2)
    return found


def draw(symbols: Sequence[Any], region: Region, borders: Sequence[Any], seed: int = 0) -> Any:
    """Draw points in a region, many of them near where some formulas are 0, and some there.

    Args:
        symbols: The symbols that get numbers.
        region: The region; what it puts in for a symbol gets numbers first.
        borders: The formulas.
        seed: What the random numbers start from.

    Returns:
        A row for each of some hundreds of points, or thousands where there are many borders.
    """
    return _in_region(list(symbols), region, borders, np.random.default_rng(seed))


def _in_region(symbols: list[Any], region: Region, borders: Sequence[Any], generator: Any) -> Any:
    base = sorted(
        symbols_in([*(region.place.get(s, s) for s in symbols), *region.assumed]), key=str
    )
    entered = [each.subs(region.place, simultaneous=True) for each in borders]
    walls = [*entered, *region.assumed]
    rows = np.stack([_drawn_numbers(symbol, _GENERIC, generator) for symbol in base], 1)
    rows[0] = 0.0  # where norms and squares are 0
    rows = np.concatenate([rows, _near_borders(rows, base, walls, generator)])
    columns = zip(base, rows.T, strict=True)
    fits = np.all([_fitting(symbol, column) for symbol, column in columns], 0)
    values = compiled(list(region.assumed), base)(rows)
    for sign, value in zip(region.assumed.values(), values, strict=True):
        fits &= np.sign(value) == sign
    if region.place:
        moved = [region.place.get(symbol, symbol) for symbol in symbols]
        return compiled(moved, base)(rows[fits]).T
    return rows[fits][:, [base.index(symbol) for symbol in symbols]]


def _drawn_numbers(symbol: Any, count: int, generator: Any) -> Any:
    """Draw numbers that a symbol may stand for: most between -4 and 4, some near 0, some far."""
    kind = generator.random(count)
    middle = generator.integers(-256, 257, count) / 64
    small = generator.integers(-1024, 1025, count) / 1024
    far = generator.integers(-96, 97, count) / 4
    values = np.where(kind < 0.65, middle, np.where(kind < 0.85, small, far))
    if symbol.is_integer:
        values = np.round(values)
    if symbol.is_nonnegative:
        values = np.abs(values)
    elif symbol.is_nonpositive:
        values = -np.abs(values)
    if symbol.is_nonzero:
        values = np.where(values == 0, -1 if symbol.is_negative else 1, values)
    return values


def _fitting(symbol: Any, values: Any) -> Any:
    """Tell which numbers a symbol may stand for, as far as signs and integers go."""
    fits = np.isfinite(values)
    for kind, compare in _SIGNS.items():
        if getattr(symbol, f"is_{kind}"):
            fits &= compare(values, 0)
    return fits & (values == np.round(values)) if symbol.is_integer else fits


def _near_borders(rows: Any, base: list[Any], walls: Sequence[Any], generator: Any) -> Any:
    """Move points onto borders along one variable each, and a little off them to both sides."""
    found = [rows[:0]]
    roots: dict[int, list[Any]] = {}
    start = rows[generator.integers(0, len(rows), _ROOTS)]
    for wall in walls:
        if not wall.free_symbols:
            continue
        value = compiled([wall], base)
        for column, symbol in enumerate(base):
            if symbol not in wall.free_symbols:
                continue
            root = _root(start, column, value)
            roots.setdefault(column, []).append(root[:, column])
            root = root[np.isfinite(root).all(1)]
            found.append(root)
            for distance in _NEAR:
                moved = root.copy()
                away = distance * (1 + np.abs(root[:, column]) * (distance < 0.05))
                moved[:, column] += away * generator.choice((-1, 1), len(root))
                found.append(moved)
    for column, listed in roots.items():  # between each two borders that are next to one another
        ordered = np.sort(np.array(listed), 0)
        for low, high in pairwise(ordered):
            for share in (0.5, 0.1):
                between = start.copy()
                between[:, column] = low + share * (high - low)
                found.append(between[np.isfinite(between).all(1) & (high > low)])
    return np.concatenate(found)


def _root(rows: Any, column: int, value: Callable[[Any], Any]) -> Any:
    """Go along one variable to where an expression is 0, by secants; exact where it is a line."""
    rows = rows.copy()
    here = value(rows)[0]
    step = np.ones(len(rows))
    for _ in range(_STEPS):
        ahead = rows.copy()
        ahead[:, column] += step
        there = value(ahead)[0]
        with np.errstate(all="ignore"):
            move = -here * step / (there - here)
        move = np.where(np.isfinite(move), np.clip(move, -1e4, 1e4), 0.0)
        rows[:, column] += np.where(here == 0, 0.0, move)
        here = value(rows)[0]
        step = np.where(np.abs(move) < 1e-3, 1e-4, np.where(np.abs(move) < 1, move / 2, 1.0))
        step = np.where(step == 0, 1e-4, step)
    # a number with few digits is what is meant more often than not
    rounded = rows.copy()
    rounded[:, column] = np.round(rows[:, column], 10)
    better = np.abs(value(rounded)[0]) <= np.abs(here)
    return np.where(better[:, None], rounded, rows)
