"""The command `minigrad grade`: a folder or zip of submissions in, a table and pages out."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from _start import console
from _tools.grading import archives, pages, running, statistics, submissions, tables

_QUIET = 2.0  # seconds before there is a progress line
_POSIX = ("fork", "killpg", "setsid")


def main(given: argparse.Namespace) -> int:
    """Grade what is in a folder, or in a zip file.

    Args:
        given: What was typed behind `minigrad grade`.

    Returns:
        0 where all was graded, 1 where some of it could not be.

    Raises:
        console.Trouble: Where nothing can be graded.
    """
    given_folder, output = given.folder.expanduser().resolve(), given.output.expanduser().resolve()
    _possible(given_folder, output)
    if given_folder.is_dir():
        return _main(given_folder, given_folder, output, given)
    with tempfile.TemporaryDirectory(prefix="minigrad-grade-") as name:
        folder = Path(name).resolve()
        for says in archives.unpack(given_folder, folder):
            console.say(says)
        return _main(given_folder, folder, output, given)


def _main(named: Path, folder: Path, output: Path, given: argparse.Namespace) -> int:
    found = submissions.found_in(folder, given.lesson)
    for says in found.others:
        console.say(says)
    if not found.submissions:
        raise console.Trouble(
            f"there is no submission in {named}.",
            "Put notebooks there as STUDENT/NN_name.ipynb, and see `minigrad grade --help`.",
        )
    grades = _graded(found, [*dict.fromkeys((named, folder, output))], given)
    try:
        output.mkdir(parents=True, exist_ok=True)
        tables.write(grades, output / "grades.csv")
        pages.write(grades, output)
    except OSError as error:
        raise console.Trouble(
            f"{error.filename or output}: {error.strerror or error}.",
            "Name a folder that can be written to:  --output FOLDER",
        ) from None
    print(tables.as_text(grades) + statistics.as_text(grades))
    console.say(
        f"\nWritten: {output / 'grades.csv'}, {output / 'index.html'} with the statistics of the "
        "class, and a page for each student beside it."
    )
    failed = [grade for grade in grades if not grade.ended]
    for grade in failed:
        console.say(f"{grade.submission.path.relative_to(folder)}: {' '.join(grade.remarks)}")
    return int(bool(failed))


def _possible(folder: Path, output: Path) -> None:
    if not all(hasattr(os, name) for name in _POSIX):
        raise console.Trouble(
            "this system has no way to run submissions apart from everything else.",
            "Grade on Linux or macOS, or on Windows in WSL.",
        )
    if not folder.is_dir() and not (folder.is_file() and folder.suffix.lower() == ".zip"):
        raise console.Trouble(
            f"{folder} is no folder and no zip file.", "Name the folder with the submissions."
        )
    if output.is_relative_to(folder):
        raise console.Trouble(
            f"{output} lies among the submissions, which stay as they are.",
            "Name another folder:  --output FOLDER",
        )


def _graded(
    found: submissions.Found, hidden: Sequence[Path], given: argparse.Namespace
) -> Sequence[running.Grade]:
    many, done = len(found.submissions), 0
    line: list[console.ProgressLine] = []
    begin = threading.Timer(_QUIET, lambda: line.append(console.ProgressLine("Grading")))
    begin.daemon = True

    def tell(grade: running.Grade) -> None:
        nonlocal done
        done += 1
        if line:
            line[0].show(f"{done} of {many}, the last one {grade.submission.student}")

    jobs = given.jobs or max(1, min(8, (os.cpu_count() or 2) - 1))
    limits = running.Limits(given.seconds, given.memory * 1e9)
    begin.start()
    try:
        grades = running.graded(found.submissions, hidden, jobs, limits, tell)
    finally:
        begin.cancel()
    if line:
        line[0].end(f"{many} submission{'s' * (many != 1)}")
    sys.stderr.flush()
    return grades
