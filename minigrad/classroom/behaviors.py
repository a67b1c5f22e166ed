"""Kinds of exercises whose answer is something to run: a function, or a hook in a scenario."""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import minigrad as torch
from minigrad.classroom.execution import Belongings, Outcome, called_with, put_back, run, said_of
from minigrad.classroom.exercises import Exercise, Finding, Objection, difference, wrong_kind
from minigrad.classroom.tables import Row
from minigrad.classroom.values import alike, describe, leaves, same

Code = Callable[..., Any]


class Unsolved(Exception):
    """A function said that it is not written yet."""


@dataclass(frozen=True)
class Trial:
    """The result of running an answer once.

    Args:
        label: the circumstances in words, such as "For the number 0.5".
        outcome: the result of the run.
        args: the arguments it was run on.
        changed: what the run did to the arguments: keys of `execution.SAYS`.
        gave: how to begin a sentence about the result.
    """

    label: str
    outcome: Outcome
    args: tuple[Any, ...] = ()
    changed: frozenset[str] = frozenset()
    gave: str = "It gave"

    @property
    def result(self) -> Any:
        """What came."""
        return self.outcome.value

    @property
    def trouble(self) -> str | None:
        """What went wrong, in words."""
        return self.outcome.trouble


Trials = list[Trial]


@dataclass(frozen=True)
class Circumstances:
    """Under which an answer is run: each is run under several.

    Args:
        dtype: the default dtype, of which most tensors will be.
        seed: for the random numbers of the inputs.
    """

    dtype: Any = torch.float32
    seed: int = 0


FIRST, AGAIN = Circumstances(), Circumstances(torch.float64, seed=1)


