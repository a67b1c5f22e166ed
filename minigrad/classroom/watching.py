"""Watch a learner's code as it runs: count its lines, and catch calls that skip the exercise."""

from __future__ import annotations

import inspect
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from minigrad.classroom.alarm import Alarm

_HERE = str(Path(__file__).resolve().parent)
_PACKAGE = str(Path(__file__).resolve().parents[1])
# Lines of libraries are not counted: one call of SymPy may take a million of them.
_LIBRARIES = (
    _PACKAGE,
    "<minigrad",  # functions that the tape wrote
    "<frozen",
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)

# Python 3.11 does not report the lines of `while True: pass` on one line; its steps it does.
_COUNT_STEPS = sys.version_info < (3, 12)
_STEPS_A_LINE = 20

MOST_THREADS = 100
"""How many threads a learner's code may start: a backward pass in a hook begins new ones."""

ENGINE = ("backward", "grad", "autograd")
"""Names that mean the engine itself: forbidding one of them forbids every way to start it."""


class Endless(BaseException):
    """A function ran through too many lines; no `except Exception` of the learner stops it."""


class Forbidden(BaseException):
    """A function called what would skip the exercise; no `except Exception` stops it."""


def is_library(file: str) -> bool:
    """Tell whether a file belongs to a library, and not to the learner.

    Args:
        file: as a code object names it.
    """
    return file.startswith(_LIBRARIES)


def is_ours(file: str) -> bool:
    """Tell whether a file belongs to minigrad, checks included.

    Args:
        file: as a code object names it.
    """
    return file.startswith((_PACKAGE, "<minigrad"))


def is_check(file: str) -> bool:
    """Tell whether a file belongs to the checks.

    Args:
        file: as a code object names it.
    """
    return file.startswith(_HERE)


def _code(function: Any) -> CodeType | None:
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None


@cache
def _holders() -> tuple[Any, ...]:
    import minigrad
    from minigrad import autograd, func, nn

    ours = (minigrad, minigrad.Tensor, autograd, autograd.functional, func, nn.Module)
    return (*ours, nn.functional, np, np.linalg)


@cache
def _engine() -> frozenset[CodeType]:
    """The code that every backward pass runs through, and the forward modes beside it."""
    from minigrad import func
    from minigrad.autograd import engine, functional

    doors = [engine.run_backward, func.jvp, func.jacfwd, functional.jvp]
    return frozenset(code for code in map(_code, doors) if code is not None)


@cache
def codes(names: tuple[str, ...]) -> tuple[frozenset[Any], frozenset[Any]]:
    """Find what may not run where these names are forbidden.

    Args:
        names: of functions or methods, such as "backward" or "register_full_backward_hook".

    Returns:
        Code that may not run at all, and code that the learner may not call, though libraries may.
    """
    anywhere: set[Any] = set(_engine()) if set(names) & set(ENGINE) else set()
    holders = list(_holders())
    sympy: Any = sys.modules.get("sympy")
    if sympy is not None:
        holders += [sympy, sympy.Expr, sympy.Basic]
        if "diff" in names:
            doors = (sympy.diff, sympy.Expr.diff, sympy.Poly.diff, sympy.Derivative.__new__)
            anywhere |= set(map(_code, doors))
    found = {_code(getattr(holder, name, None)) for holder in holders for name in names}
    return frozenset(anywhere - {None}), frozenset(found - {None})


def named(function: Callable[..., Any], names: Sequence[str]) -> str | None:
    """Find a name in a function's own code that is forbidden and means compiled code.

    Calls of compiled code cannot be seen while they happen.

    Args:
        function: the learner's.
        names: what may not be called.
    """
    pending, used = [_code(function)], set[str]()
    while pending:
        code = pending.pop()
        if code is not None:
            used.update(code.co_names)
            pending.extend(each for each in code.co_consts if inspect.iscode(each))
    unseen = [name for name in names if name not in ENGINE and not any(codes((name,)))]
    return next((name for name in unseen if name in used), None)


class Watch:
    """The trace function of one run; `with watch.on():` lets it see every call and line.

    Args:
        most_lines: how many lines of its own the learner's code may run through.
        deadline: when it has to be over, by `time.monotonic`.
        alarm: rings where the code does not listen.
        forbidden: names of what may not be called.
        only_inside: a list that is empty where nothing is forbidden just now, or None for always.

    Attributes:
        called: what was called although it is forbidden, in words.
    """

    def __init__(
        self,
        most_lines: int,
        deadline: float,
        alarm: Alarm,
        forbidden: Sequence[str] = (),
        only_inside: list[Any] | None = None,
    ) -> None:
        self.called: str | None = None
        self._left = {"line": most_lines, "opcode": most_lines * _STEPS_A_LINE}
        self._deadline, self._alarm, self._stop = deadline, alarm, False
        self._forbidden = bool(forbidden)
        self._of_the_notebook = {name for name in forbidden if not any(codes((name,)))}
        self._nowhere, self._not_by_hand = codes(tuple(forbidden))
        self._inside = only_inside
        self._threads = threading.active_count() + MOST_THREADS

    @contextmanager
    def on(self) -> Any:
        """Watch this thread, and those that start meanwhile."""
        before, others = sys.gettrace(), threading.gettrace()
        threading.settrace(self)
        sys.settrace(self)
        try:
            yield self
        finally:
            sys.settrace(before)
            threading.settrace(others)  # type: ignore[arg-type]
            self._stop = True  # threads that still run end at their next call

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """Look at a call, a line or a step."""
        if event == "call":
            code = frame.f_code
            library = code.co_filename.startswith(_LIBRARIES)
            if self._forbidden and (self._inside is None or self._inside):
                self._look_at(frame, code, library)
            if self._stop or time.monotonic() > self._deadline:
                self._end("time")
            if library:
                if code.co_name == "_in_another_thread":
                    self._count_threads()
                return None
            frame.f_trace_opcodes = _COUNT_STEPS
        elif event in self._left:
            self._left[event] -= 1
            if self._left[event] < 0:
                self._end("line")
            if event == "line" and time.monotonic() > self._deadline:
                self._end("time")
        return self

    def _count_threads(self) -> None:
        if threading.active_count() > self._threads:
            self._end("thread")

    def _end(self, because: str) -> None:
        # What a trace function raises ends the tracing; where a bare `except:` swallows it, the
        # alarm is left.
        self._stop = True
        if not self._alarm.because:
            self._alarm.hurry(because)
        raise Endless

    def _look_at(self, frame: FrameType, code: CodeType, library: bool) -> None:
        caller = frame.f_back
        by_hand = caller is not None and not is_library(caller.f_code.co_filename)
        if code in self._nowhere:
            self.called = f"It has the derivative found for it, by {_as_called(frame)}"
        elif by_hand and (
            code in self._not_by_hand or (not library and code.co_name in self._of_the_notebook)
        ):
            self.called = f"It called {code.co_name.lstrip('_')}"
        else:
            return
        raise Forbidden


def _as_called(frame: FrameType) -> str:
    """Name what the innermost line outside of libraries calls: the way into them."""
    each: FrameType | None = frame
    name = frame.f_code.co_name
    while each is not None and is_library(each.f_code.co_filename):
        name = each.f_code.co_name
        each = each.f_back
    return name.lstrip("_")
