"""Follow a backward pass place by place: each gradient as a sum of what came from later places."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from minigrad.core.engine import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor
from minigrad.symbolic import hook_effects, passes
from minigrad.symbolic.array import SymbolicArray, entries, symbolic
from minigrad.symbolic.hook_effects import HookEffect, kind_of, name_of
from minigrad.symbolic.passes import Passage, Value, passes_on, value_of
from minigrad.symbolic.places import Places, symbol_names, unused

HookEffects = tuple[HookEffect, ...]


@dataclass
class VJP:
    """What one later place contributes to a gradient, for 1 as its own: a derivative.

    Attributes:
        formula: The derivative as an array of one formula; None if a rule has none.
        number: The same as a number; None on symbols.
        nodes: The nodes on the way.
    """

    formula: Any
    number: Any
    nodes: tuple[Node, ...]

    def __add__(self, other: VJP) -> VJP:
        def total(one: Any, other: Any) -> Any:
            return None if one is None or other is None else one + other

        return VJP(
            total(self.formula, other.formula),
            total(self.number, other.number),
            tuple(dict.fromkeys(self.nodes + other.nodes)),
        )


@dataclass
class Step:
    """A gradient as a sum of contributions; hooks may have acted on a part of them.

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
        for _, step in self.hooked:
            yield from step.all_vjps()

    def all_effects(self) -> Iterator[HookEffect]:
        """Yield what hooks did to parts of it, the last first."""
        for effects, step in self.hooked:
            yield from effects
            yield from step.all_effects()

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
        for effects, step in self.hooked:
            part = step.combined(contribution, acted, added)
            parts.append(None if part is None else acted(effects, part))
        return added(parts) if parts and all(part is not None for part in parts) else None


