"""Read and write notebooks with the standard library alone, in the form that Jupyter gives them."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Notebook = dict[str, Any]
KINDS = ("code", "markdown", "raw")
OWN = "minigrad"  # under this key of the metadata stands what these programs note


class Unreadable(ValueError):
    """A file that is no notebook of format 4, and why."""


def parse(data: bytes) -> Notebook:
    """Read a notebook out of the bytes of a file.

    Args:
        data: what the file holds.

    Returns:
        The notebook. Each cell has its source as one text, and metadata.

    Raises:
        Unreadable: Where this is no notebook of format 4.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error) if data else "the file is empty") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable("it has no list of cells")
    if notebook.get("nbformat") != 4:
        raise Unreadable("it is no notebook of format 4")
    if not isinstance(notebook.setdefault("metadata", {}), dict):
        raise Unreadable("its metadata are none")
    for number, cell in enumerate(notebook["cells"], start=1):
        if not _complete(cell):
            raise Unreadable(f"its cell {number} is none")
    return notebook


def read(path: Path) -> Notebook:
    """Read a notebook from a file.

    Args:
        path: Where it is.

    Raises:
        Unreadable: Where this is no notebook of format 4.
        OSError: Where there is no file, or it must not be read.
    """
    return parse(path.read_bytes())


def as_bytes(notebook: Notebook) -> bytes:
    """Write a notebook the way Jupyter does: sorted keys, one space, sources in lines.

    Args:
        notebook: As `parse` gives it; it stays as it is.
    """
    cells = [{**cell, "source": cell["source"].splitlines(True)} for cell in notebook["cells"]]
    whole = {**notebook, "cells": cells}
    try:
        return (json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
    except UnicodeEncodeError:  # half of a character, which UTF-8 cannot hold and JSON can
        return (json.dumps(whole, indent=1, sort_keys=True) + "\n").encode()


def write(path: Path, data: bytes) -> None:
    """Write a file all at once: there is the old one, or the new one, and never a half.

    Args:
        path: Where to; folders that are missing are made.
        data: What.

    Raises:
        OSError: Where that is not possible; the old file is there still.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def text(cell: Mapping[str, Any]) -> tuple[str, str]:
    """Give what a cell says: its kind and its source.

    Args:
        cell: Of a notebook.
    """
    return cell["cell_type"], cell["source"]


def grading(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give nbgrader's marks of a cell; none where it is no answer and no check.

    Args:
        cell: Of a notebook.
    """
    marks = cell["metadata"].get("nbgrader")
    return marks if isinstance(marks, dict) and isinstance(marks.get("grade_id"), str) else {}


def noted(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what these programs noted about a notebook or a cell.

    Args:
        part: A notebook or a cell.
    """
    notes = part["metadata"].get(OWN)
    return notes if isinstance(notes, dict) else {}


def fingerprint(cells: Sequence[Cell]) -> str:
    """Hash what a lesson delivers, so that a copy can say which delivery it is made from.

    Args:
        cells: All cells of the delivery.
    """
    written = json.dumps(list(cells), sort_keys=True).encode()
    return hashlib.sha256(written).hexdigest()[:16]


def without_outputs(cell: Cell) -> Cell:
    """Give a cell as one that was never run; the given one stays as it is.

    Args:
        cell: Of a notebook.
    """
    kept = copy.deepcopy(cell)
    if kept["cell_type"] == "code":
        kept.update(outputs=[], execution_count=None)
    return kept


def _complete(cell: Any) -> bool:
    """Bring a cell into the form that the rest relies on; say whether it is a cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in KINDS:
        return False
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        cell["source"] = source = "".join(source)
    if not isinstance(source, str) or not isinstance(cell.setdefault("metadata", {}), dict):
        return False
    if cell["cell_type"] != "code":
        return True
    cell.setdefault("execution_count", None)
    return isinstance(cell.setdefault("outputs", []), list)
