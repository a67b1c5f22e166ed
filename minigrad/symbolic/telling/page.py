"""Lay out a derivation: the forward, the local derivatives, the hooks, and the chain rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries
from minigrad.symbolic.telling.account import Account
from minigrad.symbolic.telling.blackboard import Written, applied, numbers_product, product, total
from minigrad.symbolic.telling.effects import HookEffect
from minigrad.symbolic.telling.layout import MOST, Layout, Numbers, names_of_nodes, short, tidy
from minigrad.symbolic.telling.local import Value
from minigrad.symbolic.telling.paper import Row, Section
from minigrad.symbolic.telling.told import Told


class DerivationLayout(Layout):
    """Writes a derivation."""

    def forward(self) -> Section:
        """Write each place through those before it."""
        rows = []
        for value in reversed(self.order):
            definition = self.places.definition(value) if value[0].next_functions else None
            if definition is None:
                continue
            listed = list(entries(definition).flat)
            names = self.entry_names(value)
            for place in self.shown(listed):
                if not short(listed[place]):
                    continue
                right = [self.board.formula(tidy(listed[place]))]
                if self.numbers is not None and self.numbers[value][0] is not None:
                    right.append(self.board.number(self.numbers[value][0].flat[place]))
                rows.append(
                    Row(self.board.name(names[place]), tuple(right), self.more(len(listed)))
                )
        return Section("Forward", tuple(rows))

    def backward(self) -> Section:
        """Write the local derivatives of all places with one entry."""
        rows = []
        remarks = self.seen_by_hooks()
        for later in self.order:
            if not self.single(later):
                continue
            for value in self.order:
                told = self.account.gradients[value]
                if later == self.places.root and not self._only_local(told):
                    continue  # the chain rule writes it out: dL/dy alone would not be all of it
                for place, pull in told.all_pulls():
                    if place == later and pull.formula is not None:
                        rows += self._local(later, value, pull, remarks)
        return Section("Backward", tuple(rows))

    def _local(self, later: Value, value: Value, pull: Any, remarks: Any) -> list[Row]:
        rows = []
        listed = list(entries(pull.formula).flat)
        for place in self.shown(listed):
            formula = tidy(listed[place])
            if not short(formula):
                return [self._by_node(later, value, pull)]
            right = [self.board.formula(formula)]
            numbers = self._local_number(listed[place])
            if numbers is not None:
                right += numbers
            left = self.board.partial(self.names[later], self.entry_names(value)[place])
            remark = self.more(len(listed))
            if later == self.places.root and self.single(value):
                remark = remarks.get(value, remark)
            rows.append(Row(left, tuple(right), remark))
        return rows

    def _by_node(self, later: Value, value: Value, pull: Any) -> Row:
        nodes = names_of_nodes(pull)
        left = self.board.partial(self.names[later], self.names[value])
        return Row(left, (Written(nodes, rf"\text{{{nodes}}}"),), "too long to be written out")

    def _local_number(self, formula: Any) -> list[Written] | None:
        values = self._values()
        if values is None or formula.free_symbols - values.keys():
            return None
        number = self.board.number(formula.subs(values))
        if formula.is_number:
            return []
        if formula.is_Symbol:
            return [number]
        return [self.board.with_numbers(tidy(formula), values), number]

    def _values(self) -> dict[Any, Any] | None:
        """Give the number of each symbol."""
        if self.numbers is None:
            return None
        values: dict[Any, Any] = {}
        for value, (array, _) in self.numbers.items():
            symbols = self.places._symbols.get(value)
            if symbols is not None and array is not None:
                pairs = zip(entries(symbols).flat, array.flat, strict=True)
                values |= {symbol: sympy.Float(number, 30) for symbol, number in pairs}
        return values

    def chain(self) -> Section:
        """Write how the local derivatives multiply."""
        rows: list[Row] = []
        remarks = self.seen_by_hooks()
        for value in self.order:
            told = self.account.gradients[value]
            if value == self.places.root or (
                not told.hooked and list(told.pulls) == [self.places.root]
            ):
                continue
            sources = [place for place, _ in told.all_pulls()]
            if all(map(self.single, sources)):
                rows += self._by_names(value, told, remarks)
            else:
                rows += self._by_entries(value, told)
        return Section("According to the chain rule", tuple(rows), self.silences())

    def _only_local(self, told: Told) -> bool:
        """Tell whether a gradient is nothing but a local derivative of the loss."""
        return not told.hooked and list(told.pulls) == [self.places.root]

    def _by_names(self, value: Value, told: Told, remarks: Any) -> list[Row]:
        """Write a gradient as products of derivatives: dL/dy * dy/ds."""
        rows = []
        names = self.entry_names(value)
        mixed = self._mixed(told)
        formula = self.totals[value]
        listed = names if formula is None else list(entries(formula).flat)
        for place in self.shown(listed):
            left = self.board.partial(self.loss, names[place])
            expand = bool(value[0].next_functions) and sum(1 for _ in told.all_pulls()) == 1
            right = [self._sum(told, names[place], place, expand)]
            if formula is not None:
                entry = tidy(entries(formula).flat[place])
                if short(entry):
                    right = [*right[mixed:], self.board.formula(entry)]
            if self.numbers is not None:
                numbers = self._number_factors(told, place, expand)
                if numbers is not None:
                    right.append(numbers_product(numbers))
                right.append(self.board.number(self.numbers[value][1].flat[place]))
            remark = remarks.get(value, "") if self.single(value) else self.more(len(names))
            rows.append(Row(left, tuple(right), self.hooks_in(told) or remark))
        return rows

    def _mixed(self, told: Told) -> bool:
        """Tell whether a hook made each entry of several, so that no product says it."""
        return any(
            self._mixed(part)
            or any(e.factor is None and e.rule is None and np.size(e.before) > 1 for e in effects)
            for effects, part in told.hooked
        )

    def _sum(self, told: Told, name: str, entry: int, expand: bool) -> Written:
        parts = []
        for place, pull in told.pulls.items():
            if place == self.places.root and pull.formula is not None:
                parts.append(self.board.formula(tidy(entries(pull.formula).flat[entry])))
                continue
            last = self.board.partial(self.names[place], name)
            parts.append(product([*self._leading(place, expand), last]))
        for effects, part in told.hooked:
            parts.append(self.acted(effects, self._sum(part, name, entry, expand)))
        return total(parts)

    def _leading(self, place: Value, expand: bool) -> list[Written]:
        """Write the gradient of a place: as such, or as the product that it is."""
        if place == self.places.root:
            return []
        told = self.account.gradients[place]
        whole = [self.board.partial(self.loss, self.names[place])]
        if not expand or told.hooked or len(told.pulls) != 1:
            return whole
        (before,) = told.pulls
        if before == self.places.root:
            return whole
        leading = self._leading(before, expand)
        if len(leading) > 2 or not self.single(before):
            return whole
        return [*leading, self.board.partial(self.names[before], self.names[place])]

    def _number_factors(self, told: Told, entry: int, expand: bool) -> list[Written] | None:
        """Give the numbers that are multiplied, if the gradient is one product."""
        assert self.numbers is not None
        if told.hooked:
            if told.pulls or len(told.hooked) != 1:
                return None
            effects, inner = told.hooked[0]
            if any(effect.factor is None or np.ndim(effect.factor) for effect in effects):
                return None
            found = self._number_factors(inner, entry, expand)
            factors = [self.board.number(effect.factor) for effect in effects]
            return None if found is None else [*factors, *found]
        if len(told.pulls) != 1:
            return None
        ((place, pull),) = told.pulls.items()
        values = self._values() or {}
        if pull.formula is None:
            return None
        local = entries(pull.formula).flat[entry]
        if local.free_symbols - values.keys():
            return None
        last = self.board.number(local.subs(values))
        if place == self.places.root:
            return [last]
        before = self.account.gradients[place]
        if (
            expand
            and not before.hooked
            and len(before.pulls) == 1
            and len(self._leading(place, True)) > 1
        ):
            leading = self._number_factors(before, 0, expand)
        else:
            leading = [self.board.number(self.numbers[place][1].flat[0])]
        return None if leading is None else [*leading, last]

    def _by_entries(self, value: Value, told: Told) -> list[Row]:
        """Write the entries of a gradient as sums over those of later places."""
        names = self.entry_names(value)
        formula = self.in_cotangents(told, self.places.shape[value])
        rows = []
        for place in self.shown(names if formula is None else list(entries(formula).flat)):
            left = self.board.partial(self.loss, names[place])
            entry = None if formula is None else entries(formula).flat[place]
            if entry is None or not short(entry):
                nodes = ", ".join(
                    dict.fromkeys(n.name() for _, p in told.all_pulls() for n in p.nodes)
                )
                right: tuple[Written, ...] = (Written(nodes, rf"\text{{{nodes}}}"),)
                return [Row(self.board.partial(self.loss, self.names[value]), right, "by its rule")]
            right = (self.board.formula(tidy(entry)),)
            whole = self.totals[value]
            composed = None if whole is None else tidy(entries(whole).flat[place])
            if composed is not None and short(composed) and composed != entry:
                right = (*right, self.board.formula(composed))
            if self.numbers is not None:
                right = (*right, self.board.number(self.numbers[value][1].flat[place]))
            remark = self.hooks_in(told) or self.more(len(names))
            rows.append(Row(left, right, remark))
        return rows

    def hooks(self) -> Section:
        """Write the functions that hooks are, where they are more than factors."""
        rows = []
        for name, effect in self.functions.items():
            if effect.rule is not None:
                left = applied(name, self.board.formula(effect.entry))
                each = "" if len(effect.arguments) == 1 else ", of each entry"
                rows.append(Row(left, (self.board.formula(effect.rule),), effect.kind + each))
            elif effect.function is not None:
                rows += self._by_several(name, effect)
        return Section("Hooks", tuple(rows))

    def _by_several(self, name: str, effect: HookEffect) -> list[Row]:
        """Write a hook that makes each entry of several."""
        arguments, listed = effect.arguments, list(entries(effect.function).flat)
        if len(arguments) > MOST or not all(map(short, listed)):
            return []
        rows = []
        for place, made in enumerate(listed):
            left = self.board.formula(sympy.Function(name)(sympy.Integer(place), *arguments))
            rows.append(Row(left, (self.board.formula(made),), effect.kind))
        return rows


def derivation_page(account: Account, order: Sequence[Value], numbers: Numbers) -> list[Section]:
    """Lay out a derivation in sections; those without a line are left out."""
    layout = DerivationLayout(account, order, numbers)
    sections = [layout.forward(), layout.backward(), layout.hooks(), layout.chain()]
    return [section for section in sections if section.rows or section.words]
