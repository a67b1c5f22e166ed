"""Keep `lessons/mine`: copies of the lessons to work in, brought up to date when a lesson changes.

The published lessons stay as git has them, so that `git pull` finds nothing in its way.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from . import merging, notebooks
from .console import say
from .notebooks import Cell, Notebook, Unreadable

FOLDER = "mine"
PUBLISHED = ".published"  # in that folder: each lesson as it was delivered last
OLDER = "older"  # in that folder: copies as they were before they were rewritten
LESSONS = "[0-9][0-9]_*.ipynb"
STOPS = "was changed, and git pull may stop at it."
# A relative link of a lesson, but not to another lesson: one goes on in one's own copies.
_AWAY = re.compile(
    r"(?<=\]\()(?=\.\./|(?:data|instructors|reference|solutions)/|(?:AUTHORING|INSTRUCTORS)\.md)"
)


@dataclass
class Outcome:
    """What was done.

    Args:
        made: Names of the copies that were made.
        rewritten: Copies as they were before, and as they are.
        remarks: What else there is to say, a line each.
    """

    made: list[str] = field(default_factory=list)
    rewritten: list[tuple[Path, Path]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Say what was done; nothing where there was nothing to do."""
        names = self.made[0] if len(self.made) == 1 else f"{len(self.made)} copies"
        made = f"Lessons: {names} made in lessons/{FOLDER}. Work in there."
        return [made, *self.remarks] if self.made else self.remarks


def bring(lessons: Path, rewrite: bool = True) -> Outcome:
    """Make the copies that are missing, bring the others up to date, and say so.

    Args:
        lessons: The folder of the lessons.
        rewrite: Whether copies may be rewritten; while JupyterLab has them open, they may not.

    Returns:
        What was done.

    Raises:
        OSError: Where the folder can't be read or written to. No copy is lost by that.
    """
    outcome = Outcome()
    try:
        for path in sorted(lessons.glob(LESSONS)):
            _bring(path, lessons / FOLDER / path.name, rewrite, outcome)
        # JupyterLab saves the solutions that were looked at
        names = _git(lessons, "diff", "--name-only", "--relative", "--", "solutions")
        listed = names.decode(errors="replace").splitlines()
        outcome.remarks += [_restore(name, STOPS) for name in listed]
    finally:
        for line in outcome.lines():
            say(line)
    return outcome


def delivered(published: Notebook, moved: bool = True) -> Notebook:
    """Make a fresh copy of a lesson: nothing is run yet, and links fit its place.

    Args:
        published: The learner's notebook as it is in the repository; it stays as it is.
        moved: Whether it goes into a folder beside it, which links have to leave again.

    Returns:
        The copy. In its metadata it says which delivery it is.
    """
    cells = [_delivered(cell, moved) for cell in published["cells"]]
    written = json.dumps(cells, sort_keys=True).encode()
    own = {notebooks.OWN: {"published": hashlib.sha256(written).hexdigest()[:16]}}
    return {**published, "cells": cells, "metadata": {**published["metadata"], **own}}


def _delivered(cell: Cell, moved: bool) -> Cell:
    made = notebooks.without_outputs(cell)
    about = made["metadata"]  # outputs come when the learner runs the cell: none is folded away
    about.get("jupyter", {}).pop("outputs_hidden", None)
    about["tags"] = [tag for tag in about.get("tags", ()) if tag != "hide-output"]
    made["metadata"] = {key: value for key, value in about.items() if value not in ({}, [])}
    if made["cell_type"] == "markdown" and moved:
        made["source"] = _AWAY.sub("../", made["source"])
    return made


def _bring(path: Path, place: Path, rewrite: bool, outcome: Outcome) -> None:
    """Look after the copy of one lesson."""
    number = place.name.partition("_")[0]
    try:
        found = notebooks.read(path)
    except Unreadable as error:
        kept = f"can't be read ({error}), so your copy of it stays as it is."
        outcome.remarks.append(_restore(path.name, kept))
        return
    original = _as_committed(path, found)
    new, base = delivered(original or found), place.parent / PUBLISHED / place.name
    if original:
        copied = "" if place.exists() else " Your copy has what you wrote there."
        outcome.remarks.append(_restore(path.name, STOPS + copied))
    if not place.exists():
        start = {**new, "cells": delivered(found)["cells"]}
        notebooks.write(place, notebooks.as_bytes(start))
        outcome.made.append(place.stem)
    else:
        mine, known = _read(place), _read(base)
        if mine and known and _stamp(known) == _stamp(mine) == _stamp(new):
            return
        if not rewrite:
            outcome.remarks.append(
                f"Lesson {number} has changed: to get that in lessons/{FOLDER}, stop JupyterLab "
                "and run this again."
            )
            return
        if mine:
            same = (each for each in (new, known) if each and _stamp(each) == _stamp(mine))
            _update(place, mine, next(same, None), new, outcome)
        else:
            older = _keep(place)
            notebooks.write(place, notebooks.as_bytes(new))
            outcome.remarks.append(
                f"Lesson {number}: your copy could not be read, so a fresh one was made. "
                f"The old one: {older.relative_to(place.parents[2])}"
            )
    # last: until here, the old one tells what the copy is made from
    notebooks.write(base, notebooks.as_bytes(new))


def _update(
    place: Path, mine: Notebook, base: Notebook | None, new: Notebook, outcome: Outcome
) -> None:
    """Bring one copy up to date, and keep it as it was unless it was never touched."""
    merged = merging.merge(base["cells"] if base else None, mine["cells"], new["cells"])
    if merged.cells != mine["cells"]:
        told = f"Lesson {place.name.partition('_')[0]} has changed: your copy is up to date"
        if base is None or mine["cells"] != base["cells"]:
            older = _keep(place)
            outcome.rewritten.append((older, place))
            told += f", with all that you wrote; as it was: {older.relative_to(place.parents[2])}"
        outcome.remarks.append(told)
        if merged.twice:
            outcome.remarks.append(
                "  You and the lesson changed the same cells: yours are below the new ones. "
                'Look for "the lesson has changed the cell above".'
            )
    metadata = {**new["metadata"], **mine["metadata"], notebooks.OWN: notebooks.noted(new)}
    result = {**mine, "cells": merged.cells, "metadata": metadata, "nbformat_minor": 5}
    notebooks.write(place, notebooks.as_bytes(result))


def _read(path: Path) -> Notebook | None:
    """Read a copy; None where there is none that can be read."""
    try:
        return notebooks.read(path)
    except (Unreadable, FileNotFoundError):
        return None


def _as_committed(path: Path, found: Notebook) -> Notebook | None:
    """Give a lesson as git has it, where somebody has worked in the published notebook itself.

    Such a notebook was saved by Jupyter, which notes the version of Python. A published one never
    does.
    """
    if "version" not in found["metadata"].get("language_info", {}):
        return None
    try:
        return notebooks.parse(_git(path.parent, "show", f"HEAD:./{path.name}"))
    except Unreadable:
        return None


def _git(folder: Path, *words: str) -> bytes:
    """Give what git prints; nothing where it cannot tell."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return b"" if done.returncode else done.stdout


def _restore(name: str, what: str) -> str:
    return f"lessons/{name} {what} To undo the change: git restore lessons/{name}"


def _stamp(notebook: Notebook) -> object:
    return notebooks.noted(notebook).get("published")


def _keep(place: Path) -> Path:
    """Keep a copy as it is, before it is rewritten."""
    older = place.parent / OLDER / f"{place.stem}_{datetime.now():%Y-%m-%d_%H.%M.%S.%f}.ipynb"
    notebooks.write(older, place.read_bytes())
    return older
