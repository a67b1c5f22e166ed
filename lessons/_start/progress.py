"""Show what the learner has solved: `python3 lessons --progress`, from notes on this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from minigrad.classroom import desk

from . import notebooks
from .console import say

COLLECT = "Write wrong answers that got no reason of their own into a file, without names."
VARIABLE = desk.VARIABLE
PREDICTS = re.compile(r"^\s*predict\(\s*[\"']([^\"']+)", re.M)


class Contents(NamedTuple):
    """What there is to do in a lesson: its title, the exercises' ids, the predictions' names."""

    title: str
    exercises: tuple[str, ...]
    predictions: tuple[str, ...]


def boxes(notes: Path) -> Path:
    """Tell where `review` keeps its boxes: beside the notes."""
    return notes.with_name(f"{notes.name}.review")


def read(path: Path | None) -> dict[str, set[str]]:
    """Read the notes: for "solved", "tried", "predicted" and "missed" the names."""
    return {key: {*names} for key, names in desk.read(path or Path(os.devnull)).items()}


def readable(folder: Path) -> Iterator[tuple[Path, list[notebooks.Cell]]]:
    """Give the notebooks of a folder with their cells, but none that is half written."""
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        with suppress(OSError, notebooks.Unreadable):
            yield path, notebooks.read(path)["cells"]


def contents(path: Path, cells: Sequence[notebooks.Cell]) -> Contents:
    """Tell what there is to do in a learner's notebook.

    Args:
        path: Its name gives the number.
        cells: Those in it.
    """
    checks = [mark["grade_id"] for mark in map(notebooks.grading, cells) if mark.get("grade")]
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    return Contents(
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
    path = desk.place(lessons=lessons)
    print("\n".join(table([contents(*each) for each in readable(lessons)], read(path))))
    if path is None:
        say(f"{VARIABLE} switches notes off.")
    else:
        say(f"Checks and predictions are noted in {path}, and nowhere else; --reset forgets them.")
    return 0


def reset(lessons: Path) -> int:
    """Forget the notes; the notebooks stay as they are. Return the exit code."""
    if path := desk.place(lessons=lessons):
        path.unlink(missing_ok=True)
        boxes(path).unlink(missing_ok=True)
    say("Your progress is forgotten. Your answers in the notebooks are still there.")
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

    They stay on this machine, in a file beside the copies: authors of lessons can make rows of
    them.

    Args:
        lessons: The folder of the lessons.
    """
    found = []
    for _, cells in readable(lessons / "mine"):
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
    outputs = cell.get("outputs", ())
    parts = (out.get("text") or out.get("data", {}).get("text/plain", "") for out in outputs)
    return "\n".join("".join(part).rstrip("\n") for part in parts)
