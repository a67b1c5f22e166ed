"""Hold what a learner goes on with in lesson 17, and the kinds of its exercises."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from minigrad.classroom import tables
from minigrad.classroom.behaviors import Function, Unsolved
from minigrad.classroom.execution import Outcome, run
from minigrad.classroom.exercises import Exercise, Finding, wrong_kind
from minigrad.classroom.values import alike, describe, is_stub

from .programs import array_of, difference, first_difference

Probe = Callable[[Any], Any]

CHECKPOINTS = tuple(f"17.{number}" for number in range(1, 8))
_MOST_LINES, _DIGITS = 100_000, 6
_TURNS = ("", "Once more, from a fresh start: ")

_accepted: dict[str, Any] = {}

# ------------------------------------------------------------------ whose answers


@cache
def _solved() -> dict[str, tables.Program]:
    found = {each: tables.solution(each) for each in CHECKPOINTS}
    return {each: program for each, program in found.items() if program}


def built(below: Mapping[str, Any]) -> dict[str, Any]:
    """Run the answers of the solved notebook, each on top of those before it.

    Args:
        below: answers that take the place of some; for 17.3, the class Broadcasting.

    Returns:
        What they define and what they use; `mine` there gives one of them.
    """
    texts = {each: program.source for each, program in _solved().items()}
    texts["17.3"] += "\n" + next(c for c in tables.cells("17") if "class Broadcasting" in c)
    space = tables.imports("17", "\n".join(texts.values()))
    space["mine"] = lambda checkpoint: space[_solved()[checkpoint].gives]
    for each, text in texts.items():
        exec(compile(text, f"<minigrad {each}>", "exec", dont_inherit=True), space)
        if each in below:
            space["Broadcasting" if each == "17.3" else _solved()[each].gives] = below[each]
    return space


@cache
def reference() -> dict[str, Any]:
    """Give what the solved notebook defines."""
    return built({})


def mine(checkpoint: str, use_reference: bool = False) -> Any:
    """Give the answer to a checkpoint that `check` has accepted, or the reference's otherwise.

    Args:
        checkpoint: such as "17.3".
        use_reference: whether the reference's is wanted in any case.

    Raises:
        KeyError: where there is no such checkpoint.
    """
    other = reference()["mine"](checkpoint)
    return other if use_reference else _accepted.get(checkpoint, other)


def whose(until: str = "17.7") -> str:
    """Say which checkpoints go on with the learner's own answers, and which with the reference's.

    Args:
        until: the last checkpoint that is asked about.

    Example:
        >>> whose().partition(":")[0]
        'yours'
    """
    known = [each for each in CHECKPOINTS if each <= until]
    own = ", ".join(each for each in known if each in _accepted)
    other = ", ".join(each for each in known if each not in _accepted)
    return f"yours: {own or 'none yet'}; the reference's: {other or 'none'}"


def note(checkpoint: str, answer: Any) -> None:
    """Go on with this answer from here on; with None for it, with the reference's."""
    _accepted.pop(checkpoint, None)
    if answer is not None:
        _accepted[checkpoint] = answer


@contextmanager
def _as_accepted(answers: Mapping[str, Any]) -> Iterator[None]:
    """Go on with these answers for a while."""
    before = dict(_accepted)
    try:
        _accepted.clear()
        _accepted.update(answers)
        yield
    finally:
        _accepted.clear()
        _accepted.update(before)


# ------------------------------------------------------------------ kinds of exercises


