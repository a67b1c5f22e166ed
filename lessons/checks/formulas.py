"""Kinds of exercises that SymPy judges: a formula in any equal form, a rule to be proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np

from minigrad import Tensor
from minigrad.classroom.behaviors import Function, Trial
from minigrad.classroom.execution import said_of
from minigrad.classroom.exercises import Exercise, Finding, wrong_kind
from minigrad.classroom.values import describe, shortened

# A fraction with such a denominator was a float, such as 1 - 1 / 3, and has lost its last digit.
_LONG = 10**12


def _sympy() -> ModuleType:
    import sympy

    return sympy


def _referee() -> ModuleType:
    """Load the part of minigrad that needs SymPy; it says so clearly where SymPy is missing."""
    import minigrad.symbolic

    return minigrad.symbolic


@dataclass(frozen=True, kw_only=True)
class Formula(Exercise):
    """The answer is a formula, and every form that is equal to the right one is right.

    It may be a SymPy expression, a tensor of symbols with one entry, or a number. Symbols count by
    their names. Besides the declared mistakes (whose versions are formulas here) it recognizes
    symbols that should not or should be there, lost signs and constant factors; for everything
    else it gives numbers at which the answer and the right formula differ.

    Args:
        expected: a function without arguments that gives the formula; by default the solution.
        symbols: the names of the symbols that the solution and the table are written in.

    Example:
        >>> square = Formula(id="demo.9", asks="the derivative of x**3", symbols="x",
        ...                  solution="slope = 3 * x**2",
        ...                  right="The power rule.", hints=("Which rule?", "The power rule."))
        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> square.examine(2 * x**2 + x * x) is None
        True
        >>> square.examine(x**2).says
        'All fits but a constant factor. Count the twos.'
    """

    expected: Any = ...
    symbols: str = ""

    @cached_property
    def names(self) -> dict[str, Any]:
        """What the solution and the table can name, the symbols included."""
        made = {name: _sympy().Symbol(name, real=True) for name in self.symbols.split()}
        return {**super().names, **made}

    def examine(self, answer: Any) -> Finding | None:
        """Let SymPy compare, then look for the mistake."""
        want = _entries(self.wanted).item()
        try:
            have = _entries(answer).item()
        except (TypeError, ValueError):
            advice = "Write it with symbols, without quotes; give what a function returns."
            return wrong_kind(answer, "a formula", advice)
        by_name = {symbol.name: symbol for symbol in want.free_symbols}
        have = have.xreplace({each: by_name.get(each.name, each) for each in have.free_symbols})
        if _equal(have, want):
            return None
        said = self.known_mistake(have, lambda value: _equal(have, _entries(value).item()))
        gave = f"the formula {shortened(str(have), 100)}"
        return Finding(said or _what_is_off(have, want), gave)


def _what_is_off(have: Any, want: Any) -> str:
    """Say how a formula differs from the right one, without giving that away."""
    for symbol in sorted(have.free_symbols - want.free_symbols, key=str):
        return f"It depends on {symbol}. Does the right one?"
    for symbol in sorted(want.free_symbols - have.free_symbols, key=str):
        return f"It does not depend on {symbol}. The right one does."
    ratio = _sympy().simplify(have / want)
    if ratio == -1:
        return "All fits but the sign: look for a minus that was lost or added."
    if ratio.is_Rational and ratio != 0:
        return "All fits but a constant factor. Count the twos."
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
class Rule(Function):
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
        >>> cube.examine(lambda grad, x: grad * x**2).says.rpartition("]: ")[2][:41]
        'The gradient of x is refuted at entry [0]'
    """

    forward: Callable[..., Any]
    shapes: Sequence[Mapping[str, Any]]
    inputs: Any = None
    without: Sequence[str] = ("backward", "diff")
    other_dtypes: bool = False

    def __post_init__(self) -> None:
        """Have symbols for inputs, and what SymPy finds for the reference."""
        object.__setattr__(self, "reference", self._derivatives)
        object.__setattr__(self, "inputs", lambda _: [self._symbols(each) for each in self.shapes])

    def _symbols(self, case: Mapping[str, Any]) -> tuple[Any, ...]:
        inputs = [_referee().symbols(name, shape) for name, shape in case.items()]
        return _referee().symbols("g", tuple(self.forward(*inputs).shape)), *inputs

    def _derivatives(self, grad: Any, *inputs: Any) -> tuple[Any, ...]:
        loss = (grad * self.forward(*inputs)).sum()
        return tuple(_referee().derivative(loss, each) for each in inputs)

    def _problem(self, trial: Trial, target: Trial | None) -> str | None:
        if trial.trouble is not None or trial.changed:
            return trial.trouble or said_of(trial.changed)
        (grad, *inputs), gradients = trial.args, _as_tuple(trial.result)
        due = _as_tuple(target and target.result)
        if len(gradients) != len(inputs):
            return f"It gave {describe(trial.result)}. Gradients asked for: {len(inputs)}."
        each = zip(self.shapes[0], inputs, gradients, due, strict=True)
        for name, tensor, gradient, want in each:
            it = f"The gradient of {name}"
            if not isinstance(gradient, Tensor):
                return f"{it} has to be a tensor; it is {describe(gradient)}."
            if gradient.shape != tensor.shape:
                return (
                    f"{it} has the shape {tuple(gradient.shape)}, and {name} itself has "
                    f"{tuple(tensor.shape)}. Was {name} broadcast? Then a sum is missing, or there "
                    "is one too many."
                )
            foreign = _symbols_of(gradient) - _symbols_of(grad, *inputs)
            if foreign:
                return (
                    f"{it} depends on {min(map(str, foreign))}, which is not of this call. What "
                    "does it keep from one call to the next, or take from outside?"
                )
            if not _symbols_of(gradient) & _symbols_of(grad):
                return (
                    f"What arrives, the first argument, is not in the gradient of {name}. Each "
                    "slope is multiplied by it, before anything is summed."
                )
            if said := _refutation(gradient, want, dict.fromkeys(_entries(grad).flat, 1)):
                return f"{it} is refuted{said}"
        return None

    def _alike(self, found: Sequence[Trial], others: Sequence[Trial]) -> bool:
        pairs = zip(found, others, strict=True)
        return all(_same(_as_tuple(a.result), _as_tuple(b.result)) for a, b in pairs)


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Compare what two rules gave."""
    shapes = [[getattr(each, "shape", None) for each in some] for some in (a, b)]
    if shapes[0] != shapes[1] or None in shapes[0]:
        return False
    pairs = ((_entries(one).flat, _entries(other).flat) for one, other in zip(a, b, strict=True))
    return all(all(map(_equal, *each)) for each in pairs)


def _refutation(gradient: Any, due: Any, ones: Mapping[Any, int]) -> str | None:
    """Give the first entry at which a gradient is not what is due, and numbers that show it."""
    have, want = _entries(gradient), _entries(due)
    for at in np.ndindex(have.shape):
        if not _equal(have[at], want[at]):
            where = f" at entry {list(at)}" if at else ""
            pairs = (
                (a.subs(ones), b.subs(ones)) for a, b in zip(have.flat, want.flat, strict=True)
            )
            hidden = len(ones) > 1 and all(_equal(*each) for each in pairs)
            says = " With a gradient of ones it would have been right." if hidden else ""
            return f"{where}. {_counterexample(have[at], want[at])}{says}"
    return None


def _entries(formula: Any) -> Any:
    """Give the expressions of a formula as an array of objects."""
    plain = formula.detach() if isinstance(formula, Tensor) else formula
    return _referee().SymbolicArray(plain).view(np.ndarray)


@cache
def _equal(a: Any, b: Any) -> bool:
    referee = _referee()
    fractions = a.atoms(_sympy().Rational)
    a = a.xreplace({each: each.limit_denominator() for each in fractions if each.q > _LONG})
    try:
        return bool(referee.equal(a, b))
    except (referee.Refuted, referee.Undecided):
        return False


def _symbols_of(*tensors: Tensor) -> set[Any]:
    return set().union(*(one.free_symbols for each in tensors for one in _entries(each).flat))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
