"""Bring a learner's copy up to a lesson that has changed since, and lose nothing of theirs."""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from . import answering, matching, notebooks
from .notebooks import Cell

ANSWER = "Your answer; the lesson has changed the cell above it since."
VERSION = "Your version; the lesson has changed the cell above it since."
CHANGED, DROPPED = "the lesson changed this cell", "the lesson dropped this cell"
UNKNOWN = "nobody knows what this cell was made from"
_VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass
class Merged:
    """A copy brought up to date.

    Args:
        cells: The cells of the copy.
        answers: The exercises (nbgrader's ids) to which the learner has written an answer.
        changes: How many other cells hold something of the learner's.
        twice: How many of the learner's cells were set below the lesson's new ones.
        added: Those of the cells that are not the lesson's.
    """

    cells: list[Cell] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)
    changes: int = 0
    twice: int = 0
    added: list[Cell] = field(default_factory=list)


def merge(base: Sequence[Cell] | None, mine: Sequence[Cell], new: Sequence[Cell]) -> Merged:
    """Carry what a learner did over to the new version of a lesson.

    What the learner did not change becomes as the lesson has it now. What only the learner changed
    stays, with its outputs. Where both changed a cell, the learner's stands below the lesson's, so
    that from top to bottom it has the last word; an answer takes the place of the stub, if it
    answers the new one too. What the learner added stays behind the same neighbor, and so does what
    the learner changed and the lesson dropped. What the learner deleted stays deleted, unless it is
    no stub and the lesson changed it.

    Args:
        base: The lesson as the copy was made from it; None where nobody knows.
        mine: The copy.
        new: The lesson as it is now.

    Returns:
        The new copy; the cells given stay as they are.
    """
    if base is None:
        own = {i: i for i in range(len(mine)) if not matching.is_kept(mine[i])}
        onward = matching.pair(mine, new)
    else:
        own, onward = matching.by_id(mine, base), matching.pair(base, new)
    placed = {onward[origin]: i for i, origin in own.items() if origin in onward}
    origins = {place: origin for origin, place in onward.items()}
    behind = _followers(base, mine, own, onward)
    result = Merged()
    result.cells += _added(behind.get(-1, []), result)
    for place, cell in enumerate(new):
        before = base[origins[place]] if base is not None and place in origins else None
        if place in placed:
            result.cells += _resolved(before, mine[placed[place]], cell, result)
        elif before is None or _comes_back(before, cell):
            result.cells.append(notebooks.without_outputs(cell))
        result.cells += _added(behind.get(place, []), result)
    _name(result.added, {cell["id"] for cell in new})
    return result


def _followers(
    base: Sequence[Cell] | None,
    mine: Sequence[Cell],
    own: Mapping[int, int],
    onward: Mapping[int, int],
) -> dict[int, list[Cell]]:
    """Say behind which cell of the new lesson the learner's own cells belong.

    That is the neighbor above, but a cell that the learner moved is nobody's neighbor. And what
    gives a name a value stands below the answer that gave it another one before, as it did.

    Args:
        base: As for `merge`.
        mine: The copy.
        own: For cells of the copy those of the base.
        onward: For cells of the base those of the new lesson.

    Returns:
        For places in the new lesson the cells that follow; those for -1 stand above everything.
    """
    places = [(i, onward[origin]) for i, origin in sorted(own.items()) if origin in onward]
    neighbors = dict(matching.rising(places))
    behind: dict[int, list[Cell]] = {}
    given: dict[str, int] = {}  # by which cell of the new lesson a name has got its value
    last = -1
    for i, cell in enumerate(mine):
        last, origin = neighbors.get(i, last), own.get(i)
        if origin is None:
            added = copy.deepcopy(cell)
        elif origin in onward:
            if _is_for_the_learner(cell):
                given.update(dict.fromkeys(answering.names(cell["source"]), onward[origin]))
            continue
        elif base is None or notebooks.text(cell) != notebooks.text(base[origin]):
            added = _kept(cell, UNKNOWN if base is None else DROPPED)
        else:  # the lesson dropped it, and the learner had left it as it was
            continue
        again = answering.names(cell["source"]) if cell["cell_type"] == "code" else set()
        place = max([last, *(given[name] for name in again if name in given)])
        behind.setdefault(place, []).append(added)
    return behind


def _comes_back(before: Cell, cell: Cell) -> bool:
    """Tell whether a cell that the learner deleted comes back, because the lesson changed it.

    A stub does not: the learner has written the answer elsewhere, and that has to count.
    """
    return notebooks.text(before) != notebooks.text(cell) and not _is_for_the_learner(cell)


def _added(cells: list[Cell], result: Merged) -> list[Cell]:
    """Note cells that are the learner's own."""
    for cell in cells:
        _count(cell, result)
    result.added += cells
    return cells


