"""Cut space at the kinks of formulas, and give what they are in each part, where they have none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, BooleanFunction

from minigrad.symbolic.signs import sign_of

Floors = (sympy.floor, sympy.ceiling)
_BENT = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.DiracDelta)
_KINKS = (*_BENT, sympy.Max, sympy.Min, Relational)


@dataclass(frozen=True)
class Region:
    """A part of space, described by substitutions that lead into it and by conditions.

    Attributes:
        place: What to put for symbols, such as a positive `p` for `x` to be where x > 0.
        conditions: The same as conditions on the symbols: `x > 0`.
        meaning: For each symbol that was made for `place` what it is in terms of the others.
        assumed: Formulas whose sign is taken as known here because no substitution shows it.
    """

    place: Mapping[Any, Any] = field(default_factory=dict)
    conditions: tuple[Any, ...] = ()
    meaning: Mapping[Any, Any] = field(default_factory=dict)
    assumed: Mapping[Any, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(map(_said, self.conditions)) or "everywhere"

    def sign(self, formula: Any) -> int | None:
        """Give the sign that a formula has in all of this region, or None."""
        known = sign_of(formula)
        if known is not None:
            return known
        for each, sign in self.assumed.items():
            quotient = sign_of(sympy.cancel(formula / each))
            if quotient:
                return sign * quotient
            found = _multiple_and_more(formula, each, sign)
            if found:
                return found
        return None

    def enter(self, formula: Any) -> Any:
        """Write a formula of the original symbols as it is in this region."""
        moved = formula.subs(self.place, simultaneous=True) if self.place else formula
        return self.settle(moved.doit() if moved.has(sympy.Subs, sympy.Derivative) else moved)

    def settle(self, formula: Any) -> Any:
        """Decide all cases in a formula that are decided in this region."""
        return _settled(formula, self, {}) if formula.has(*_KINKS) else formula

    def original(self, formula: Any) -> Any:
        """Write a formula in the symbols that were there before any substitution."""
        for symbol in reversed(self.meaning):
            formula = formula.subs(symbol, self.meaning[symbol])
        return formula

    def admits(self, point: Mapping[Any, Any]) -> bool:
        """Tell whether a point has the signs that are assumed here."""
        for formula, sign in self.assumed.items():
            value = formula.subs(point)
            if not (value.is_number and value.is_real and value * sign > 0):
                return False
        return True


def _multiple_and_more(formula: Any, known: Any, sign: int) -> int | None:
    """Give the sign of a formula that is a multiple of a known one, and more to the same side."""
    terms, given = (sympy.expand(each).as_coefficients_dict() for each in (formula, known))
    shared = next((term for term in given if term in terms and not term.is_number), None)
    if shared is None:
        return None
    ratio = terms[shared] / given[shared]
    whole = sign if ratio > 0 else -sign
    rest = sign_of(sympy.expand(formula - ratio * known))
    return whole if rest in (0, whole) else None


def _said(condition: Any) -> str:
    sign = {sympy.Eq: "=", sympy.Ne: "!="}.get(type(condition))
    return f"{condition.lhs} {sign} {condition.rhs}" if sign else str(condition)


EVERYWHERE = Region()


def region_of(given: Any) -> Region:
    """Make a region of a mapping to substitute, or of a condition, or of both in a tuple.

    Raises:
        TypeError: If it is neither.
    """
    if isinstance(given, Region):
        return given
    if isinstance(given, Mapping):
        return Region(dict(given), tuple(_words(given)))
    if isinstance(given, tuple):
        place, narrowed = map(region_of, given)
        moved = {place.enter(each): sign for each, sign in narrowed.assumed.items()}
        return Region(place.place, (*place.conditions, *narrowed.conditions), {}, moved)
    if given is sympy.true:
        return EVERYWHERE
    known = isinstance(given, (Relational, BooleanFunction))
    parts = sorted(And.make_args(given), key=str) if known else ()
    if not parts or not all(isinstance(each, Relational) for each in parts):
        raise TypeError(
            f"a region is a substitution such as {{x: d}} or a condition such as x > 0, not {given}"
        )
    assumed = {}
    for each in parts:
        larger = isinstance(each, (sympy.Gt, sympy.Ge))
        assumed[each.lhs - each.rhs] = 1 if larger else -1
    return Region(conditions=tuple(parts), assumed=assumed)


def _words(place: Mapping[Any, Any]) -> Iterable[Any]:
    """Say a substitution as conditions: x > y where each x is y plus a positive symbol of its own.

    Where it is more than that, it says what it is: x = y + d + e.
    """
    values = list(place.values())
    for symbol, value in place.items():
        own = [s for s in value.free_symbols if s.is_positive and s not in place]
        base = value.subs(dict.fromkeys(own, 0))
        single = len(own) == 1 and sum(own[0] in v.free_symbols for v in values) == 1
        if single and sympy.diff(value, own[0]).is_number:
            yield (sympy.Gt if sign_of(value - base) == 1 else sympy.Lt)(symbol, base)
        else:
            yield sympy.Eq(symbol, value, evaluate=False)


# ---------------------------------------------------------------------- kinks


def kinks_in(formulas: Iterable[Any]) -> list[Any]:
    """List expressions that are 0 where one of some formulas has a kink or a jump.

    The simplest come first, and of nested ones only the innermost.

    Example:
        >>> import sympy
        >>> x, y = sympy.symbols("x y", real=True)
        >>> kinks_in([sympy.Abs(x) + sympy.Max(x, y), sympy.Piecewise((x, x > 1), (1, True))])
        [x, x - 1, x - y]
    """
    found = set()
    for formula in formulas:
        if not formula.has(*_KINKS):
            continue
        for node in sympy.preorder_traversal(formula):
            if isinstance(node, Relational):
                found.add(node.lhs - node.rhs)
            elif isinstance(node, _BENT):
                found.add(node.args[0])
            elif isinstance(node, (sympy.Max, sympy.Min)):
                first, second = sorted(node.args, key=sympy.default_sort_key)[:2]
                found.add(first - second)
    simple = (h for h in found if h.free_symbols and not h.has(*_KINKS, sympy.Piecewise))
    return sorted(simple, key=lambda h: (h.count_ops(), sympy.default_sort_key(h)))


def kink_nodes(formula: Any) -> list[Any]:
    """List the functions with a kink in a formula; a condition stands for the cases it parts."""
    if not formula.has(*_KINKS):
        return []
    found = (node for node in sympy.preorder_traversal(formula) if isinstance(node, _KINKS))
    return [sympy.Piecewise((1, n), (0, True)) if isinstance(n, Relational) else n for n in found]


def _settled(node: Any, region: Region, done: dict[Any, Any]) -> Any:
    if not node.args or node in done:
        return done.get(node, node)
    arguments = [_settled(each, region, done) for each in node.args]
    result = _settle_one(node, arguments, region)
    if result is None:
        same = all(a is b for a, b in zip(arguments, node.args, strict=True))
        result = node if same else node.func(*arguments)
    done[node] = result
    return result


def _settle_one(node: Any, arguments: list[Any], region: Region) -> Any:
    """Give what a function with a kink is where the sign of its argument is known, or None."""
    if isinstance(node, Relational):
        sign = region.sign(arguments[0] - arguments[1])
        if sign is None or (sign == 0 and not isinstance(node, (sympy.Eq, sympy.Ne))):
            return None
        return sympy.sympify(bool(type(node)(sign, 0)))
    if isinstance(node, _BENT):
        sign = region.sign(arguments[0])
        if not sign:
            return None
        if isinstance(node, sympy.Abs):
            return sign * arguments[0]
        if isinstance(node, sympy.sign):
            return sympy.Integer(sign)
        return sympy.Integer(0 if isinstance(node, sympy.DiracDelta) else (sign + 1) // 2)
    if isinstance(node, (sympy.Max, sympy.Min)):
        wanted, left = (1 if isinstance(node, sympy.Max) else -1), list(arguments)
        for each in arguments:
            others = (other for other in left if other is not each)
            if any(region.sign(other - each) == wanted for other in others):
                left = [other for other in left if other is not each]
        return node.func(*left)
    return None


# ---------------------------------------------------------------------- cutting


def cut(kink: Any, region: Region) -> list[Region]:
    """Cut a region in two, where an expression is positive and where it is negative."""
    kink = one_factor(kink, region)
    if kink.is_nonnegative or kink.is_nonpositive:
        sides: tuple[int, ...] = (1,) if kink.is_nonnegative else (-1,)
    else:
        sides = (1, -1)
    for variable in sorted(kink.free_symbols, key=lambda s: (bool(s.is_positive), str(s))):
        slope = sympy.diff(kink, variable)
        if variable in slope.free_symbols or not sign_of(slope) or len(sides) == 1:
            continue
        root = sympy.expand(-kink.subs(variable, 0) / slope)
        found = [_moved(kink, variable, root, sign, sign_of(slope) or 0, region) for sign in sides]
        if None not in found:
            return [each for each in found if each is not None]
    assumed = [{**region.assumed, kink: sign} for sign in sides]
    return [
        Region(
            region.place,
            (*region.conditions, _condition(region.original(kink), sign)),
            region.meaning,
            each,
        )
        for sign, each in zip(sides, assumed, strict=True)
    ]


def one_factor(kink: Any, region: Region) -> Any:
    """Give a factor whose sign is not known: where a product is 0, one of its factors is."""
    try:
        factors = sympy.Mul.make_args(sympy.factor(sympy.together(kink)))
    except (sympy.PolynomialError, NotImplementedError):
        return kink
    for factor in factors:
        base = factor.base if factor.is_Pow and factor.exp.is_Integer else factor
        if region.sign(base) is None:
            return base
    return kink


def _moved(
    kink: Any, variable: Any, root: Any, sign: int, slope: int, region: Region
) -> Region | None:
    """Lead into the region where the kink, 0 where a variable is `root`, has a sign."""
    new = sympy.Symbol(f"p_{len(region.meaning) + 1}", positive=True)
    above = sign * slope == 1
    if variable.assumptions0.keys() <= sympy.Symbol("r", real=True).assumptions0.keys():
        value = root + new if above else root - new
        meaning = variable - root if above else root - variable
    elif variable.is_positive and not variable.is_integer and sign_of(root) == 1:
        value = root + new if above else root / (1 + new)
        meaning = variable - root if above else root / variable - 1
    else:
        return None
    step = {variable: value}
    place = {symbol: each.subs(step) for symbol, each in region.place.items()}
    place[variable] = value
    return Region(
        place,
        (*region.conditions, _condition(region.original(kink), sign)),
        {**region.meaning, new: meaning},
        {each.subs(step): known for each, known in region.assumed.items()},
    )


def _condition(kink: Any, sign: int) -> Any:
    """Write that an expression has a sign, with as few minus signs as possible: x > y."""
    terms = sympy.Add.make_args(sympy.expand(kink))
    here = [term for term in terms if not term.is_number and not term.could_extract_minus_sign()]
    if not here:
        sign, terms = -sign, [-term for term in terms]
        here = [term for term in terms if not term.is_number]
    there = [-term for term in terms if term not in here]
    relation = sympy.Gt if sign == 1 else sympy.Lt
    return relation(sympy.Add(*here), sympy.Add(*there), evaluate=False)
