"""Keep `lessons/mine`: copies of the lessons to work in, brought up to date when a lesson changes.

The published lessons stay as git has them, so that `git pull` finds nothing in its way.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import merging, notebooks
from .console import Trouble, python_command, say
from .delivery import delivered
from .notebooks import Notebook, Unreadable

FOLDER = "mine"
PUBLISHED = ".published"  # in that folder: each lesson as it was delivered last
OLDER = "older"  # in that folder: copies as they were before they were rewritten
LESSONS = "[0-9][0-9]_*.ipynb"
SOLUTIONS = "solutions/*.ipynb"


@dataclass(frozen=True)
class Update:
    """A copy that was rewritten.

    Args:
        lesson: Its number.
        merged: What became of it.
        older: Where it is kept as it was; None where the learner had done nothing in it.
        place: Where it is.
    """

    lesson: str
    merged: merging.Merged
    older: Path | None
    place: Path


@dataclass
class Outcome:
    """What was done.

    Args:
        made: Names of the copies that were made.
        updates: The copies that were rewritten.
        waiting: Numbers of lessons that changed, and whose copies have to wait.
        remarks: What else there is to say, a line each.
    """

    made: list[str] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def rewritten(self) -> list[tuple[Path, Path]]:
        """Copies as they were before, and as they are."""
        return [(each.older, each.place) for each in self.updates if each.older]

    def lines(self) -> list[str]:
        """Say what was done; nothing where there was nothing to do."""
        found = []
        if self.made:
            names = self.made[0] if len(self.made) == 1 else f"{len(self.made)} copies"
            found.append(f"Lessons: {names} made in lessons/{FOLDER}. Work in there.")
        for each in self.updates:
            merged, told = each.merged, f"Lesson {each.lesson} has changed: your copy is up to date"
            if answers := len(merged.answers):
                told += f", with your {answers} answer{'s' * (answers > 1)}"
            elif merged.changes:
                told += ", with what you wrote"
            if each.older:
                told += f"; as it was: {_shortly(each.older)}"
            found.append(told)
            if merged.twice:
                found.append(
                    "  You and the lesson changed the same cells: yours are below the new ones. "
                    'Look for "the lesson has changed the cell above".'
                )
        if self.waiting:
            found.append(
                f"Lessons that have changed: {', '.join(self.waiting)}. To have that in "
                f"lessons/{FOLDER}, stop JupyterLab and run {python_command('lessons')} again."
            )
        return [*found, *self.remarks]


def bring(lessons: Path, rewrite: bool = True) -> Outcome:
    """Make the copies that are missing, and bring the others up to date.

    Args:
        lessons: The folder of the lessons.
        rewrite: Whether copies may be rewritten; while JupyterLab has them open, they may not.

    Returns:
        What was done.

    Raises:
        Trouble: Where the folder cannot be read or written to. No copy is lost by that.
    """
    outcome = Outcome()
    try:
        for path in sorted(lessons.glob(LESSONS)):
            _bring(path, lessons / FOLDER / path.name, rewrite, outcome)
        outcome.remarks += _changed_solutions(lessons)
    except OSError as error:
        for line in outcome.lines():
            say(line)
        raise Trouble(
            "copies of the lessons, for you to work in, cannot be kept: "
            f"{error.filename or lessons / FOLDER}: {error.strerror or error}.",
            "Make room on the disk, or put the repository where you may write, and run "
            f"{python_command('lessons')} again. The copies that are there stay as they are.",
        ) from None
    return outcome


def _bring(path: Path, place: Path, rewrite: bool, outcome: Outcome) -> None:
    """Look after the copy of one lesson."""
    number = place.name.partition("_")[0]
    try:
        found = notebooks.read(path)
    except Unreadable as error:
        outcome.remarks.append(
            f"lessons/{path.name} cannot be read ({error}), so your copy of it stays as it is. "
            f"To get the lesson back: git restore lessons/{path.name}"
        )
        return
    original = _as_committed(path, found)
    if original:
        outcome.remarks.append(
            f"lessons/{path.name} itself was changed, and git pull may stop at it. "
            + ("" if place.exists() else "Your copy has what was written there. ")
            + f"To undo the change: git restore lessons/{path.name}"
        )
    new = delivered(original or found)
    fresh = notebooks.as_bytes(new)
    base = place.parent / PUBLISHED / place.name
    try:
        data = place.read_bytes()
    except FileNotFoundError:
        start = {**new, "cells": delivered(found)["cells"]}
        notebooks.write(place, notebooks.as_bytes(start))
        notebooks.write(base, fresh)
        outcome.made.append(place.stem)
        return
    known = base.read_bytes() if base.is_file() else b""
    try:
        mine = notebooks.parse(data)
    except Unreadable as error:
        if not rewrite:
            return
        older = _older(place)
        older.parent.mkdir(parents=True, exist_ok=True)
        place.replace(older)
        notebooks.write(place, fresh)
        outcome.remarks.append(
            f"Lesson {number}: your copy could not be read ({error}), so a fresh one was made. "
            f"The old one: {_shortly(older)}"
        )
    else:
        if known == fresh and _stamp(mine) in (None, _stamp(new)):
            return
        if not rewrite:
            outcome.waiting.append(number)
            return
        _update(place, data, mine, _base(mine, known, new), new, outcome)
    notebooks.write(base, fresh)  # last: until here, the old one tells what the copy is made from


def _update(
    place: Path,
    data: bytes,
    mine: Notebook,
    base: Notebook | None,
    new: Notebook,
    outcome: Outcome,
) -> None:
    """Bring one copy up to date, and keep it as it was."""
    known = None if base is None else base["cells"]
    merged = merging.merge(known, mine["cells"], new["cells"])
    metadata = {**new["metadata"], **mine["metadata"]}
    metadata[notebooks.OWN] = {**notebooks.noted(mine), **notebooks.noted(new)}
    result = {**mine, "cells": merged.cells, "metadata": metadata, "nbformat_minor": 5}
    if merged.cells != mine["cells"]:
        older = None
        if base is None or _done(mine) != _done(base):
            older = _older(place)
            notebooks.write(older, data)
        outcome.updates.append(Update(place.name.partition("_")[0], merged, older, place))
    if result != mine:
        notebooks.write(place, notebooks.as_bytes(result))


def _base(mine: Notebook, known: bytes, new: Notebook) -> Notebook | None:
    """Find what a copy was made from; None where that is lost."""
    stamp = _stamp(mine)
    if stamp is not None and stamp == _stamp(new):  # we were stopped before the base was written
        return new
    try:
        base = notebooks.parse(known)
    except Unreadable:
        return None
    complete = all(isinstance(cell.get("id"), str) for cell in base["cells"])
    return base if complete and stamp in (None, _stamp(base)) else None


def _as_committed(path: Path, found: Notebook) -> Notebook | None:
    """Give a lesson as git has it, where somebody has worked in the published notebook itself.

    Such a notebook was saved by Jupyter, which notes the version of Python. A published one never
    does.
    """
    language = found["metadata"].get("language_info")
    if not isinstance(language, dict) or "version" not in language:
        return None
    command = ["git", "show", f"HEAD:./{path.name}"]
    try:
        shown = subprocess.run(command, cwd=path.parent, capture_output=True, timeout=30)
        return notebooks.parse(shown.stdout) if shown.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, Unreadable):
        return None


def _changed_solutions(lessons: Path) -> list[str]:
    """Say which solutions git sees changed: JupyterLab saves those that were looked at."""
    command = ["git", "diff", "--name-only", "--relative", "--", SOLUTIONS]
    try:
        told = subprocess.run(command, cwd=lessons, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    changed = told.stdout.decode(errors="replace").splitlines() if told.returncode == 0 else []
    return [
        f"lessons/{name} was changed, and git pull may stop at it. To undo the change: "
        f"git restore lessons/{name}"
        for name in changed
    ]


def _done(notebook: Notebook) -> list[object]:
    """Give what a learner can have done: sources, and what running them left."""
    return [
        (*notebooks.text(cell), cell.get("outputs"), cell.get("execution_count"))
        for cell in notebook["cells"]
    ]


def _stamp(notebook: Notebook) -> object:
    return notebooks.noted(notebook).get("published")


def _older(place: Path) -> Path:
    """Name the place where a copy is kept before it is rewritten."""
    when = time.strftime("%Y-%m-%d_%H.%M.%S")
    older = place.parent / OLDER / f"{place.stem}_{when}.ipynb"
    number = 1
    while older.exists():
        number += 1
        older = older.with_name(f"{place.stem}_{when}_{number}.ipynb")
    return older


def _shortly(older: Path) -> str:
    return f"lessons/{FOLDER}/{OLDER}/{older.name}"
