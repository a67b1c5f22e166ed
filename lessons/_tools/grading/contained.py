"""Run a submission in this process, which holds nothing else, and judge each answer in a copy.

Nothing of this can be reached by name while a student's code runs, and nothing of it trusts what
that code may have put in the place of something. Where an exercise is checked the process forks:
the copy loads the checks, judges and ends, and the cells that follow never meet them.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from _tools.grading.hook import Guard, Refused
from _tools.grading.snapshot import Snapshot
from minigrad.classroom import desk
from minigrad.classroom.exercises import Exercise, Verdict
from minigrad.classroom.watching import Verbatim

try:
    import resource
except ImportError:  # Windows, where this is only imported
    resource = None  # type: ignore[assignment]

WRONG: tuple[Any, ...] = (object(), "no answer at all", -12345.678, lambda *a, **o: None)
"""Answers that no exercise takes; a check that says yes to one of them is not to be trusted."""

_PACKAGE = "_minigrad_lesson_checks"


def run(job: dict[str, Any], pipe: int, known: Snapshot) -> None:
    """Run the cells of a submission, and tell the parent by the pipe what comes of it.

    Args:
        job: What `running` has put together.
        pipe: Where the answers go, each behind the job's nonce.
        known: What modules are before.
    """
    Run(job, pipe, known).go()


class Run:
    """One submission in its process: what is kept from before its cells ran."""

    def __init__(self, job: dict[str, Any], pipe: int, known: Snapshot) -> None:
        self._known = known
        self._send = _sender(pipe, job["nonce"])
        self._folder, self._seconds, self._memory = job["folder"], job["seconds"], job["memory"]
        self._patience = job["patience"]
        self._cells: list[tuple[int, str, str, str]] = job["cells"]
        self._guard = Guard(self._folder, job["hidden"], job["checks"], f"{self._folder}/lesson_")
        self._mine = (job["checks"], job["solutions"])
        self._builtins = dict(vars(builtins))
        self._changed: list[str] = []
        self._sleep, self._clock, self._waitpid = time.sleep, time.monotonic, os.waitpid
        self._fork, self._exit, self._kill, self._chdir = os.fork, os._exit, os.kill, os.chdir
        self._environ = os.environ
        self._variables = {**os.environ, "HOME": self._folder, "TMPDIR": self._folder}
        self._path, self._recursion = list(sys.path), sys.getrecursionlimit()
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._main = ModuleType("__main__")
        self._namespace = vars(self._main)
        self._check: Callable[..., Verdict]

    def go(self) -> None:
        """Run all cells, and end this process."""
        os.chdir(self._folder)
        sys.modules["__main__"] = self._main
        for name in [name for name in sys.modules if name.partition(".")[0] == "_tools"]:
            del sys.modules[name]
        _quiet_desk()
        self._check = desk.check
        shutil._use_fd_functions = False  # type: ignore[attr-defined]  # by names, which are watched
        os.environ.update(self._variables)
        tempfile.tempdir = None
        self._limit()
        self._guard.install([Run._judge_apart, Run._put_back])
        self._known.renew(
            ("minigrad.classroom", "minigrad.classroom.desk", "os", "shutil", "signal")
        )
        for number, kind, source, exercise in self._cells:
            if kind == "check":
                self._judge_apart(number, source, exercise)
            else:
                self._run_cell(number, kind, source)
        self._send(("end",))
        self._exit(0)

    def _limit(self) -> None:
        """Set the system's own limits, as far as it has them and they are not lower already."""
        processor = 40 * self._seconds + 600
        for name, most in (
            ("AS", self._memory),
            ("FSIZE", 64_000_000),
            ("NOFILE", 128),
            ("NPROC", 4000),
            ("CORE", 0),
            ("CPU", processor),
        ):
            kind = getattr(resource, f"RLIMIT_{name}", None)
            if kind is None:
                continue
            hard = resource.getrlimit(kind)[1]
            most = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
            try:
                resource.setrlimit(kind, (most, most))
            except (OSError, ValueError):  # a system that has the name only
                continue

    def _run_cell(self, number: int, kind: str, source: str) -> None:
        self._send(("cell", number))
        trouble = self._trouble(partial(self._execute, number, kind, source))
        if kind == "published":
            self._known.add()
        self._send(("done", number, trouble, self._tried()))

    def _trouble(self, work: Callable[[], None]) -> str:
        """Do something of a student's; give what went wrong, in words."""
        try:
            work()
        except BaseException as error:
            self._restore_builtins()
            return _told(error, self._memory)
        self._restore_builtins()
        return ""

    def _execute(self, number: int, kind: str, source: str) -> None:
        name = f"{self._folder}/{'lesson' if kind == 'published' else 'cell'}_{number}.py"
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)
        exec(compile(source, name, "exec", dont_inherit=True), self._namespace)

    def _tried(self) -> tuple[str, ...]:
        tried = tuple(self._guard.tried)
        self._guard.tried.clear()
        return tried

    def _restore_builtins(self) -> None:
        """Put Python's own names back; by nothing but methods of a dict, as they may be others."""
        names = builtins.__dict__
        for name, value in self._builtins.items():
            if names.get(name) is not value:
                self._changed.append(f"builtins.{name}")
                names[name] = value

    def _judge_apart(self, number: int, source: str, exercise: str) -> None:
        """Judge an exercise in a copy of this process, and wait for its end."""
        self._restore_builtins()
        self._send(("judging", exercise))
        child = self._fork()
        if child == 0:
            try:
                self._send(("verdict", exercise, *self._judged(number, source, exercise)))
            except BaseException as error:
                said = _told(error, self._memory)
                self._send(("verdict", exercise, "hurt", (said,), self._tried()))
            self._exit(0)
        end, pause = self._clock() + self._patience * self._seconds, 0.001
        late = False
        while self._waitpid(child, os.WNOHANG)[0] == 0:
            self._sleep(pause)
            pause = min(2 * pause, 0.1)
            if self._clock() > end and not late:
                self._kill(child, 9)
                late = True
        self._send(("judged", exercise, f"It ran longer than {self._seconds:g} s." if late else ""))

    def _put_back(self) -> None:
        """Undo what a student may set, so that the check finds what it expects."""
        self._chdir(self._folder)
        os.environ = self._environ  # noqa: B003 - the object that was there
        os.environ.clear()
        os.environ.update(self._variables)
        sys.path[:] = self._path
        sys.stdin, sys.stdout, sys.stderr = self._streams
        sys.settrace(None)
        sys.setprofile(None)
        threading.settrace(None)
        threading.setprofile(None)
        sys.setrecursionlimit(self._recursion)

    def _judged(
        self, number: int, source: str, exercise: str
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Judge; give a status, what is said, and what was tried."""
        self._put_back()
        changed = {*self._changed, *self._known.changed()}
        if self._namespace.get("check", self._check) is not self._check:
            changed.add("check")
        if exercise in desk._registered:
            changed.add("minigrad.classroom.register")
        if changed:
            return "changed", tuple(sorted(changed)[:5]), ()
        name = f"{self._folder}/lesson_{number}.py"
        try:
            given = eval(compile(_answer(source), name, "eval"), self._namespace)
        except NameError as error:
            return "hurt", (f"{error}: the cell that makes it did not come to its end.",), ()
        known = self._loaded(exercise)
        checks = Snapshot((_PACKAGE,))
        hidden = {name: sys.modules[name] for name in sys.modules if name.startswith(_PACKAGE)}
        self._believe(known)
        for name in hidden:
            del sys.modules[name]
        verdict, unusual = desk._judged(known, given)
        status, lines = verdict.status, (*verdict.lines, *(f"Besides: {u}" for u in unusual))
        self._restore_builtins()
        sys.modules.update(hidden)
        changed = {*self._changed, *self._known.changed(), *checks.changed()}
        if changed:
            return "changed", tuple(sorted(changed)[:5]), self._tried()
        tried = self._tried()
        self._believe(known)
        if status == "right" and _comes_from(given, self._mine):
            return "taken", ("It is taken out of the checks, and so it is no answer.",), tried
        said = (f"    {each}" if isinstance(each, Verbatim) else str(each) for each in lines)
        return str(status), tuple(said), tried

    def _loaded(self, exercise: str) -> Exercise:
        """Load the checks afresh: a lesson that uses parts of them has shown these around."""
        for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
            del sys.modules[name]
        for place in list(sys.path_importer_cache):
            if f"{place}/".startswith(self._mine[0]):
                del sys.path_importer_cache[place]  # it may have been asked while it was closed
        self._guard.loading = True
        try:
            return desk.find(exercise)
        finally:
            self._guard.loading = False

    def _believe(self, exercise: Exercise) -> None:
        for wrong in WRONG:
            verdict: Verdict = desk._judged(exercise, wrong)[0]
            if verdict.status == "right":
                raise RuntimeError("the check takes an answer that is wrong: something changed it")


def _sender(pipe: int, nonce: bytes) -> Callable[[tuple[Any, ...]], None]:
    """Make what writes to the parent; it alone knows the nonce."""
    write, shape = os.write, repr

    def send(message: tuple[Any, ...]) -> None:
        data = shape(message).encode("utf-8", "backslashreplace")[:200_000]
        data = nonce + len(data).to_bytes(4, "big") + data
        while data:
            data = data[write(pipe, data) :]

    return send


def _told(error: BaseException, memory: float) -> str:
    """Say in a line what went wrong."""
    try:
        kind, said = type(error).__name__, str(error)
    except BaseException:
        return "It raised an error that cannot be shown."
    if isinstance(error, Refused):
        return said
    if isinstance(error, MemoryError):
        return f"It wanted more memory than the {memory / 1e9:g} GB that it may take."
    if isinstance(error, SystemExit):
        return "It ended the program: SystemExit."
    if isinstance(error, SyntaxError):
        return f"Python cannot read it: {said}"[:500]
    return f"{kind}: {said}"[:500] if said else kind


def _answer(check: str) -> str:
    """Give what a cell hands to `check`, as source."""
    for node in ast.walk(ast.parse(check)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check" and len(node.args) == 2:
            return ast.unparse(node.args[1])
    raise ValueError(f"no call of check in {check!r}")


def _quiet_desk() -> None:
    """Let students' cells ask for hints and checks in vain, as nobody reads what these print."""
    from minigrad import classroom

    def check(exercise: str, answer: Any = ...) -> Verdict:
        return Verdict(str(exercise), "unsolved", "", ())

    def hint(exercise: str, step: int = 1) -> None:
        return None

    for holder in (classroom, desk):
        vars(holder).update(check=check, hint=hint)


def _comes_from(answer: Any, files: Sequence[str]) -> bool:
    """Tell whether the code of an answer stands in one of these folders."""
    pending: list[Any] = [answer]
    done: set[int] = set()
    while pending and len(done) < 200:
        each = pending.pop()
        if id(each) in done:
            continue
        done.add(id(each))
        if isinstance(each, FunctionType):
            if each.__code__.co_filename.startswith(tuple(files)):
                return True
            pending.append(getattr(each, "__wrapped__", None))
        elif isinstance(each, partial):
            pending += [each.func, *each.args]
        elif isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, type):
            own = [member for member in vars(each).values() if isinstance(member, FunctionType)]
            pending += own or each.__bases__  # a class that adds nothing is the one it stands on
        elif hasattr(each, "__func__"):
            pending.append(each.__func__)
    return False