@dataclass(frozen=True, kw_only=True)
class FunctionCheckpoint(Function):
    """A function is to be written; the learner goes on with it once it is right."""

    def examine(self, answer: Any) -> Finding | None:
        """Run it as every function is run, and keep it if nothing is found."""
        note(self.id, None)
        finding = super().examine(answer)
        if finding is None:
            note(self.id, answer)
        return finding


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Exercise):
    """A class is to be written. It is tried step by step, and the first difference is shown.

    In the table, `?` is asked of `seen`, what a probe gave (None where it raised `raised`), of
    `right`, what it gives with the solution, and of `probe`, its name. A wrong version is
    recognized by the probe that it fails first, and what is seen there.

    Args:
        probes: what is tried, the simplest first. Each gets the class and gives what is seen. Its
            docstring says what that is, and below, what is wrong where no row of the table fits.
        methods: what the class has to have, "name call; name call".
        most_lines: how many lines of the learner's a probe may run through, for those with many.
        programs: the kind of random programs that are run in the end, if any.
        base: what the class is to be built on, as it's written, and a method it gets from there.
    """

    probes: Sequence[Probe]
    methods: str
    most_lines: Mapping[str, int] = field(default_factory=dict)
    programs: str = ""
    base: tuple[str, str] = ("", "__init__")

    @property
    def solved(self) -> Any:
        """The reference's answer."""
        return mine(self.id, use_reference=True)

    @property
    def names(self) -> dict[str, Any]:
        """What the table can name: what stands beside the probes, or in the solved notebook."""
        beside = getattr(self.probes[0], "__globals__", {})
        return {"alike": alike, **beside, **reference()}

    def examine(self, answer: Any) -> Finding | None:
        """Put the class to work, and keep it if nothing is found."""
        note(self.id, None)
        finding = self._examined(answer)
        if finding is None:
            note(self.id, answer)
        return finding

    def _examined(self, answer: Any) -> Finding | None:
        made: Any = inspect.unwrap(answer) if callable(answer) else answer
        if not isinstance(made, type):
            return wrong_kind(answer, "a class", "Give the class itself, without brackets.")
        methods = dict(each.split(" ", 1) for each in self.methods.split("; "))
        found = {said: getattr(made, name, None) for name, said in methods.items()}
        own = any(callable(each) or isinstance(each, property) for each in vars(made).values())
        if not own and not all(map(callable, found.values())):
            raise Unsolved
        if not hasattr(made, self.base[1]):
            written = f"class {self.program.gives}({self.base[0]})"
            return Finding(f"Build the class on what you have already: {written}.")
        missing = [said for said, each in found.items() if not callable(each) or is_stub(each)]
        if missing:
            return Finding(f"The class has nothing yet for {' and '.join(missing)}.")
        failure = self._failure(made)
        if failure is not None:
            return self._explained(made, *failure)
        return self._on_programs(made) if self.programs else None

    def _failure(self, made: Any) -> tuple[str, Probe, Outcome] | None:
        """Give the first probe that comes out otherwise than with the solution, and what came."""
        for turn in _TURNS:
            for probe in self.probes:
                if turn and probe.__name__ in self.most_lines:  # too long to be tried twice
                    continue
                outcome = self._tried(probe, made)
                if outcome.left or not _same(outcome, self._right[probe]):
                    return turn, probe, outcome
        return None

    def _tried(self, probe: Probe, made: Any) -> Outcome:
        most = self.most_lines.get(probe.__name__, _MOST_LINES)
        return run(probe, made, most_lines=most)

    @cached_property
    def _right(self) -> dict[Probe, Outcome]:
        with _as_accepted({}):
            return {probe: self._tried(probe, self.solved) for probe in self.probes}

    @cached_property
    def _wrong(self) -> list[tuple[tables.Row, Probe, Outcome]]:
        """Where each wrong version of the table fails first, and what comes there."""
        with _as_accepted({}):
            pairs = [
                (r, self._failure(v.answer(self.names))) for r in self.rows for v in r.versions
            ]
        return [(row, failure[1], failure[2]) for row, failure in pairs if failure]

    def _explained(self, made: Any, turn: str, probe: Probe, outcome: Outcome) -> Finding:
        if outcome.unsolved:
            raise Unsolved
        if outcome.left and outcome.trouble is None:
            return Finding(f"{outcome.left[0]} (Here it was put back.)")
        right = self._right[probe]
        title, _, why = inspect.cleandoc(probe.__doc__ or "").partition("\n\n")
        came = outcome.trouble or f"{describe(outcome.value)}; right is {describe(right.value)}."
        row = next((row for row in self.rows if self._made(row, probe, outcome)), None)
        lower = self._lower_at_fault(made, lambda other: _same(self._tried(probe, other), right))
        objects = outcome.raised.startswith("Objection")
        reason = lower or (row.says if row else "" if objects else why)
        said = "" if reason in came else reason
        return Finding(" ".join(f"{turn}{title[:-1]}: {came} {said}".split()))

    def _made(self, row: tables.Row, probe: Probe, outcome: Outcome) -> bool:
        """Tell whether this is the mistake of a row."""
        seen = {"seen": outcome.value, "right": self._right[probe].value, "raised": outcome.raised}
        return (
            (outcome.trouble is not None and row.brings(outcome.raised))
            or row.holds(self.names, probe=probe.__name__, **seen)
            or any(r is row and p is probe and _same(o, outcome) for r, p, o in self._wrong)
        )

    def _lower_at_fault(self, made: Any, passes: Callable[[Any], bool]) -> str:
        """Say which lower answer is at fault where the reference's class fails on top of it too.

        Args:
            made: the learner's class, which has failed.
            passes: tells whether a class does not.
        """
        below = self._below(made)
        if not below:
            return ""
        for checkpoint in ("", *reversed(below)):
            below.pop(checkpoint, None)
            space = built(below)
            with _as_accepted({each: space["mine"](each) for each in ("17.5", self.id)}):
                if passes(mine(self.id)):
                    return checkpoint and (
                        f"The reference's {self.id} on top of your answers fails here too, until "
                        f"the reference's {checkpoint} takes the place of yours. So look at "
                        f"{checkpoint} first."
                    )
        return ""

    def _below(self, made: Any) -> dict[str, Any]:
        """Give the lower answers that are the learner's."""
        classes = (made if hasattr(made, "backward") else mine("17.5")).__mro__
        given = [each for each in classes if each.__name__ == "Broadcasting"]
        own = {"17.2": given[0].__base__, "17.3": given[0]} if given else {}
        own |= {each: answer for each, answer in _accepted.items() if each > "17.3"}
        known = reference().values()
        return {
            each: own[each]
            for each in CHECKPOINTS
            if each < self.id and each in own and not any(own[each] is other for other in known)
        }

    def _on_programs(self, made: Any) -> Finding | None:
        found = run(first_difference, made, self.programs, most_lines=4_000_000)
        if found.trouble is not None:
            return Finding(f"In a random program: {found.trouble}")
        if found.value is None:
            return None
        lines, differs = found.value
        lower = self._lower_at_fault(made, lambda other: run(difference, lines, other).value == ())
        return Finding(
            "Each single test is right, but a random program isn't. Made as small as possible, "
            f"it's this one. {lower or 'Work it through by hand:'}",
            shows=(*lines, *differs),
        )


def _same(outcome: Outcome, other: Outcome) -> bool:
    if outcome.trouble is not None or other.trouble is not None:
        return outcome.raised == other.raised != ""
    return alike(outcome.value, other.value, _DIGITS)


def listed(value: Any) -> Any:
    """Give an array as nested lists, and None as None."""
    array = array_of(value)
    return None if array is None else array.tolist()
