"""Have submissions run in contained processes, several at once, and make grades of it."""

from __future__ import annotations

import ast
import contextlib
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

from _tools import places
from _tools.grading.submissions import Cell, Submission

_LATE = 1.0  # seconds more for a cell, as a check has a clock of its own
MOST_RUNS = 6  # of one submission, each without the cells that ended the ones before
_CONTAINED = Path(__file__).resolve().with_name("contained.py")
_SLOW = 60.0  # seconds more for what is not the submission's, such as imports
_UNREACHED = ("It wasn't reached: too many cells before it failed.",)
_CHANNEL = "It wrote into the channel of the results."
_TWICE = "There were two results for it, and one was made up."
_HIDDEN = (
    (places.LESSONS / "checks", "the checks"),
    (places.LESSONS / "solutions", "the solutions"),
    (places.LESSONS / "instructors", "what is for instructors"),
    (places.ROOT / "tests", "the tests"),
)
END = -1  # the number of the cell after the last one
# What one submission told: of each cell by its number a status, and what is said about it. A cell
# that "begins" is then "ran", or "failed" by an error, or "hurt" where it ended the process; a
# check has the status of a result.
_Told = dict[int, tuple[str, tuple[str, ...]]]


class Limits(NamedTuple):
    """What one submission may take.

    Args:
        seconds: For each cell, and for each check of an answer.
        memory: In bytes.
    """

    seconds: float = 60.0
    memory: float = 4e9


@dataclass(frozen=True)
class Result:
    """The result of one exercise.

    Args:
        exercise: Its id.
        status: "right", "wrong", "unsolved"; "hurt" where it could not be judged, "refused" where
            something was changed that checks stand on, or where it is a part of the checks.
        points: What it got.
        most: What it is worth.
        lines: What the check said, or what happened.
    """

    exercise: str
    status: str
    points: int
    most: int
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grade:
    """The result of a submission.

    Args:
        submission: What was graded.
        results: One for each exercise.
        remarks: What else happened, in sentences.
        alarms: What no honest answer does, in sentences.
    """

    submission: Submission
    results: tuple[Result, ...] = ()
    remarks: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """All that happened besides, the alarms first, each with an exclamation mark."""
        return (*(f"! {each}" for each in self.alarms), *self.remarks)

    @property
    def points(self) -> int:
        """What all exercises got."""
        return sum(each.points for each in self.results)

    @property
    def most(self) -> int:
        """What all exercises are worth."""
        return sum(cell.points for cell in self.submission.cells)


def graded(
    submissions: Sequence[Submission], hidden: Sequence[Path], jobs: int, limits: Limits
) -> Iterator[Grade]:
    """Grade submissions, several at once, and keep their order.

    Args:
        submissions: What was handed in.
        hidden: Further folders that no submission may read.
        jobs: How many at once.
        limits: What each may take.
    """
    stop = threading.Event()
    kept_out = [*_HIDDEN, *((path, "what others have handed in") for path in hidden)]
    job = {
        "hidden": [(f"{path.resolve()}/", name) for path, name in kept_out],
        "path": [str(places.ROOT), str(places.LESSONS), *filter(None, sys.path)],
        **limits._asdict(),
    }

    def grade(submission: Submission) -> Grade:
        if submission.problem:
            return Grade(submission, remarks=(f"Not graded: {submission.problem}.",))
        told, tried = _Told(), list[tuple[int, str]]()
        for _ in range(MOST_RUNS):
            with tempfile.TemporaryDirectory(
                prefix="minigrad-submission-", ignore_cleanup_errors=True
            ) as place:
                _run(submission, Path(place).resolve(), job, stop, told, tried)
            if END in told or stop.is_set():
                break
        return _grade(submission, told, tried)

    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(grade, submission) for submission in submissions]
        try:
            for one in waiting:
                yield one.result()
        except BaseException:  # Ctrl-C
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(
    submission: Submission,
    home: Path,
    job: dict[str, Any],
    stop: threading.Event,
    told: _Told,
    tried: list[tuple[int, str]],
) -> None:
    """Run a submission once, without the given checks and the cells that ended the process."""
    folder = home / "lessons"
    shutil.copytree(places.LESSONS / "data", folder / "data")
    for fonts in Path(matplotlib.get_cachedir()).glob("fontlist*.json"):  # making them takes long
        shutil.copy(fonts, home)
    cells = [
        (number, cell.kind, cell.source, cell.exercise)
        for number, cell in enumerate(submission.cells)
        if number not in told or (cell.kind != "check" and told[number][0] != "hurt")
    ]
    nonce = secrets.token_hex()
    job = {**job, "cells": cells, "folder": str(folder), "nonce": nonce}
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-X", "utf8", str(_CONTAINED)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home,
        env=_variables(home),
        start_new_session=True,
    )
    now = cells[0][0] if cells else END
    told[now], why = ("begins", ()), "It ended the process."
    assert process.stdin is not None and process.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(ascii(job).encode())
        for line in _lines(process.stdout.fileno(), job["seconds"], stop):
            begins, _, message = line.partition(" ")
            if begins != nonce:
                why = _CHANNEL
                break
            number, status, said = ast.literal_eval(message)
            if status == "tried":
                tried.append((number, said[0]))
            elif status == "begins" or told[number][0] == "begins":
                told[number] = ("hurt" if status == "ended" else status, said)
            elif status != "ended":
                told[number] = ("refused", (_TWICE,))
    except TimeoutError as late:
        why = str(late)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
    if process.returncode < 0 and process.returncode != -signal.SIGKILL:
        why = f"The process died of {signal.Signals(-process.returncode).name}."
    told.update({number: ("hurt", (why,)) for number in told if told[number][0] == "begins"})


