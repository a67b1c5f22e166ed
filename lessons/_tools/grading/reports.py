"""Write grades as tables to read and for other programs, and as pages; count how the class did."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2

from _tools.grading.running import Grade, Result
from _tools.grading.submissions import published_cells
from minigrad.classroom import desk

ALARM = "! Something was tried that isn't allowed: see the student's page."
_NO_CELL = ("=", "+", "-", "@")  # what a spreadsheet takes for a formula
_SHOWN, _WIDTH = 5, 60
_NUMBER = re.compile(r"-?\d[\d.e+-]*")
_NO_REASON = ("Asked for: ", "You gave ", "Besides: ", "What it prints is held back", "    ")
_STATUS = {
    "right": ("✓", "right"),
    "wrong": ("✗", "not yet"),
    "unsolved": ("○", "not solved"),
    "hurt": ("✗", "couldn't be judged"),
    "refused": ("✗", "not counted"),
}
_PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    trim_blocks=True,
    finalize=lambda value: plain(value, "\n") if type(value) is str else value,
).get_template("page.html")


def students(grades: Iterable[Grade]) -> dict[str, list[Grade]]:
    """Sort grades by student, and those of each by lesson.

    Args:
        grades: In any order.
    """
    found: dict[str, list[Grade]] = {}
    for grade in sorted(grades, key=lambda g: (g.submission.student, g.submission.lesson)):
        found.setdefault(grade.submission.student, []).append(grade)
    return found


def as_text(grades: Sequence[Grade]) -> str:
    """Lay out points, with a row for each student and a column for each lesson.

    Args:
        grades: In any order.
    """
    lessons = sorted({grade.submission.lesson for grade in grades})
    rows = [["student", *(lesson or "?" for lesson in lessons), "points"]]
    for student, own in students(grades).items():
        cells = {}
        for grade in own:
            came = f"{grade.points}/{grade.most}{'!' if grade.alarms else ''}"
            cells[grade.submission.lesson] = "failed" if grade.submission.problem else came
        total = f"{sum(grade.points for grade in own)}/{sum(grade.most for grade in own)}"
        rows.append([plain(student), *(cells.get(lesson, "-") for lesson in lessons), total])
    first, *others = _columns(rows, right=len(lessons) + 1)
    note = ["", ALARM] if any(grade.alarms for grade in grades) else []
    return "\n".join([first, "-" * len(first), *others, *note])


def _columns(rows: Sequence[Sequence[str]], right: int) -> list[str]:
    """Align columns: the first to the left, and so many after it to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][: right + 1]
    aligned = [
        [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]), *row[right + 1 :]]
        for row in rows
    ]
    return ["  ".join(row).rstrip() for row in aligned]


def write_table(grades: Sequence[Grade], path: Path) -> None:
    """Write a row for each submission, and a column for each exercise: points, or nothing.

    Args:
        grades: In any order; rows of a lesson stand together.
        path: Of a file with commas. It begins with the mark by which Excel knows UTF-8.
    """
    ordered = sorted(grades, key=lambda g: (g.submission.lesson, g.submission.student))
    exercises = list(dict.fromkeys(each.exercise for g in ordered for each in g.results))
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "lesson", "points", "of", "!", *exercises, "remarks"])
        for grade in ordered:
            tried = {r.exercise: r.points for r in grade.results if r.status != "unsolved"}
            row: list[object] = [grade.submission.student, grade.submission.lesson]
            row += ["" if grade.submission.problem else grade.points, grade.most]
            row += ["!" if grade.alarms else "", *(tried.get(each, "") for each in exercises)]
            texts = [plain(str(value)) for value in (*row, "; ".join(grade.notes))]
            rows.writerow([f"'{text}" if text.startswith(_NO_CELL) else text for text in texts])


def plain(text: str, kept: str = "") -> str:
    """Leave out what would steer a terminal, or could not be written.

    Args:
        text: Perhaps a student's.
        kept: What else can be shown.
    """
    return "".join(c for c in text.expandtabs(4) if c.isprintable() or c in kept)


class Statistics(NamedTuple):
    """How one exercise went.

    Args:
        exercise: Its id.
        solved: How many students got it right.
        tried: How many answered, and not rightly.
        untouched: How many left it as it was.
        mistakes: What was said to wrong answers, and how often; the most frequent first.
    """

    exercise: str
    solved: int
    tried: int
    untouched: int
    mistakes: list[tuple[str, int]]


def statistics(grades: Iterable[Grade]) -> list[Statistics]:
    """Count, over all students.

    Args:
        grades: In any order; those that did not come to their end have no results.

    Returns:
        One for each exercise, those that most missed first.
    """
    results: dict[str, list[Result]] = {}
    for each in (each for grade in grades for each in grade.results):
        results.setdefault(each.exercise, []).append(each)
    counted = []
    for exercise, own in results.items():
        came = Counter(each.status for each in own)
        missed = [each for each in own if each.status not in ("right", "unsolved")]
        # without what it was in this student's case
        said = [
            " ".join(line for line in each.lines if not line.startswith(_NO_REASON))
            for each in missed
        ]
        # Mistakes that differ in numbers only are one, and the first stands for all.
        shown = {_NUMBER.sub("#", each): each for each in reversed(said)}
        alike = Counter(_NUMBER.sub("#", each) for each in said)
        mistakes = [(shown[each], times) for each, times in alike.most_common()]
        counted.append(Statistics(exercise, came["right"], len(said), came["unsolved"], mistakes))
    return sorted(counted, key=lambda s: (s.solved / sum(s[1:4]), -s.tried, s.exercise))


def missed_as_text(grades: Sequence[Grade]) -> str:
    """Lay out the exercises that most students missed, each with its most frequent mistake.

    Args:
        grades: In any order.
    """
    rows = [["most missed", "solved", "tried", "untouched", "most frequent mistake"]]
    for one in [each for each in statistics(grades) if each.tried or each.untouched][:_SHOWN]:
        says = "".join(f"{times}x {plain(text)}" for text, times in one.mistakes[:1])
        short = says if len(says) <= _WIDTH else f"{says[: _WIDTH - 3]}..."
        rows.append([*map(str, one[:4]), short])
    return "\n".join(["\n", *_columns(rows, right=3)]) if rows[1:] else ""


def write_pages(grades: Sequence[Grade], folder: Path) -> list[Path]:
    """Write the pages, and a list of them.

    Args:
        grades: In any order.
        folder: Where to.

    Returns:
        A file for each student, in the order of their names.
    """
    written: list[Path] = []
    rows = []
    for student, own in students(grades).items():
        path = folder / _file(student, {each.name for each in written})
        path.write_text(page(student, own), encoding="utf-8", newline="\n")
        written.append(path)
        rows.append((student, path.name, own))
    index = _PAGES.render(
        title="Grades",
        students=rows,
        alarm=ALARM if any(grade.alarms for grade in grades) else "",
        statistics=statistics(grades),
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


def _file(student: str, taken: set[str]) -> str:
    """Make the name of a file, which no other student has and no system minds."""
    name = re.sub(r"[^\w-]+", "_", student).strip("_")[:60] or "student"
    names = (f"{name}{number or ''}.html" for number in range(len(taken) + 2))
    low = {each.lower() for each in taken} | {"index.html"}
    return next(each for each in names if each.lower() not in low)
