"""Show a person messages in boxes, short tracebacks, progress bars and measured numbers."""

from __future__ import annotations

import html
import os
import sys
import textwrap
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Literal

import numpy as np

import minigrad
from minigrad.classroom.values import rounded

Status = Literal["right", "wrong", "unsolved"]

_WIDTH = 88
# A sign, a color and a ground. Teal, vermilion and grey: told apart in every kind of color vision,
# and on light and dark ground.
_LOOKS: dict[Status, tuple[str, str, str]] = {
    "right": ("✓", "#009e73", "rgba(0, 158, 115, 0.12)"),
    "wrong": ("✗", "#d55e00", "rgba(213, 94, 0, 0.12)"),
    "unsolved": ("○", "#808080", "rgba(128, 128, 128, 0.08)"),
}


class Verbatim(str):
    """A line of a message that is shown as it is: code."""

    __slots__ = ()


def laid_out(head: str, lines: Iterable[str]) -> str:
    """Set lines under a head, indented and broken at a width that fits a notebook.

    Args:
        head: the first line.
        lines: paragraphs.

    Example:
        >>> print(laid_out("06.2: not yet.", ["Look again.", Verbatim("y  = x * x")]))
        06.2: not yet.
          Look again.
            y  = x * x
    """
    filler = textwrap.TextWrapper(
        _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
    code = (f"    {line}" if isinstance(line, Verbatim) else filler.fill(line) for line in lines)
    return "\n".join([head, *code])


def as_html(status: Status, head: str, lines: Iterable[str]) -> str:
    """Write a message as a box with a colored edge; its text takes the colors of the page.

    Args:
        status: "right", "wrong" or "unsolved".
        head: the first line.
        lines: paragraphs.

    Example:
        >>> "✓" in as_html("right", "06.2: right.", ["Both of them."])
        True
    """
    sign, color, ground = _LOOKS[status]
    box = (
        f"border-left: 5px solid {color}; background: {ground}; "
        "padding: 0.4em 0.9em; margin: 0.2em 0; max-width: 56em; line-height: 1.45"
    )
    sign = f'<span aria-hidden="true" style="color: {color}; font-size: 120%">{sign}</span>'
    looks = {True: ' style="font-family: monospace; white-space: pre-wrap"', False: ""}
    said = "".join(
        f"<div{looks[isinstance(line, Verbatim)]}>{html.escape(line, quote=False)}</div>"
        for line in lines
    )
    return (
        # Of a folded output JupyterLab shows the first line, and this one tells nothing.
        f'<div class="minigrad-feedback">\n<div role="status" style="{box}">'
        f"<div>{sign} <strong>{html.escape(head, quote=False)}</strong></div>{said}</div></div>"
    )


def tell(status: Status, head: str, lines: Iterable[str] = ()) -> None:
    """Show a message: as a colored box in a notebook, else as text.

    Args:
        status: "right", "wrong" or "unsolved".
        head: the first line.
        lines: paragraphs.

    Example:
        >>> tell("right", "06.2: right.", ["Both of them."])
        ✓ 06.2: right.
          Both of them.
    """
    said = list(lines)
    text = laid_out(f"{_LOOKS[status][0]} {head}", said)
    if not hasattr(shell(), "kernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": as_html(status, head, said)}, raw=True)


