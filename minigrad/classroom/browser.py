"""Settle down in a web page, where Python has no threads and little room for calls in calls."""

from __future__ import annotations

import sys

DEEPEST = 400
"""How deep calls may nest there. A browser ends Python itself, without an error to catch, where
calls of compiled code that call Python nest some 250 deep, each of which counts for two here."""

_TOLD = (
    "(In a browser Python has no second thread to watch the clock. A loop that never ends is "
    "stopped all the same, by its lines; one call that never comes back is not, nor a loop that "
    "catches every error: then, Kernel, Restart.)"
)
_told = [False]


def here(platform: str = sys.platform) -> bool:
    """Tell whether this Python runs in a browser.

    Args:
        platform: What Python calls what it runs on.

    Example:
        >>> here("emscripten"), here("linux")
        (True, False)
    """
    return platform == "emscripten"


def settle(platform: str = sys.platform) -> None:
    """Let a recursion without end be a RecursionError there, as it is elsewhere.

    Args:
        platform: What Python calls what it runs on.
    """
    if here(platform):
        sys.setrecursionlimit(min(sys.getrecursionlimit(), DEEPEST))


def remark(unwatched: bool) -> list[str]:
    """Say once what stays without a time limit, where no thread could be started.

    Args:
        unwatched: Whether that was so.
    """
    if not unwatched or _told[0]:
        return []
    _told[0] = True
    return [_TOLD]
