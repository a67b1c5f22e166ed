"""End a block of code that takes too long, however busy the machine is with other things."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from typing import Self

_AGAIN = 0.2
_AT_LEAST = 0.05  # seconds until an alarm rings, so that its block has begun
_PATIENCE = 4.0
_SHARES = 10.0  # who gets a tenth of a machine is not waiting


class Budget:
    """So many seconds of a machine that one has for oneself.

    What other programs compute meanwhile does not count, so that a right answer is not refused
    where thirty learners share a server. Waiting is what goes beyond ten times the computing; it
    counts for a quarter, because it has to end as well.

    Args:
        seconds: how many.
        outer: a budget that this one is a part of, if any.

    Attributes:
        waited: what there is to say where waiting and not computing has used it up.

    Example:
        >>> 59 < Budget(60).left() <= 60
        True
        >>> Budget(60, outer=Budget(0.0)).is_spent()
        True
    """

    waited = ""

    def __init__(self, seconds: float, outer: Budget | None = None) -> None:
        self._seconds, self._outer = seconds, outer
        self._begun, self._computed = time.monotonic(), time.process_time()
        self._early: float = min(self._begun + seconds, outer._early if outer else math.inf)

    def left(self, patience: float = _PATIENCE) -> float:
        """Tell how many seconds are left.

        Args:
            patience: how much waiting counts as a second; without end, only computing counts.
        """
        passed = time.monotonic() - self._begun
        computed = min(time.process_time() - self._computed, passed)  # of all threads together
        own = self._seconds - max(computed, (passed - _SHARES * computed) / patience)
        return own if self._outer is None else min(own, self._outer.left(patience))

    def is_spent(self) -> bool:
        """Tell whether nothing is left; at first that takes one look at the clock."""
        return time.monotonic() >= self._early and self.left() <= 0


class Alarm:
    """A block that is interrupted, as by Ctrl-C, once it has taken too long.

    Only the main thread can be interrupted; there a notebook's cells run. Elsewhere, and where a
    program handles interrupts in its own way, nothing is done. A single call into compiled code is
    interrupted when it returns to Python, and not before. Where no thread can be started, as in a
    browser, nothing is interrupted.

    Args:
        budget: how long the block may take, such as so many seconds.

    Attributes:
        rang: whether it was interrupted; what comes out of the block is a KeyboardInterrupt.
        unwatched: of the class: whether there was ever no thread to be had.

    Example:
        >>> with Alarm(60) as alarm:
        ...     total = sum(range(10))
        >>> alarm.rang
        False
    """

    unwatched = False

    def __init__(self, budget: float | Budget) -> None:
        self.rang = False
        self._budget = budget if isinstance(budget, Budget) else Budget(budget)
        self._lock = threading.Lock()
        self._hurry, self._on_watch = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._over = self._ignored = False

    def hurry(self) -> None:
        """Ring soon: the block has been told to end, and may not listen."""
        self._hurry.set()

    def __enter__(self) -> Self:
        """Start the clock."""
        main = threading.main_thread()
        handler = signal.getsignal(signal.SIGINT)
        usable = handler in (signal.default_int_handler, signal.SIG_IGN)
        if usable and threading.current_thread() is main:
            thread = threading.Thread(target=self._watch, args=(main.ident,), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # there are none in a browser
                Alarm.unwatched = True
                return self
            self._thread = thread
            if handler == signal.SIG_IGN:  # as in what a script starts in the background
                self._ignored = True
                signal.signal(signal.SIGINT, self._listen)
            # A thread that is slow to start would take on the trace function that the block sets,
            # and end where that ends the block.
            self._on_watch.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the clock. An interrupt that is on its way already is taken in here."""
        while self._thread is not None:
            try:
                with self._lock:
                    self._over = True
                self._hurry.set()
                self._thread.join()
                if self._ignored:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                return
            except KeyboardInterrupt:
                if not self.rang:  # the reader's own
                    raise

    def _listen(self, *_: object) -> None:
        """Take in the alarm's own interrupt, where others are ignored."""
        if self.rang:
            raise KeyboardInterrupt

    def _watch(self, thread: int) -> None:
        self._on_watch.set()
        while not self._hurry.wait(max(self._budget.left(), _AT_LEAST)):
            if self._budget.left() <= 0:
                break
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
