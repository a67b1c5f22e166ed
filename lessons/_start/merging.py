"""Bring a learner's copy up to a lesson that has changed since, and lose nothing of theirs."""

from __future__ import annotations

import copy
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from . import notebooks
from .notebooks import Cell

VERSION = "Your version; the lesson has changed the cell above it since."
CHANGED, DROPPED = "the lesson changed this cell", "the lesson dropped this cell"
_PREDICTION = re.compile(r"^\s*(predict|compare)\(\s*[\"']([^\"']+)", re.M)


@dataclass
class Merged:
    """A copy brought up to date.

    Args:
        cells: The cells of the copy.
        twice: How many of the learner's cells were set below the lesson's new ones.
        added: Those of the cells that are not the lesson's.
    """

    cells: list[Cell] = field(default_factory=list)
    twice: int = 0
    added: list[Cell] = field(default_factory=list)


def merge(base: Sequence[Cell] | None, mine: Sequence[Cell], new: Sequence[Cell]) -> Merged:
    """Carry what a learner did over to the new version of a lesson.

    What the learner did not change becomes as the lesson has it now. What only the learner changed
    stays, with its outputs. Where both changed a cell, the learner's stands below the lesson's, so
    that from top to bottom it has the last word; an answer takes the place of the stub, if it
    answers the new one too. What the learner added stays after the same neighbor, and so does what
    the learner changed and the lesson dropped. What the learner deleted stays deleted, unless it is
    no stub and the lesson changed it.

    Args:
        base: The lesson as the copy was made from it; None where nobody knows.
        mine: The copy.
        new: The lesson as it is now.

    Returns:
        The new copy; the cells given stay as they are.
    """
    known = mine if base is None else base
    said = [None if base is None else notebooks.text(cell) for cell in known]
    own, onward = _by_id(mine, known), pair(known, new)
    places = {i: onward[origin] for i, origin in own.items() if origin in onward}
    found = {place: i for i, place in places.items()}
    origins = {place: origin for origin, place in onward.items()}
    result = Merged()
    behind: dict[int, list[Cell]] = {}
    for i, after in _neighbors(mine, places, len(new)):
        if i not in own:
            behind.setdefault(after, []).append(copy.deepcopy(mine[i]))
        elif notebooks.text(mine[i]) != said[own[i]]:
            behind.setdefault(after, []).append(_kept(mine[i], DROPPED))
    _add(behind.get(-1, []), result)
    for place, cell in enumerate(new):
        before = None if place not in origins else said[origins[place]]
        if place in found:
            _resolve(before, known[origins[place]], mine[found[place]], cell, result)
        elif before is None or (before != notebooks.text(cell) and not _is_to_write_in(cell)):
            result.cells.append(notebooks.without_outputs(cell))
        _add(behind.get(place, []), result)
    taken = {None, *(cell["id"] for cell in new)}
    for cell in result.added:
        if cell.get("id") in taken:
            cell["id"] = secrets.token_hex(6)
        taken.add(cell["id"])
    return result


def pair(old: Sequence[Cell], new: Sequence[Cell], loosely: bool = True) -> dict[int, int]:
    """Pair the cells of two versions by what they are and say; their ids do not count.

    Args:
        old: One version.
        new: The other.
        loosely: Whether cells of one kind that stand in the same gap are paired in their order.

    Returns:
        For positions in `old` those in `new`; cells without a partner are left out.
    """
    pairs: dict[int, int] = {}
    ours, theirs = ([_name(cell) or notebooks.text(cell) for cell in side] for side in (old, new))
    for same, i, end, j, until in SequenceMatcher(None, ours, theirs, False).get_opcodes():
        if same == "equal":
            pairs.update(zip(range(i, end), range(j, until), strict=True))
        for kind in notebooks.KINDS if same == "replace" and loosely else ():
            left = [k for k in range(i, end) if old[k]["cell_type"] == kind and not _name(old[k])]
            there = [
                k for k in range(j, until) if new[k]["cell_type"] == kind and not _name(new[k])
            ]
            pairs.update(zip(left, there, strict=False))
    moved = {theirs[j]: j for j in {*range(len(new))} - {*pairs.values()}}
    for i, name in enumerate(ours):
        if i not in pairs and name in moved:
            pairs[i] = moved.pop(name)
    return pairs


