"""Write the parts of which the pages of a derivation and of an explanation are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import entries, symbolic, vector_of
from minigrad.symbolic.making import entry_names
from minigrad.symbolic.telling.account import Account
from minigrad.symbolic.telling.blackboard import Blackboard, Written, applied, product
from minigrad.symbolic.telling.effects import HookEffect
from minigrad.symbolic.telling.forwards import passes_on
from minigrad.symbolic.telling.local import Value
from minigrad.symbolic.telling.relating import is_small
from minigrad.symbolic.telling.told import Pull, Told

MOST = 6  # entries of one tensor that are written out
LONG = 100  # letters in a formula that is still written out
PARTS = 150  # of which no formula with more could be that short
Numbers = Mapping[Value, tuple[Any, Any]] | None


@lru_cache(maxsize=5_000)
def tidy(expr: Any) -> Any:
    """Give a formula as one would write it: with common factors in front."""
    forms = [expr]
    if expr.is_Add and is_small(expr, PARTS):
        forms.append(sympy.factor_terms(expr))
    if len(forms) == 1:
        return expr
    return min(forms, key=lambda form: (form.count_ops(), len(str(form))))


@lru_cache(maxsize=5_000)
def short(expr: Any) -> bool:
    """Tell whether a formula is short enough to be written out."""
    return bool(is_small(expr, PARTS) and expr.count_ops() <= LONG and len(str(expr)) <= LONG)


def names_of_nodes(pull: Pull) -> str:
    """Name the nodes that a gradient came through, but for those that only pass entries on."""
    telling = [node for node in pull.nodes if not passes_on(node)] or pull.nodes
    return ", ".join(node.name() for node in telling)


class Layout:
    """Writes the parts of a derivation."""

    def __init__(self, account: Account, order: Sequence[Value], numbers: Numbers) -> None:
        self.account, self.order, self.numbers = account, order, numbers
        self.places = account.places
        self.names = account.places.names
        self.loss = self.names[self.places.root]
        derivatives = {
            symbol: (self.loss, name)
            for value, symbols in account.cotangents.items()
            for symbol, name in zip(
                symbols.flat, entry_names(self.names[value], symbols.shape), strict=True
            )
        }
        self.board = Blackboard(derivatives)
        self.functions: dict[str, HookEffect] = {}
        for effects in [*account.before.values(), *account.behind.values()]:
            for effect in effects:
                if effect.factor is None:
                    self.functions.setdefault(effect.name, effect)
        self.totals = account.composed(applied=_by_name) if self.functions else account.totals

    # ------------------------------------------------------------------ small things

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

    def in_cotangents(self, told: Told, shape: tuple[int, ...]) -> Any:
        """Write a gradient in the symbols dL/ds of the gradients it came from."""
        parts = []
        for place, pull in told.pulls.items():
            if pull.formula is None:
                return None
            formula = pull.formula
            if place not in self.account.cotangents and place != self.places.root:
                symbol = sympy.Symbol(f"d{self.loss}/d{self.names[place]}", real=True)
                self.board.latex_names[symbol] = self.board.partial(
                    self.loss, self.names[place]
                ).latex
                formula = formula * symbolic(vector_of([symbol]).reshape(()))
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
                what = (
                    f"{self.board.formula(sympy.sympify(effect.factor)).text}: " if single else ""
                )
                remarks.append(f"{what}{effect.kind} {effect.name}")
            remarks.append(self.hooks_in(part))
        return ", ".join(filter(None, remarks))

    def silences(self) -> tuple[str, ...]:
        """Say where gradients ended, as something gave None."""
        told = self.account.silences
        words = (e.told("" if e.target is None else self.places.called(e.target)) for e in told)
        return tuple(dict.fromkeys(words))

    def seen_by_hooks(self) -> dict[Value, str]:
        """Find the gradients that full backward hooks saw: grad_output and grad_input."""
        found: dict[Value, str] = {}
        for passage in self.account.passages:
            for hook in passage.after:
                if hook.kind not in ("full backward", "legacy backward") or len(hook.seen) < 2:
                    continue
                for which, grads in zip(("grad_input", "grad_output"), hook.seen, strict=False):
                    for gradient in grads if isinstance(grads, tuple) else (grads,):
                        value = self._value_with(gradient)
                        if value is not None:
                            found.setdefault(value, f"{which} of {hook.name}")
        return found

    def _value_with(self, gradient: Any) -> Value | None:
        if gradient is None:
            return None
        for value in self.order:
            if value != self.places.root and _equal_entries(
                self.account.engine[value], gradient._array
            ):
                return value
        return None


def _equal_entries(one: Any, other: Any) -> bool:
    return one is not None and bool(
        one.size == other.size and one.reshape(-1).tolist() == other.reshape(-1).tolist()
    )


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
