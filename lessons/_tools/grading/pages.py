"""Write a page for the class, and one for each student: answers, and what the checks said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import jinja2

from _tools.grading import tables
from _tools.grading.running import Grade
from _tools.grading.submissions import published_cells
from minigrad.classroom import desk

_STATUS = {
    "right": ("✓", "right"),
    "wrong": ("✗", "not yet"),
    "unsolved": ("○", "not solved"),
    "hurt": ("✗", "could not be judged"),
    "refused": ("✗", "not counted"),
}
_PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    trim_blocks=True,
    finalize=lambda value: _printable(value) if type(value) is str else value,
).get_template("page.html")


def write(grades: Sequence[Grade], folder: Path) -> list[Path]:
    """Write the pages, and a list of them.

    Args:
        grades: In any order.
        folder: Where to.

    Returns:
        A file for each student, in the order of their names.
    """
    written: list[Path] = []
    rows = []
    for student, own in tables.students(grades).items():
        path = folder / _file(student, {each.name for each in written})
        path.write_text(page(student, own), encoding="utf-8", newline="\n")
        written.append(path)
        rows.append((student, path.name, own))
    index = _PAGES.render(
        title="Grades",
        students=rows,
        alarm=tables.ALARM if any(grade.alarms for grade in grades) else "",
        statistics=tables.statistics(grades),
    )
    (folder / "index.html").write_text(index, encoding="utf-8", newline="\n")
    return written


def page(student: str, grades: Sequence[Grade]) -> str:
    """Make the page of one student.

    Args:
        student: The name.
        grades: One for each lesson.
    """
    return _PAGES.render(
        title=student, lessons=grades, heading=_title, status=_STATUS, find=desk.find
    )


def _title(grade: Grade) -> str:
    """Give the heading of a lesson, such as "01 · The chain rule by hand"."""
    lesson = grade.submission.lesson
    first = "".join(cell.source for cell in published_cells(lesson)[:1])
    return first.partition("\n")[0].lstrip("# ") or lesson or "An unknown lesson"


def _printable(text: str) -> str:
    return "\n".join(map(tables.plain, text.split("\n")))


def _file(student: str, taken: set[str]) -> str:
    """Make the name of a file, which no other student has and no system minds."""
    name = re.sub(r"[^\w-]+", "_", student).strip("_")[:60] or "student"
    names = (f"{name}{number or ''}.html" for number in range(len(taken) + 2))
    low = {each.lower() for each in taken} | {"index.html"}
    return next(each for each in names if each.lower() not in low)
