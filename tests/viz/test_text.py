"""Numbers by one rule, and widths on the safe side."""

import math

import pytest

from minigrad.viz.text import (
    SANS,
    format_number,
    format_shape,
    format_values,
    significant,
    text_width,
)


def test_one_rule_for_numbers():
    fixed = [0.076176, -1.847648, 0.0, -0.0, 7, True]
    assert [format_number(each) for each in fixed] == (
        ["0.0762", "-1.8476", "0.0000", "0.0000", "7", "True"]
    )
    others = [1e-9, -4e-5, 1234567.0, math.inf, math.nan]
    assert [format_number(each) for each in others] == (
        ["1.0000e-09", "-4.0000e-05", "1.2346e+06", "inf", "nan"]
    )


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


def test_significant_digits():
    near_a_power = [significant(each) for each in (0.9999, 99.96, 999.6, 0.00099996)]
    assert near_a_power == ["1.00", "100", "1.00e+03", "0.00100"]
    others = [significant(each) for each in (-0.012345, -0.0, math.nan, -math.inf, None)]
    assert others == ["-0.0123", "0", "nan", "-inf", "-"]