def _resolved(base: Cell | None, mine: Cell, new: Cell, result: Merged) -> list[Cell]:
    """Decide what becomes of a cell that the learner and the lesson have."""
    says, says_now = notebooks.text(mine), notebooks.text(new)
    said = None if base is None else notebooks.text(base)
    if says in (said, says_now):
        return [_with_outputs(base, mine, new, new)]
    if said != says_now and not mine["source"].strip():
        return [notebooks.without_outputs(new)]
    _count(mine, result)
    if said == says_now or _replaces(mine, new):
        return [_with_outputs(base, mine, new, mine)]
    result.twice += 1
    kept = _kept(mine, CHANGED)
    result.added.append(kept)
    return [notebooks.without_outputs(new), kept]


def _replaces(mine: Cell, new: Cell) -> bool:
    """Tell whether the learner's answer can stand where the lesson's new stub stands."""
    if {mine["cell_type"], new["cell_type"]} != {"code"} or not _is_for_the_learner(new):
        return False
    return "..." not in mine["source"] and answering.fits(mine["source"], new["source"])


def _is_for_the_learner(cell: Cell) -> bool:
    """Tell whether a cell is there to be written in: for an answer, or for a prediction."""
    tags = cell["metadata"].get("tags")
    return bool(notebooks.grading(cell).get("solution")) or (
        isinstance(tags, list) and "prediction" in tags
    )


def _with_outputs(base: Cell | None, mine: Cell, new: Cell, saying: Cell) -> Cell:
    """Make the new lesson's cell with one of the sources, and the outputs that belong to it."""
    made: Cell = {"id": new["id"], "cell_type": saying["cell_type"], "source": saying["source"]}
    known = new if base is None else base
    for part in ("metadata", "attachments"):
        merged = _three_ways(*(each.get(part) for each in (known, mine, new)))
        if merged or part == "metadata":
            made[part] = merged
    if made["cell_type"] == "code":
        is_same = notebooks.text(made) == notebooks.text(mine)
        shown = mine if is_same else {}
        made["outputs"] = copy.deepcopy(shown.get("outputs", []))
        made["execution_count"] = shown.get("execution_count")
    return made


def _three_ways(base: Any, mine: Any, new: Any) -> dict[str, Any]:
    """Merge metadata entry by entry: what the learner did not change follows the lesson."""
    sides = [each if isinstance(each, dict) else {} for each in (base, mine, new)]
    old, own, now = sides
    merged = {}
    for name in [*now, *(name for name in own if name not in now)]:
        source = now if own.get(name) == old.get(name) or now.get(name) != old.get(name) else own
        if name in source:
            merged[name] = copy.deepcopy(source[name])
    return merged


def _kept(mine: Cell, why: str) -> Cell:
    """Make a cell of the learner's own: with a word about it, and without the marks of grading."""
    kept = copy.deepcopy(mine)
    marks = notebooks.grading(kept)
    kept["metadata"].pop("nbgrader", None)
    kept["metadata"][notebooks.OWN] = {"kept": why}
    if marks:
        kept["metadata"][notebooks.OWN]["grade_id"] = marks["grade_id"]
    if why == CHANGED:
        words = ANSWER if marks.get("solution") else VERSION
        if kept["cell_type"] == "markdown":
            kept["source"] = f"*{words}*\n\n{kept['source']}"
        elif not kept["source"].lstrip().startswith("%%"):  # a cell magic has to come first
            kept["source"] = f"# {words}\n{kept['source']}"
    return kept


def _count(mine: Cell, result: Merged) -> None:
    """Count something that the learner wrote."""
    marks = {**notebooks.noted(mine), **notebooks.grading(mine)}
    is_answer = marks.get("solution") or ("kept" in marks and "grade_id" in marks)
    if is_answer and isinstance(marks.get("grade_id"), str):
        result.answers.add(marks["grade_id"])
    elif mine["source"].strip():
        result.changes += 1


def _name(cells: Sequence[Cell], lesson: Set[str]) -> None:
    """Give each of the learner's cells an id that no other cell has; good ones stay."""
    taken = set(lesson)
    for cell in cells:
        name = cell.get("id")
        if not isinstance(name, str) or not _VALID_ID.fullmatch(name) or name in taken:
            name = cell["id"] = _fresh_id(cell, taken)
        taken.add(name)


def _fresh_id(cell: Cell, taken: Set[str]) -> str:
    """Make an id that is not taken; the same cells get the same ones."""
    number = 0
    while True:
        written = f"{cell['cell_type']} {cell['source']} {number}".encode(errors="replace")
        name = "yours-" + hashlib.sha256(written).hexdigest()[:12]
        if name not in taken:
            return name
        number += 1
