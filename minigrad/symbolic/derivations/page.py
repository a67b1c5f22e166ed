"""Lay out a derivation: the forward, the local derivatives, the hooks, and the chain rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries, symbolic, vector_of
from minigrad.symbolic.derivations.account import Account, Pull, Told
from minigrad.symbolic.derivations.blackboard import (
    Blackboard,
    Row,
    Section,
    Written,
    applied,
    product,
    total,
)
from minigrad.symbolic.derivations.hooks import HookEffect, is_small
from minigrad.symbolic.derivations.nodes import Value, passes_on
from minigrad.symbolic.formulas import entry_names

MOST = 6  # entries of one tensor that are written out
LONG = 100  # letters in a formula that is still written out
PARTS = 150  # of which no formula with more could be that short


@lru_cache(maxsize=5_000)
def tidy(expr: Any) -> Any:
    """Give a formula as one would write it: with common factors in front."""
    if not (expr.is_Add and is_small(expr, PARTS)):
        return expr
    return min(expr, sympy.factor_terms(expr), key=lambda e: (e.count_ops(), len(str(e))))


@lru_cache(maxsize=5_000)
def short(expr: Any) -> bool:
    """Tell whether a formula is short enough to be written out."""
    return bool(is_small(expr, PARTS) and expr.count_ops() <= LONG and len(str(expr)) <= LONG)


def names_of_nodes(pulls: Sequence[Pull]) -> str:
    """Name the nodes that a gradient came through, but for those that only pass entries on."""
    nodes = [node for pull in pulls for node in pull.nodes]
    telling = [node for node in nodes if not passes_on(node)] or nodes
    return ", ".join(dict.fromkeys(node.name() for node in telling))


class Layout:
    """Writes the parts of which the pages of a derivation and of an explanation are made."""

    def __init__(self, account: Account, order: Sequence[Value], digits: int = 6) -> None:
        self.account, self.order = account, order
        self.places, self.names = account.places, account.places.names
        self.root = self.places.root
        self.loss = self.names[self.root]
        self.board = Blackboard(digits)
        for value, symbols in account.cotangents.items():
            for symbol, name in zip(symbols.flat, self.entry_names(value), strict=True):
                self.board.latex_names[symbol] = self.board.partial(self.loss, name).latex
        acted = [*account.before.values(), *account.behind.values()]
        self.functions = {e.name: e for effects in acted for e in effects if e.factor is None}
        self.totals = account.composed(applied=_by_name) if self.functions else account.totals

    def single(self, value: Value) -> bool:
        """Tell whether a place has one entry."""
        return int(np.prod(self.places.shape[value], dtype=np.int64)) == 1

    def entry_names(self, value: Value) -> list[str]:
        """Give the names of the entries of a place."""
        return entry_names(self.names[value], self.places.shape[value])

    def more(self, count: int) -> str:
        """Say that only one of the entries is written out."""
        return f"one of {count} entries" if count > MOST else ""

    def shown(self, listed: Any) -> Sequence[int]:
        """Tell which entries are written out: all of a few, else the first that is not 0."""
        count = len(listed)
        if count <= MOST:
            return range(count)
        return [next((place for place, entry in enumerate(listed) if entry != 0), 0)]

    def gradient_symbol(self, value: Value) -> Any:
        """Give the symbol dL/ds that stands for the gradient of a place with one entry."""
        symbol = sympy.Symbol(f"d{self.loss}/d{self.names[value]}", real=True)
        self.board.latex_names[symbol] = self.board.partial(self.loss, self.names[value]).latex
        return symbol

    def in_cotangents(self, told: Told, shape: tuple[int, ...]) -> Any:
        """Write a gradient in the symbols dL/ds of the gradients it came from."""
        parts = []
        for place, pull in told.pulls.items():
            formula = pull.formula
            if formula is None:
                return None
            if place not in self.account.cotangents and place != self.root:
                formula = formula * symbolic(vector_of([self.gradient_symbol(place)]).reshape(()))
            parts.append(formula)
        for effects, part in told.hooked:
            found = self.in_cotangents(part, shape)
            if found is None:
                return None
            for effect in effects:
                found = _by_name(effect, found.reshape(np.shape(effect.before))).reshape(shape)
            parts.append(found)
        return sum(parts[1:], parts[0]) if parts else None

    # ------------------------------------------------------------------ hooks

    def acted(self, effects: Sequence[HookEffect], written: Written) -> Written:
        """Write hooks in front of what they acted on: as a factor, or as a function."""
        for effect in effects:
            if effect.factor is None:
                written = applied(effect.name, written)
            elif np.ndim(effect.factor):
                written = product([self.board.name(effect.name), written])
            else:
                written = product([self.board.formula(sympy.sympify(effect.factor)), written])
        return written

    def hooks_in(self, told: Told) -> str:
        """Name the hooks in a line."""
        remarks = []
        for effects, part in told.hooked:
            for effect in effects:
                single = effect.factor is not None and not np.ndim(effect.factor)
                factor = self.board.formula(sympy.sympify(effect.factor)).text if single else ""
                remarks.append(f"{factor}{': ' if factor else ''}{effect.kind} {effect.name}")
            remarks.append(self.hooks_in(part))
        return ", ".join(filter(None, remarks))

    def silences(self) -> tuple[str, ...]:
        """Say where gradients ended, as something gave None."""
        told = self.account.silences
        words = (e.told("" if e.target is None else self.places.called(e.target)) for e in told)
        return tuple(dict.fromkeys(words))

    def seen_by_hooks(self) -> dict[Value, str]:
        """Find the gradients that full backward hooks saw: grad_output and grad_input."""
        engine = {v: self.account.engine[v] for v in self.order if v != self.root}
        found: dict[Value, str] = {}
        for passage in self.account.passages:
            for hook in passage.after:
                if hook.kind not in ("full backward", "legacy backward") or len(hook.seen) < 2:
                    continue
                for which, grads in zip(("grad_input", "grad_output"), hook.seen, strict=False):
                    for seen in grads if isinstance(grads, tuple) else (grads,):
                        listed = None if seen is None else seen._array.reshape(-1).tolist()
                        for value, array in engine.items():
                            if array is not None and array.reshape(-1).tolist() == listed:
                                found.setdefault(value, f"{which} of {hook.name}")
                                break
        return found


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
        """Lay out a derivation in sections; those without a line are left out."""
        made = [
            Section("Forward", tuple(self._forward())),
            Section("Backward", tuple(self._backward())),
            Section("Hooks", tuple(self._hooks())),
            Section("According to the chain rule", tuple(self._chain()), self.silences()),
        ]
        return [section for section in made if section.rows or section.words]

    def _forward(self) -> Iterator[Row]:
        """Write each place through those before it."""
        for value in reversed(self.order):
            definition = self.places.definition(value) if value[0].next_functions else None
            if definition is None:
                continue
            listed, names = list(entries(definition).flat), self.entry_names(value)
            for place in self.shown(listed):
                if short(listed[place]):
                    right = self.board.formula(tidy(listed[place]))
                    yield Row(self.board.name(names[place]), (right,), self.more(len(listed)))

    def _backward(self) -> Iterator[Row]:
        """Write the local derivatives of all places with one entry."""
        remarks = self.seen_by_hooks()
        for later in filter(self.single, self.order):
            for value in self.order:
                told = self.account.gradients[value]
                if later == self.root and not self._only_local(told):
                    continue  # the chain rule writes it out: dL/dy alone would not be all of it
                for place, pull in told.all_pulls():
                    if place == later and pull.formula is not None:
                        yield from self._local(later, value, pull, remarks)

    def _local(self, later: Value, value: Value, pull: Pull, remarks: Any) -> list[Row]:
        rows = []
        listed = list(map(tidy, entries(pull.formula).flat))
        for place in self.shown(listed):
            left = self.board.partial(self.names[later], self.entry_names(value)[place])
            if not short(listed[place]):
                left = self.board.partial(self.names[later], self.names[value])
                return [Row(left, (_nodes([pull]),), "too long to be written out")]
            remark = self.more(len(listed))
            if later == self.root and self.single(value):
                remark = remarks.get(value, remark)
            rows.append(Row(left, (self.board.formula(listed[place]),), remark))
        return rows

    def _only_local(self, told: Told) -> bool:
        """Tell whether a gradient is nothing but a local derivative of the loss."""
        return not told.hooked and list(told.pulls) == [self.root]

    def _hooks(self) -> Iterator[Row]:
        """Write the functions that hooks are, where they are more than factors."""
        for name, effect in self.functions.items():
            if effect.rule is not None:
                left = applied(name, self.board.formula(effect.entry))
                each = "" if len(effect.arguments) == 1 else ", of each entry"
                yield Row(left, (self.board.formula(effect.rule),), effect.kind + each)
            elif effect.function is not None:
                listed = list(entries(effect.function).flat)
                if len(effect.arguments) <= MOST and all(map(short, listed)):
                    for place, made in enumerate(listed):
                        whole = sympy.Function(name)(sympy.Integer(place), *effect.arguments)
                        right = (self.board.formula(made),)
                        yield Row(self.board.formula(whole), right, effect.kind)

    def _chain(self) -> Iterator[Row]:
        """Write how the local derivatives multiply."""
        remarks = self.seen_by_hooks()
        for value in self.order:
            told = self.account.gradients[value]
            if value == self.root or self._only_local(told):
                continue
            if all(self.single(place) for place, _ in told.all_pulls()):
                yield from self._by_names(value, told, remarks)
            else:
                yield from self._by_entries(value, told)

    def _by_names(self, value: Value, told: Told, remarks: Any) -> Iterator[Row]:
        """Write a gradient as products of derivatives: dL/dy * dy/ds."""
        names, formula = self.entry_names(value), self.totals[value]
        listed = names if formula is None else list(map(tidy, entries(formula).flat))
        for place in self.shown(listed):
            expand = bool(value[0].next_functions) and sum(1 for _ in told.all_pulls()) == 1
            right = [self._sum(told, names[place], place, expand)]
            if formula is not None and short(listed[place]):
                right = [*right[self._mixed(told) :], self.board.formula(listed[place])]
            remark = remarks.get(value, "") if self.single(value) else self.more(len(names))
            left = self.board.partial(self.loss, names[place])
            yield Row(left, tuple(right), self.hooks_in(told) or remark)

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
            if place == self.root and pull.formula is not None:
                parts.append(self.board.formula(tidy(entries(pull.formula).flat[entry])))
            else:
                last = self.board.partial(self.names[place], name)
                parts.append(product([*self._leading(place, expand), last]))
        for effects, part in told.hooked:
            parts.append(self.acted(effects, self._sum(part, name, entry, expand)))
        return total(parts)

    def _leading(self, place: Value, expand: bool) -> list[Written]:
        """Write the gradient of a place: as such, or as the product that it is."""
        if place == self.root:
            return []
        told = self.account.gradients[place]
        whole = [self.board.partial(self.loss, self.names[place])]
        if not expand or told.hooked or len(told.pulls) != 1 or self.root in told.pulls:
            return whole
        (before,) = told.pulls
        leading = self._leading(before, expand)
        if len(leading) > 2 or not self.single(before):
            return whole
        return [*leading, self.board.partial(self.names[before], self.names[place])]

    def _by_entries(self, value: Value, told: Told) -> list[Row]:
        """Write the entries of a gradient as sums over those of later places."""
        names, rows = self.entry_names(value), []
        formula = self.in_cotangents(told, self.places.shape[value])
        listed = None if formula is None else list(entries(formula).flat)
        for place in self.shown(listed or names):
            if listed is None or not short(listed[place]):
                left = self.board.partial(self.loss, self.names[value])
                pulls = [pull for _, pull in told.all_pulls()]
                return [Row(left, (_nodes(pulls),), "by its rule")]
            right = [self.board.formula(tidy(listed[place]))]
            whole = self.totals[value]
            composed = None if whole is None else tidy(entries(whole).flat[place])
            if composed is not None and short(composed) and composed != listed[place]:
                right.append(self.board.formula(composed))
            left = self.board.partial(self.loss, names[place])
            rows.append(Row(left, tuple(right), self.hooks_in(told) or self.more(len(names))))
        return rows


def _nodes(pulls: Sequence[Pull]) -> Written:
    nodes = names_of_nodes(pulls)
    return Written(nodes, rf"\text{{{nodes}}}")
