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
from minigrad.symbolic.equality import number_of, numbers_of, symbols_in
from minigrad.symbolic.mathematics import exact

_CLOSE, _FAR_OFF, _SURELY = 2e-6, 1e-4, 1e-9  # of the sizes that are compared
# of the difference quotient: a smaller one where a larger does not do; none of them is round, as
# what jumps at every thousandth would look steady
_STEPS = (1.87e-3, 4.43e-5, 1.13e-6, 2.9e-8)
_PART = 0.5913  # of the second step
_ALIKE = 1e-4  # two quotients that differ by more are no slope
_TINY = 1e-12  # for a gradient of 1; less than that is nothing
_EPS = float(np.finfo(np.float64).eps)


class Outcome(Enum):
    """What a run at a point showed."""

    NO_SLOPE = "the forward has no value, or no slope there"
    AGREES = "the rule gives the slope of the forward"
    CLOSE = "the two are too close to decide"
    DIFFERS = "the rule gives something else"
    NOTHING = "the rule gives NaN or infinity"


class Trial:
    """An operation and its rule, run on numbers again and again instead of symbols.

    A point is a row of numbers, one for each symbol.

    Args:
        function: The operation.
        held: The tensors that hold symbols.
        inputs: Those of them that are differentiated.
        cotangents: For each output the symbols of its gradient.

    Attributes:
        symbols: What the numbers of a row stand for.
        failed: Why it could not be run at the last point.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        held: Sequence[Tensor],
        inputs: Sequence[Tensor],
        cotangents: Sequence[Any],
    ) -> None:
        self._function, self._held, self._inputs = function, held, inputs
        self._arrays = [each._array for each in held]
        self._cotangents = cotangents
        mine = sorted(symbols_in(e for a in self._arrays for e in entries(a).flat), key=str)
        self.starting = [e for each in cotangents for e in entries(each).flat]
        self.symbols = [*mine, *self.starting]
        columns = {symbol: place for place, symbol in enumerate(self.symbols)}
        self._columns = [
            np.array([columns[e] for e in entries(each).flat], int).reshape(tuple(each.shape))
            for each in inputs
        ]
        self._generator = np.random.default_rng(2)
        self._random = get_rng_state()  # what is drawn is the same in each run
        self.failed = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Let the tensors hold numbers for a while; what the operation prints is not shown."""
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                with np.errstate(all="ignore"):
                    yield
        finally:
            set_rng_state(self._random)
            for tensor, array in zip(self._held, self._arrays, strict=True):
                tensor._array = array

    def values(self, row: Any) -> dict[Any, float]:
        """Give the number of each symbol at a point."""
        return dict(zip(self.symbols, map(float, row), strict=True))

    def _outputs(self, row: Any) -> list[Tensor] | None:
        """Run forward; None where it fails."""
        set_rng_state(self._random)
        values = self.values(row)
        for tensor, array in zip(self._held, self._arrays, strict=True):
            tensor._array = _floats(array, values)
        try:
            result = self._function()
        except Exception as error:  # whatever a user's function may raise where it has no value
            self.failed = f"{type(error).__name__}: {error}"
            return None
        found = outputs_of(result)
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
            found = grad(outputs, self._inputs, starts, allow_unused=True)
        except Exception as error:
            self.failed = f"{type(error).__name__}: {error}"
            return None
        return [
            np.zeros(columns.shape) if each is None else _floats(each._array, values)
            for columns, each in zip(self._columns, found, strict=True)
        ]

    def _slope(self, row: Any, direction: Any, steps: Sequence[float]) -> tuple[float, float, int]:
        """Measure how the weighed result changes along a line; NaN if it has no slope.

        Returns:
            The slope, a bound for its error, and the number of the step that did.
        """
        middle = self._weighed(row)
        tiny = _TINY * np.abs(row[len(row) - len(self.starting) :]).max(initial=0.0)
        for number, step in enumerate(steps if np.isfinite(middle) else ()):
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
            far = abs(ends[0] - 2 * middle + ends[1]) / step
            near = abs(ends[2] - 2 * middle + ends[3]) / (_PART * step)
            if near > 0.8 * far + 8 * rounding:
                break  # a kink: the slopes of both sides do not come together
            return value, 0.05 * apart + rounding, number
        return float("nan"), float("inf"), len(steps)

    def outcome(self, row: Any) -> Outcome:
        """Run at a point, and compare along a random line."""
        found, direction = self.rule(row), np.zeros(len(row))
        for columns in self._columns:
            sizes = self._generator.uniform(0.5, 1.5, columns.shape)
            direction[columns] = sizes * self._generator.choice((-1.0, 1.0), columns.shape)
        slope, error, _ = self._slope(row, direction, _STEPS)
        if not np.isfinite(slope):
            return Outcome.NO_SLOPE
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
                slope, error, number = self._slope(row, direction, _STEPS)
                again, doubt, _ = self._slope(row, direction, _STEPS[number + 1 :])
                if not abs(again - slope) <= _ALIKE * abs(slope) + 4 * (error + doubt):
                    continue  # steps of two sizes have to give the same
                fits = found is not None and found[place].shape == columns.shape
                got = float(found[place][entry]) if found is not None and fits else float("nan")
                most = _SURELY * (abs(got) + abs(slope)) + 20 * error
                if not np.isfinite(got) or abs(got - slope) > most:
                    yield place, entry, got, slope


