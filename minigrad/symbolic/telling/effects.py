"""Tell what a hook did to a gradient: a factor, a function of what it saw, or numbers only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.recording import HookFired
from minigrad.symbolic.array import SymbolicArray, entries
from minigrad.symbolic.equality import Refuted, Undecided, equal
from minigrad.symbolic.points import points
from minigrad.symbolic.telling.cases import in_cases

UNNAMED = "hook"  # how a lambda is called
ENTRY = sympy.Symbol("g", real=True)  # of a gradient, where a hook is written as a function

KINDS = {
    "tensor pre-hook": "tensor hook",
    "node pre-hook": "node pre-hook",
    "node hook": "node hook",
    "full backward": "full backward hook",
    "full backward pre": "full backward pre-hook",
    "legacy backward": "legacy backward hook",
}


@dataclass(frozen=True)
class HookEffect:
    """What a hook made of a gradient.

    Attributes:
        name: The hook's name.
        kind: What sort of hook it is, such as "tensor hook" or "full backward hook".
        factor: What it multiplied by: an expression, or an array with one for each entry; None if
            it did something else.
        arguments: If it did something else, symbols for the entries of what it saw.
        function: The entries of what it made of these; None if that is not known.
        rule: What it makes of an entry `g`, if of each entry the same: in cases where that is
            short. None if an entry depends on others, or if this is not known.
        before: The gradient that came, as an array.
        after: What the hook left.
    """

    name: str
    kind: str
    factor: Any
    arguments: tuple[Any, ...]
    function: Any
    rule: Any
    before: Any
    after: Any

    def apply(self, gradient: Any) -> Any:
        """Do to an array of formulas what the hook did."""
        if self.factor is not None:
            return gradient * self.factor
        if self.function is None:
            return self.after
        values = dict(zip(self.arguments, entries(gradient).flat, strict=True))
        made = [each.subs(values, simultaneous=True) for each in entries(self.function).flat]
        return SymbolicArray(made).reshape(np.shape(self.after))


def effects_of(
    hooks: Sequence[HookFired], before: Any, after: Any, position: int
) -> tuple[HookEffect, ...]:
    """Tell what the hooks between two gradients did, one by one where the log shows that.

    Args:
        hooks: The hooks that fired in between.
        before: The gradient that came.
        after: The one that was left.
        position: Which of the gradients this is that the hooks saw.

    Returns:
        The hooks that changed something. None of them if the gradient was left as it was.
    """
    if before is None or after is None or _same(before, after):
        return ()
    acting = [hook for hook in hooks if hook.returned is not None or hook.in_place]
    steps, now = [], before
    for hook in acting:
        made = _returned(hook, position)
        if made is None:
            break
        if not _same(now, made):
            steps.append((hook, now, made))
        now = made
    if not steps or not _same(now, after):
        names = ", ".join(dict.fromkeys(name_of(hook) for hook in acting)) or UNNAMED
        kinds = ", ".join(dict.fromkeys(KINDS.get(hook.kind, hook.kind) for hook in acting))
        return (_effect(names, kinds or "hook", before, after),)
    return tuple(_effect(name_of(h), KINDS.get(h.kind, h.kind), a, b) for h, a, b in steps)


def name_of(hook: HookFired) -> str:
    """Give the name by which formulas speak of a hook."""
    return hook.name if hook.name.isidentifier() else UNNAMED


def _returned(hook: HookFired, position: int) -> Any:
    """Give what a hook returned in the place of one gradient; None if that can't be told."""
    returned = hook.returned
    if hook.kind == "tensor pre-hook":
        return None if returned is None else returned._array
    listed = returned if isinstance(returned, tuple) else (returned,)
    if not hook.seen or not isinstance(hook.seen[0], tuple) or len(listed) != len(hook.seen[0]):
        return None
    given = [k for k, each in enumerate(hook.seen[0]) if each is not None]
    place = position if len(given) == len(listed) else given[0] if len(given) == 1 else None
    if place is None or place >= len(listed) or listed[place] is None:
        return None
    return listed[place]._array


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if one.shape != other.shape:
        return False
    if isinstance(one, SymbolicArray) or isinstance(other, SymbolicArray):
        return bool(entries(one).tolist() == entries(other).tolist())
    return bool(np.array_equal(one, other, equal_nan=True))


def _effect(name: str, kind: str, before: Any, after: Any) -> HookEffect:
    if isinstance(after, SymbolicArray) or isinstance(before, SymbolicArray):
        first, second = entries(before), entries(after)
        factor = _factor(first, second)
        arguments, function, rule = (), None, None
        if factor is None:
            arguments, function = _function(first, second)
            rule = None if function is None else _rule(arguments, function)
        return HookEffect(name, kind, factor, arguments, function, rule, before, after)
    return HookEffect(name, kind, _number(before, after), (), None, None, before, after)


