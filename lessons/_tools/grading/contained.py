"""Run a submission in this process, which holds nothing else, and judge each answer in a copy.

Started as a program of its own, with a job on its standard input and answers on its standard
output. Where an exercise is checked the process forks: the copy loads the checks, judges and ends,
and the cells that follow never meet them. No class or function of this can be reached by name or
through another object while a student's code runs, and nothing trusts what that code may have
replaced.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import linecache
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

# of our own: a student may put others there
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
WRONG: tuple[Any, ...] = (object(), "no answer at all", -12345.678, lambda *a, **o: None)
"""Answers that no exercise takes; a check that says yes to one of them is not to be trusted."""

_PACKAGE = "_minigrad_lesson_checks"
_END = -1  # the number of the cell after the last one
Told = tuple[str, tuple[str, ...]]
"""A status, and what is said."""


def main() -> None:
    """Run the cells of the submission, report to the parent, and end the process."""
    job = ast.literal_eval(sys.stdin.buffer.read().decode())
    # a check rings its alarm by it; a shell's background jobs start with it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:] = job["path"]
    state = _prepared(job)
    for number, kind, source, exercise in state.cells:
        state.number = number
        state.tried.clear()
        state.send((number, "begins", ()))
        if kind == "check":
            _judge_apart(state, source, exercise)
            continue
        state.send((number, *_executed(state, kind, source)))
        if kind == "published":
            state.add()
    state.send((_END, "begins", ()))
    state.os._exit(0)


def _prepared(job: dict[str, Any]) -> SimpleNamespace:
    """Import what is needed, keep what is there before any cell runs, and begin to guard it."""
    from _tools.grading import guard, snapshot
    from minigrad.classroom import desk, tables

    channel, nonce = os.fdopen(os.dup(1), "w"), job["nonce"]  # which only `state.send` knows
    os.dup2(2, 1)  # what a student prints goes nowhere
    # What cells may import is noted as it is before a student could change it.
    code = "\n".join(source for _, _, source, _ in job["cells"])
    lazy = [name for name in snapshot.WATCHED if name in code]
    for name in ("minigrad.classroom.data", "minigrad.viz", *lazy):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    snapshot.complete()
    folder = job["folder"]
    os.chdir(folder)
    # Students' cells ask for hints and checks in vain: nobody reads what they print.
    leads_nowhere = {"__builtins__": builtins}
    quiet = FunctionType((lambda *args, **more: None).__code__, leads_nowhere)
    for holder in (sys.modules["minigrad.classroom"], desk):
        vars(holder).update(check=quiet, hint=quiet)
    for name, each in list(vars(tables).items()):  # what is kept, an answer could read
        if hasattr(each, "cache_clear"):
            setattr(tables, name, each.__wrapped__)
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # by names, which are watched
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = folder
    limits = {"AS": job["memory"], "FSIZE": 64_000_000, "NOFILE": 128, "NPROC": 4000, "CORE": 0}
    for name, most in (limits | {"CPU": 40 * job["seconds"] + 600}).items():
        # a system may not have it, or have a lower one already
        with contextlib.suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (int(most), int(most)))
    alarm = signal.setitimer
    guard.take_away()
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main)["__builtins__"] = builtins
    add, changed = snapshot.watch(snapshot.WATCHED)
    state = SimpleNamespace(
        **job,
        send=lambda message: print(nonce, ascii(message), file=channel, flush=True),
        namespace=vars(main),
        add=add,
        changed=changed,
        watch=snapshot.watch,
        refused=guard.Refused,
        desk=desk,
        quiet=quiet,
        files=(*(path for path, _ in job["hidden"][:2]), "<answer>"),
        os=SimpleNamespace(**vars(os)),
        alarm=alarm,
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "_tools"]:
        del sys.modules[name]
    state.tried, state.loading = guard.install(
        folder,
        job["hidden"],
        _judge_apart.__code__,
        lambda what: state.send((state.number, "tried", (what,))),
    )
    return state


def _executed(state: SimpleNamespace, kind: str, source: str) -> Told:
    """Run a cell."""
    name = f"{state.folder}/{'lesson' if kind == 'published' else 'cell'}_{state.number}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(compile(source, name, "exec", dont_inherit=True), state.namespace)
    except BaseException as error:
        return "failed", (_told(state, error),)
    return "ran", ()


def _judge_apart(state: SimpleNamespace, source: str, exercise: str) -> None:
    """Judge an exercise in a copy of this process, and wait for its end."""
    child = state.os.fork()
    if child == 0:
        # The system ends it then; where a student has got around that, the grading does soon.
        state.alarm(signal.ITIMER_REAL, state.seconds)
        try:
            told = _judged(state, source, exercise)
        except BaseException as error:
            told = "hurt", (_told(state, error),)
        state.send((state.number, *told))
        state.os._exit(0)
    late = state.os.waitpid(child, 0)[1] == signal.SIGALRM
    why = f"It ran longer than {state.seconds:g} s." if late else "It ended the process."
    state.send((state.number, "ended", (why,)))


def _judged(state: SimpleNamespace, source: str, exercise: str) -> Told:
    """Judge an answer."""
    state.os.chdir(state.folder)
    sys.path[:] = state.path
    if changed := _changed(state, exercise):
        return changed
    name = re.findall(r"\bcheck\([^,]+, (\w+)\)", source)[0]
    if name not in state.namespace:
        return "hurt", (f"{name} doesn't exist: the cell that makes it didn't finish.",)
    given, known = state.namespace[name], _loaded(state, exercise)
    checks_changed = state.watch((_PACKAGE,))[1]
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if _PACKAGE in name}
    verdict, unusual = state.desk._judged(known, given)
    sys.modules.update(hidden)
    if changed := _changed(state, exercise, checks_changed()):
        return changed
    for wrong in WRONG:
        if state.desk._judged(known, wrong)[0].status == "right":
            raise RuntimeError("the check accepts a wrong answer: something changed it")
    if verdict.status == "right" and _comes_from(given, state.files):
        return "refused", ("It is taken out of the checks, so it isn't an answer.",)
    if verdict.status == "right" and state.tried:
        return "hurt", (f"It tried to {state.tried[0]}.",)
    said = [f"    {line}" if type(line) is not str else line for line in verdict.lines]
    said += [f"Besides: {each}" for each in unusual]
    return str(verdict.status), tuple(str(line)[:2000] for line in said[:50])


def _changed(state: SimpleNamespace, exercise: str, more: Sequence[str] = ()) -> Told | None:
    """Tell what was changed of what checks stand on; None where nothing was."""
    changed = [*state.changed(), *more]
    if state.namespace.get("check", state.quiet) is not state.quiet:
        changed.append("check")
    if exercise in state.desk._registered:
        changed.append("minigrad.classroom.register")
    names = ", ".join(sorted(changed)[:5])
    said = f"The notebook changed what answers are checked by: {names}."
    return ("refused", (said,)) if changed else None


def _loaded(state: SimpleNamespace, exercise: str) -> Any:
    """Load fresh checks, and have them read what they need, while nothing else runs.

    A lesson that uses parts of them has shown these around.
    """
    for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
        del sys.modules[name]
    importlib.invalidate_caches()  # which may have asked for them while they were closed
    state.loading.append(True)
    known = state.desk.find(exercise)
    for part in ("names", "rows", "solved"):
        with contextlib.suppress(Exception):  # a kind of exercise that needs no such thing
            getattr(known, part)
    state.loading.clear()
    return known


def _told(state: SimpleNamespace, error: BaseException) -> str:
    """Say in a line what went wrong."""
    try:
        kind, said = type(error).__name__, str(error)
    except BaseException:
        return "It raised an error that can't be shown."
    if isinstance(error, state.refused):
        return said[:500]
    if isinstance(error, MemoryError):
        return f"It needed more memory than the {state.memory / 1e9:g} GB that it may take."
    return f"{kind}: {said}"[:500] if said else kind


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
