"""Fold away, in the learner's notebook, what tells the outcome of a prediction too early."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from _tools import telling
from _tools.predictions import PREDICT, predictions_of

REVEALS = "reveals"
_TITLED = re.compile(r"\*\*(?P<title>[^*`$<>\n]+)\*\*\n\n(?P<text>.+)", re.S)
_WRAPPED = re.compile(
    r"<details>\n<summary>(?P<title>[^\n]+)</summary>\n\n(?P<text>.+)\n\n</details>", re.S
)
_HEADING = re.compile(r"^#{1,6}\s", re.M)
_STYLE = re.compile(r"<style\b.*?</style>", re.S)


def fold(notebook: NotebookNode, solution: NotebookNode) -> None:
    """Fold a learner's notebook, in place.

    Cells tagged `reveals` are folded: prose is wrapped, code hides its input. Outputs that tell
    what came of a prediction are folded too, but for those of predictions and exercises.
    JupyterLab unfolds an output when its cell is run.

    Args:
        notebook: the learner's, as made from the solution.
        solution: with its outputs.
    """
    tells = telling_cells(solution)
    for index, cell in enumerate(notebook.cells):
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            if REVEALS in tags:
                cell.source = wrapped(cell.source)
            continue
        if REVEALS in tags:
            tags.add("hide-input")
        predicts = PREDICT.search(cell.source) is not None
        if index in tells and not predicts and "nbgrader" not in cell.metadata:
            tags.add("hide-output")
        if tags:
            cell.metadata.tags = sorted(tags)


def telling_cells(solution: NotebookNode) -> set[int]:
    """Find the cells of a lesson whose outputs tell what came of a prediction.

    They are those from the prediction to the first heading below its `compare`; and further down
    (below the first prediction of the lesson), those that show a number of three digits or more
    that came of any.

    Args:
        solution: with its outputs.
    """
    tell: set[int] = set()
    came: list[telling.Number] = []
    below = len(solution.cells)
    for each in predictions_of(solution):
        compared = each.asked if each.compared is None else each.compared
        tell.update(range(each.asked + 1, _end_of_section(solution, compared)))
        came += [number for number in telling.numbers(each.came) if number.telling]
        below = min(below, each.asked)
    for index in range(below + 1, len(solution.cells)):
        seen = telling.numbers(_shown(solution.cells[index]))
        if any(number.is_that_of(truth) for number in seen for truth in came):
            tell.add(index)
    return tell


def _end_of_section(notebook: NotebookNode, index: int) -> int:
    """Find the first cell with a heading below a cell."""
    for below in range(index + 1, len(notebook.cells)):
        cell = notebook.cells[below]
        if cell.cell_type == "markdown" and _HEADING.search(telling.prose(cell.source)):
            return below
    return len(notebook.cells)


def _shown(cell: NotebookNode) -> str:
    """Join all that the outputs of a cell show as text, in whichever of their forms."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        texts += [output.get("text", ""), output.get("evalue", "")]
        texts += [str(data[kind]) for kind in data if not kind.startswith("image/png")]
    return telling.visible(_STYLE.sub("", "\n".join(texts)))


def wrapped(source: str) -> str:
    r"""Wrap a Markdown source so that a click on its first line, the title, opens the rest.

    Blank lines stand around the rest, so that Markdown and formulas in it are rendered.

    Args:
        source: of a Markdown cell, `**its title**` on a line of its own before the rest.

    Raises:
        ValueError: where there is no such title.

    Example:
        >>> wrapped("**Why it doubled**\n\nThe hook said so.")
        '<details>\n<summary>Why it doubled</summary>\n\nThe hook said so.\n\n</details>'
    """
    found = _TITLED.fullmatch(source)
    if found is None:
        raise ValueError(
            f"what reveals has no title: {source[:60]!r}; begin it with a line **What is inside**, "
            "in plain words, and leave a blank line below"
        )
    return f"<details>\n<summary>{found['title']}</summary>\n\n{found['text']}\n\n</details>"


def unwrapped(source: str) -> str:
    """Give what was wrapped; any other source stays as it is.

    Args:
        source: of a Markdown cell of a learner's notebook.
    """
    found = _WRAPPED.fullmatch(source)
    return f"**{found['title']}**\n\n{found['text']}" if found else source


def untitled(source: str) -> str:
    """Leave the title of what is folded out, in either notebook; any other source stays as it is.

    Args:
        source: of a Markdown cell.
    """
    found = _TITLED.fullmatch(unwrapped(source))
    return found["text"] if found else source


def title_of(source: str) -> str:
    """Give the title of what is folded, or nothing where a source is not a fold of this kind.

    Args:
        source: of a Markdown cell of a learner's notebook.
    """
    found = _WRAPPED.fullmatch(source)
    return found["title"] if found else ""
