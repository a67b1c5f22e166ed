"""Find what breaks the rules in lesson notebooks, beyond what nbval sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode

from _tools import canonical, lint_spoilers, lint_table, places, stubs
from _tools.lesson import (
    COMPARE,
    HEADING,
    PREDICT,
    RIGHT,
    UNSOLVED,
    checks_unlike,
    predictions_of,
    said,
    tags,
    without_fences,
)

_LINK = re.compile(r"\]\((?P<target>[^)\s#]*)#?(?P<anchor>[^)\s]*)[^)]*\)")
_NAMED_PLACE = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
PARTS = (
    *("The question:", "You will be able to", "You need", "Time:"),
    *("What you now know", "Test yourself", "Where to look further"),
)

Found = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Violation:
    """A place that breaks a rule.

    Args:
        rule: the rule's name.
        cell: the id of the cell, or "" for the whole notebook.
        says: what is wrong, and what to do.
    """

    rule: str
    cell: str
    says: str

    def __str__(self) -> str:
        """Write the violation on one line."""
        return f"[{self.rule}] {self.cell + ': ' if self.cell else ''}{self.says}"


def code_of(notebook: NotebookNode) -> list[NotebookNode]:
    """Give the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose_of(notebook: NotebookNode) -> str:
    """Join the Markdown cells, without fenced blocks."""
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return without_fences("\n\n".join(cells))


def canonical_form(path: Path, notebook: NotebookNode) -> Found:
    """The file is the canonical text of its notebook: kernel, ids, tags, no versions."""
    try:
        wanted = canonical.text(notebook)
    except ValueError as error:
        wanted = ""
        yield "", str(error)
    if path.read_text(encoding="utf-8") != wanted:
        yield "", "not in canonical form; release the lesson"


def execution_order(path: Path, notebook: NotebookNode) -> Found:
    """Every code cell was run, once, from top to bottom; nbval skips cells that were not."""
    for expected, cell in enumerate(code_of(notebook), start=1):
        if cell.execution_count != expected:
            yield cell.id, f"execution count {cell.execution_count}, not {expected}"


def errors(path: Path, notebook: NotebookNode) -> Found:
    """A cell has the tag raises-exception exactly if it raises an error."""
    for cell in code_of(notebook):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in tags(cell)):
            yield cell.id, "has the tag raises-exception or an error, but not both"


def headings(path: Path, notebook: NotebookNode) -> Found:
    """One title, at the top; no level skipped below it."""
    levels = [len(mark) for mark, _ in HEADING.findall(prose_of(notebook))]
    steps = [after - before for before, after in pairwise(levels)]
    first = notebook.cells[0].source
    if not first.startswith("# ") or levels.count(1) > 1 or max(steps, default=0) > 1:
        yield "", f"headings of levels {levels}: one title, at the top, and no level skipped"


def parts(path: Path, notebook: NotebookNode) -> Found:
    """A lesson has the parts that every lesson has."""
    for part in PARTS:
        if not re.search(rf"^(?:#+ |.*\*\*){part}", prose_of(notebook), re.M):
            yield "", f"there is no part {part!r}"


def exercises(path: Path, notebook: NotebookNode) -> Found:
    """Each answer cell belongs to this lesson and has its check after it."""
    number = places.number_of(path.name)
    marks = [cell.metadata.nbgrader for cell in notebook.cells if canonical.mark_of(cell)]
    answers = [mark.grade_id for mark in marks if mark.solution]
    checks = [mark.grade_id.removesuffix("-check") for mark in marks if mark.grade]
    if answers != checks or not all(answer.startswith(f"{number}-") for answer in answers):
        yield (
            "",
            f"answer cells {answers} and check cells {checks} of {number} don't pair up in order",
        )


