"""Rules about cells: canonical form, execution order, opt-outs, headings, lengths, exercises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median
from urllib.parse import unquote

from nbformat import NotebookNode

from _tools import canonical
from _tools.folding import REVEALS
from _tools.lesson import Lesson, Rule, lines_of, without_fences
from _tools.outputs import said

ALLOWED_OPT_OUTS: dict[tuple[str, str], str] = {}
"""Cells whose output nbval may ignore: (lesson, cell id) to the reason."""

_MARKER = re.compile(r"#\s*(NBVAL_\w+|PYTEST_VALIDATE_\w+)")
_HEADING = re.compile(r"^(#{1,6})\s+(.+)$", re.M)
_LINK = re.compile(r"!?\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)[^)]*\)")
_FILE = re.compile(r"[\w/]+\.(?:py|md|ipynb|json|npz)")

Found = Iterator[tuple[str, str]]


def canonical_form(lesson: Lesson) -> Found:
    """The file is the canonical text of its notebook."""
    try:
        wanted = canonical.text(lesson.notebook)
    except ValueError as error:
        yield "", str(error)
        return
    if lesson.text != wanted:
        yield "", "not in canonical form; release the lesson"


def kernelspec(lesson: Lesson) -> Found:
    """The kernel is python3, and no version is noted."""
    if lesson.notebook.metadata.get("kernelspec") != canonical.KERNELSPEC:
        yield "", "the kernelspec is not python3"
    if lesson.notebook.metadata.get("language_info") != canonical.LANGUAGE:
        yield "", "language_info names more than the language"


def execution_order(lesson: Lesson) -> Found:
    """Every code cell was run, once, from top to bottom; nbval skips cells that were not."""
    for expected, cell in enumerate(lesson.code, start=1):
        if not cell.source.strip():
            yield cell.id, "an empty code cell"
        if cell.execution_count != expected:
            yield cell.id, f"execution count {cell.execution_count}, not {expected}"


def opt_outs(lesson: Lesson) -> Found:
    """No output is left uncompared, except by the allow-list."""
    for cell in lesson.code:
        markers = [match[1] for match in _MARKER.finditer(cell.source)]
        markers += [tag for tag in cell.metadata.get("tags", []) if tag.startswith("nbval-")]
        if markers and (lesson.path.stem, cell.id) not in ALLOWED_OPT_OUTS:
            yield cell.id, f"{markers[0]} takes the cell out of the comparison"


def errors(lesson: Lesson) -> Found:
    """Errors are announced by a tag, and announced errors happen."""
    for cell in lesson.code:
        failed = any(output.output_type == "error" for output in cell.outputs)
        announced = "raises-exception" in cell.metadata.get("tags", [])
        if failed and not announced:
            yield cell.id, "ends in an error without the tag raises-exception"
        if announced and not failed:
            yield cell.id, "is tagged raises-exception and raises none"


def headings(lesson: Lesson) -> Found:
    """One title, at the top; no level left out below it; no heading in what is folded."""
    found = [
        (cell.id, len(match[1]))
        for cell in lesson.prose
        for match in _HEADING.finditer(without_fences(cell.source))
    ]
    for cell in lesson.prose:
        folded = REVEALS in cell.metadata.get("tags", [])
        if folded and _HEADING.search(without_fences(cell.source)):
            yield cell.id, "a heading in a cell that reveals; split the cell by +++"
    first = lesson.notebook.cells[0] if lesson.notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        yield "", "the first cell does not begin with a title (# ...)"
    before = 0
    for cell, level in found:
        if level > before + 1:
            yield cell, f"a heading of level {level} follows one of level {before}"
        if level == 1 and before > 0:
            yield cell, "a second title (# ...)"
        before = level


LONGEST = 30
LONG_ANSWERS = {"17": 45}
"""How long an answer may be, where not 30 lines: in the capstone the learner writes whole classes.

