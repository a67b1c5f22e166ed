"""Say which values a parameter or a sample may have: `constraints.positive.check(x)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.creation.from_data import tensor
from minigrad.ops.linear_systems import bad_minor


class Constraint:
    """A set of values.

    Attributes:
        is_discrete: Whether the values are isolated, such as whole numbers.
        event_dim: How many of the last dimensions make up one value.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Tell for each value whether it belongs to the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Give the name and the bounds."""
        bounds = ", ".join(f"{name}={bound}" for name, bound in vars(self).items())
        return f"{_name(self)}({bounds})"


def _name(constraint: Constraint) -> str:
    """Give the name that a constraint prints: Real for the class _Real."""
    return type(constraint).__name__.lstrip("_")


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value  # which only nan is not


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _GreaterThan(Constraint):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return value > self.lower_bound


class _GreaterThanEq(Constraint):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class _LessThan(Constraint):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        lower = (value.tril() == value).flatten(-2).all(dim=-1)
        return lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(dim=-1)


class _PositiveDefinite(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        symmetric = value.isclose(value.mT, atol=1e-6).flatten(-2).all(dim=-1)
        array = value.detach().numpy()
        batch = array.shape[:-2]
        positive = [not bad_minor(array[place]) for place in np.ndindex(batch)]
        return symmetric & tensor(positive).reshape(batch)


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value)
        if self.reinterpreted_batch_ndims == 0:
            return found
        return found.flatten(-self.reinterpreted_batch_ndims).all(dim=-1)

    def __repr__(self) -> str:
        return f"{_name(self)}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


real = _Real()
boolean = _Boolean()
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
lower_cholesky = _LowerCholesky()
positive_definite = _PositiveDefinite()
real_vector = _IndependentConstraint(real, 1)

greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
interval = _Interval
integer_interval = _IntegerInterval
independent = _IndependentConstraint
