"""Look for slips in lesson notebooks: what nbval does not see, and what is hard to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from _tools import canonical, lint_prose, lint_rules, lint_spoilers, places, stubs
from _tools.lesson import Lesson, Rule, Slip
from _tools.outputs import RIGHT, UNSOLVED, checks_unlike

RULES: dict[str, Rule] = {**lint_rules.RULES, **lint_prose.RULES}


def slips(path: Path, rules: Mapping[str, Rule] = RULES) -> list[Slip]:
    """Apply rules to a notebook.

    Args:
        path: of a solution notebook or a learner's.
        rules: by their names.
    """
    lesson = Lesson(path, canonical.read(path), path.read_text(encoding="utf-8"))
    return [Slip(name, *where) for name, rule in rules.items() for where in rule(lesson)]


def pair_slips(solution: NotebookNode, learner: NotebookNode) -> list[Slip]:
    """Compare a solution notebook with its learner's notebook: they differ only where they should.

    Args:
        solution: the source.
        learner: what is stored as made from it.
    """
    try:
        wanted = stubs.learner_from(solution)
    except ValueError as error:
        return [Slip("stubs", "", str(error))]
    found = [Slip("same-cells", *where) for where in _different(wanted, learner)]
    for rule, notebook, says in (("solved", solution, RIGHT), ("unsolved", learner, UNSOLVED)):
        for cell, exercise, told in checks_unlike(notebook, says):
            text = f"{exercise} does not say {says.strip(': ')!r}: {told[:300]!r}"
            found.append(Slip(rule, cell.id, text))
    return found + [Slip("spoiler", *where) for where in lint_spoilers.spoilers(solution, wanted)]


def _different(wanted: NotebookNode, learner: NotebookNode) -> Iterator[tuple[str, str]]:
    if len(wanted.cells) != len(learner.cells):
        yield "", f"{len(learner.cells)} cells, and {len(wanted.cells)} in the solution; release it"
    for want, have in zip(wanted.cells, learner.cells, strict=False):
        if any(want[part] != have[part] for part in ("id", "cell_type", "metadata", "source")):
            yield want.id, "differs from what the solution notebook gives; release it"


def main(lessons: Sequence[str] = ()) -> int:
    """Print the slips of some lessons, or of all, in solution and learner's notebooks.

    Args:
        lessons: their numbers; all by default.

    Returns:
        1 where there are slips, otherwise 0: an exit code. What is too long is only a warning.
    """
    count = 0
    for solution in places.chosen(lessons):
        learner = places.learner_of(solution)
        found = slips(solution)
        if learner.exists():
            found += slips(learner) + pair_slips(*map(canonical.read, (solution, learner)))
        else:
            found.append(Slip("same-cells", "", "there is no learner's notebook; release it"))
        count += len(found)
        for slip in dict.fromkeys(found):  # both notebooks share most of their cells
            print(f"{solution.stem}: {slip}")
        for slip in slips(solution, lint_prose.WARNINGS):
            print(f"{solution.stem}: warning: {slip}")
    return int(count > 0)
