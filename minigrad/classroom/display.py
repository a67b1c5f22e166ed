"""Show messages with a sign, a color and in words, and errors by the lines of the notebook."""

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
        # what the output stream cannot write, as on an old Windows console, is left out
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(text.encode(encoding, "replace").decode(encoding))
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": as_html(status, head, said)}, raw=True)


def shell() -> Any:
    """Give the IPython shell that runs this process, if one does."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


_INSIDE = tuple(
    os.path.dirname(os.path.abspath(package.__file__)) + os.sep
    for package in (minigrad, np)
    if package.__file__
)
LEFT_OUT = "(Steps inside of minigrad and NumPy are left out; %tb shows them.)"


def outside_only(traceback: TracebackType | None) -> TracebackType | None:
    """Leave the frames of minigrad and NumPy out of a traceback, unless there are no others.

    Args:
        traceback: What an exception came with.

    Returns:
        A traceback of the other frames, in their order.
    """
    shorter: TracebackType | None = None
    for frame in reversed([each for each in _steps(traceback) if not _is_inside(each)]):
        shorter = TracebackType(shorter, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shorter or traceback


def _steps(traceback: TracebackType | None) -> list[TracebackType]:
    steps = []
    while traceback is not None:
        steps.append(traceback)
        traceback = traceback.tb_next
    return steps


def _is_inside(step: TracebackType) -> bool:
    # the functions that the tape wrote have no file
    return step.tb_frame.f_code.co_filename.startswith((*_INSIDE, "<minigrad"))


def shorten(session: Any) -> None:
    """Let an IPython shell show errors without the frames of minigrad and NumPy.

    Args:
        session: The running shell; nothing is done without one, or if it has a handler already.
    """
    if session is None or session.custom_exceptions:
        return

    def handler(
        shell: Any, kind: Any, error: BaseException, traceback: Any, tb_offset: Any = None
    ) -> Any:
        shorter = outside_only(traceback)
        shown = shell.InteractiveTB.structured_traceback(kind, error, shorter, tb_offset=tb_offset)
        if len(_steps(shorter)) < len(_steps(traceback)):
            shown = [*shown[:-1], LEFT_OUT, shown[-1]]
        shell._showtraceback(kind, error, shown)
        return shown

    session.set_custom_exc((Exception,), handler)
