"""Lay out an explanation: each value and each gradient as formula, numbers put in, and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.messages import forward_name
from minigrad.core.leaves import AccumulateGrad
from minigrad.symbolic.array import entries
from minigrad.symbolic.derivations.account import Account, Pull, Told
from minigrad.symbolic.derivations.blackboard import (
    Row,
    Section,
    Written,
    applied,
    numbers_product,
    product,
    total,
)
from minigrad.symbolic.derivations.hooks import HookEffect
from minigrad.symbolic.derivations.nodes import Value, passes_on
from minigrad.symbolic.derivations.page import Layout, names_of_nodes, short, tidy


class NumbersLayout(Layout):
    """Writes an explanation.

    Args:
        account: The backward pass.
        order: The places, in the order in which they are told.
        values: For each place its value, an array; None if it is not known.
        digits: How many decimals are shown.
    """

    def __init__(
        self, account: Account, order: Sequence[Value], values: Mapping[Value, Any], digits: int
    ) -> None:
        super().__init__(account, order, digits)
        self.values, self.gradients = values, account.engine
        self.known: dict[Any, Any] = {}  # the number of each symbol
        for value, array in values.items():
            if array is not None and array.size <= self.places.limit:
                self._know(self.places.symbols(value), array)
            if self.single(value):
                self._know([self.gradient_symbol(value)], self.gradients[value])
        for value, symbols in account.cotangents.items():
            self._know(symbols, self.gradients[value])
        for symbols, array in self.places.constants.symbols:
            self._know(symbols, array)

    def _know(self, symbols: Any, array: Any) -> None:
        if array is not None:
            pairs = zip(np.asarray(symbols).flat, array.flat, strict=True)
            self.known |= {symbol: sympy.Float(float(number), 20) for symbol, number in pairs}

    def sections(self) -> list[Section]:
        """Lay out forward and backward."""
        made = [
            Section("Forward", tuple(self._forward())),
            Section("Backward", tuple(self._backward()), self.silences()),
        ]
        return [section for section in made if section.rows or section.words]

    # ------------------------------------------------------------------ forward

    def _forward(self) -> list[Row]:
        """Write each value: formula, numbers put in, result."""
        leaves = [value for value in self.order if not value[0].next_functions]
        given = [*self.places.used_constants()]
        given += [(self.names[value], self.places.known[value]) for value in leaves]
        silent = dict.fromkeys(each.target for each in self.account.silences if each.target)
        for value in silent:  # leaves to which nothing came
            if type(value[0]) is AccumulateGrad and value not in self.account.gradients:
                given.append((self.places.called(value), value[0].variable._array))
        rows = [Row(self.board.name(name), (self._array(a),), _shape(a)) for name, a in given]
        return rows + [self._value(v) for v in reversed(self.order) if v[0].next_functions]

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
        single = self.single(value)
        formula = tidy(entries(definition).flat[0]) if definition is not None and single else None
        if formula is None or not short(formula):
            right = [self._call_of(value)]
        else:
            right = [self.board.formula(formula)]
            put_in = None if formula.is_Symbol else self._put_in(formula)
            right += [put_in] if put_in else []
        right += [] if array is None else [self._array(array)]
        remark = "" if single else f"shape {self.places.shape[value]}"
        return Row(self.board.name(self.names[value]), tuple(right), remark)

    def _call_of(self, value: Value) -> Written:
        """Write a value as its operation, applied to what is known of it: `Addmm(b_0, w_0)`."""
        taken = []
        for source, output_nr in value[0].next_functions:
            node, number = source, output_nr
            while node is not None and (node, number) not in self.names and passes_on(node):
                node, number = node.next_functions[number if node._multiple else 0]
            if node is not None:
                known = (node, number) in self.names
                inner = self.board.name(self.names[node, number]) if known else None
                taken.append(inner or self._call_of((node, number)))
        texts, formulas = ", ".join(t.text for t in taken), ", ".join(t.latex for t in taken)
        return applied(forward_name(value[0]).rpartition("::")[2], Written(texts, formulas))

    # ------------------------------------------------------------------ backward

    def _backward(self) -> list[Row]:
        """Write each gradient: formula, numbers put in, result."""
        rows: list[Row] = []
        remarks = self.seen_by_hooks()
        for value in self.order:
            told = self.account.gradients[value]
            if value != self.root or told.hooked:
                rows += self._gradient(value, told, remarks.get(value, ""))
        return rows

    def _gradient(self, value: Value, told: Told, remark: str) -> list[Row]:
        number, names, rows = self.gradients[value], self.entry_names(value), []
        if any(pull.formula is None for _, pull in told.all_pulls()) and not self.single(value):
            said = [self.hooks_in(told), remark, _shape(number)]
            right: list[Written] = [self._by_rules(told), self._array(number)]
            left = self.board.partial(self.loss, self.names[value])
            return [Row(left, tuple(right), ", ".join(filter(None, said)))]
        for place in self.shown(list(number.flat)):
            left = self.board.partial(self.loss, names[place])
            right = [each for each in self._sums(told, place, names[place]) if each]
            result = self.board.number(number.flat[place])
            if not right or right[-1].text != result.text:
                right.append(result)
            said = [self.hooks_in(told), remark, self.more(len(names))]
            rows.append(Row(left, tuple(right), ", ".join(filter(None, said))))
        return rows

    def _by_rules(self, told: Told) -> Written:
        """Write the gradient of a large tensor by the names of the rules that it came through."""
        parts = []
        for place, pull in told.pulls.items():
            partial = self.board.partial(self.loss, self.names[place])
            g = Written("1", "1") if place == self.root else partial
            parts.append(applied(names_of_nodes([pull]), g))
        parts += [self.acted(effects, self._by_rules(part)) for effects, part in told.hooked]
        return total(parts)

    def _sums(self, told: Told, entry: int, name: str) -> tuple[Written | None, Written | None]:
        """Write a gradient as a sum of products, in formulas and in numbers."""
        pairs = [self._product(place, pull, entry, name) for place, pull in told.pulls.items()]
        formulas: list[Written] = [formula for formula, _ in pairs]
        numbers = [number for _, number in pairs]
        for effects, part in told.hooked:
            inner, known = self._sums(part, entry, name)
            for effect in effects:
                known = known and self._numbers_acted(effect, known)
            formulas += [] if inner is None else [self.acted(effects, inner)]
            numbers.append(known)
        if not formulas:
            return None, None
        added = [each for each in numbers if each]
        return total(formulas), total(added) if len(added) == len(numbers) else None

    def _product(
        self, place: Value, pull: Pull, entry: int, name: str
    ) -> tuple[Written, Written | None]:
        formula = None if pull.formula is None else tidy(entries(pull.formula).flat[entry])
        told = formula is not None and short(formula)
        put_in = self._put_in(formula) if told else None
        if told:
            last = self.board.formula(formula)
        elif self.single(place):
            last = self.board.partial(self.names[place], name)
        else:
            before = self.board.partial(self.loss, self.names[place])
            last = applied(names_of_nodes([pull]), before)
        local = None if pull.number is None else self.board.number(pull.number.flat[entry])
        if not self.single(place):
            return last, put_in
        if place == self.root:
            return last, put_in if told else local
        before = self.board.partial(self.loss, self.names[place])
        gradient = self.board.number(self.gradients[place].item())
        both = None if local is None else numbers_product([gradient, local])
        return product([before, last]), both

    def _put_in(self, formula: Any) -> Written | None:
        if formula.free_symbols - self.known.keys():
            return None
        return self.board.with_numbers(formula, self.known)

    def _numbers_acted(self, effect: HookEffect, number: Written) -> Written:
        if effect.factor is not None and not np.ndim(effect.factor):
            return numbers_product([self.board.number(effect.factor), _first_in_brackets(number)])
        return applied(effect.name, number)


def _shape(array: Any) -> str:
    return "" if array.size == 1 else f"shape {tuple(array.shape)}"


def _first_in_brackets(number: Written) -> Written:
    """Put the first of the numbers that are multiplied in brackets if it is negative."""
    if not number.text.startswith("-"):
        return number
    texts = [text.partition(" ") for text in (number.text, number.latex)]
    text, latex = (f"({first}){space}{rest}" for first, space, rest in texts)
    return Written(text, latex, number.binding)
