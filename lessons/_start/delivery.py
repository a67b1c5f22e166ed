"""Make the copy in which a learner works out of a published lesson."""

from __future__ import annotations

import hashlib
import json
import re

from . import notebooks
from .notebooks import Cell, Notebook

FOLDED = "hide-output"  # the tag of a cell whose stored output is folded away
UP = "../"  # from the folder of the copies to that of the lessons
# What is no link, whatever it looks like: code and formulas; then what is one.
_PARTS = re.compile(
    r"""
    (?: ^[ \t>]* (?P<fence>`{3,}|~{3,}) [^\n`]*\n (?s:.*?)
        (?: ^[ \t>]* (?P=fence) [`~]*[ \t]*$ | \Z ) )
    | (?: (?<!`) (?P<ticks>`+) (?!`) (?s:(?!\n[ \t]*\n).)+? (?<!`) (?P=ticks) (?!`) )
    | (?: \$\$(?s:.*?)\$\$ | (?<![\\$]) \$[^$\n]+\$ )
    | (?P<link> \]\(\s*<? | \b(?:href|src)=["'] ) (?P<target> [^\s)>"']+ )
    """,
    re.X | re.M,
)
_STAYS = (
    re.compile(  # has a scheme, or no relative path, or is a lesson: one goes on in one's copies
        r"[a-z][a-z0-9+.-]*:|[/#?:]|(?:\./)?[0-9]{2}_\w+\.ipynb(?:#.*)?$", re.I
    )
)


def delivered(published: Notebook, moved: bool = True) -> Notebook:
    """Make a fresh copy of a lesson: nothing is run yet, and links fit its place.

    Args:
        published: The learner's notebook as it is in the repository; it stays as it is.
        moved: Whether it goes into a folder beside it, which links have to leave again.

    Returns:
        The copy. In its metadata it says which delivery it is.
    """
    cells = [_delivered(cell, moved) for cell in published["cells"]]
    written = json.dumps(cells, sort_keys=True).encode()
    own = {notebooks.OWN: {"published": hashlib.sha256(written).hexdigest()[:16]}}
    return {**published, "cells": cells, "metadata": {**published["metadata"], **own}}


def relocated(source: str) -> str:
    """Rewrite the relative links of a Markdown text for the folder of the copies.

    Links to lessons stay as they are, so that one goes on in one's own copies. Code and formulas
    are left alone.

    Args:
        source: Of a Markdown cell.
    """
    return _PARTS.sub(_part, source)


def _delivered(cell: Cell, moved: bool) -> Cell:
    made = notebooks.without_outputs(cell)
    about = made["metadata"]  # outputs come when the learner runs the cell: none is folded away
    about.get("jupyter", {}).pop("outputs_hidden", None)
    if FOLDED in about.get("tags", ()):
        about["tags"].remove(FOLDED)
    made["metadata"] = {key: value for key, value in about.items() if value not in ({}, [])}
    if made["cell_type"] == "markdown" and moved:
        made["source"] = relocated(made["source"])
    return made


def _part(found: re.Match[str]) -> str:
    """Say where a link leads, seen from the folder of the copies."""
    target = found["target"]
    if not target or _STAYS.match(target):
        return found[0]
    return found["link"] + UP + target.removeprefix("./")
