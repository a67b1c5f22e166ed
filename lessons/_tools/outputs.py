"""Read what the outputs of a cell say."""

from __future__ import annotations

from collections.abc import Iterator

from nbformat import NotebookNode

from _start.progress import shown as said
from _tools.canonical import exercise_of

__all__ = ["RIGHT", "UNSOLVED", "checks_unlike", "said"]
RIGHT, UNSOLVED = ": right.", ": not solved yet."


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
            exercise, told = exercise_of(marks.grade_id), said(cell)
            if f"{exercise}{says}" not in told:
                yield cell, exercise, told
