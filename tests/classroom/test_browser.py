"""Where Python runs in a browser: no thread starts, calls nest less deep, somebody watches."""

import sys
import threading
from types import SimpleNamespace

import pytest

import minigrad as torch
from minigrad.classroom import browser, desk, progress, watching
from minigrad.classroom.execution import run
from minigrad.classroom.time_limits import Alarm


@pytest.fixture
def without_threads(monkeypatch):
    """Let no thread start, as there."""

    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(Alarm, "unwatched", False)
    monkeypatch.setattr(browser, "_told", [False])


def for_ever():
    while True:
        pass


def test_a_loop_is_stopped_by_its_lines(without_threads):
    assert run(lambda x: 2 * x, 3).value == 6
    assert "1,000 lines" in run(for_ever, most_lines=1000).trouble
    assert "more than 0.05 seconds" in run(for_ever, most_lines=10**9, most_seconds=0.05).trouble


def test_what_has_no_time_limit_is_said_once(without_threads, capsys):
    for _ in range(2):
        desk.check("demo.1", 0.5)
        desk.check("demo.5", lambda x: 2.0)
    assert capsys.readouterr().out.count("no second thread") == 1


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


def test_recursion_without_end_ends_before_the_browser_does():
    before = sys.getrecursionlimit()
    try:
        browser.settle("linux")
        assert sys.getrecursionlimit() == before
        browser.settle("emscripten")
        assert sys.getrecursionlimit() == min(before, browser.DEEPEST)
    finally:
        sys.setrecursionlimit(before)


def test_somebody_watches_and_notes_are_in_the_browser(monkeypatch, tmp_path):
    monkeypatch.setattr(browser, "here", lambda: True)
    monkeypatch.setattr(watching, "shell", lambda: SimpleNamespace(kernel="a kernel"))
    monkeypatch.delenv("PYTEST_VERSION")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert watching.watched()
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "progress.json"))
    monkeypatch.setattr(progress, "shell", lambda: "a shell")
    (said,) = progress.note_check("06.1", "right", ["06.1", "06.2"])
    assert said.endswith("is noted in this browser, in progress.json.)")
