"""Show what the learner has solved: `python3 lessons --progress`, from notes on this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad.classroom import desk

from . import notebooks
from .console import python_command, say

COLLECT = "Write wrong answers that got no reason of their own into a file, without names."
VARIABLE = desk.VARIABLE
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
        return desk.place(variables)
    if os.access(lessons, os.W_OK):
        return lessons / ".progress.json"
    home = os.path.expanduser("~")
    return Path(home) / ".minigrad" / "progress.json" if os.path.isabs(home) else None


def boxes(notes: Path) -> Path:
    """Tell where `review` keeps its boxes: beside the notes."""
    return notes.with_name(f"{notes.name}.review")


def read(path: Path | None) -> dict[str, set[str]]:
    """Read the notes: for "solved", "tried", "predicted" and "missed" the names."""
    return {key: {*names} for key, names in desk.read(path or Path(os.devnull)).items()}


def contents(path: Path) -> Contents | None:
    """Read a learner's notebook; None where it cannot be read, as when it is half written."""
    try:
        cells = notebooks.read(path)["cells"]
    except (OSError, notebooks.Unreadable):
        return None
    checks = [mark["grade_id"] for mark in map(notebooks.grading, cells) if mark.get("grade")]
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    return Contents(
        path.stem.partition("_")[0],
        cells[0]["source"].partition("\n")[0].lstrip("# ") if cells else path.stem,
        tuple(check.removesuffix("-check").replace("-", ".") for check in checks),
        tuple(dict.fromkeys(PREDICTS.findall(code))),
    )


def table(lessons: Sequence[Contents], notes: Mapping[str, set[str]]) -> list[str]:
    """Write one line for each lesson, and one for all of them."""
    rows: list[tuple[Any, ...]] = []
    for lesson in lessons:
        names = {*lesson.exercises}
        solved, tried = len(names & notes["solved"]), len(names & notes["tried"] - notes["solved"])
        guessed = len({*lesson.predictions} & notes["predicted"])
        remark = f"{tried} tried" if tried else "finished" if 0 < len(names) == solved else ""
        rows.append((lesson.title, solved, len(names), guessed, len(lesson.predictions), remark))
    done = sum(row[5] == "finished" for row in rows)
    total = [sum(row[column] for row in rows) for column in range(1, 5)]
    rows.append(("All lessons", *total, f"{done} of {len(lessons)} finished"))
    width = max(len(row[0]) for row in rows)
    return [f"{'lesson':<{width}}  exercises  predictions"] + [
        f"{title:<{width}}  {solved:>3} of {of:<3} {guessed:>4} of {all_:<3}  {remark}".rstrip()
        for title, solved, of, guessed, all_, remark in rows
    ]


def show(lessons: Path) -> int:
    """Print the table; return the exit code."""
    found = [contents(path) for path in sorted(lessons.glob("[0-9][0-9]_*.ipynb"))]
    path = place(lessons)
    print("\n".join(table([each for each in found if each], read(path))))
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
    path.unlink()
    boxes(path).unlink(missing_ok=True)
    say(f"Forgotten: {path}. Your answers in the notebooks are still there.")
    return 0


def unexplained(exercise: str, said: str) -> bool:
    """Tell whether a check had nothing to say to an answer but that it differs.

    Args:
        exercise: Its id.
        said: What the check printed.
    """
    text = " ".join(said.split())
    return "not yet." in text and not any(row.says in text for row in desk.find(exercise).rows)


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
