"""Lay out an explanation: each value and each gradient as formula, numbers put in, and result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.telling.account import Account
from minigrad.symbolic.telling.blackboard import (
    Blackboard,
    Written,
    applied,
    numbers_product,
    product,
    total,
)
from minigrad.symbolic.telling.effects import HookEffect
from minigrad.symbolic.telling.layout import Layout, names_of_nodes, short, tidy
from minigrad.symbolic.telling.local import Value
from minigrad.symbolic.telling.matrices import call_of, in_matrices
from minigrad.symbolic.telling.paper import Row, Section
from minigrad.symbolic.telling.silence import leaves_behind
from minigrad.symbolic.telling.told import Pull, Told


class NumbersLayout(Layout):
    """Writes an explanation."""

    def __init__(self, account: Account, order: Sequence[Value], numbers: Any, digits: int) -> None:
        super().__init__(account, order, numbers)
        self.board.digits = digits
        self.known = self._all_numbers()

    def _all_numbers(self) -> dict[Any, Any]:
        """Give the number of each symbol: of places, of their gradients, and of named constants."""
        assert self.numbers is not None
        known: dict[Any, Any] = {}
        for value, (array, _) in self.numbers.items():
            if array is not None and array.size <= self.places.limit:
                known |= _paired(self.places.symbols(value), array)
        for value, symbols in self.account.cotangents.items():
            known |= _paired(symbols, self.numbers[value][1])
        for value in self.order:
            if self.single(value):
                symbol = sympy.Symbol(f"d{self.loss}/d{self.names[value]}", real=True)
                known |= _paired(np.array([symbol]), self.numbers[value][1])
        for symbols, array in self.places.constants.symbols:
            known |= _paired(symbols, array)
        return known

    def sections(self) -> list[Section]:
        """Lay out forward and backward."""
        sections = [self.forward(), self.backward()]
        return [section for section in sections if section.rows or section.words]

    # ------------------------------------------------------------------ forward

    def forward(self) -> Section:
        """Write each value: formula, numbers put in, result."""
        rows: list[Row] = []
        leaves = [value for value in self.order if not value[0].next_functions]
        inner = [value for value in reversed(self.order) if value[0].next_functions]
        for symbols_name, array in self.places.used_constants():
            rows += self._given(symbols_name, array)
        for value in leaves:
            rows += self._given(self.names[value], self.places.known[value])
        for value in leaves_behind(self.account.silences, self.account.gradients):
            rows += self._given(self.places.called(value), value[0].variable._array)
        for value in inner:
            rows += self._value(value)
        return Section("Forward", tuple(rows))

    def _given(self, name: str, array: Any) -> list[Row]:
        return [Row(self.board.name(name), (self._array(array),), self._shape(array))]

    def _shape(self, array: Any) -> str:
        return "" if array.size == 1 else f"shape {tuple(array.shape)}"

    def _array(self, array: Any) -> Written:
        """Write an array: its entries if they are few, else the first ones."""
        if array.size == 1:
            return self.board.number(array.item())
        flat = [self.board.number(entry).text for entry in array.reshape(-1)[:4]]
        dots = ", ..." if array.size > 4 else ""
        text = f"[{', '.join(flat)}{dots}]"
        if array.ndim > 1 and array.size <= 4:
            text = _nested(array.tolist(), self.board)
        return Written(text, rf"\text{{{text}}}")

    def _value(self, value: Value) -> list[Row]:
        assert self.numbers is not None
        array = self.numbers[value][0]
        definition = self.places.definition(value)
        shape = f"shape {self.places.shape[value]}"
        if definition is None or not self.single(value):
            right = [call_of(value, self.places, self.board)]
            right += [] if array is None else [self._array(array)]
            return [
                Row(
                    self.board.name(self.names[value]),
                    tuple(right),
                    "" if self.single(value) else shape,
                )
            ]
        formula = tidy(entries(definition).flat[0])
        right = [self.board.formula(formula)]
        if not short(formula):
            right = [call_of(value, self.places, self.board)]
        elif not formula.is_Symbol and not formula.free_symbols - self.known.keys():
            right.append(self.board.with_numbers(formula, self.known))
        if array is not None:
            right.append(self.board.number(array.item()))
        return [Row(self.board.name(self.names[value]), tuple(right))]

    # ------------------------------------------------------------------ backward

    def backward(self) -> Section:
        """Write each gradient: formula, numbers put in, result."""
        rows: list[Row] = []
        remarks = self.seen_by_hooks()
        for value in self.order:
            if value == self.places.root and not self.account.gradients[value].hooked:
                continue
            rows += self._gradient(value, remarks.get(value, ""))
        return Section("Backward", tuple(rows), self.silences())

    def _gradient(self, value: Value, remark: str) -> list[Row]:
        assert self.numbers is not None
        told, number = self.account.gradients[value], self.numbers[value][1]
        names, rows = self.entry_names(value), []
        if any(pull.formula is None for _, pull in told.all_pulls()) and not self.single(value):
            return [self._whole(value, told, number, remark)]
        for place in self.shown(list(number.flat)):
            left = self.board.partial(self.loss, names[place])
            right = [each for each in self._sums(told, value, place, names[place]) if each]
            result = self.board.number(number.flat[place])
            if not right or right[-1].text != result.text:
                right.append(result)
            said = [self.hooks_in(told), remark, self.more(len(names))]
            rows.append(Row(left, tuple(right), ", ".join(filter(None, said))))
        return rows

    def _sums(
        self, told: Told, value: Value, entry: int, name: str
    ) -> tuple[Written | None, Written | None]:
        """Write a gradient as a sum of products, in formulas and in numbers."""
        formulas: list[Written] = []
        numbers: list[Written | None] = []
        for place, pull in told.pulls.items():
            formula, number = self._product(place, pull, value, entry, name)
            formulas.append(formula)
            numbers.append(number)
        for effects, part in told.hooked:
            inner, known = self._sums(part, value, entry, name)
            for effect in effects:
                inner = inner and self.acted([effect], inner)
                known = known and self._numbers_acted(effect, known)
            formulas += [] if inner is None else [inner]
            numbers.append(known)
        if not formulas:
            return None, None
        added = [each for each in numbers if each]
        return total(formulas), total(added) if len(added) == len(numbers) else None

    def _product(
        self, place: Value, pull: Pull, value: Value, entry: int, name: str
    ) -> tuple[Written, Written | None]:
        assert self.numbers is not None
        formula = None if pull.formula is None else entries(pull.formula).flat[entry]
        if formula is None or not short(formula):
            if self.single(place):
                last: Written = self.board.partial(self.names[place], name)
            else:
                nodes = names_of_nodes(pull)
                last = applied(nodes, self.board.partial(self.loss, self.names[place]))
        else:
            last = self.board.formula(tidy(formula))
        if not self.single(place):
            if formula is None or not short(formula):
                return last, None
            return last, self._put_in(tidy(formula))
        local = None if pull.number is None else self.board.number(pull.number.flat[entry])
        if place == self.places.root:
            put_in = local if formula is None else self._put_in(tidy(formula))
            return last, put_in
        before = self.board.partial(self.loss, self.names[place])
        gradient = self.board.number(self.numbers[place][1].item())
        return product([before, last]), None if local is None else numbers_product(
            [gradient, local]
        )

    def _put_in(self, formula: Any) -> Written | None:
        if formula.free_symbols - self.known.keys():
            return None
        return self.board.with_numbers(formula, self.known)

    def _numbers_acted(self, effect: HookEffect, number: Written) -> Written:
        if effect.factor is not None and not np.ndim(effect.factor):
            return numbers_product([self.board.number(effect.factor), _first_in_brackets(number)])
        return applied(effect.name, number)

    def _whole(self, value: Value, told: Told, number: Any, remark: str) -> Row:
        """Write the gradient of a large tensor in matrices, or by the name of its rule."""
        left = self.board.partial(self.loss, self.names[value])
        parts = [
            in_matrices(place, pull, self.places, self.board, self.loss)
            for place, pull in told.pulls.items()
        ]
        for effects, part in told.hooked:
            inner = [
                in_matrices(place, pull, self.places, self.board, self.loss)
                for place, pull in part.pulls.items()
            ]
            parts.append(self.acted(effects, total(inner)))
        said = [self.hooks_in(told), remark, self._shape(number)]
        right = (total(parts), self._array(number))
        return Row(left, right, ", ".join(filter(None, said)))


def _first_in_brackets(number: Written) -> Written:
    """Put the first of the numbers that are multiplied in brackets if it is negative."""
    if not number.text.startswith("-"):
        return number
    texts = [text.partition(" ") for text in (number.text, number.latex)]
    text, latex = (f"({first}){space}{rest}" for first, space, rest in texts)
    return Written(text, latex, number.binding)


def _paired(symbols: Any, array: Any) -> dict[Any, Any]:
    if array is None:
        return {}
    pairs = zip(np.asarray(symbols).flat, array.flat, strict=True)
    return {symbol: sympy.Float(float(number), 20) for symbol, number in pairs}


def _nested(listed: Any, board: Blackboard) -> str:
    if not isinstance(listed, list):
        return board.number(listed).text
    return "[" + ", ".join(_nested(part, board) for part in listed) + "]"
