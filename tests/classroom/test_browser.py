"""Where Python runs in a browser: no thread starts, calls nest less deep, somebody watches."""

import importlib
import sys
import threading
from types import SimpleNamespace

import pytest

import minigrad as torch
from minigrad import classroom
from minigrad.classroom import watching
from minigrad.classroom.execution import run


@pytest.fixture
def without_threads(monkeypatch):
    """Let no thread start, as there."""

    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)


def for_ever():
    while True:
        pass


def test_a_loop_is_stopped_by_its_lines(without_threads):
    assert run(lambda x: 2 * x, 3).value == 6
    assert "1,000 lines" in run(for_ever, most_lines=1000).trouble


def test_backward_passes_nest_without_threads(without_threads):
    x = torch.ones(1, requires_grad=True)
    seen = []

    def inner(grad, depth):
        seen.append(depth)
        if depth < 30:  # Python's own limit is some way off
            with torch.enable_grad():
                y = x * 2
            y.register_hook(lambda grad: inner(grad, depth + 1))
            y.backward()

    inner(None, 0)
    assert seen == list(range(31))


def test_recursion_without_end_ends_before_the_browser_does(monkeypatch):
    before = sys.getrecursionlimit()
    monkeypatch.setattr(watching, "in_a_browser", lambda: True)
    try:
        importlib.reload(classroom)
        assert sys.getrecursionlimit() == min(before, 400)
    finally:
        sys.setrecursionlimit(before)


def test_somebody_watches_in_the_browser(monkeypatch):
    monkeypatch.setattr(watching, "in_a_browser", lambda: True)
    monkeypatch.setattr(watching, "shell", lambda: SimpleNamespace(kernel="a kernel"))
    monkeypatch.delenv("PYTEST_VERSION")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert watching.watched()
