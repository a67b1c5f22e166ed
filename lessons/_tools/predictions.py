"""Find the predictions of a lesson: where each is asked for, where it is compared, what came."""

from __future__ import annotations

from dataclasses import dataclass

from nbformat import NotebookNode

from _start.progress import PREDICTS as PREDICT
from _start.review import CAME, COMPARE
from _tools.outputs import said


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
