"""Remember on this machine which exercises are solved and which predictions were made."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from minigrad.classroom import browser
from minigrad.classroom.data import of_the_lessons
from minigrad.classroom.display import shell

VARIABLE = "MINIGRAD_PROGRESS"
"""Environment variable: the file to use; empty, or `none`, to keep no notes at all."""

_NO_NOTES = ("", "none")
_PYTHON = "python" if os.name == "nt" else "python3"  # what a stock system calls it
_LESSONS = Path(__file__).resolve().parents[2] / "lessons"
_OF_A_LESSON = re.compile(r"\d\d\.\w+")
_NOTHING: dict[str, list[str]] = {"solved": [], "tried": [], "predicted": [], "finished": []}


def place(variables: Mapping[str, str] = os.environ, lessons: Path | None = None) -> Path | None:
    """Tell where the notes are kept; None where none are.

    They are kept beside the lessons, where Git ignores them, or in the home directory if there is
    no such place or it cannot be written to. They hold the names of exercises and no answers.
    What pytest runs is nobody's progress: there is none, unless the variable names a file.

    Args:
        variables: the environment variables.
        lessons: the folder of the lessons, if not that of this checkout or of the open notebook.

    Example:
        >>> place({"MINIGRAD_PROGRESS": "none"}) is None
        True
        >>> place({"MINIGRAD_PROGRESS": "notes.json"}).name
        'notes.json'
    """
    if VARIABLE in variables:
        named = variables[VARIABLE]
        return None if named.strip().lower() in _NO_NOTES else Path(named).expanduser()
    if "PYTEST_VERSION" in variables:
        return None
    mine = of_the_lessons("mine")
    lessons = lessons or (mine.parent if mine else _LESSONS)
    if (mine or (lessons / "__main__.py").is_file()) and os.access(lessons, os.W_OK):
        return lessons / ".progress.json"
    home = os.path.expanduser("~")
    return Path(home) / ".minigrad" / "progress.json" if os.path.isabs(home) else None


def read(path: Path) -> dict[str, list[str]]:
    """Read the notes; what is missing or no notes at all reads as nothing.

    Args:
        path: where they are.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    notes = {}
    for key in _NOTHING:
        entries = found.get(key) if isinstance(found, dict) else ()
        listed = entries if isinstance(entries, list) else ()
        notes[key] = [entry for entry in listed if isinstance(entry, str)]
    return notes


def note_check(exercise: str, status: str, ids: Sequence[str]) -> list[str]:
    """Note what a check came to.

    Args:
        exercise: its id.
        status: "right", "wrong" or "unsolved".
        ids: all exercises of its lesson.

    Returns:
        Sentences for the learner: where the notes are, the first time; and that the lesson is
        finished, once.
    """
    if status == "unsolved" or exercise not in ids or not _noted_here(exercise):
        return []
    lesson = exercise.rpartition(".")[0]

    def change(notes: dict[str, list[str]]) -> list[str]:
        _add(notes["solved" if status == "right" else "tried"], exercise)
        if set(ids) <= set(notes["solved"]) and _add(notes["finished"], lesson):
            return [
                f"That was the last open exercise of lesson {lesson}: all {len(ids)} are solved. "
                "You have finished it."
            ]
        return []

    return _changed(change)


def note_prediction(prediction: str) -> list[str]:
    """Note that a prediction was made.

    Args:
        prediction: its name.

    Returns:
        Sentences for the learner, as `note_check` does.
    """
    if not _noted_here(prediction):
        return []
    return _changed(lambda notes: _add(notes["predicted"], prediction) and [])


def _in_a_notebook() -> bool:
    """Tell whether this is a notebook, and no program that somebody runs."""
    return shell() is not None


def _noted_here(name: str) -> bool:
    """Tell whether it is a learner's: in a notebook of a lesson, not in one of the solutions."""
    if not _OF_A_LESSON.fullmatch(name) or not _in_a_notebook():
        return False
    if "NBGRADER_EXECUTION" in os.environ:
        return False
    try:
        return Path.cwd().name != "solutions"
    except OSError:  # the directory was removed
        return True


def _add(names: list[str], name: str) -> bool:
    """Add a name to a sorted list, unless it is there; tell whether it was new."""
    if name in names:
        return False
    names.append(name)
    names.sort()
    return True


def _changed(change: Any) -> list[str]:
    path = place()
    if path is None:
        return []
    is_new, notes = not path.exists(), read(path)
    says: list[str] = change(notes) or []
    if notes != read(path) and _write(notes, path) and is_new:
        where = f"on this machine, in {_shortly(path)}; `{_told_by()}` shows it"
        if browser.here():
            where = f"in this browser, in {path.name}"
        says.insert(0, f"(From now on, what you solve and predict is noted {where}.)")
    return says


def _write(notes: Mapping[str, Sequence[str]], path: Path) -> bool:
    """Write the notes all at once; where that is not possible, there are none, and no harm."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and read(path) == _NOTHING and path.stat().st_size > 0:
            path.replace(path.with_name(f"{path.name}.unreadable"))  # it may be somebody's work
        draft.write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        return False
    return True


def _told_by() -> str:
    """Name the command that shows the notes; where minigrad is installed, with the folder."""
    if _LESSONS.is_dir():
        return f"{_PYTHON} lessons --progress"
    mine = of_the_lessons("mine")
    return f'minigrad progress "{_shortly(mine.parents[1])}"' if mine else "minigrad progress"


def _shortly(path: Path) -> str:
    """Name a file by where it is in the checkout, or under the home directory."""
    for root, prefix in ((_LESSONS.parent, ""), (Path(os.path.expanduser("~")), "~/")):
        if path.is_relative_to(root):
            return prefix + path.relative_to(root).as_posix()
    return str(path)
