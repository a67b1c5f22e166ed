"""Numbers by one rule, and widths on the safe side."""

import math

import pytest

from minigrad.viz.text import (
    SANS,
    format_number,
    format_shape,
    format_values,
    significant,
    text_table,
    text_width,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.076176, "0.0762"),
        (-1.847648, "-1.8476"),
        (0.0, "0.0000"),
        (-0.0, "0.0000"),
        (1e-9, "1.0000e-09"),
        (-4e-5, "-4.0000e-05"),
        (1234567.0, "1.2346e+06"),
        (7, "7"),
        (True, "True"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_one_rule_for_numbers(value, text):
    assert format_number(value) == text


def test_formulas_are_shown_as_they_are_and_long_ones_shortened():
    class Formula:
        def __str__(self):
            return "2*w1*(s**2 - 1)" * 4

    assert format_number(Formula()).endswith("...")
    assert len(format_number(Formula())) == 32


def test_values_and_shapes():
    assert format_values([[[0.4]]]) == "0.4000"
    assert format_values([[1, 2], [3, 4]]) == "[[1, 2], [3, 4]]"
    assert format_values([]) == "[]"
    assert format_shape((2, 3)) == "(2, 3)"


def test_widths_are_never_below_what_dejavu_takes():
    ttfont = pytest.importorskip("fontTools.ttLib").TTFont
    matplotlib = pytest.importorskip("matplotlib")
    folder = f"{matplotlib.get_data_path()}/fonts/ttf"
    sample = "BackwardHookFunctionBackward rescale_hook (1, 1) grad -0.4080 ~#%@"
    for file, family, bold in [
        ("DejaVuSans.ttf", SANS, False),
        ("DejaVuSans-Bold.ttf", SANS, True),
        ("DejaVuSansMono-Bold.ttf", "monospace", True),
    ]:
        font = ttfont(f"{folder}/{file}")
        glyphs, widths = font.getBestCmap(), font["hmtx"]
        true = sum(widths[glyphs[ord(c)]][0] for c in sample) / font["head"].unitsPerEm * 12
        # The table is rounded to hundredths of an em.
        assert text_width(sample, 12, family, bold) >= true * 0.99


def test_wide_and_combining_characters_count():
    assert text_width("勾配", 10) == 22.0
    assert text_width("e\u0301", 10) == text_width("e", 10)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9999, "1.00"),
        (99.96, "100"),
        (999.6, "1.00e+03"),
        (0.00099996, "0.00100"),
        (-0.012345, "-0.0123"),
        (-0.0, "0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (None, "-"),
    ],
)
def test_significant_digits(value, text):
    assert significant(value) == text


def test_tables_line_up():
    assert text_table(["a", "b", "c"], [["x", "1", "y"], ["long", "100", ""]], left=(0, 2)) == (
        "a       b  c\nx       1  y\nlong  100"
    )
