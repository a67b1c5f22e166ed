"""Run a submission in this process, which holds nothing else, and judge each answer in a copy.

Started as a program of its own, with a job on its standard input and a pipe for its answers. Where
an exercise is checked the process forks: the copy loads the checks, judges and ends, and the cells
that follow never meet them. No class or function of this can be reached by name or through another
object while a student's code runs, and nothing trusts what that code may have replaced.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import linecache
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

# of our own: a student may put others there
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
WRONG: tuple[Any, ...] = (object(), "no answer at all", -12345.678, lambda *a, **o: None)
"""Answers that no exercise takes; a check that says yes to one of them is not to be trusted."""

_PACKAGE = "_minigrad_lesson_checks"
_IMPORTED = ("minigrad.classroom.data", "minigrad.viz")
_MOST = 2000  # characters of a line of what is said
_END = -1  # the number of the cell behind the last one
Told = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A status, what is said, and what was tried."""


def main() -> None:
    """Run the cells of the submission, tell the parent what comes of it, and end the process."""
    job = ast.literal_eval(sys.stdin.buffer.read().decode())
    # a check rings its alarm by it; a shell's background jobs start with it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:] = job["path"]
    state = _prepared(job, int(sys.argv[1]))
    for number, kind, source, exercise in job["cells"]:
        state.send((number, "begins", (), ()))
        if kind == "check":
            _judge_apart(state, number, source, exercise)
            continue
        state.send((number, *_executed(state, number, kind, source)))
        if kind == "published":
            state.add()
    state.send((_END, "begins", (), ()))
    state.os._exit(0)


def _prepared(job: dict[str, Any], pipe: int) -> SimpleNamespace:
    """Import what is needed, keep what is there before any cell runs, and begin to guard it."""
    from _tools.grading import guard, snapshot
    from minigrad.classroom import desk, tables

    # What cells may import is noted as it is before a student could change it.
    code = "\n".join(source for _, _, source, _ in job["cells"])
    lazy = [name for name in snapshot.WATCHED if name in code]
    if "Plot" in code or "use_style" in code:
        lazy.append("matplotlib.pyplot")
    for name in (*_IMPORTED, *lazy):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    snapshot.complete()
    folder = job["folder"]
    os.chdir(folder)
    # Students' cells ask for hints and checks in vain: nobody reads what they print.
    quiet = FunctionType(
        (lambda *args, **more: None).__code__, {"__builtins__": builtins}
    )  # leads nowhere
    for holder in (sys.modules["minigrad.classroom"], desk):
        vars(holder).update(check=quiet, hint=quiet)
    for name, each in list(vars(tables).items()):  # what is kept, an answer could read
        if hasattr(each, "cache_clear"):
            setattr(tables, name, each.__wrapped__)
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # by names, which are watched
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = None
    _limit(job["seconds"], job["memory"])
    guard.take_away()
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    add, changed = snapshot.watch(snapshot.WATCHED)
    state = SimpleNamespace(
        **{key: job[key] for key in ("folder", "seconds", "memory")},
        send=_sender(pipe, job["nonce"]),
        main=main,
        namespace=vars(main),
        add=add,
        changed=changed,
        watch=snapshot.watch,
        refused=guard.Refused,
        desk=desk,
        quiet=quiet,
        judged=desk._judged,
        files=(*(path for path, _ in job["hidden"][:2]), "<answer>"),
        environ=os.environ,
        variables=dict(os.environ),
        path=list(sys.path),
        os=SimpleNamespace(**vars(os)),
        time=SimpleNamespace(**vars(time)),
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "_tools"]:
        del sys.modules[name]
    own = _judge_apart.__code__
    state.tried, state.loading = guard.install(folder, job["hidden"], own)
    return state


def _limit(seconds: float, memory: float) -> None:
    """Set the system's own limits, as far as it has them and they are not lower already."""
    limits = {"AS": memory, "FSIZE": 64_000_000, "NOFILE": 128, "NPROC": 4000, "CORE": 0}
    for name, most in (limits | {"CPU": 40 * seconds + 600}).items():
        # a system may not have it, or have a lower one already
        with contextlib.suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (int(most), int(most)))


def _executed(state: SimpleNamespace, number: int, kind: str, source: str) -> Told:
    """Run a cell."""
    name = f"{state.folder}/{'lesson' if kind == 'published' else 'cell'}_{number}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(compile(source, name, "exec", dont_inherit=True), state.namespace)
    except BaseException as error:
        return "failed", (_told(state, error),), _tried(state)
    return "ran", (), _tried(state)


def _tried(state: SimpleNamespace) -> tuple[str, ...]:
    tried = tuple(state.tried)
    state.tried.clear()
    return tried


