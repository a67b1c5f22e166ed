"""Lay out a course folder for nbgrader: solutions to release, and our settings."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from _start import console
from _tools import places, release

CONFIG = places.LESSONS / "instructors" / "nbgrader_config.py"
NEXT = """
In {course}, with the environment of minigrad and nbgrader activated:
  nbgrader generate_assignment {first}
makes release/{first} for the learners, and when their notebooks are collected
  minigrad grade . --nbgrader {first}
grades them."""


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
                "Mend the solution or the check, and run this again.",
            ) from None
    for path, copy in (copies | {CONFIG: course / CONFIG.name}).items():
        there = copy.exists()
        if not there:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        console.say(f"{copy} {'is there already, and stays' if there else 'written'}.")
    print(NEXT.format(course=course, first=first))
    return 0
