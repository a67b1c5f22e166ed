"""Run the rules of a graph again, on numbers, and compare with difference quotients of the loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import SymbolicArray, entries, needs_of
from minigrad.symbolic.equality import Refuted
from minigrad.symbolic.evaluation import symbols_in
from minigrad.symbolic.needs import Need, reduced
from minigrad.symbolic.regions import EVERYWHERE, Region, condition_of, is_kinky
from minigrad.symbolic.sampling import Points, chosen, compiled, condition_sides, draw, holds
from minigrad.symbolic.signs import sign_of
from minigrad.symbolic.telling.local import Value, run_rule, saved_values, stand_in
from minigrad.symbolic.telling.passage import Passage

_POINTS, _ON_EACH_BORDER = 200, 3
_STEPS, _PART = (1.87e-3, 4.43e-5, 1.13e-6, 2.9e-8), 0.5913  # of the difference quotients
_ALIKE, _CLOSE, _FAR_OFF, _TINY = 1e-4, 2e-6, 1e-3, 1e-12
_EPS = float(np.finfo(np.float64).eps)
_LARGE = 25


@dataclass(frozen=True)
class Seen:
    """What runs on numbers showed.

    Attributes:
        points: At how many points the rules gave the slope of the loss.
        domain: Conditions under which the loss and all steps to it are real and finite.
        holes: Expressions that are 0 where a rule gives NaN, though the loss has a slope.
    """

    points: int
    domain: tuple[Any, ...]
    holes: tuple[Any, ...]


def _holds(need: Need, values: Any) -> Any:
    """Tell where what is needed is so."""
    kind = {">": sympy.Gt, ">=": sympy.Ge, "!=": sympy.Ne}[need.relation]
    return holds(kind, values) | ((values == 0) & (need.relation == ">="))


def domain_of(array: Any) -> Region:
    """Give the region where the steps to an array have real and finite values, as it is known."""
    needs = reduced(needs_of(array), sign_of)
    return Region(assumed={n.of: 1 for n in needs if n.relation == ">" and not is_kinky(n.of)})


class Witness:
    """Runs a backward pass on numbers in the place of symbols, as often as it is asked.

    Args:
        loss: The array of the loss, of one entry.
        passages: The backward pass on symbols.
        gradients: For each leaf the gradient that the engine gave, in symbols.
        kinks: Expressions that are 0 where there is a kink or a jump.
    """

    def __init__(
        self,
        loss: Any,
        passages: Sequence[Passage],
        gradients: Mapping[Value, Any],
        kinks: Sequence[Any],
    ) -> None:
        self._passages, self._gradients = passages, gradients
        self._formulas: dict[Value, Any] = {}
        formula = entries(loss).item()
        given = [e for g in gradients.values() for e in entries(g).flat]
        self.symbols = sorted(symbols_in([formula, *given, *self._leaf_entries()]), key=str)
        needs = reduced(needs_of(loss), sign_of)
        self._loss = compiled([formula, *(n.of for n in needs)], self.symbols)
        self._relations = [sympy.Gt if n.relation == ">" else sympy.Ne for n in needs]
        self.domain = tuple(condition_of(n.of, n.sign) for n in needs)
        rules = reduced(needs_of(gradients.values()), sign_of)
        self._conditions = list(dict.fromkeys([
            *self.domain, *(condition_of(n.of, n.sign) for n in rules),
            *(condition_of(kink, 1) for kink in kinks),
        ]))  # fmt: skip
        self._conditions = [
            each for each in self._conditions if isinstance(each, sympy.core.relational.Relational)
        ]

    def _leaf_entries(self) -> list[Any]:
        return [
            entry
            for passage in self._passages
            if passage.is_leaf
            for entry in entries(passage.node.variable).flat  # type: ignore[attr-defined]
        ]

    def look(self, names: Mapping[Value, str]) -> Seen:
        """Run at points of all parts.

        Raises:
            Refuted: If a rule gives something else than the slope of the loss.
        """
        points = self._draw()
        directions = self._directions(len(points.rows))
        slopes, errors = self._slopes(points, directions)
        agreed = 0
        holes: dict[Any, None] = {}
        saved = self._compile_saved(points.rows)
        for place in map(int, np.flatnonzero(np.isfinite(slopes))):
            found = self._replay(place, saved) or self._on_formulas(points.rows[place])
            along, size = self._along(found, directions[place])
            far_off = abs(along - slopes[place])
            if far_off <= _CLOSE * (size + abs(slopes[place])) + errors[place]:
                agreed += points.border[place] < 0
                continue
            if np.isfinite(along) and far_off <= _FAR_OFF * max(1, size) + 20 * errors[place]:
                continue
            if np.abs(points.rows[place]).max(initial=0) > _LARGE:
                continue
            border = points.border[place]
            if border >= 0 and not np.isfinite(along):
                holes[condition_sides(self._conditions[border])[0]] = None
                continue
            self._refute(points.rows[place], found, names)
        return Seen(int(agreed), self.domain, tuple(holes))

    def confirm(self, refuted: Refuted, value: Value, name: str) -> None:
        """Run at the point of a counterexample that formulas gave.

        Raises:
            Refuted: If the run shows that the rule is wrong there, or at a point near it.
        """
        at = refuted.counterexample
        start = np.array([float(at.get(symbol, sympy.Rational(7, 5))) for symbol in self.symbols])
        generator = np.random.default_rng(5)
        spare = np.array([s not in refuted.counterexample for s in self.symbols])
        for _ in range(8):
            saved = self._compile_saved(start[None])
            found = self._replay(0, saved)
            found = found or self._on_formulas(start)
            try:
                self._refute(start, found, {value: name})
            except Refuted as shown:
                if shown.of.endswith(name) and shown.entry in (refuted.entry, ()):
                    raise Refuted(refuted.entry, refuted.left, refuted.right,
                                  refuted.counterexample, shown.of) from None  # fmt: skip
                raise shown from None
            if not spare.any():
                break
            start = np.where(spare, generator.integers(-256, 257, len(start)) / 64, start)
        self.look({value: name})

    # ------------------------------------------------------------------ points and slopes

    def _draw(self) -> Points:
        sides = [condition_sides(each)[0] for each in self._conditions]
        points = draw(self.symbols, [EVERYWHERE], sides)
        inside = np.isfinite(self._losses(points.rows))
        places = list(chosen(points, self._conditions, _POINTS, inside))
        for border in np.unique(points.border[points.border >= 0]):
            places += list(np.flatnonzero(points.border == border)[:_ON_EACH_BORDER])
        return points.at(np.array(places, int))

    def _losses(self, rows: Any) -> Any:
        """Compute the loss at points; NaN where a step to it has no value."""
        values = self._loss(rows)
        for relation, value in zip(self._relations, values[1:], strict=True):
            values[0][~holds(relation, value)] = np.nan
        return values[0]

    def _directions(self, count: int) -> Any:
        generator = np.random.default_rng(4)
        moving = {entry for g in self._gradients for entry in self._entries_of(g)}
        drawn = generator.uniform(0.5, 1.5, (count, len(self.symbols)))
        drawn *= generator.choice((-1.0, 1.0), drawn.shape)
        return drawn * np.array([symbol in moving for symbol in self.symbols])

    def _entries_of(self, value: Value) -> list[Any]:
        return list(entries(value[0].variable).flat)  # type: ignore[attr-defined]

    def _slopes(self, points: Points, directions: Any) -> tuple[Any, Any]:
        """Measure how the loss changes along lines, by difference quotients."""
        rows, middle = points.rows, self._losses(points.rows)
        slopes, errors = np.full(len(rows), np.nan), np.full(len(rows), np.inf)
        for step in _STEPS:
            ends = np.array([
                self._losses(rows + sign * step * part * directions)
                for part in (1, _PART) for sign in (1, -1)
            ])  # fmt: skip
            with np.errstate(all="ignore"):
                whole = (ends[0] - ends[1]) / (2 * step)
                part = (ends[2] - ends[3]) / (2 * _PART * step)
                largest = np.abs(ends).max(0)
                rounding = 8 * _EPS * largest / step + _TINY
                value = (part - _PART**2 * whole) / (1 - _PART**2)
                apart = np.abs(part - whole)
                fits = apart <= _ALIKE * (np.abs(value) + np.minimum(1, largest)) + 4 * rounding
                far = (ends[0] - 2 * middle + ends[1]) / step
                near = (ends[2] - 2 * middle + ends[3]) / (_PART * step)
                smooth = np.abs(near) <= 0.8 * np.abs(far) + 8 * rounding
            new = fits & np.isnan(slopes) & np.isfinite(middle)
            new &= smooth | (points.border < 0)
            slopes[new], errors[new] = value[new], (0.05 * apart + rounding)[new]
        return slopes, errors

    # ------------------------------------------------------------------ the rules

    def _compile_saved(self, rows: Any) -> dict[int, Any]:
        """Compute what the nodes saved, at all points: for each array its numbers."""
        arrays = {
            id(array): array
            for passage in self._passages
            if not passage.is_leaf
            for _, _, array in saved_values(passage.node)
            if isinstance(array, SymbolicArray)
        }
        found = {}
        for key, array in arrays.items():
            flat = list(entries(array).flat)
            numbers = compiled(flat, self.symbols)(rows)
            for need in array.needs:
                numbers[:, ~_holds(need, compiled([need.of], self.symbols)(rows)[0])] = np.nan
            found[key] = (array, numbers)
        return found

    def _replay(self, place: int, saved: dict[int, Any]) -> dict[Value, Any] | None:
        """Run the rules at a point; None where a rule does not take numbers here."""

        def numbers(value: Value | None, array: Any) -> Any:
            known = saved.get(id(array))
            return array if known is None else known[1][:, place].reshape(array.shape)

        arrived: dict[Value, Any] = {}
        found: dict[Value, Any] = {}
        for number, passage in enumerate(self._passages):
            node = passage.node
            if number == 0:
                arrived[node, 0] = np.ones(np.shape(passage.arrived[0]))
            given = [arrived.pop((node, k), None) for k in range(len(passage.arrived))]
            if passage.is_leaf:
                found[node, 0] = given[0]
                continue
            if not passage.ran or all(each is None for each in given):
                continue
            try:
                results = run_rule(stand_in(node, numbers, np.dtype(np.float64)), given)
                results = [None if r is None else np.asarray(r, np.float64) for r in results]
            except Exception:
                return None  # a rule of somebody's own that keeps symbols elsewhere
            for result, (target, output_nr) in zip(results, node.next_functions, strict=False):
                if result is not None and target is not None:
                    before = arrived.get((target, output_nr))
                    arrived[target, output_nr] = result if before is None else before + result
        return found

    def _on_formulas(self, row: Any) -> dict[Value, Any]:
        """Compute the gradients by their formulas, where a rule keeps more than tensors."""
        if not self._formulas:
            for value, gradient in self._gradients.items():
                needs = list(needs_of(gradient))
                flat = list(entries(gradient).flat)
                self._formulas[value] = (
                    compiled([*flat, *(n.of for n in needs)], self.symbols), needs, len(flat),
                )  # fmt: skip
        found = {}
        for value, (compute, needs, size) in self._formulas.items():
            numbers = compute(row[None])[:, 0]
            for need, number in zip(needs, numbers[size:], strict=True):
                if not _holds(need, number):
                    numbers[:size] = np.nan
            found[value] = numbers[:size].reshape(np.shape(self._gradients[value]))
        return found

    def _along(self, found: Mapping[Value, Any], direction: Any) -> tuple[float, float]:
        moves = dict(zip(self.symbols, direction, strict=True))
        along = size = 0.0
        for value in self._gradients:
            got = found.get(value)
            if got is None:
                continue
            steps = np.array([moves[each] for each in self._entries_of(value)])
            along += float((got.reshape(-1) * steps).sum())
            size += float(np.abs(got.reshape(-1) * steps).sum())
        return along, size

    def _refute(self, row: Any, found: Mapping[Value, Any], names: Mapping[Value, str]) -> None:
        """Find the entry that is wrong at a point.

        Raises:
            Refuted: If there is one.
        """
        values = {s: sympy.Rational(str(float(v))) for s, v in zip(self.symbols, row, strict=True)}
        for value, gradient in self._gradients.items():
            got = found.get(value)
            flat = np.zeros(entries(gradient).size) if got is None else got.reshape(-1)
            for place, symbol in enumerate(self._entries_of(value)):
                direction = np.array([float(each == symbol) for each in self.symbols])
                point = Points(self.symbols, row[None], np.zeros(1, int), np.zeros(1, int))
                slope, error = (each[0] for each in self._slopes(point, direction[None]))
                off = abs(flat[place] - slope)
                if off <= _FAR_OFF * max(1, abs(slope)) + 20 * error or np.isnan(slope):
                    continue
                formula = entries(gradient).flat[place]
                entry = np.unravel_index(place, np.shape(gradient)) if len(flat) > 1 else ()
                index = tuple(map(int, entry))
                raise Refuted(index, formula, formula, values, f"the gradient of {names[value]}",
                              "", (float(flat[place]), float(slope)))  # fmt: skip
