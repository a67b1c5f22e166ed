"""Run a learner's function safely: errors explained, endless loops stopped, output held back."""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from minigrad.classroom.describing import describe
from minigrad.classroom.showing import rounded, without_addresses

MOST_LINES = 300_000
"""How many of its lines a learner's code may run through before it counts as endless."""

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
    """

    value: Any = None
    trouble: str | None = None
    unsolved: bool = False


def run(function: Callable[..., Any], *args: Any, most_lines: int = MOST_LINES) -> Outcome:
    """Call a function and catch whatever it does wrong.

    Lines are counted, not seconds: so the outcome does not depend on how fast the machine is. A
    loop inside compiled code, such as `sum(itertools.count())`, cannot be stopped in this way.

    Args:
        function: what to call.
        *args: its arguments.
        most_lines: how many lines it may run through.

    Example:
        >>> run(lambda x: 2 * x, 3).value
        6
        >>> def forever():
        ...     while True:
        ...         pass
        >>> run(forever, most_lines=1000).trouble
        'It did not come to an end within 1,000 lines of Python. Does a loop miss its way out?'
    """
    before = sys.gettrace()
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.settrace(_counter(most_lines))
            try:
                return Outcome(function(*args))
            finally:
                sys.settrace(before)
    except NotImplementedError:
        return Outcome(trouble="It is not written yet.", unsolved=True)
    except Endless:
        return Outcome(
            trouble=f"It did not come to an end within {most_lines:,} lines of Python. "
            "Does a loop miss its way out?"
        )
    except Exception as error:
        return Outcome(trouble=explain(error))


def explain(error: Exception) -> str:
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


def _counter(most_lines: int) -> Callable[[FrameType, str, Any], Any]:
    """Make a trace function that raises `Endless` after so many lines."""
    left = {"line": most_lines, "opcode": most_lines * _STEPS_A_LINE}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "call":
            if frame.f_code.co_filename.startswith(_LIBRARIES):
                return None
            frame.f_trace_opcodes = _COUNT_STEPS
        elif event in left:
            left[event] -= 1
            if left[event] < 0:
                raise Endless
        return trace

    return trace
