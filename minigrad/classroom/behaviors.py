"""Kinds of exercises whose answer is something to run: a function, or a hook in a scenario."""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from minigrad.classroom.describing import as_number, describe, leaves, same
from minigrad.classroom.exercise import Exercise, Finding, wrong_kind
from minigrad.classroom.running import called_with, run


class Unsolved(Exception):
    """A function said that it is not written yet."""


@dataclass(frozen=True)
class Trial:
    """What came of running an answer once.

    Args:
        label: the circumstances in words, such as "For the number 0.5".
        args: the arguments it was run on.
        result: what came.
        trouble: what went wrong, in words.
        changed: whether the arguments were changed on the way.
        gave: how to begin a sentence about the result.
        left: what was left changed for the whole process, in words.
    """

    label: str
    args: tuple[Any, ...]
    result: Any
    trouble: str | None = None
    changed: bool = False
    gave: str = "It gave"
    left: str | None = None


@dataclass(frozen=True)
class Property:
    """Something that has to hold for every result.

    Args:
        says: what is expected, in words, as it follows "Expected:".
        holds: a function of the result and the arguments that tells whether it does.
    """

    says: str
    holds: Callable[..., object]


@dataclass(frozen=True, kw_only=True)
class Behavior(Exercise):
    """What function and hook exercises share: run the answer, compare with the right one.

    Args:
        reference: the right answer, run on the same inputs; None where properties say it all.
        properties: what has to hold for each result.
        returns: a type that each result must have, such as tuple; any by default.
        without: names that the answer may not use, such as "backward" in an exercise by hand.
        digits: how many significant digits of each result have to be right.
    """

    reference: Callable[..., Any] | None = None
    properties: Sequence[Property] = ()
    returns: type | None = None
    without: Sequence[str] = ()
    digits: int = 5

    def __post_init__(self) -> None:
        """Check the declaration."""
        super().__post_init__()
        if self.reference is None and not self.properties:
            raise ValueError(f"exercise {self.id} needs a reference or properties")

    @abstractmethod
    def trials(self, subject: Callable[..., Any]) -> list[Trial]:
        """Run a function on every input.

        Args:
            subject: the learner's function, the reference, or a typical wrong one.
        """

    def examine(self, answer: Any) -> Finding | None:
        """Run the answer beside the reference, then look for the mistake."""
        if not callable(answer):
            return wrong_kind(
                answer,
                "a function",
                "Give the function itself: its name without brackets behind it.",
            )
        used = sorted(set(self.without) & _names_used(answer))
        if used:
            return Finding(
                f"Here it has to work without {used[0]!r}: that would skip the exercise."
            )
        found = self.trials(answer)
        targets = self.trials(self.reference) if self.reference else [None] * len(found)
        first = self._first_problem(found, targets)
        if first is None:
            left = next((trial.left for trial in found if trial.left is not None), None)
            return Finding(f"{left} (Here it was put back.)") if left else None
        for mistake in self.mistakes:
            if mistake.like is not None and self._alike(found, self.trials(mistake.like)):
                return Finding(mistake.says)
            if mistake.seen_in(found):
                return Finding(mistake.says)
        return (
            first
            if not self._constant(found, targets)
            else Finding("It gives the same result whatever goes in: does it use its arguments?")
        )

    def _first_problem(
        self, found: Sequence[Trial], targets: Sequence[Trial | None]
    ) -> Finding | None:
        for trial, target in zip(found, targets, strict=True):
            problem = self._problem(trial, target)
            if problem is not None:
                return Finding(f"{trial.label}: {problem}")
        return None

    def _problem(self, trial: Trial, target: Trial | None) -> str | None:
        if trial.trouble is not None:
            return trial.trouble
        came = f"{trial.gave} {describe(trial.result)}."
        if target is not None and trial.result is None and target.result is not None:
            return f"{trial.gave} None. Is a return missing, or nothing behind it?"
        if self.returns is not None and not isinstance(trial.result, self.returns):
            return f"{came} The result has to be of type {self.returns.__name__}."
        if trial.changed:
            return (
                "It changed what it was given. Make a new value, and leave the argument as it is."
            )
        if target is not None and not self._equal(trial.result, target.result):
            return f"{came} {self._difference(trial.result, target.result)}"
        for wanted in self.properties:
            outcome = run(wanted.holds, trial.result, *trial.args)
            if not outcome.value:
                return f"{came} Expected: {wanted.says}."
        return None

    def _equal(self, result: Any, expected: Any) -> bool:
        have, want = dict(leaves(result)), dict(leaves(expected))
        return have.keys() == want.keys() and all(
            same(have[path], want[path], self.digits) for path in want
        )

    def _difference(self, result: Any, expected: Any) -> str:
        have, want = dict(leaves(result)), dict(leaves(expected))
        if have.keys() != want.keys():
            if len(have) == len(want):
                return "Values are as many as expected, arranged differently: mind the brackets."
            return f"It should not be {len(have)} value{'s' if len(have) != 1 else ''}."
        pairs = [(as_number(have[path]), as_number(want[path])) for path in want]
        if any(a is None or b is None for a, b in pairs):
            return "The values do not fit."
        scaled = [(a, b) for a, b in pairs if a is not None and b]
        for factor, says in (
            (-1.0, "The size fits, the sign does not."),
            (2.0, "That is twice as much as expected."),
            (0.5, "That is half of what is expected."),
        ):
            if scaled and all(same(a, factor * b, self.digits) for a, b in scaled):
                return says
        if len(pairs) == 1:
            return "Work this case through by hand, and compare step by step."
        wrong = next(path for path in want if not same(have[path], want[path], self.digits))
        place = "".join(f"[{index!r}]" for index in wrong)
        return (
            f"Entry {place} is the first that does not fit: work it through by hand, and compare."
        )

    def _alike(self, found: Sequence[Trial], others: Sequence[Trial]) -> bool:
        return all(
            a.trouble == b.trouble
            and a.changed == b.changed
            and (self.returns is None or type(a.result) is type(b.result))
            and self._equal(a.result, b.result)
            for a, b in zip(found, others, strict=True)
        )

    def _constant(self, found: Sequence[Trial], targets: Sequence[Trial | None]) -> bool:
        results = [trial.result for trial in found if trial.result is not None]
        expected = [target.result for target in targets if target is not None]
        return (
            len(results) == len(found) == len(expected) > 1
            and all(self._equal(result, results[0]) for result in results[1:])
            and not all(self._equal(result, expected[0]) for result in expected[1:])
        )