What holds for the code that a lesson gives to be read, nine cells in ten under 14 lines and ten
words for each line, is not asked of such answers, which the learner's notebook does not have.
"""


def is_long_answer(lesson: Lesson, cell: NotebookNode) -> bool:
    """Tell whether a cell is an answer of a lesson in which whole classes are written.

    Args:
        lesson: the lesson.
        cell: a code cell of it.
    """
    solves = cell.metadata.get("nbgrader", {}).get("solution", False)
    return solves and lesson.path.stem.partition("_")[0] in LONG_ANSWERS


def cell_lengths(lesson: Lesson) -> Found:
    """Code comes in small pieces: median at most 4 lines, nine in ten under 14, none over 30."""
    longest = LONG_ANSWERS.get(lesson.path.stem.partition("_")[0], LONGEST)
    given = [cell for cell in lesson.code if not is_long_answer(lesson, cell)]
    for cell in lesson.code:
        most, length = (LONGEST if cell in given else longest), lines_of(cell)
        if length > most:
            yield cell.id, f"{length} lines of code, more than {most}"
    lengths = [lines_of(cell) for cell in given]
    if lengths and median(lengths) > 4:
        yield "", f"the median code cell has {median(lengths):g} lines, more than 4"
    long = sum(length >= 14 for length in lengths)
    if long > len(lengths) / 10:
        yield "", f"{long} of {len(lengths)} code cells have 14 lines or more, over one in ten"


EXERCISES = {"17": (7, 8)}
"""How many exercises, where not 4 to 6: the capstone has seven checkpoints."""


def exercises(lesson: Lesson) -> Found:
    """There are 4 to 6 exercises, and each answer cell has its check behind it."""
    marks = [cell.metadata.nbgrader for cell in lesson.code if "nbgrader" in cell.metadata]
    answers = [canonical.exercise_of(mark.grade_id) for mark in marks if mark.solution]
    checks = [canonical.exercise_of(mark.grade_id) for mark in marks if mark.grade]
    lesson_number = lesson.path.stem.partition("_")[0]
    fewest, most = EXERCISES.get(lesson_number, (4, 6))
    if not fewest <= len(answers) <= most:
        yield "", f"{len(answers)} exercises; this lesson has {fewest} to {most}"
    if answers != checks:
        yield "", f"answer cells {answers} and check cells {checks} do not pair in order"
    for cell in lesson.code:
        mark = cell.metadata.get("nbgrader")
        exercise = canonical.exercise_of(mark.grade_id) if mark else ""
        if mark and not exercise.startswith(f"{lesson_number}."):
            yield cell.id, f"exercise {exercise} is not of lesson {lesson_number}"
        if mark and mark.grade:
            if f'check("{exercise}"' not in cell.source:
                yield cell.id, f'does not call check("{exercise}", ...)'
            if f"{exercise}:" not in said(cell):
                yield cell.id, f"shows no result of check {exercise}"


def links(lesson: Lesson) -> Found:
    """Relative links lead to files that are there, and to the file that they name."""
    for cell in lesson.prose:
        for match in _LINK.finditer(without_fences(cell.source)):
            target = unquote(match["target"].partition("#")[0])
            if not target or re.match(r"[a-z]+:", target):
                continue
            # Both notebooks hold the same text, which is written for the learner's place.
            folder = lesson.path.parent
            folder = folder.parent if folder.name == "solutions" else folder
            if not (folder / target).exists():
                yield cell.id, f"the link to {target} leads nowhere"
            named = _FILE.fullmatch(match["words"].replace("\\", ""))
            if named and not f"/{target}".endswith(f"/{named[0]}"):
                yield cell.id, f"the link that names {named[0]} leads to {target}"


RULES: dict[str, Rule] = {
    "canonical-form": canonical_form,
    "kernelspec": kernelspec,
    "execution-order": execution_order,
    "opt-outs": opt_outs,
    "errors": errors,
    "headings": headings,
    "cell-lengths": cell_lengths,
    "exercises": exercises,
    "links": links,
}
