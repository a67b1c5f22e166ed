"""What tests of the classroom share: Ctrl-C works, also in a run that was started without it."""

import signal

import pytest

from minigrad import classroom


@pytest.fixture(autouse=True)
def interruptible():
    """Let SIGINT interrupt: a shell ignores it for what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def registered(monkeypatch):
    """Register exercises for one test."""
    monkeypatch.setattr(classroom.desk, "_registered", {})
    return classroom.register
