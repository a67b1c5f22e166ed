"""What a person sees while a cell runs, and what a machine that compares outputs does not."""

import io
import sys
from types import SimpleNamespace

import pytest

from minigrad.classroom import watching
from minigrad.classroom.watching import measured, progress, watched


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """Let this process look like the kernel of a notebook that a person has opened."""
    monkeypatch.setattr(watching, "shell", lambda: SimpleNamespace(kernel="a kernel"))
    monkeypatch.setenv("JPY_SESSION_NAME", "lessons/mine/13.ipynb")
    monkeypatch.delenv("PYTEST_VERSION")


def test_nothing_is_shown_where_nobody_watches(capsys):
    assert list(progress(range(3), "counting")) == [0, 1, 2]
    measured("accuracy", 98.6, at_least=97, unit=" %")
    assert capsys.readouterr() == ("accuracy: at least 97 %\n", "")


@pytest.mark.parametrize("gone", ["JPY_SESSION_NAME", "a kernel"])
def test_a_kernel_that_a_machine_runs_is_not_watched(notebook, monkeypatch, gone):
    assert watched()
    if gone == "a kernel":
        monkeypatch.setattr(watching, "shell", lambda: None)
    else:
        monkeypatch.delenv(gone)
    assert not watched()


def test_a_kernel_within_a_test_is_not_watched(notebook, monkeypatch):
    monkeypatch.setenv("PYTEST_VERSION", "9")
    assert not watched()


def test_a_terminal_shows_a_bar_where_tqdm_is(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(progress(range(3))) == [0, 1, 2] and sys.stderr.getvalue() == ""
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    assert list(progress(range(3), "counting")) == [0, 1, 2]
    assert "counting" in shown.getvalue()


def test_a_bar_in_a_notebook_goes_away(notebook, capsys):
    pytest.importorskip("tqdm")
    assert list(progress(range(3), "counting")) == [0, 1, 2]
    shown, errors = capsys.readouterr()
    assert "counting" in shown and errors == ""
    assert shown.rpartition("counting")[2].rstrip("\r").endswith("  ")  # written over by blanks


def test_a_person_sees_the_number_itself(notebook, capsys):
    measured("peak", 81.449, at_most=100, unit=" MB")
    assert capsys.readouterr().out == "peak: at most 100 MB  (81.4 MB in this run)\n"


@pytest.mark.parametrize("value", [0.4, 2.5, float("nan")])
def test_what_is_out_of_bounds_is_told_to_everybody(capsys, value):
    measured("ratio", value, at_least=0.5, at_most=2)
    said = capsys.readouterr().out
    assert said == f"ratio: NOT at least 0.5 and at most 2, but {value}\n"


def test_a_measurement_needs_a_bound():
    with pytest.raises(ValueError, match="give at_least or at_most"):
        measured("ratio", 1.0)
