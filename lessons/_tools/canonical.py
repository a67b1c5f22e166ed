"""Bring a notebook into its one canonical form, so that equal notebooks are equal files."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}
TAGS = {
    "hide-input": "the code is folded away; for long plotting cells",
    "raises-exception": "the cell is meant to end in an error",
    "nbval-ignore-output": "the output is not compared; needs an entry in the allow-list",
    "prediction": "the learner writes a prediction down here",
    "reveals": "tells or explains the outcome of a prediction; folded in the learner's notebook",
    "hide-output": "the output is folded away; a release sets it where it tells what came",
}
SLIDES = ("slide", "subslide", "fragment", "skip", "notes")
_FOLDS = {"hide-input": "source_hidden", "hide-output": "outputs_hidden"}
_EXERCISE = re.compile(r"[a-zA-Z0-9]+\.[a-zA-Z0-9]+")


def canonical(notebook: NotebookNode) -> NotebookNode:
    """Give a notebook in canonical form; the given one stays as it is.

    Cell ids count the cells. Metadata are the tags, the grading marks and the slide type; what is
    folded follows from the tags `hide-input` and `hide-output`, so what somebody folds in passing
    is not kept. Outputs keep no timing, and of an error only its name and message: a traceback
    holds paths.

    Args:
        notebook: any notebook of format 4.

    Raises:
        ValueError: where a cell carries a tag that is not known.
    """
    result = nbformat.v4.new_notebook()
    result.nbformat, result.nbformat_minor = 4, 5
    result.metadata = NotebookNode(kernelspec=KERNELSPEC, language_info=LANGUAGE)
    result.cells = [_cell(cell, index) for index, cell in enumerate(notebook.cells, start=1)]
    return result


def text(notebook: NotebookNode) -> str:
    """Write a notebook as canonical text: sorted keys, one space of indentation, a final newline.

    Args:
        notebook: any notebook of format 4.
    """
    written: str = nbformat.writes(canonical(notebook), version=nbformat.NO_CONVERT)
    return written.rstrip("\n") + "\n"


def read(path: Path) -> NotebookNode:
    """Read a notebook.

    Args:
        path: of an .ipynb file.
    """
    return nbformat.read(path, as_version=4)


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook in canonical form, with the same line ends on every system.

    Args:
        notebook: what to write.
        path: where to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(notebook), encoding="utf-8", newline="\n")


def _cell(cell: NotebookNode, index: int) -> NotebookNode:
    source = cell.source.strip("\n")
    if cell.cell_type == "markdown":
        made = nbformat.v4.new_markdown_cell(source)
    elif cell.cell_type == "code":
        made = nbformat.v4.new_code_cell(source)
        made.execution_count = cell.get("execution_count")
        made.outputs = canonical_outputs(cell.get("outputs", []), made.execution_count)
    else:
        raise ValueError(f"cell {index} is of type {cell.cell_type!r}; use Markdown or code")
    made.id = f"cell-{index:03d}"
    made.metadata = _metadata(cell.metadata, index)
    return made


def _metadata(metadata: Any, index: int) -> NotebookNode:
    kept = NotebookNode()
    tags = sorted(set(metadata.get("tags", [])))
    slide = metadata.get("slideshow", {}).get("slide_type")
    for what, known, given in (("tag", TAGS, tags), ("slide type", SLIDES, [slide or "skip"])):
        for each in given:
            if each not in known:
                raise ValueError(f"cell {index} has the {what} {each!r}; known: {', '.join(known)}")
    if tags:
        kept.tags = tags
    if folds := {_FOLDS[tag]: True for tag in tags if tag in _FOLDS}:
        kept.jupyter = NotebookNode(folds)
    if slide:
        kept.slideshow = NotebookNode(slide_type=slide)
    if marks := metadata.get("nbgrader"):
        exercise, points = exercise_of(marks["grade_id"]), marks.get("points", 1)
        kept.nbgrader = grading_marks(exercise, grade=marks["grade"], points=points)
    return kept


def mark_of(cell: NotebookNode) -> str:
    """Give nbgrader's id of a cell, or nothing.

    Args:
        cell: of a notebook, perhaps of a student's.
    """
    marks = cell.metadata.get("nbgrader")
    return str(marks.get("grade_id", "")) if isinstance(marks, dict) else ""


def exercise_of(grade_id: str) -> str:
    """Read the exercise out of nbgrader's id of a cell: "06.2" out of "06-2" and "06-2-check".

    Args:
        grade_id: as in the metadata.
    """
    return grade_id.removesuffix("-check").replace("-", ".")


def grading_marks(exercise: str, *, grade: bool, points: int = 1) -> NotebookNode:
    """Make nbgrader's metadata of an answer cell or of a cell that checks it.

    Args:
        exercise: its id, such as "06.2".
        grade: whether this is the checking cell.
        points: what it is worth; only for the checking cell.

    Raises:
        ValueError: where the id is not of this form.
    """
    if not _EXERCISE.fullmatch(exercise):
        raise ValueError(f'an exercise is called like "06.2", not {exercise!r}')
    # nbgrader takes letters, digits and dashes, but no dot.
    grade_id = exercise.replace(".", "-") + ("-check" if grade else "")
    marks = NotebookNode(
        grade=grade,
        grade_id=grade_id,
        locked=grade,
        schema_version=3,
        solution=not grade,
        task=False,
    )
    if grade:
        marks.points = points
    return marks


def canonical_outputs(outputs: Any, count: int | None = None) -> list[NotebookNode]:
    """Bring the outputs of a cell into canonical form; the given ones stay as they are.

    Args:
        outputs: of a code cell.
        count: the cell's execution count.
    """
    made: list[NotebookNode] = []
    for output in copy.deepcopy(outputs):
        kind = output.output_type
        if kind == "stream" and made and made[-1].get("name") == output.name:
            made[-1].text += output.text
            continue
        if kind == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        if kind in ("display_data", "execute_result"):  # only the alternative text of pictures
            alts = {
                m: e["alt"]
                for m, e in output.metadata.items()
                if isinstance(e, dict) and "alt" in e
            }
            output.metadata = NotebookNode({m: NotebookNode(alt=alt) for m, alt in alts.items()})
        if kind == "execute_result":
            output.execution_count = count
        output.pop("transient", None)
        made.append(output)
    return made
