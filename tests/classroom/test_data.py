"""The data of the lessons: the digits are those of the source, the moons are where they belong."""

import hashlib

import numpy as np
import pytest

import minigrad
from minigrad.classroom import data


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
    with pytest.raises(FileNotFoundError, match="comes with the lessons"):
        data.digits()
