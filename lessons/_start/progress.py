"""Show what the learner has solved: `python3 lessons --progress`, from notes on this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import notebooks
from .console import Trouble, python_command, say

COLLECT = "Write wrong answers that got no reason of their own into a file, without names."
VARIABLE = "MINIGRAD_PROGRESS"
NO_NOTES = ("", "none")  # what it says where no notes are wanted
KEYS = ("solved", "tried", "predicted", "missed")
PREDICTS = re.compile(r"^\s*predict\(\s*[\"']([^\"']+)", re.M)


@dataclass(frozen=True)
class Contents:
    """What there is to do in a lesson.

    Args:
        number: such as "06".
        title: as it stands over the lesson.
        exercises: their ids.
        predictions: their names.
    """

    number: str
    title: str
    exercises: tuple[str, ...]
    predictions: tuple[str, ...]


def place(lessons: Path, variables: Mapping[str, str] = os.environ) -> Path | None:
    """Tell where `minigrad.classroom` keeps its notes; None where it keeps none."""
    if VARIABLE in variables:
        named = variables[VARIABLE]
        return None if named.strip().lower() in NO_NOTES else Path(named).expanduser()
    if os.access(lessons, os.W_OK):
        return lessons / ".progress.json"
    home = os.path.expanduser("~")
    return Path(home) / ".minigrad" / "progress.json" if os.path.isabs(home) else None


def boxes(notes: Path) -> Path:
    """Tell where `review` keeps its boxes: beside the notes."""
    return notes.with_name(f"{notes.name}.review")


def read(path: Path | None) -> dict[str, set[str]]:
    """Read the notes: for "solved", "tried", "predicted" and "missed" the names."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        found = {}
    notes = found if isinstance(found, dict) else {}
    listed = {key: notes.get(key) for key in KEYS}
    return {
        key: {entry for entry in names if isinstance(entry, str)}
        if isinstance(names, list)
        else set()
        for key, names in listed.items()
    }


def contents(path: Path) -> Contents | None:
    """Read a learner's notebook; None where it cannot be read, as when it is half written."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells]
        marks = [cell.get("metadata", {}).get("nbgrader", {}) for cell in cells]
        code = [
            text for cell, text in zip(cells, sources, strict=True) if cell["cell_type"] == "code"
        ]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    title = sources[0].partition("\n")[0].lstrip("# ") if sources else path.stem
    checks = [mark["grade_id"] for mark in marks if mark.get("grade") and "grade_id" in mark]
    return Contents(
        path.stem.partition("_")[0],
        title,
        tuple(check.removesuffix("-check").replace("-", ".") for check in checks),
        tuple(dict.fromkeys(name for text in code for name in PREDICTS.findall(text))),
    )


def table(lessons: Sequence[Contents], notes: Mapping[str, set[str]]) -> list[str]:
    """Write one line for each lesson, and one for all of them."""
    rows: list[tuple[Any, ...]] = []
    for lesson in lessons:
        solved = sum(name in notes["solved"] for name in lesson.exercises)
        tried = sum(name in notes["tried"] - notes["solved"] for name in lesson.exercises)
        guessed = sum(name in notes["predicted"] for name in lesson.predictions)
        finished = 0 < len(lesson.exercises) == solved
        remark = "finished" if finished else f"{tried} tried" if tried else ""
        rows.append(
            (lesson.title, solved, len(lesson.exercises), guessed, len(lesson.predictions), remark)
        )
    total = tuple(sum(row[column] for row in rows) for column in range(1, 5))
    done = sum(row[5] == "finished" for row in rows)
    rows.append(("All lessons", *total, f"{done} of {len(lessons)} finished"))
    width = max(len(row[0]) for row in rows)
    lines = [f"{'lesson':<{width}}  exercises  predictions"]
    for title, solved, exercises, guessed, predictions, remark in rows:
        line = f"{title:<{width}}  {solved:>3} of {exercises:<3} {guessed:>4} of {predictions:<3}"
        lines.append(f"{line}  {remark}".rstrip())
    return lines


def show(lessons: Path) -> int:
    """Print the table; return the exit code."""
    found = [contents(path) for path in sorted(lessons.glob("[0-9][0-9]_*.ipynb"))]
    path = place(lessons)
    notes = read(path)
    print("\n".join(table([each for each in found if each], notes)))
    if path is None:
        say(f"No notes are kept, because {VARIABLE} says so.")
    elif path.exists():
        forget = python_command("lessons --progress --reset")
        say(f"Noted in {path}, and nowhere else. To forget: {forget}")
    else:
        say(f"Nothing is noted yet. Checks and predictions will be noted in {path}.")
    return 0


def reset(lessons: Path) -> int:
    """Forget the notes; the notebooks stay as they are. Return the exit code."""
    path = place(lessons)
    if path is None or not path.exists():
        say("There are no notes to forget.")
        return 0
    try:
        path.unlink()
        boxes(path).unlink(missing_ok=True)
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror or error}.", "Remove the file yourself.") from None
    say(f"Forgotten: {path}. Your answers in the notebooks are still there.")
    return 0


def unexplained(exercise: str, said: str) -> bool:
    """Tell whether a check had nothing to say to an answer but that it differs.

    Args:
        exercise: Its id.
        said: What the check printed.
    """
    from minigrad.classroom import desk  # it takes a second to load

    text = " ".join(said.split())
    rows = desk.find(exercise).rows
    return "not yet." in text and not any(row.says in text for row in rows)


def collect(lessons: Path) -> int:
    """Write the answers in the copies that got no reason of their own; return the exit code.

    They stay on this machine, in a file beside the copies: whoever carries the lessons on can make
    rows of them.

    Args:
        lessons: The folder of the lessons.
    """
    found = []
    for path in sorted((lessons / "mine").glob("[0-9][0-9]_*.ipynb")):
        cells = notebooks.read(path)["cells"]
        answers = {notebooks.grading(cell).get("grade_id"): cell["source"] for cell in cells}
        for cell in cells:
            name = str(notebooks.grading(cell).get("grade_id", ""))
            exercise, said = name.removesuffix("-check").replace("-", "."), shown(cell)
            if name.endswith("-check") and said and unexplained(exercise, said):
                answer = answers.get(name.removesuffix("-check"))
                found.append({"exercise": exercise, "answer": answer, "said": said})
    place = lessons / "mine" / "unexplained.jsonl"
    place.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")
    say(f"{len(found)} answers got no reason of their own; they are in {place}.")
    return 0


def shown(cell: Mapping[str, Any]) -> str:
    """Give the text that a cell has printed.

    Args:
        cell: Of a notebook.
    """
    parts = (
        out.get("text") or out.get("data", {}).get("text/plain", "")
        for out in cell.get("outputs", ())
    )
    return "\n".join("".join(part).rstrip("\n") for part in parts)
