"""Decide whether two expressions are equal, as they stand: simplify, and try numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from minigrad.symbolic.evaluation import symbols_in
from minigrad.symbolic.points import Comparison, compare, differ, points
from minigrad.symbolic.simplification import numerator, simplifications

# A point at which two expressions differ; or what is left of their difference, and how they
# compare at numbers; or None, if they are proved to be equal.
Verdict = dict[Any, Any] | tuple[Any, Comparison] | None


def decide(
    left: Any,
    right: Any,
    admits: Callable[[Mapping[Any, Any]], bool] = lambda point: True,
    also: Set[Any] = frozenset(),
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
    for simplified in simplifications(difference):
        if simplified == 0:
            return None
    compared = compare(left, right, admits, also)
    return (simplified, compared) if isinstance(compared, Comparison) else compared


def refuted_at(
    left: Any,
    right: Any,
    admits: Callable[[Mapping[Any, Any]], bool] = lambda point: True,
    also: Set[Any] = frozenset(),
) -> dict[Any, Any] | None:
    """Give one of a few points at which two expressions differ, or None if they agree there."""
    for point in points(symbols_in([left, right]) | also):
        if differ(left, right, point) and admits(point):
            return point
    return None
