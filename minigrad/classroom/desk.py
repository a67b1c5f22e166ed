"""Check answers, give hints, and find the exercises of each lesson."""

from __future__ import annotations

import importlib
import importlib.util
import os
import textwrap
from typing import Any, Literal

from minigrad.classroom.behaviors import Unsolved
from minigrad.classroom.describing import is_unattempted
from minigrad.classroom.exercise import Exercise, Verdict

_WIDTH = 88
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
    name = f"minigrad.classroom.lesson_{lesson}"
    shipped = importlib.import_module(name).EXERCISES if importlib.util.find_spec(name) else []
    listed = {exercise.id: exercise for exercise in shipped}
    listed.update({key: value for key, value in _registered.items() if value.lesson == lesson})
    return list(listed.values())


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
    known = find(exercise)
    if is_unattempted(answer):
        return _unsolved(known)
    try:
        finding = known.examine(answer)
    except Unsolved:
        return _unsolved(known)
    if finding is None:
        return _verdict(known, "right", "right.", [known.right])
    lines = [f"Asked for: {known.asks}."]
    if finding.gave is not None:
        lines.append(f"You gave {finding.gave}.")
    return _verdict(known, "wrong", "not yet.", [*lines, finding.says])


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
        demo.1: not solved yet.
          Put your answer where the ... stands, and run the cell again.
          For a nudge: hint("demo.1")
        >>> bool(verdict)
        False
    """
    verdict = judge(exercise, answer)
    print(verdict.message)
    if not verdict and os.environ.get("NBGRADER_EXECUTION") in {"autograde", "validate"}:
        raise AssertionError(verdict.message)
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
    print(_laid_out(f"{exercise}, hint {step} of 2", lines))


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
    return Verdict(exercise.id, status, _laid_out(f"{exercise.id}: {head}", lines))


def _laid_out(head: str, lines: list[str]) -> str:
    """Set lines under a head, indented and broken at a width that fits a notebook."""
    body = [
        textwrap.fill(
            line, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        for line in lines
    ]
    return "\n".join([head, *body])
