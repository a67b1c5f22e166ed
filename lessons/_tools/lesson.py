"""Read a lesson: its exercises, predictions and outputs, and its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from _start.progress import PREDICTS as PREDICT
from _start.progress import shown as said
from _start.review import CAME, COMPARE
from _tools.canonical import exercise_of

__all__ = ["COMPARE", "PREDICT", "said"]
RIGHT, UNSOLVED = ": right.", ": not solved yet."
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*$", re.M)
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.M | re.S)
# What is not words in a Markdown source, and what is read there instead.
_NO_WORDS = {
    r"(?s)\$\$.*?\$\$": " formula ",
    r"`[^`\n]+`": " code ",
    r"(?<![\\$])\$[^$\n]+\$": " formula ",
    r"!?\[([^\]]*)\]\([^)]*\)": r" \1 ",
    r"<[^>]+>": " ",
    r"https?://\S+": " ",
}


@dataclass(frozen=True)
class Prediction:
    """A prediction and the two cells that belong to it.

    Args:
        name: as it is given to `predict`, such as "06.a".
        asked: the index of the cell that asks for it.
        compared: the index of the cell that compares it, or None.
        came: what the stored output of that cell says came, or "".
    """

    name: str
    asked: int
    compared: int | None
    came: str


def predictions_of(notebook: NotebookNode) -> list[Prediction]:
    """List the predictions of a notebook, in the order in which they are asked for.

    Args:
        notebook: a lesson with its outputs.
    """
    asked: dict[str, int] = {}
    compared: dict[str, int] = {}
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            for names, found in ((asked, PREDICT), (compared, COMPARE)):
                for name in found.findall(cell.source):
                    names.setdefault(name, index)
    made = []
    for name, index in asked.items():
        where = compared.get(name)
        came = CAME.search(said(notebook.cells[where])) if where is not None else None
        made.append(Prediction(name, index, where, " ".join(came[1].split()) if came else ""))
    return made


def tags(cell: NotebookNode) -> list[str]:
    """Give the tags of a cell.

    Args:
        cell: of a notebook.
    """
    found: list[str] = cell.metadata.get("tags", [])
    return found


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


def without_fences(source: str) -> str:
    """Take the fenced blocks out of a Markdown source.

    Args:
        source: of a Markdown cell.
    """
    return _FENCED.sub("", source)


def sentences(source: str) -> str:
    """Take code, formulas, HTML and link targets out of a Markdown source, so that words remain.

    A piece of inline code or a formula becomes one word, because it is read as one.

    Args:
        source: of a Markdown cell.
    """
    text = without_fences(source)
    for pattern, by in _NO_WORDS.items():
        text = re.sub(pattern, by, text)
    return text
