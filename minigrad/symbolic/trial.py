"""Run a rule on numbers, in float64, and compare it with difference quotients of its forward."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.gradients import grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.random import get_rng_state, set_rng_state
from minigrad.symbolic.array import entries
from minigrad.symbolic.mathematics import exact
from minigrad.symbolic.points import number_of, numbers_of, symbols_in

_CLOSE, _FAR_OFF, _SURELY = 2e-6, 1e-4, 1e-9  # of the sizes that are compared
# of the difference quotient: a smaller one where a larger does not do; none of them is round, as
# what jumps at every thousandth would look steady
_STEPS = (1.87e-3, 4.43e-5, 1.13e-6, 2.9e-8)
_PART = 0.5913  # of the second step
_NEXT, _NEIGHBORS = 3e-15, 6  # the relative distance of neighbors that are rounded otherwise
_ALIKE = 1e-4  # two quotients that differ by more tell of no slope
_TINY = 1e-12  # for a gradient of 1; less than that is nothing
_EPS = float(np.finfo(np.float64).eps)


class Outcome(Enum):
    """What a run at a point showed."""

    OUTSIDE = "the forward has no value there"
    ROUGH = "the forward has no slope there"
    AGREES = "the rule gives the slope of the forward"
    CLOSE = "the two are too close to be told apart"
    DIFFERS = "the rule gives something else"
    NOTHING = "the rule gives NaN or infinity"


class Trial:
    """An operation and its rule, run on numbers again and again in the place of symbols.

    A point is a row of numbers, one for each symbol.

    Args:
        function: The operation.
        held: The tensors that hold symbols.
        wanted: Those of them that are differentiated.
        cotangents: For each output the symbols of its gradient.

    Attributes:
        symbols: What the numbers of a row stand for.
        runs: How often the forward ran along lines.
        failed: Why it could not be run at the last point.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        held: Sequence[Tensor],
        wanted: Sequence[Tensor],
        cotangents: Sequence[Any],
    ) -> None:
        self._function, self._held, self._wanted = function, held, wanted
        self._arrays = [each._array for each in held]
        self._cotangents = cotangents
        mine = sorted(symbols_in(e for a in self._arrays for e in entries(a).flat), key=str)
        self.starting = [e for each in cotangents for e in entries(each).flat]
        self.symbols = [*mine, *self.starting]
        columns = {symbol: place for place, symbol in enumerate(self.symbols)}
        self._columns = [
            np.array([columns[e] for e in entries(each).flat], int).reshape(tuple(each.shape))
            for each in wanted
        ]
        self._generator = np.random.default_rng(2)
        self._random: Any = None  # the state of the random numbers, if the operation draws some
        self.runs = 0
        self.failed = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Let the tensors hold numbers for a while; what the operation prints is not shown."""
        before = get_rng_state()
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                with np.errstate(all="ignore"):
                    yield
        finally:
            set_rng_state(before)
            for tensor, array in zip(self._held, self._arrays, strict=True):
                tensor._array = array

    def values(self, row: Any) -> dict[Any, float]:
        """Give the number of each symbol at a point."""
        return dict(zip(self.symbols, map(float, row), strict=True))

    def keep_draws(self, row: Any) -> None:
        """Find whether random numbers are drawn; then let each run draw the same ones."""
        before = get_rng_state()
        self._outputs(row)
        if not np.array_equal(before._array, get_rng_state()._array):
            self._random = before

    # ------------------------------------------------------------------ one run

    def _outputs(self, row: Any) -> list[Tensor] | None:
        """Run forward; None where it fails."""
        if self._random is not None:
            set_rng_state(self._random)
        values = self.values(row)
        for tensor, array in zip(self._held, self._arrays, strict=True):
            tensor._array = _floats(array, values)
        try:
            result = self._function()
        except Exception as error:  # whatever a user's function may raise where it has no value
            self.failed = f"{type(error).__name__}: {error}"
            return None
        several = result if isinstance(result, (tuple, list)) else (result,)
        found = [each for each in several if isinstance(each, Tensor) and each.requires_grad]
        return found if len(found) == len(self._cotangents) else None

    def _weighed(self, row: Any) -> float:
        """Give the sum of the result's entries, each times its gradient; NaN if there is none."""
        outputs, values = self._outputs(row), self.values(row)
        if outputs is None:
            return float("nan")
        pairs = zip(self._cotangents, outputs, strict=True)
        return sum(float((_floats(g, values) * _floats(r._array, values)).sum()) for g, r in pairs)

    def rule(self, row: Any) -> list[Any] | None:
        """Run forward and backward: a gradient for each input, zeros for None; None if it fails."""
        outputs, values = self._outputs(row), self.values(row)
        if outputs is None:
            return None
        try:
            pairs = zip(self._cotangents, outputs, strict=True)
            starts = [wrap(_floats(g, values).astype(o._array.dtype)) for g, o in pairs]
            found = grad(outputs, self._wanted, starts, allow_unused=True)
        except Exception as error:
            self.failed = f"{type(error).__name__}: {error}"
            return None
        return [
            np.zeros(columns.shape) if each is None else _floats(each._array, values)
            for columns, each in zip(self._columns, found, strict=True)
        ]

    # ------------------------------------------------------------------ slopes

    def slope(
        self, row: Any, direction: Any, on_border: bool = False, twice: bool = False
    ) -> tuple[float, float]:
        """Measure how the weighed result changes along a line, and how far off that may be.

        Args:
            row: The point.
            direction: What is added to the row.
            on_border: Whether both sides shall be compared, as there may be a kink in between.
            twice: Whether steps of two sizes have to give the same, before there is a slope.

        Returns:
            The slope, NaN if there is none, and a bound for its error.
        """
        none = float("nan"), float("inf")
        first = none
        tiny = _TINY * np.abs(row[len(row) - len(self.starting) :]).max(initial=0.0)
        for step in _STEPS:
            ends = [
                self._weighed(row + sign * step * part * direction)
                for part in (1, _PART)
                for sign in (1, -1)
            ]
            whole = (ends[0] - ends[1]) / (2 * step)
            part = (ends[2] - ends[3]) / (2 * _PART * step)
            if not np.isfinite(whole + part):
                continue
            rounding = 8 * _EPS * max(map(abs, ends)) / step + tiny
            apart = abs(part - whole)
            value = (part - _PART**2 * whole) / (1 - _PART**2)
            if apart > _ALIKE * (abs(value) + min(1.0, *map(abs, ends))) + 4 * rounding:
                continue
            if on_border and _bent(self._weighed(row), ends, step, rounding):
                return none
            found = value, 0.05 * apart + rounding
            if not twice:
                return found
            if np.isfinite(first[0]):
                apart = abs(found[0] - first[0])
                alike = apart <= _ALIKE * abs(value) + 4 * (found[1] + first[1])
                return first if alike else none
            first = found
        return none

    def beside(self, row: Any, place: int, entry: Any) -> list[float]:
        """Give what the rule gives for an entry very near a point, on both sides."""
        found = []
        inputs = np.arange(len(row)) < len(row) - len(self.starting)
        for k in (*range(-_NEIGHBORS, 0), *range(1, _NEIGHBORS + 1)):  # the point is one of its own
            gradients = self.rule(row * np.where(inputs, 1 + k * _NEXT, 1))
            if gradients is not None:
                found.append(float(gradients[place][entry]))
        return found

    def outcome(self, row: Any, on_border: bool) -> Outcome:
        """Run at a point along a random line, on which there may be a kink at the point."""
        found, direction = self.rule(row), np.zeros(len(row))
        for columns in self._columns:
            sizes = self._generator.uniform(0.5, 1.5, columns.shape)
            direction[columns] = sizes * self._generator.choice((-1.0, 1.0), columns.shape)
        slope, error = self.slope(row, direction, on_border)
        self.runs += 5
        if not np.isfinite(slope):
            return Outcome.ROUGH if np.isfinite(self._weighed(row)) else Outcome.OUTSIDE
        pairs = list(zip(found or [], self._columns, strict=False))
        if not pairs or any(a.shape != columns.shape for a, columns in pairs):
            return Outcome.NOTHING
        steps = [a * direction[columns] for a, columns in pairs]
        along = sum(float(each.sum()) for each in steps)
        if not np.isfinite(along):
            return Outcome.NOTHING
        size = abs(slope) + sum(float(np.abs(each).sum()) for each in steps)
        apart = abs(along - slope)
        if apart <= _CLOSE * size + error:
            return Outcome.AGREES
        return Outcome.DIFFERS if apart > _FAR_OFF * size + 20 * error else Outcome.CLOSE

    def wrong_entries(self, row: Any) -> Iterator[tuple[int, Any, float, float]]:
        """Run at a point, and compare entry by entry.

        Yields:
            For each entry that differs the place of the input, the index of the entry, what the
            rule gives, and the slope.
        """
        found = self.rule(row)
        for place, columns in enumerate(self._columns):
            for entry in np.ndindex(columns.shape):
                direction = np.zeros(len(row))
                direction[columns[entry]] = 1.0
                slope, error = self.slope(row, direction, on_border=True, twice=True)
                fits = found is not None and found[place].shape == columns.shape
                got = float(found[place][entry]) if found is not None and fits else float("nan")
                wrong = bool(np.isfinite(slope))
                if wrong and np.isfinite(got):
                    error += float(np.ptp(self.beside(row, place, entry) or [0.0]))  # rounding
                    wrong = abs(got - slope) > _SURELY * (abs(got) + abs(slope)) + 20 * error
                if wrong:
                    yield place, entry, got, slope


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
    if array.dtype != object:
        return np.asarray(array, np.float64)
    flat = entries(array).reshape(-1)
    if all(entry in values for entry in flat):
        return np.array([values[entry] for entry in flat], np.float64).reshape(array.shape)
    given: dict[Any, sympy.Expr] = {symbol: exact(value) for symbol, value in values.items()}
    numbers = [number_of(each) for each in numbers_of(flat, given)]
    return np.array(numbers, np.float64).reshape(array.shape)
