"""Kinds of exercises of lesson 17, and what a learner goes on with: the own answer or another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from minigrad.classroom.behaviors import Function, Unsolved
from minigrad.classroom.execution import Outcome, run
from minigrad.classroom.exercises import Exercise, Finding, Mistake, computed, wrong_kind
from minigrad.classroom.values import alike, describe, is_stub

from . import reference
from .programs import array_of, difference, first_difference

Answer = Callable[..., Any]

_accepted: dict[str, Any] = {}


def mine(checkpoint: str, use_reference: bool = False) -> Any:
    """Give the answer to a checkpoint that `check` has accepted, or else the reference's.

    Args:
        checkpoint: such as "17.3".
        use_reference: whether the reference's is wanted in any case.

    Raises:
        KeyError: where there is no such checkpoint.
    """
    other = reference.mine(checkpoint)
    return other if use_reference else _accepted.get(checkpoint, other)


def whose(until: str = "17.7") -> str:
    """Say which checkpoints go on with the learner's own answers, and which with the reference's.

    Args:
        until: the last checkpoint that is asked about.

    Example:
        >>> whose().partition(":")[0]
        'yours'
    """
    known = [checkpoint for checkpoint in reference.checkpoints() if checkpoint <= until]
    own = [checkpoint for checkpoint in known if checkpoint in _accepted]
    other = [checkpoint for checkpoint in known if checkpoint not in _accepted]
    return f"yours: {', '.join(own) or 'none yet'}; the reference's: {', '.join(other) or 'none'}"


def note(checkpoint: str, answer: Any) -> None:
    """Go on with this answer from here on; with None for it, with the reference's."""
    _accepted.pop(checkpoint, None)
    if answer is not None:
        _accepted[checkpoint] = answer


