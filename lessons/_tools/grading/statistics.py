"""Tell how a class did: who solved each exercise, and which mistakes were made how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from _tools.grading import tables
from _tools.grading.running import Grade, Result

_SHOWN, _WIDTH = 5, 60
_ROW = "{:<13}  {:>6}  {:>5}  {:>9}  {}"
_NUMBER = re.compile(r"-?\d[\d.e+-]*")
_NO_REASON = ("Asked for: ", "You gave ", "Besides: ", "What it prints is held back", "    ")


class Statistics(NamedTuple):
    """How one exercise went.

    Args:
        exercise: Its id.
        solved: How many students got it right.
        tried: How many answered, and not rightly.
        untouched: How many left it as it was.
        mistakes: What was said to wrong answers, and how often; the most frequent first.
    """

    exercise: str
    solved: int
    tried: int
    untouched: int
    mistakes: list[tuple[str, int]]


def of(grades: Iterable[Grade]) -> list[Statistics]:
    """Count, over all students.

    Args:
        grades: In any order; those that did not come to their end have no results.

    Returns:
        One for each exercise, those that most missed first.
    """
    results: dict[str, list[Result]] = {}
    for grade in grades:
        for each in grade.results:
            results.setdefault(each.exercise, []).append(each)
    counted = [_counted(exercise, own) for exercise, own in results.items()]
    return sorted(counted, key=lambda s: (s.solved / sum(s[1:4]), -s.tried, s.exercise))


def _counted(exercise: str, results: Sequence[Result]) -> Statistics:
    statuses = Counter(each.status for each in results)
    solved, untouched = statuses["right"], statuses["unsolved"]
    said = [reason(each) for each in results if each.status not in ("right", "unsolved")]
    # Mistakes that differ in numbers only are one, and the first stands for all.
    shown = {_NUMBER.sub("#", each): each for each in reversed(said)}
    alike = Counter(_NUMBER.sub("#", each) for each in said)
    mistakes = [(shown[each], times) for each, times in alike.most_common()]
    return Statistics(exercise, solved, len(said), untouched, mistakes)


def reason(result: Result) -> str:
    """Give what was said to a wrong answer, without what it was in this student's case.

    Args:
        result: Of an exercise that was tried.
    """
    if result.status == "changed":
        return "The notebook changed what answers are checked by."
    return " ".join(line for line in result.lines if not line.startswith(_NO_REASON))


def as_text(grades: Sequence[Grade]) -> str:
    """Lay out the exercises that most students missed, each with its most frequent mistake.

    Args:
        grades: In any order.
    """
    missed = [each for each in of(grades) if each.tried or each.untouched][:_SHOWN]
    lines = [_ROW.format("most missed", "solved", "tried", "untouched", "most frequent mistake")]
    for one in missed:
        says = "".join(f"{times}x {tables.plain(text)}" for text, times in one.mistakes[:1])
        short = says if len(says) <= _WIDTH else f"{says[: _WIDTH - 3]}..."
        lines.append(_ROW.format(*one[:4], short).rstrip())
    return "\n".join(["\n", *lines]) if missed else ""
