"""Kinds of exercises that SymPy judges: a formula in any equal form, a rule to be proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from minigrad import Tensor
from minigrad.classroom.behaviors import Unsolved
from minigrad.classroom.execution import Belongings, Outcome, run, said_of
from minigrad.classroom.exercises import Exercise, Finding, computed, wrong_kind
from minigrad.classroom.values import describe, is_stub, shortened

# How far off, relative to the right number, a decimal counts as the right number rounded.
_ROUNDED = 1e-3
# At how many points formulas with floats are compared, and what floats may lose there.
_POINTS, _LOST = 5, 1e-12
# A rule is written, and not asked for.
_BY_HAND = ("backward", "diff")


def _referee() -> ModuleType:
    """Load the part of minigrad that needs SymPy; it says so clearly where SymPy is missing."""
    import minigrad.symbolic

    return minigrad.symbolic


@dataclass(frozen=True, kw_only=True)
class Formula(Exercise):
    """The answer is a formula, and every form that is equal to the right one is right.

    It may be a SymPy expression, a tensor of symbols, a number or a fraction, and a list or matrix
    of these where there are several entries. Symbols count by their names. Besides the declared
    mistakes (`value=` is a formula here) it recognizes symbols that should not or should be there,
    lost signs, constant factors, and decimals where the exact number is asked for; for everything
    else it gives numbers at which the answer and the right formula differ.

    Args:
        expected: a function without arguments that gives the formula.

    Example:
        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> square = Formula(id="demo.9", asks="the derivative of x**3",
        ...                  expected=lambda: 3 * sympy.Symbol("x") ** 2,
        ...                  right="The power rule.", hints=("Which rule?", "The power rule."))
        >>> square.examine(2 * x**2 + x * x) is None
        True
        >>> square.examine(x**2).says
        'All fits but a constant factor: it is too small. Count the twos.'
    """

    expected: Callable[[], Any]

    def examine(self, answer: Any) -> Finding | None:
        """Let SymPy compare, then look for the mistake."""
        if isinstance(answer, str):
            return wrong_kind(answer, "a formula", "Write it with symbols, without quotes.")
        if callable(answer) and not isinstance(answer, Tensor):
            return wrong_kind(answer, "a formula", "Give what the function returns for symbols.")
        want = _entries(computed(self.expected))
        try:
            have = _entries(answer)
        except (TypeError, ValueError):
            return wrong_kind(answer, "a formula")
        if have.size != want.size:
            return Finding(f"It has {have.size} entries; {want.size} are asked for.", _named(have))
        have = _with_symbols_of(want, have)
        pairs = zip(have.flat, want.flat, strict=True)
        wrong = [(a, b) for a, b in pairs if a != b and not _equal(a, b)]
        if not wrong:
            return None
        said = self.known_mistake(
            have.item() if have.size == 1 else have,
            lambda value: _all_equal(have, _with_symbols_of(want, _entries(value))),
        )
        return Finding(said or _what_is_off(*wrong[0]), _named(have))


def _what_is_off(have: Any, want: Any) -> str:
    """Say how a formula differs from the right one, without giving that away."""
    sympy = _sympy()
    if have.is_number and want.is_number:
        if abs(float(have) - float(want)) <= _ROUNDED * abs(float(want)):
            return "Near, but rounded. The exact number is asked for: as a fraction."
    elif have.is_number:
        return "That is a number. Asked for is a formula, which holds for all values."
    elif want.is_number:
        return "There are symbols left in it, and a number is asked for: put all values in."
    for symbol in sorted(have.free_symbols - want.free_symbols, key=str):
        return f"It depends on {symbol}. Does the right one?"
    for symbol in sorted(want.free_symbols - have.free_symbols, key=str):
        return f"It does not depend on {symbol}. Should it not?"
    ratio = sympy.simplify(have / want) if want != 0 else sympy.oo
    if ratio == -1:
        return "All fits but the sign: look for a minus that was lost or added."
    if not have.free_symbols:
        return "Check each factor by itself, and keep fractions: Rational(3, 10) and not 0.3."
    if ratio.is_Rational and ratio != 0:
        size = "large" if abs(ratio) > 1 else "small"
        return f"All fits but a constant factor: it is too {size}. Count the twos."
    return _counterexample(have, want)


def _counterexample(have: Any, want: Any) -> str:
    referee = _referee()
    try:
        referee.equal(have, want)
    except referee.Refuted as refuted:
        at = refuted.counterexample
        place = ", ".join(f"{symbol} = {value}" for symbol, value in at.items())
        yours, due = (each.subs(at) for each in (have, want))
        yours, due = (each if each.is_Rational else each.evalf(6) for each in (yours, due))
        return f"At {place} yours is {yours}; it should be {due}."
    except referee.Undecided:
        pass
    return "SymPy cannot decide whether it is right. Is there a simpler way to write it?"


@dataclass(frozen=True, kw_only=True)
class Rule(Exercise):
    """The answer is a backward rule: a function of the gradient and the inputs, to be proved.

    It is called as `rule(grad, x, ...)` with tensors of symbols, and returns the gradient of each
    input: one, or a tuple. SymPy differentiates the forward by itself, and proves that the two are
    equal in every entry, or finds numbers at which they are not.

    Args:
        forward: a function of the same inputs, whose derivative the rule has to give.
        shapes: the inputs' names and shapes, one dict for each case; the rule is proved in all.

    Example:
        >>> cube = Rule(id="demo.9", asks="the rule of x**3", forward=lambda x: x**3,
        ...             shapes=[{"x": 2}], right="The power rule.",
        ...             hints=("Which rule?", "The power rule."))
        >>> cube.examine(lambda grad, x: grad * 3 * x * x) is None
        True
        >>> cube.examine(lambda grad, x: grad * x**2).says[:49]
        'The gradient of x is refuted at entry [0]. At g_{'
    """

    forward: Callable[..., Any]
    shapes: Sequence[Mapping[str, Any]]

    def examine(self, answer: Any) -> Finding | None:
        """Try to prove the rule, then look for the mistake."""
        if not callable(answer) or isinstance(answer, Tensor):
            return wrong_kind(answer, "a function", "Give its name without brackets behind it.")
        if is_stub(answer):
            raise Unsolved
        for case in self.shapes:
            inputs = [_referee().symbols(name, shape) for name, shape in case.items()]
            result = self.forward(*inputs)
            grad = _referee().symbols("g", tuple(result.shape))
            outcome = self._run(answer, grad, inputs)
            if outcome.trouble is not None:
                return Finding(outcome.trouble)
            problem = self._problem(outcome.value, grad, inputs, result, list(case))
            if problem is not None:
                gradients = _as_tuple(outcome.value)
                told = self._known_mistake(gradients, grad, inputs)
                return Finding(told or _without_grad(gradients, grad, list(case)) or problem)
        return None

    def _run(self, rule: Callable[..., Any], grad: Any, inputs: list[Any]) -> Outcome:
        """Call a rule; what it changed of its arguments is trouble, too."""
        noted = Belongings([grad, *inputs])
        outcome = run(rule, grad, *inputs, without=_BY_HAND)
        if outcome.unsolved:
            raise Unsolved
        if outcome.trouble is None:
            return replace(outcome, trouble=said_of(noted.changes()))
        reasons = [each.says for each in self.mistakes if each.brings(outcome.raised)]
        return replace(outcome, trouble=" ".join([outcome.trouble, *reasons[:1]]))

    def _problem(
        self, value: Any, grad: Any, inputs: list[Any], result: Any, names: list[str]
    ) -> str | None:
        gradients = _as_tuple(value)
        if any(each is None for each in gradients):
            return "It gave None. Is a return missing, or nothing behind it?"
        if len(gradients) != len(inputs):
            there = "is 1 input" if len(inputs) == 1 else f"are {len(inputs)} inputs"
            return f"It gave {len(gradients)} gradients, and there {there}."
        for name, tensor, gradient in zip(names, inputs, gradients, strict=True):
            if not isinstance(gradient, Tensor):
                return f"The gradient of {name} has to be a tensor; it is {describe(gradient)}."
            if gradient.shape != tensor.shape:
                shapes = tuple(gradient.shape), tuple(tensor.shape)
                return (
                    f"The gradient of {name} has the shape {shapes[0]}, and {name} itself has "
                    f"{shapes[1]}. Was {name} broadcast? Then a sum is missing, or there is one "
                    "too many."
                )
            foreign = _symbols_of(gradient) - _symbols_of(grad, *inputs)
            if foreign:
                return (
                    f"The gradient of {name} depends on {min(map(str, foreign))}, which is not of "
                    "this call. What does it keep from one call to the next, or take from outside?"
                )
            problem = _refutation(name, tensor, gradient, grad, result)
            if problem is not None:
                return problem
        return None

    def _known_mistake(self, have: Sequence[Any], grad: Any, inputs: list[Any]) -> str | None:
        for mistake in self.mistakes:
            if mistake.like is not None:
                known = _as_tuple(run(mistake.like, grad, *inputs).value)
                if len(have) == len(known) and all(map(_alike, have, known)):
                    return mistake.says
            if mistake.seen_in(have):
                return mistake.says
        return None


def _without_grad(gradients: Sequence[Any], grad: Any, names: list[str]) -> str | None:
    """Say which gradient does not depend on what arrives."""
    for name, gradient in zip(names, gradients, strict=False):
        if isinstance(gradient, Tensor) and not _symbols_of(gradient) & _symbols_of(grad):
            return (
                f"What arrives, the first argument, is not in the gradient of {name}. Each slope "
                "is multiplied by it, before anything is summed."
            )
    return None


def _refutation(name: str, tensor: Any, gradient: Any, grad: Any, result: Any) -> str | None:
    """Compare what a rule gave for one input with the sum that it has to be."""
    due = _entries(_referee().derivative((grad * result).sum(), tensor))
    found, ones = _entries(gradient), dict.fromkeys(_entries(grad).flat, 1)
    for index, have in np.ndenumerate(found):
        want = due[index]
        if not _equal(have, want) and not _rounded_to(have, want):
            where = f" at entry {list(index)}" if index else ""
            says = f"The gradient of {name} is refuted{where}. {_counterexample(have, want)}"
            everywhere = zip(found.flat, due.flat, strict=True)
            if len(ones) > 1 and all(_equal(a.subs(ones), b.subs(ones)) for a, b in everywhere):
                says += " With a gradient of ones it would have been right."
            return says
    return None


def _sympy() -> ModuleType:
    import sympy

    return sympy


def _entries(formula: Any) -> Any:
    """Give the expressions of a formula as an array of objects."""
    if isinstance(formula, Tensor):
        formula = formula.detach()
    return _referee().SymbolicArray(formula).view(np.ndarray)


def _with_symbols_of(want: Any, have: Any) -> Any:
    """Give formulas with symbols of the right assumptions: the names are what counts."""
    by_name = {symbol.name: symbol for each in want.flat for symbol in each.free_symbols}
    assumed = next((symbol.assumptions0 for symbol in by_name.values()), {"real": True})
    given = set().union(*(each.free_symbols for each in have.flat))
    meant = {s: by_name.get(s.name, _sympy().Symbol(s.name, **assumed)) for s in given}
    return np.vectorize(lambda each: each.xreplace(meant), otypes=[object])(have)


def _equal(a: Any, b: Any) -> bool:
    referee = _referee()
    try:
        return bool(referee.equal(a, b))
    except (referee.Refuted, referee.Undecided):
        return False


def _rounded_to(have: Any, want: Any) -> bool:
    """Tell whether two formulas differ only by what floats lose of numbers such as 1 / 3."""
    draw, symbols = Random(10), sorted((have - want).free_symbols, key=str)
    for _ in range(_POINTS):
        point = {symbol: _sympy().Rational(draw.randint(-997, 997), 499) for symbol in symbols}
        lost = abs(_sympy().N((have - want).subs(point), 30))
        if not (lost.is_finite and lost < _LOST):
            return False
    return True


def _symbols_of(*tensors: Tensor) -> set[Any]:
    return set().union(*(one.free_symbols for each in tensors for one in _entries(each).flat))


def _all_equal(a: Any, b: Any) -> bool:
    return a.size == b.size and all(map(_equal, a.flat, b.flat))


def _alike(a: Any, b: Any) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor) or a.shape != b.shape:
        return False
    return _all_equal(_entries(a), _entries(b))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _named(formula: Any) -> str:
    listed = [str(each) for each in formula.flat]
    text = listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"
    return f"the formula {shortened(text, 100)}"
