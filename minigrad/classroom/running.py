"""Run a learner's function safely: errors explained, endless loops stopped, output held back."""

from __future__ import annotations

import builtins
import contextlib
import io
import linecache
import sys
import sysconfig
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from minigrad.classroom.alarm import Alarm
from minigrad.classroom.describing import describe
from minigrad.classroom.showing import rounded, without_addresses
from minigrad.classroom.surroundings import put_back

MOST_LINES = 300_000
"""How many of its lines a learner's code may run through before it counts as endless."""

MOST_SECONDS = 20.0
"""How long a learner's code may take: for loops whose few lines are slow, and for waiting."""

# Python 3.11 does not report the lines of `while True: pass` on one line; its steps it does.
_COUNT_STEPS = sys.version_info < (3, 12)
_STEPS_A_LINE = 20

# Lines of libraries are not counted: one call of SymPy may take a million of them.
_LIBRARIES = (
    str(Path(__file__).resolve().parents[1]),
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)

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
    RuntimeError: "The message says what autograd objects to.",
}


class Endless(BaseException):
    """A function ran through too many lines; no `except Exception` of the learner stops it."""


@dataclass(frozen=True)
class Outcome:
    """What came of a run: a value, or the trouble in words.

    Args:
        value: what the function returned.
        trouble: what went wrong, in words; None where it returned.
        unsolved: whether the function said that it is not written yet.
        left: what it left changed for the whole process, in words; it is put back.
    """

    value: Any = None
    trouble: str | None = None
    unsolved: bool = False
    left: str | None = None


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


def run(
    function: Callable[..., Any],
    *args: Any,
    most_lines: int = MOST_LINES,
    most_seconds: float = MOST_SECONDS,
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
        most_seconds: how long it may take.

    Example:
        >>> run(lambda x: 2 * x, 3).value
        6
        >>> def forever():
        ...     while True:
        ...         pass
        >>> run(forever, most_lines=1000).trouble
        'It did not come to an end within 1,000 lines of Python. Does a loop miss its way out?'
    """
    alarm = Alarm(most_seconds)
    with put_back() as left:
        outcome = _caught(function, args, most_lines, most_seconds, alarm)
    return replace(outcome, left=left[0] if left else None)


def _caught(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    most_lines: int,
    most_seconds: float,
    alarm: Alarm,
) -> Outcome:
    before = sys.gettrace()
    aside = HeldBack()
    try:
        with (
            contextlib.redirect_stdout(aside),
            contextlib.redirect_stderr(aside),
            _alone(),
            warnings.catch_warnings(),
            alarm,
        ):
            warnings.simplefilter("ignore")
            sys.settrace(_counter(most_lines, time.monotonic() + most_seconds, alarm))
            try:
                return Outcome(function(*args))
            finally:
                sys.settrace(before)
    except NotImplementedError:
        return Outcome(trouble="It is not written yet.", unsolved=True)
    except (Endless, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) and not alarm.rang:
            raise  # the reader's own
        return _not_ended(alarm, most_lines, most_seconds)
    except SystemExit:
        return Outcome(
            trouble="It asked Python to end (exit, quit or sys.exit). To leave a function, return."
        )
    except BaseException as error:
        return Outcome(trouble=explain(error))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let `exit()` end the function that is run, and not the kernel; let `input()` not wait."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    asked, exits = builtins.input, vars(shell).get("ask_exit") if shell is not None else None
    builtins.input = _nobody_types
    if shell is not None:
        shell.ask_exit = sys.exit
    try:
        yield
    finally:
        builtins.input = asked
        if exits is not None:
            shell.ask_exit = exits
        elif shell is not None:
            del shell.ask_exit


def _nobody_types(*prompt: object) -> str:
    raise EOFError("nobody types anything while an answer is checked")


def _not_ended(alarm: Alarm, lines: int, seconds: float) -> Outcome:
    if alarm.because == "line":
        return Outcome(
            trouble=f"It did not come to an end within {lines:,} lines of Python. "
            "Does a loop miss its way out?"
        )
    return Outcome(
        trouble=f"It was still running after {seconds:g} seconds, and was stopped. Does a loop "
        "miss its way out, or does it wait for something?"
    )


def explain(error: BaseException) -> str:
    """Say what an exception means, and in which line of the learner's it came up.

    Example:
        >>> explain(ZeroDivisionError("division by zero"))
        'It raised ZeroDivisionError: division by zero. Which input makes the denominator zero?'
    """
    text = without_addresses(" ".join(str(error).split())).rstrip(".")
    said = (
        f"It raised {type(error).__name__}: {text}" if text else f"It raised {type(error).__name__}"
    )
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


def _counter(
    most_lines: int, deadline: float, alarm: Alarm
) -> Callable[[FrameType, str, Any], Any]:
    """Make a trace function that raises `Endless` after so many lines, or so late."""
    left = {"line": most_lines, "opcode": most_lines * _STEPS_A_LINE}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "call":
            if frame.f_code.co_filename.startswith(_LIBRARIES):
                return None
            frame.f_trace_opcodes = _COUNT_STEPS
        elif event in left:
            left[event] -= 1
            if left[event] < 0:
                # What a trace function raises ends the tracing; where a bare `except:` swallows
                # it, the alarm is left.
                alarm.hurry("line")
                raise Endless
            if event == "line" and time.monotonic() > deadline:
                alarm.hurry("time")
                raise Endless
        return trace

    return trace
