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
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _tools import places
from _tools.grading.submissions import Submission

MOST_RUNS = 6  # of one submission, each without the cells that ended the ones before
_CONTAINED = Path(__file__).resolve().with_name("contained.py")
_SLOW = 60.0  # seconds more for what is not the submission's, such as imports
_LATE = 10.0  # seconds more for a check, which has a clock of its own
_CHANNEL = "It wrote into the channel of the results."
_TWICE = "There came two results for it, and one was made up."


@dataclass(frozen=True)
class Limits:
    """What one submission may take.

    Args:
        seconds: For each cell, and for each check of an answer.
        memory: In bytes.
    """

    seconds: float = 60.0
    memory: float = 4e9


@dataclass(frozen=True)
class Result:
    """What came of one exercise.

    Args:
        exercise: Its id.
        status: "right", "wrong", "unsolved"; "hurt" where it could not be judged, "changed" where
            something was changed that checks stand on, "taken" where it is a part of the checks.
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
    """What came of a submission.

    Args:
        submission: What was graded.
        results: One for each exercise.
        remarks: What else happened, in sentences.
        ended: Whether it came to its end; if not, it says nothing about the answers.
        alarms: What no honest answer does, in sentences.
    """

    submission: Submission
    results: tuple[Result, ...] = ()
    remarks: tuple[str, ...] = ()
    ended: bool = True
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
        worth = sum(cell.points for cell in self.submission.cells)  # where nothing came out
        return sum(each.most for each in self.results) if self.results else worth


@dataclass
class _Told:
    """What the runs of one submission have told so far."""

    verdicts: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    troubles: dict[int, str] = field(default_factory=dict)
    tried: list[tuple[str, str]] = field(default_factory=list)
    left_out: set[int] = field(default_factory=set)


def graded(
    submissions: Sequence[Submission],
    hidden: Sequence[Path],
    jobs: int,
    limits: Limits,
    each: Callable[[Grade], None] = lambda grade: None,
) -> list[Grade]:
    """Grade submissions, several at once, and keep their order.

    Args:
        submissions: What was handed in.
        hidden: Further folders that no submission may read.
        jobs: How many at once.
        limits: What each may take.
        each: Is told each grade as it comes.
    """
    running: set[subprocess.Popen[bytes]] = set()
    stopped: list[bool] = []
    kept_out = _hidden(hidden)

    def grade(submission: Submission) -> Grade:
        told = _Told()
        if submission.problem:
            remark = f"Not graded: {submission.problem}."
            return Grade(submission, (), (remark,), ended=False)
        for _ in range(0 if stopped else MOST_RUNS):
            with tempfile.TemporaryDirectory(
                prefix="minigrad-submission-", ignore_cleanup_errors=True
            ) as place:
                messages = _run(submission, Path(place).resolve(), kept_out, limits, told, running)
                if _heard(submission, messages, told) or stopped:
                    break
        return _grade(submission, told)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            waiting = [pool.submit(grade, submission) for submission in submissions]
            for one in waiting:
                each(one.result())
        except BaseException:  # Ctrl-C
            stopped.append(True)
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                _kill(process)
            raise
    return [one.result() for one in waiting]


def _hidden(further: Sequence[Path]) -> list[tuple[str, str]]:
    names = [
        (places.LESSONS / "checks", "the checks"),
        (places.LESSONS / "solutions", "the solutions"),
        (places.LESSONS / "instructors", "what is for instructors"),
        (places.ROOT / "tests", "the tests"),
        *((path, "what others have handed in") for path in further),
    ]
    return [(f"{path.resolve()}/", name) for path, name in names]


def _run(
    submission: Submission,
    home: Path,
    hidden: Sequence[tuple[str, str]],
    limits: Limits,
    told: _Told,
    running: set[subprocess.Popen[bytes]],
) -> Iterator[tuple[Any, ...] | str]:
    """Run a submission once, without what is left out; give what it says, then how it ended."""
    folder = home / "lessons"
    shutil.copytree(places.LESSONS / "data", folder / "data")
    for fonts in _fonts():
        shutil.copy(fonts, home)
    cells = [
        (number, cell.kind, cell.source, cell.exercise)
        for number, cell in enumerate(submission.cells)
        if number not in told.left_out
        and not (cell.kind == "check" and cell.exercise in told.verdicts)
    ]
    nonce = secrets.token_hex()
    path = [str(places.ROOT), str(places.LESSONS), *filter(None, sys.path)]
    job: dict[str, Any] = {
        "cells": cells,
        "folder": str(folder),
        "hidden": hidden,
        "nonce": nonce,
        "path": path,
    }
    job |= {"seconds": limits.seconds, "memory": limits.memory}
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-X", "utf8", str(_CONTAINED), str(writing)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=home,
        env=_variables(home),
        pass_fds=(writing,),
        start_new_session=True,
    )
    running.add(process)
    os.close(writing)
    try:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(ascii(job).encode())
        yield from _messages(reading, nonce, limits.seconds)
    finally:
        os.close(reading)
        _kill(process)
        ended = process.wait()
        running.discard(process)
    died = ended < 0 and ended != -signal.SIGKILL
    yield f"The process died of {signal.Signals(-ended).name}." if died else "It ended the process."


def _messages(reading: int, nonce: str, seconds: float) -> Iterator[tuple[Any, ...] | str]:
    """Read messages until the pipe is closed; a text tells that something else came, or nothing."""
    data, end = b"", time.monotonic() + seconds + _SLOW
    while True:
        *lines, data = data.split(b"\n")
        for line in lines:
            begins, _, message = line.decode("ascii", "replace").partition(" ")
            if begins != nonce:
                yield _CHANNEL
                return
            said = ast.literal_eval(message)
            yield said
            # A check has a clock of its own, and says itself that it took too long.
            end = time.monotonic() + seconds + (0 if said[0] == "cell" else _LATE)
        left = end - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            yield f"It ran longer than {seconds:g} s."
            return
        part = os.read(reading, 1 << 16)
        if not part:
            if data:
                yield _CHANNEL
            return
        data += part


def _kill(process: subprocess.Popen[bytes]) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


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


def _fonts() -> list[Path]:
    """Find the lists of fonts that matplotlib has made, because making them takes long."""
    homes = [os.environ.get("MPLCONFIGDIR"), Path.home() / ".cache" / "matplotlib"]
    homes += [Path.home() / ".matplotlib", Path.home() / "Library" / "Caches" / "matplotlib"]
    return [path for home in homes if home for path in Path(home).glob("fontlist*.json")]


def _heard(submission: Submission, messages: Iterator[tuple[Any, ...] | str], told: _Told) -> bool:
    """Take the messages of one run in; tell whether it came to its end."""
    begun, judging, given = 0, "", set[str]()
    more: list[Any]
    for message in messages:
        if isinstance(message, str):
            told.troubles[begun] = message
            told.left_out.add(begun)
            if judging:
                told.verdicts.setdefault(judging, ("hurt", (message,)))
            return False
        kind, what, *more = (*message, "")
        if kind == "end":
            return True
        if kind == "cell":
            begun = what
        elif kind == "done":
            told.troubles[what] = more[0]
            told.tried += [(_named(submission, what), each) for each in more[1]]
        elif kind == "judging":
            judging = what
        elif kind == "verdict":
            told.verdicts[what] = ("hurt", (_TWICE,)) if what in given else (more[0], more[1])
            told.tried += [(what, each) for each in more[2]]
            given.add(what)
        elif kind == "judged":
            told.verdicts.setdefault(what, ("hurt", (more[0] or "It ended the process.",)))
            judging = ""
    return False


def _named(submission: Submission, number: int) -> str:
    cell = submission.cells[number]
    if cell.kind == "answer":
        return cell.exercise
    return "a cell of the lesson" if cell.kind == "published" else "a cell of their own"


def _grade(submission: Submission, told: _Told) -> Grade:
    """Put together what came of each exercise, and what else happened."""
    results, remarks, alarms = [], list(submission.remarks), list[str]()
    cells = list(enumerate(submission.cells))
    answers = {cell.exercise: number for number, cell in cells if cell.kind == "answer"}
    unreached = ("hurt", ("It was not reached: too many cells before it failed.",))
    for cell in submission.cells:
        if cell.kind != "check":
            continue
        status, lines = told.verdicts.get(cell.exercise, unreached)
        trouble = told.troubles.get(answers.get(cell.exercise, -1), "")
        if status == "changed":
            lines = (f"The notebook changed what answers are checked by: {', '.join(lines)}.",)
        alarming = status in ("changed", "taken") or lines == (_TWICE,)
        if alarming and not any(each.endswith(lines[0]) for each in alarms):
            alarms.append(f"{cell.exercise}: {lines[0]}")  # a change holds from there on
        if trouble and status != "right":
            lines = (f"Its cell failed. {trouble}", *(lines if status == "wrong" else ()))
            status = "wrong" if status == "wrong" else "hurt"
        points = cell.points if status == "right" else 0
        results.append(Result(cell.exercise, status, points, cell.points, tuple(lines)))
    for number, trouble in sorted(told.troubles.items()):
        if trouble and (submission.cells[number].kind == "own" or number in told.left_out):
            said = f"{_named(submission, number)} failed: {trouble}"
            (alarms if trouble == _CHANNEL else remarks).append(said)
    alarms += [f"{where} tried to {what}." for where, what in told.tried]
    alarms = list(dict.fromkeys(alarms))[:30]
    return Grade(submission, tuple(results), tuple(remarks[:30]), alarms=tuple(alarms))
