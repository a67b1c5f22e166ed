"""A process that forks while other threads are busy: nothing that the child needs stays locked."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigrad as torch
from minigrad import random
from minigrad.core import engine
from minigrad.signatures import forks

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded"),  # Python from 3.12 on
]

SLOW = """
import threading
begun, go_on = threading.Event(), threading.Event()
"""
IMPORTED = """
import {events} as events
events.begun.set()
events.go_on.wait()
complete = True
"""


def ends_well(child: Callable[[], bool]) -> bool:
    """Fork, run something in the child, and tell whether it gave True."""
    process = os.fork()
    if process == 0:
        signal.alarm(60)  # a child that hangs is ended, and the test fails
        try:
            well = child()
        except BaseException:
            well = False
        os._exit(0 if well else 1)
    return os.waitpid(process, 0)[1] == 0


def computes() -> bool:
    """Import, draw, and go backward, as in a child."""
    x = torch.rand(3, requires_grad=True)
    x.tan().sum().backward()
    return x.grad is not None


def taken_elsewhere(lock: Any) -> bool:
    """Tell whether another thread than this one would have to wait for a lock."""
    found = []

    def look() -> None:
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return not found[0]


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Begin an import in another thread, which stops half-way; give its name and the events."""
    names = ("events_of_a_slow_import", "a_slow_import")
    (tmp_path / f"{names[0]}.py").write_text(SLOW)
    (tmp_path / f"{names[1]}.py").write_text(IMPORTED.format(events=names[0]))
    monkeypatch.syspath_prepend(tmp_path)
    events = __import__(names[0])
    thread = threading.Thread(target=__import__, args=(names[1],))
    thread.start()
    events.begun.wait()
    yield names[1], events
    events.go_on.set()
    thread.join()
    for name in names:
        sys.modules.pop(name, None)


def imports(name: str) -> Callable[[], bool]:
    return lambda: bool(__import__(name)) and computes()


def test_a_fork_waits_for_an_import_in_another_thread(slow, monkeypatch):
    name, events = slow
    waits = []

    class Clock:
        monotonic = staticmethod(lambda: 0.0)

        @staticmethod
        def sleep(seconds: float) -> None:
            waits.append(seconds)
            events.go_on.set()

    monkeypatch.setattr(forks, "time", Clock)
    assert ends_well(lambda: imports(name)() and sys.modules[name].complete)
    assert waits


def test_an_import_that_does_not_end_does_not_hang_the_child(slow, monkeypatch):
    monkeypatch.setattr(forks, "_PATIENCE", 0.0)
    assert ends_well(imports(slow[0]))


def test_a_fork_within_an_import_waits_for_nobody(tmp_path, monkeypatch):
    (tmp_path / "a_fork_of_its_own.py").write_text(
        "from tests.test_forks import computes, ends_well\nwell = ends_well(computes)\n"
    )
    monkeypatch.setattr(forks, "_PATIENCE", float("inf"))
    monkeypatch.syspath_prepend(tmp_path)
    assert __import__("a_fork_of_its_own").well
    sys.modules.pop("a_fork_of_its_own")


def test_nobody_draws_at_the_moment_of_a_fork(monkeypatch):
    seen = []

    class Watched:
        """A fork's view of what is drawn from: it is held on both sides, and then no longer."""

        def __init__(self, lock):
            self._lock = lock

        def acquire(self):
            self._lock.acquire()
            seen.append(taken_elsewhere(self._lock))

        def release(self):
            self._lock.release()
            seen.append(taken_elsewhere(self._lock))

    monkeypatch.setattr(forks, "drawing", Watched(forks.drawing))
    process = os.fork()
    if process == 0:
        os._exit(0 if seen == [True, False] else 1)
    assert os.waitpid(process, 0)[1] == 0
    assert seen == [True, False]


def test_all_that_is_drawn_is_drawn_under_one_lock(monkeypatch):
    """Each way to NumPy's bits goes by the lock that a fork takes."""
    held = []

    class Counted:
        def __enter__(self):
            held.append(True)

        def __exit__(self, *_):
            held.append(False)

    class Twister:
        def __init__(self, twister):
            self._twister = twister

        def __getattr__(self, name):
            assert held[-1:] == [True], name
            return getattr(self._twister, name)

    monkeypatch.setattr(random, "drawing", Counted())
    dice = torch.Generator().manual_seed(3)
    dice.stream()._twister = Twister(dice.stream()._twister)
    draws = (torch.rand, torch.randn, torch.randperm)
    assert all(draw(5, generator=dice).numel() == 5 for draw in draws)
    assert torch.randint(5, (5,), generator=dice).max() < 5
    torch.empty(5).exponential_(generator=dice)
    dice.get_state()
    assert len(held) >= 12


def test_the_lock_of_accumulation_is_free_in_the_child():
    held, go_on = threading.Event(), threading.Event()

    def hold():
        with engine.accumulation:
            held.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    well = ends_well(computes)
    go_on.set()
    thread.join()
    assert well


def test_forks_beside_all_of_it():
    """By chance: threads that compute, draw and import while the process forks again and again."""
    stop = threading.Event()
    leaf = torch.ones(10_000, requires_grad=True)

    def draw():
        torch.rand(1000)

    def go_backward():
        (leaf * 2).sum().backward()

    def load():
        for name in [each for each in sys.modules if each.startswith("wsgiref")]:
            del sys.modules[name]
        __import__("wsgiref.util")

    def again(work):
        while not stop.is_set():
            work()

    threads = [threading.Thread(target=again, args=(each,)) for each in (draw, go_backward, load)]
    for thread in threads:
        thread.start()
    try:
        assert all(ends_well(imports("wsgiref.util")) for _ in range(10))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
