"""Tell how a class did: who solved each exercise, and which mistakes were made how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from _tools.grading import tables
from _tools.grading.running import Grade, Result

_SHOWN, _WIDTH = 5, 60
_NUMBER = re.compile(r"-?\d[\d.e+-]*")
_NO_REASON = ("Asked for: ", "You gave ", "Besides: ", "What it prints is held back", "    ")


@dataclass
class Statistics:
    """How one exercise went.

    Args:
        exercise: Its id.
        solved: How many students got it right.
        tried: How many answered, and not rightly.
        untouched: How many left it as it was.
        mistakes: What was said to wrong answers, and how often.
    """

    exercise: str
    solved: int = 0
    tried: int = 0
    untouched: int = 0
    mistakes: Counter[str] = field(default_factory=Counter)

    @property
    def frequent(self) -> list[tuple[str, int]]:
        """The mistakes, the most frequent first; those that differ in numbers only are one."""
        alike: dict[str, Counter[str]] = {}
        for says, times in sorted(self.mistakes.items()):
            alike.setdefault(_NUMBER.sub("#", says), Counter())[says] = times
        counted = [(each.most_common(1)[0][0], each.total()) for each in alike.values()]
        return sorted(counted, key=lambda each: -each[1])


def of(grades: Iterable[Grade]) -> list[Statistics]:
    """Count, over all students.

    Args:
        grades: In any order; those that did not come to their end do not count.

    Returns:
        One for each exercise, those that most missed first.
    """
    found: dict[str, Statistics] = {}
    for grade in grades:
        for result in grade.results if grade.ended else ():
            one = found.setdefault(result.exercise, Statistics(result.exercise))
            if result.status == "right":
                one.solved += 1
            elif result.status == "unsolved":
                one.untouched += 1
            else:
                one.tried += 1
                one.mistakes[reason(result)] += 1
    return sorted(found.values(), key=_missed)


def _missed(one: Statistics) -> tuple[float, int, str]:
    return one.solved / (one.solved + one.tried + one.untouched), -one.tried, one.exercise


def reason(result: Result) -> str:
    """Give what was said to a wrong answer, without what it was in this student's case.

    Args:
        result: Of an exercise that was tried.
    """
    if result.status == "changed":
        return "It changed what answers are checked by."
    said = [line for line in result.lines if not line.startswith(_NO_REASON)]
    return " ".join(said) or "No reason was told."


def as_text(grades: Sequence[Grade]) -> str:
    """Lay out the exercises that most students missed, each with its most frequent mistake.

    Args:
        grades: In any order.
    """
    missed = [each for each in of(grades) if each.tried or each.untouched]
    if not missed:
        return ""
    lines = ["", "Most missed    solved  tried  untouched  most frequent mistake"]
    for one in missed[:_SHOWN]:
        says, times = next(iter(one.frequent), ("", 0))
        says = tables.plain(says)
        short = says if len(says) <= _WIDTH else f"{says[: _WIDTH - 3]}..."
        mistake = f"{times}x {short}" if times else ""
        line = f"{one.exercise:<13}  {one.solved:>6}  {one.tried:>5}  {one.untouched:>9}  {mistake}"
        lines.append(line.rstrip())
    return "\n".join(lines)
