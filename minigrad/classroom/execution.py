"""Run a learner's code safely: watched, its errors explained, endless loops stopped."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import io
import linecache
import math
import os
import sys
import sysconfig
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import numpy as np

import minigrad as torch
from minigrad import autograd, func, nn
from minigrad.autograd import functional
from minigrad.autograd.gradients import in_another_thread
from minigrad.classroom.data import CHECKS
from minigrad.classroom.display import shell
from minigrad.classroom.exercises import Objection
from minigrad.classroom.side_effects import put_back
from minigrad.classroom.time_limits import Alarm, Budget
from minigrad.classroom.values import describe, rounded, without_addresses
from minigrad.core import engine
from minigrad.signatures.faults import explains

# Checks are the machinery's, and the lessons': their errors are not the learner's.
_CHECKS = tuple(f"{each}{os.sep}" for each in (Path(__file__).resolve().parent, CHECKS) if each)
_PACKAGE = str(Path(__file__).resolve().parents[1])
# Lines of libraries are not counted: one call of SymPy may take a million of them.
_LIBRARIES = (
    _PACKAGE,
    *_CHECKS,
    "<minigrad",  # functions that the tape wrote
    "<frozen",
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)

# Python 3.11 does not report the lines of `while True: pass` on one line; its steps it does.
_COUNT_STEPS = sys.version_info < (3, 12)
_STEPS_A_LINE = 20

# What a backward pass within a backward pass goes on by, every so many levels.
_DEEPER = in_another_thread.__code__

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


def _code(function: Any) -> CodeType | None:
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None


@cache
def codes(names: tuple[str, ...]) -> tuple[frozenset[Any], frozenset[Any]]:
    """Find what may not run where these names are forbidden.

    Args:
        names: of functions or methods, such as "backward" or "register_full_backward_hook".

    Returns:
        Code that may not run at all, and code that the learner may not call, though libraries may.
    """
    nowhere: list[Any] = []
    if set(names) & set(ENGINE):  # what every backward pass runs through, and the forward modes
        nowhere += [engine.run_backward, func.jacfwd, functional.jvp]
    holders = [torch, torch.Tensor, autograd, functional, func, nn.Module, nn.functional]
    holders += [np, np.linalg]
    sympy: Any = sys.modules.get("sympy")
    if sympy is not None:
        holders += [sympy, sympy.Expr, sympy.Basic]
        if "diff" in names:
            nowhere += [sympy.diff, sympy.Expr.diff, sympy.Poly.diff, sympy.Derivative.__new__]
    found = [getattr(holder, name, None) for holder in holders for name in names]
    return frozenset(map(_code, nowhere)) - {None}, frozenset(map(_code, found)) - {None}


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
        budget: how long it may take.
        alarm: rings where the code does not listen.
        forbidden: names of what may not be called.
        only_inside: a list that is empty where nothing is forbidden just now, or None for always.

    Attributes:
        called: what was called although it is forbidden, in words.
        because: of what there was too much: "time", "line" or "thread".
    """

    def __init__(
        self,
        most_lines: int,
        budget: Budget,
        alarm: Alarm,
        forbidden: Sequence[str] = (),
        only_inside: list[Any] | None = None,
    ) -> None:
        self.called: str | None = None
        self.because = "time"
        self._left = {"line": most_lines, "opcode": most_lines * _STEPS_A_LINE}
        self._budget, self._alarm, self._stop = budget, alarm, False
        self._forbidden = bool(forbidden)
        self._of_the_notebook = {name for name in forbidden if not any(codes((name,)))}
        self._nowhere, self._not_by_hand = codes(tuple(forbidden))
        self._inside = only_inside
        self._threads = threading.active_count() + MOST_THREADS

    @property
    def is_over(self) -> bool:
        """Whether it has ended what it watches, so that Python takes it off."""
        return self._stop or self.called is not None or self._alarm.rang

    @contextlib.contextmanager
    def on(self) -> Iterator[Self]:
        """Watch this thread, and those that start meanwhile."""
        before, others = sys.gettrace(), threading.gettrace()
        threading.settrace(self)
        sys.settrace(self)
        try:
            yield self
        finally:
            sys.settrace(before)
            threading.settrace(others)
            self._stop = True  # threads that still run end at their next call

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """Look at a call, a line or a step."""
        if event == "call":
            code = frame.f_code
            library = code.co_filename.startswith(_LIBRARIES)
            if self._forbidden and (self._inside is None or self._inside):
                self._look_at(frame, code, library)
            if self._stop or self._budget.is_spent():
                self._end("time")
            if library:
                if code is _DEEPER and threading.active_count() > self._threads:
                    self._end("thread")
                return None
            frame.f_trace_opcodes = _COUNT_STEPS
        elif event in self._left:
            self._left[event] -= 1
            if self._left[event] < 0:
                self._end("line")
            if event == "line" and self._budget.is_spent():
                self._end("time")
        return self

    def _end(self, because: str) -> None:
        # What a trace function raises ends the tracing; where a bare `except:` swallows it, the
        # alarm is left.
        if not self._stop:
            self.because = because
            self._alarm.hurry()
        self._stop = True
        raise Endless

    def _look_at(self, frame: FrameType, code: CodeType, library: bool) -> None:
        caller = frame.f_back
        if caller is not None and caller.f_code is _EXPLAINING:
            caller = caller.f_back
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


