"""Say which values a parameter or a sample may have: `constraints.positive.check(x)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.creation.from_data import tensor
from minigrad.ops.linear_systems import bad_minor


class Constraint:
    """A set of values.

    Args:
        printed: What it prints.
        check: Tells for each value whether it belongs to the set.
        is_discrete: Whether the values are isolated, such as whole numbers.
        event_dim: How many of the last dimensions make up one value.
    """

    def __init__(
        self,
        printed: str,
        check: Callable[[Any], Any],
        is_discrete: bool = False,
        event_dim: int = 0,
    ) -> None:
        self.check, self.is_discrete, self.event_dim = check, is_discrete, event_dim
        self._printed = printed

    def __repr__(self) -> str:
        return self._printed


def greater_than(lower_bound: Any) -> Constraint:
    """Give the numbers above a bound."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Give the numbers from a bound on."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda x: x >= lower_bound)


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
    return Constraint(f"Integer{inside}", lambda x: (x % 1 == 0) & inside.check(x), True)


def independent(base_constraint: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """Give the arrays all of whose entries, along some last dimensions, are in a set."""
    dims = reinterpreted_batch_ndims

    def check(value: Any) -> Any:
        found = base_constraint.check(value)
        return found.flatten(-dims).all(dim=-1) if dims else found

    return Constraint(
        f"IndependentConstraint({base_constraint}, {dims})",
        check,
        base_constraint.is_discrete,
        base_constraint.event_dim + dims,
    )


def _is_simplex(value: Any) -> Any:
    return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _is_lower_cholesky(value: Any) -> Any:
    lower = (value.tril() == value).flatten(-2).all(dim=-1)
    return lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(dim=-1)


def _is_positive_definite(value: Any) -> Any:
    symmetric = value.isclose(value.mT, atol=1e-6).flatten(-2).all(dim=-1)
    array = value.detach().numpy()
    batch = array.shape[:-2]
    positive = [not bad_minor(array[place]) for place in np.ndindex(batch)]
    return symmetric & tensor(positive).reshape(batch)


real = Constraint("Real()", lambda x: x == x)  # which only nan is not
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = Constraint("Simplex()", _is_simplex, event_dim=1)
lower_cholesky = Constraint("LowerCholesky()", _is_lower_cholesky, event_dim=2)
positive_definite = Constraint("PositiveDefinite()", _is_positive_definite, event_dim=2)
real_vector = independent(real, 1)
