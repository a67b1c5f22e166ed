"""Read and write notebooks, in the form that Jupyter gives them."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Notebook = dict[str, Any]
KINDS = {"code", "markdown", "raw"}
OWN = "minigrad"  # under this key of the metadata stands what these programs note


class Unreadable(ValueError):
    """A file that isn't a notebook of format 4, and why."""


def parse(data: bytes) -> Notebook:
    """Read a notebook out of the bytes of a file, without nbformat, which takes seconds to load.

    Args:
        data: what the file holds.

    Returns:
        The notebook. Each cell has its source as one text, and metadata.

    Raises:
        Unreadable: Where this isn't a notebook of format 4.
    """
    try:
        notebook: Notebook = json.loads(data.decode("utf-8-sig"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        says = all(cell["cell_type"] in KINDS and "metadata" in cell for cell in notebook["cells"])
        if says and notebook["nbformat"] == 4 and "metadata" in notebook:
            return notebook
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    raise Unreadable("it isn't a notebook of format 4")


def read(path: Path) -> Notebook:
    """Read a notebook from a file.

    Args:
        path: Where it is.

    Raises:
        Unreadable: Where this isn't a notebook of format 4.
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
    text = json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return text.encode(errors="replace")  # half a character cannot be written


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
    finally:
        draft.unlink(missing_ok=True)


def text(cell: Mapping[str, Any]) -> tuple[str, str]:
    """Give what a cell says: its kind and its source.

    Args:
        cell: Of a notebook.
    """
    return cell["cell_type"], cell["source"]


def grading(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give nbgrader's marks of a cell; none if it is neither an answer nor a check.

    Args:
        cell: Of a notebook.
    """
    marks: dict[str, Any] = cell["metadata"].get("nbgrader") or {}
    return marks if "grade_id" in marks else {}


def noted(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what these programs noted about a notebook or a cell.

    Args:
        part: A notebook or a cell.
    """
    return part["metadata"].get(OWN) or {}


def without_outputs(cell: Cell) -> Cell:
    """Give a cell as one that was never run; the given one stays as it is.

    Args:
        cell: Of a notebook.
    """
    kept = copy.deepcopy(cell)
    if kept["cell_type"] == "code":
        kept.update(outputs=[], execution_count=None)
    return kept
