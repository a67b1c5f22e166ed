"""Retell a backward pass place by place: each gradient as a sum of what came from later places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from minigrad.core.leaves import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor
from minigrad.symbolic.array import SymbolicArray, entries, symbolic, vector_of
from minigrad.symbolic.derivations.hooks import HookEffect, effects_of, replaced, told_apart
from minigrad.symbolic.derivations.nodes import (
    NotTold,
    Value,
    passes_on,
    run_rule,
    stand_in,
    value_of,
)
from minigrad.symbolic.derivations.passage import Passage, leaves_of, run_recorded, silences
from minigrad.symbolic.derivations.places import Places, symbol_names, unused
from minigrad.symbolic.formulas import entry_names

Effects = tuple[HookEffect, ...]


@dataclass
class Pull:
    """What one later place contributes to a gradient.

    Attributes:
        formula: The contribution as an array of formulas, or None. If the later place has a
            single entry, for 1 as its gradient, so this is the derivative. Else for symbols.
        number: The same as numbers, for 1; None on symbols, or if the place has several entries.
        nodes: The nodes on the way.
        reason: Why there is no formula.
    """

    formula: Any
    number: Any
    nodes: tuple[Node, ...]
    reason: str = ""

    def __add__(self, other: Pull) -> Pull:
        return Pull(
            _sum(self.formula, other.formula),
            _sum(self.number, other.number),
            tuple(dict.fromkeys(self.nodes + other.nodes)),
            self.reason or other.reason,
        )


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


@dataclass
class Told:
    """A gradient, told as a sum of contributions; hooks may have acted on a part of them.

    Attributes:
        pulls: For each later place what it contributes.
        hooked: Parts of the sum on which hooks acted, each with their effects.
    """

    pulls: dict[Value, Pull] = field(default_factory=dict)
    hooked: list[tuple[Effects, Told]] = field(default_factory=list)

    def add(self, other: Told) -> None:
        """Add another sum to this one."""
        for place, pull in other.pulls.items():
            self.pulls[place] = self.pulls[place] + pull if place in self.pulls else pull
        self.hooked += other.hooked

    def under(self, effects: Effects) -> Told:
        """Give what is left of this sum once hooks have acted on it."""
        return Told({}, [(effects, self)]) if effects else self

    def all_pulls(self) -> Iterator[tuple[Value, Pull]]:
        """Yield all contributions, those under hooks included."""
        yield from self.pulls.items()
        for _, told in self.hooked:
            yield from told.all_pulls()


class Account:
    """One backward pass, run and retold.

    Args:
        loss: A tensor with one entry.
        wanted: The tensors whose gradients are asked for.
        names: (name, tensor) pairs.
        limit: The most entries of which symbols are made.

    Raises:
        RuntimeError: If a hook took the gradient of the loss itself away.

    Attributes:
        places: The places.
        gradients: For each place, the latest first, its gradient as it is told.
        silences: Where gradients ended, as a rule or a hook gave None.
        passages: What happened at each node.
        engine: For each value the gradient that the engine had when all hooks there had fired.
    """

    def __init__(
        self,
        loss: Tensor,
        wanted: Sequence[Tensor],
        names: Sequence[tuple[str, Any]],
        limit: float,
    ) -> None:
        self.on_symbols = isinstance(loss._array, SymbolicArray)
        # through the whole graph, also where less is asked for: what is told needs names for all
        self.passages = run_recorded(loss, leaves_of(loss))
        self.engine: dict[Value, Any] = {
            (passage.node, output_nr): gradient
            for passage in self.passages
            for output_nr, gradient in enumerate(passage.given)
            if gradient is not None
        }
        met = symbol_names(loss, self.passages) if self.on_symbols else set()
        self.before: dict[Value, Effects] = {}
        self.behind: dict[Value, Effects] = {}
        self._read_effects(unused("ghuq", {*met, *(name for name, _ in names)}))
        named = [tensor._resolved_edge() for _, tensor in names if tensor.requires_grad]
        forced = self._forced({edge for edge in named if edge is not None})
        asked = [value for value in map(value_of, wanted) if value is not None]
        forced |= {value for value in asked if type(value[0]) is not AccumulateGrad}
        self.places = Places(loss, self.passages, names, self.on_symbols, limit, forced, met)
        self.silences = tuple(silences(self.passages))
        self.gradients: dict[Value, Told] = {}
        self.cotangents: dict[Value, Any] = {}
        self._stand_ins: dict[Node, Node] = {}
        self._retell()
        if self.places.root not in self.gradients:
            raise RuntimeError("a hook gave None for the gradient of the loss: nothing to be told")

    # ------------------------------------------------------------------ hooks

    def _read_effects(self, entry: str) -> None:
        for passage in self.passages:
            pairs = zip(passage.arrived, passage.given, strict=True)
            for output_nr, (arrived, given) in enumerate(pairs):
                hooks = [
                    hook
                    for hook in passage.before
                    if hook.kind != "tensor pre-hook" or hook.output_nr == output_nr
                ]
                self.before[passage.node, output_nr] = effects_of(
                    hooks, arrived, given, output_nr, entry
                )
            pairs = zip(passage.computed, passage.sent, strict=False)
            for input_nr, (computed, sent) in enumerate(pairs):
                self.behind[passage.node, input_nr] = effects_of(
                    passage.after, computed, sent, input_nr, entry
                )
        self.before, self.behind = told_apart([self.before, self.behind])

    def hooks_that_changed(self) -> tuple[str, ...]:
        """Name the hooks that changed a gradient, or took it away."""
        acted = [*self.before.values(), *self.behind.values()]
        names = [f"{effect.kind} {effect.name}" for effects in acted for effect in effects]
        return tuple(dict.fromkeys(names + [each.hook for each in self.silences if each.hook]))

    def _forced(self, named: set[Any]) -> set[Value]:
        """Find the values at which hooks acted: they have to be places."""
        acted = [value for value, effects in self.before.items() if effects]
        for (node, input_nr), effects in self.behind.items():
            target, output_nr = node.next_functions[input_nr]
            if effects and target is not None:
                acted.append((target, output_nr))
        sizes = {
            (passage.node, output_nr): arrived.size
            for passage in self.passages
            for output_nr, arrived in enumerate(passage.arrived)
            if arrived is not None
        }
        forced = set()
        for node, output_nr in acted:
            # a single entry that is only passed on is told of where it comes from
            while (
                (node, output_nr) not in named
                and passes_on(node)
                and sizes.get((node, output_nr)) == 1
                and node.next_functions[output_nr if node._multiple else 0][0] is not None
            ):
                source, output_nr = node.next_functions[output_nr if node._multiple else 0]
                assert source is not None
                node = source
            if type(node) is not AccumulateGrad:
                forced.add((node, output_nr))
        return forced

    # ------------------------------------------------------------------ the pass

    def _retell(self) -> None:
        arrivals: dict[Value, Told] = {self.places.root: Told()}
        for passage in self.passages:
            node = passage.node
            told = []
            for output_nr in range(len(passage.arrived)):
                value = (node, output_nr)
                sums = arrivals.pop(value, None)
                if passage.given[output_nr] is None and passage.arrived[output_nr] is not None:
                    sums = None  # a hook took it away
                if sums is not None:
                    sums = sums.under(self.before[value])
                    if self.places.is_place(value):
                        self.gradients[value] = sums
                        sums = self._start(value)
                told.append(sums)
            if passage.is_leaf or not passage.ran:
                continue
            for input_nr, part in enumerate(self._through(passage, told)):
                target, output_nr = node.next_functions[input_nr]
                if part is None or target is None or passage.sent[input_nr] is None:
                    continue
                part = part.under(self.behind[node, input_nr])
                arrivals.setdefault((target, output_nr), Told()).add(part)

    def _start(self, value: Value) -> Told:
        """Begin at a place: with 1 if it has one entry, else with symbols for its gradient."""
        shape = self.places.shape[value]
        size = int(np.prod(shape, dtype=np.int64))
        if size == 1:
            formula: Any = symbolic(vector_of([sympy.Integer(1)]).reshape(shape))
            number = None
            if not self.on_symbols:
                number = np.ones(shape, self.engine[value].dtype)
            return Told({value: Pull(formula, number, ())})
        if size > self.places.limit:
            reason = f"{self.places.names[value]} has {size} entries, too many for symbols"
            return Told({value: Pull(None, None, (), reason)})
        loss = self.places.names[self.places.root]
        names = [f"d{loss}/d{name}" for name in entry_names(self.places.names[value], shape)]
        found = symbolic(vector_of(sympy.Symbol(n, real=True) for n in names).reshape(shape))
        self.cotangents[value] = found
        return Told({value: Pull(found, None, ())})

    def _through(self, passage: Passage, told: list[Told | None]) -> list[Told | None]:
        """Lead what is told of a node's outputs through its rule, for each place by itself."""
        results = [Told() for _ in passage.node.next_functions]
        sources = dict.fromkeys(place for each in told if each for place in each.pulls)
        for place in sources:
            pulls = [None if each is None else each.pulls.get(place) for each in told]
            for result, part in zip(results, self._pulled(passage, pulls), strict=True):
                if part is not None:
                    result.add(Told({place: part}))
        for output_nr, each in enumerate(told):
            for effects, hooked in [] if each is None else each.hooked:
                inside: list[Told | None] = [None] * len(told)
                inside[output_nr] = hooked
                for result, deeper in zip(results, self._through(passage, inside), strict=True):
                    if deeper is not None:
                        result.add(deeper.under(effects))
        return [result if result.pulls or result.hooked else None for result in results]

    def _pulled(self, passage: Passage, pulls: list[Pull | None]) -> list[Pull | None]:
        node = passage.node
        nodes = (*dict.fromkeys(n for pull in pulls if pull for n in pull.nodes), node)
        reason = next((pull.reason for pull in pulls if pull and pull.reason), "")
        formulas: list[Any] = [None] * len(node.next_functions)
        if not reason:
            formulas, reason = self._formulas(passage, [p and p.formula for p in pulls])
        numbers: list[Any] = [None] * len(node.next_functions)
        if any(pull is not None and pull.number is not None for pull in pulls):
            numbers = run_rule(node, [None if p is None else p.number for p in pulls])
        parts: list[Pull | None] = []
        for input_nr in range(len(node.next_functions)):
            nothing = passage.sent[input_nr] is None and passage.computed[input_nr] is None
            if nothing or (passes_on(node) and node._multiple and pulls[input_nr] is None):
                parts.append(None)
                continue
            formula = formulas[input_nr]
            if formula is None and not reason and numbers[input_nr] is None:
                parts.append(None)  # nothing comes from there to here
                continue
            parts.append(Pull(formula, numbers[input_nr], nodes, reason))
        return parts

    def _formulas(self, passage: Passage, gradients: list[Any]) -> tuple[list[Any], str]:
        node = passage.node
        nothing: list[Any] = [None] * len(node.next_functions)
        try:
            if node not in self._stand_ins:
                self._stand_ins[node] = stand_in(node, self.places.stand_ins)
            return self._limited(run_rule(self._stand_ins[node], gradients), node)
        except NotTold as error:
            return nothing, str(error)
        except Exception as error:
            if not self.on_symbols:  # a rule of somebody's own that symbols can't go through
                return nothing, f"{node.name()} can't run on symbols ({error})"
            return run_rule(node, gradients), ""  # in the symbols of the leaves then

    def _limited(self, results: list[Any], node: Node) -> tuple[list[Any], str]:
        for result in results:
            if result is not None and result.size > self.places.limit:
                told = f"{node.name()} gives {result.size} entries, too many for formulas"
                return [None] * len(results), told
        return [r if r is None else symbolic(entries(r)) for r in results], ""

    # ------------------------------------------------------------------ putting together

    @cached_property
    def totals(self) -> dict[Value, Any]:
        """Give the gradients that the told steps multiply to, in the symbols of places."""
        return self.composed()

    def composed(
        self,
        inside: Callable[[Any], Any] = lambda formula: formula,
        applied: Callable[[HookEffect, Any], Any] = HookEffect.apply,
    ) -> dict[Value, Any]:
        """Multiply the told steps: the gradient of each place as an array of formulas, or None.

        Args:
            inside: What is done to the local formulas first, such as putting in for places.
            applied: What a hook does to a gradient.
        """
        totals: dict[Value, Any] = {}

        def total(told: Told, shape: tuple[int, ...]) -> Any:
            parts = []
            for place, pull in told.pulls.items():
                if pull.formula is None or totals[place] is None:
                    return None
                formula = inside(pull.formula)
                if place in self.cotangents:
                    symbols = self.cotangents[place].flat
                    given = dict(zip(symbols, entries(totals[place]).flat, strict=True))
                    formula = _put_in(formula, given)
                else:
                    formula = formula * totals[place].reshape(())
                parts.append(formula)
            for effects, part in told.hooked:
                found = total(part, shape)
                if found is None:
                    return None
                for effect in effects:
                    # a single entry may have been in another shape where the hook saw it
                    seen = found.reshape(np.shape(effect.before))
                    found = applied(effect, seen).reshape(shape)
                parts.append(found)
            return sum(parts[1:], parts[0]) if parts else None

        for value, told in self.gradients.items():
            shape = self.places.shape[value]
            if value == self.places.root:
                totals[value] = symbolic(vector_of([sympy.Integer(1)]).reshape(shape))
                for effects, _ in told.hooked:
                    for effect in effects:
                        totals[value] = applied(effect, totals[value])
            else:
                totals[value] = total(told, shape)
        return totals


def _put_in(array: Any, given: dict[Any, Any]) -> Any:
    return symbolic(vector_of(replaced(entries(array).flat, given)).reshape(array.shape))