@dataclass(frozen=True, kw_only=True)
class Behavior(Exercise):
    """What function and hook exercises share: run the answer, compare with the right one.

    Args:
        reference: the right answer, run on the same inputs: the solution, if nothing else is given.
        returns: a type that each result must have, such as tuple; any by default.
        without: names of functions that the answer may not call, in whatever way, such as
            "backward" in an exercise by hand, which forbids all that starts the engine.
        digits: how many significant digits of each result have to be right.
        may_change: what the answer may change of what it is given, and leave behind, besides what
            the reference does: keys of `execution.SAYS`.
        other_dtypes: whether it has to do its work in float64, too.
    """

    reference: Any = ...
    returns: type | None = None
    without: Sequence[str] = ()
    digits: int = 5
    may_change: Sequence[str] = ()
    other_dtypes: bool = True

    @abstractmethod
    def trials(self, subject: Code, when: Circumstances, without: Sequence[str] = ()) -> Trials:
        """Run a function on every input.

        Args:
            subject: the learner's function, the reference, or a typical wrong one.
            when: under which circumstances.
            without: names of what it may not call.
        """

    def examine(self, answer: Any) -> Finding | None:
        """Run the answer beside the reference, twice, and look for the mistake."""
        if not callable(answer):
            advice = "Give the function itself: its name, without brackets."
            return wrong_kind(answer, "a function", advice)
        finding = self._examined(answer, FIRST)
        if finding is not None:
            return finding
        second = AGAIN if self.other_dtypes else replace(AGAIN, dtype=FIRST.dtype)
        finding = self._examined(answer, second)
        return finding and Finding(
            f"The first run was right. A second one, with other numbers of {second.dtype}, comes "
            f"out wrong. {finding.says} What does it keep from one run to the next?"
        )

    def _examined(self, answer: Any, when: Circumstances) -> Finding | None:
        with put_back():
            torch.set_default_dtype(when.dtype)
            found = self.trials(answer, when, self.without)
            right = self._of(self.right_answer, when)
            for trial, target in zip(found, right, strict=True):
                problem = self._problem(trial, target)
                if problem is not None:
                    return self._explained(f"{trial.label}: {problem}", trial, found, right, when)
            allowed = {said for each in right for said in each.outcome.left}
            left = [said for each in found for said in each.outcome.left if said not in allowed]
            return Finding(f"{left[0]} (Here it was put back.)") if left else None

    @property
    def right_answer(self) -> Any:
        """The reference, or else the solution."""
        return self.solved if self.reference is ... else self.reference

    @cached_property
    def wrong_answers(self) -> list[tuple[Row, Code]]:
        """Those of the table, each with its row."""
        pairs = ((row, each.answer(self.names)) for row in self.rows for each in row.versions)
        return [(row, answer) for row, answer in pairs if callable(answer)]

    def _of(self, known: Code, when: Circumstances) -> Trials:
        """Run the right answer or one of the table; what came is kept, as it is always the same."""
        kept = self.__dict__.setdefault("_kept", {})
        if (known, when) not in kept:
            kept[known, when] = self.trials(known, when)
        found: Trials = kept[known, when]
        return found

    def _explained(
        self, says: str, trial: Trial, found: Trials, right: Trials, when: Circumstances
    ) -> Finding:
        """Say what is behind the first problem: a typical mistake, if it is one."""
        for row in self.rows:
            if row.brings(f"{trial.outcome.raised} {trial.trouble}"):
                return Finding(f"{says} {row.says}")
        if any(each.trouble is not None for each in found):
            return Finding(says)
        seen = {"trials": found, "seen": self.seen(found), "right": self.seen(right)}
        wrong = [(row, self._of(answer, when)) for row, answer in self.wrong_answers]
        for row in self.rows:  # first what fits altogether, in order
            if row.holds(self.names, **seen) or any(
                self._alike(found, others) for each, others in wrong if each is row
            ):
                return Finding(row.says)
        # then what fits wherever it is wrong, in most places first
        places = {row.says: self._explains(found, others, right) for row, others in wrong}
        most = max(places, key=lambda each: places[each], default="")
        if most and places[most]:
            return Finding(most)
        if [self._constant(found), self._constant(right)] == [True, False]:
            says = "It gives the same result whatever goes in: does it use its arguments?"
        return Finding(says)

    def seen(self, trials: Trials) -> Any:
        """What the expressions of a table call `seen`, and of the right answer `right`."""
        return [each.result for each in trials]

    def _explains(self, found: Trials, others: Trials, right: Trials) -> int:
        """Count in how many places a wrong answer is wrong just as this one, if it is in all."""
        wrong = sum(not self._alike([a], [c]) for a, c in zip(found, right, strict=True))
        three = zip(found, others, right, strict=True)
        off = [(a, b) for a, b, c in three if not self._alike([b], [c])]
        fits = all(self._alike([a], [b]) for a, b in off)
        return len(off) if fits and 2 * len(off) >= wrong else 0

    def _constant(self, trials: Trials) -> bool:
        first = trials[0].result if len(trials) > 1 else None
        return first is not None and all(alike(t.result, first, self.digits) for t in trials)

    def _problem(self, trial: Trial, target: Trial) -> str | None:
        if trial.trouble is not None:
            return trial.trouble
        result, expected = trial.result, target.result
        came = f"{trial.gave} {describe(result)}."
        if result is None and expected is not None:
            return f"{trial.gave} None. Is a return missing, or is there nothing after it?"
        if self.returns is not None and not isinstance(result, self.returns):
            return f"{came} The result has to be of type {self.returns.__name__}."
        if not alike(result, expected, self.digits):
            have, want = dict(leaves(result)), dict(leaves(expected))
            fits = functools.partial(same, digits=self.digits)
            return f"{came} {difference(have, want, self.digits, fits)}"
        changed = trial.changed - self._allowed
        if changed:
            return said_of(changed)
        tensors = [each for each in (result, expected) if isinstance(each, torch.Tensor)]
        dtypes = [each.dtype for each in tensors if each.dtype.is_floating_point]
        if len(dtypes) == 2 and dtypes[0] != dtypes[1]:
            kinds = f"of {dtypes[0]}, and should be of {dtypes[1]}"
            return f"The numbers are right, but {kinds}: the type of what went in."
        return None

    @cached_property
    def _allowed(self) -> frozenset[str]:
        """What may be changed: what is declared, and what the right answer changes."""
        right = self._of(self.right_answer, FIRST)
        return frozenset(self.may_change).union(*(each.changed for each in right))

    def _alike(self, found: Trials, others: Trials) -> bool:
        return all(
            a.trouble is None
            and b.trouble is None
            and a.changed - self._allowed == b.changed - self._allowed
            and (self.returns is None or type(a.result) is type(b.result))
            and alike(a.result, b.result, self.digits)
            for a, b in zip(found, others, strict=True)
        )


@dataclass(frozen=True, kw_only=True)
class Function(Behavior):
    """The answer is a function; it is run on several inputs, drawn again for each run.

    Args:
        inputs: gets a seeded `random.Random` and gives the argument tuples, one for each call.
            It is called again for each function that is run: nobody sees another's leftovers.

    Example:
        >>> square = Function(id="demo.8", asks="square(x), which returns x times x",
        ...                   right="Squares are never negative.",
        ...                   hints=("Multiply.", "By itself."),
        ...                   inputs=lambda rng: [(rng.uniform(1, 2),), (-3.0,)],
        ...                   reference=lambda x: x * x)
        >>> square.examine(lambda x: x ** 2) is None
        True
        >>> square.examine(lambda x: x * abs(x)).says.partition(",")[0]
        'For the number -3.0: It gave the number -9.0. Right size'
    """

    inputs: Callable[[Random], Sequence[tuple[Any, ...]]]

    def trials(self, subject: Code, when: Circumstances, without: Sequence[str] = ()) -> Trials:
        """Call a function on each input.

        Args:
            subject: the function.
            when: under which circumstances.
            without: names of what it may not call.
        """
        found: Trials = []
        name = getattr(subject, "__name__", "f")
        for args in self.inputs(Random(when.seed)):
            if found and found[-1].outcome.endless:
                found.append(found[-1])
                continue
            noted = Belongings(args)
            unfit = _does_not_take(subject, args, {})
            label = f"For {called_with(name, args)}"  # as they came, before anything changes them
            outcome = Outcome(trouble=unfit) if unfit else run(subject, *args, without=without)
            if outcome.unsolved:
                raise Unsolved
            found.append(Trial(label, outcome, args, frozenset(noted.changes())))
        return found


