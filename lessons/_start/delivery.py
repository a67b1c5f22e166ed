"""Make the copy in which a learner works out of a published lesson."""

from __future__ import annotations

import re
from typing import Any

from . import notebooks
from .notebooks import Cell, Notebook

FOLDED = "hide-output"  # the tag of a cell whose stored output is folded away
UP = "../"  # from the folder of the copies to that of the lessons
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
# What is no link, whatever it looks like: code and formulas; then what is one.
_PARTS = re.compile(
    r"""
    (?P<code> (?<!`) (?P<ticks>`+) (?!`) (?:(?!\n[ \t]*\n).)+? (?<!`) (?P=ticks) (?!`) )
    | (?P<formula> \$\$.*?\$\$ | (?<![\\$]) \$[^$\n]+\$ )
    | (?P<link> \]\(\s*<? ) (?P<target> [^\s)>]* )
    | (?P<named> ^[ ]{0,3}\[[^\]^][^\]]*\]:[ \t]*<? ) (?P<place> [^\s>]+ )
    | (?P<tag> <[a-zA-Z][^>]*> )
    """,
    re.X | re.M | re.S,
)
_ATTRIBUTE = re.compile(r"""(?P<name>\b(?:href|src)\s*=\s*["']?)(?P<target>[^\s"'>]*)""", re.I)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|[/#?:]", re.I)  # has a scheme, or no relative path
_LESSON = re.compile(r"(?:\./)?[0-9]{2}_\w+\.ipynb(?:#.*)?")


def delivered(published: Notebook, moved: bool = True) -> Notebook:
    """Make a fresh copy of a lesson: nothing is run yet, and links fit its place.

    Args:
        published: The learner's notebook as it is in the repository; it stays as it is.
        moved: Whether it goes into a folder beside it, which links have to leave again.

    Returns:
        The copy. In its metadata it says which delivery it is.
    """
    numbered = enumerate(published["cells"], start=1)
    cells = [_delivered(cell, number, moved) for number, cell in numbered]
    _mend_ids(cells)
    return {
        "cells": cells,
        "metadata": {
            **published["metadata"],
            notebooks.OWN: {"published": notebooks.fingerprint(cells)},
        },
        "nbformat": 4,
        "nbformat_minor": 5,  # the first in which cells have ids
    }


def relocated(source: str) -> str:
    """Rewrite the relative links of a Markdown text for the folder of the copies.

    Links to lessons stay as they are, so that one goes on in one's own copies. Code and formulas
    are left alone.

    Args:
        source: Of a Markdown cell.
    """
    pieces: list[str] = []
    plain: list[str] = []
    fence = ""
    for line in source.splitlines(True):
        found = _FENCE.match(line)
        if fence:
            pieces.append(line)
            closes = found and found[1].startswith(fence) and not line[found.end() :].strip()
            fence = "" if closes else fence
        elif found and not (found[1][0] == "`" and "`" in line[found.end() :]):
            pieces += [_relocated("".join(plain)), line]
            plain, fence = [], found[1]
        else:
            plain.append(line)
    return "".join([*pieces, _relocated("".join(plain))])


def _delivered(cell: Cell, number: int, moved: bool) -> Cell:
    made = notebooks.without_outputs(cell)
    made.setdefault("id", f"cell-{number:03d}")
    _show_outputs(made["metadata"])
    if made["cell_type"] == "markdown" and moved:
        made["source"] = relocated(made["source"])
    return made


def _show_outputs(metadata: dict[str, Any]) -> None:
    """Undo what folds outputs away: here they come when the learner runs the cell."""
    shown, tags = metadata.get("jupyter"), metadata.get("tags")
    if isinstance(shown, dict):
        shown.pop("outputs_hidden", None)
        if not shown:
            del metadata["jupyter"]
    if isinstance(tags, list) and FOLDED in tags:
        tags.remove(FOLDED)
        if not tags:
            del metadata["tags"]


def _mend_ids(cells: list[Cell]) -> None:
    """Number the cells where two of them have one id; published lessons have good ids."""
    if len({cell["id"] for cell in cells}) < len(cells):
        for number, cell in enumerate(cells, start=1):
            cell["id"] = f"cell-{number:03d}"


def _relocated(plain: str) -> str:
    return _PARTS.sub(_part, plain)


def _part(found: re.Match[str]) -> str:
    if found["link"] is not None:
        return found["link"] + _target(found["target"])
    if found["named"] is not None:
        return found["named"] + _target(found["place"])
    if found["tag"] is not None:
        return _ATTRIBUTE.sub(lambda each: each["name"] + _target(each["target"]), found["tag"])
    return found[0]


def _target(target: str) -> str:
    """Say where a link leads, seen from the folder of the copies."""
    if not target or _ELSEWHERE.match(target) or _LESSON.fullmatch(target):
        return target
    return UP + target.removeprefix("./")