_EXPLAINING = explains(is_library).__code__  # around functions that is no variant of an operation


def _as_called(frame: FrameType) -> str:
    """Name what the innermost line outside of libraries calls: the way into them."""
    each: FrameType | None = frame
    name = frame.f_code.co_name
    while each is not None and is_library(each.f_code.co_filename):
        name = each.f_code.co_name
        each = each.f_back
    return name.lstrip("_")


MOST_LINES = 300_000
"""How many of its lines a learner's code may run through before it counts as endless."""

MOST_SECONDS = 8.0
"""How long a check may take, with all its runs: for loops whose few lines are slow."""

_budgets: list[Budget] = []

_ADVICE: dict[type[BaseException], str] = {
    NameError: "Is the name spelled as it was defined, and was that cell run?",
    UnboundLocalError: "The name gets its value in this function only after it is used.",
    AttributeError: "Is the object what you take it for? Print its type.",
    TypeError: "Look at the types that meet in this line, and at the number of arguments.",
    IndexError: "How many entries are there? Counting starts at 0.",
    KeyError: "Print the keys that exist.",
    ZeroDivisionError: "Which input makes the denominator zero?",
    ValueError: "Print the values that go in just before this line.",
    RecursionError: "The function calls itself without coming to an end.",
    EOFError: "Take what you need as an argument.",
}


@dataclass(frozen=True)
class Outcome:
    """What came of a run: a value, or the trouble in words.

    Args:
        value: what the function returned.
        trouble: what went wrong, in words; None where it returned.
        raised: the kind and the text of the error behind it, for looking into.
        unsolved: whether the function said that it is not written yet.
        endless: whether it was stopped.
        checks: whether the error came up in the check itself, which made nothing of the answer.
        left: what it left changed for the whole process, in words; it is put back.
    """

    value: Any = None
    trouble: str | None = None
    raised: str = ""
    unsolved: bool = False
    endless: bool = False
    checks: bool = False
    left: tuple[str, ...] = ()