def _lines(reading: int, seconds: float, stop: threading.Event) -> Iterator[str]:
    """Read lines from a pipe until it is closed."""
    data, end = b"", time.monotonic() + seconds + _SLOW
    while not stop.is_set():
        if select.select([reading], [], [], 0.2)[0]:
            part = os.read(reading, 1 << 16)
            *lines, data = (data + part).split(b"\n")
            if not part:
                lines = [data] if data else []
            yield from (line.decode("ascii", "replace") for line in lines)
            if not part:
                return
            end = time.monotonic() + seconds + _LATE
        elif time.monotonic() > end:
            raise TimeoutError(f"It ran longer than {seconds:g} s.")


def _variables(home: Path) -> dict[str, str]:
    """Make the environment of a submission: nothing of the teacher's, but where programs are."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": str(home),
        "MALLOC_ARENA_MAX": "2",
        "MINIGRAD_PROGRESS": "none",
        "MINIGRAD_RANKS": "recorded",  # no MPI: what a lesson shows of it is what was recorded
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": str(home),
    }


def _grade(submission: Submission, told: _Told, tried: Sequence[tuple[int, str]]) -> Grade:
    """Put together the result of each exercise, and what else happened."""
    results, remarks, alarms = list[Result](), list(submission.remarks), list[str]()
    failed = dict[str, str]()
    for number, cell in enumerate(submission.cells):
        status, lines = told.get(number, ("hurt", _UNREACHED))
        if cell.kind != "check":
            if number in told and lines:
                failed[cell.exercise] = lines[0]
                if cell.kind == "own" or status == "hurt":
                    said = f"{_named(cell)} failed: {lines[0]}"
                    (alarms if lines[0] == _CHANNEL else remarks).append(said)
            continue
        if status == "refused" and not any(each.endswith(lines[0]) for each in alarms):
            alarms.append(f"{cell.exercise}: {lines[0]}")  # a change holds from there on
        if cell.exercise in failed and status != "right":
            said = f"Its cell failed. {failed[cell.exercise]}"
            status, lines = (status, (said, *lines)) if status == "wrong" else ("hurt", (said,))
        points = cell.points if status == "right" else 0
        results.append(Result(cell.exercise, status, points, cell.points, lines))
    alarms += [f"{_named(submission.cells[number])} tried to {what}." for number, what in tried]
    return Grade(submission, tuple(results), tuple(remarks), tuple(dict.fromkeys(alarms)))


def _named(cell: Cell) -> str:
    return cell.exercise or f"a cell of {'the lesson' if cell.kind == 'published' else 'their own'}"
