"""Lay out the pages: a derivation in formulas, and an explanation with the numbers beside them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import sympy

from minigrad.autograd.messages import forward_name
from minigrad.symbolic import writing
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.chain_rule import VJP, ChainRule, HookEffects, Step
from minigrad.symbolic.hook_effects import HookEffect
from minigrad.symbolic.passes import Value, passes_on, source_of
from minigrad.symbolic.writing import Row, Section, Written, applied, named, partial

LONG = 100  # letters in a formula that is still written out


@functools.lru_cache(maxsize=5_000)
def tidy(expr: Any) -> Any:
    """Give a formula as one would write it: with common factors in front."""
    if not expr.is_Add or expr.count_ops() > LONG:
        return expr
    return min(expr, sympy.factor_terms(expr), key=lambda e: (e.count_ops(), len(str(e))))


@functools.lru_cache(maxsize=5_000)
def is_short(expr: Any) -> bool:
    """Tell whether a formula is short enough to be written out."""
    return bool(expr.count_ops() <= LONG and len(str(expr)) <= LONG)


class Layout:
    """Writes the parts of which the pages of a derivation and of an explanation are made.

    Args:
        chain: The backward pass.
        digits: How many decimals are shown.

    Attributes:
        order: The places, in the order in which they are written.
    """

    def __init__(self, chain: ChainRule, digits: int = 6) -> None:
        self.chain, self.order, self.places = chain, chain.in_order(), chain.places
        self.names, self.root, self.loss = self.places.names, self.places.root, self.places.loss
        self.writer = writing.Writer(digits)

    def acted(self, effects: HookEffects, written: Written) -> Written:
        """Write hooks in front of what they acted on: as a factor, or as a function."""
        for effect in effects:
            if effect.factor is None:
                written = applied(effect.name, written)
            else:
                written = writing.product([self.writer.formula(effect.factor), written])
        return written

    def hooks_in(self, step: Step) -> str:
        """Name the hooks in a line."""
        remarks = []
        for effect in step.all_effects():
            number = effect.factor is not None
            factor = f"{self.writer.formula(effect.factor).text}: " if number else ""
            remarks.append(f"{factor}{effect.kind} {effect.name}")
        return ", ".join(remarks)

    def silences(self) -> Sequence[str]:
        """Say which leaves got no gradient, and which rules and hooks gave None."""
        chain, called = self.chain, self.places.called
        hooks = ", ".join(chain.hooks_with_none)
        by = f": {hooks} gave None" if hooks else ""
        ended = [f"{node.name()} sends no gradient to {called(v)}" for node, v in chain.stopped]
        return [
            *(f"{each}: its rule gave None for it" for each in ended),
            *(f"no gradient came to {called(value)}{by}" for value in chain.without_gradient),
        ]


def _by_name(effect: HookEffect, gradient: Any) -> Any:
    """Let a hook that is no factor stand in formulas by its name."""
    if effect.factor is not None:
        return effect.apply(gradient)
    function = sympy.Function(effect.name, real=True)
    return SymbolicArray(function(gradient.item())).reshape(gradient.shape)


class DerivationLayout(Layout):
    """Writes a derivation."""

    def sections(self) -> list[Section]:
        """Lay out a derivation in sections."""
        self.totals = self.chain.composed(apply=_by_name)
        return [
            Section("Forward", self._forward()),
            Section("Backward", self._backward()),
            Section("Hooks", self._hooks()),
            Section("According to the chain rule", self._chain(), self.silences()),
        ]

    def _forward(self) -> Iterator[Row]:
        """Write each place through those before it."""
        for value in reversed(self.order):
            definition = self.places.definition(value) if value[0].next_functions else None
            if definition is not None and is_short(definition.item()):
                yield Row(named(self.names[value]), [self.writer.formula(tidy(definition.item()))])

    def _backward(self) -> Iterator[Row]:
        """Write the local derivatives."""
        for later in self.order:
            for value in self.order:
                step = self.chain.gradients[value]
                if later == self.root and not self._only_local(step):
                    continue  # the chain rule writes it out: dL/dy alone would not be all of it
                for place, vjp in step.all_vjps():
                    if place == later and vjp.formula is not None:
                        formula = tidy(vjp.formula.item())
                        short = is_short(formula)
                        right = self.writer.formula(formula) if short else _nodes(vjp)
                        remark = "" if short else "too long to be written out"
                        yield Row(partial(self.names[later], self.names[value]), [right], remark)

    def _only_local(self, step: Step) -> bool:
        """Tell whether a gradient is nothing but a local derivative of the loss."""
        return not step.hooked and list(step.vjps) == [self.root]

    def _hooks(self) -> Iterator[Row]:
        """Write the functions that hooks are, where they are more than factors."""
        for effect in {e.name: e for e in self.chain.effects if e.function is not None}.values():
            left = applied(effect.name, self.writer.formula(effect.entry))
            yield Row(left, [self.writer.formula(effect.cases)], effect.kind)

    def _chain(self) -> Iterator[Row]:
        """Write how the local derivatives multiply: dL/dy * dy/ds."""
        for value in self.order:
            step, total = self.chain.gradients[value], self.totals[value]
            if value == self.root or self._only_local(step):
                continue
            expand = bool(value[0].next_functions) and sum(1 for _ in step.all_vjps()) == 1
            one = functools.partial(self._contribution, self.names[value], expand)
            right = [step.combined(one, self.acted, writing.total)]
            if total is not None and is_short(tidy(total.item())):
                right.append(self.writer.formula(tidy(total.item())))
            yield Row(partial(self.loss, self.names[value]), right, self.hooks_in(step))

    def _contribution(self, name: str, expand: bool, place: Value, vjp: VJP) -> Written:
        """Write a contribution to a gradient."""
        if place == self.root and vjp.formula is not None:
            return self.writer.formula(tidy(vjp.formula.item()))
        return writing.product([*self._leading(place, expand), partial(self.names[place], name)])

    def _leading(self, place: Value, expand: bool) -> list[Written]:
        """Write the gradient of a place: as such, or as the product that it is."""
        if place == self.root:
            return []
        step = self.chain.gradients[place]
        whole = [partial(self.loss, self.names[place])]
        if not expand or step.hooked or len(step.vjps) != 1 or self.root in step.vjps:
            return whole
        (before,) = step.vjps
        leading = self._leading(before, expand)
        return whole if len(leading) > 2 else [
            *leading, partial(self.names[before], self.names[place])
        ]  # fmt: skip


def _nodes(vjp: VJP) -> Written:
    """Name the nodes that a gradient came through, but for those that only pass entries on."""
    named_nodes = [node for node in vjp.nodes if not passes_on(node)] or vjp.nodes
    nodes = ", ".join(dict.fromkeys(node.name() for node in named_nodes))
    return Written(nodes, rf"\text{{{nodes}}}")


class NumbersLayout(Layout):
    """Writes an explanation: each value and each gradient as formula, numbers put in, and result.

    Args:
        chain: The backward pass.
        digits: How many decimals are shown.
    """

    def __init__(self, chain: ChainRule, digits: int) -> None:
        super().__init__(chain, digits)
        self.gradients = chain.engine
        self.values = {value: self.places.array(value) for value in self.order}
        pairs = [
            (self.places.symbol(value).item(), array)
            for value, array in self.values.items()
            if array is not None
        ]
        pairs += [
            (sympy.Symbol(name, real=True), array) for name, array in self.places.used_constants()
        ]
        self.known = {symbol: sympy.Float(float(array.item()), 20) for symbol, array in pairs}

    def sections(self) -> list[Section]:
        """Lay out forward and backward."""
        return [
            Section("Forward", self._forward()),
            Section("Backward", self._backward(), self.silences()),
        ]

    def _forward(self) -> Iterator[Row]:
        """Write each value: formula, numbers put in, result."""
        leaves = [value for value in self.order if not value[0].next_functions]
        given = self.places.used_constants()
        given += [(self.names[value], self.places.known[value]) for value in leaves]
        for value in self.chain.without_gradient:
            given.append((self.places.called(value), value[0].variable._array))
        for name, array in given:
            yield Row(named(name), [self.writer.number(array.item())])
        for value in reversed(self.order):
            if value[0].next_functions:
                array, definition = self.values[value], self.places.definition(value)
                formula = None if definition is None else tidy(definition.item())
                if formula is None or not is_short(formula):
                    right = [self._call_of(value)]
                else:
                    right = [self.writer.formula(formula)]
                    right += [] if formula.is_Symbol else self._put_in(formula)
                right += [] if array is None else [self.writer.number(array.item())]
                yield Row(named(self.names[value]), right)

    def _call_of(self, value: Value) -> Written:
        """Write a value as its operation, applied to what is known of it: `Addmm(b_0, w_0)`."""
        operands = []
        for node, output_nr in value[0].next_functions:
            source = None if node is None else (node, output_nr)
            while source is not None and source not in self.names and passes_on(source[0]):
                source = source_of(source)
            if source is not None:
                known = source in self.names
                operands.append(named(self.names[source]) if known else self._call_of(source))
        texts, formulas = ", ".join(o.text for o in operands), ", ".join(o.latex for o in operands)
        return applied(forward_name(value[0]).rpartition("::")[2], Written(texts, formulas))

    def _backward(self) -> Iterator[Row]:
        """Write each gradient: formula, numbers put in, result."""
        for value in self.order:
            step = self.chain.gradients[value]
            if value != self.root or step.hooked:
                formula = functools.partial(self._formula, self.names[value])
                right = [
                    step.combined(formula, self.acted, writing.total),
                    step.combined(self._number, self._acted_on_number, writing.total),
                ]
                right = [each for each in right if each]
                right.append(self.writer.number(self.gradients[value].item()))
                yield Row(partial(self.loss, self.names[value]), right, self.hooks_in(step))

    def _formula(self, name: str, place: Value, vjp: VJP) -> Written:
        formula = None if vjp.formula is None else tidy(vjp.formula.item())
        if formula is not None and is_short(formula):
            last = self.writer.formula(formula)
        else:
            last = partial(self.names[place], name)
        if place == self.root:
            return last
        return writing.product([partial(self.loss, self.names[place]), last])

    def _number(self, place: Value, vjp: VJP) -> Written | None:
        formula = None if vjp.formula is None else tidy(vjp.formula.item())
        if formula is not None and is_short(formula) and place == self.root:
            return next(iter(self._put_in(formula)), None)
        if vjp.number is None:
            return None
        local = self.writer.number(vjp.number.item())
        if place == self.root:
            return local
        return writing.numbers_product([self.writer.number(self.gradients[place].item()), local])

    def _put_in(self, formula: Any) -> list[Written]:
        if formula.free_symbols - self.known.keys():
            return []
        return [self.writer.with_numbers(formula, self.known)]

    def _acted_on_number(self, effects: HookEffects, number: Written) -> Written:
        for effect in effects:
            if effect.factor is not None:
                first = self.writer.number(effect.factor)
                number = writing.numbers_product([first, _first_in_brackets(number)])
            else:
                number = applied(effect.name, number)
        return number


def _first_in_brackets(number: Written) -> Written:
    """Put the first of the numbers that are multiplied in brackets if it is negative."""
    if not number.text.startswith("-"):
        return number
    texts = [text.partition(" ") for text in (number.text, number.latex)]
    text, latex = (f"({first}){space}{rest}" for first, space, rest in texts)
    return Written(text, latex, number.binding)
