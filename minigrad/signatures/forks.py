"""Let a program fork while other threads run backward, import, or draw: the child works, too.

In the child only the thread is left that forked. A lock that another one held would never be
released there, and a module that it was importing would never be complete. What NumPy itself
locks for others is beyond reach: a `numpy.random.Generator` that another thread is drawing from.
"""

from __future__ import annotations

import _imp
import os
import threading
import time
from importlib import _bootstrap

from minigrad.core import engine

drawing = threading.RLock()  # around NumPy's locks of random numbers, for all streams
_PATIENCE = 5.0  # seconds
_imports = vars(_bootstrap)["_module_locks"]  # weak references, by the module's name


def _others_import() -> bool:
    owners = {getattr(each(), "owner", None) for each in list(_imports.values())}
    return not owners <= {None, threading.get_ident()}


def _hold() -> None:
    """Wait until no other thread imports or draws, and let none begin."""
    end = time.monotonic() + _PATIENCE
    _imp.acquire_lock()  # who begins an import needs it for a moment
    while _others_import() and time.monotonic() < end:
        _imp.release_lock()
        time.sleep(0.001)
        _imp.acquire_lock()
    drawing.acquire()


def _release() -> None:
    drawing.release()
    _imp.release_lock()


def _renew() -> None:
    engine.accumulation = threading.RLock()
    _imports.clear()
    _release()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_renew)
