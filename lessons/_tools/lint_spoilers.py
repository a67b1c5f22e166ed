"""Rule about a learner's notebook: nothing that is in sight tells the outcome of a prediction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from _tools import telling
from _tools.folding import REVEALS
from _tools.outputs import said
from _tools.predictions import PREDICT, Prediction, predictions_of
from _tools.telling import Number

ALLOWED_SPOILERS: dict[tuple[str, str], str] = {
    ("00.a", "down"): "the way of the gradient in pictures",
    ("11.a", "right"): "the right-hand side of the figure",
}
"""What may be seen though it is an outcome: (prediction, number, word or "behind") to the reason.

"behind" is the cell behind `compare`, which otherwise has to be tagged, or begin with a heading.
"""

_WIDEST_LINE = 200  # characters that fit on a screen; what is longer JupyterLab cuts off
_HEADING = re.compile(r"^#{1,6}\s", re.M)

Found = Iterator[tuple[str, str]]


def spoilers(solution: NotebookNode, learner: NotebookNode) -> Found:
    """Find what spoils a prediction.

    Args:
        solution: the solution notebook, with its outputs.
        learner: the learner's notebook as it is made from it, with the same cells.
    """
    for prediction in predictions_of(solution):
        if prediction.compared is not None:
            asked = solution.cells[prediction.asked].id
            if not prediction.came:
                yield asked, f"what came of prediction {prediction.name} is not to be read below"
            else:
                yield from _Outcome(prediction, solution, learner).slips()


class _Outcome:
    """What came of a prediction, and what its notebook shows of that."""

    def __init__(
        self, prediction: Prediction, solution: NotebookNode, learner: NotebookNode
    ) -> None:
        assert prediction.compared is not None
        self.prediction, self.compared = prediction, prediction.compared
        self.outputs, self.cells = solution.cells, learner.cells
        known = [self._above(index) for index in range(prediction.asked + 1)]
        seen = {number.value for text in known for number in telling.numbers(text)}
        self.numbers = [
            number
            for number in telling.numbers(prediction.came)
            if number.value not in seen
            and not (number.telling and any(map(number.is_that_of, _all_numbers(known))))
        ]
        self.words = telling.words(prediction.came)
        if len(self.words) > 1 and self.words <= telling.words("\n".join(known)):
            self.words = frozenset()  # an order or a choice of words that all stand in the question

    def slips(self) -> Found:
        """Give the cells that tell it, and the untagged cell behind `compare`."""
        section = self._end_of_section()
        for index in range(self.prediction.asked + 1, len(self.cells)):
            near, where = index < section, self.cells[index].id
            name = f"prediction {self.prediction.name} ({self.prediction.came})"
            told = self._told(index, near)
            if told:
                yield where, f"tells {name}: {', '.join(told)}; tag it reveals, or take it out"
            told = self._told_when_folded(index, near)
            if told:
                yield (
                    where,
                    f"tells {name} in the first line of its output, which JupyterLab shows of what "
                    f"is folded: {', '.join(told)}; print a line above it that tells nothing",
                )
        behind = self._behind()
        if behind is not None and not self._allows("behind"):
            yield (
                self.cells[behind].id,
                f"stands behind compare of {self.prediction.name}: tag it reveals, begin it with "
                "a heading, or lead on to the next prediction or exercise without telling",
            )

    def _told(self, index: int, near: bool) -> list[str]:
        """List what a cell shows of the outcome; near by, short numbers and words count too."""
        told = self._numbers_in(self._shown(index), near)
        if near:
            text = self._spoken(index)
            told += sorted(telling.words(text) & self.words)
            values = {truth.value for truth in self.numbers}
            told += [w for w, value in telling.spelled_out(text).items() if value in values]
        return [what for what in dict.fromkeys(told) if not self._allows(what)]

    def _told_when_folded(self, index: int, near: bool) -> list[str]:
        """List what can be read of the outcome where the output of a cell is folded."""
        if "hide-output" not in _tags(self.cells[index]):
            return []
        return self._numbers_in(_first_line(self.outputs[index]), near)

    def _numbers_in(self, text: str, near: bool) -> list[str]:
        found = [
            number.shown
            for number in telling.numbers(text)
            if any(self._gives_away(number, truth, near) for truth in self.numbers)
        ]
        return [what for what in dict.fromkeys(found) if not self._allows(what)]

    def _gives_away(self, number: Number, truth: Number, near: bool) -> bool:
        return number.is_that_of(truth) if truth.telling else near and number.value == truth.value

    def _shown(self, index: int) -> str:
        """Give the source of a cell as far as it is in sight before anything is opened."""
        cell, tags = self.cells[index], _tags(self.cells[index])
        if cell.cell_type == "markdown":  # of what is folded its title is in sight
            return telling.visible(cell.source)
        return "" if "hide-input" in tags else str(cell.source)

    def _spoken(self, index: int) -> str:
        """Give the texts of a cell in which words are words."""
        cell, tags = self.cells[index], _tags(self.cells[index])
        if cell.cell_type == "markdown":
            return telling.prose(cell.source)
        if index == self.compared or "hide-input" in tags:  # `compare` has to name every outcome
            return ""
        return telling.remarks(cell.source)

    def _above(self, index: int) -> str:
        """Give what a learner has seen of a cell above the prediction."""
        cell = self.cells[index]
        texts = [telling.visible(cell.source) if cell.cell_type == "markdown" else cell.source]
        if "hide-output" not in _tags(cell) and "nbgrader" not in cell.metadata:
            texts.append(said(self.outputs[index]))
        return "\n".join(texts)

    def _end_of_section(self) -> int:
        """Find the first heading below `compare`."""
        for index in range(self.compared + 1, len(self.cells)):
            if _is_section(self.cells[index]):
                return index
        return len(self.cells)

    def _behind(self) -> int | None:
        """Find the Markdown cell behind `compare`, if it is in sight and leads to nothing new."""
        for index in range(self.compared + 1, len(self.cells)):
            cell = self.cells[index]
            if cell.cell_type == "code" and _asks(cell):
                return None
            if cell.cell_type == "markdown":
                if REVEALS in _tags(cell) or _HEADING.match(cell.source):
                    return None
                below = (cell for cell in self.cells[index:] if cell.cell_type == "code")
                leads_on = _asks(next(below, cell))
                return None if leads_on and not self._told(index, near=True) else index
        return None

    def _allows(self, what: str) -> bool:
        return (self.prediction.name, what) in ALLOWED_SPOILERS


def _all_numbers(texts: list[str]) -> Iterator[Number]:
    for text in texts:
        yield from telling.numbers(text)


def _tags(cell: NotebookNode) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags


def _is_section(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and _HEADING.match(cell.source) is not None


def _asks(cell: NotebookNode) -> bool:
    """Tell whether a cell asks for a prediction or for an answer."""
    return cell.cell_type == "code" and (
        PREDICT.search(cell.source) is not None
        or bool(cell.metadata.get("nbgrader", {}).get("solution", False))
    )


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
