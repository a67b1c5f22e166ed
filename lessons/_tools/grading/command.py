"""The command `minigrad grade`: a folder or zip of submissions in, a table and pages out."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from _start import console, progress
from _tools.grading import reports, running, submissions


def main(
    folder: Path,
    lesson: Sequence[str] = (),
    output: Path = Path("grades"),
    jobs: int | None = None,
    seconds: float = 60.0,
    memory: float = 4.0,
    collect: Path | None = None,
) -> int:
    """Grade what is in a folder, or in a zip file.

    Args:
        folder: Where the submissions are.
        lesson: Numbers of the lessons to grade; all of them by default.
        output: Where pages and tables go.
        jobs: How many submissions to run at once.
        seconds: How long each cell may take.
        memory: How many GB each submission may take.
        collect: Where wrong answers go that got no reason of their own, if anywhere.

    Returns:
        0 where all was graded, 1 where some of it could not be.

    Raises:
        console.Trouble: Where nothing can be graded.
    """
    named, output = folder.expanduser().resolve(), output.expanduser().resolve()
    if not hasattr(os, "fork"):
        raise console.Trouble(
            "this system can't run submissions in a sandbox.",
            "Grade on Linux or macOS, or on Windows in WSL.",
        )
    if output.is_relative_to(named):
        raise console.Trouble(
            f"{output} is among the submissions, which must not change.",
            "Name another folder:  --output FOLDER",
        )
    jobs = jobs or max(1, min(8, (os.cpu_count() or 2) - 1))
    limits = running.Limits(seconds, memory * 1e9)
    with tempfile.TemporaryDirectory(prefix="minigrad-grade-") as place:
        folder = named if named.is_dir() else submissions.unpack(named, Path(place).resolve())
        found, others = submissions.found_in(folder, lesson)
        for says in others:
            console.say(says)
        if not found:
            raise console.Trouble(
                f"there is no submission in {named}.",
                "Put notebooks there as STUDENT/NN_name.ipynb, and see `minigrad grade --help`.",
            )
        hidden = list(dict.fromkeys((named, folder, output)))
        coming = running.graded(found, hidden, jobs, limits)
        with click.progressbar(coming, length=len(found), label="Grading", file=sys.stderr) as bar:
            grades = list(bar)
        output.mkdir(parents=True, exist_ok=True)
        reports.write_table(grades, output / "grades.csv")
        reports.write_pages(grades, output)
        if collect is not None:
            collect.write_text("".join(unexplained(grades)), encoding="utf-8")
        print(reports.as_text(grades) + reports.missed_as_text(grades))
        console.say(
            f"\nWritten: {output / 'grades.csv'}, {output / 'index.html'} with the statistics of "
            "the class, and a page for each student next to it."
        )
        failed = [grade for grade in grades if grade.submission.problem]
        for grade in failed:
            console.say(f"{grade.submission.path.relative_to(folder)}: {' '.join(grade.remarks)}")
    return int(bool(failed))


def unexplained(grades: Sequence[running.Grade]) -> list[str]:
    """Give the wrong answers that got no reason of their own, as lines of JSON without names.

    Args:
        grades: Of any lessons.
    """
    found = set()
    for grade in grades:
        answers = {c.exercise: c.source for c in grade.submission.cells if c.kind == "answer"}
        for each in grade.results:
            said = "\n".join((f"{each.exercise}: not yet.", *each.lines))
            if each.status == "wrong" and progress.unexplained(each.exercise, said):
                answer = answers.get(each.exercise)
                entry = {"exercise": each.exercise, "answer": answer, "said": said}
                found.add(json.dumps(entry) + "\n")
    return sorted(found)
