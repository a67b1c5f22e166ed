"""Printed numbers are the same on every machine."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from minigrad.classroom import rounded, show, shown_warnings


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.076176, "0.076176"),
        (-0.407960678, "-0.40796"),
        (-0.0, "0.0"),
        (1e-17, "0.0"),
        (24.0, "24.0"),
        (24, "24"),
        (123456.7, "123457.0"),
        (1.5e-8, "1.5e-08"),
        (2.5e20, "2.5e+20"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (True, "True"),
        (None, "None"),
        (Fraction(1, 3), "1/3"),
        ("as it is", "as it is"),
        ([1 / 3, "a", (2.0,)], "[0.33333, 'a', (2.0,)]"),
        ({"loss": 0.1 + 0.2}, "{'loss': 0.3}"),
        (np.array([0.1 + 0.2, -0.0]), "[0.3, 0.0]"),
        (np.float32(0.1), "0.1"),
        (np.array([1.0, 3e-9], dtype=np.float32), "[1.0, 0.0]"),
        (np.array([3e-9], dtype=np.float32), "[3e-09]"),
        (np.array([True, False]), "[True, False]"),
        (np.array(["a"]), "['a']"),
        (np.zeros((2, 0)), "[[], []]"),
    ],
)
def test_rounded(value, text):
    assert rounded(value) == text


@pytest.mark.parametrize("noise", [-4e-16, -1e-16, 0, 1e-16, 4e-16])
def test_noise_at_a_tie_does_not_change_the_last_digit(noise):
    assert rounded(0.123445 + noise) == "0.12344"


def test_addresses_are_left_out():
    assert "0x" not in rounded(object())
    assert rounded(object()) == "<object>"


def test_show_prints_through_it(capsys):
    show("loss", 0.8534512, [0.19], digits=3)
    assert capsys.readouterr().out == "loss 0.853 [0.19]\n"


def test_warnings_are_printed_and_the_old_way_comes_back(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with shown_warnings():
            warnings.warn("old", FutureWarning, stacklevel=1)
            warnings.warn("old", FutureWarning, stacklevel=1)
        with pytest.raises(FutureWarning):
            warnings.warn("old", FutureWarning, stacklevel=1)
    captured = capsys.readouterr()
    assert captured.out == "FutureWarning: old\nFutureWarning: old\n"
    assert captured.err == ""