def shell() -> Any:
    """Give the IPython shell that runs this process, if one does."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def in_a_browser() -> bool:
    """Tell whether this Python runs in a web page, without threads."""
    return sys.platform == "emscripten"


# The functions that the tape wrote have no file.
_INSIDE = (*(f"{folder}{os.sep}" for folder in (*minigrad.__path__, *np.__path__)), "<minigrad")
LEFT_OUT = "(Steps inside minigrad and NumPy are left out; %tb shows them.)"


def outside_only(traceback: TracebackType | None) -> TracebackType | None:
    """Leave the frames of minigrad and NumPy out of a traceback, unless there are no others.

    Args:
        traceback: What an exception came with.

    Returns:
        A traceback of the other frames, in their order; the one given if it is all of them.
    """
    steps, step = [], traceback
    while step is not None:
        steps.append(step)
        step = step.tb_next
    kept = [each for each in steps if not each.tb_frame.f_code.co_filename.startswith(_INSIDE)]
    if not kept or len(kept) == len(steps):
        return traceback
    shorter: TracebackType | None = None
    for each in reversed(kept):
        shorter = TracebackType(shorter, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return shorter


def shorten(session: Any) -> None:
    """Let an IPython shell show errors without the frames of minigrad and NumPy.

    Args:
        session: The running shell; nothing is done without one, or if it has a handler already.
    """
    if session is None or session.custom_exceptions:
        return

    def handler(shell: Any, kind: Any, error: Any, traceback: Any, tb_offset: Any = None) -> Any:
        shorter = outside_only(traceback)
        shown = shell.InteractiveTB.structured_traceback(kind, error, shorter, tb_offset=tb_offset)
        if shorter is not traceback:
            shown = [*shown[:-1], LEFT_OUT, shown[-1]]
        shell._showtraceback(kind, error, shown)
        return shown

    session.set_custom_exc((Exception,), handler)


def watched() -> bool:
    """Tell whether a person sees what is printed, at a terminal or in an open notebook.

    What nbval compares and what a release stores runs without Jupyter's server, so nobody watches.

    Example:
        >>> watched()
        False
    """
    if hasattr(shell(), "kernel"):
        # Jupyter's server names the notebook that a kernel was started for.
        served = "JPY_SESSION_NAME" in os.environ or in_a_browser()
        return served and "PYTEST_VERSION" not in os.environ
    return sys.stderr.isatty()


def progress(iterable: Iterable[Any], description: str = "") -> Iterable[Any]:
    """Go through something with a progress bar, if there is somebody to watch it.

    The bar is tqdm's, and in a notebook it goes away when it is done. Without tqdm, or where nobody
    watches (a notebook that is compared with what it printed before, a file), nothing is shown.

    Args:
        iterable: What the loop goes through, such as a `DataLoader`.
        description: What stands before the bar.

    Returns:
        Something that gives the same in the same order.

    Example:
        >>> sum(progress(range(5), "adding"))
        10
    """
    if not watched():
        return iterable
    try:
        from tqdm import tqdm
    except ImportError:
        return iterable
    if in_a_browser():
        tqdm.monitor_interval = 0  # its monitor is a thread
    notebook = {"file": sys.stdout, "leave": False, "ncols": 80}
    options = notebook if hasattr(shell(), "kernel") else {}
    return tqdm(iterable, desc=description or None, **options)


def measured(
    name: str,
    value: float,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    unit: str = "",
) -> None:
    """Print that a measured number is within bounds; a person sees the number as well.

    What was measured differs from machine to machine and the bounds do not, so the line can be
    compared. Out of bounds, the line says so and shows the number to everybody.

    Args:
        name: What was measured.
        value: How much it was.
        at_least: The lower bound, if there is one.
        at_most: The upper bound, if there is one.
        unit: After each number, such as " %" or " MB".

    Raises:
        ValueError: If there is no bound.

    Example:
        >>> measured("right answers", 98.6, at_least=97, unit=" %")
        right answers: at least 97 %
        >>> measured("right answers", 95.04, at_least=97, unit=" %")
        right answers: NOT at least 97 %, but 95.0 %
    """
    bounds = {"at least": at_least, "at most": at_most}
    text = " and ".join(f"{word} {at:g}{unit}" for word, at in bounds.items() if at is not None)
    if not text:
        raise ValueError(f"measured({name!r}): give at_least or at_most, or both")
    low = -float("inf") if at_least is None else at_least
    high = float("inf") if at_most is None else at_most
    number = f"{rounded(float(value), 3)}{unit}"
    if not low <= value <= high:
        print(f"{name}: NOT {text}, but {number}")
    else:
        print(f"{name}: {text}" + (f"  ({number} in this run)" if watched() else ""))
