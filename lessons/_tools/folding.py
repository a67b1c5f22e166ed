"""Fold away, in the learner's notebook, what tells the outcome of a prediction too early."""

from __future__ import annotations

from nbformat import NotebookNode

from _tools.predictions import PREDICT

REVEALS = "reveals"
SUMMARY = "After you have compared: what came, and why"
_OPENING = f"<details>\n<summary>{SUMMARY}</summary>\n\n"
_CLOSING = "\n\n</details>"


def fold(notebook: NotebookNode) -> None:
    """Fold a learner's notebook, in place.

    Cells tagged `reveals` are folded: prose is wrapped, code hides its input. Below the first
    prediction every output is folded too, but for those of predictions and exercises. JupyterLab
    unfolds an output when its cell is run.

    Args:
        notebook: the learner's, as made from the solution.
    """
    below = False
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            if REVEALS in tags:
                cell.source = wrapped(cell.source)
            continue
        predicts = PREDICT.search(cell.source) is not None
        if REVEALS in tags:
            tags.add("hide-input")
        if below and not predicts and "nbgrader" not in cell.metadata:
            tags.add("hide-output")
        if tags:
            cell.metadata.tags = sorted(tags)
        below = below or predicts


def wrapped(source: str) -> str:
    """Wrap a Markdown source so that a click opens it.

    Blank lines stand around the source, so that Markdown and formulas in it are rendered.

    Args:
        source: of a Markdown cell.
    """
    return f"{_OPENING}{source}{_CLOSING}"


def unwrapped(source: str) -> str:
    """Give what was wrapped; any other source stays as it is.

    Args:
        source: of a Markdown cell of a learner's notebook.
    """
    if source.startswith(_OPENING) and source.endswith(_CLOSING):
        return source.removeprefix(_OPENING).removesuffix(_CLOSING)
    return source
