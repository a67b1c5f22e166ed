"""The data of the lessons: the digits are those of the source, the moons are where they belong."""

import hashlib
import io
import sys

import numpy as np
import pytest

import minigrad
from minigrad.classroom import data
from minigrad.classroom.data import progress


def test_the_digits_are_those_of_the_source():
    images, labels = data.digits()
    assert images.shape == (1797, 1, 8, 8) and images.dtype is minigrad.float32
    assert labels.shape == (1797,) and labels.dtype is minigrad.int64
    assert images.min().item() == 0 and images.max().item() == 1
    ink = (images.numpy() * 16).astype(np.uint8)
    found = hashlib.sha256(ink.tobytes() + labels.numpy().astype(np.uint8).tobytes()).hexdigest()
    assert found == "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"
    counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(labels.numpy()).tolist() == counts


def test_without_the_lessons_it_says_where_the_digits_are(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="The digits come with the lessons"):
        data.digits()


def test_progress_shows_nothing_where_nobody_watches(capsys):
    assert list(progress(range(3), "counting")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_progress_shows_a_bar_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(progress(range(3))) == [0, 1, 2] and sys.stderr.getvalue() == ""
    monkeypatch.undo()
    tqdm = pytest.importorskip("tqdm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    assert list(progress(range(3), "counting", file=shown)) == [0, 1, 2]
    assert "counting" in shown.getvalue() and tqdm
