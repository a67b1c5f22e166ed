"""Rule about a learner's notebook: nothing that is in sight tells the outcome of a prediction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from _tools import telling
from _tools.folding import REVEALS
from _tools.outputs import said
from _tools.predictions import PREDICT, Prediction, predictions_of
from _tools.telling import Number

ALLOWED_SPOILERS: dict[tuple[str, str], str] = {
    ("00.a", "down"): "exercise 00.1 asks up or down at other places",
    ("11.a", "right"): "the right-hand side of the figure",
}
"""What may be seen though it is an outcome: (prediction, number, word or "after") to the reason.

"after" is the cell after `compare`, which otherwise has to be tagged, or begin with a heading.
"""

_WIDEST_LINE = 200  # characters that fit on a screen; what is longer JupyterLab cuts off
_HEADING = re.compile(r"^#{1,6}\s", re.M)

Found = Iterator[tuple[str, str]]
Cells = Sequence[NotebookNode]


def spoilers(solution: NotebookNode, learner: NotebookNode) -> Found:
    """Find what spoils a prediction.

    Args:
        solution: the solution notebook, with its outputs.
        learner: the learner's notebook as it is made from it, with the same cells.
    """
    for prediction in predictions_of(solution):
        if prediction.compared is not None and not prediction.came:
            asked = solution.cells[prediction.asked].id
            yield asked, f"what came of prediction {prediction.name} is not to be read below"
        elif prediction.compared is not None:
            yield from _spoiled(prediction, prediction.compared, solution.cells, learner.cells)


def _spoiled(prediction: Prediction, compared: int, solved: Cells, cells: Cells) -> Found:
    """Find the cells that tell what came of a prediction, and one that may explain it in sight."""
    above = [_seen(cells[k], solved[k]) for k in range(prediction.asked + 1)]
    numbers, words = _outcome(prediction.came, above)
    allowed = {what for name, what in ALLOWED_SPOILERS if name == prediction.name}
    below = range(compared + 1, len(cells))
    section = next((k for k in below if _is_section(cells[k])), len(cells))

    def numbers_in(text: str, near: bool) -> list[str]:
        return [
            number.shown
            for number in telling.numbers(text)
            if number.shown not in allowed
            and any(
                number.is_that_of(truth) if truth.telling else near and number.value == truth.value
                for truth in numbers
            )
        ]

    def told(index: int) -> list[str]:
        """List what a cell shows of the outcome; near by, short numbers and words count too."""
        found = numbers_in(_in_sight(cells[index]), index < section)
        if index < section and index != compared:  # `compare` has to name every outcome
            text = _spoken(cells[index])
            spelled, values = telling.spelled_out(text), {truth.value for truth in numbers}
            found += sorted(telling.words(text) & words)
            found += [word for word, value in spelled.items() if value in values]
        return [what for what in dict.fromkeys(found) if what not in allowed]

    name = f"prediction {prediction.name} ({prediction.came})"
    for index in range(prediction.asked + 1, len(cells)):
        where = cells[index].id
        if found := told(index):
            yield where, f"tells {name}: {', '.join(found)}; tag it reveals, or take it out"
        line = _first_line(solved[index]) if "hide-output" in _tags(cells[index]) else ""
        if found := numbers_in(line, index < section):
            yield (
                where,
                f"tells {name} in the first line of its output, which JupyterLab shows of what "
                f"is folded: {', '.join(found)}; print a line above it that tells nothing",
            )
    for index in below:
        cell = cells[index]
        if _asks(cell) or REVEALS in _tags(cell) or _is_section(cell):
            return
        if cell.cell_type == "markdown":
            leads_on = _asks(next((c for c in cells[index:] if c.cell_type == "code"), cell))
            if "after" not in allowed and (told(index) or not leads_on):
                yield (
                    cell.id,
                    f"stands after compare of {prediction.name}: tag it reveals, begin it with "
                    "a heading, or lead on to the next prediction or exercise without telling",
                )
            return


def _outcome(came: str, above: list[str]) -> tuple[list[Number], frozenset[str]]:
    """Give the numbers and words of an outcome that a learner has not seen above."""
    known = [number for text in above for number in telling.numbers(text)]
    values = {number.value for number in known}
    numbers = [
        number
        for number in telling.numbers(came)
        if number.value not in values
        and not (number.telling and any(map(number.is_that_of, known)))
    ]
    words = telling.words(came)
    if len(words) > 1 and words <= telling.words("\n".join(above)):
        words = frozenset()  # an order or a choice of words that all stand in the question
    return numbers, words


def _seen(cell: NotebookNode, solved: NotebookNode) -> str:
    """Give what a learner has seen of a cell above the prediction."""
    texts = [telling.visible(cell.source) if cell.cell_type == "markdown" else cell.source]
    if "hide-output" not in _tags(cell) and "nbgrader" not in cell.metadata:
        texts.append(said(solved))
    return "\n".join(texts)


def _in_sight(cell: NotebookNode) -> str:
    """Give the source of a cell as far as it is in sight before anything is opened."""
    if cell.cell_type == "markdown":  # of what is folded its title is in sight
        return telling.visible(cell.source)
    return "" if "hide-input" in _tags(cell) else str(cell.source)


def _spoken(cell: NotebookNode) -> str:
    """Give the texts of a cell in which words are words."""
    if cell.cell_type == "markdown":
        return telling.prose(cell.source)
    return "" if "hide-input" in _tags(cell) else telling.remarks(cell.source)


def _tags(cell: NotebookNode) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags


def _is_section(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and _HEADING.match(cell.source) is not None


def _asks(cell: NotebookNode) -> bool:
    """Tell whether a cell asks for a prediction or for an answer."""
    solves = bool(cell.metadata.get("nbgrader", {}).get("solution", False))
    return cell.cell_type == "code" and (solves or PREDICT.search(cell.source) is not None)


def _first_line(cell: NotebookNode) -> str:
    """Give the line of a folded output that JupyterLab shows: of the first one, HTML first."""
    if not cell.outputs:
        return ""
    first = cell.outputs[0]
    data = first.get("data", {})
    kinds = ("text/html", "image/svg+xml", "text/markdown", "text/plain")
    text = first.get("text", "") or next((data[kind] for kind in kinds if kind in data), "")
    line = next((line for line in str(text).split("\n") if line), "")
    return telling.visible(re.sub(r"<[^>]*$", "", line[:_WIDEST_LINE]))
