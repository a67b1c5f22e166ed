"""Run a learner's function safely: errors explained, endless loops stopped, output held back."""

from __future__ import annotations

import builtins
import contextlib
import io
import linecache
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minigrad.classroom.alarm import Alarm
from minigrad.classroom.describing import describe
from minigrad.classroom.exercise import Objection
from minigrad.classroom.showing import rounded, without_addresses
from minigrad.classroom.surroundings import put_back
from minigrad.classroom.watching import Endless, Forbidden, Watch, is_check, is_library, is_ours

MOST_LINES = 300_000
"""How many of its lines a learner's code may run through before it counts as endless."""

MOST_SECONDS = 8.0
"""How long a check may take, with all its runs: for loops whose few lines are slow."""

_deadlines: list[float] = []

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
def within(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Give all runs of a block so many seconds together.

    Args:
        seconds: for the block.
    """
    _deadlines.append(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadlines.pop()


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
    deadline = min([time.monotonic() + most_seconds, *_deadlines])
    alarm = Alarm(max(deadline - time.monotonic(), 0.05))
    watch = Watch(most_lines, deadline, alarm, without, only_inside)
    with put_back() as left:
        outcome = _caught(function, args, watch, alarm)
    if watch.called is not None:
        outcome = Outcome(
            trouble=f"{watch.called}. Here it has to work without that: it skips the exercise.",
            raised=f"Forbidden: {watch.called}",
        )
    elif outcome.endless:
        outcome = replace(outcome, trouble=_not_ended(alarm, most_lines, most_seconds))
    return replace(outcome, left=(*outcome.left, *left))


def _caught(
    function: Callable[..., Any], args: tuple[Any, ...], watch: Watch, alarm: Alarm
) -> Outcome:
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
            filters = list(warnings.filters)
            with watch.on():
                value = function(*args)
            return Outcome(value, left=_left_here(filters, aside))
    except (Endless, Forbidden):
        return Outcome(endless=True, raised="Endless")
    except KeyboardInterrupt:
        if not alarm.rang:
            raise  # the reader's own
        return Outcome(endless=True, raised="Endless")
    except SystemExit:
        return Outcome(
            trouble="It asked Python to end (exit, quit or sys.exit). To leave a function, return.",
            raised="SystemExit",
        )
    except BaseException as error:
        return _explained(error)


def _left_here(filters: list[Any], aside: HeldBack) -> tuple[str, ...]:
    """Say which changes of this process `_caught` itself is about to undo."""
    said: tuple[str, ...] = ()
    if list(warnings.filters) != filters:
        said += (
            "It changed which warnings are shown, and left it so: `with "
            "warnings.catch_warnings():` goes back by itself.",
        )
    if sys.stdout is not aside or sys.stderr is not aside:
        said += ("It put something else in the place of sys.stdout or sys.stderr, and left it so.",)
    return said


def _explained(error: BaseException) -> Outcome:
    """Say what became of a run that ended in an error, and whose error it is."""
    text = " ".join(str(error).split()) if _can_be_written(error) else ""
    raised = f"{type(error).__name__}: {without_addresses(text)}"
    if isinstance(error, Objection):
        return Outcome(trouble=text, raised=raised)
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, NotImplementedError) and files and not is_library(files[-1]):
        return Outcome(trouble="It is not written yet.", raised=raised, unsolved=True)
    learners = any(not is_library(file) for file in files)
    own = [file for file in files if is_ours(file)]
    checks = not learners and bool(own) and is_check(own[-1])
    return Outcome(trouble=explain(error), raised=raised, checks=checks)


def _can_be_written(error: BaseException) -> bool:
    try:
        str(error)
    except Exception:  # the learner's own __str__ fails
        return False
    return True


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


def _not_ended(alarm: Alarm, lines: int, seconds: float) -> str:
    if alarm.because == "line":
        return (
            f"It did not come to an end within {lines:,} lines of Python. "
            "Does a loop miss its way out?"
        )
    if alarm.because == "thread":
        return (
            "It did not come to an end: a backward pass starts another, and that one the next. "
            "Does a hook call backward on a graph that it hangs on itself?"
        )
    return (
        f"It was still running after {seconds:g} seconds, and was stopped. Does a loop "
        "miss its way out, or does it wait for something?"
    )


def explain(error: BaseException) -> str:
    """Say what an exception means, and in which line of the learner's it came up.

    Example:
        >>> explain(ZeroDivisionError("division by zero"))
        'It raised ZeroDivisionError: division by zero. Which input makes the denominator zero?'
    """
    text = " ".join(str(error).split()) if _can_be_written(error) else ""
    text = without_addresses(text).rstrip(".")
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
