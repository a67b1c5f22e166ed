"""Find lessons by number: the solution notebook, the learner's notebook made from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

LESSONS = Path(__file__).resolve().parents[1]
ROOT = LESSONS.parent


def solutions() -> list[Path]:
    """List the solution notebooks, in order of their numbers."""
    return sorted((LESSONS / "solutions").glob("*.ipynb"))


def learners() -> list[Path]:
    """List the learner's notebooks, in order of their numbers."""
    return sorted(LESSONS.glob("*.ipynb"))


def number_of(name: str) -> str:
    """Read the lesson's number out of a file name: "06" out of "06_full_backward_hooks".

    Args:
        name: a file name, with or without its ending.
    """
    return name.partition("_")[0]


def solution(which: str) -> Path:
    """Find one solution notebook.

    Args:
        which: its number, such as "06", or its name.

    Raises:
        SystemExit: where there is none; it says which there are.
    """
    for path in solutions():
        if Path(which).stem in (path.stem, number_of(path.name)):
            return path
    names = ", ".join(path.stem for path in solutions())
    raise SystemExit(f"no solution notebook for {which!r}; there are: {names}")


def chosen(which: Sequence[str]) -> list[Path]:
    """Find some solution notebooks, or all.

    Args:
        which: their numbers or names; all if there are none.
    """
    return [solution(each) for each in which] or solutions()


def learner_of(path: Path) -> Path:
    """Give the place of the learner's notebook that is made from a solution notebook.

    Args:
        path: lessons/solutions/NN_name.ipynb.
    """
    return path.parent.parent / path.name
