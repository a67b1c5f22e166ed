"""Write grades as a table to read, and as a table for other programs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from _tools.grading.running import Grade

ALARM = "! Something was tried that isn't allowed: see the student's page."
_NO_CELL = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for a formula


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
        cells = {grade.submission.lesson: _cell(grade) for grade in own}
        got, most = sum(g.points for g in own), sum(g.most for g in own)
        row = [plain(student), *(cells.get(lesson, "-") for lesson in lessons)]
        rows.append([*row, f"{got}/{most}"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    note = ["", ALARM] if any(grade.alarms for grade in grades) else []
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], *note])


def _cell(grade: Grade) -> str:
    if not grade.ended:
        return "failed"
    return f"{grade.points}/{grade.most}{'!' if grade.alarms else ''}"


def write(grades: Sequence[Grade], path: Path) -> None:
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
            row += [grade.points if grade.ended else "", grade.most, "!" if grade.alarms else ""]
            row += [tried.get(exercise, "") for exercise in exercises]
            rows.writerow([_field(value) for value in (*row, "; ".join(grade.notes))])


def _field(value: object) -> str:
    text = plain(str(value))
    return f"'{text}" if text.startswith(_NO_CELL) else text


def plain(text: str) -> str:
    """Leave out what would steer a terminal, or could not be written.

    Args:
        text: Perhaps a student's.
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
