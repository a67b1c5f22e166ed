"""Have submissions run in contained processes, several at once, and make grades of it."""

from __future__ import annotations

import ast
import os
import queue
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _tools import places
from _tools.grading.submissions import Submission

MOST_RUNS = 6  # of one submission, each without the cells that ended the ones before
_SERVING = Path(__file__).with_name("serving.py")
_NONCE, _HEAD = 32, 36
_SLOW = 10.0  # seconds more for what is not the submission's
_CHANNEL = "It wrote into the channel of the results."
_TWICE = ("There came two results for it, and one was made up.",)
_LOOK = 0.5  # seconds between two looks at what was computed


@dataclass(frozen=True)
class Limits:
    """What one submission may take.

    Args:
        seconds: For each cell, and for each check of an answer.
        memory: In bytes.
        patience: How many times as long it may take, where it does not compute all the while.
    """

    seconds: float = 60.0
    memory: float = 4e9
    patience: float = 1.0


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
    twice: set[str] = field(default_factory=set)
    troubles: dict[int, str] = field(default_factory=dict)
    tried: list[tuple[str, str]] = field(default_factory=list)
    left_out: set[int] = field(default_factory=set)


class Server:
    """A warm process that is forked for each run.

    Args:
        home: A folder for what libraries keep in the home directory.
        imports: Modules to import before.
    """

    def __init__(self, home: Path, imports: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", str(_SERVING), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=home,
            env=_variables(home),
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self._child = 0
        path = [str(places.ROOT), str(places.LESSONS), *filter(None, sys.path)]
        self._put({"path": list(dict.fromkeys(path)), "imports": list(imports)})

    def _put(self, job: dict[str, Any], pipe: int | None = None) -> None:
        data = repr(job).encode("utf-8", "backslashreplace")
        head = len(data).to_bytes(8, "big")
        if pipe is None:
            self._socket.sendall(head)
        else:
            socket.send_fds(self._socket, [head], [pipe])
        self._socket.sendall(data)

    def _number(self) -> int:
        said = b""
        while not said.endswith(b"\n"):
            part = self._socket.recv(1)
            if not part:
                raise EOFError("the process that runs submissions is gone")
            said += part
        return int(said)

    def run(self, job: dict[str, Any], limits: Limits) -> Iterator[tuple[Any, ...] | str]:
        """Run a job in a process of its own, and give what it says, then how it ended in words.

        Args:
            job: For `contained.run`, but for the nonce.
            limits: What a cell may take.
        """
        nonce = secrets.token_bytes(_NONCE)
        reading, writing = os.pipe()
        self._put({**job, "nonce": nonce}, writing)
        os.close(writing)
        child = self._child = self._number()
        why = ""
        try:
            for message in _messages(reading, nonce, limits, child):
                if isinstance(message, str):
                    why = message
                    break
                yield message
        finally:
            os.close(reading)
            _kill_group(child)
            self._child = 0
            status = self._number()
            _kill_strays(job["folder"])
        yield why or _how_it_ended(status)

    def close(self) -> None:
        """End the process, and what it runs."""
        self._process.kill()
        if self._child:
            _kill_group(self._child)
        self._process.wait()
        self._socket.close()


def _computed(process: int) -> float:
    """Tell how many seconds a process has computed, or nothing where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _messages(
    reading: int, nonce: bytes, limits: Limits, child: int
) -> Iterator[tuple[Any, ...] | str]:
    """Read messages until the pipe is closed; a text tells that something else came, or nothing."""
    wait = limits.seconds
    data, end = b"", time.monotonic() + wait * limits.patience + _SLOW
    most = wait + _SLOW  # of computing
    while True:
        while len(data) >= _HEAD:
            if data[:_NONCE] != nonce:
                yield _CHANNEL
                return
            size = int.from_bytes(data[_NONCE:_HEAD], "big")
            if len(data) < _HEAD + size:
                break
            try:
                message = ast.literal_eval(data[_HEAD : _HEAD + size].decode("utf-8"))
            except (ValueError, SyntaxError):  # it was cut off, as it was too long
                yield "It told more than can be read."
                return
            yield message
            data = data[_HEAD + size :]
            # A check has a clock of its own, and says itself that it took too long.
            slow = 0 if message[0] == "cell" else _SLOW
            end = time.monotonic() + wait * limits.patience + slow
            most = _computed(child) + wait + slow
        left = end - time.monotonic()
        if left <= 0 or _computed(child) > most:
            yield f"It ran longer than {wait:g} s."
            return
        if not select.select([reading], [], [], min(left, _LOOK))[0]:
            continue
        part = os.read(reading, 1 << 16)
        if not part:
            if data:
                yield _CHANNEL
            return
        data += part


def _kill_group(child: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _kill_strays(folder: str) -> None:
    """End what has left the group all the same: known by the folder that it works in."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            at = os.readlink(entry / "cwd")
        except OSError:
            continue
        if at.removesuffix(" (deleted)").startswith(folder):
            try:
                os.kill(int(entry.name), signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue


def _how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        return f"The process died of {signal.Signals(os.WTERMSIG(status)).name}."
    return "It ended the process."


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
    """Find the lists of fonts that matplotlib has made, as that takes it long."""
    homes = [os.environ.get("MPLCONFIGDIR"), Path.home() / ".cache" / "matplotlib"]
    homes += [Path.home() / ".matplotlib", Path.home() / "Library" / "Caches" / "matplotlib"]
    return [path for home in homes if home for path in Path(home).glob("fontlist*.json")]


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
        each: Is told each grade as it comes, one at a time.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(submissions)):
        waiting.put(number)
    grades: dict[int, Grade] = {}
    lock, troubles = threading.Lock(), list[BaseException]()
    servers: list[Server] = []
    kept_out = _hidden(hidden)

    def work(home: Path) -> None:
        server: Server | None = None
        try:
            while not troubles:
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                submission = submissions[number]
                if submission.problem:
                    remark = f"Not graded: {submission.problem}."
                    grade = Grade(submission, (), (remark,), ended=False)
                else:
                    if server is None:
                        server = Server(home, _imports(submissions))
                        servers.append(server)
                    try:
                        grade = _graded(submission, server, kept_out, limits)
                    except (EOFError, OSError) as error:
                        grade = Grade(submission, (), (f"Not graded: {error}.",), ended=False)
                        server.close()
                        server = None
                with lock:
                    grades[number] = grade
                    each(grade)
        except BaseException as error:
            troubles.append(error)
        finally:
            if server is not None:
                server.close()

    with tempfile.TemporaryDirectory(prefix="minigrad-grade-") as name:
        threads = []
        for number in range(max(1, min(jobs, len(submissions)))):
            home = Path(name).resolve() / f"home{number}"
            home.mkdir()
            for fonts in _fonts():
                shutil.copy(fonts, home)
            threads.append(threading.Thread(target=work, args=(home,)))
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as error:  # Ctrl-C
            troubles.append(error)
            for server in servers:
                server.close()
            for thread in threads:
                thread.join()
    if troubles:
        raise troubles[0]
    return [grades[number] for number in range(len(submissions))]


def _hidden(further: Sequence[Path]) -> list[tuple[str, str]]:
    names = [
        (places.LESSONS / "checks", "the checks"),
        (places.LESSONS / "solutions", "the solutions"),
        (places.LESSONS / "instructors", "what is for instructors"),
        (places.ROOT / "tests", "the tests"),
        *((path, "what others have handed in") for path in further),
    ]
    return [(f"{path.resolve()}/", name) for path, name in names]


def _imports(submissions: Sequence[Submission]) -> list[str]:
    """List the modules that the lessons import, so that this is done once and not for each."""
    found = {"minigrad", "minigrad.classroom", "minigrad.classroom.data", "minigrad.viz"}
    for cells in {each.lesson: each.cells for each in submissions}.values():
        for cell in cells:
            if cell.kind == "published":
                for node in ast.walk(ast.parse(cell.source)):
                    if isinstance(node, ast.Import):
                        found.update(alias.name for alias in node.names)
                    if isinstance(node, ast.Name) and node.id in ("Plot", "use_style"):
                        found.add("matplotlib.pyplot")
    return sorted(found)


def _graded(
    submission: Submission, server: Server, hidden: Sequence[tuple[str, str]], limits: Limits
) -> Grade:
    told = _Told()
    for _ in range(MOST_RUNS):
        if _run(submission, server, hidden, limits, told):
            break
    return _grade(submission, told)


def _run(
    submission: Submission,
    server: Server,
    hidden: Sequence[tuple[str, str]],
    limits: Limits,
    told: _Told,
) -> bool:
    """Run a submission once, without what is left out; tell whether it came to its end."""
    cells = [
        (number, cell.kind, cell.source, cell.exercise)
        for number, cell in enumerate(submission.cells)
        if number not in told.left_out
        and not (cell.kind == "check" and cell.exercise in told.verdicts)
    ]
    with tempfile.TemporaryDirectory(
        prefix="minigrad-submission-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name).resolve() / "lessons"
        folder.mkdir()
        shutil.copytree(places.LESSONS / "data", folder / "data")
        job = {
            "cells": cells,
            "folder": str(folder),
            "hidden": list(hidden),
            "checks": hidden[0][0],
            "solutions": hidden[1][0],
            "seconds": limits.seconds,
            "patience": limits.patience,
            "memory": limits.memory,
        }
        return _heard(submission, server.run(job, limits), told, cells[0][0])


def _heard(
    submission: Submission, messages: Iterator[tuple[Any, ...] | str], told: _Told, first: int
) -> bool:
    """Take the messages of one run in; tell whether it came to its end."""
    begun, judging, given, ended = first, "", set[str](), False
    for message in messages:
        if isinstance(message, str):
            if ended:
                continue
            told.troubles[begun] = message
            told.left_out.add(begun)
            if judging and judging not in told.verdicts:
                told.verdicts[judging] = ("hurt", (message,))
            continue
        kind = message[0]
        if kind == "cell":
            begun = message[1]
        elif kind == "done":
            _, number, trouble, tried = message
            told.troubles[number] = trouble
            told.tried += [(_named(submission, number), each) for each in tried]
        elif kind == "judging":
            judging = message[1]
        elif kind == "verdict":
            _, exercise, status, lines, tried = message
            if exercise in given:
                told.twice.add(exercise)
            given.add(exercise)
            told.verdicts[exercise] = (status, lines)
            told.tried += [(exercise, each) for each in tried]
        elif kind == "judged":
            _, exercise, late = message
            if exercise not in given:
                told.verdicts[exercise] = ("hurt", (late or "It ended the process.",))
            judging = ""
        else:
            ended = True
    return ended


def _named(submission: Submission, number: int) -> str:
    cell = submission.cells[number]
    if cell.kind == "answer":
        return cell.exercise
    return "a cell of the lesson" if cell.kind == "published" else "a cell of their own"


def _grade(submission: Submission, told: _Told) -> Grade:
    """Put together what came of each exercise, and what else happened."""
    results, remarks, alarms = [], list(submission.remarks), list[str]()
    answers = {
        cell.exercise: number
        for number, cell in enumerate(submission.cells)
        if cell.kind == "answer"
    }
    for cell in submission.cells:
        if cell.kind != "check":
            continue
        status, lines = told.verdicts.get(
            cell.exercise, ("hurt", ("It was not reached: too many cells before it failed.",))
        )
        trouble = told.troubles.get(answers.get(cell.exercise, -1), "")
        if cell.exercise in told.twice:
            status, lines = "hurt", _TWICE
        if status == "changed":
            lines = (f"The notebook changed what answers are checked by: {', '.join(lines)}.",)
        alarming = status in ("changed", "taken") or lines == _TWICE
        if alarming and not any(each.endswith(lines[0]) for each in alarms):
            alarms.append(f"{cell.exercise}: {lines[0]}")  # a change holds from there on
        if trouble and status != "right":
            lines = (f"Its cell failed. {trouble}", *(lines if status == "wrong" else ()))
            status = "wrong" if status == "wrong" else "hurt"
        points = cell.points if status == "right" else 0
        results.append(Result(cell.exercise, status, points, cell.points, tuple(lines)))
    for number, trouble in sorted(told.troubles.items()):
        cell = submission.cells[number]
        if trouble and (cell.kind == "own" or number in told.left_out):
            said = f"{_named(submission, number)} failed: {trouble}"
            (alarms if trouble == _CHANNEL else remarks).append(said)
    alarms += [f"{where} tried to {what}." for where, what in told.tried]
    alarms = list(dict.fromkeys(alarms))[:30]
    return Grade(submission, tuple(results), tuple(remarks[:30]), alarms=tuple(alarms))