def outputs_of(result: Any) -> list[Tensor]:
    """List the tensors among what an operation gave that have a gradient."""
    several = result if isinstance(result, (tuple, list)) else (result,)
    return [each for each in several if isinstance(each, Tensor) and each.requires_grad]


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


# ---------------------------------------------------------------------- points

_ROOT_STEPS, _ROOT_STEP = 6, 2.0**-12  # of the search for a border
_NEAR = (2e-4, 5e-3, 0.05, 0.5)  # how far from a border points are drawn
_GENERIC, _ROOTS = 400, 12


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
    failures = (TypeError, ValueError, NameError, ArithmeticError, NotImplementedError, SyntaxError)

    def function_of(formula: Any) -> Callable[..., Any]:
        with contextlib.suppress(*failures):  # NumPy has not all of SymPy's functions
            return sympy.lambdify(columns, formula, "numpy")
        return lambda *values: np.nan

    functions = list(map(function_of, renamed))

    def compute(points: Any) -> Any:
        results = np.full((len(functions), len(points)), np.nan)
        with np.errstate(all="ignore"):
            for place, function in enumerate(functions):
                with contextlib.suppress(*failures):
                    found = np.asarray(function(*points.T))
                    results[place] = np.where(np.imag(found) == 0, np.real(found), np.nan)
        return results

    return compute


def drawn(symbols: Sequence[Any], borders: Sequence[Any], seed: int = 0) -> tuple[Any, Any]:
    """Draw points, many of them near where some formulas are 0, and some there.

    Args:
        symbols: The symbols that get numbers.
        borders: The formulas.
        seed: What the random numbers start from.

    Returns:
        A row for each of some hundreds of points, or thousands where there are many borders; and
        for each row the place of the border on which it was put, -1 for none.
    """
    generator = np.random.default_rng(seed)
    generic = np.stack([_drawn_numbers(symbol, _GENERIC, generator) for symbol in symbols], 1)
    generic[0] = 0.0  # where norms and squares are 0
    rows, places = [generic], [np.full(len(generic), -1)]
    for place, wall in enumerate(borders):
        value = compiled([wall], symbols)
        for column, symbol in enumerate(symbols):
            if symbol not in wall.free_symbols:
                continue
            root = _root(generic[generator.integers(0, _GENERIC, _ROOTS)], column, value)
            for distance in (0.0, *_NEAR):
                moved = root.copy()
                away = distance * (1 + np.abs(root[:, column]) * (distance < 0.05))
                moved[:, column] += away * generator.choice((-1, 1), len(root))
                rows.append(moved)
                places.append(np.full(len(root), -1 if distance else place))
    found, kept = np.concatenate(rows), np.concatenate(places)
    fits = np.all([_fitting(s, column) for s, column in zip(symbols, found.T, strict=True)], 0)
    return found[fits], kept[fits]


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
        return np.abs(values)
    return -np.abs(values) if symbol.is_nonpositive else values


def _fitting(symbol: Any, values: Any) -> Any:
    """Tell which numbers a symbol may stand for, as far as signs and integers go."""
    fits = np.isfinite(values)
    fits &= (values >= 0) | (not symbol.is_nonnegative)
    fits &= (values <= 0) | (not symbol.is_nonpositive)
    fits &= (values != 0) | (not symbol.is_nonzero)
    return fits & ((values == np.round(values)) | (not symbol.is_integer))


def _root(rows: Any, column: int, value: Callable[[Any], Any]) -> Any:
    """Go along one variable to where an expression is 0, by Newton's steps; exact on a line."""

    def ahead(step: float) -> Any:
        moved = rows.copy()
        moved[:, column] += step
        return value(moved)[0]

    rows = rows.copy()
    for _ in range(_ROOT_STEPS):
        with np.errstate(all="ignore"):
            step = ahead(0.0) * (2 * _ROOT_STEP) / (ahead(_ROOT_STEP) - ahead(-_ROOT_STEP))
        rows[:, column] -= np.where(np.isfinite(step), np.clip(step, -1e4, 1e4), 0.0)
    # a number with few digits is what is meant more often than not
    rounded = rows.copy()
    rounded[:, column] = np.round(rows[:, column], 10)
    better = np.abs(value(rounded)[0]) <= np.abs(value(rows)[0])
    return np.where(better[:, None], rounded, rows)
