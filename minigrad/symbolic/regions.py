"""Tell signs, what each step needs to be a real number, and cut space at kinks and jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy
from sympy.core.relational import Relational


@lru_cache(maxsize=20_000)
def sign_of(formula: Any) -> int | None:
    """Give 1, -1 or 0 if the formula has this sign at all values of its symbols, else None.

    Example:
        >>> import sympy
        >>> p = sympy.Symbol("p", positive=True)
        >>> sign_of(-p / (1 + p)), sign_of(1 / (1 + p) - 1), sign_of(p - 1)
        (-1, -1, None)
    """
    bent = formula.has(sympy.Piecewise, sympy.Max, sympy.Min, sympy.Abs)
    for write in (lambda e: e, sympy.factor_terms, (lambda e: e) if bent else factored):
        shape = write(formula)
        if shape.is_extended_positive:
            return 1
        if shape.is_extended_negative:
            return -1
        if shape.is_zero:
            return 0
    return None


def factored(formula: Any) -> Any:
    """Write a formula as a product, if it is a quotient of polynomials in anything."""
    try:
        return sympy.factor(sympy.together(formula))
    except (sympy.PolynomialError, NotImplementedError):
        return formula


class Need(NamedTuple):
    """That an expression has a certain sign; else a step gives no real and finite number.

    Attributes:
        of: The expression.
        relation: ">", ">=" or "!=", to be followed by 0.
    """

    of: Any
    relation: str

    @property
    def is_met(self) -> bool:
        """Whether that is plain to see, as for numbers."""
        return bool((self.of.is_Number or self.of.is_Symbol) and self.holds(self.of))

    def holds(self, value: Any) -> bool | None:
        """Tell whether an expression has this sign; None if that is not known."""
        facts = {">": "is_positive", ">=": "is_nonnegative", "!=": "is_nonzero"}
        return getattr(value, facts[self.relation])


def _inside(relation: str) -> Callable[[Any], Iterable[Need]]:
    """Need an argument between -1 and 1."""
    return lambda a: (Need(1 - a, relation), Need(1 + a, relation))


def _power(base: Any, exponent: Any) -> Iterable[Need]:
    """A negative base has integer powers only, and 0 no negative ones."""
    if exponent.is_integer:
        return () if exponent.is_nonnegative else (Need(base, "!="),)
    if exponent.is_number:
        return (Need(base, ">=" if exponent.is_nonnegative else ">"),)
    return (Need(base, ">"),)


# For functions of NumPy, and for minigrad's own that minigrad.symbolic.special adds, what they
# need of an entry of each argument.
NEEDS: dict[Any, Callable[..., Iterable[Need]]] = {
    **dict.fromkeys(
        (np.true_divide, np.floor_divide, np.remainder, np.fmod), lambda a, b: (Need(b, "!="),)
    ),
    np.reciprocal: lambda a: (Need(a, "!="),),
    np.power: _power,
    np.sqrt: lambda a: (Need(a, ">="),),
    **dict.fromkeys((np.log, np.log2, np.log10), lambda a: (Need(a, ">"),)),
    np.log1p: lambda a: (Need(1 + a, ">"),),
    np.tan: lambda a: (Need(sympy.cos(a), "!="),),
    np.arcsin: _inside(">="),
    np.arccos: _inside(">="),
    np.arctanh: _inside(">"),
    np.arccosh: lambda a: (Need(a - 1, ">="),),
    np.arctan2: lambda a, b: (Need(a**2 + b**2, "!="),),
}


def reduced(needs: Iterable[Need], sign_of: Callable[[Any], int | None]) -> list[Need]:
    """Leave out what is so anyway. A border counts as left out: `>` stands for `>=`.

    Args:
        needs: What is needed.
        sign_of: Gives the sign of an expression where it is known.

    Example:
        >>> x = sympy.Symbol("x", real=True)
        >>> reduced([Need(x, ">="), Need(1 + x**2, "!="), Need(x**2, ">=")], sign_of)
        [Need(of=x, relation='>')]
    """
    found: dict[Need, None] = {}
    for of, relation in sorted(needs, key=lambda n: (sympy.default_sort_key(n.of), n.relation)):
        formula = factored(of) if relation == ">=" and of.is_polynomial() else of
        sign = sign_of(formula)
        if sign == 1 or (sign == -1 and relation == "!="):
            continue
        if relation == ">=" and formula.is_nonnegative:
            continue
        if relation == "!=":
            for factor in sympy.Mul.make_args(factored(of)):
                base = factor.base if factor.is_Pow and factor.exp.is_number else factor
                base = base.args[0] if isinstance(base, (sympy.Abs, sympy.sign)) else base
                if not sign_of(base):
                    found[Need(base, "!=")] = None
        else:
            found[Need(of, ">")] = None
    return [need for need in found if need.relation == ">" or Need(need.of, ">") not in found]


# ---------------------------------------------------------------------- what is rounded

ROUNDED = (sympy.floor, sympy.ceiling)


def rebuilt(node: Any, change: Callable[[Any, list[Any]], Any], done: dict[Any, Any]) -> Any:
    """Rewrite a formula from its leaves up; a part that occurs often is looked at once.

    Args:
        node: The formula.
        change: Gets a part and its new arguments, and gives what stands for it; None for the same
            function of these.
        done: What stands for parts that are known already; all others are added.
    """
    if not node.args or node in done:
        return done.get(node, node)
    arguments = [rebuilt(each, change, done) for each in node.args]
    result = change(node, arguments)
    if result is None:
        same = all(a is b for a, b in zip(arguments, node.args, strict=True))
        result = node if same else node.func(*arguments)
    done[node] = result
    return result


def beside_jumps(formula: Any) -> Any:
    """Write a formula as it is beside its jumps, with all that is rounded as a floor.

    Example:
        >>> x = sympy.Symbol("x", real=True)
        >>> beside_jumps(sympy.ceiling(x) - sympy.floor(x))
        1
    """
    if not formula.has(sympy.Mod, *ROUNDED):
        return formula
    return formula.rewrite(sympy.floor).replace(sympy.floor, _floor)


def _floor(argument: Any) -> Any:
    turned = argument.could_extract_minus_sign()
    return -sympy.floor(-argument) - 1 if turned else sympy.floor(argument)


def slope(formula: Any, symbol: Any) -> Any:
    """Differentiate; what is rounded is constant, apart from where it jumps.

    Example:
        >>> x = sympy.Symbol("x", real=True)
        >>> slope(x * sympy.floor(x), x)
        floor(x)
    """
    steps = {each: sympy.Dummy("n", integer=True) for each in formula.atoms(sympy.floor)}
    back = {dummy: each for each, dummy in steps.items()}
    return sympy.diff(formula.xreplace(steps), symbol).xreplace(back)


def jumps_of(formula: Any) -> list[Any]:
    """List the conditions under which nothing that is rounded jumps: x is no integer."""
    if not formula.has(sympy.Mod, *ROUNDED):
        return []
    inside = [each.args[0] for each in formula.rewrite(sympy.floor).atoms(sympy.floor)]
    plain = {-each if each.could_extract_minus_sign() else each: None for each in inside}
    return [sympy.Ne(each, sympy.floor(each), evaluate=False) for each in plain]


_PLAIN = frozenset(sympy.Symbol("r", real=True).assumptions0)  # what every real number fulfills


def in_integers(expression: Any) -> Any:
    """Write an expression with integers instead of floors, if it depends on integers alone.

    Such a one stays as it is for a while. Of any other the result is None.
    """
    steps = {each: sympy.Dummy("n", integer=True) for each in expression.atoms(sympy.floor)}
    whole = expression.xreplace(steps)
    return whole if all(symbol.is_integer for symbol in whole.free_symbols) else None


# ---------------------------------------------------------------------- regions

_BENT = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.DiracDelta)
KINKS = (*_BENT, sympy.Max, sympy.Min, Relational)


@dataclass(frozen=True, eq=False)
class Region:
    """A part of space, described by substitutions that lead into it and by conditions.

    Attributes:
        substitution: What to put for symbols, such as a positive `p` for `x` to be where x > 0.
        conditions: The same as conditions on the symbols: `x > 0`.
        meaning: For each symbol that was made for it what it is in terms of the others.
        assumed: Formulas whose sign is taken as known here because no substitution shows it.
    """

    substitution: Mapping[Any, Any] = field(default_factory=dict)
    conditions: tuple[Any, ...] = ()
    meaning: Mapping[Any, Any] = field(default_factory=dict)
    assumed: Mapping[Any, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(map(in_words, self.conditions)) or "everywhere"

    def sign(self, formula: Any) -> int | None:
        """Give the sign that a formula has in all of this region, or None."""
        known = sign_of(formula)
        if known is not None or not self.assumed or not isinstance(formula, sympy.Expr):
            return known
        for each, sign in self.assumed.items():
            quotient = sign_of(sympy.cancel(formula / each))
            if quotient:
                return sign * quotient
            for ratio in (1, -1):
                rest = sign_of(sympy.expand(formula - ratio * each))
                if rest is not None and rest in (0, ratio * sign):
                    return ratio * sign  # the same, and more to the same side
        signs: list[Any] = []
        for factor in sympy.Mul.make_args(factored(formula)):
            whole = factor.is_Pow and factor.exp.is_Integer
            base = factor.base if whole else factor
            found = sign_of(factor) if base == formula else sign_of(factor) or self.sign(base)
            signs.append(found**factor.exp if whole and found else found)
        return None if None in signs else int(math.prod(signs))

    @property
    def is_empty(self) -> bool:
        """Whether what is assumed here is known to hold nowhere."""
        return any(sign_of(each) not in (None, sign) for each, sign in self.assumed.items())

    def enter(self, formula: Any) -> Any:
        """Write a formula of the original symbols as it is in this region."""
        moved = formula.subs(self.substitution, simultaneous=True) if self.substitution else formula
        return self.settle(moved.doit() if moved.has(sympy.Subs, sympy.Derivative) else moved)

    def settle(self, formula: Any) -> Any:
        """Decide all cases in a formula that are decided in this region."""
        return rebuilt(formula, self._settled, {}) if formula.has(*KINKS) else formula

    def _settled(self, node: Any, arguments: list[Any]) -> Any:
        """Give what a function with a kink is where the sign of its argument is known, or None."""
        if isinstance(node, Relational):
            sign = self.sign(arguments[0] - arguments[1])
            if sign is None or (sign == 0 and not isinstance(node, (sympy.Eq, sympy.Ne))):
                return None
            return sympy.sympify(bool(type(node)(sign, 0)))
        if isinstance(node, _BENT):
            sign = self.sign(arguments[0])
            if not sign:
                return None
            # the others are constant on each side
            return sign * arguments[0] if isinstance(node, sympy.Abs) else node.func(sign)
        if isinstance(node, (sympy.Max, sympy.Min)):
            larger, left = (1 if isinstance(node, sympy.Max) else -1), list(arguments)
            for each in arguments:
                others = (other for other in left if other is not each)
                if any(self.sign(other - each) == larger for other in others):
                    left = [other for other in left if other is not each]
            return node.func(*left)
        return None

    def original(self, formula: Any) -> Any:
        """Write a formula in the symbols that were there before any substitution."""
        for symbol in reversed(self.meaning):
            formula = formula.subs(symbol, self.meaning[symbol])
        return formula

    def admits(self, point: Mapping[Any, Any]) -> bool:
        """Tell whether a point has the signs that are assumed here."""
        values = ((formula.subs(point), sign) for formula, sign in self.assumed.items())
        return all(v.is_number and v.is_real and sympy.sign(v) == sign for v, sign in values)

    def narrowed(self, formula: Any, sign: int) -> Region:
        """Give the part where a formula has a sign, without a substitution for it."""
        conditions = (*self.conditions, condition_of(self.original(formula), sign))
        return replace(self, conditions=conditions, assumed={**self.assumed, formula: sign})


EVERYWHERE = Region()


def in_words(condition: Any) -> str:
    """Write a condition as mathematics does.

    Example:
        >>> x = sympy.Symbol("x", real=True)
        >>> in_words(sympy.Eq(x, 1)), in_words(x > 1)
        ('x = 1', 'x > 1')
    """
    sign = {sympy.Eq: "=", sympy.Ne: "!="}.get(type(condition))
    return f"{condition.lhs} {sign} {condition.rhs}" if sign else str(condition)


def condition_of(kink: Any, sign: int | None) -> Any:
    """Write that an expression has a sign, with as few minus signs as possible: x > y.

    Args:
        kink: The expression.
        sign: 1, -1 or 0; None for any but 0.

    Example:
        >>> x, y = sympy.symbols("x y", real=True)
        >>> condition_of(y - x, 1), condition_of(x - 2, None)
        (y > x, Ne(x, 2))
    """
    terms = sympy.Add.make_args(sympy.expand(kink))
    here = [term for term in terms if not term.is_number and not term.could_extract_minus_sign()]
    if not here:
        sign, terms = sign and -sign, [-term for term in terms]
        here = [term for term in terms if not term.is_number]
    there = [-term for term in terms if term not in here]
    relation = sympy.Ne if sign is None else (sympy.Eq, sympy.Gt, sympy.Lt)[sign]
    return relation(sympy.Add(*here), sympy.Add(*there), evaluate=False)


# ---------------------------------------------------------------------- kinks


def kinks_in(formulas: Iterable[Any]) -> list[Any]:
    """List expressions that are 0 where one of some formulas has a kink or a jump.

    The simplest come first, and of nested ones only the innermost.

    Example:
        >>> x, y = sympy.symbols("x y", real=True)
        >>> kinks_in([sympy.Abs(x) + sympy.Max(x, y), sympy.Piecewise((x, x > 1), (1, True))])
        [x, x - 1, x - y]
    """
    found = set()
    for formula in formulas:
        if not formula.has(*KINKS):
            continue
        for node in sympy.preorder_traversal(formula):
            if isinstance(node, Relational):
                found.add(node.lhs - node.rhs)
            elif isinstance(node, _BENT):
                found.add(node.args[0])
            elif isinstance(node, (sympy.Max, sympy.Min)):
                first, second = sorted(node.args, key=sympy.default_sort_key)[:2]
                found.add(first - second)
    simple = (h for h in found if h.free_symbols and not h.has(*KINKS, sympy.Piecewise))
    return sorted(simple, key=lambda h: (h.count_ops(), sympy.default_sort_key(h)))


def kink_nodes(formula: Any) -> list[Any]:
    """List the functions with a kink in a formula; a condition stands for the cases it parts."""
    if not formula.has(*KINKS):
        return []
    found = (node for node in sympy.preorder_traversal(formula) if isinstance(node, KINKS))
    return [sympy.Piecewise((1, n), (0, True)) if isinstance(n, Relational) else n for n in found]


# ---------------------------------------------------------------------- cutting


def cut(kink: Any, region: Region) -> list[Region]:
    """Cut a region in two, where an expression is positive and where it is negative.

    Of integers alone, as in floor(x) - 2, an expression may be 0 in a part of positive length.
    That is the third one then.
    """
    kink = one_factor(kink, region)
    sides = (1,) if kink.is_nonnegative else (-1,) if kink.is_nonpositive else (1, -1)
    whole = in_integers(kink)
    if whole is not None:
        signs = sides if whole.is_zero is False else (*sides, 0)
        parts = [region.narrowed(kink, sign) for sign in signs]
        return [part for part in parts if not part.is_empty]
    for variable in sorted(kink.free_symbols, key=lambda s: (bool(s.is_positive), str(s))):
        slope = sympy.diff(kink, variable)
        if variable in slope.free_symbols or not sign_of(slope) or len(sides) == 1:
            continue
        root = sympy.expand(-kink.subs(variable, 0) / slope)
        found = [_moved(kink, variable, root, sign, sign_of(slope) or 0, region) for sign in sides]
        if None not in found:
            return [each for each in found if each is not None and not each.is_empty]
    return [region.narrowed(kink, sign) for sign in sides]


Formulas = list[list[Any]]


def parts(
    region: Region, formulas_in: Callable[[Region], Formulas], most: int, kinks: Any = None
) -> Iterator[tuple[Region, Formulas]]:
    """Cut a region at the kinks and jumps of formulas until none of them is in any part.

    Args:
        region: The region.
        formulas_in: Gives the formulas as they are in a region, in lists; kinks of the first list
            are cut at first. Without any the region stays whole.
        most: The most cuts.
        kinks: Takes the expressions at whose zeros it was cut; but not those of integers alone:
            where such a one is 0 is a part of its own.

    Yields:
        Each part, and the formulas as they are there.
    """
    waiting, cuts = [region], 0
    while waiting:
        here = waiting.pop()
        listed = formulas_in(here)
        found = (kink for several in listed for kink in kinks_in(several))
        unknown = (each for each in found if here.sign(each) is None)
        kink = next(unknown, None) if cuts < most else None
        if kink is None:
            yield here, listed
            continue
        cuts += 1
        kink = one_factor(kink, here)
        waiting += reversed(cut(kink, here))
        if kinks is not None and in_integers(kink) is None:
            kinks.append(here.original(kink))


def one_factor(kink: Any, region: Region) -> Any:
    """Give a factor whose sign is not known: where a product is 0, one of its factors is."""
    for factor in sympy.Mul.make_args(factored(kink)):
        base = factor.base if factor.is_Pow and factor.exp.is_Integer else factor
        if region.sign(base) is None:
            return base
    return kink


def _moved(
    kink: Any, variable: Any, root: Any, sign: int, slope: int, region: Region
) -> Region | None:
    """Lead into the region where the kink, 0 where a variable is `root`, has a sign."""
    new = sympy.Dummy(f"p_{len(region.meaning) + 1}", positive=True)
    above = sign * slope == 1
    if _PLAIN.issuperset(variable.assumptions0):  # no more is assumed of it
        value = root + new if above else root - new
        meaning = variable - root if above else root - variable
    elif variable.is_positive and not variable.is_integer and sign_of(root) == 1:
        value = root + new if above else root / (1 + new)
        meaning = variable - root if above else root / variable - 1
    else:
        return None
    step = {variable: value}
    return Region(
        {**{symbol: each.subs(step) for symbol, each in region.substitution.items()}, **step},
        (*region.conditions, condition_of(region.original(kink), sign)),
        {**region.meaning, new: meaning},
        {each.subs(step): known for each, known in region.assumed.items()},
    )
