"""Check answers, give hints, and find the exercises of each lesson."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, Literal

from minigrad.classroom import feedback, progress
from minigrad.classroom.behaviors import Unsolved
from minigrad.classroom.describing import describe, is_unattempted
from minigrad.classroom.exercise import Exercise, Finding, Verdict, wrong_kind
from minigrad.classroom.running import HeldBack, within
from minigrad.classroom.surroundings import as_usual

_ADVICE_TO_ITERATORS = "This is an iterator, which has yet to be run: make a list or tuple of it."
_NOTHING = (
    "None is what comes of a function that returns nothing, and what .grad holds before a backward "
    "pass has come there: where does yours come from?"
)
_registered: dict[str, Exercise] = {}


def register(*exercises: Exercise) -> None:
    """Make exercises known, besides those that come with the lessons.

    Args:
        *exercises: to be found by `check` and `hint` under their ids; an id that is known already
            is replaced.
    """
    for exercise in exercises:
        _registered[exercise.id] = exercise


def exercises_of(lesson: str) -> list[Exercise]:
    """List the exercises of a lesson, in order.

    The exercises of lesson "06" are the list `EXERCISES` of `minigrad.classroom.lesson_06`.

    Args:
        lesson: the lesson's number as it stands in file names.

    Example:
        >>> [exercise.id for exercise in exercises_of("demo")][:2]
        ['demo.1', 'demo.2']
    """
    listed = {exercise.id: exercise for exercise in shipped(lesson)}
    listed.update({key: value for key, value in _registered.items() if value.lesson == lesson})
    return list(listed.values())


def shipped(lesson: str) -> list[Exercise]:
    """List the exercises that come with a lesson, without those that `register` added.

    Args:
        lesson: its number, such as "06".

    Example:
        >>> len(shipped("06"))
        6
    """
    name = f"minigrad.classroom.lesson_{lesson}"
    known: list[Exercise] = []
    if importlib.util.find_spec(name) is not None:
        known = importlib.import_module(name).EXERCISES
    return known


def find(exercise: str) -> Exercise:
    """Find an exercise by its id.

    Args:
        exercise: such as "06.2".

    Raises:
        ValueError: where there is none; the message lists those that there are.
    """
    known = {entry.id: entry for entry in exercises_of(str(exercise).rpartition(".")[0])}
    if exercise not in known:
        listed = f" There are {', '.join(known)}." if known else ""
        raise ValueError(f"There is no exercise {exercise!r}.{listed}")
    return known[exercise]


def judge(exercise: str, answer: Any) -> Verdict:
    """Examine an answer without printing anything.

    Args:
        exercise: its id.
        answer: what the learner gave.
    """
    return _judged(find(exercise), answer)[0]


def _judged(known: Exercise, answer: Any) -> tuple[Verdict, list[str]]:
    """Examine an answer; give the verdict and what was unusual around it."""
    if is_unattempted(answer):
        return _unsolved(known), []
    printed = HeldBack.lines
    with as_usual() as unusual, within():
        try:
            finding: Finding | None
            if answer is None:
                finding = Finding(_NOTHING, "None")
            elif hasattr(answer, "__next__"):  # reading it might never end
                finding = wrong_kind(answer, "values", _ADVICE_TO_ITERATORS)
            else:
                finding = known.examine(answer)
        except Unsolved:
            return _unsolved(known), unusual
        except ImportError:  # SymPy is missing: no fault of the answer
            raise
        except Exception as error:
            # Whatever a learner hands in, the notebook goes on. That the check itself is at fault
            # would show in the bank of wrong answers, which knows what is said to each.
            finding = Finding(
                "The check could not make sense of this answer, and that says little about it: "
                f"it came to {type(error).__name__}. Give it in its plainest form.",
                _named(answer),
            )
    if finding is None:
        return _verdict(known, "right", "right.", list(known.praise())), unusual
    lines = [f"Asked for: {known.asks}."]
    if finding.gave is not None:
        lines.append(f"You gave {finding.gave}.")
    lines.append(finding.says)
    if HeldBack.lines > printed:
        lines.append("What it prints is held back here: call it in a cell of its own to read that.")
    return _verdict(known, "wrong", "not yet.", lines), unusual


def _named(answer: Any) -> str:
    try:
        return describe(answer)
    except Exception:  # its own __str__ or __len__ may fail
        return f"a {type(answer).__name__}"


def check(exercise: str, answer: Any = ...) -> Verdict:
    """Check an answer and print what is right or wrong with it.

    An exercise that was not attempted yet is said to be so; nothing is raised, and the notebook
    goes on. Only where nbgrader runs the notebook does a missing or wrong answer raise, because
    nbgrader gives points for cells that do not.

    Args:
        exercise: its id, such as "06.2".
        answer: a value, a function, a hook, or a choice with its reason, as the exercise asks.

    Returns:
        A verdict, true when the exercise is solved. Jupyter does not display it.

    Raises:
        ValueError: where there is no such exercise.
        AssertionError: under nbgrader, where the exercise is not solved.

    Example:
        >>> verdict = check("demo.1")
        ○ demo.1: not solved yet.
          Put your answer where the ... stands, and run the cell again.
          For a nudge: hint("demo.1")
        >>> bool(verdict)
        False
    """
    verdict, unusual = _judged(find(exercise), answer)
    lines = [*verdict.lines, *(f"Besides: {says}" for says in unusual)]
    if os.environ.get("NBGRADER_EXECUTION") in {"autograde", "validate"}:
        if not verdict:
            feedback.tell(verdict.status, verdict.head, lines)
            raise AssertionError(verdict.message)
    else:
        ids = [known.id for known in shipped(exercise.rpartition(".")[0])]
        lines += progress.note_check(exercise, verdict.status, ids)
    feedback.tell(verdict.status, verdict.head, lines)
    return verdict


def hint(exercise: str, step: int = 1) -> None:
    """Print a hint: the first on request, the second on a second request.

    Args:
        exercise: its id, such as "06.2".
        step: 1 or 2.

    Raises:
        ValueError: where there is no such exercise or no such hint.

    Example:
        >>> hint("demo.1")
        demo.1, hint 1 of 2
          How fast does the inner function grow, and how fast the outer one?
          If that is not enough: hint("demo.1", 2)
    """
    known = find(exercise)
    if step not in (1, 2):
        raise ValueError(f'There are two hints: hint("{exercise}", 1) and hint("{exercise}", 2).')
    lines = [known.hints[step - 1]]
    if step == 1:
        lines.append(f'If that is not enough: hint("{exercise}", 2)')
    print(feedback.laid_out(f"{exercise}, hint {step} of 2", lines))


def _unsolved(exercise: Exercise) -> Verdict:
    return _verdict(
        exercise,
        "unsolved",
        "not solved yet.",
        [
            "Put your answer where the ... stands, and run the cell again.",
            f'For a nudge: hint("{exercise.id}")',
        ],
    )


def _verdict(
    exercise: Exercise, status: Literal["right", "wrong", "unsolved"], head: str, lines: list[str]
) -> Verdict:
    return Verdict(exercise.id, status, f"{exercise.id}: {head}", tuple(lines))