@dataclass(frozen=True, kw_only=True)
class Function(Behavior):
    """The answer is a function; it is run on several inputs, drawn anew for each run.

    Args:
        inputs: gets a seeded `random.Random` and gives the argument tuples, one for each call.
            It is called anew for each function that is run: nobody sees another's leftovers.
        seed: for the random numbers.
        may_change: whether the function may change its arguments.

    Example:
        >>> square = Function(id="demo.8", asks="square(x), which returns x times x",
        ...                   right="Squares are never negative.",
        ...                   hints=("Multiply.", "By itself."),
        ...                   inputs=lambda rng: [(rng.uniform(1, 2),), (-3.0,)],
        ...                   reference=lambda x: x * x)
        >>> square.examine(lambda x: x ** 2) is None
        True
        >>> square.examine(lambda x: x * abs(x)).says
        'For the number -3.0: It gave the number -9.0. The size fits, the sign does not.'
    """

    inputs: Callable[[Random], Sequence[tuple[Any, ...]]]
    seed: int = 0
    may_change: bool = False

    def trials(self, subject: Callable[..., Any]) -> list[Trial]:
        """Call a function on each input.

        Args:
            subject: the function.
        """
        return [self._trial(subject, args) for args in self.inputs(Random(self.seed))]

    def _trial(self, subject: Callable[..., Any], args: tuple[Any, ...]) -> Trial:
        name = getattr(subject, "__name__", "f")
        trial = Trial(f"For {called_with(name, args)}", args, None)
        unfit = _does_not_take(subject, args)
        if unfit:
            return replace(trial, trouble=unfit)
        before = list(leaves(args))
        outcome = run(subject, *args)
        if outcome.unsolved:
            raise Unsolved
        changed = not self.may_change and not _unchanged(before, list(leaves(args)))
        return replace(
            trial,
            result=outcome.value,
            trouble=outcome.trouble,
            changed=changed,
            left=outcome.left,
        )


