"""Look for slips in lesson notebooks: what nbval does not see, and what is hard to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from _tools import (
    canonical,
    lint_outputs,
    lint_pairs,
    lint_parts,
    lint_prose,
    lint_structure,
    places,
)
from _tools.lesson import Lesson, Rule, Slip

RULES: dict[str, Rule] = {
    **lint_structure.RULES,
    **lint_outputs.RULES,
    **lint_prose.RULES,
    **lint_parts.RULES,
}


def slips(path: Path, leave_out: Sequence[str] = ()) -> list[Slip]:
    """Apply the rules to a notebook.

    Args:
        path: of a solution notebook or a learner's.
        leave_out: names of rules that are not applied.
    """
    lesson = Lesson(path, canonical.read(path), path.read_text(encoding="utf-8"))
    return [
        Slip(name, cell, says)
        for name, rule in RULES.items()
        if name not in leave_out
        for cell, says in rule(lesson)
    ]


def main(lessons: Sequence[str] = ()) -> int:
    """Print the slips of some lessons, or of all, in solution and learner's notebooks.

    Args:
        lessons: their numbers; all by default.

    Returns:
        1 where there are slips, otherwise 0: an exit code.
    """
    count = 0
    for solution in places.chosen(lessons):
        learner = places.learner_of(solution)
        seen: set[str] = set()
        for path in (solution, learner):
            if not path.exists():
                print(f"{path.relative_to(places.ROOT).as_posix()}: missing; release it")
                count += 1
                continue
            for slip in slips(path):
                count += 1
                if str(slip) not in seen:  # both notebooks share most of their cells
                    print(f"{path.relative_to(places.ROOT).as_posix()}: {slip}")
                seen.add(str(slip))
        if learner.exists():
            for slip in lint_pairs.slips(canonical.read(solution), canonical.read(learner)):
                count += 1
                print(f"{solution.stem}: {slip}")
        print(f"{solution.stem}: {lint_prose.summary(canonical.read(solution))}")
    return int(count > 0)
