"""Rule about a learner's notebook: nothing that is in sight tells the outcome of a prediction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from _tools import telling
from _tools.folding import REVEALS
from _tools.lesson import HEADING, PREDICT, Prediction, predictions_of, said, tags, without_fences
from _tools.telling import Number

ALLOWED_SPOILERS: dict[tuple[str, str], str] = {
    ("00.a", "down"): "exercise 00.1 asks up or down at other places",
}
"""What may be seen though it is an outcome: (prediction, number, word or "after") to the reason.

"after" is the cell after `compare`, which otherwise has to be tagged, or begin with a heading.
"""

_WIDEST_LINE = 200  # characters that fit on a screen; what is longer JupyterLab cuts off

Found = Iterator[tuple[str, str]]


def spoilers(solution: NotebookNode, learner: NotebookNode) -> Found:
    """Find what spoils a prediction.

    Args:
        solution: the solution notebook, with its outputs.
        learner: the learner's notebook as it is made from it, with the same cells.
    """
    seen = [_in_sight(*pair) for pair in zip(learner.cells, solution.cells, strict=True)]
    for each in predictions_of(solution):
        if each.came and each.compared is not None:
            yield from _spoiled(each, each.compared, learner.cells, seen)
        elif each.compared is not None:
            yield "", f"the outcome of prediction {each.name} isn't shown below"


def _spoiled(
    prediction: Prediction, compared: int, cells: list[NotebookNode], seen: list[str]
) -> Found:
    """Find cells that tell the outcome of a prediction, and one that explains it unfolded."""
    name, came, asked = prediction.name, prediction.came, prediction.asked
    numbers, words = _outcome(came, "\n".join(seen[: asked + 1]))
    allowed = {what for where, what in ALLOWED_SPOILERS if where == name}
    below = range(compared + 1, len(cells))
    section = next((index for index in below if _is_section(cells[index])), len(cells))
    for index in range(asked + 1, len(cells)):
        near = index < section  # where short numbers and words count, too
        found = [
            number.shown
            for number in telling.numbers(seen[index])
            if any(
                number.is_that_of(truth) if truth.telling else near and number.value == truth.value
                for truth in numbers
            )
        ]
        if near and cells[index].cell_type == "markdown":
            found += sorted(telling.words(without_fences(seen[index])) & words)
        if told := [each for each in found if each not in allowed]:
            yield (
                cells[index].id,
                f"tells prediction {name} ({came}) in sight, or in the first line of a folded "
                f"output, which JupyterLab shows: {', '.join(told)}",
            )
    after = next((index for index in below if _settles(cells[index])), section)
    code = next((cell for cell in cells[after:] if cell.cell_type == "code"), None)
    leads_on = code is not None and _asks(code)
    if not (after == section or leads_on or "after" in allowed or REVEALS in tags(cells[after])):
        yield (
            cells[after].id,
            f"follows compare of {name}: tag it reveals, begin it with a heading, or lead on "
            "to the next prediction or exercise without telling",
        )


def _outcome(came: str, above: str) -> tuple[list[Number], frozenset[str]]:
    """Give the numbers and words of an outcome that a learner has not seen above."""
    known = telling.numbers(above)
    numbers = [
        number
        for number in telling.numbers(came)
        if not any(
            number.is_that_of(each) if number.telling else number.value == each.value
            for each in known
        )
    ]
    words = telling.words(came)
    if len(words) > 1 and words <= telling.words(above):
        words = frozenset()  # an order or a choice of words that all stand in the question
    return numbers, words


def _in_sight(cell: NotebookNode, solved: NotebookNode) -> str:
    """Give what a learner sees of a cell before anything is opened, with the output in sight."""
    if cell.cell_type == "markdown":  # of what is folded its title is in sight
        return telling.visible(cell.source)
    text = "" if "hide-input" in tags(cell) else cell.source
    if "hide-output" in tags(cell):
        return f"{text}\n{_first_line(solved)}"
    return f"{text}\n{'' if 'nbgrader' in cell.metadata else said(solved)}"


def _is_section(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and HEADING.match(cell.source) is not None


def _asks(cell: NotebookNode) -> bool:
    """Tell whether a cell asks for a prediction or for an answer."""
    return bool(PREDICT.search(cell.source) or cell.metadata.get("nbgrader", {}).get("solution"))


def _settles(cell: NotebookNode) -> bool:
    """Tell whether a cell is what a reader comes to after `compare`, and not one more to run."""
    return cell.cell_type == "markdown" or REVEALS in tags(cell) or _asks(cell)


def _first_line(cell: NotebookNode) -> str:
    """Give the line of a folded output that JupyterLab shows: of the first one, HTML first."""
    if not cell.outputs:
        return ""
    first = {"text/html": "", "text/plain": "", **cell.outputs[0].get("data", {})}
    text = cell.outputs[0].get("text") or first["text/html"] or first["text/plain"]
    line = next((line for line in text.split("\n") if line), "")
    return telling.visible(re.sub(r"<[^>]*$", "", line[:_WIDEST_LINE]))
