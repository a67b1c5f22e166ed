"""Tell what a hook did to a gradient: a factor, a function of what it saw, or numbers only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.recording import HOOKS, HookFired
from minigrad.symbolic.array import SymbolicArray, entries
from minigrad.symbolic.equality import decided, finite, simplify, symbols_in
from minigrad.symbolic.regions import Region, kinks_in, rebuilt, sign_of

UNNAMED = "hook"  # how a lambda is called


# ---------------------------------------------------------------------- factors and functions


def _factor_between(old: Any, new: Any) -> Any:
    """Find what a gradient was multiplied by, if nothing else of its symbols is in it; or None."""
    if old == 0 or new == 0:
        return None if new != 0 else sympy.Integer(0)
    inside, ratio = symbols_in([old]), new / old
    (made, rest), (had, same) = new.as_coeff_Mul(), old.as_coeff_Mul()
    if rest == same:
        return made / had
    if symbols_in([ratio]) & inside and _is_small(ratio, 100):
        ratio = sympy.cancel(ratio)
    return None if symbols_in([ratio]) & inside else ratio


def _is_small(formula: Any, parts: int) -> bool:
    """Tell whether a formula has few parts, so that SymPy can be asked to do algebra with it."""
    return sum(1 for _ in islice(sympy.preorder_traversal(formula), parts + 1)) <= parts


def _function_between(old: Any, new: Any, entry: Any) -> Any:
    """Write what was made of a gradient as a function of it, g; None if that is not known."""
    inside = symbols_in([old])
    written = rebuilt(new, lambda *unchanged: None, {old: entry} if inside else {})
    if symbols_in([written]) & inside and _is_small(written, 80):
        # SymPy has merged it with something else: solve for a symbol that occurs once
        plain = sympy.expand(old)
        for symbol in sorted(inside, key=str):
            if plain.is_polynomial(symbol) and sympy.degree(plain, symbol) == 1:
                root = (entry - plain.coeff(symbol, 0)) / plain.coeff(symbol, 1)
                tried = sympy.simplify(new.subs(symbol, root))
                if not tried.free_symbols & inside:
                    return tried
    return None if symbols_in([written]) & inside else written


# ---------------------------------------------------------------------- cases

_CUTS = 5  # at more points than these a line is not cut
_MOST_CASES = 4
_LONG = 40  # letters in a case
_LONGEST = 60  # operations in a function that is looked at


@lru_cache(maxsize=200)
def in_cases(function: Any, variable: Any) -> Any:
    """Write a function in cases, one for each part of the line between its kinks.

    Args:
        function: An expression.
        variable: A real symbol.

    Returns:
        A `Piecewise` that is proved to be equal to it, or a formula without cases; None if there
        is no kink, or if cases would not be shorter to read.

    Example:
        >>> g = sympy.Symbol("g", real=True)
        >>> in_cases(sympy.Min(1, sympy.Max(-1, g)), g)
        Piecewise((-1, g < -1), (1, g > 1), (g, True))
    """
    if function.count_ops() > _LONGEST or not kinks_in([function]):
        return None
    cuts = _cuts(function, variable)
    if cuts is None or len(cuts) > _CUTS:
        return None
    ends = list(pairwise([-sympy.oo, *cuts, sympy.oo]))
    forms = [simplify(_between(variable, *each).settle(function)) for each in ends]
    if len(set(forms)) > _MOST_CASES or max(len(str(form)) for form in forms) > _LONG:
        return None
    middle = forms[len(forms) // 2]
    rest = max(forms, key=lambda form: (form == variable, forms.count(form), form == middle))
    parts = [(form, sympy.Interval.open(*each)) for form, each in zip(forms, ends, strict=True)]
    for cut, *sides in zip(cuts, forms, forms[1:], strict=False):
        value = finite(function, {variable: cut})
        fits = [form for form in sides if value in (None, form.subs(variable, cut))]
        form = rest if rest in fits else fits[0] if fits else value
        parts.append((form, sympy.FiniteSet(cut)))
    where: dict[Any, Any] = {}
    for form, part in parts:
        where[form] = where.get(form, sympy.S.EmptySet) | part
    cases = [(form, _condition(w, variable)) for form, w in where.items() if form != rest]
    written = sympy.Piecewise(*cases, (rest, True), evaluate=False) if cases else rest
    return written if decided(function, written) is None else None


def _condition(part: Any, variable: Any) -> Any:
    """Write that a variable is in a part of the line, with the variable in front: g > 1."""
    return part.as_relational(variable).replace(
        lambda each: each.is_Relational and each.rhs == variable, lambda each: each.reversed
    )


def _cuts(
    function: Any, variable: Any, low: Any = -sympy.oo, high: Any = sympy.oo
) -> list[Any] | None:
    """Cut a part of the line until a function has no kink in any; None if that can't be done."""
    part = _between(variable, low, high)
    kinks = (each for each in kinks_in([part.settle(function)]) if part.sign(each) is None)
    kink = next(kinks, None)
    if kink is None:
        return []
    try:
        roots = [root for root in sympy.solve(kink, variable) if root.is_real]
    except NotImplementedError:
        return None
    inside = (r for r in roots if all(sign_of(e.subs(variable, r)) == 1 for e in part.assumed))
    root = next(inside, None)
    if root is None:
        return None
    below, above = _cuts(function, variable, low, root), _cuts(function, variable, root, high)
    return None if below is None or above is None else [*below, root, *above]


def _between(variable: Any, low: Any, high: Any) -> Region:
    """Give a part of the line."""
    sides = [each for each in (variable - low, high - variable) if not each.is_infinite]
    return Region(assumed=dict.fromkeys(sides, 1))


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

    @property
    def cases(self) -> Any:
        """The function, in cases where that is short."""
        found = in_cases(self.function, self.entry)
        return self.function if found is None else found

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
    factor = _factor_between(old, new)
    if factor is not None:
        return HookEffect(name, kind, before, after, factor)
    entry = sympy.Symbol(letter, real=True)
    function = _function_between(old, new, entry)
    return HookEffect(name, kind, before, after, None, entry, function)


def _number_between(before: Any, after: Any) -> Any:
    """Find the simple number that a number was multiplied by, if that is plain to see."""
    old, new = before.item(), after.item()
    if not new:
        return sympy.Integer(0)
    if not old or not math.isfinite(old) or not math.isfinite(new):
        return None
    near = sympy.Rational(new / old).limit_denominator(1000)
    close = 2 * np.finfo(before.dtype).eps * abs(new)
    simple = near.q <= 10 or (near.p == 1 and near.q in (16, 20, 25, 50, 100, 1000))
    return near if simple and abs(old * before.dtype.type(float(near)) - new) <= close else None


def numbered(table: Mapping[Any, tuple[HookEffect, ...]]) -> dict[Any, tuple[HookEffect, ...]]:
    """Number the hooks that share a name and did different things: hook and hook_2.

    A log has no more of a hook than its name. What made different things of its gradients must be
    different hooks, if it is given as a formula; of lambdas of which not even that is known, each
    is taken for one of its own.
    """
    met: dict[str, list[Any]] = {}

    def named(effect: HookEffect) -> HookEffect:
        made = effect.function if effect.factor is None else effect.factor
        if effect.name != UNNAMED and (effect.factor is not None or made is None):
            return effect
        known = met.setdefault(effect.name, [])
        if made is None or made not in known:
            known.append(made)
        number = len(known) if made is None else known.index(made) + 1
        return replace(effect, name=f"{effect.name}_{number}") if number > 1 else effect

    return {at: tuple(map(named, effects)) for at, effects in table.items()}
