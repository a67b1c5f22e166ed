"""Let formulas stand in for runs on numbers, where symbols come from outside of an operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.evaluation import symbols_in
from minigrad.symbolic.proving.running import Run
from minigrad.symbolic.proving.trial import Trial
from minigrad.symbolic.sampling import compiled, condition_sides, holds
from minigrad.tensor import Tensor

_RELATIONS = {">": sympy.Gt, ">=": sympy.Ge, "!=": sympy.Ne}


class FormulaTrial(Trial):
    """A trial of an operation that closes over symbols, and so cannot run on numbers.

    What its run on symbols gave is computed instead, with NaN where a step needs something that
    is not so.

    Args:
        function: The operation.
        tensors: What it is called with.
        settings: What comes after these.
        wanted: The tensors that are differentiated.
        runs: The runs on symbols, each in its region.
        cotangents: For each output the symbols of its gradient.
        back: Puts back what stands for rounded things in a formula.
    """

    on_formulas = True

    def __init__(
        self,
        function: Callable[..., Any],
        tensors: Sequence[Any],
        settings: Sequence[Any],
        wanted: Sequence[Tensor],
        runs: Sequence[Run],
        cotangents: Sequence[Any],
        back: Callable[[Any], Any],
    ) -> None:
        super().__init__(function, tensors, settings, wanted)
        self._own = [list(entries(array).flat) for array in self._arrays]
        self._shapes = [each.shape for each in cotangents]
        self._ready = [_Ready(run, back) for run in runs]

    def keep_draws(self, arrays: Sequence[Any]) -> None:
        """Do nothing: formulas draw no random numbers."""

    def results(self, arrays: Sequence[Any], values: dict[Any, Any]) -> list[Any] | None:
        """Compute what forward gave."""
        found = self._computed(arrays, values)
        return None if found is None else list(_split(found[0], self._shapes))

    def rule(
        self, arrays: Sequence[Any], cotangents: Sequence[Any], values: dict[Any, Any]
    ) -> list[Any] | None:
        """Compute what backward gave."""
        found = self._computed(arrays, values)
        shapes = [array.shape for array in self._inputs_of(arrays)]
        return None if found is None else list(_split(found[1], shapes))

    def _inputs_of(self, arrays: Sequence[Any]) -> list[Any]:
        return [arrays[place] for place in self.positions()]

    def _computed(self, arrays: Sequence[Any], values: dict[Any, Any]) -> Any:
        now = dict(values)
        for symbols, array in zip(self._own, arrays, strict=True):
            now |= {s: v for s, v in zip(symbols, array.flat, strict=True) if s.is_Symbol}
        for ready in self._ready:
            found = ready.at(now)
            if found is not None:
                return found
        return None


class _Ready:
    """A run on symbols, ready to be computed at points of its region."""

    def __init__(self, run: Run, back: Callable[[Any], Any]) -> None:
        def original(formula: Any) -> Any:
            return back(run.region.original(formula))

        results = [original(each) for each in run.result.flat]
        gradients = [original(each) for array in run.gradients for each in array.flat]
        needs = [(original(n.of), _RELATIONS[n.relation]) for n in run.rule_needs]
        forward = {original(n.of) for n in run.needs}
        where = [condition_sides(back(each)) for each in run.region.conditions]
        formulas = [*results, *gradients, *(f for f, _ in needs), *(f for f, _ in where)]
        self._symbols = sorted(symbols_in(formulas), key=str)
        self._compute = compiled(formulas, self._symbols)
        self._cuts = np.cumsum([0, len(results), len(gradients), len(needs), len(where)])
        self._needs = [(kind, formula in forward) for formula, kind in needs]
        self._where = [kind for _, kind in where]

    def at(self, values: dict[Any, Any]) -> tuple[Any, Any] | None:
        """Give results and gradients at a point; None if it is not in the region."""
        row = np.array([[float(values[symbol]) for symbol in self._symbols]])
        found = self._compute(row)[:, 0]
        results, gradients, needs, where = (found[a:b] for a, b in pairwise(self._cuts))
        if not all(holds(kind, each) for kind, each in zip(self._where, where, strict=True)):
            return None
        for (kind, forward), each in zip(self._needs, needs, strict=True):
            if not (holds(kind, each) or (kind is sympy.Ge and each == 0)):
                gradients[:] = np.nan
                if forward:
                    results[:] = np.nan
        return results, gradients


def _split(flat: Any, shapes: Sequence[tuple[int, ...]]) -> Iterator[Any]:
    start = 0
    for shape in shapes:
        size = int(np.prod(shape, dtype=np.int64))
        yield flat[start : start + size].reshape(shape)
        start += size
