"""Let a function of Python's tracing watch a block."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol


class Tracer(Protocol):
    """What `sys.settrace` takes."""

    def __call__(self, frame: FrameType, event: str, argument: Any, /) -> Any:
        """Look at an event."""


@contextmanager
def traced(tracer: Tracer) -> Iterator[None]:
    """Call `tracer` for what runs in a block; who traced before goes on after it."""
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)


def calls_of(function: Callable[[], Any]) -> int:
    """Count the Python calls that a function makes: what it costs, however busy the machine is."""
    count = 0

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
