"""Follow a backward pass place by place: gradients as sums, and what hooks made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.function import FunctionNode
from minigrad.autograd.recording import HOOKS, HookFired
from minigrad.core.engine import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor
from minigrad.symbolic import passes
from minigrad.symbolic.array import SymbolicArray, entries, symbolic
from minigrad.symbolic.equality import symbols_in
from minigrad.symbolic.naming import Naming, symbol_names, unused
from minigrad.symbolic.passes import Passage, Value, passes_on, value_of
from minigrad.symbolic.regions import rebuilt

UNNAMED = "hook"  # how a lambda is called
_LONGEST = 60  # operations in a function that is looked at


# ---------------------------------------------------------------------- factors and functions


def _factor_between(old: Any, new: Any) -> Any:
    """Find what a gradient was multiplied by, if nothing else of its symbols is in it; or None."""
    if old == 0 or new == 0:
        return None if new != 0 else sympy.Integer(0)
    inside, ratio = symbols_in([old]), new / old
    (made, rest), (had, same) = new.as_coeff_Mul(), old.as_coeff_Mul()
    if rest == same:
        return made / had
    if symbols_in([ratio]) & inside and ratio.count_ops() < _LONGEST:
        ratio = sympy.cancel(ratio)
    return None if symbols_in([ratio]) & inside else ratio


def _function_between(old: Any, new: Any, entry: Any) -> Any:
    """Write what was made of a gradient as a function of it, g; None if that is not known."""
    inside = symbols_in([old])
    written = rebuilt(new, lambda *unchanged: None, {old: entry} if inside else {})
    if symbols_in([written]) & inside and written.count_ops() <= _LONGEST:
        # SymPy has merged it with something else: solve for a symbol that occurs once
        for symbol in sorted(inside, key=str):
            if (slope := sympy.diff(old, symbol)) != 0 and symbol not in slope.free_symbols:
                root = symbol + (entry - old) / slope
                tried = sympy.simplify(new.subs(symbol, sympy.expand(root)))
                if not tried.free_symbols & inside:
                    return tried
    return None if symbols_in([written]) & inside else written


# ---------------------------------------------------------------------- effects


@dataclass(frozen=True)
class HookEffect:
    """What a hook made of a gradient.

    Attributes:
        name: The hook's name.
        kind: What sort of hook it is, such as "tensor hook" or "full backward hook".
        before: The gradient that came, as an array.
        after: What the hook left.
        factor: What it multiplied by; None if it did something else.
        entry: A symbol for the gradient: `g`, or another name if a formula has that one already.
        function: If it did something else, what it made of this symbol; None if not known.
    """

    name: str
    kind: str
    before: Any
    after: Any
    factor: Any
    entry: Any = None
    function: Any = None

    def apply(self, gradient: Any) -> Any:
        """Do to an array of one formula what the hook did."""
        if self.factor is not None:
            return gradient * self.factor
        if self.function is None:
            return self.after
        made = self.function.subs(self.entry, gradient.item())
        return SymbolicArray(made).reshape(np.shape(self.after))


def effects_of(
    hooks: Sequence[HookFired], before: Any, after: Any, position: int, entry: str
) -> tuple[HookEffect, ...]:
    """Tell what the hooks between two gradients did, one by one where the log shows that.

    Args:
        hooks: The hooks that fired in between.
        before: The gradient that came.
        after: The one that was left.
        position: Which of the gradients this is that the hooks saw.
        entry: What the entries of a gradient are called, where a hook is written as a function.

    Returns:
        The hooks that changed something. None of them if the gradient was left as it was.
    """
    if before is None or after is None or _same(before, after):
        return ()
    acting = [hook for hook in hooks if hook.returned is not None or hook.in_place]
    steps, now = [], before
    for place, hook in enumerate(acting):
        made = _of(hook, hook.returned, position)
        if hook.returned is None:  # it wrote into what it saw, and the next one saw that
            following = acting[place + 1 : place + 2]
            made = _of(following[0], following[0].seen[0], position) if following else after
        if made is None:
            break
        if not _same(now, made):
            steps.append((hook, now, made))
        now = made
    if not steps or not _same(now, after):
        names = ", ".join(dict.fromkeys(map(name_of, acting))) or UNNAMED
        kinds = ", ".join(dict.fromkeys(map(kind_of, acting))) or "hook"
        return (_effect(names, kinds, before, after, entry),)
    return tuple(_effect(name_of(h), kind_of(h), a, b, entry) for h, a, b in steps)


def name_of(hook: HookFired) -> str:
    """Give the name by which formulas speak of a hook."""
    return hook.name if hook.name.isidentifier() else UNNAMED


def kind_of(hook: HookFired) -> str:
    """Say what sort of hook it is."""
    return HOOKS.get(hook.kind, hook.kind)


def _of(hook: HookFired, held: Any, position: int) -> Any:
    """Give one gradient of those that a hook saw or returned; None if it is not clear which."""
    if hook.kind == "tensor pre-hook":
        return None if held is None else held._array
    listed = held if isinstance(held, tuple) else (held,)
    if not hook.seen or not isinstance(hook.seen[0], tuple) or len(listed) != len(hook.seen[0]):
        return None
    given = [k for k, each in enumerate(hook.seen[0]) if each is not None]
    place = position if len(given) == len(listed) else given[0] if len(given) == 1 else None
    if place is None or place >= len(listed) or listed[place] is None:
        return None
    return listed[place]._array


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, SymbolicArray) or isinstance(other, SymbolicArray):
        return bool(entries(one).tolist() == entries(other).tolist())
    return bool(np.array_equal(one, other, equal_nan=True))


def _effect(name: str, kind: str, before: Any, after: Any, letter: str) -> HookEffect:
    if not isinstance(before, SymbolicArray) and not isinstance(after, SymbolicArray):
        return HookEffect(name, kind, before, after, _number_between(before, after))
    old, new = entries(before).item(), entries(after).item()
    factor, entry = _factor_between(old, new), sympy.Symbol(letter, real=True)
    function = _function_between(old, new, entry) if factor is None else None
    return HookEffect(name, kind, before, after, factor, entry, function)


def _number_between(before: Any, after: Any) -> Any:
    """Find the simple number that a number was multiplied by, if that is plain to see."""
    old, new = before.item(), after.item()
    if not new or not old or not math.isfinite(old) or not math.isfinite(new):
        return None if new else sympy.Integer(0)
    near = sympy.Rational(new / old).limit_denominator(100)
    close = 2 * np.finfo(before.dtype).eps * abs(new)
    simple = near.q <= 10 or near.p == 1
    return near if simple and abs(old * before.dtype.type(float(near)) - new) <= close else None


def numbered(table: Mapping[Any, tuple[HookEffect, ...]]) -> dict[Any, tuple[HookEffect, ...]]:
    """Number the hooks that share a name and did different things: hook and hook_2.

    A log has no more of a hook than its name. What made different things of its gradients must be
    different hooks, if it is given as a formula.
    """
    met: dict[str, list[Any]] = {}

    def named(effect: HookEffect) -> HookEffect:
        if effect.name != UNNAMED and effect.function is None:
            return effect
        made = effect.function if effect.factor is None else effect.factor
        known = met.setdefault(effect.name, [])
        if made is None or made not in known:
            known.append(made)
        number = len(known) if made is None else known.index(made) + 1
        return replace(effect, name=f"{effect.name}_{number}") if number > 1 else effect

    return {at: tuple(map(named, effects)) for at, effects in table.items()}


HookEffects = tuple[HookEffect, ...]


@dataclass
class VJP:
    """What one later place contributes to a gradient, for 1 as its own: a derivative.

    Attributes:
        formula: The derivative as an array of one formula; None if a rule has none.
        number: The same as a number; None on symbols.
    """

    formula: Any
    number: Any

    def __add__(self, other: VJP) -> VJP:
        lost = self.formula is None or other.formula is None
        formula = None if lost else self.formula + other.formula
        return VJP(formula, None if self.number is None else self.number + other.number)


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
        went: How the pass went, if it has been run already.

    Raises:
        ValueError: If a tensor has several entries.
        RuntimeError: If a hook took the gradient of the loss itself away.

    Attributes:
        naming: The names and symbols of values.
        gradients: For each place, the latest first, its gradient as a sum of contributions.
        hooks_with_none: The hooks that gave None instead of a gradient.
        without_gradient: The leaves to which no gradient came.
        passages: What happened at each node.
        engine: For each value the gradient that the engine had when all hooks there had fired.
        effects: What hooks did.
    """

    def __init__(
        self, loss: Tensor, names: Sequence[tuple[str, Any]], went: list[Passage] | None = None
    ) -> None:
        self.on_symbols = isinstance(loss._array, SymbolicArray)
        self.passages = passes.run_recorded(loss) if went is None else went
        for passage in self.passages:
            for gradient in passage.arrived:
                if gradient is not None and math.prod(gradient.shape) != 1:
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
        table = {
            (passage.node, number, after): effects_of(fired, came, left, number, entry)
            for passage, after, number, fired, came, left in changes
        }
        self._effects = numbered(table)
        self.effects = [effect for effects in self._effects.values() for effect in effects]
        forced = self._hooked_values({value_of(tensor) for _, tensor in names})
        self.naming = Naming(loss, self.passages, names, self.on_symbols, forced, met)
        self.gradients: dict[Value, Step] = {}
        self._stand_ins: dict[Node, Node] = {}
        self._follow()
        if self.naming.root not in self.gradients:
            raise RuntimeError("a hook gave None for the gradient of the loss: nothing is left")
        leaves = map(value_of, passes.leaves_of(loss))
        self.without_gradient = [v for v in leaves if v and v not in self.gradients]

    def _hooked_values(self, named: Container[Value | None]) -> set[Value]:
        """Find the values at which hooks acted: they need names."""
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
        naming = self.naming
        arrivals: dict[Value, Step] = {naming.root: Step()}
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
                    if value in naming.names:
                        self.gradients[value] = step
                        shape = naming.shape[value]
                        one = None if self.on_symbols else np.ones(shape, given.dtype)
                        step = Step({value: VJP(_one(shape), one)})
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
        targets = passage.node.next_functions
        if passes_on(passage.node):  # of one entry: what comes goes on as it is
            return [sums[number] if number < len(sums) else None for number in range(len(targets))]
        results = [Step() for _ in targets]
        for place in dict.fromkeys(place for each in sums if each for place in each.vjps):
            vjps = [None if each is None else each.vjps.get(place) for each in sums]
            for result, vjp in zip(results, self._vjps_through(passage, vjps), strict=True):
                if vjp is not None:
                    result.add(Step({place: vjp}))
        return [result if result.vjps else None for result in results]

    def _vjps_through(self, passage: Passage, vjps: list[VJP | None]) -> list[VJP | None]:
        node, some = passage.node, [vjp for vjp in vjps if vjp]
        shapes = [np.shape(gradient) for gradient in passage.arrived]
        formulas, numbers = None, [None] * len(node.next_functions)
        if all(vjp.formula is not None for vjp in some):
            given = [p and p.formula.reshape(s) for p, s in zip(vjps, shapes, strict=True)]
            formulas = self._formulas(node, given)
        if any(vjp.number is not None for vjp in some):
            given = [p and p.number.reshape(s) for p, s in zip(vjps, shapes, strict=True)]
            numbers = passes.run_rule(node, given)

        def part(input_nr: int) -> VJP | None:
            formula, number = formulas and formulas[input_nr], numbers[input_nr]
            nothing = formulas is not None and formula is None and number is None
            stopped = passage.sent[input_nr] is None and passage.computed[input_nr] is None
            # if nothing comes from there to here
            return None if nothing or stopped else VJP(formula, number)

        return [part(input_nr) for input_nr in range(len(node.next_functions))]

    def _formulas(self, node: Node, gradients: list[Any]) -> list[Any] | None:
        """Run a node's rule on symbols; None if these can't go through it."""
        if node not in self._stand_ins:
            self._stand_ins[node] = passes.stand_in(node, self.naming.stand_in)
        try:
            results = passes.run_rule(self._stand_ins[node], gradients)
        except Exception:  # a rule of somebody's own: it runs in the symbols of the leaves, if any
            if not isinstance(node, FunctionNode):
                raise
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
            inside: What is done to the local formulas first, such as putting in for named values.
            apply: What a hook does to a gradient.
        """
        totals: dict[Value, Any] = {}
        for value, step in self.gradients.items():
            shape = self.naming.shape[value]

            def contribution(place: Value, vjp: VJP) -> Any:
                gradient = totals.get(place)
                if vjp.formula is None or gradient is None:
                    return None
                return inside(vjp.formula) * gradient.reshape(())

            def acted(effects: HookEffects, found: Any, shape: Any = shape) -> Any:
                for effect in effects:
                    found = apply(effect, found.reshape(np.shape(effect.before))).reshape(shape)
                return found

            if value == self.naming.root:
                totals[value] = acted(tuple(step.all_effects()), _one(shape))
            else:
                totals[value] = step.combined(contribution, acted, sum)
        return totals

    def in_order(self) -> list[Value]:
        """List the named values: inner ones from the loss backward, then leaves."""

        def position(value: Value) -> tuple[Any, ...]:
            if value[0].next_functions or value == self.naming.root:
                return False, -value[0]._sequence_nr(), value[1]
            return True, *self.naming.first_use(value[0])

        return sorted(self.gradients, key=position)


def _one(shape: tuple[int, ...]) -> Any:
    return SymbolicArray(np.full(shape, sympy.Integer(1)))
