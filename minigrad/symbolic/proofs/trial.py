"""Run an operation and its rule on numbers, and measure the forward's slope by small steps."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.gradients import grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.nn import Module
from minigrad.random import get_rng_state, set_rng_state
from minigrad.symbolic.array import SymbolicArray, entries, needs_of, vector_of
from minigrad.symbolic.exact import exact
from minigrad.symbolic.points import compiled, numbers_of, symbols_in
from minigrad.symbolic.proofs.claims import Case, Run
from minigrad.symbolic.signs import Need

# of the difference quotient: a smaller one where a larger does not do; none of them is round, as
# what jumps at every thousandth would look steady
_STEPS = (1.87e-3, 4.43e-5, 1.13e-6, 2.9e-8)
_PART = 0.5913  # of the second step
_NEXT, _NEIGHBORS = 3e-15, 6  # the relative distance of neighbors that are rounded otherwise
_ALIKE = 1e-4  # two quotients that differ by more tell of no slope
_TINY = 1e-12  # for a gradient of 1; less than that is nothing
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Slope:
    """A derivative along a line, by difference quotients.

    Attributes:
        value: The derivative; NaN where there is none.
        error: How far off it may be.
    """

    value: float
    error: float

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return bool(np.isfinite(self.value))


NO_SLOPE = Slope(float("nan"), float("inf"))


class Trial:
    """An operation that can be run on numbers, again and again, in the place of symbols.

    Args:
        function: The operation.
        tensors: What it is called with, symbolic tensors among it.
        settings: What comes after these.
        wanted: The tensors that are differentiated.
    """

    on_formulas = False

    def __init__(
        self,
        function: Callable[..., Any],
        tensors: Sequence[Any],
        settings: Sequence[Any],
        wanted: Sequence[Tensor],
    ) -> None:
        self._call: Callable[[Sequence[Any]], Any] = lambda given: function(*tensors, *given)
        self._settings = list(settings)
        self._wanted = list(wanted)
        held = [each for each in tensors if isinstance(each, Tensor)]
        if isinstance(function, Module):
            held += [*function.parameters(), *function.buffers()]
        distinct = {id(each): each for each in [*wanted, *held]}.values()
        self._slots = [each for each in distinct if isinstance(each._array, SymbolicArray)]
        self._arrays = [each._array for each in self._slots]
        self.symbols = sorted(symbols_in(e for a in self._arrays for e in entries(a).flat), key=str)
        self._given = self._settings  # with numbers in the place of symbols
        self._random: Any = None  # the state of the random numbers, if the operation draws some
        self.failed = ""  # why it could not be run at the last point

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

    def place(self, values: dict[Any, Any]) -> list[Any]:
        """Give the arrays of numbers that all tensors hold at a point, and set the settings."""
        self._given = [_setting(each, values) for each in self._settings]
        return [_floats(array, values) for array in self._arrays]

    def results(self, arrays: Sequence[Any], values: dict[Any, Any]) -> list[Any] | None:
        """Run forward; None where it fails."""
        outputs = self._outputs(arrays)
        return None if outputs is None else [_floats(each._array, values) for each in outputs]

    def rule(
        self, arrays: Sequence[Any], cotangents: Sequence[Any], values: dict[Any, Any]
    ) -> list[Any] | None:
        """Run forward and backward: a gradient for each input, zeros for None; None if it fails."""
        outputs = self._outputs(arrays)
        if outputs is None:
            return None
        try:
            starts = [
                wrap(g.astype(o._array.dtype)) for g, o in zip(cotangents, outputs, strict=True)
            ]
            found = grad(outputs, self._wanted, starts, allow_unused=True)
        except Exception as error:
            self.failed = f"{type(error).__name__}: {error}"
            return None
        return [
            np.zeros(tensor._array.shape) if each is None else _floats(each._array, values)
            for tensor, each in zip(self._wanted, found, strict=True)
        ]

    def noise(
        self, arrays: Sequence[Any], cotangents: Sequence[Any], values: dict[Any, Any],
        place: int, entry: Any,
    ) -> float:  # fmt: skip
        """Tell how much an entry of the gradient is rounded: how it varies very near a point."""
        found = []
        for k in (*range(-_NEIGHBORS, 0), *range(1, _NEIGHBORS + 1)):  # the point is one of its own
            moved = [array * (1 + k * _NEXT) for array in arrays]
            gradients = self.rule(moved, cotangents, values)
            if gradients is not None:
                found.append(float(gradients[place][entry]))
        return float(np.ptp(found)) if found else 0.0

    def _outputs(self, arrays: Sequence[Any]) -> list[Tensor] | None:
        if self._random is not None:
            set_rng_state(self._random)
        for tensor, array in zip(self._slots, arrays, strict=True):
            tensor._array = array.copy()
        try:
            result = self._call(self._given)
        except Exception as error:  # whatever a user's function may raise where it has no value
            self.failed = f"{type(error).__name__}: {error}"
            return None
        several = result if isinstance(result, (tuple, list)) else (result,)
        return [each for each in several if isinstance(each, Tensor) and each.requires_grad]

    def keep_draws(self, arrays: Sequence[Any]) -> None:
        """Find whether random numbers are drawn; then let each run draw the same ones."""
        before = get_rng_state()
        self._outputs(arrays)
        if not np.array_equal(before._array, get_rng_state()._array):
            self._random = before

    def positions(self) -> list[int]:
        """Give for each input the place of its array among those of a point."""
        held = [id(each) for each in self._slots]
        return [held.index(id(each)) for each in self._wanted]

    def moving(self, place: int, still: Set[Any]) -> Any:
        """Tell which entries of an array are not among some symbols: 1 for these, else 0."""
        flat = [float(entry not in still) for entry in entries(self._arrays[place]).flat]
        return np.array(flat).reshape(self._arrays[place].shape)

    def moved(self, arrays: Sequence[Any], values: dict[Any, Any]) -> dict[Any, Any]:
        """Give the values of all symbols at a point where the inputs are some arrays."""
        pairs = zip(self._arrays, arrays, strict=True)
        found = {s: x for a, b in pairs for s, x in zip(entries(a).flat, b.flat, strict=True)}
        return values | found

    # ------------------------------------------------------------------ slopes

    def slope(
        self,
        arrays: Sequence[Any],
        cotangents: Sequence[Any],
        direction: Sequence[Any],
        values: dict[Any, Any],
        on_border: bool = False,
        twice: bool = False,
    ) -> Slope:
        """Measure how the result, weighted by cotangents, changes along a line of inputs.

        Args:
            arrays: The point.
            cotangents: An array for each output.
            direction: An array for each input.
            values: Numbers for symbols that are in no input.
            on_border: Whether both sides shall be compared, as there may be a kink in between.
            twice: Whether steps of two sizes have to give the same, before there is a slope.
        """
        places = self.positions()

        def along(distance: float) -> float:
            moved = list(arrays)
            for place, step in zip(places, direction, strict=True):
                moved[place] = moved[place] + distance * step
            results = self.results(moved, values)
            if results is None:
                return float("nan")
            return sum(float((g * r).sum()) for g, r in zip(cotangents, results, strict=True))

        first = NO_SLOPE
        tiny = _TINY * max((float(np.abs(g).max(initial=0)) for g in cotangents), default=0.0)
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
                return NO_SLOPE
            found = Slope(value, 0.05 * apart + rounding)
            if not twice:
                return found
            if first.known:
                apart = abs(found.value - first.value)
                alike = apart <= _ALIKE * abs(value) + 4 * (found.error + first.error)
                return first if alike else NO_SLOPE
            first = found
        return NO_SLOPE


def _bent(middle: float, ends: Sequence[float], step: float, rounding: float) -> bool:
    """Tell whether the two sides have slopes of their own, or there is a jump."""
    if not np.isfinite(middle):
        return True
    far = (ends[0] - 2 * middle + ends[1]) / step
    near = (ends[2] - 2 * middle + ends[3]) / (_PART * step)
    # on a smooth line the slopes of both sides come together as the step gets smaller
    return not abs(near) <= 0.8 * abs(far) + 8 * rounding


def _floats(array: Any, values: dict[Any, Any]) -> Any:
    """Give an array as float64; formulas with the numbers put in for their symbols."""
    if not isinstance(array, SymbolicArray) and array.dtype != object:
        return np.asarray(array, np.float64)
    plain = entries(array)
    if all(entry in values for entry in plain.flat):
        return np.array([values[entry] for entry in plain.flat]).reshape(plain.shape)
    given = {symbol: exact(float(value)) for symbol, value in values.items()}
    needs = list(needs_of(array))
    for need, number in zip(needs, numbers_of([n.of for n in needs], given), strict=True):
        if not need.holds(number):
            return np.full(plain.shape, np.nan)
    numbers = [_float(each) for each in numbers_of(plain.flat, given)]
    return np.array(numbers, np.float64).reshape(plain.shape)


def _setting(value: Any, values: dict[Any, Any]) -> Any:
    """Give a setting with numbers for the symbols in it."""
    if isinstance(value, sympy.Expr) and value.free_symbols:
        return _float(value.subs(values).evalf())
    return value


def _float(number: Any) -> float:
    try:
        value = complex(number)
    except (TypeError, ValueError):
        return float("nan")
    return value.real if value.imag == 0 else float("nan")


class Formulas:
    """An array of formulas, to be computed at points: NaN where a step to them has no value.

    Args:
        array: The formulas.
        needs: What the steps need.
    """

    def __init__(self, array: Any, needs: Iterable[Need]) -> None:
        self.array, self._needs = array, list(needs)
        formulas = [*entries(array).flat, *(need.of for need in self._needs)]
        self._symbols = sorted(symbols_in(formulas), key=str)
        self._compute = compiled(formulas, self._symbols)

    def at(self, values: Mapping[Any, Any]) -> Any:
        """Compute an array of numbers."""
        row = np.array([[float(values[symbol]) for symbol in self._symbols]])
        numbers, needed = np.split(self._compute(row)[:, 0], [self.array.size])
        if not all(n.holds(sympy.Float(x)) for n, x in zip(self._needs, needed, strict=True)):
            numbers[:] = np.nan
        return numbers.reshape(self.array.shape)


class FormulaTrial(Trial):
    """A trial of an operation that has symbols from outside, and so cannot run on numbers.

    What its runs on symbols gave is computed instead.

    Args:
        case: The operation and its runs on symbols.
    """

    on_formulas = True

    def __init__(self, case: Case) -> None:
        super().__init__(case.function, case.tensors, case.settings, case.wanted)
        self._ready = []
        for run in case.runs:

            def ready(arrays: Sequence[Any], needs: Iterable[Need], run: Run = run) -> list[Any]:
                listed = [Need(case.original(n.of, run.region), n.relation) for n in needs]
                found = ([case.original(e, run.region) for e in array.flat] for array in arrays)
                shaped = (vector_of(e).reshape(a.shape) for e, a in zip(found, arrays, strict=True))
                return [Formulas(array, listed) for array in shaped]

            where = sympy.And(*map(case.reading.back, run.region.conditions))
            results, gradients = ready(run.results, run.needs), ready(run.gradients, run.rule_needs)
            self._ready.append((where, results, gradients))

    def keep_draws(self, arrays: Sequence[Any]) -> None:
        """Do nothing: formulas draw no random numbers."""

    def results(self, arrays: Sequence[Any], values: dict[Any, Any]) -> list[Any] | None:
        """Compute what forward gave."""
        return self._computed(0, arrays, values)

    def rule(
        self, arrays: Sequence[Any], cotangents: Sequence[Any], values: dict[Any, Any]
    ) -> list[Any] | None:
        """Compute what backward gave."""
        return self._computed(1, arrays, values)

    def _computed(self, which: int, arrays: Sequence[Any], values: dict[Any, Any]) -> Any:
        now = self.moved(arrays, values)
        for where, *ready in self._ready:
            if where == True or where.subs(now) == True:  # noqa: E712 - SymPy's true
                return [each.at(now) for each in ready[which]]
        return None
