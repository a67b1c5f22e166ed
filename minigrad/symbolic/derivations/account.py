"""Retell a backward pass place by place: each gradient as a sum of what came from later places."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from minigrad.core.engine import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor
from minigrad.symbolic.array import SymbolicArray, entries, symbolic, vector_of
from minigrad.symbolic.derivations import hooks, nodes
from minigrad.symbolic.derivations.hooks import HookEffect, kind_of, name_of
from minigrad.symbolic.derivations.nodes import Passage, TooLarge, Value, passes_on, value_of
from minigrad.symbolic.derivations.places import Places, symbol_names, unused

HookEffects = tuple[HookEffect, ...]


@dataclass
class VJP:
    """What one later place contributes to a gradient.

    Attributes:
        formula: The contribution as an array of formulas, or None. If the later place has a
            single entry, for 1 as its gradient, so this is the derivative. Else for symbols.
        number: The same as numbers, for 1; None on symbols, or if the place has several entries.
        nodes: The nodes on the way.
    """

    formula: Any
    number: Any
    nodes: tuple[Node, ...]

    def __add__(self, other: VJP) -> VJP:
        return VJP(
            _sum(self.formula, other.formula),
            _sum(self.number, other.number),
            tuple(dict.fromkeys(self.nodes + other.nodes)),
        )


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


@dataclass
class Step:
    """A gradient, told as a sum of contributions; hooks may have acted on a part of them.

    Attributes:
        vjps: For each later place what it contributes.
        hooked: Parts of the sum on which hooks acted, each with their effects.
    """

    vjps: dict[Value, VJP] = field(default_factory=dict)
    hooked: list[tuple[HookEffects, Step]] = field(default_factory=list)

    def add(self, other: Step) -> None:
        """Add another sum to this one."""
        for place, vjp in other.vjps.items():
            self.vjps[place] = self.vjps[place] + vjp if place in self.vjps else vjp
        self.hooked += other.hooked

    def under(self, effects: HookEffects) -> Step:
        """Give what is left of this sum once hooks have acted on it."""
        return Step({}, [(effects, self)]) if effects else self

    def all_vjps(self) -> Iterator[tuple[Value, VJP]]:
        """Yield all contributions, those under hooks included."""
        yield from self.vjps.items()
        for _, told in self.hooked:
            yield from told.all_vjps()

    def all_effects(self) -> Iterator[HookEffect]:
        """Yield what hooks did to parts of it, the last first."""
        for effects, told in self.hooked:
            yield from effects
            yield from told.all_effects()

    def combined(
        self,
        contribution: Callable[[Value, VJP], Any],
        acted: Callable[[HookEffects, Any], Any],
        added: Callable[[list[Any]], Any],
    ) -> Any:
        """Combine what a function makes of each contribution; None if it makes None of one.

        Args:
            contribution: Gets a later place and what it contributes.
            acted: Gets what hooks did, and the combination that they acted on.
            added: Combines a list.
        """
        parts = [contribution(place, vjp) for place, vjp in self.vjps.items()]
        for effects, told in self.hooked:
            part = told.combined(contribution, acted, added)
            parts.append(None if part is None else acted(effects, part))
        return added(parts) if parts and all(part is not None for part in parts) else None


class Account:
    """One backward pass, run and retold.

    Args:
        loss: A tensor with one entry.
        names: (name, tensor) pairs.
        limit: The most entries of which symbols are made.

    Raises:
        RuntimeError: If a hook took the gradient of the loss itself away.

    Attributes:
        places: The places.
        gradients: For each place, the latest first, its gradient as it is told.
        cotangents: For each place but the root the symbols of its gradient, if it is not too large.
        hooks_with_none: The hooks that gave None in the place of a gradient.
        stopped: Nodes whose rule gave None, each with the value that got no gradient of it.
        without_gradient: The leaves to which no gradient came.
        passages: What happened at each node.
        engine: For each value the gradient that the engine had when all hooks there had fired.
        effects: What hooks did, in the order in which the gradients were told apart.
    """

    def __init__(self, loss: Tensor, names: Sequence[tuple[str, Any]], limit: float) -> None:
        self.on_symbols = isinstance(loss._array, SymbolicArray)
        self.passages = nodes.run_recorded(loss)
        self.hooks_with_none = [
            f"{kind_of(hook)} {name_of(hook)}"
            for behind in (False, True)
            for passage in self.passages
            for _, fired, came, left in passage.changes(behind)
            for hook in (fired if came is not None and left is None else ())
            if isinstance(hook.returned, tuple) and any(each is None for each in hook.returned)
        ]
        self.engine: dict[Value, Any] = {
            (passage.node, output_nr): gradient
            for passage in self.passages
            for output_nr, gradient in enumerate(passage.given)
            if gradient is not None
        }
        met = symbol_names(loss, self.passages) if self.on_symbols else set()
        entry = unused("ghuq", {*met, *(name for name, _ in names)})
        # by the node, the number of its output, or of its input behind the rule, and which it is
        self._effects = hooks.told_apart(
            {
                (passage.node, number, behind): hooks.effects_of(fired, came, left, number, entry)
                for behind in (False, True)
                for passage in self.passages
                for number, fired, came, left in passage.changes(behind)
            }
        )
        self.effects = [effect for effects in self._effects.values() for effect in effects]
        forced = self._hooked_values({value_of(tensor) for _, tensor in names})
        self.places = Places(loss, self.passages, names, self.on_symbols, limit, forced, met)
        self.gradients: dict[Value, Step] = {}
        self.cotangents: dict[Value, Any] = {}
        self._stand_ins: dict[Node, Node] = {}
        self._retell()
        if self.places.root not in self.gradients:
            raise RuntimeError("a hook gave None for the gradient of the loss: nothing to be told")
        self.stopped = [
            (passage.node, (source, output_nr))
            for passage in self.passages
            if any(each is not None for each in passage.given)
            for (source, output_nr), found in zip(
                passage.node.next_functions, passage.computed, strict=False
            )
            if source is not None and found is None
        ]
        leaves = map(value_of, nodes.leaves_of(loss))
        self.without_gradient = [v for v in leaves if v and v not in self.gradients]

    def hooks_that_changed(self) -> tuple[str, ...]:
        """Name the hooks that changed a gradient, or took it away."""
        names = [f"{effect.kind} {effect.name}" for effect in self.effects]
        return tuple(dict.fromkeys(names + self.hooks_with_none))

    def _hooked_values(self, named: Container[Value | None]) -> set[Value]:
        """Find the values at which hooks acted: they have to be places."""
        acted = [
            node.next_functions[number] if behind else (node, number)
            for (node, number, behind), effects in self._effects.items()
            if effects
        ]
        found = set()
        for value in acted:
            # a single entry that is only passed on is told of where it comes from
            while (
                value not in named
                and passes_on(value[0])
                and value in self.engine
                and self.engine[value].size == 1
                and (source := nodes.source_of(value)) is not None
            ):
                value = source
            if type(value[0]) is not AccumulateGrad:
                found.add(value)
        return found

    # ------------------------------------------------------------------ the pass

    def _retell(self) -> None:
        arrivals: dict[Value, Step] = {self.places.root: Step()}
        for passage in self.passages:
            node = passage.node
            told: list[Step | None] = []
            for output_nr, given in enumerate(passage.given):
                value = (node, output_nr)
                sums = arrivals.pop(value, None)
                if given is None and passage.arrived[output_nr] is not None:
                    sums = None  # a hook took it away
                if sums is not None:
                    sums = sums.under(self._effects[*value, False])
                    if value in self.places.names:
                        self.gradients[value] = sums
                        sums = Step({value: self._start(value)})
                told.append(sums)
            if passage.is_leaf or not passage.ran:
                continue
            for input_nr, part in enumerate(self._through(passage, told)):
                target, output_nr = node.next_functions[input_nr]
                if part is not None and target is not None and passage.sent[input_nr] is not None:
                    part = part.under(self._effects[node, input_nr, True])
                    arrivals.setdefault((target, output_nr), Step()).add(part)

    def _start(self, value: Value) -> VJP:
        """Begin at a place: with 1 if it has one entry, else with symbols for its gradient."""
        places, shape = self.places, self.places.shape[value]
        size = math.prod(shape)
        if size > places.limit:
            return VJP(None, None, ())
        if value != places.root:
            names = [f"d{places.loss}/d{name}" for name in places.entry_names(value)]
            found = vector_of(sympy.Symbol(name, real=True) for name in names)
            self.cotangents[value] = symbolic(found.reshape(shape))
        if size > 1:
            return VJP(self.cotangents[value], None, ())
        number = None if self.on_symbols else np.ones(shape, self.engine[value].dtype)
        return VJP(_one(shape), number, ())

    def _through(self, passage: Passage, told: list[Step | None]) -> list[Step | None]:
        """Lead what is told of a node's outputs through its rule, for each place by itself."""
        results = [Step() for _ in passage.node.next_functions]
        for place in dict.fromkeys(place for each in told if each for place in each.vjps):
            vjps = [None if each is None else each.vjps.get(place) for each in told]
            for result, vjp in zip(results, self._vjps_through(passage, vjps), strict=True):
                if vjp is not None:
                    result.add(Step({place: vjp}))
        for output_nr, each in enumerate(told):
            for effects, hooked in [] if each is None else each.hooked:
                inside = [hooked if number == output_nr else None for number in range(len(told))]
                for result, deeper in zip(results, self._through(passage, inside), strict=True):
                    if deeper is not None:
                        result.add(deeper.under(effects))
        return [result if result.vjps or result.hooked else None for result in results]

    def _vjps_through(self, passage: Passage, vjps: list[VJP | None]) -> list[VJP | None]:
        node, some = passage.node, [vjp for vjp in vjps if vjp]
        way = tuple(dict.fromkeys([*(n for vjp in some for n in vjp.nodes), node]))
        formulas, numbers = None, [None] * len(node.next_functions)
        if all(vjp.formula is not None for vjp in some):
            formulas = self._formulas(node, [p and p.formula for p in vjps])
        if any(vjp.number is not None for vjp in some):
            numbers = nodes.run_rule(node, [None if p is None else p.number for p in vjps])

        def part(input_nr: int) -> VJP | None:
            formula, number = formulas and formulas[input_nr], numbers[input_nr]
            nothing = formulas is not None and formula is None and number is None
            stopped = passage.sent[input_nr] is None and passage.computed[input_nr] is None
            beside = passes_on(node) and node._multiple and vjps[input_nr] is None
            # if nothing comes from there to here
            return None if nothing or stopped or beside else VJP(formula, number, way)

        return [part(input_nr) for input_nr in range(len(node.next_functions))]

    def _formulas(self, node: Node, gradients: list[Any]) -> list[Any] | None:
        """Run a node's rule on symbols; None if these can't go through it, or become too many."""
        try:
            if node not in self._stand_ins:
                self._stand_ins[node] = nodes.stand_in(node, self.places.stand_ins)
            results = nodes.run_rule(self._stand_ins[node], gradients)
        except TooLarge:
            return None
        except Exception:  # a rule of somebody's own: it runs in the symbols of the leaves, if any
            return nodes.run_rule(node, gradients) if self.on_symbols else None
        if any(result is not None and result.size > self.places.limit for result in results):
            return None
        return [result if result is None else symbolic(entries(result)) for result in results]

    # ------------------------------------------------------------------ putting together

    def composed(self, **ways: Callable[..., Any]) -> dict[Value, Any]:
        """Multiply the told steps: the gradient of each place as an array of formulas, or None.

        Args:
            **ways: As `gradient` takes them.
        """
        totals: dict[Value, Any] = {}
        for value in self.gradients:
            totals[value] = self.gradient(value, totals, **ways)
        return totals

    def gradient(
        self,
        value: Value,
        later: Mapping[Value, Any],
        inside: Callable[[Any], Any] = lambda formula: formula,
        applied: Callable[[HookEffect, Any], Any] = HookEffect.apply,
    ) -> Any:
        """Give the gradient of a place as an array of formulas; None if a step has none.

        Args:
            value: The place.
            later: The gradients of later places; that of the loss is 1 if it is not there.
            inside: What is done to the local formulas first, such as putting in for places.
            applied: What a hook does to a gradient.
        """
        told, shape = self.gradients[value], self.places.shape[value]

        def contribution(place: Value, vjp: VJP) -> Any:
            gradient = later.get(place, _one(()) if place == self.places.root else None)
            if vjp.formula is None or gradient is None:
                return None
            formula = inside(vjp.formula)
            if self.places.is_single(place):
                return formula * gradient.reshape(())
            given = dict(zip(self.cotangents[place].flat, entries(gradient).flat, strict=True))
            put_in = vector_of(hooks.replaced(entries(formula).flat, given))
            return symbolic(put_in.reshape(formula.shape))

        def acted(effects: HookEffects, found: Any) -> Any:
            for effect in effects:
                # a single entry may have been in another shape where the hook saw it
                found = applied(effect, found.reshape(np.shape(effect.before))).reshape(shape)
            return found

        if value == self.places.root:
            return acted(tuple(told.all_effects()), _one(shape))
        return told.combined(contribution, acted, lambda arrays: sum(arrays[1:], arrays[0]))

    # ------------------------------------------------------------------ the order of reading

    def in_order(self) -> list[Value]:
        """List the places: inner ones from the loss backward, then leaves."""

        def position(value: Value) -> tuple[Any, ...]:
            if value[0].next_functions or value == self.places.root:
                return False, -value[0]._sequence_nr(), value[1]
            return True, *self.places.first_use(value[0])

        return sorted(self.gradients, key=position)


def _one(shape: tuple[int, ...]) -> Any:
    return symbolic(vector_of([sympy.Integer(1)]).reshape(shape))
