"""Let the actual rule run on numbers before anything is said: at points of every region, and near.

Formulas can be equal where the program gives NaN, and SymPy can err. So the rule runs in float64,
and what it gives is compared with difference quotients of the forward.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import sympy

from minigrad.autograd.gradients import grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.random import get_rng_state, set_rng_state
from minigrad.symbolic.array import SymbolicArray, entries
from minigrad.symbolic.mathematics import exact
from minigrad.symbolic.points import Points, draw, number_of, numbers_of, symbols_in
from minigrad.symbolic.regions import Region

_ON_EACH_BORDER, _MOST = 3, 500
_DRAWS = 6  # of points, if few of them are in a domain
_CLOSE, _FAR_OFF, _SURELY = 2e-6, 1e-4, 1e-9  # of the sizes that are compared
_LARGE = 8  # beyond that, numbers overflow or round badly sooner or later

# of the difference quotient: a smaller one where a larger does not do; none of them is round, as
# what jumps at every thousandth would look steady
_STEPS = (1.87e-3, 4.43e-5, 1.13e-6, 2.9e-8)
_PART = 0.5913  # of the second step
_NEXT, _NEIGHBORS = 3e-15, 6  # the relative distance of neighbors that are rounded otherwise
_ALIKE = 1e-4  # two quotients that differ by more tell of no slope
_TINY = 1e-12  # for a gradient of 1; less than that is nothing
_EPS = float(np.finfo(np.float64).eps)


class Slope(NamedTuple):
    """A derivative along a line, by difference quotients, and how far off it may be.

    Without a value, NaN, there is none.
    """

    value: float = float("nan")
    error: float = float("inf")


class Place(NamedTuple):
    """Where an operation runs.

    Attributes:
        values: The number of each symbol.
        arrays: What each tensor holds.
        cotangents: The gradient of each output.
    """

    values: Mapping[Any, float]
    arrays: list[Any]
    cotangents: list[Any]


class Outcome(Enum):
    """What a run at a point showed."""

    OUTSIDE = "the forward has no value there"
    ROUGH = "the forward has no slope there"
    AGREES = "the rule gives the slope of the forward"
    CLOSE = "the two are too close to be told apart"
    DIFFERS = "the rule gives something else"
    NOTHING = "the rule gives NaN or infinity"


@dataclass
class Record:
    """What runs at many points showed.

    Attributes:
        points: The points.
        outcomes: What each showed.
        conditions: What divides space; points lie on the borders of these.
    """

    points: Points
    outcomes: list[Outcome]
    conditions: list[Any]
    _known: dict[Any, Any] = field(default_factory=dict)

    def holds(self, condition: Any) -> Any:
        """Tell at which points a condition holds."""
        if condition not in self._known:
            self._known[condition] = self.points.inside([condition])
        return self._known[condition]

    def add(self, other: Record) -> None:
        """Take over what runs at more points showed."""
        self.points = self.points.and_more(other.points)
        self.outcomes += other.outcomes
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


class Trial:
    """An operation and its rule, run on numbers again and again in the place of symbols.

    Args:
        function: The operation.
        tensors: Those that it is called with, and others that it has, such as parameters.
        wanted: The tensors that are differentiated.
        cotangents: For each output the symbols of its gradient.
        others: Symbols beside these and those of the inputs that occur in formulas.

    Attributes:
        sample: At how many points it runs, apart from borders.
    """

    sample = 200

    def __init__(
        self,
        function: Callable[[], Any],
        tensors: Sequence[Tensor],
        wanted: Sequence[Tensor],
        cotangents: Sequence[Any],
        others: Sequence[Any] = (),
    ) -> None:
        self._function, self._wanted, self._cotangents = function, wanted, cotangents
        distinct = {id(each): each for each in [*wanted, *tensors]}
        self._slots = [each for each in distinct.values() if isinstance(each._array, SymbolicArray)]
        self._arrays = [each._array for each in self._slots]
        held = [id(each) for each in self._slots]
        # for each input the place of its array among those of a point
        self._positions = [held.index(id(each)) for each in wanted]
        mine = sorted(symbols_in(e for a in self._arrays for e in entries(a).flat), key=str)
        self._starting = [e for each in cotangents for e in entries(each).flat if e.is_Symbol]
        self.symbols = list(dict.fromkeys([*mine, *self._starting, *others]))
        self._generator = np.random.default_rng(2)
        self._random: Any = None  # the state of the random numbers, if the operation draws some
        self.runs = 0  # how often the forward ran along lines
        self.failed = ""  # why it could not be run at the last point
        # of each region that is begun with, the symbols that have one value only in it
        self.still: list[set[Any]] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[Trial]:
        """Let the tensors hold numbers for a while; what the operation prints is not shown."""
        before = get_rng_state()
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                with np.errstate(all="ignore"):
                    yield self
        finally:
            set_rng_state(before)
            for tensor, array in zip(self._slots, self._arrays, strict=True):
                tensor._array = array

    # ------------------------------------------------------------------ one run

    def values(self, row: Any) -> dict[Any, float]:
        """Give the number of each symbol at a point."""
        return dict(zip(self.symbols, map(float, row), strict=True))

    def place(self, values: Mapping[Any, float]) -> Place:
        """Give what the tensors and the gradients of the result hold at a point."""
        cotangents = [
            np.array([float(values.get(g, g)) for g in entries(each).flat]).reshape(each.shape)
            for each in self._cotangents
        ]
        return Place(values, [_floats(array, values) for array in self._arrays], cotangents)

    def values_at(self, at: Place) -> dict[Any, float]:
        """Give the values of all symbols where the inputs are some arrays."""
        pairs = zip(self._arrays, at.arrays, strict=True)
        found = {s: x for a, b in pairs for s, x in zip(entries(a).flat, b.flat, strict=True)}
        return {**at.values, **found}

    def results(self, at: Place) -> list[Any] | None:
        """Run forward; None where it fails."""
        outputs = self._outputs(at)
        return None if outputs is None else [_floats(each._array, at.values) for each in outputs]

    def rule(self, at: Place) -> list[Any] | None:
        """Run forward and backward: a gradient for each input, zeros for None; None if it fails."""
        outputs = self._outputs(at)
        if outputs is None:
            return None
        try:
            pairs = zip(at.cotangents, outputs, strict=True)
            starts = [wrap(g.astype(output._array.dtype)) for g, output in pairs]
            found = grad(outputs, self._wanted, starts, allow_unused=True)
        except Exception as error:
            self.failed = f"{type(error).__name__}: {error}"
            return None
        return [
            np.zeros(tensor._array.shape) if each is None else _floats(each._array, at.values)
            for tensor, each in zip(self._wanted, found, strict=True)
        ]

    def _outputs(self, at: Place) -> list[Tensor] | None:
        if self._random is not None:
            set_rng_state(self._random)
        for tensor, array in zip(self._slots, at.arrays, strict=True):
            tensor._array = array.copy()
        try:
            result = self._function()
        except Exception as error:  # whatever a user's function may raise where it has no value
            self.failed = f"{type(error).__name__}: {error}"
            return None
        several = result if isinstance(result, (tuple, list)) else (result,)
        found = [each for each in several if isinstance(each, Tensor) and each.requires_grad]
        return found if len(found) == len(self._cotangents) else None

    def keep_draws(self, at: Place) -> None:
        """Find whether random numbers are drawn; then let each run draw the same ones."""
        before = get_rng_state()
        self._outputs(at)
        if not np.array_equal(before._array, get_rng_state()._array):
            self._random = before

    # ------------------------------------------------------------------ slopes

    def slope(
        self, at: Place, direction: Sequence[Any], on_border: bool = False, twice: bool = False
    ) -> Slope:
        """Measure how the result, weighted by cotangents, changes along a line of inputs.

        Args:
            at: The point.
            direction: An array for each input.
            on_border: Whether both sides shall be compared, as there may be a kink in between.
            twice: Whether steps of two sizes have to give the same, before there is a slope.
        """

        def along(distance: float) -> float:
            moved = list(at.arrays)
            for place, step in zip(self._positions, direction, strict=True):
                moved[place] = moved[place] + distance * step
            results = self.results(at._replace(arrays=moved))
            if results is None:
                return float("nan")
            return sum(float((g * r).sum()) for g, r in zip(at.cotangents, results, strict=True))

        first = Slope()
        tiny = _TINY * max((float(np.abs(g).max(initial=0)) for g in at.cotangents), default=0.0)
        for step in _STEPS:
            ends = [along(sign * step * part) for part in (1, _PART) for sign in (1, -1)]
            whole = (ends[0] - ends[1]) / (2 * step)
            part = (ends[2] - ends[3]) / (2 * _PART * step)
            if not np.isfinite(whole + part):
                continue
            rounding = 8 * _EPS * max(map(abs, ends)) / step + tiny
            apart = abs(part - whole)
            value = (part - _PART**2 * whole) / (1 - _PART**2)
            if apart > _ALIKE * (abs(value) + min(1.0, *map(abs, ends))) + 4 * rounding:
                continue
            if on_border and _bent(along(0.0), ends, step, rounding):
                return Slope()
            found = Slope(value, 0.05 * apart + rounding)
            if not twice:
                return found
            if np.isfinite(first.value):
                apart = abs(found.value - first.value)
                alike = apart <= _ALIKE * abs(value) + 4 * (found.error + first.error)
                return first if alike else Slope()
            first = found
        return Slope()

    def noise(self, at: Place, place: int, entry: Any) -> float:
        """Tell how much an entry of the gradient is rounded: how it varies very near a point."""
        return float(np.ptp(self.beside(at, place, entry) or [0.0]))

    def beside(self, at: Place, place: int, entry: Any) -> list[float]:
        """Give what the rule gives for an entry very near a point, on both sides."""
        found = []
        for k in (*range(-_NEIGHBORS, 0), *range(1, _NEIGHBORS + 1)):  # the point is one of its own
            moved = [array * (1 + k * _NEXT) for array in at.arrays]
            gradients = self.rule(at._replace(arrays=moved))
            if gradients is not None:
                found.append(float(gradients[place][entry]))
        return found

    def outcome(self, row: Any, on_border: bool, still: Set[Any]) -> Outcome:
        """Run at a point along a random line.

        Args:
            row: The point.
            on_border: Whether a kink may go through it.
            still: Symbols of inputs that are not moved.
        """
        at = self.place(self.values(row))
        found = self.rule(at)
        direction = []
        for place in self._positions:
            shape = at.arrays[place].shape
            moving = [float(entry not in still) for entry in entries(self._arrays[place]).flat]
            sizes = self._generator.uniform(0.5, 1.5, shape)
            signs = self._generator.choice((-1.0, 1.0), shape)
            direction.append(sizes * signs * np.array(moving).reshape(shape))
        slope = self.slope(at, direction, on_border)
        self.runs += 5
        if not np.isfinite(slope.value):
            results = self.results(at)
            whole = results is not None and all(np.isfinite(each).all() for each in results)
            return Outcome.ROUGH if whole else Outcome.OUTSIDE
        if found is None or any(a.shape != b.shape for a, b in zip(found, direction, strict=True)):
            return Outcome.NOTHING
        steps = [a * b for a, b in zip(found, direction, strict=True)]
        along = sum(float(each.sum()) for each in steps)
        if not np.isfinite(along):
            return Outcome.NOTHING
        size = abs(slope.value) + sum(float(np.abs(each).sum()) for each in steps)
        apart = abs(along - slope.value)
        if apart <= _CLOSE * size + slope.error:
            return Outcome.AGREES
        return Outcome.DIFFERS if apart > _FAR_OFF * size + 20 * slope.error else Outcome.CLOSE

    def wrong_entries(self, values: Mapping[Any, float]) -> Iterator[tuple[int, Any, float, float]]:
        """Run at a point, and compare entry by entry.

        Yields:
            For each entry that differs the place of the input, the index of the entry, what the
            rule gives, and the slope.
        """
        at = self.place(values)
        found = self.rule(at)
        shapes = [at.arrays[position].shape for position in self._positions]
        for place, shape in enumerate(shapes):
            for entry in np.ndindex(shape):
                direction = [np.zeros(each) for each in shapes]
                direction[place][entry] = 1.0
                slope = self.slope(at, direction, on_border=True, twice=True)
                fits = found is not None and found[place].shape == shape
                got = float(found[place][entry]) if found is not None and fits else float("nan")
                wrong = bool(np.isfinite(slope.value))
                if wrong and np.isfinite(got):
                    size = abs(got) + abs(slope.value)
                    error = slope.error + self.noise(at, place, entry)
                    wrong = abs(got - slope.value) > _SURELY * size + 20 * error
                if wrong:
                    yield place, entry, got, slope.value

    # ------------------------------------------------------------------ many points

    def draw(
        self, starts: Sequence[Region], conditions: Sequence[Any], domain: Sequence[Any] = ()
    ) -> Points:
        """Draw points in regions and near what divides them, until there are enough in a domain."""
        points = draw(self.symbols, starts, conditions)
        for seed in range(1, _DRAWS):
            if points.inside(domain).sum() >= 2 * self.sample:
                break
            points = points.and_more(draw(self.symbols, starts, conditions, seed))
        # from a gradient of zeros nothing would be seen
        starting = np.array([symbol in self._starting for symbol in points.symbols])
        points.rows[np.ix_((points.rows == 0).all(1), starting)] = 1.0
        return points

    def record(
        self,
        points: Points,
        conditions: Sequence[Any],
        domain: Sequence[Any] = (),
        wanted: int | None = None,
    ) -> Record:
        """Run at points of all parts that conditions cut out, and on their borders.

        Args:
            points: The points; some of them are chosen.
            conditions: What divides space.
            domain: Conditions under which the program can run: most points are chosen there.
            wanted: How many points are wanted there.
        """
        wanted = wanted or self.sample
        fits = points.inside(domain)
        places = [
            *points.chosen(conditions, wanted, fits),
            *points.chosen(conditions, wanted // 4, ~fits),
        ][:_MOST]
        for border in np.unique(points.border[points.border >= 0]):
            on = np.flatnonzero(points.border == border)
            # those first at which the program can run, and whose numbers are not large
            large = np.abs(points.rows[on]).max(1) > _LARGE
            places += list(on[np.lexsort((large, ~fits[on]))][:_ON_EACH_BORDER])
        picked = points.at(np.array(places, int))
        if len(picked.rows):
            self.keep_draws(self.place(self.values(picked.rows[0])))
        outcomes = []
        for row, border, start in zip(picked.rows, picked.border, picked.start, strict=True):
            still = self.still[start] if start < len(self.still) else set()
            outcomes.append(self.outcome(row, bool(border >= 0), still))
        return Record(picked, outcomes, list(conditions))


def is_far(row: Any, beyond: float = _LARGE) -> bool:
    """Tell whether a point is so far out that numbers may overflow there."""
    return bool(np.abs(row).max(initial=0) > beyond)


def _bent(middle: float, ends: Sequence[float], step: float, rounding: float) -> bool:
    """Tell whether the two sides have slopes of their own, or there is a jump."""
    if not np.isfinite(middle):
        return True
    far = (ends[0] - 2 * middle + ends[1]) / step
    near = (ends[2] - 2 * middle + ends[3]) / (_PART * step)
    # on a smooth line the slopes of both sides come together as the step gets smaller
    return not abs(near) <= 0.8 * abs(far) + 8 * rounding


def _floats(array: Any, values: Mapping[Any, float]) -> Any:
    """Give an array as float64; formulas with the numbers put in for their symbols."""
    if not isinstance(array, SymbolicArray) and array.dtype != object:
        return np.asarray(array, np.float64)
    plain = entries(array)
    if all(entry in values for entry in plain.flat):
        return np.array([values[entry] for entry in plain.flat]).reshape(plain.shape)
    given = {symbol: exact(float(value)) for symbol, value in values.items()}
    numbers = [number_of(each) for each in numbers_of(plain.flat, given)]
    return np.array(numbers, np.float64).reshape(plain.shape)