# ---------------------------------------------------------------------- numbers


def _number(before: Any, after: Any) -> Any:
    """Find the simple number that all entries were multiplied by, if there is one."""
    flat, made = before.reshape(-1), after.reshape(-1)
    if not made.any():
        return sympy.Integer(0)
    first = int(np.argmax(np.abs(flat)))
    if not flat[first] or not math.isfinite(flat[first]) or not math.isfinite(made[first]):
        return None
    near = sympy.Rational(float(made[first]) / float(flat[first])).limit_denominator(1000)
    factor = before.dtype.type(float(near))
    close = 2 * np.finfo(before.dtype).eps * np.abs(made)
    simple = near.q in (1, 2, 4, 5, 8, 10, 16, 20, 25, 50, 100, 1000)
    if not simple or not bool((np.abs(flat * factor - made) <= close).all()):
        return None
    # one number alone is a multiple of any other: take it for that only if that is plain to see
    return near if flat.size > 1 or near.q <= 10 or near.p == 1 else None


# ---------------------------------------------------------------------- formulas


def _factor(before: Any, after: Any) -> Any:
    """Find the factors of the entries: one for all, or an array of them; None if there are none."""
    found = []
    for old, new in zip(before.flat, after.flat, strict=True):
        factor = _factor_of(old, new)
        if factor is None:
            return None
        found.append((old, factor))
    told = {factor for old, factor in found if old != 0}
    if len(told) == 1:
        return told.pop()
    return SymbolicArray([factor for _, factor in found]).reshape(before.shape)


def _factor_of(old: Any, new: Any) -> Any:
    if new == 0:
        return sympy.Integer(0)
    if old == 0:
        return None
    if old == new:
        return sympy.Integer(1)
    ratios = []
    for point in islice(points(old.free_symbols | new.free_symbols), 2):
        bottom, top = old.subs(point), new.subs(point)
        if not bottom.is_number or bottom == 0 or not top.is_number:
            return None
        ratios.append(top / bottom)
    if len(ratios) == 2:
        numbers = [complex(ratio.evalf()) for ratio in ratios]
        if abs(numbers[0] - numbers[1]) < 1e-12 * abs(numbers[0]):
            guess = sympy.nsimplify(ratios[0]) if not ratios[0].is_Rational else ratios[0]
            return guess if _proved(new, guess * old) else None
    if not new.free_symbols - old.free_symbols:
        return None
    ratio = sympy.cancel(new / old)  # perhaps the hook brought a symbol of its own
    return ratio if not ratio.free_symbols & old.free_symbols else None


def _proved(one: Any, other: Any) -> bool:
    try:
        return equal(one, other)
    except (Refuted, Undecided):
        return False


def _function(before: Any, after: Any) -> tuple[tuple[Any, ...], Any]:
    """Write what a hook left as a function of what it saw, if nothing else is in it."""
    if before.size == 1:
        names = [ENTRY.name]
    else:
        names = [f"g_{{{','.join(map(str, at))}}}" for at in np.ndindex(before.shape)]
    arguments = tuple(sympy.Symbol(name, real=True) for name in names)
    inside: set[Any] = set().union(*(each.free_symbols for each in before.flat))
    function = []
    for entry in after.flat:
        written = entry
        for old, argument in zip(before.flat, arguments, strict=True):
            if old.free_symbols:
                written = _written(written, old, argument)
        if written.free_symbols & inside:
            return arguments, None
        function.append(written)
    return arguments, SymbolicArray(function).reshape(after.shape)


def _rule(arguments: tuple[Any, ...], function: Any) -> Any:
    """Write what is done to each entry, if it is the same and depends on no other entry."""
    rules = set()
    for argument, made in zip(arguments, function.flat, strict=True):
        if made.free_symbols.intersection(arguments) - {argument}:
            return None
        rules.add(made.xreplace({argument: ENTRY}))
        if len(rules) > 1:
            return None
    (rule,) = rules
    cases = in_cases(rule, ENTRY)
    return rule if cases is None else cases


def _written(formula: Any, old: Any, argument: Any) -> Any:
    """Put an argument in the place of a formula, also where that stands multiplied or shifted."""
    found = formula.xreplace({old: argument}).subs(old, argument)
    left = found.free_symbols & old.free_symbols
    if not left:
        return found
    # solve for a symbol that occurs in it to the first power: then it can be put in exactly
    for symbol in sorted(left, key=str):
        plain = sympy.expand(old)
        if not plain.is_polynomial(symbol) or sympy.degree(plain, symbol) != 1:
            continue
        slope = plain.coeff(symbol, 1)
        solved = (argument - plain.coeff(symbol, 0)) / slope
        tried = sympy.simplify(formula.subs(symbol, solved))
        if not tried.free_symbols & old.free_symbols:
            return tried
    return found