def predictions(path: Path, notebook: NotebookNode) -> Found:
    """A prediction belongs to this lesson, is made once, and is compared further down."""
    code = "\n".join(cell.source for cell in code_of(notebook))
    names = PREDICT.findall(code)
    for each in predictions_of(notebook):
        cell = notebook.cells[each.asked]
        if not each.name.startswith(f"{places.number_of(path.name)}."):
            yield cell.id, f"prediction {each.name} doesn't belong to this lesson"
        if names.count(each.name) > 1 or (each.compared or 0) <= each.asked:
            yield cell.id, f"prediction {each.name} isn't asked for once and compared below"
        if "prediction" not in tags(cell):
            yield cell.id, f"the cell of prediction {each.name} lacks the tag 'prediction'"
    for name in set(COMPARE.findall(code)) - set(names):
        yield "", f"compares {name}, which nobody predicted"


def links(path: Path, notebook: NotebookNode) -> Found:
    """Relative links lead to files and headings that exist."""
    # Both notebooks have the same text, and its links start from the learner's folder.
    folder = path.parent.parent if path.parent.name == "solutions" else path.parent
    for target, anchor in _LINK.findall(prose_of(notebook)):
        page = folder / unquote(target)
        if not target or re.match(r"[a-z]+:", target):
            continue
        if not page.exists():
            yield "", f"the link to {target} leads nowhere"
        elif page.suffix == ".md" and anchor and anchor not in _places(page):
            yield "", f"there is no #{anchor} in {target}"


def _places(page: Path) -> set[str]:
    """List the anchors of a page, those of headings as GitHub makes them."""
    text = page.read_text(encoding="utf-8")
    heads = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head) for _, head in HEADING.findall(text))
    slugs = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return slugs | set(_NAMED_PLACE.findall(text))


def alt_text(path: Path, notebook: NotebookNode) -> Found:
    """Every plot has a description in words."""
    for cell in code_of(notebook):
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
"""By name; `lint_table` has the rules about the text itself."""


def violations(path: Path) -> list[Violation]:
    """Apply all rules to a notebook.

    Args:
        path: of a solution or learner's notebook.
    """
    notebook = canonical.read(path)
    looks = [
        Violation(rule, cell.id, says)
        for cell in notebook.cells
        for where, text in lint_table.texts(cell)
        for rule, says in lint_table.found_in(where, text)
    ]
    structure = RULES.items()
    return looks + [
        Violation(name, *each) for name, rule in structure for each in rule(path, notebook)
    ]


def pair_violations(solution: NotebookNode, learner: NotebookNode) -> list[Violation]:
    """Check that a learner's notebook differs from its solution only where it should.

    Args:
        solution: the source.
        learner: the stored notebook that was made from it.
    """
    try:
        wanted = stubs.learner_from(solution)
    except ValueError as error:
        return [Violation("stubs", "", str(error))]
    found = []
    for want, have in zip_longest(wanted.cells, learner.cells, fillvalue=NotebookNode(id="")):
        if any(want.get(key) != have.get(key) for key in ("id", "cell_type", "metadata", "source")):
            found.append(
                Violation("same-cells", want.id, "differs from the solution notebook; release it")
            )
    for rule, notebook, says in (("solved", solution, RIGHT), ("unsolved", learner, UNSOLVED)):
        for cell, exercise, told in checks_unlike(notebook, says):
            text = f"{exercise} doesn't say {says.strip(': ')!r}: {told[:300]!r}"
            found.append(Violation(rule, cell.id, text))
    return found + [
        Violation("spoiler", *where) for where in lint_spoilers.spoilers(solution, wanted)
    ]


def violations_of(solution: Path) -> list[Violation]:
    """List the violations in a lesson: in each notebook, and between the two.

    Args:
        solution: the path of the solution notebook.
    """
    learner = places.learner_of(solution)
    if not learner.exists():
        return [Violation("same-cells", "", "there is no learner's notebook; release it")]
    found = violations(solution) + violations(learner)
    found += pair_violations(canonical.read(solution), canonical.read(learner))
    return list(dict.fromkeys(found))  # both notebooks share most of their cells


def main(lessons: Sequence[str] = ()) -> int:
    """Print the violations in some lessons, or in all of them.

    Args:
        lessons: their numbers; all by default.

    Returns:
        An exit code: 1 if there are violations, otherwise 0.
    """
    found = [(path, each) for path in places.chosen(lessons) for each in violations_of(path)]
    for path, each in found:
        print(f"{path.stem}: {each}")
    return int(bool(found))
