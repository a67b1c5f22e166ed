"""Lay out a course folder for nbgrader, and have it grade several students at once."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from nbformat import validate
from nbformat.v4 import new_markdown_cell

from _start import console
from _tools import canonical, places, release

CONFIG = places.LESSONS / "instructors" / "nbgrader_config.py"
NEXT = """
In {course}, with the environment of minigrad and nbgrader activated:
  nbgrader generate_assignment {first}
makes release/{first} for the learners, and when their notebooks are collected
  minigrad grade . --nbgrader {first}
grades them."""
_STAND_IN = "**Nothing could be graded.** {why} Here is the lesson as it was released."


def lay_out(course: Path, numbers: Sequence[str] = ()) -> int:
    """Make a course folder, or add lessons to one. What is there already stays as it is.

    Args:
        course: The folder.
        numbers: Of the lessons, such as "06"; all by default. Each becomes an assignment.

    Returns:
        0, an exit code.

    Raises:
        console.Trouble: Where a solution does not pass.
    """
    copies = {
        path: course / "source" / f"lesson_{places.number_of(path.name)}" / path.name
        for path in places.chosen(numbers)
    }
    first = next(iter(copies.values())).parent.name
    for path in [path for path, copy in copies.items() if not copy.exists()]:
        console.say(f"{path.stem}: running the solution ...")
        try:
            release.solved(path)
        except release.FAILS as error:
            raise console.Trouble(
                f"{path.stem} can't be released. {error}",
                "Fix the solution or the check, and run this again.",
            ) from None
    for path, copy in (copies | {CONFIG: course / CONFIG.name}).items():
        there = copy.exists()
        if not there:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        console.say(f"{copy} {'exists already, and stays' if there else 'written'}.")
    print(NEXT.format(course=course, first=first))
    return 0


def autograde(course: Path, assignment: str, jobs: int | None = None) -> int:
    """Grade every student whose submission is not graded yet.

    Args:
        course: nbgrader's folder.
        assignment: Its name, such as "lesson_06".
        jobs: How many processes at once; as many as there are processors by default.

    Returns:
        0 where all were graded, 1 where some were not.

    Raises:
        console.Trouble: Where there is nothing to grade.
    """
    released = sorted((course / "release" / assignment).glob("*.ipynb"))
    folders = sorted((course / "submitted").glob(f"*/{assignment}"))
    if not (released and folders):
        missing = course / ("submitted" if released else "release")
        raise console.Trouble(
            f"there is no {assignment} in {missing}.",
            f"In {course}:  nbgrader generate_assignment {assignment}  makes the released version, "
            f"and  nbgrader collect {assignment}  (or zip_collect) collects the submissions.",
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
        console.say(f"Not graded: {name}. nbgrader's output is in {log}")
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
            return f"{other.name} was graded as {place.name}."
    why = f"{place.name} wasn't handed in."
    if place.exists():
        why = f"{place.name} can't be read as a notebook."
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
