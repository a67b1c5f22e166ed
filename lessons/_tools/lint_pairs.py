"""Rules about the two notebooks of a lesson: they differ only where they should."""

from __future__ import annotations

from collections.abc import Iterator

from nbformat import NotebookNode

from _tools import canonical, lint_spoilers, stubs
from _tools.lesson import Slip
from _tools.outputs import said

RIGHT, UNSOLVED = ": right.", ": not solved yet."


def slips(solution: NotebookNode, learner: NotebookNode) -> list[Slip]:
    """Compare a solution notebook with its learner's notebook.

    Args:
        solution: the source.
        learner: what is stored as made from it.
    """
    try:
        wanted = stubs.learner_from(solution)
    except ValueError as error:
        return [Slip("stubs", "", str(error))]
    found = [Slip("same-cells", *where) for where in _different(wanted, learner)]
    for rule, notebook, says in (("solved", solution, RIGHT), ("unsolved", learner, UNSOLVED)):
        for cell, exercise, told in checks_unlike(notebook, says):
            text = f"{exercise} does not say {says.strip(': ')!r}: {told[:300]!r}"
            found.append(Slip(rule, cell.id, text))
    found += [Slip("spoiler", *where) for where in lint_spoilers.spoilers(solution, wanted)]
    return found


def _different(wanted: NotebookNode, learner: NotebookNode) -> Iterator[tuple[str, str]]:
    if len(wanted.cells) != len(learner.cells):
        yield "", f"{len(learner.cells)} cells, and {len(wanted.cells)} in the solution; release it"
    for want, have in zip(wanted.cells, learner.cells, strict=False):
        parts = ("id", "cell_type", "metadata", "source")
        if any(want[part] != have[part] for part in parts):
            yield want.id, "differs from what the solution notebook gives; release it"


def checks_unlike(notebook: NotebookNode, says: str) -> Iterator[tuple[NotebookNode, str, str]]:
    """Find the checks of exercises that do not say something.

    Args:
        notebook: with its outputs.
        says: what follows the name of the exercise: RIGHT or UNSOLVED.

    Yields:
        The cell, the exercise, and what the check says.
    """
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if marks is not None and marks.grade:
            exercise = canonical.exercise_of(marks.grade_id)
            told = said(cell)
            if f"{exercise}{says}" not in told:
                yield cell, exercise, told
