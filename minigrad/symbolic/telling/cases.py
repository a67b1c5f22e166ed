"""Write a function of one variable in plain cases: -1 if g < -1, 1 if g > 1, g otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy

from minigrad.symbolic.equality import Refuted, Undecided, equal, simplify
from minigrad.symbolic.own import own
from minigrad.symbolic.regions import Region, kinks_in
from minigrad.symbolic.signs import sign_of

_CUTS = 5  # at more points than these a line is not cut
_CASES = 4
_LONG = 40  # letters in a case
_LONGEST = 60  # operations in a function that is looked at


@dataclass(frozen=True)
class _Stretch(Region):
    """A part of the line; `place` has the variable as it is in there."""

    low: Any = -sympy.oo
    high: Any = sympy.oo

    def sign(self, formula: Any) -> int | None:
        """Give the sign that a formula has on all of it, or None."""
        known = sign_of(formula)
        return sign_of(formula.subs(self.place)) if known is None else known

    def has(self, point: Any) -> bool | None:
        """Tell whether a point is inside; None if that depends on other symbols."""
        above = 1 if self.low == -sympy.oo else sign_of(point - self.low)
        below = 1 if self.high == sympy.oo else sign_of(self.high - point)
        return None if above is None or below is None else above == below == 1


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
    stretches = _stretches(function, variable)
    if stretches is None:
        return None
    forms = [simplify(each.settle(function)) for each in stretches]
    cuts = [each.high for each in stretches[:-1]]
    values = [_value(function, variable, cut) for cut in cuts]
    _join(variable, cuts, values, forms)
    if len(set(forms)) > _CASES or max(len(str(form)) for form in forms) > _LONG:
        return None
    written = _written(variable, cuts, values, forms)
    try:
        return written if written is not None and equal(function, written) else None
    except (Refuted, Undecided):
        return None


def _stretches(function: Any, variable: Any) -> list[_Stretch] | None:
    """Cut the line until a function has no kink in any part; None if that can't be done."""
    cuts: list[Any] = []
    while True:
        parts = _between(variable, cuts)
        for part in parts:
            left = kinks_in([part.settle(function)])
            kink = next((each for each in left if part.sign(each) is None), None)
            if kink is not None:
                break
        else:
            return parts
        found = _roots(kink, variable, part)
        if not found or len(cuts) + len(found) > _CUTS:
            return None
        place = parts.index(part)
        cuts[place:place] = found


def _between(variable: Any, cuts: Sequence[Any]) -> list[_Stretch]:
    positive = own("p", positive=True)
    ends = [-sympy.oo, *cuts, sympy.oo]
    parts = []
    for low, high in pairwise(ends):
        if low == -sympy.oo:
            inside = -positive if high == sympy.oo else high - positive
        elif high == sympy.oo:
            inside = low + positive
        else:
            inside = low + (high - low) * positive / (1 + positive)
        place = {} if low == -sympy.oo and high == sympy.oo else {variable: inside}
        parts.append(_Stretch(place, low=low, high=high))
    return parts


def _roots(kink: Any, variable: Any, part: _Stretch) -> list[Any] | None:
    """Find where a kink is in a part of the line, in order."""
    try:
        found = sympy.solve(kink, variable)
    except NotImplementedError:
        return None
    inside = [root for root in found if root.is_real and part.has(root)]
    if any(part.has(root) is None for root in found if root.is_real is not False):
        return None
    ordered: list[Any] = []
    for root in inside:
        signs = [sign_of(root - other) for other in ordered]
        if None in signs or 0 in signs:
            return None
        ordered.insert(signs.count(1), root)
    return ordered


def _value(function: Any, variable: Any, point: Any) -> Any:
    """Give what a function is at a point; None if it has no value there."""
    try:
        value = function.subs(variable, point)
    except (TypeError, ValueError):
        return None  # SymPy does not compare with what is infinite
    return None if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) else value


def _join(variable: Any, cuts: list[Any], values: list[Any], forms: list[Any]) -> None:
    """Join neighbors with the same formula, where that holds between them too."""
    for place in reversed(range(len(cuts))):
        same = forms[place] == forms[place + 1]
        if same and values[place] in (None, forms[place].subs(variable, cuts[place])):
            del cuts[place], values[place], forms[place + 1]


def _written(variable: Any, cuts: list[Any], values: list[Any], forms: list[Any]) -> Any:
    if len(forms) == 1:
        return forms[0]
    fits = [  # whether the value on a cut is that of the formula before it, and behind it
        [value in (None, form.subs(variable, cut)) for form in forms[place : place + 2]]
        for place, (cut, value) in enumerate(zip(cuts, values, strict=True))
    ]
    middle = len(forms) // 2
    rest = max(forms, key=lambda form: (form == variable, forms.count(form), form == forms[middle]))
    cases = []
    for place, form in enumerate(forms):
        condition = sympy.true
        if place > 0:
            before, mine = fits[place - 1]
            if not before and not mine:  # a jump with a value of its own
                alone = sympy.Eq(variable, cuts[place - 1], evaluate=False)
                cases.append((values[place - 1], alone))
            condition &= (sympy.Ge if mine and not before else sympy.Gt)(variable, cuts[place - 1])
        if place < len(cuts):
            mine, behind = fits[place]
            left_to_it = behind and forms[place + 1] == rest
            condition &= (sympy.Le if mine and not left_to_it else sympy.Lt)(variable, cuts[place])
        if form != rest:
            cases.append((form, condition))
    return sympy.Piecewise(*cases, (rest, True), evaluate=False)
