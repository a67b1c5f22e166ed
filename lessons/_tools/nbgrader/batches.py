"""Have nbgrader grade the submissions of an assignment, several students at once."""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from nbformat import validate
from nbformat.v4 import new_markdown_cell

from _start import console
from _tools import canonical

_STAND_IN = "**Nothing could be graded.** {why} The lesson stands here as it was released."


def autograde(course: Path, assignment: str, jobs: int | None = None) -> int:
    """Grade whoever has handed in something that is not graded yet.

    Args:
        course: nbgrader's folder.
        assignment: Its name, such as "lesson_06".
        jobs: How many processes at once; as many as there are processors by default.

    Returns:
        0 where all were graded, 1 where some were not.

    Raises:
        console.Trouble: Where there is nothing to grade, or nothing to grade it with.
    """
    if importlib.util.find_spec("nbgrader") is None:
        raise console.Trouble(
            "nbgrader is not installed.", "Install it with:  pip install nbgrader"
        )
    released = sorted((course / "release" / assignment).glob("*.ipynb"))
    folders = sorted((course / "submitted").glob(f"*/{assignment}"))
    if not (released and folders):
        missing = course / ("submitted" if released else "release")
        raise console.Trouble(
            f"there is nothing of {assignment} in {missing}.",
            f"In {course}:  nbgrader generate_assignment {assignment}  makes what is released, and "
            f"nbgrader collect {assignment}  (or zip_collect) brings what is handed in.",
        )
    for folder in folders:
        for notebook in released:
            if says := prepared(folder, notebook):
                console.say(f"{folder.parent.name}: {says}")
    log = course / f"{assignment}.log"
    log.write_text("", encoding="utf-8")
    names = [folder.parent.name for folder in folders]
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        list(pool.map(partial(_run, course, assignment, log), names))
    graded = course / "autograded"
    left = [name for name in names if not any((graded / name / assignment).glob("*.ipynb"))]
    for name in left:
        console.say(f"Not graded: {name}. What nbgrader said is in {log}")
    print(f"{assignment}: {len(names) - len(left)} of {len(names)} students are graded.")
    return int(bool(left))


def prepared(folder: Path, released: Path) -> str:
    """See that a student's folder holds a notebook that nbgrader can take; nothing is deleted.

    A notebook with another name is copied to the right one. Where there is none that can be read,
    the lesson as it was released stands in, with a word about it, and gets no points.

    Args:
        folder: With what a student has handed in.
        released: The learners' notebook of the lesson.

    Returns:
        What was done, in a sentence; nothing where nothing had to be.
    """
    place, marks = folder / released.name, _marks(released) or set()
    if _marks(place) is not None:
        return ""
    for other in sorted(folder.glob("*.ipynb")):
        if marks & (_marks(other) or set()):
            shutil.copyfile(other, place)
            return f"{other.name} was taken for {place.name}."
    why = f"{place.name} was not handed in."
    if place.exists():
        why = f"{place.name} is no notebook that can be read."
        place.replace(place.with_name(f"{place.name}.unreadable"))
    lesson = canonical.read(released)
    lesson.cells.insert(0, new_markdown_cell(_STAND_IN.format(why=why)))
    place.write_text(canonical.nbformat.writes(lesson), encoding="utf-8")
    return f"{why} No points."


def _marks(path: Path) -> set[str] | None:
    """Give the marks of a notebook's cells; None where it cannot be read."""
    try:
        notebook = canonical.read(path)
        validate(notebook)
        return {canonical.mark_of(cell) for cell in notebook.cells} - {""}
    except Exception:  # whatever may be in a file that somebody hands in
        return None


def _run(course: Path, assignment: str, log: Path, student: str) -> None:
    """Start nbgrader for a student: what ends it costs nobody else anything."""
    who = glob.escape(student)
    with log.open("a", encoding="utf-8") as file:
        subprocess.run(
            [sys.executable, "-m", "nbgrader", "autograde", assignment, f"--student={who}"],
            cwd=course,
            env={"OMP_NUM_THREADS": "1", **os.environ},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
