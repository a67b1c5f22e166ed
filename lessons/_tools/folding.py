"""Fold away, in the learner's notebook, what tells the outcome of a prediction too early."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from _tools import telling
from _tools.lesson import HEADING, PREDICT, predictions_of, tags, without_fences

REVEALS = "reveals"
_TITLED = re.compile(r"\*\*(?P<title>[^*`$<>\n]+)\*\*\n\n(?P<text>.+)", re.S)
_WRAPPED = re.compile(r"<details>\n<summary>(?P<title>[^\n]+)</summary>\n\n.+\n\n</details>", re.S)
_STYLE = re.compile(r"<style\b.*?</style>", re.S)


def fold(notebook: NotebookNode, solution: NotebookNode) -> None:
    """Fold a learner's notebook, in place.

    Cells tagged `reveals` are folded: prose is wrapped, code hides its input. Outputs that tell
    the outcome of a prediction are folded too, except those of predictions and exercises.
    JupyterLab unfolds an output when its cell is run.

    Args:
        notebook: the learner's, as made from the solution.
        solution: with its outputs.
    """
    tells = telling_cells(solution)
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            if REVEALS in tags(cell):
                cell.source = wrapped(cell.source)
            continue
        folds = ["hide-input"] if REVEALS in tags(cell) else []
        if index in tells and not PREDICT.search(cell.source) and "nbgrader" not in cell.metadata:
            folds.append("hide-output")
        cell.metadata.tags = [*tags(cell), *folds]


def telling_cells(solution: NotebookNode) -> set[int]:
    """Find the cells of a lesson whose outputs tell the outcome of a prediction.

    They are those from the prediction to the first heading below its `compare`. Further down, they
    are those that show a number of three digits or more from the outcome of any prediction.

    Args:
        solution: with its outputs.
    """
    tell: set[int] = set()
    predictions, cells = predictions_of(solution), solution.cells
    heads = [
        index
        for index, cell in enumerate(cells)
        if cell.cell_type == "markdown" and HEADING.search(without_fences(cell.source))
    ]
    came = [each for prediction in predictions for each in telling.numbers(prediction.came)]
    for each in predictions:
        compared = each.asked if each.compared is None else each.compared
        end = next((head for head in heads if head > compared), len(cells))
        tell.update(range(each.asked + 1, end))
    for index in range(min((each.asked for each in predictions), default=len(cells)), len(cells)):
        seen = telling.numbers(_shown(cells[index]))
        if any(number.is_that_of(truth) for number in seen for truth in came if truth.telling):
            tell.add(index)
    return tell


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
    if found is None or HEADING.search(without_fences(source)):
        raise ValueError(
            f"what reveals has no title, or a heading: {source[:60]!r}; begin it with a line "
            "**What is inside**, in plain words, leave a blank line below, and split it at headings"
        )
    return f"<details>\n<summary>{found['title']}</summary>\n\n{found['text']}\n\n</details>"


def title_of(source: str) -> str:
    """Give the title of what is folded, or nothing where a source is not a fold of this kind.

    Args:
        source: of a Markdown cell of a learner's notebook.
    """
    found = _WRAPPED.fullmatch(source)
    return found["title"] if found else ""
