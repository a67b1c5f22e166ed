"""Interrupt a piece of code that runs for too long, on Linux, macOS and Windows."""

from __future__ import annotations

import os
import signal
import threading
from types import TracebackType
from typing import Self

_AGAIN = 0.2


class Alarm:
    """A block that is interrupted, as by Ctrl-C, once it has taken too long.

    Only the main thread can be interrupted; there a notebook's cells run. Elsewhere, and where a
    program handles interrupts in its own way, nothing is done. A single call into compiled code is
    interrupted when it returns to Python, and not before.

    Args:
        seconds: how long the block may take.

    Attributes:
        rang: whether it was interrupted; what comes out of the block is a KeyboardInterrupt.
        because: why it was told to hurry, if it was.

    Example:
        >>> with Alarm(60) as alarm:
        ...     total = sum(range(10))
        >>> alarm.rang
        False
    """

    def __init__(self, seconds: float) -> None:
        self.rang = False
        self.because = ""
        self._seconds = seconds
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None
        self._over = False

    def hurry(self, because: str) -> None:
        """Ring soon: the block has been told to end, and may not listen.

        Args:
            because: why, to be kept.
        """
        self.because = because
        self._hurry.set()

    def __enter__(self) -> Self:
        """Start the clock."""
        main = threading.main_thread()
        usable = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usable and threading.current_thread() is main:
            self._thread = threading.Thread(target=self._watch, args=(main.ident,), daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the clock. An interrupt that is on its way already is taken in here."""
        while self._thread is not None:
            try:
                with self._lock:
                    self._over = True
                self._hurry.set()
                self._thread.join()
                return
            except KeyboardInterrupt:
                if not self.rang:  # the reader's own
                    raise

    def _watch(self, thread: int) -> None:
        self._hurry.wait(self._seconds)
        while not self._over:
            if self._hurry.is_set() and not self.rang:
                threading.Event().wait(_AGAIN)  # it may be leaving by itself
            with self._lock:
                if self._over:
                    return
                self.rang = True
                if os.name == "nt":
                    signal.raise_signal(signal.SIGINT)
                else:
                    signal.pthread_kill(thread, signal.SIGINT)
            # Once more and again: a bare `except:` may have swallowed it.
            threading.Event().wait(_AGAIN)