@dataclass(frozen=True)
class Probe:
    """Something to try with an answer, and what should come of it.

    Args:
        tries: what is tried, in words.
        run: does it with the learner's class, and gives what is seen: numbers, lists, words.
        wants: what should be seen, or a function without arguments that computes it.
        says: what is behind it where something else is seen.
        known: what is often got wrong here; `value` and `when` are compared with what is seen, and
            `trouble` with the error. The first that fits speaks, in the place of `says`.
        most_lines: how many lines of the learner's may be run through.
        again: whether it is tried a second time, from a fresh start.
    """

    tries: str
    run: Callable[[Any], Any]
    wants: Any
    says: str
    known: Sequence[Mistake] = ()
    most_lines: int = 400_000
    again: bool = True


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Exercise):
    """A class is to be written. It is put to work step by step; the first misstep is told.

    Args:
        probes: what is tried, the simplest first.
        methods: what the class has to have: names of methods, to how one says it.
        programs: the kind of random programs that are run in the end, if any.
        base: words on what it has to be built on, and the name of a method that tells.
        mistakes: those with `trouble=`, for the errors of all probes.
    """

    probes: Sequence[Probe]
    methods: Mapping[str, str]
    programs: str | None = None
    seeds: Sequence[int] = field(default_factory=lambda: range(1000, 1150))
    base: tuple[str, str] | None = None

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
            advice = "Give the class itself: its name, without brackets behind it."
            return wrong_kind(answer, "a class", advice)
        own = any(callable(each) or isinstance(each, property) for each in vars(made).values())
        if not own and not all(callable(getattr(made, name, None)) for name in self.methods):
            raise Unsolved
        if self.base is not None and not hasattr(made, self.base[1]):
            return Finding(self.base[0])
        written: dict[str, Any] = {name: getattr(made, name, None) for name in self.methods}
        missing = [
            said
            for name, said in self.methods.items()
            if not callable(written[name]) or is_stub(written[name])
        ]
        if missing:
            return Finding(f"The class has nothing yet for {' and '.join(missing)}.")
        for turn in ("", "Once more, from a fresh start: "):
            for probe in self.probes:
                if turn and not probe.again:
                    continue
                finding = self._tried(probe, made, turn)
                if finding is not None:
                    return finding
        return self._on_programs(made) if self.programs else None

    def _tried(self, probe: Probe, made: Any, turn: str) -> Finding | None:
        outcome = run(probe.run, made, most_lines=probe.most_lines)
        if outcome.unsolved:
            raise Unsolved
        wants = computed(probe.wants)
        if outcome.trouble is None and outcome.left:
            return Finding(f"{outcome.left[0]} (Here it was put back.)")
        if _came(outcome, wants):
            return None
        lower = self._lower_at_fault(
            made, lambda other: _came(run(probe.run, other, most_lines=probe.most_lines), wants)
        )
        if outcome.trouble is not None:
            known = [m.says for m in (*probe.known, *self.mistakes) if m.brings(outcome.raised)]
            says = "" if outcome.raised.startswith("Objection") else [*known, probe.says][0]
            return Finding(f"{turn}{probe.tries}: {outcome.trouble} {lower or says}".strip())
        fits = [
            m.says
            for m in probe.known
            if (m.value is not ... and alike(outcome.value, computed(m.value), 6))
            or m.seen_in(outcome.value)
        ]
        came = _told(outcome.value, wants)
        return Finding(f"{turn}{probe.tries}: {came}{lower or [*fits, probe.says][0]}")

    def _lower_at_fault(self, made: Any, passes: Callable[[Any], bool]) -> str:
        """Say which lower answer is at fault where the reference's class fails on top of it too.

        Args:
            made: the learner's class, which has failed.
            passes: tells whether a class does not.
        """
        upper: Any = reference.mine(self.id)
        with ExitStack() as undo, suppress(TypeError):  # of classes whose bases are fixed
            undo.callback(_accepted.update, dict(_accepted))

            def rest(each: Any, bases: tuple[Any, ...]) -> None:
                undo.callback(setattr, each, "__bases__", each.__bases__)
                each.__bases__ = bases

            lower = self._lower(made)
            own = [own for _, own, _ in lower if own in made.__mro__]
            if own:
                rest(upper, (own[-1],))
            if not lower or passes(upper):
                return ""
            for checkpoint, old, other in lower:
                for each in {*upper.__mro__, *mine("17.5").__mro__}:
                    if old in each.__bases__:
                        rest(each, tuple(other if b is old else b for b in each.__bases__))
                _accepted.pop(checkpoint, None)
                if passes(upper):
                    return (
                        f"The reference's {self.id} on top of your answers fails here too, until "
                        f"the reference's {checkpoint} takes the place of yours. So look at "
                        f"{checkpoint} first."
                    )
        return ""

    def _lower(self, made: Any) -> list[tuple[str, Any, Any]]:
        """List the lower answers that are the learner's, each with the reference's."""
        classes = (made if hasattr(made, "backward") else mine("17.5")).__mro__
        named = [each for each in classes if each.__name__ == "Broadcasting"]
        given = [*named, reference.Broadcasting][0]
        pairs = [
            ("17.2", given.__base__, reference.Recorded),
            ("17.3", given, reference.Broadcasting),
            *((k, _accepted.get(k), reference.mine(k)) for k in ("17.4", "17.5", "17.6")),
        ]
        return [
            (k, own, other) for k, own, other in pairs if k < self.id and own not in (None, other)
        ]

    def _on_programs(self, made: Any) -> Finding | None:
        assert self.programs is not None
        found = run(first_difference, made, self.programs, self.seeds, most_lines=4_000_000)
        if found.trouble is not None:
            return Finding(f"In a random program: {found.trouble}")
        if found.value is None:
            return None
        program, where = found.value
        maker = "Value" if self.programs == "scalars" else "Tensor"
        lower = self._lower_at_fault(
            made, lambda other: _came(run(difference, program, other), None)
        )
        return Finding(
            "All that was tried by itself is right, and a random program is not. Made as small as "
            f"it gets, it is this. {lower or 'Work it through by hand:'}",
            shows=(*program.lines(maker), *where.lines()),
        )


def _came(outcome: Outcome, wants: Any) -> bool:
    return outcome.trouble is None and alike(outcome.value, wants, 6)


def _told(value: Any, wants: Any) -> str:
    """Say what was seen and what should have been, where that is a matter of numbers."""
    if isinstance(wants, str | bool):  # what is tried says it already
        return ""
    return f"{describe(value)}; right is {describe(wants)}. "


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


def listed(value: Any) -> Any:
    """Give an array as nested lists, and None as None."""
    array = array_of(value)
    return None if array is None else array.tolist()
