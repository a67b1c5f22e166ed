"""Lay out the pages: a derivation in formulas, and an explanation with the numbers beside them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.messages import forward_name
from minigrad.symbolic.array import entries, symbolic, vector_of
from minigrad.symbolic.derivations import blackboard
from minigrad.symbolic.derivations.account import VJP, Account, HookEffects, Step
from minigrad.symbolic.derivations.blackboard import Row, Section, Written, applied, named, partial
from minigrad.symbolic.derivations.hooks import HookEffect, is_small
from minigrad.symbolic.derivations.nodes import Value, passes_on, source_of

MOST = 6  # entries of one tensor that are written out
LONG = 100  # letters in a formula that is still written out
PARTS = 150  # of which no formula with more could be that short


@functools.lru_cache(maxsize=5_000)
def tidy(expr: Any) -> Any:
    """Give a formula as one would write it: with common factors in front."""
    if not (expr.is_Add and is_small(expr, PARTS)):
        return expr
    return min(expr, sympy.factor_terms(expr), key=lambda e: (e.count_ops(), len(str(e))))


@functools.lru_cache(maxsize=5_000)
def short(expr: Any) -> bool:
    """Tell whether a formula is short enough to be written out."""
    return bool(is_small(expr, PARTS) and expr.count_ops() <= LONG and len(str(expr)) <= LONG)


def names_of_nodes(vjps: Sequence[VJP]) -> str:
    """Name the nodes that a gradient came through, but for those that only pass entries on."""
    nodes = [node for vjp in vjps for node in vjp.nodes]
    telling = [node for node in nodes if not passes_on(node)] or nodes
    return ", ".join(dict.fromkeys(node.name() for node in telling))


def remarks(*parts: str) -> str:
    """Join remarks on a line."""
    return ", ".join(filter(None, parts))


class Layout:
    """Writes the parts of which the pages of a derivation and of an explanation are made.

    Args:
        account: The backward pass.
        digits: How many decimals are shown.

    Attributes:
        order: The places, in the order in which they are told.
    """

    def __init__(self, account: Account, digits: int = 6) -> None:
        self.account, self.order, self.places = account, account.in_order(), account.places
        self.names, self.root, self.loss = self.places.names, self.places.root, self.places.loss
        self.board = blackboard.Blackboard(digits)
        for value, symbols in account.cotangents.items():
            for symbol, name in zip(symbols.flat, self.places.entry_names(value), strict=True):
                self.board.latex_names[symbol] = partial(self.loss, name).latex
        self.functions = {e.name: e for e in account.effects if e.factor is None}

    def more(self, count: int) -> str:
        """Say that only one of the entries is written out."""
        return f"one of {count} entries" if count > MOST else ""

    def shown(self, listed: Any) -> Sequence[int]:
        """Tell which entries are written out: all of a few, else the first that is not 0."""
        if len(listed) <= MOST:
            return range(len(listed))
        return [next((place for place, entry in enumerate(listed) if entry != 0), 0)]

    def in_cotangents(self, value: Value) -> Any:
        """Write a gradient in the symbols dL/ds of the gradients it came from."""
        return self.account.gradient(value, self.account.cotangents, applied=_by_name)

    # ------------------------------------------------------------------ hooks

    def acted(self, effects: HookEffects, written: Written) -> Written:
        """Write hooks in front of what they acted on: as a factor, or as a function."""
        for effect in effects:
            if effect.factor is None:
                written = applied(effect.name, written)
            else:
                single = effect.is_single_factor
                factor = self.board.formula(effect.factor) if single else named(effect.name)
                written = blackboard.product([factor, written])
        return written

    def hooks_in(self, told: Step) -> str:
        """Name the hooks in a line."""
        said = []
        for effect in told.all_effects():
            single = effect.is_single_factor
            factor = f"{self.board.formula(effect.factor).text}: " if single else ""
            said.append(f"{factor}{effect.kind} {effect.name}")
        return remarks(*said)

    def silences(self) -> Sequence[str]:
        """Say which leaves got no gradient, and which rules and hooks gave None."""
        account, called = self.account, self.places.called
        names = [called(value) for value in account.without_gradient]
        hooks = ", ".join(account.hooks_with_none)
        by = f": {hooks} gave None" if hooks else ""
        ended = [f"{node.name()} sends no gradient to {called(v)}" for node, v in account.stopped]
        return [
            *(f"{each}: its rule gave None for it" for each in ended),
            *(f"no gradient came to {name}{by}" for name in names),
        ]


def _by_name(effect: HookEffect, gradient: Any) -> Any:
    """Let a hook that is no factor stand in formulas by its name."""
    if effect.factor is not None:
        return effect.apply(gradient)
    function = sympy.Function(effect.name, real=True)
    flat = list(entries(gradient).flat)
    if effect.rule is not None or len(flat) == 1:
        made = [function(entry) for entry in flat]
    else:
        made = [function(sympy.Integer(k), *flat) for k in range(len(flat))]
    return symbolic(vector_of(made).reshape(np.shape(effect.after)))


class DerivationLayout(Layout):
    """Writes a derivation."""

    def sections(self) -> list[Section]:
        """Lay out a derivation in sections."""
        self.totals = self.account.composed(applied=_by_name)
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
            if definition is None:
                continue
            listed, names = list(entries(definition).flat), self.places.entry_names(value)
            for place in self.shown(listed):
                if short(listed[place]):
                    right = [self.board.formula(tidy(listed[place]))]
                    yield Row(named(names[place]), right, self.more(len(listed)))

    def _backward(self) -> Iterator[Row]:
        """Write the local derivatives of all places with one entry."""
        for later in filter(self.places.is_single, self.order):
            for value in self.order:
                told = self.account.gradients[value]
                if later == self.root and not self._only_local(told):
                    continue  # the chain rule writes it out: dL/dy alone would not be all of it
                for place, vjp in told.all_vjps():
                    if place == later and vjp.formula is not None:
                        yield from self._local(later, value, vjp)

    def _local(self, later: Value, value: Value, vjp: VJP) -> list[Row]:
        rows, name = [], self.names[later]
        listed = list(map(tidy, entries(vjp.formula).flat))
        for place in self.shown(listed):
            if not short(listed[place]):
                left = partial(name, self.names[value])
                return [Row(left, [_nodes([vjp])], "too long to be written out")]
            left = partial(name, self.places.entry_names(value)[place])
            rows.append(Row(left, [self.board.formula(listed[place])], self.more(len(listed))))
        return rows

    def _only_local(self, told: Step) -> bool:
        """Tell whether a gradient is nothing but a local derivative of the loss."""
        return not told.hooked and list(told.vjps) == [self.root]

    def _hooks(self) -> Iterator[Row]:
        """Write the functions that hooks are, where they are more than factors."""
        for name, effect in self.functions.items():
            if effect.rule is not None:
                each = "" if len(effect.arguments) == 1 else ", of each entry"
                left = applied(name, self.board.formula(effect.entry))
                yield Row(left, [self.board.formula(effect.rule)], effect.kind + each)
            elif effect.function is not None and len(effect.arguments) <= MOST:
                listed = list(entries(effect.function).flat)
                for place, made in enumerate(listed if all(map(short, listed)) else []):
                    whole = sympy.Function(name)(sympy.Integer(place), *effect.arguments)
                    yield Row(self.board.formula(whole), [self.board.formula(made)], effect.kind)

    def _chain(self) -> Iterator[Row]:
        """Write how the local derivatives multiply."""
        for value in self.order:
            told = self.account.gradients[value]
            if value != self.root and not self._only_local(told):
                single = all(self.places.is_single(place) for place, _ in told.all_vjps())
                yield from self._by_names(value, told) if single else self._by_entries(value, told)

    def _by_names(self, value: Value, told: Step) -> Iterator[Row]:
        """Write a gradient as products of derivatives: dL/dy * dy/ds."""
        names, formula = self.places.entry_names(value), self.totals[value]
        listed = names if formula is None else list(map(tidy, entries(formula).flat))
        # a hook may have made each entry of several, so that no product says it
        mixed = any(
            e.factor is None and e.rule is None and np.size(e.before) > 1
            for e in told.all_effects()
        )
        expand = bool(value[0].next_functions) and sum(1 for _ in told.all_vjps()) == 1
        for place in self.shown(listed):
            step = functools.partial(self._step, names[place], place, expand)
            right = [told.combined(step, self.acted, blackboard.total)]
            if formula is not None and short(listed[place]):
                right = [*right[mixed:], self.board.formula(listed[place])]
            remark = self.hooks_in(told) or self.more(len(names))
            yield Row(partial(self.loss, names[place]), right, remark)

    def _step(self, name: str, entry: int, expand: bool, place: Value, vjp: VJP) -> Written:
        """Write a contribution to an entry: dL/dy * dy/ds."""
        if place == self.root and vjp.formula is not None:
            return self.board.formula(tidy(entries(vjp.formula).flat[entry]))
        return blackboard.product([*self._leading(place, expand), partial(self.names[place], name)])

    def _leading(self, place: Value, expand: bool) -> list[Written]:
        """Write the gradient of a place: as such, or as the product that it is."""
        if place == self.root:
            return []
        told = self.account.gradients[place]
        whole = [partial(self.loss, self.names[place])]
        if not expand or told.hooked or len(told.vjps) != 1 or self.root in told.vjps:
            return whole
        (before,) = told.vjps
        leading = self._leading(before, expand)
        if len(leading) > 2 or not self.places.is_single(before):
            return whole
        return [*leading, partial(self.names[before], self.names[place])]

    def _by_entries(self, value: Value, told: Step) -> list[Row]:
        """Write the entries of a gradient as sums over those of later places."""
        names, rows = self.places.entry_names(value), []
        formula, whole = self.in_cotangents(value), self.totals[value]
        listed = None if formula is None else list(entries(formula).flat)
        for place in self.shown(listed or names):
            if listed is None or not short(listed[place]):
                left = partial(self.loss, self.names[value])
                nodes = _nodes([vjp for _, vjp in told.all_vjps()])
                return [Row(left, [nodes], "by its rule")]
            right = [self.board.formula(tidy(listed[place]))]
            composed = None if whole is None else tidy(entries(whole).flat[place])
            if composed is not None and short(composed) and composed != listed[place]:
                right.append(self.board.formula(composed))
            remark = self.hooks_in(told) or self.more(len(names))
            rows.append(Row(partial(self.loss, names[place]), right, remark))
        return rows


def _nodes(vjps: Sequence[VJP]) -> Written:
    nodes = names_of_nodes(vjps)
    return Written(nodes, rf"\text{{{nodes}}}")


class NumbersLayout(Layout):
    """Writes an explanation: each value and each gradient as formula, numbers put in, and result.

    Args:
        account: The backward pass.
        digits: How many decimals are shown.
    """

    def __init__(self, account: Account, digits: int) -> None:
        super().__init__(account, digits)
        self.gradients = account.engine
        self.values = {value: self.places.array(value) for value in self.order}
        pairs = [
            (self.places.symbols(value), array)
            for value, array in self.values.items()
            if array is not None and array.size <= self.places.limit
        ]
        pairs += [(each, self.gradients[value]) for value, each in account.cotangents.items()]
        pairs += self.places.constants.values()
        self.known = {  # the number of each symbol
            symbol: sympy.Float(float(number), 20)
            for symbols, array in pairs
            for symbol, number in zip(np.asarray(symbols).flat, array.flat, strict=True)
        }

    def sections(self) -> list[Section]:
        """Lay out forward and backward."""
        return [
            Section("Forward", self._forward()),
            Section("Backward", self._backward(), self.silences()),
        ]

    # ------------------------------------------------------------------ forward

    def _forward(self) -> Iterator[Row]:
        """Write each value: formula, numbers put in, result."""
        leaves = [value for value in self.order if not value[0].next_functions]
        given = self.places.used_constants()
        given += [(self.names[value], self.places.known[value]) for value in leaves]
        for value in self.account.without_gradient:
            given.append((self.places.called(value), value[0].variable._array))
        for name, array in given:
            yield Row(named(name), [self._array(array)], _shape(array))
        for value in reversed(self.order):
            if value[0].next_functions:
                yield self._value(value)

    def _array(self, array: Any) -> Written:
        """Write an array: its entries if they are few, else the first ones."""
        if array.size == 1:
            return self.board.number(array.item())
        listed = array.tolist() if array.size <= 4 else array.reshape(-1)[:4].tolist()
        text = self._nested(listed)
        text = text if array.size <= 4 else f"{text[:-1]}, ...]"
        return Written(text, rf"\text{{{text}}}")

    def _nested(self, listed: Any) -> str:
        if not isinstance(listed, list):
            return self.board.number(listed).text
        return f"[{', '.join(map(self._nested, listed))}]"

    def _value(self, value: Value) -> Row:
        array, definition = self.values[value], self.places.definition(value)
        single = self.places.is_single(value)
        formula = tidy(entries(definition).flat[0]) if definition is not None and single else None
        if formula is None or not short(formula):
            right = [self._call_of(value)]
        else:
            put_in = None if formula.is_Symbol else self._put_in(formula)
            right = [self.board.formula(formula), *([put_in] if put_in else [])]
        right += [] if array is None else [self._array(array)]
        remark = "" if single else f"shape {self.places.shape[value]}"
        return Row(named(self.names[value]), right, remark)

    def _call_of(self, value: Value) -> Written:
        """Write a value as its operation, applied to what is known of it: `Addmm(b_0, w_0)`."""
        taken = []
        for node, output_nr in value[0].next_functions:
            source = None if node is None else (node, output_nr)
            while source is not None and source not in self.names and passes_on(source[0]):
                source = source_of(source)
            if source is not None:
                known = source in self.names
                taken.append(named(self.names[source]) if known else self._call_of(source))
        texts, formulas = ", ".join(t.text for t in taken), ", ".join(t.latex for t in taken)
        return applied(forward_name(value[0]).rpartition("::")[2], Written(texts, formulas))

    # ------------------------------------------------------------------ backward

    def _backward(self) -> Iterator[Row]:
        """Write each gradient: formula, numbers put in, result."""
        for value in self.order:
            told = self.account.gradients[value]
            if value != self.root or told.hooked:
                hooks = self.hooks_in(told)
                large = any(vjp.formula is None for _, vjp in told.all_vjps())
                if large and not self.places.is_single(value):
                    number = self.gradients[value]
                    right = [
                        told.combined(self._by_rule, self.acted, blackboard.total),
                        self._array(number),
                    ]
                    left = partial(self.loss, self.names[value])
                    yield Row(left, right, remarks(hooks, _shape(number)))
                else:
                    yield from self._by_entries(value, told, hooks)

    def _by_rule(self, place: Value, vjp: VJP) -> Written:
        """Write a contribution to a large tensor by the names of the rules that it came through."""
        one = Written("1", "1")
        before = one if place == self.root else partial(self.loss, self.names[place])
        return applied(names_of_nodes([vjp]), before)

    def _by_entries(self, value: Value, told: Step, remark: str) -> Iterator[Row]:
        """Write entries of a gradient as sums of products, in formulas and in numbers."""
        numbers, names = self.gradients[value].flat, self.places.entry_names(value)
        for entry in self.shown(list(numbers)):
            formula = functools.partial(self._formula, entry, names[entry])
            number = functools.partial(self._number, entry)
            right = [
                told.combined(formula, self.acted, blackboard.total),
                told.combined(number, self._acted_on_number, blackboard.total),
            ]
            right = [each for each in right if each]
            result = self.board.number(numbers[entry])
            right += [] if right and right[-1].text == result.text else [result]
            said = remarks(remark, self.more(len(names)))
            yield Row(partial(self.loss, names[entry]), right, said)

    def _formula(self, entry: int, name: str, place: Value, vjp: VJP) -> Written:
        before = partial(self.loss, self.names[place])
        formula = _told_entry(vjp, entry)
        if formula is not None:
            last = self.board.formula(formula)
        elif self.places.is_single(place):
            last = partial(self.names[place], name)
        else:
            last = applied(names_of_nodes([vjp]), before)
        leads = self.places.is_single(place) and place != self.root
        return blackboard.product([before, last]) if leads else last

    def _number(self, entry: int, place: Value, vjp: VJP) -> Written | None:
        formula, single = _told_entry(vjp, entry), self.places.is_single(place)
        if formula is not None and (place == self.root or not single):
            return self._put_in(formula)
        if not single or vjp.number is None:
            return None
        local = self.board.number(vjp.number.flat[entry])
        if place == self.root:
            return local
        return blackboard.numbers_product([self.board.number(self.gradients[place].item()), local])

    def _put_in(self, formula: Any) -> Written | None:
        if formula.free_symbols - self.known.keys():
            return None
        return self.board.with_numbers(formula, self.known)

    def _acted_on_number(self, effects: HookEffects, number: Written) -> Written:
        for effect in effects:
            if effect.is_single_factor:
                first = self.board.number(effect.factor)
                number = blackboard.numbers_product([first, _first_in_brackets(number)])
            else:
                number = applied(effect.name, number)
        return number


def _told_entry(vjp: VJP, entry: int) -> Any:
    """Give the formula of an entry, or None if there is none that can be written out."""
    formula = None if vjp.formula is None else tidy(entries(vjp.formula).flat[entry])
    return formula if formula is not None and short(formula) else None


def _shape(array: Any) -> str:
    return "" if array.size == 1 else f"shape {tuple(array.shape)}"


def _first_in_brackets(number: Written) -> Written:
    """Put the first of the numbers that are multiplied in brackets if it is negative."""
    if not number.text.startswith("-"):
        return number
    texts = [text.partition(" ") for text in (number.text, number.latex)]
    text, latex = (f"({first}){space}{rest}" for first, space, rest in texts)
    return Written(text, latex, number.binding)