def _name(cell: Cell) -> tuple[str, str] | None:
    """Give the name by which a cell is known in every version: of its exercise or prediction."""
    if "kept" in notebooks.noted(cell):
        return None
    if grade_id := notebooks.grading(cell).get("grade_id"):
        return "exercise", grade_id
    found = _PREDICTION.search(cell["source"]) if cell["cell_type"] == "code" else None
    return (found[1], found[2]) if found else None


def _by_id(mine: Sequence[Cell], base: Sequence[Cell]) -> dict[int, int]:
    """Pair a learner's cells with those of the lesson that the copy was made from.

    Jupyter keeps ids. Where a program has dropped or changed them, and where a cell was cut and
    pasted, equal cells are paired.
    """
    ids = {cell.get("id"): place for place, cell in enumerate(base)}
    pairs, rest = {}, []
    for i, cell in enumerate(mine):
        if "kept" in notebooks.noted(cell):  # an update set it beside the lesson's: it equals none
            continue
        if isinstance(cell.get("id"), str) and cell["id"] in ids:
            pairs[i] = ids.pop(cell["id"])
        else:
            rest.append(i)
    there = sorted({*range(len(base))} - {*pairs.values()})
    further = pair([mine[i] for i in rest], [base[j] for j in there], loosely=False)
    return pairs | {rest[i]: there[j] for i, j in further.items()}


def _neighbors(mine: Sequence[Cell], places: Mapping[int, int], end: int) -> list[tuple[int, int]]:
    """Say after which cell of the new lesson each cell belongs that has no place there.

    That is the neighbor above, of those between the same exercises: what the learner moved further
    is nobody's neighbor.
    """
    ends: dict[int, int] = {}
    for i in sorted(places, reverse=True):
        ends[i] = end
        end = places[i] if _name(mine[i]) else end
    start = last = -1
    found = []
    for i, cell in enumerate(mine):
        if i not in places:
            found.append((i, last))
        elif _name(cell):
            start = last = places[i]
        elif start < places[i] < ends[i]:
            last = max(last, places[i])
    return found


def _add(cells: list[Cell], result: Merged) -> None:
    """Append cells that are the learner's own."""
    result.added += cells
    result.cells += cells


def _resolve(before: object, base: Cell, mine: Cell, new: Cell, result: Merged) -> None:
    """Decide what to do with a cell that the learner and the lesson have."""
    says, now = notebooks.text(mine), notebooks.text(new)
    if now not in (before, says) and (says == before or not mine["source"].strip()):
        result.cells.append(notebooks.without_outputs(new))
    elif now in (before, says) or _replaces(mine, new):
        theirs = base["metadata"].items()
        own = {key: each for key, each in mine["metadata"].items() if (key, each) not in theirs}
        made = {**mine, "id": new["id"], "metadata": {**own, **new["metadata"]}}
        result.cells.append(copy.deepcopy(made))
    else:
        result.twice += 1
        result.cells.append(notebooks.without_outputs(new))
        _add([_kept(mine, CHANGED)], result)


def _replaces(answer: Cell, stub: Cell) -> bool:
    """Tell whether the learner's answer can stand where the lesson's new stub stands.

    It has to hold what the stub gives: each line, up to what the learner writes.
    """
    lines = [line.strip() for line in answer["source"].splitlines()]
    given = (line.partition("#")[0].partition("...")[0] for line in stub["source"].splitlines())
    return (
        _is_to_write_in(stub)
        and "..." not in answer["source"]
        and answer["cell_type"] == stub["cell_type"] == "code"
        and all(any(line.startswith(each.strip()) for line in lines) for each in given)
    )


def _is_to_write_in(cell: Cell) -> bool:
    """Tell whether a cell is there to be written in: for an answer, or for a prediction."""
    return bool(
        notebooks.grading(cell).get("solution") or "prediction" in cell["metadata"].get("tags", ())
    )


def _kept(mine: Cell, why: str) -> Cell:
    """Make a cell of the learner's own: with a word about it, and without the marks of grading."""
    kept = copy.deepcopy(mine)
    kept["metadata"].pop("nbgrader", None)
    kept["metadata"][notebooks.OWN] = {"kept": why}
    if why == CHANGED and kept["cell_type"] == "markdown":
        kept["source"] = f"*{VERSION}*\n\n{kept['source']}"
    elif why == CHANGED and not kept["source"].lstrip().startswith("%%"):  # a magic comes first
        kept["source"] = f"# {VERSION}\n{kept['source']}"
    return kept
