"""Let a program fork while other threads run backward or load files: the child works, too.

In the child only the thread is left that forked. What another one held would never be released.
"""

from __future__ import annotations

import os
import threading
import time

from minigrad.core import engine
from minigrad.faces.lazy_loading import loading

_PATIENCE = 5.0  # seconds


def _let_others_load() -> None:
    """Wait for files that are being loaded: Python itself holds a lock meanwhile."""
    end = time.monotonic() + _PATIENCE
    while loading and time.monotonic() < end:
        time.sleep(0.001)


def _renew_lock() -> None:
    engine.accumulation = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_let_others_load, after_in_child=_renew_lock)
