"""Say which values a parameter or a sample may have: `constraints.positive.check(x)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Constraint:
    """A set of values.

    Args:
        printed: What it prints.
        check: Tells for each value whether it belongs to the set.
    """

    def __init__(self, printed: str, check: Callable[[Any], Any]) -> None:
        self.printed, self.check = printed, check

    def __repr__(self) -> str:
        return self.printed


def greater_than(lower_bound: Any) -> Constraint:
    """Give the numbers above a bound."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Give the numbers below a bound."""
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda x: x < upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Give the numbers between two bounds, with these."""
    printed = f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})"
    return Constraint(printed, lambda x: (x >= lower_bound) & (x <= upper_bound))


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Give the whole numbers between two bounds, with these."""
    inside = interval(lower_bound, upper_bound)
    return Constraint(f"Integer{inside}", lambda x: (x % 1 == 0) & inside.check(x))


def _is_simplex(value: Any) -> Any:
    return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _are_real(value: Any) -> Any:
    return value == value  # which only nan is not


nonnegative_integer = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda x: (x % 1 == 0) & (x >= 0)
)
real = Constraint("Real()", _are_real)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1))
positive = greater_than(0.0)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
unit_interval = interval(0.0, 1.0)
simplex = Constraint("Simplex()", _is_simplex)
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda x: _are_real(x).all(dim=-1))