class HeldBack(io.TextIOBase):
    """Takes what is printed and keeps none of it, however much it is; counts the lines.

    Attributes:
        lines: how many were begun, on all such streams together.
    """

    lines = 0

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Count, and forget."""
        HeldBack.lines += text.count("\n")
        return len(text)


@contextlib.contextmanager
def within(seconds: float = MOST_SECONDS) -> Iterator[Budget]:
    """Give all runs of a block so many seconds together, in a budget that one can look at.

    Args:
        seconds: for the block.
    """
    _budgets.append(Budget(seconds, *_budgets[-1:]))
    try:
        yield _budgets[-1]
    finally:
        _budgets.pop()


def run(
    function: Callable[..., Any],
    *args: Any,
    most_lines: int = MOST_LINES,
    most_seconds: float = MOST_SECONDS,
    without: Sequence[str] = (),
    only_inside: list[Any] | None = None,
) -> Outcome:
    """Call a function and catch whatever it does wrong.

    Lines are counted, so that the outcome does not depend on how fast the machine is; the time
    limit is far off, for loops whose lines are slow. Settings that the function changes for the
    whole process are put back. One call that never comes back from compiled code, such as
    `sum(itertools.count())`, cannot be stopped in this way, nor by Ctrl-C.

    Args:
        function: what to call.
        *args: its arguments.
        most_lines: how many lines it may run through.
        most_seconds: how long it may take; less is left where `within` holds.
        without: names of functions that may not be called meanwhile, in whatever way.
        only_inside: a list; only while there is something in it are they forbidden.

    Example:
        >>> run(lambda x: 2 * x, 3).value
        6
        >>> def forever():
        ...     while True:
        ...         pass
        >>> run(forever, most_lines=1000).trouble
        'It did not come to an end within 1,000 lines of Python. Does a loop miss its way out?'
    """
    budget = Budget(most_seconds, *_budgets[-1:])
    alarm = Alarm(budget)
    watch = Watch(most_lines, budget, alarm, without, only_inside)
    aside = HeldBack()
    with (
        contextlib.redirect_stdout(aside),
        contextlib.redirect_stderr(aside),
        _alone(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        with put_back() as left:
            outcome = _caught(function, args, watch, alarm)
    if watch.called is not None:
        outcome = Outcome(
            trouble=f"{watch.called}. Here it has to work without that: it skips the exercise.",
            raised=f"Forbidden: {watch.called}",
        )
    elif outcome.endless:
        waited = watch.because == "time" and budget.left(patience=math.inf) > 0
        told = _NOT_ENDED["waiting" if waited else watch.because]
        told = told.format(lines=most_lines, seconds=most_seconds)
        for each in _budgets if waited else ():
            each.waited = told
        outcome = replace(outcome, trouble=told)
    return replace(outcome, left=tuple(left))


def _caught(
    function: Callable[..., Any], args: tuple[Any, ...], watch: Watch, alarm: Alarm
) -> Outcome:
    try:
        with alarm, watch.on():
            value = function(*args)
        return Outcome(value)
    except (Endless, Forbidden, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) and not alarm.rang:
            raise  # the reader's own
        return Outcome(endless=True, raised="Endless")
    except SystemExit:
        return Outcome(
            trouble="It asked Python to end (exit, quit or sys.exit). To leave a function, return.",
            raised="SystemExit",
        )
    except BaseException as error:
        return _explained(error)


def _explained(error: BaseException) -> Outcome:
    """Say what became of a run that ended in an error, and whose error it is."""
    raised = f"{type(error).__name__}: {without_addresses(_text(error))}"
    if isinstance(error, Objection):
        return Outcome(trouble=_text(error), raised=raised)
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, NotImplementedError) and files and not is_library(files[-1]):
        return Outcome(trouble="It is not written yet.", raised=raised, unsolved=True)
    ours = [file for file in files if file.startswith((_PACKAGE, "<minigrad", *_CHECKS))]
    checks = bool(ours) and ours[-1].startswith(_CHECKS) and all(map(is_library, files))
    return Outcome(trouble=explain(error), raised=raised, checks=checks)


def _text(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())
    except Exception:  # the learner's own __str__ fails
        return ""


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let `exit()` end the function that is run, and not the kernel; let `input()` not wait."""
    session, asked = shell(), builtins.input
    exits = vars(session).get("ask_exit") if session is not None else None
    builtins.input = _nobody_types
    if session is not None:
        session.ask_exit = sys.exit
    try:
        yield
    finally:
        builtins.input = asked
        if exits is not None:
            session.ask_exit = exits
        elif session is not None:
            del session.ask_exit


def _nobody_types(*prompt: object) -> str:
    raise EOFError("nobody types anything while an answer is checked")


_NOT_ENDED = {
    "thread": "It did not come to an end: a backward pass starts another, and that one the next. "
    "Does a hook call backward on a graph that it hangs on itself?",
    "line": "It did not come to an end within {lines:,} lines of Python. Does a loop miss its way "
    "out?",
    "time": "It was still running after more than {seconds:g} seconds, and was stopped. Does a "
    "loop miss its way out?",
    "waiting": "Time ran out, and most of it went by in waiting, not in computing. Was the machine "
    "busy? Then run this cell again. Or does your code sleep, or wait for what never comes?",
}


def explain(error: BaseException) -> str:
    """Say what an exception means, and in which line of the learner's it came up.

    Example:
        >>> explain(ZeroDivisionError("division by zero"))
        'It raised ZeroDivisionError: division by zero. Which input makes the denominator zero?'
    """
    text = without_addresses(_text(error)).rstrip(".")
    said = f"It raised {type(error).__name__}" + (f": {text}" if text else "")
    line = _learners_line(error)
    where = f', in the line "{line}"' if line else ""
    advice = next((_ADVICE[kind] for kind in type(error).__mro__ if kind in _ADVICE), "")
    return f"{said}{where}. {advice}".strip()


def called_with(name: str, args: tuple[Any, ...]) -> str:
    """Name the arguments of a call: one in words, several numbers or words as the call reads.

    Args:
        name: of the function that is called.
        args: its arguments.

    Example:
        >>> called_with("f", (0.5,))
        'the number 0.5'
        >>> called_with("f", (0.5, 2, "sum"))
        "f(0.5, 2, 'sum')"
    """
    if len(args) > 1 and all(isinstance(argument, int | float | str) for argument in args):
        written = (repr(a) if isinstance(a, str) else rounded(a) for a in args)
        return f"{name if name.isidentifier() else 'f'}({', '.join(written)})"
    return " and ".join(describe(argument) for argument in args) or "no arguments"


def _learners_line(error: BaseException) -> str:
    """Find the innermost line of the traceback that was written in a notebook cell."""
    for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
        name = frame.f_code.co_filename
        if "ipykernel_" in name or name.startswith("<ipython-input"):
            return linecache.getline(name, number).strip()
    return ""
