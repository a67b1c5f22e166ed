"""Find the same cell in two versions of a lesson: by its id, or by what it is and says."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from . import notebooks
from .notebooks import Cell

ALIKE = 0.5  # of the text: below that, it is another cell
_PREDICTION = re.compile(r"^\s*(predict|compare)\(\s*[\"']([^\"']+)", re.M)


def key(cell: Cell) -> tuple[str, str] | None:
    """Give the name by which a cell is known in every version: of its exercise or prediction.

    Args:
        cell: Of a lesson.
    """
    grade_id = notebooks.grading(cell).get("grade_id")
    if grade_id:
        return "exercise", grade_id
    found = _PREDICTION.search(cell["source"]) if cell["cell_type"] == "code" else None
    return (found[1], found[2]) if found else None


def is_kept(cell: Cell) -> bool:
    """Tell whether this is a learner's version that an update set beside the lesson's.

    Args:
        cell: Of a copy.
    """
    return "kept" in notebooks.noted(cell)


def pair(old: Sequence[Cell], new: Sequence[Cell], loosely: bool = True) -> dict[int, int]:
    """Pair the cells of two versions by what they are and say; their ids do not count.

    First go cells that have one name, such as an exercise, then cells that say the same, in order
    and out of order, and then, between these, cells that are alike.

    Args:
        old: One version.
        new: The other.
        loosely: Whether cells are paired that are only alike.

    Returns:
        For positions in `old` those in `new`; cells without a partner are left out.
    """
    pairs = _by_key(old, new)
    ours, theirs = _left(old, pairs), _left(new, pairs.values())
    before, after = (
        [_identity(side[i]) for i in left] for side, left in ((old, ours), (new, theirs))
    )
    for i, j, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        pairs.update(zip(ours[i : i + size], theirs[j : j + size], strict=True))
    moved: dict[object, list[int]] = {}
    for j in _left(new, pairs.values()):
        moved.setdefault(_identity(new[j]), []).append(j)
    for i in _left(old, pairs):
        if places := moved.get(_identity(old[i])):
            pairs[i] = places.pop(0)
    return pairs | _alike(old, new, pairs) if loosely else pairs


def by_id(mine: Sequence[Cell], base: Sequence[Cell]) -> dict[int, int]:
    """Pair a learner's cells with those of the lesson that the copy was made from.

    Jupyter keeps ids. Where a program has dropped or changed them, and where a cell was cut and
    pasted, equal cells are paired.

    Args:
        mine: The cells of the copy.
        base: The cells of the lesson as it was delivered.

    Returns:
        For positions in `mine` those in `base`; what the learner added is left out.
    """
    places = {cell["id"]: position for position, cell in enumerate(base)}
    pairs: dict[int, int] = {}
    for i, cell in enumerate(mine):
        name = cell.get("id")
        if isinstance(name, str) and name in places and not is_kept(cell):
            pairs[i] = places.pop(name)
    ours, theirs = _left(mine, pairs), _left(base, pairs.values())
    further = pair([mine[i] for i in ours], [base[j] for j in theirs], loosely=False)
    return pairs | {ours[i]: theirs[j] for i, j in further.items()}


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give the longest part of the pairs in which both sides have one order.

    Args:
        pairs: In the order of their first entries.
    """
    ends: list[int] = []  # of the rising runs of each length, the smallest last value
    runs: list[list[tuple[int, int]]] = []
    for each in pairs:
        length = bisect_left(ends, each[1])
        run = [*(runs[length - 1] if length else ()), each]
        ends[length:] = [each[1], *ends[length + 1 :]]
        runs[length:] = [run, *runs[length + 1 :]]
    return runs[-1] if runs else []


def _identity(cell: Cell) -> object:
    """Give what equal cells have in common; a version set beside the lesson's equals none."""
    return id(cell) if is_kept(cell) else (notebooks.text(cell), key(cell))


def _left(cells: Sequence[Cell], taken: Iterable[int]) -> list[int]:
    paired = set(taken)
    return [position for position in range(len(cells)) if position not in paired]


def _by_key(old: Sequence[Cell], new: Sequence[Cell]) -> dict[int, int]:
    """Pair cells whose name occurs once on either side."""
    sides: list[dict[tuple[str, str], list[int]]] = [{}, {}]
    for side, cells in zip(sides, (old, new), strict=True):
        for position, cell in enumerate(cells):
            name = key(cell)
            if name and not is_kept(cell):
                side.setdefault(name, []).append(position)
    ours, theirs = sides
    return {
        places[0]: theirs[name][0]
        for name, places in ours.items()
        if len(places) == len(theirs.get(name, ())) == 1
    }


def _alike(old: Sequence[Cell], new: Sequence[Cell], pairs: dict[int, int]) -> dict[int, int]:
    """Pair what is alike and stands between the same neighbors."""
    found: dict[int, int] = {}
    fixed = [(-1, -1), *rising(sorted(pairs.items())), (len(old), len(new))]
    taken = set(pairs.values())
    for (i, j), (next_i, next_j) in pairwise(fixed):
        ours = [k for k in range(i + 1, next_i) if k not in pairs and not is_kept(old[k])]
        theirs = [k for k in range(j + 1, next_j) if k not in taken and not is_kept(new[k])]
        scores = [
            (_likeness(old[a], new[b]), -abs(a - i - b + j), a, b) for a in ours for b in theirs
        ]
        for score, _, a, b in sorted(scores, reverse=True):
            if score >= ALIKE and a not in found and b not in found.values():
                found[a] = b
    return found


def _likeness(one: Cell, other: Cell) -> float:
    """Say how much of their text two cells share; nothing where they are of different kinds."""
    if one["cell_type"] != other["cell_type"] or key(one) != key(other):
        return 0.0
    matcher = SequenceMatcher(None, one["source"], other["source"], autojunk=False)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < ALIKE:
        return 0.0
    return matcher.ratio()
