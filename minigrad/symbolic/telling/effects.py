"""Tell what a hook did to a gradient: a factor, a function of what it saw, or numbers only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.recording import HookFired
from minigrad.symbolic.array import SymbolicArray, entries
from minigrad.symbolic.telling.cases import in_cases
from minigrad.symbolic.telling.relating import factor_between, function_between

UNNAMED = "hook"  # how a lambda is called

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
        entry: A symbol for one entry: `g`, or another name if a formula has that one already.
        rule: What it makes of this entry, if of each the same: in cases where that is short. None
            if an entry depends on others, or if this is not known.
        before: The gradient that came, as an array.
        after: What the hook left.
    """

    name: str
    kind: str
    factor: Any
    arguments: tuple[Any, ...]
    function: Any
    entry: Any
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
        names = ", ".join(dict.fromkeys(name_of(hook) for hook in acting)) or UNNAMED
        kinds = ", ".join(dict.fromkeys(KINDS.get(hook.kind, hook.kind) for hook in acting))
        return (_effect(names, kinds or "hook", before, after, entry),)
    return tuple(_effect(name_of(h), KINDS.get(h.kind, h.kind), a, b, entry) for h, a, b in steps)


def name_of(hook: HookFired) -> str:
    """Give the name by which formulas speak of a hook."""
    return hook.name if hook.name.isidentifier() else UNNAMED


def _of(hook: HookFired, held: Any, position: int) -> Any:
    """Give one gradient of those that a hook saw or returned; None if it can't be told which."""
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
    if one is other:
        return True
    if one.shape != other.shape:
        return False
    if isinstance(one, SymbolicArray) or isinstance(other, SymbolicArray):
        return bool(entries(one).tolist() == entries(other).tolist())
    return bool(np.array_equal(one, other, equal_nan=True))


def _effect(name: str, kind: str, before: Any, after: Any, entry: str) -> HookEffect:
    symbol = sympy.Symbol(entry, real=True)
    if isinstance(after, SymbolicArray) or isinstance(before, SymbolicArray):
        first, second = entries(before), entries(after)
        factor = factor_between(first, second)
        arguments, function, rule = (), None, None
        if factor is None:
            arguments, function = function_between(first, second, symbol)
            rule = None if function is None else _rule(arguments, function, symbol)
        return HookEffect(name, kind, factor, arguments, function, symbol, rule, before, after)
    factor = _number(before, after)
    return HookEffect(name, kind, factor, (), None, symbol, None, before, after)


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


def _rule(arguments: tuple[Any, ...], function: Any, entry: Any) -> Any:
    """Write what is done to each entry, if it is the same and depends on no other entry."""
    rules = set()
    for argument, made in zip(arguments, function.flat, strict=True):
        if made.free_symbols.intersection(arguments) - {argument}:
            return None
        rules.add(made.xreplace({argument: entry}))
        if len(rules) > 1:
            return None
    (rule,) = rules
    cases = in_cases(rule, entry)
    return rule if cases is None else cases
