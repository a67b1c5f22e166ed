"""Choose numbers at which two formulas are compared, as far as they respect what is assumed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import sympy

from minigrad.symbolic.evaluation import numbers_of

_CLOSE = sympy.Float("1e-25")  # of forty digits
_TRIES = 6
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def points(symbols: Set[Any]) -> Iterator[dict[Any, Any]]:
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


def random_points(symbols: Set[Any], count: int, seed: int = 0) -> Iterator[dict[Any, Any]]:
    """Give values drawn at random, the same ones for the same seed, that respect assumptions."""
    draw, ordered = random.Random(seed), sorted(symbols, key=str)
    for _ in range(count):
        values = {}
        for symbol in ordered:
            drawn = (_drawn(draw) for _ in range(60))
            found = next((value for value in drawn if _fits(symbol, value)), None)
            if found is None:
                return
            values[symbol] = found
        yield values


def _drawn(draw: random.Random) -> Any:
    if draw.random() < 0.2:
        return sympy.Integer(draw.randint(-4, 4))
    # half of them near 0, where formulas with exponentials are neither 0 nor huge
    return sympy.Rational(draw.randint(-999, 999), draw.choice((300, 1000)))


def _fits(symbol: Any, value: Any) -> bool:
    return all(getattr(value, f"is_{kind}") is truth for kind, truth in symbol.assumptions0.items())


def differ(left: Any, right: Any, point: Mapping[Any, Any]) -> bool:
    """Tell whether two expressions are certainly different at a point."""
    if _agree(left, right, point):
        return False
    values = values_at(left, right, point)
    if values is None:
        return False
    if all(value.is_Rational for value in values):
        return bool(values[0] != values[1])
    # evalf gives 30 right digits, so a difference before the 20th is one of the formulas
    first, second = (value.evalf(30) for value in values)
    return bool(abs(first - second) > sympy.Float("1e-20") * (1 + abs(first) + abs(second)))


def _agree(left: Any, right: Any, point: Mapping[Any, Any]) -> bool:
    """Tell whether the numbers of two expressions agree at a point; where not, look closer."""
    try:
        first, second = numbers_of([left, right], point)
        if not (first.is_finite and second.is_finite):
            return False
        close = _CLOSE * (1 + abs(first) + abs(second))
        return bool(abs(first - second) <= close)
    except (TypeError, ValueError, ArithmeticError):
        return False  # one of them has no value there, or an order of complex numbers is asked for


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
    left: Any,
    right: Any,
    admits: Callable[[Mapping[Any, Any]], bool] = lambda point: True,
    also: Set[Any] = frozenset(),
    wanted: int = 8,
) -> Comparison | dict[Any, Any]:
    """Compare two formulas at random points; give a point at which they differ if there is one."""
    seen, largest = 0, 0.0
    for point in random_points(left.free_symbols | right.free_symbols | also, 12 * wanted):
        if seen == wanted:
            break
        if not admits(point):
            continue
        values = values_at(left, right, point)
        if values is None:
            continue
        if differ(left, right, point):
            return point
        seen += 1
        largest = max(largest, abs(float(sympy.re((values[0] - values[1]).evalf(30)))))
    return Comparison(seen, largest)


def values_at(left: Any, right: Any, point: Mapping[Any, Any]) -> list[Any] | None:
    """Give what two expressions are at a point, or None where one of them has no value."""
    values = [side.subs(point) for side in (left, right)]
    for value in values:
        if not value.is_number or value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            return None  # a Heaviside at its jump, or outside of where the formula has a value
        try:
            value.evalf(3)
        except ValueError:
            return None  # mpmath's answer outside of where a function has a value
    return values


def shown(value: Any) -> Any:
    """Give a number as it is told: exact if it is a fraction, else with eight digits."""
    return value if not value.is_number or value.is_Rational else value.evalf(8)
