"""Plots that compare: differences with derivatives, images with maps, a run with its twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import plot_difference_error, plot_heat_map, plot_twins
from minigrad.viz.tables import significant, text_table

pytest.importorskip("matplotlib")


# ------------------------------------------------------------------ differences


def errors_of(plot):
    return {line.get_label(): np.array(line.get_data()) for line in plot.axes.get_lines()[:3]}


def test_the_errors_are_those_of_the_three_formulas():
    steps = [1e-1, 1e-2]
    plot = plot_difference_error(lambda x: x.exp(), 0.0, steps=steps)
    one_sided, central, complex_step = errors_of(plot).values()
    for at, h in enumerate(steps):
        # the values are of size 1, so rounding leaves an error of 1e-16 / h
        near = {"rel": 1e-9, "abs": 1e-13}
        assert one_sided[1, at] == pytest.approx(math.expm1(h) / h - 1, **near)
        assert central[1, at] == pytest.approx(math.sinh(h) / h - 1, **near)
        assert complex_step[1, at] == pytest.approx(1 - math.sin(h) / h, **near)
    assert one_sided[0].tolist() == steps
    assert "which is 1.000" in plot.alt


def test_the_errors_make_a_v_and_the_complex_step_none():
    plot = plot_difference_error(lambda x: (x.sin() * x.exp()).tanh(), 0.7)
    for name, best in (("one-sided", 1e-8), ("central", 1e-5)):
        h, error = errors_of(plot)[name]
        at = h[error.argmin()]
        assert best / 50 < at < best * 50
        assert error[0] > 1e3 * error.min()
        assert error[-1] > 1e3 * error.min()
    _, error = errors_of(plot)["complex step"]
    assert error[-10:].max() < 1e-15
    assert "one-sided: falls as h to the power 1.0" in plot.alt
    assert "central: falls as h to the power 2.0" in plot.alt
    assert "complex step: falls as h to the power 2.0" in plot.alt


def test_the_table_leaves_out_what_rounding_decides():
    """Those digits differ from machine to machine."""
    plot = plot_difference_error(lambda x: x.exp(), 1.0)
    rows = [line.split() for line in plot.table.splitlines()[1:]]
    assert rows[-1][1:] == ["rounding"] * 3
    assert rows[-2][1:] != ["rounding"] * 3
    assert rows[0] == ["1.00e-01", "0.052", "0.0017", "0.0017"]
    for row in rows:
        assert row[1] == "rounding" or float(row[0]) > 1e-7
        assert row[2] == "rounding" or float(row[0]) > 1e-5
    # a difference of a straight line is rounding alone
    line = plot_difference_error(lambda x: x * 3, 1.0)
    assert "central: nothing but rounding" in line.alt


def test_without_the_complex_step():
    def absolute(x):
        return x.abs()

    plot = plot_difference_error(absolute, 0.3, complex_step=False, name="abs")
    assert set(errors_of(plot)) >= {"one-sided", "central"}
    assert "complex" not in plot.alt + plot.table
    assert "derivative of abs at x = 0.3000, which is 1.000" in plot.alt


@pytest.mark.parametrize(
    ("function", "at", "settings", "words"),
    [
        (lambda x: x * 2, 1.0, {"steps": []}, "steps have to be positive"),
        (lambda x: x * 2, 1.0, {"steps": [0.1, 0.0]}, "steps have to be positive"),
        (lambda x: x.sqrt(), 0.0, {}, "the derivative at 0.0 is inf"),
    ],
)
def test_differences_that_cannot_be(function, at, settings, words):
    with pytest.raises(ValueError, match=words):
        plot_difference_error(function, at, **settings)


# ------------------------------------------------------------------ maps


def test_a_map_has_its_image_its_colors_and_its_contours():
    image = np.linspace(0, 1, 16).reshape(1, 4, 4)
    heat = np.zeros((4, 4))
    heat[1, 2] = 4.0
    heat[2, 2] = 2.0
    plot = plot_heat_map(torch.tensor(image), torch.tensor(heat), what="saliency", names=["a two"])
    left, middle, right = plot.axes
    shown = left.get_images()[0].get_array()
    assert np.allclose(shown[..., 0], 1 - image[0], atol=1e-12)  # ink is dark; float arithmetic
    assert middle.get_images()[0].get_array().tolist() == heat.tolist()
    assert middle.get_images()[0].get_clim() == (0, 4)
    assert middle.get_images()[0].get_cmap().name == "cividis"
    (contour,) = [each for each in right.collections if hasattr(each, "levels")]
    assert list(contour.levels) == [1.0, 2.0, 3.0]
    assert not middle.texts
    assert plot.alt == (
        "A two, its saliency in color and as contours over the image. A two: from 0 to 4.0, "
        "the largest size at row 1, column 2."
    )
    # two of sixteen entries are the top tenth
    assert plot.table.splitlines()[1].split()[-1] == "100%"


def test_both_signs_are_told_apart_without_color():
    heat = [[1.0, -1.0, 0.1], [0.2, 0.5, -0.5]]
    plot = plot_heat_map(np.zeros((2, 3)), heat, ink=False)
    _, middle, right = plot.axes
    assert middle.get_images()[0].get_clim() == (-1, 1)
    assert [text.get_text() for text in middle.texts] == ["+", "\N{MINUS SIGN}"] * 2
    lines = [each for each in right.collections if hasattr(each, "levels")]
    assert [each.linestyles for each in lines] == ["solid", "dashed"]
    signed = plot_heat_map(np.zeros((2, 3)), np.abs(heat), signed=True).axes[1].get_images()[0]
    assert signed.get_clim() == (-1, 1)


def test_equal_sizes_of_both_signs_are_equally_dark():
    (image,) = plot_heat_map(np.zeros((1, 2)), [[1.0, -1.0]]).axes[1].get_images()
    weights = [0.2126, 0.7152, 0.0722]
    for size in (0.25, 0.5, 1.0):
        plus, minus = (np.dot(image.to_rgba(sign * size)[:3], weights) for sign in (1, -1))
        assert abs(plus - minus) < 0.1
    steps = [np.dot(image.to_rgba(value)[:3], weights) for value in np.linspace(0, 1, 20)]
    assert steps == sorted(steps, reverse=True)


def test_a_batch_has_a_row_each():
    images, maps = np.zeros((2, 3, 4, 5)), np.ones((2, 4, 5))
    plot = plot_heat_map(images, maps)
    assert len(plot.axes) == 6
    assert plot.alt.startswith("2 images, each with its map")
    assert len(plot.table.splitlines()) == 3
    flat = plot_heat_map(np.full((2, 2), 7.0), np.zeros((2, 2)))
    assert not any(hasattr(each, "levels") for each in flat.axes[2].collections)


@pytest.mark.parametrize(
    ("image", "heat", "settings", "words"),
    [
        (np.zeros((4, 4)), np.zeros((3, 4)), {}, r"1 image\(s\) of \(4, 4\) do not fit"),
        (np.zeros((2, 1, 4, 4)), np.zeros((4, 4)), {}, "do not fit"),
        (np.zeros((2, 4, 4)), np.zeros((4, 4)), {}, "one or three channels"),
        (np.zeros((4, 4)), np.zeros(4), {}, r"expected a map \(H, W\)"),
        (np.zeros((1, 1)), [[math.nan]], {}, "not finite"),
        (np.zeros((1, 1)), [[1.0]], {"names": ["a", "b"]}, "1 images but 2 names"),
    ],
)
def test_maps_that_do_not_fit(image, heat, settings, words):
    with pytest.raises(ValueError, match=words):
        plot_heat_map(image, heat, **settings)


# ------------------------------------------------------------------ twins


def run(hook=None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    if hook is not None:
        model[1].register_full_backward_hook(hook)
    model(torch.ones(4, 2, dtype=torch.float64)).sum().backward()
    return model


def double(module, grad_input, grad_output):
    return (2 * grad_input[0],)


def test_a_hook_upstream_changes_what_is_upstream_of_it():
    hooked, plain = run(double), run()
    plot = plot_twins(hooked, plain)
    names = [label.get_text() for label in plot.axes[0].get_yticklabels()]
    changed = {"0.weight.grad", "0.bias.grad"}
    written = [text.get_text().strip() for text in plot.axes[1].texts]
    assert {name for name, text in zip(names, written, strict=True) if text != "equal"} == changed
    gap = (hooked[0].weight.grad - plain[0].weight.grad).abs().max().item()
    assert f"0.weight.grad (by up to {significant(gap)})" in plot.alt
    (bar, _) = plot.axes[1].patches
    assert bar.get_x() + bar.get_width() == pytest.approx(gap, rel=1e-12)  # float arithmetic
    # rings and dots: the doubled gradient is twice as far out
    row = names.index("0.bias.grad")
    rings, dots = plot.axes[0].get_lines()[2 * row : 2 * row + 2]
    assert set(rings.get_ydata()) == {row}
    assert np.array_equal(dots.get_xdata(), 2 * rings.get_xdata())


def test_a_hook_that_only_looks_leaves_all_equal():
    plot = plot_twins(run(lambda *given: None), run())
    assert plot.alt == "Two runs, hooked and plain, compared in 8 tensors. " + (
        "Equal to the last bit: all."
    )
    assert {text.get_text().strip() for text in plot.axes[1].texts} == {"equal"}


def test_the_last_bit_counts_and_nan_is_nan():
    one = np.nextafter(1.0, 2.0)
    plot = plot_twins({"a": one, "b": math.nan, "c": math.inf}, {"a": 1.0, "b": math.nan, "c": 1.0})
    assert "Equal to the last bit: b." in plot.alt
    assert "a (by up to 2.22e-16), c (by up to inf)" in plot.alt


def test_losses_are_curves_above():
    values = {"w": torch.ones(2)}
    plot = plot_twins(values, values, losses=([2.0, 1.0, 0.5], [2.0, 1.5, 1.0]), names=("a", "b"))
    hooked, plain = plot.axes[2].get_lines()
    assert hooked.get_ydata().tolist() == [2.0, 1.0, 0.5]
    assert plain.get_ydata().tolist() == [2.0, 1.5, 1.0]
    assert plot.alt.endswith("The losses differ from step 2 on, in the last: a 0.500, b 1.00.")
    assert plot.table.splitlines()[-1].split() == ["3", "0.5000", "1.000", "0.500"]
    same = plot_twins(values, values, losses=([2.0], [2.0]))
    assert same.alt.endswith("The losses of all 1 steps are equal.")


def test_many_entries_are_thinned_out_from_the_smallest_to_the_largest():
    values = {"w": np.arange(1000.0)}
    ring, dot = plot_twins(values, values).axes[0].get_lines()[:2]
    assert len(ring.get_xdata()) == len(dot.get_xdata()) == 30
    assert (ring.get_xdata()[0], ring.get_xdata()[-1]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("hooked", "plain", "settings", "words"),
    [
        ({"a": 1.0}, {"b": 1.0}, {}, "only the run 'hooked' has 'a'"),
        ({}, {"b": 1.0}, {}, "only the run 'plain' has 'b'"),
        ({}, {}, {}, "nothing to compare"),
        ({"a": [1.0]}, {"a": [1.0, 2.0]}, {}, r"shape \(1,\) in one run and \(2,\)"),
        ({"a": 1.0}, {"a": 1.0}, {"losses": ([1.0], [])}, "the same number of steps"),
    ],
)
def test_runs_that_are_no_twins(hooked, plain, settings, words):
    with pytest.raises(ValueError, match=words):
        plot_twins(hooked, plain, **settings)


# ------------------------------------------------------------------ tables


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