def _judge_apart(state: SimpleNamespace, number: int, source: str, exercise: str) -> None:
    """Judge an exercise in a copy of this process, and wait for its end."""
    child = state.os.fork()
    if child == 0:
        try:
            told = _judged(state, number, source, exercise)
        except BaseException as error:
            told = "hurt", (_told(state, error),), _tried(state)
        state.send((number, *told))
        state.os._exit(0)
    end, pause, why = state.time.monotonic() + state.seconds, 0.001, "It ended the process."
    while state.os.waitpid(child, state.os.WNOHANG)[0] == 0:
        state.time.sleep(pause)
        pause = min(2 * pause, 0.1)
        if state.time.monotonic() > end:
            state.os.kill(child, 9)
            why = f"It ran longer than {state.seconds:g} s."
    state.send((number, "ended", (why,), ()))


def _judged(state: SimpleNamespace, number: int, source: str, exercise: str) -> Told:
    """Judge an answer."""
    state.os.chdir(state.folder)
    os.environ = state.environ  # noqa: B003 - the object that was there
    os.environ.clear()
    os.environ.update(state.variables)
    sys.path[:] = state.path
    changed = [*state.changed()]
    if state.namespace.get("check", state.quiet) is not state.quiet:
        changed.append("check")
    if exercise in state.desk._registered:
        changed.append("minigrad.classroom.register")
    if changed:
        return _changed(state, changed)
    name = f"{state.folder}/lesson_{number}.py"
    try:
        given = eval(compile(_answer(source), name, "eval"), state.namespace)
    except NameError as error:
        return "hurt", (f"{error}: the cell that makes it did not come to its end.",), ()
    known = _loaded(state, exercise)
    checks_changed = state.watch((_PACKAGE,))[1]
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if _PACKAGE in name}
    verdict, unusual = state.judged(known, given)
    sys.modules.update(hidden)
    changed = [*state.changed(), *checks_changed()]
    if changed:
        return _changed(state, changed)
    for wrong in WRONG:
        if state.judged(known, wrong)[0].status == "right":
            raise RuntimeError("the check takes an answer that is wrong: something changed it")
    tried = _tried(state)
    if verdict.status == "right" and _comes_from(given, state.files):
        return "refused", ("It is taken out of the checks, and so it is no answer.",), tried
    if verdict.status == "right" and tried:
        return "hurt", (f"It tried to {tried[0]}.",), tried
    said = [f"    {line}" if type(line) is not str else line for line in verdict.lines]
    said += [f"Besides: {each}" for each in unusual]
    return str(verdict.status), tuple(str(line)[:_MOST] for line in said[:50]), tried


def _changed(state: SimpleNamespace, changed: Sequence[str]) -> Told:
    names = ", ".join(sorted(changed)[:5])
    said = f"The notebook changed what answers are checked by: {names}."
    return "refused", (said,), _tried(state)


def _loaded(state: SimpleNamespace, exercise: str) -> Any:
    """Load the checks afresh, and have them read what they need, while nothing else runs.

    A lesson that uses parts of them has shown these around.
    """
    for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
        del sys.modules[name]
    for place in list(sys.path_importer_cache):
        if f"{place}/".startswith(state.files[0]):
            del sys.path_importer_cache[place]  # it may have been asked while it was closed
    state.loading.append(True)
    try:
        known = state.desk.find(exercise)
        for part in ("names", "rows", "solved"):
            with contextlib.suppress(Exception):  # a kind of exercise that needs no such thing
                getattr(known, part)
        return known
    finally:
        state.loading.clear()


def _sender(pipe: int, nonce: str) -> Callable[[tuple[Any, ...]], None]:
    """Make what writes lines to the parent; it alone knows the nonce."""
    write = os.write

    def send(message: tuple[Any, ...]) -> None:
        data = f"{nonce} {message!a}\n".encode()
        while data:
            data = data[write(pipe, data) :]

    return send


def _told(state: SimpleNamespace, error: BaseException) -> str:
    """Say in a line what went wrong."""
    try:
        kind, said = type(error).__name__, str(error)
    except BaseException:
        return "It raised an error that cannot be shown."
    if isinstance(error, state.refused):
        return said[:500]
    if isinstance(error, MemoryError):
        return f"It wanted more memory than the {state.memory / 1e9:g} GB that it may take."
    return f"{kind}: {said}"[:500] if said else kind


def _answer(check: str) -> str:
    """Give what a cell hands to `check`, as source."""
    for node in ast.walk(ast.parse(check)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check" and len(node.args) == 2:
            return ast.unparse(node.args[1])
    raise ValueError(f"no call of check in {check!r}")


def _comes_from(answer: Any, files: tuple[str, ...]) -> bool:
    """Tell whether the code of an answer stands in one of these folders."""
    pending, done = [answer], set[int]()
    for each in pending:  # which grows meanwhile
        if id(each) in done or len(done) > 200:
            continue
        done.add(id(each))
        each = getattr(each, "__func__", each)
        if isinstance(each, FunctionType):
            if each.__code__.co_filename.startswith(files):
                return True
            pending.append(getattr(each, "__wrapped__", None))
        elif isinstance(each, partial):
            pending += [each.func, *each.args]
        elif isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, type):
            own = [member for member in vars(each).values() if isinstance(member, FunctionType)]
            pending += own or each.__bases__  # a class that adds nothing is the one it stands on
    return False


if __name__ == "__main__":
    main()
