"""Measure lessons: words, code, exercises, answers in the bank, and seconds to run."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from nbformat import NotebookNode

from _tools import canonical, lint_prose, places, release
from _tools.lesson import lines_of
from _tools.predictions import PREDICT


@dataclass(frozen=True)
class Measures:
    """The figures of one lesson; their names are the heads of the table."""

    lesson: str
    words: int
    code_lines: int
    words_a_line: float
    median_cell: float
    longest_cell: int
    exercises: int
    predictions: int
    wrong_refused: str
    right_accepted: str
    seconds: float


def bank(lesson: str) -> dict[str, dict[str, list[Any]]]:
    """Load the bank of wrong and right answers of a lesson; empty where there is none.

    Args:
        lesson: its number.
    """
    path = places.ROOT / "tests" / "lessons" / f"answers_{lesson}.py"
    if not path.exists():
        return {}
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answers: dict[str, dict[str, list[Any]]] = module.ANSWERS
    return answers


def replayed(lesson: str) -> tuple[str, str]:
    """Judge every answer of the bank: how many wrong ones were refused, and right ones accepted.

    A wrong one counts as refused if what is said to it names the mistake, as the bank wants it.

    Args:
        lesson: its number.
    """
    from minigrad.classroom import judge  # needs the repository on the path

    refused = wrong = accepted = right = 0
    for exercise, entry in bank(lesson).items():
        for keyword, answer in entry["wrong"]:
            verdict = judge(exercise, answer)
            refused += verdict.status == "wrong" and keyword in " ".join(verdict.message.split())
            wrong += 1
        for answer in entry["right"]:
            accepted += judge(exercise, answer).status == "right"
            right += 1
    return f"{refused}/{wrong}", f"{accepted}/{right}"


def measures(path: Path) -> Measures:
    """Measure a lesson, and run its solution notebook once.

    Args:
        path: of the solution notebook.
    """
    notebook: NotebookNode = canonical.read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    lengths = [lines_of(cell) for cell in code] or [0]
    words, lines = lint_prose.words_of(notebook), sum(lengths)
    number = places.number_of(path.name)
    refused, accepted = replayed(number)
    started = time.perf_counter()
    release.executed(notebook, path.parent)
    return Measures(
        number,
        words,
        lines,
        round(words / max(lines, 1), 1),
        float(median(lengths)),
        max(lengths),
        sum(cell.metadata.get("nbgrader", {}).get("grade", False) for cell in code),
        len({name for cell in code for name in PREDICT.findall(cell.source)}),
        refused,
        accepted,
        round(time.perf_counter() - started, 1),
    )


def main(lessons: Sequence[str] = ()) -> int:
    """Print a Markdown table of some lessons, or of all.

    Args:
        lessons: their numbers; all by default.

    Returns:
        0: an exit code.
    """
    sys.path.insert(0, str(places.ROOT))
    paths = places.chosen(lessons)
    heads = [field.name.replace("_", " ") for field in fields(Measures)]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for path in paths:
        row = (
            f"{value:g}" if isinstance(value, float) else str(value)
            for value in astuple(measures(path))
        )
        print("| " + " | ".join(row) + " |", flush=True)
    return 0