@dataclass(frozen=True, kw_only=True)
class Hook(Behavior):
    """The answer is a hook, or a function that registers hooks; a scenario runs with it.

    The scenario builds what it needs, puts the learner's function to work, runs forward and
    backward, and returns what it observed as a dict: names in words, such as "x.grad", to values.
    The right hook runs through the same scenario, and the observations are compared.

    Args:
        scenario: gets the learner's function (each call of it recorded) and returns observations.
        may_return: types that the hook may return besides None; empty where any will do.
        fires: whether the function has to be called at all in the scenario.
    """

    scenario: Callable[[Callable[..., Any]], Mapping[str, Any]]
    may_return: tuple[type, ...] = ()
    fires: bool = True

    def trials(self, subject: Callable[..., Any]) -> list[Trial]:
        """Run the scenario with a hook, and give one trial for each observation.

        Args:
            subject: the hook.
        """
        returned: list[Any] = []

        @functools.wraps(subject)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            result = subject(*args, **kwargs)
            returned.append(result)
            return result

        outcome = run(self.scenario, recorded)
        if outcome.unsolved:
            raise Unsolved
        trouble = outcome.trouble
        for result in returned:
            if self.may_return and result is not None and not isinstance(result, self.may_return):
                names = " or ".join(f"a {kind.__name__}" for kind in self.may_return)
                trouble = f"It returned {describe(result)}. It has to return {names}, or None."
        if trouble is None and self.fires and not returned:
            trouble = "It was never called. Is it registered, and in the right place?"
        if trouble is not None:
            # One trial for each observation of the right hook: so the two lists can be compared.
            names_seen = list(self.scenario(self.reference)) if self.reference else ["the run"]
            return [Trial("In the run with your answer", (), None, trouble) for _ in names_seen]
        return [
            Trial("After the run", (), seen, gave=f"{name} is", left=outcome.left)
            for name, seen in outcome.value.items()
        ]


def _does_not_take(subject: Callable[..., Any], args: tuple[Any, ...]) -> str | None:
    """Say whether a function cannot be called with these arguments."""
    try:
        signature = inspect.signature(subject)
    except (TypeError, ValueError):
        return None  # builtins without a signature: the call itself will tell
    try:
        signature.bind(*args)
    except TypeError:
        takes = ", ".join(signature.parameters) or "nothing"
        many = "one argument" if len(args) == 1 else f"{len(args)} arguments"
        return f"It is called with {many}, and it takes {takes}."
    return None


def _unchanged(before: Sequence[tuple[Any, Any]], after: Sequence[tuple[Any, Any]]) -> bool:
    """Compare arguments before and after a call, exactly; NaN equals itself here."""
    return len(before) == len(after) and all(
        path == other and (value == now or value is now or (value != value and now != now))
        for (path, value), (other, now) in zip(before, after, strict=True)
    )


def _names_used(function: Callable[..., Any]) -> set[str]:
    """Collect the global names and attributes that a function's code mentions."""
    code = getattr(function, "__code__", None)
    names: set[str] = set()
    pending = [code] if code is not None else []
    while pending:
        code = pending.pop()
        names.update(code.co_names)
        pending.extend(constant for constant in code.co_consts if inspect.iscode(constant))
    return names