class ChainRule:
    """One backward pass, run and written in steps.

    Args:
        loss: A tensor with one entry.
        names: (name, tensor) pairs.

    Raises:
        ValueError: If a tensor has several entries.
        RuntimeError: If a hook took the gradient of the loss itself away.

    Attributes:
        places: The places.
        gradients: For each place, the latest first, its gradient as a sum of contributions.
        hooks_with_none: The hooks that gave None instead of a gradient.
        stopped: Nodes whose rule gave None, each with the value that got no gradient of it.
        without_gradient: The leaves to which no gradient came.
        passages: What happened at each node.
        engine: For each value the gradient that the engine had when all hooks there had fired.
        effects: What hooks did.
    """

    def __init__(self, loss: Tensor, names: Sequence[tuple[str, Any]]) -> None:
        self.on_symbols = isinstance(loss._array, SymbolicArray)
        self.passages = passes.run_recorded(loss)
        for passage in self.passages:
            for gradient in passage.arrived:
                if gradient is not None and gradient.size != 1:
                    raise ValueError(
                        "derive() and explain() follow single numbers, and here is a tensor of "
                        f"shape {gradient.shape}. Look at its gradient with formula(), and prove "
                        "it with prove(), or with equal() and derivative()."
                    )
        changes = [
            (passage, after, *change)
            for after in (False, True)
            for passage in self.passages
            for change in passage.changes(after)
        ]
        self.hooks_with_none = [
            f"{kind_of(hook)} {name_of(hook)}"
            for _, _, _, fired, came, left in changes
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
        # by the node, the number of its output, or of its input after the rule, and which it is
        self._effects = hook_effects.numbered(
            {
                (passage.node, number, after): hook_effects.effects_of(
                    fired, came, left, number, entry
                )
                for passage, after, number, fired, came, left in changes
            }
        )
        self.effects = [effect for effects in self._effects.values() for effect in effects]
        forced = self._hooked_values({value_of(tensor) for _, tensor in names})
        self.places = Places(loss, self.passages, names, self.on_symbols, forced, met)
        self.gradients: dict[Value, Step] = {}
        self._stand_ins: dict[Node, Node] = {}
        self._follow()
        if self.places.root not in self.gradients:
            raise RuntimeError("a hook gave None for the gradient of the loss: nothing is left")
        self.stopped = [
            (passage.node, (source, output_nr))
            for passage in self.passages
            if any(each is not None for each in passage.given)
            for (source, output_nr), found in zip(
                passage.node.next_functions, passage.computed, strict=False
            )
            if source is not None and found is None
        ]
        leaves = map(value_of, passes.leaves_of(loss))
        self.without_gradient = [v for v in leaves if v and v not in self.gradients]

    def hooks_that_changed(self) -> tuple[str, ...]:
        """Name the hooks that changed a gradient, or took it away."""
        names = [f"{effect.kind} {effect.name}" for effect in self.effects]
        return tuple(dict.fromkeys(names + self.hooks_with_none))

    def _hooked_values(self, named: Container[Value | None]) -> set[Value]:
        """Find the values at which hooks acted: they have to be places."""
        found = set()
        for (node, number, after), effects in self._effects.items():
            value = node.next_functions[number] if after else (node, number)
            # what is only passed on is seen where it comes from
            while (
                effects
                and value not in named
                and passes_on(value[0])
                and value in self.engine
                and (source := passes.source_of(value)) is not None
            ):
                value = source
            if effects and type(value[0]) is not AccumulateGrad:
                found.add(value)
        return found

    def _follow(self) -> None:
        """Lead gradients from place to place, in the order in which the engine went."""
        places = self.places
        arrivals: dict[Value, Step] = {places.root: Step()}
        for passage in self.passages:
            node = passage.node
            sums: list[Step | None] = []
            for output_nr, given in enumerate(passage.given):
                value = (node, output_nr)
                step = arrivals.pop(value, None)
                if given is None and passage.arrived[output_nr] is not None:
                    step = None  # a hook took it away
                if step is not None:
                    step = step.under(self._effects[*value, False])
                    if value in places.names:
                        self.gradients[value] = step
                        shape = places.shape[value]
                        one = None if self.on_symbols else np.ones(shape, given.dtype)
                        step = Step({value: VJP(_one(shape), one, ())})
                sums.append(step)
            if passage.is_leaf or not passage.ran:
                continue
            for input_nr, part in enumerate(self._through(passage, sums)):
                target, output_nr = node.next_functions[input_nr]
                if part is not None and target is not None and passage.sent[input_nr] is not None:
                    part = part.under(self._effects[node, input_nr, True])
                    arrivals.setdefault((target, output_nr), Step()).add(part)

    def _through(self, passage: Passage, sums: list[Step | None]) -> list[Step | None]:
        """Lead the sums at a node's outputs through its rule, for each place by itself."""
        results = [Step() for _ in passage.node.next_functions]
        for place in dict.fromkeys(place for each in sums if each for place in each.vjps):
            vjps = [None if each is None else each.vjps.get(place) for each in sums]
            for result, vjp in zip(results, self._vjps_through(passage, vjps), strict=True):
                if vjp is not None:
                    result.add(Step({place: vjp}))
        for output_nr, each in enumerate(sums):
            for effects, hooked in [] if each is None else each.hooked:
                inside = [hooked if number == output_nr else None for number in range(len(sums))]
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
            numbers = passes.run_rule(node, [None if p is None else p.number for p in vjps])

        def part(input_nr: int) -> VJP | None:
            formula, number = formulas and formulas[input_nr], numbers[input_nr]
            nothing = formulas is not None and formula is None and number is None
            stopped = passage.sent[input_nr] is None and passage.computed[input_nr] is None
            beside = passes_on(node) and node._multiple and vjps[input_nr] is None
            # if nothing comes from there to here
            return None if nothing or stopped or beside else VJP(formula, number, way)

        return [part(input_nr) for input_nr in range(len(node.next_functions))]

    def _formulas(self, node: Node, gradients: list[Any]) -> list[Any] | None:
        """Run a node's rule on symbols; None if these can't go through it."""
        try:
            if node not in self._stand_ins:
                self._stand_ins[node] = passes.stand_in(node, self.places.stand_in)
            results = passes.run_rule(self._stand_ins[node], gradients)
        except Exception:  # a rule of somebody's own: it runs in the symbols of the leaves, if any
            return passes.run_rule(node, gradients) if self.on_symbols else None
        return [result if result is None else symbolic(entries(result)) for result in results]

    # ------------------------------------------------------------------ putting together

    def composed(
        self,
        inside: Callable[[Any], Any] = lambda formula: formula,
        apply: Callable[[HookEffect, Any], Any] = HookEffect.apply,
    ) -> dict[Value, Any]:
        """Multiply the steps: the gradient of each place as an array of formulas, or None.

        Args:
            inside: What is done to the local formulas first, such as putting in for places.
            apply: What a hook does to a gradient.
        """
        totals: dict[Value, Any] = {}
        for value, step in self.gradients.items():
            shape = self.places.shape[value]

            def contribution(place: Value, vjp: VJP) -> Any:
                gradient = totals.get(place)
                if vjp.formula is None or gradient is None:
                    return None
                return inside(vjp.formula) * gradient.reshape(())

            def acted(effects: HookEffects, found: Any, shape: Any = shape) -> Any:
                for effect in effects:
                    found = apply(effect, found.reshape(np.shape(effect.before))).reshape(shape)
                return found

            if value == self.places.root:
                totals[value] = acted(tuple(step.all_effects()), _one(shape))
            else:
                totals[value] = step.combined(contribution, acted, sum)
        return totals

    def in_order(self) -> list[Value]:
        """List the places: inner ones from the loss backward, then leaves."""

        def position(value: Value) -> tuple[Any, ...]:
            if value[0].next_functions or value == self.places.root:
                return False, -value[0]._sequence_nr(), value[1]
            return True, *self.places.first_use(value[0])

        return sorted(self.gradients, key=position)


def _one(shape: tuple[int, ...]) -> Any:
    return SymbolicArray(np.full(shape, sympy.Integer(1)))
