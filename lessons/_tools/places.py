"""Find lessons by number: the solution notebook, the learner's notebook made from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

LESSONS = Path(__file__).resolve().parents[1]
ROOT = LESSONS.parent
_NAME = re.compile(r"(?P<number>[0-9]{2}|demo)_[a-z0-9_]+")


def solutions(lessons: Path = LESSONS) -> list[Path]:
    """List the solution notebooks, in order of their numbers.

    Args:
        lessons: the folder of the lessons.
    """
    return sorted((lessons / "solutions").glob("*.ipynb"))


def learners(lessons: Path = LESSONS) -> list[Path]:
    """List the learner's notebooks, in order of their numbers.

    Args:
        lessons: the folder of the lessons.
    """
    return sorted(lessons.glob("*.ipynb"))


def number_of(name: str) -> str:
    """Read the lesson's number out of a file name: "06" out of "06_full_backward_hooks".

    Args:
        name: a file name, with or without its ending.

    Raises:
        ValueError: where the name is not of this form.
    """
    match = _NAME.fullmatch(Path(name).stem)
    if match is None:
        raise ValueError(f"a lesson is named like 06_full_backward_hooks, not {name!r}")
    return match["number"]


def solution(which: str, lessons: Path = LESSONS) -> Path:
    """Find one solution notebook.

    Args:
        which: its number, such as "06", or its name.
        lessons: the folder of the lessons.

    Raises:
        FileNotFoundError: where there is none.
    """
    stem = Path(which).stem
    for path in solutions(lessons):
        if stem in (path.stem, number_of(path.name)):
            return path
    names = ", ".join(path.stem for path in solutions(lessons)) or "none"
    raise FileNotFoundError(f"no solution notebook for {which!r}; there are: {names}")


def chosen(which: Sequence[str]) -> list[Path]:
    """Find some solution notebooks, or all.

    Args:
        which: their numbers or names; all if there are none.

    Raises:
        SystemExit: where there is no such notebook; it says which there are.
    """
    try:
        return [solution(each) for each in which] or solutions()
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None


def learner_of(path: Path) -> Path:
    """Give the place of the learner's notebook that is made from a solution notebook.

    Args:
        path: lessons/solutions/NN_name.ipynb.
    """
    return path.parent.parent / path.name
