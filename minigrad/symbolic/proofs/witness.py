"""Let the actual rule run on numbers before anything is said: at points of every region, and near.

Formulas can be equal where the program gives NaN, and SymPy can err. So the rule runs in float64,
and what it gives is compared with difference quotients of the forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.points import Points, chosen, compiled, condition_sides, draw, holds
from minigrad.symbolic.proofs.trial import NO_SLOPE, Trial
from minigrad.symbolic.regions import Region

_POINTS, _ON_EACH_BORDER, _MOST = 200, 3, 500
_DRAWS = 6  # of points, if few of them are in a domain
_CLOSE, _FAR_OFF, _SURELY = 2e-6, 1e-4, 1e-9  # of the sizes that are compared
_LARGE = 8  # beyond that, numbers overflow or round badly sooner or later


class Outcome(Enum):
    """What a run at a point showed."""

    OUTSIDE = "the forward has no value there"
    ROUGH = "the forward has no slope there"
    AGREES = "the rule gives the slope of the forward"
    CLOSE = "the two are too close to be told apart"
    DIFFERS = "the rule gives something else"
    NOTHING = "the rule gives NaN or infinity"


@dataclass(frozen=True)
class Witness:
    """How the actual rule did on numbers; a proof has one.

    Attributes:
        points: At how many points it ran and agreed with a difference quotient of the forward.
        regions: In how many regions, divided by borders and kinks, these lie.
        runs: How often the forward ran for that.
        on_formulas: Whether formulas were computed in their place, since symbols from outside of
            the operation are in it.
    """

    points: int
    regions: int
    runs: int
    on_formulas: bool = False

    def __str__(self) -> str:
        where = f" in {self.regions} regions" if self.regions > 1 else ""
        if self.on_formulas:
            return (
                f"At {self.points} points{where} and near the borders, what the rule wrote has the "
                "value that difference quotients of the forward's formula have. (Symbols from "
                "outside are in the operation, so it could not itself run on numbers.)"
            )
        return (
            f"The rule itself, run on numbers at {self.points} points{where} and near the borders, "
            f"gave what difference quotients of the forward give ({self.runs} runs)."
        )


@dataclass
class Record:
    """What runs at many points showed.

    Attributes:
        points: The points.
        outcomes: What each showed.
        conditions: What divides space; points lie on the borders of these.
        runs: How often the forward ran.
    """

    points: Points
    outcomes: list[Outcome]
    conditions: list[Any]
    runs: int = 0
    _known: dict[Any, Any] = field(default_factory=dict)

    def holds(self, condition: Any) -> Any:
        """Tell at which points a condition holds."""
        found = self._known.get(condition)
        if found is None:
            formula, relation = condition_sides(condition)
            values = compiled([formula], self.points.symbols)(self.points.rows)[0]
            found = self._known[condition] = holds(relation, values)
        return found

    def add(self, other: Record) -> None:
        """Take over what runs at more points showed."""
        self.points = self.points.and_more(other.points)
        self.outcomes += other.outcomes
        self.runs = other.runs
        self._known.clear()

    def is_jump(self, border: int) -> bool:
        """Tell whether the forward jumps somewhere on a border."""
        if border < 0 or not self.conditions[border].has(sympy.floor):
            return False
        on = np.flatnonzero(self.points.border == border)
        return any(self.outcomes[place] is Outcome.ROUGH for place in on)

    def where(self, *outcomes: Outcome) -> Any:
        """Tell at which points a run showed one of some outcomes."""
        return np.array([each in outcomes for each in self.outcomes], bool)


class Witnessing:
    """Runs an operation and its rule at points.

    Args:
        trial: What is run.
        cotangents: For each output the symbols of its gradient.
        others: Symbols beside these and those of the inputs that occur in formulas.
    """

    def __init__(self, trial: Trial, cotangents: Sequence[Any], others: Sequence[Any]) -> None:
        self.trial, self._cotangents = trial, list(cotangents)
        inner = [entry for each in cotangents for entry in entries(each).flat if entry.is_Symbol]
        self.symbols = list(dict.fromkeys([*trial.symbols, *inner, *others]))
        self._starting = set(inner)
        self._generator = np.random.default_rng(2)
        self.runs = 0
        # of each region that is begun with, the symbols that have one value only in it
        self.still: list[set[Any]] = []

    def draw(
        self, starts: Sequence[Region], conditions: Sequence[Any], domain: Sequence[Any] = ()
    ) -> Points:
        """Draw points in regions and near what divides them, until there are enough in a domain."""
        borders = list(dict.fromkeys(condition_sides(each)[0] for each in conditions))
        points = draw(self.symbols, starts, borders)
        for seed in range(1, _DRAWS):
            if inside(points, domain).sum() >= 2 * _POINTS:
                break
            points = points.and_more(draw(self.symbols, starts, borders, seed))
        # from a gradient of zeros nothing would be seen
        inner = np.array([symbol in self._starting for symbol in points.symbols])
        points.rows[np.ix_((points.rows == 0).all(1), inner)] = 1.0
        return points

    def choose(
        self, points: Points, conditions: Sequence[Any], domain: Sequence[Any], most: int
    ) -> Any:
        """Choose some of the points in each part, most in the domain, and some on each border."""
        fits = inside(points, domain)
        places = [
            place
            for where, wanted in ((fits, most), (~fits, most // 4))
            for place in chosen(points, conditions, wanted, where)
        ]
        on: list[int] = []
        for border in np.unique(points.border[points.border >= 0]):
            on += list(np.flatnonzero(points.border == border)[:_ON_EACH_BORDER])
        return np.array([*places[:_MOST], *on], int)

    def record(
        self,
        points: Points,
        conditions: Sequence[Any],
        domain: Sequence[Any] = (),
        wanted: int = _POINTS,
    ) -> Record:
        """Run at points of all parts that conditions cut out, and on their borders."""
        picked = points.at(self.choose(points, conditions, domain, wanted))
        if len(picked.rows):
            self.trial.keep_draws(self.trial.place(self.values(picked.rows[0])))
        outcomes = []
        for row, border, start in zip(picked.rows, picked.border, picked.start, strict=True):
            still = self.still[start] if start < len(self.still) else set()
            outcomes.append(self.outcome(row, bool(border >= 0), still))
        return Record(picked, outcomes, list(conditions), self.runs)

    def values(self, row: Any) -> dict[Any, float]:
        """Give the number of each symbol at a point."""
        return dict(zip(self.symbols, map(float, row), strict=True))

    def outcome(self, row: Any, on_border: bool = False, still: Set[Any] = frozenset()) -> Outcome:
        """Run at a point along a random line.

        Args:
            row: The point.
            on_border: Whether a kink may go through it.
            still: Symbols of inputs that are not moved.
        """
        trial, values = self.trial, self.values(row)
        arrays = trial.place(values)
        cotangents = self.gradients_at(values)
        self.runs += 1
        found = trial.rule(arrays, cotangents, values)
        direction = [
            self._generator.uniform(0.5, 1.5, arrays[place].shape)
            * self._generator.choice((-1.0, 1.0), arrays[place].shape)
            * trial.moving(place, still)
            for place in trial.positions()
        ]
        slope = trial.slope(arrays, cotangents, direction, values, on_border)
        self.runs += 4
        if not slope.known:
            results = trial.results(arrays, values)
            whole = results is not None and all(np.isfinite(each).all() for each in results)
            return Outcome.ROUGH if whole else Outcome.OUTSIDE
        if found is None or any(a.shape != b.shape for a, b in zip(found, direction, strict=True)):
            return Outcome.NOTHING
        along = sum(float((a * b).sum()) for a, b in zip(found, direction, strict=True))
        if not np.isfinite(along):
            return Outcome.NOTHING
        size = abs(slope.value) + sum(
            float(np.abs(a * b).sum()) for a, b in zip(found, direction, strict=True)
        )
        return _judged(along, slope.value, size, slope.error)

    def gradients_at(self, values: dict[Any, float]) -> list[Any]:
        """Give the gradients of the result that are started from."""
        return [
            np.array([float(values.get(g, g)) for g in entries(each).flat]).reshape(each.shape)
            for each in self._cotangents
        ]

    def entries_at(self, values: dict[Any, float]) -> Iterator[tuple[int, Any, float, float, bool]]:
        """Run at a point, and compare entry by entry.

        Yields:
            The place of the input, the index of the entry, what the rule gives, the slope, and
            whether these differ.
        """
        trial = self.trial
        arrays, cotangents = trial.place(values), self.gradients_at(values)
        found = trial.rule(arrays, cotangents, values)
        positions = trial.positions()
        for place, position in enumerate(positions):
            for entry in np.ndindex(arrays[position].shape):
                direction = [np.zeros(arrays[each].shape) for each in positions]
                direction[place][entry] = 1.0
                slope = trial.slope(arrays, cotangents, direction, values, True, True)
                if found is None or found[place].shape != arrays[position].shape:
                    got = float("nan")
                else:
                    got = float(found[place][entry])
                wrong = slope is not NO_SLOPE and slope.known
                if wrong and np.isfinite(got):
                    noise = trial.noise(arrays, cotangents, values, place, entry)
                    size, error = abs(got) + abs(slope.value), slope.error + noise
                    wrong = abs(got - slope.value) > _SURELY * size + 20 * error
                yield place, entry, got, slope.value, wrong


def inside(points: Points, conditions: Sequence[Any]) -> Any:
    """Tell at which points all of some conditions hold."""
    fits = np.full(len(points.rows), True)
    for condition in conditions:
        formula, relation = condition_sides(condition)
        fits &= holds(relation, compiled([formula], points.symbols)(points.rows)[0])
    return fits


def _judged(found: float, slope: float, size: float, error: float) -> Outcome:
    apart = abs(found - slope)
    if apart <= _CLOSE * size + error:
        return Outcome.AGREES
    return Outcome.DIFFERS if apart > _FAR_OFF * size + 20 * error else Outcome.CLOSE


def is_far(row: Any, beyond: float = _LARGE) -> bool:
    """Tell whether a point is so far out that numbers may overflow there."""
    return bool(np.abs(row).max(initial=0) > beyond)