@dataclass(frozen=True, kw_only=True)
class Hook(Behavior):
    """The answer is a hook, or a function that registers hooks; a scenario runs with it.

    The scenario builds what it needs, puts the learner's function to work, runs forward and
    backward, and returns what it observed as a dict: names in words, such as "x.grad", to values.
    The right hook runs through the same scenario, and the observations are compared.

    Args:
        scenario: gets the learner's function (each call of it recorded) and returns observations.
        may_return: types that the hook may return besides None; empty where any will do.

    Example:
        >>> def scenario(hook):
        ...     x = torch.tensor([3.0], requires_grad=True)
        ...     x.register_hook(hook)
        ...     (x * 2).sum().backward()
        ...     return {"x.grad": x.grad}
        >>> double = Hook(id="demo.9", asks="a hook that doubles", right="It's twice the gradient.",
        ...               hints=("Return it.", "Times 2."), reference=lambda grad: grad * 2,
        ...               scenario=scenario)
        >>> double.examine(lambda grad: grad + grad) is None
        True
        >>> double.examine(lambda grad: grad).says.partition("]. ")[2]
        'Half of what it should be: look for a lost factor of 2.'
    """

    scenario: Callable[[Callable[..., Any]], Mapping[str, Any]]
    may_return: tuple[type, ...] = ()

    def trials(self, subject: Code, when: Circumstances, without: Sequence[str] = ()) -> Trials:
        """Run the scenario with a hook, and give one trial for each observation.

        Args:
            subject: the hook.
            when: under which circumstances.
            without: names of what it may not call.
        """
        calls = _Calls(subject)
        outcome = run(self.scenario, calls.recorded, without=without, only_inside=calls.inside)
        if outcome.unsolved:
            raise Unsolved
        trouble = self._trouble(calls, outcome)
        if trouble is not None:
            # One trial for each observation of the right hook: so the two lists can be compared.
            right = self.right_answer
            many = 1 if subject is right else len(self._of(right, when))
            stopped = replace(outcome, value=None, trouble=trouble)
            return [Trial("In the run with your answer", stopped)] * many
        changed = frozenset(calls.changed)
        return [
            Trial("After the run", replace(outcome, value=seen), (), changed, f"{name} is")
            for name, seen in outcome.value.items()
        ]

    def seen(self, trials: Trials) -> Any:
        """What was observed, by its name."""
        return {each.gave.removesuffix(" is"): each.result for each in trials}

    def _trouble(self, calls: _Calls, outcome: Outcome) -> str | None:
        trouble = outcome.trouble
        if outcome.checks and calls.returned:
            trouble = (
                f"It returned {describe(calls.returned[-1])}, and the run couldn't continue with "
                f"that. ({outcome.raised})"
            )
        for result in calls.returned:
            if self.may_return and result is not None and not isinstance(result, self.may_return):
                names = " or ".join(f"a {kind.__name__}" for kind in self.may_return)
                trouble = f"It returned {describe(result)}. It has to return {names}, or None."
        if trouble is None and not calls.returned:
            trouble = "It was never called. Did you register it, and in the right place?"
        return trouble


class _Calls:
    """The calls of an answer in a scenario: what came back, and what they changed.

    Args:
        subject: the answer.
    """

    def __init__(self, subject: Code) -> None:
        self.returned: list[Any] = []
        self.changed: set[str] = set()
        self.inside: list[Any] = []

        @functools.wraps(subject)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            unfit = _does_not_take(subject, args, kwargs)
            if unfit:
                raise Objection(unfit)
            noted = Belongings([*args, *kwargs.values()])
            self.inside.append(True)
            try:
                result = subject(*args, **kwargs)
            finally:
                self.inside.pop()
            self.changed |= noted.changes()
            self.returned.append(result)
            return result

        self.recorded = recorded


def _does_not_take(subject: Code, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """Say whether a function cannot be called with these arguments."""
    try:
        signature = inspect.signature(subject)
    except (TypeError, ValueError):
        return None  # builtins without a signature: the call itself will tell
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        takes = ", ".join(signature.parameters) or "nothing"
        many = "one argument" if len(args) == 1 else f"{len(args)} arguments"
        named = f", and {', '.join(kwargs)} by name," if kwargs else ""
        return f"It is called with {many}{named or ','} and it takes {takes}."
    return None
