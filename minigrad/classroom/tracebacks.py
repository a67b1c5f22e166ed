"""Show learners the lines of their own notebook when an error ends a cell, not the engine's."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

import numpy as np

import minigrad

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
    frames = []
    each = traceback
    while each is not None:
        name = each.tb_frame.f_code.co_filename
        # the functions that the tape wrote have no file
        if not name.startswith(_INSIDE) and not name.startswith("<minigrad"):
            frames.append(each)
        each = each.tb_next
    shorter: TracebackType | None = None
    for frame in reversed(frames):
        shorter = TracebackType(shorter, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shorter or traceback


def shorten(shell: Any) -> None:
    """Let an IPython shell show errors without the frames of minigrad and NumPy.

    Args:
        shell: The running shell; nothing is done without one, or if it has a handler already.
    """
    if shell is None or shell.custom_exceptions:
        return

    def handler(
        shell: Any, kind: Any, error: BaseException, traceback: Any, tb_offset: Any = None
    ) -> Any:
        shorter = outside_only(traceback)
        shown = shell.InteractiveTB.structured_traceback(kind, error, shorter, tb_offset=tb_offset)
        if shorter is not traceback and _length(shorter) < _length(traceback):
            shown = [*shown[:-1], LEFT_OUT, shown[-1]]
        shell._showtraceback(kind, error, shown)
        return shown

    shell.set_custom_exc((Exception,), handler)


def _length(traceback: TracebackType | None) -> int:
    count = 0
    while traceback is not None:
        count, traceback = count + 1, traceback.tb_next
    return count


def shorten_in_notebooks() -> None:
    """Do so in the shell that runs this process, if one does."""
    ipython = sys.modules.get("IPython")
    if ipython is not None:
        shorten(ipython.get_ipython())
