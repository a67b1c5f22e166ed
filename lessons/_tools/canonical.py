"""Bring a notebook into its one canonical form, so that equal notebooks are equal files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}
TAGS = ("hide-input", "hide-output", "prediction", "raises-exception", "reveals")
_FOLDS = {"hide-input": "source_hidden", "hide-output": "outputs_hidden"}


def canonical(notebook: NotebookNode) -> NotebookNode:
    """Give a notebook in canonical form; the given one stays as it is.

    Cell ids count the cells. Metadata are the tags, the grading marks and the slide type; what is
    folded follows from the tags `hide-input` and `hide-output`, so what somebody folds in passing
    is not kept. Outputs keep no timing, and of an error only its name and message: a traceback
    holds paths.

    Args:
        notebook: any notebook of format 4.

    Raises:
        ValueError: where a cell carries a tag that is not known, or is neither Markdown nor code.
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
    made.metadata = nbformat.from_dict(_metadata(cell.metadata, index))
    return made


def _metadata(metadata: Any, index: int) -> dict[str, Any]:
    tags = sorted(set(metadata.get("tags", [])))
    if unknown := set(tags) - set(TAGS):
        raise ValueError(f"cell {index} has the tag {min(unknown)!r}; known: {', '.join(TAGS)}")
    kept: dict[str, Any] = {"tags": tags} if tags else {}
    if folds := {_FOLDS[tag]: True for tag in tags if tag in _FOLDS}:
        kept["jupyter"] = folds
    if slide := metadata.get("slideshow", {}).get("slide_type"):
        kept["slideshow"] = {"slide_type": slide}
    if marks := metadata.get("nbgrader"):
        kept["nbgrader"] = _grading_marks(marks["grade_id"], marks.get("points", 1))
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
        grade_id: as in the metadata; nbgrader takes letters, digits and dashes, but no dot.
    """
    return grade_id.removesuffix("-check").replace("-", ".")


def _grading_marks(grade_id: str, points: int) -> dict[str, Any]:
    """Give nbgrader's metadata of an answer cell, or of a cell that checks it, by its id."""
    grade = grade_id.endswith("-check")
    marks = {"grade": grade, "grade_id": grade_id, "locked": grade, "schema_version": 3}
    marks |= {"solution": not grade, "task": False}
    return marks | {"points": points} if grade else marks


def canonical_outputs(outputs: Any, count: int | None = None) -> list[NotebookNode]:
    """Bring the outputs of a cell into canonical form; the given ones stay as they are.

    Args:
        outputs: of a code cell.
        count: the cell's execution count.
    """
    made: list[NotebookNode] = copy.deepcopy(outputs)
    for output in made:
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        if "metadata" in output:  # only the alternative text of pictures
            alts = {
                kind: {"alt": each["alt"]}
                for kind, each in output.metadata.items()
                if isinstance(each, dict) and "alt" in each
            }
            output.metadata = nbformat.from_dict(alts)
        if output.output_type == "execute_result":
            output.execution_count = count
        output.pop("transient", None)
    return made
