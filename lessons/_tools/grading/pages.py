"""Write a page for the class, and one for each student: answers, and what the checks said."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from _tools.grading import statistics, tables
from _tools.grading.running import Grade, Result
from _tools.grading.submissions import Unreadable, published_cells
from minigrad.classroom import desk

_STATUS = {
    "right": ("✓", "right"),
    "wrong": ("✗", "not yet"),
    "unsolved": ("○", "not solved"),
    "hurt": ("✗", "could not be judged"),
    "changed": ("✗", "not counted"),
    "taken": ("✗", "not counted"),
}
_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff;
  --line: #c8c8c8; --right: #00694d; --wrong: #a34700; --unsolved: #555555; --link: #00558a }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --paper: #161616;
  --line: #4a4a4a; --right: #4fd0a5; --wrong: #ff9a5c; --unsolved: #b4b4b4; --link: #7cc4ff } }
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 46rem; margin: 0 auto; padding: 1rem }
a { color: var(--link) }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
table { border-collapse: collapse }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.8rem; text-align: left }
td ul { margin: 0; padding-left: 1rem }
section.exercise { border-left: 5px solid var(--unsolved); padding: 0 1rem; margin: 1rem 0 }
section.right { border-color: var(--right) }
section.wrong, section.hurt, section.changed, section.taken { border-color: var(--wrong) }
p, li, td, h1 { overflow-wrap: anywhere }
.code, pre { font-family: monospace; white-space: pre-wrap }
pre { border: 1px solid var(--line); padding: 0.5rem; overflow-wrap: anywhere }
@media (max-width: 600px) { main { overflow-x: auto } th, td { padding: 0.3rem; font-size: 0.85rem }
  td:has(ul) { min-width: 10rem } }
@media print { body { max-width: none } }
"""


def write(grades: Sequence[Grade], folder: Path) -> list[Path]:
    """Write the pages, and a list of them.

    Args:
        grades: In any order.
        folder: Where to.

    Returns:
        A file for each student, in the order of their names.
    """
    written: list[Path] = []
    links = []
    for student, own in tables.students(grades).items():
        path = folder / f"{_file(student, {each.name for each in written})}"
        path.write_text(page(student, own), encoding="utf-8", newline="\n")
        written.append(path)
        got, most = sum(g.points for g in own), sum(g.most for g in own)
        remarks = sum(len(g.notes) for g in own)
        sign = "! " if any(g.alarms for g in own) else ""
        links.append(
            f'<tr><th scope="row"><a href="{path.name}">{_text(student)}</a></th>'
            f"<td>{got} of {most}</td><td>{sign}{remarks or ''}</td></tr>"
        )
    head = '<tr><th scope="col">student</th><th scope="col">points</th><th scope="col">remarks</th>'
    table = f"<table>\n{head}</tr>\n{chr(10).join(links)}\n</table>"
    note = f"<p>{_text(tables.ALARM)}</p>\n" if any(grade.alarms for grade in grades) else ""
    body = f"<h1>Grades</h1>\n{table}\n{note}{_class(grades)}"
    (folder / "index.html").write_text(_page("Grades", body), encoding="utf-8", newline="\n")
    return written


def _class(grades: Sequence[Grade]) -> str:
    """Lay out how each exercise went, those first that most missed, and what went wrong."""
    parts = ["<h2>Exercises, most missed first</h2>", "<table>\n<tr>"]
    columns = ("exercise", "solved", "tried", "untouched", "mistakes, and how often")
    parts += [f'<th scope="col">{name}</th>' for name in columns]
    for one in statistics.of(grades):
        mistakes = "".join(f"<li>{times}x {_text(says)}</li>" for says, times in one.mistakes)
        parts.append(
            f'</tr>\n<tr><th scope="row">{_text(one.exercise)}</th><td>{one.solved}</td>'
            f"<td>{one.tried}</td><td>{one.untouched}</td>"
            f"<td>{f'<ul>{mistakes}</ul>' if mistakes else ''}</td>"
        )
    return "".join([*parts, "</tr>\n</table>"])


def page(student: str, grades: Sequence[Grade]) -> str:
    """Make the page of one student.

    Args:
        student: The name.
        grades: One for each lesson.
    """
    rows, parts = [], []
    for number, grade in enumerate(grades):
        title = _title(grade.submission.lesson)
        points = f"{grade.points} of {grade.most}" if grade.ended else "not graded"
        link = f'<a href="#lesson-{number}">{_text(title)}</a>'
        rows.append(f'<tr><th scope="row">{link}</th><td>{points}</td></tr>')
        parts.append(f'<h2 id="lesson-{number}">{_text(title)}: {points}</h2>')
        cells = grade.submission.cells
        answers = {cell.exercise: cell.source for cell in cells if cell.kind == "answer"}
        parts += [_exercise(each, answers.get(each.exercise, "")) for each in grade.results]
        if grade.notes:
            remarks = "".join(f"<li>{_text(each)}</li>" for each in grade.notes)
            parts.append(f"<h3>What else happened</h3>\n<ul>{remarks}</ul>")
        own = "".join(_code(cell.source) for cell in cells if cell.kind == "own")
        if own:
            parts.append(f"<details><summary>Other cells of this student</summary>{own}</details>")
    head = '<tr><th scope="col">lesson</th><th scope="col">points</th></tr>'
    table = f"<table>\n{head}\n{chr(10).join(rows)}\n</table>"
    return _page(student, "\n".join([f"<h1>{_text(student)}</h1>", table, *parts]))


def _code(source: str) -> str:
    return f"<pre>{_text(source.expandtabs(4))}</pre>\n"


def _exercise(result: Result, answer: str) -> str:
    sign, words = _STATUS.get(result.status, _STATUS["hurt"])
    points = f"{result.points} of {result.most} point{'s' if result.most != 1 else ''}"
    lines = list(result.lines)
    asked = f"Asked for: {desk.find(result.exercise).asks}."
    if asked not in lines:
        lines.insert(0, asked)
    if result.status == "unsolved":
        lines, answer = [asked], ""
    said = "\n".join(
        f'<p class="code">{_text(line)}</p>' if line.startswith("  ") else f"<p>{_text(line)}</p>"
        for line in lines
    )
    return (
        f'<section class="exercise {result.status}">\n'
        f'<h3><span aria-hidden="true">{sign}</span> {_text(result.exercise)}: {words}, '
        f"{points}</h3>\n{_code(answer) if answer else ''}{said}\n</section>"
    )


def _title(lesson: str) -> str:
    """Give the heading of a lesson, such as "01 · The chain rule by hand"."""
    try:
        first = published_cells(lesson)[0]["source"]
    except Unreadable:
        return lesson or "An unknown lesson"
    return str(first).partition("\n")[0].lstrip("# ")


def _page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape("".join(c for c in text if c.isprintable() or c == "\n"))


def _file(student: str, taken: set[str]) -> str:
    """Make the name of a file, which no other student has and no system minds."""
    name = re.sub(r"[^\w-]+", "_", student).strip("_")[:60] or "student"
    names = (f"{name}{number or ''}.html" for number in range(len(taken) + 2))
    low = {each.lower() for each in taken} | {"index.html"}
    return next(each for each in names if each.lower() not in low)
