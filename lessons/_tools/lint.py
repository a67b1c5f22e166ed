"""Look for slips in lesson notebooks that nbval does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode

from _tools import canonical, lint_spoilers, lint_table, places, stubs
from _tools.folding import REVEALS
from _tools.lesson import (
    COMPARE,
    HEADING,
    PREDICT,
    RIGHT,
    UNSOLVED,
    checks_unlike,
    said,
    tags,
    without_fences,
)

_LINK = re.compile(r"!?\[(?P<words>[^\]]*)\]\((?P<target>[^)\s#]*)#?(?P<anchor>[^)\s]*)[^)]*\)")
_FILE = re.compile(r"[\w/]+\.(?:py|md|ipynb|json|npz)")
_NAMED_PLACE = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
PARTS = (
    *("The question:", "You will be able to", "You need", "Time:"),
    *("What you now know", "Test yourself", "Where to look further"),
)

Found = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Slip:
    """Something that a rule objects to.

    Args:
        rule: the rule's name.
        cell: the id of the cell, or "" for the whole notebook.
        says: what is wrong, and what to do.
    """

    rule: str
    cell: str
    says: str

    def __str__(self) -> str:
        """Write the slip on one line."""
        return f"[{self.rule}] {self.cell + ': ' if self.cell else ''}{self.says}"


@dataclass(frozen=True)
class Lesson:
    """A notebook on disk.

    Args:
        path: where it is.
        notebook: what was read from there.
        text: the file as it is.
    """

    path: Path
    notebook: NotebookNode
    text: str

    def cells(self, kind: str) -> list[NotebookNode]:
        """Give the cells of a kind.

        Args:
            kind: "code" or "markdown".
        """
        return [cell for cell in self.notebook.cells if cell.cell_type == kind]


def canonical_form(lesson: Lesson) -> Found:
    """The file is the canonical text of its notebook: kernel, ids, tags, no versions."""
    try:
        wanted = canonical.text(lesson.notebook)
    except ValueError as error:
        wanted = ""
        yield "", str(error)
    if lesson.text != wanted:
        yield "", "not in canonical form; release the lesson"


def execution_order(lesson: Lesson) -> Found:
    """Every code cell was run, once, from top to bottom; nbval skips cells that were not."""
    for expected, cell in enumerate(lesson.cells("code"), start=1):
        if cell.execution_count != expected:
            yield cell.id, f"execution count {cell.execution_count}, not {expected}"


def errors(lesson: Lesson) -> Found:
    """Errors are announced by a tag, and announced errors happen."""
    for cell in lesson.cells("code"):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in tags(cell)):
            yield cell.id, "has the tag raises-exception, or an error, and not both"


def headings(lesson: Lesson) -> Found:
    """One title, at the top; no level left out below it; no heading in what is folded."""
    before = 0
    for cell in lesson.cells("markdown"):
        for mark, words in HEADING.findall(without_fences(cell.source)):
            level = len(mark)
            if REVEALS in tags(cell):
                yield cell.id, "a heading in a cell that reveals; split the cell"
            if (level == 1) != (before == 0) or level > before + 1:
                yield cell.id, f"the heading {words!r} of level {level} follows level {before}"
            before = level
    if not lesson.notebook.cells[0].source.startswith("# "):
        yield "", "the first cell does not begin with a title (# ...)"


def parts(lesson: Lesson) -> Found:
    """A lesson has the parts that each has."""
    prose = "\n".join(cell.source for cell in lesson.cells("markdown"))
    for part in PARTS:
        if not re.search(rf"(?:^#+ |\*\*){part}", prose, re.M):
            yield "", f"there is no part {part!r}"


def exercises(lesson: Lesson) -> Found:
    """Each answer cell is of this lesson and has its check after it."""
    number = places.number_of(lesson.path.name)
    marks = [cell.metadata.nbgrader for cell in lesson.notebook.cells if canonical.mark_of(cell)]
    answers = [mark.grade_id for mark in marks if mark.solution]
    checks = [mark.grade_id.removesuffix("-check") for mark in marks if mark.grade]
    if answers != checks or not all(answer.startswith(f"{number}-") for answer in answers):
        yield (
            "",
            f"answer cells {answers} and check cells {checks} of {number} do not pair in order",
        )


def predictions(lesson: Lesson) -> Found:
    """A prediction is of this lesson, written down once, and compared further down."""
    open_ones: dict[str, str] = {}
    seen: set[str] = set()
    number = places.number_of(lesson.path.name)
    for cell in lesson.cells("code"):
        for name in PREDICT.findall(cell.source):
            if not name.startswith(f"{number}.") or name in seen:
                yield cell.id, f"prediction {name} is not of lesson {number}, or asked for twice"
            if "prediction" not in tags(cell):
                yield cell.id, f"the cell of prediction {name} has no tag 'prediction'"
            seen.add(name)
            open_ones[name] = cell.id
        for name in COMPARE.findall(cell.source):
            if name not in seen:
                yield cell.id, f"compares {name}, which nobody predicted above"
            open_ones.pop(name, None)
    for name, where in open_ones.items():
        yield where, f"prediction {name} is never compared"


def links(lesson: Lesson) -> Found:
    """Relative links lead to files and headings that are there, and to the file that they name."""
    # Both notebooks hold the same text, which is written for the learner's place.
    folder = lesson.path.parent
    folder = folder.parent if folder.name == "solutions" else folder
    for cell in lesson.cells("markdown"):
        for words, target, anchor in _LINK.findall(without_fences(cell.source)):
            target = unquote(target)
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not (folder / target).exists():
                yield cell.id, f"the link to {target} leads nowhere"
            elif target.endswith(".md") and anchor and anchor not in _places(folder / target):
                yield cell.id, f"there is no #{anchor} in {target}"
            named = _FILE.fullmatch(words.replace("\\", ""))
            if named and not f"/{target}".endswith(f"/{named[0]}"):
                yield cell.id, f"the link that names {named[0]} leads to {target}"


def _places(page: Path) -> set[str]:
    """List the anchors of a page; of headings as GitHub makes them."""
    text = page.read_text(encoding="utf-8")
    heads = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head) for _, head in HEADING.findall(text))
    slugs = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return slugs | set(_NAMED_PLACE.findall(text))


def alt_text(lesson: Lesson) -> Found:
    """Every plot says in words what it shows."""
    for cell in lesson.cells("code"):
        for output in cell.outputs:
            told = output.get("metadata", {}).get("image/png", {}).get("alt", "").strip()
            told = told or re.search(r"^Figure: \S", said(cell), re.M)
            if "image/png" in output.get("data", {}) and not told:
                yield (
                    cell.id,
                    "a picture without alternative text: print a line that begins with "
                    '"Figure:", or display(figure, metadata={"image/png": {"alt": "..."}})',
                )


RULES = {
    "canonical-form": canonical_form,
    "execution-order": execution_order,
    "errors": errors,
    "headings": headings,
    "parts": parts,
    "exercises": exercises,
    "predictions": predictions,
    "links": links,
    "alt-text": alt_text,
}
"""By their names; `lint_table` has those about the looks of a text."""


def slips(lesson: Lesson) -> list[Slip]:
    """Apply all rules to a notebook.

    Args:
        lesson: a solution notebook or a learner's.
    """
    looks = [
        Slip(rule, cell.id, says)
        for cell in lesson.notebook.cells
        for where, text in lint_table.texts(cell)
        for rule, says in lint_table.found_in(where, text)
    ]
    return looks + [Slip(name, *where) for name, rule in RULES.items() for where in rule(lesson)]


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
    pairs = list(zip(wanted.cells, learner.cells, strict=False))
    found = [
        Slip("same-cells", want.id, "differs from what the solution notebook gives; release it")
        for want, have in pairs
        if any(want[part] != have[part] for part in ("id", "cell_type", "metadata", "source"))
    ]
    if len(wanted.cells) != len(learner.cells):
        found.append(
            Slip("same-cells", "", "another number of cells than the solution; release it")
        )
    for rule, notebook, says in (("solved", solution, RIGHT), ("unsolved", learner, UNSOLVED)):
        for cell, exercise, told in checks_unlike(notebook, says):
            text = f"{exercise} does not say {says.strip(': ')!r}: {told[:300]!r}"
            found.append(Slip(rule, cell.id, text))
    return found + [Slip("spoiler", *where) for where in lint_spoilers.spoilers(solution, wanted)]


def main(lessons: Sequence[str] = ()) -> int:
    """Print the slips of some lessons, or of all, in solution and learner's notebooks.

    Args:
        lessons: their numbers; all by default.

    Returns:
        1 where there are slips, otherwise 0: an exit code.
    """
    count = 0
    for path in places.chosen(lessons):
        found = slips_of(path)
        count += len(found)
        print("".join(f"{path.stem}: {slip}\n" for slip in found), end="")
    return int(count > 0)


def slips_of(solution: Path) -> list[Slip]:
    """List the slips of a lesson: of each notebook, and of the two as a pair.

    Args:
        solution: the path of the solution notebook.
    """
    paths = [path for path in (solution, places.learner_of(solution)) if path.exists()]
    both = [Lesson(path, canonical.read(path), path.read_text(encoding="utf-8")) for path in paths]
    found = [slip for lesson in both for slip in slips(lesson)]
    if len(both) == 2:
        found += pair_slips(*(lesson.notebook for lesson in both))
    else:
        found.append(Slip("same-cells", "", "there is no learner's notebook; release it"))
    return list(dict.fromkeys(found))  # both notebooks share most of their cells
