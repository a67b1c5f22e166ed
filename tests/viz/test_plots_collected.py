"""Plots of what hooks collected: the numbers drawn, the words, the looks."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import Distributions, GradientFlow, plot_distributions, plot_gradient_flow
from minigrad.viz.style import COLORS, PLOT_INK, WIRE, matplotlib_module

pytest.importorskip("matplotlib")


def seen_values():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    model[0].weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    model[0].bias.data = torch.zeros(3)
    with Distributions(model) as seen:
        for scale in (1.0, 2.0, 4.0):
            model(scale * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).square().sum().backward()
    return seen


def plots():
    seen = seen_values()
    return [
        plot_distributions(seen, title="a title"),
        plot_distributions(seen),
        plot_gradient_flow(seen.model, title="a title"),
    ]


# ------------------------------------------------------------------ all of them


@pytest.fixture(scope="module")
def made():
    """Make one of each, with its PNG and its pixels."""
    drawn = []
    for plot in plots():
        png = plot.png()
        image = matplotlib_module("matplotlib.image").imread(io.BytesIO(png), format="png")
        drawn.append((plot, png, np.round(image * 255).astype(int)))
    return drawn


def test_all_plots_show_themselves_with_words_and_numbers(made):
    for plot, png, _ in made:
        data, metadata = plot._repr_mimebundle_()
        assert base64.b64decode(data["image/png"]) == png
        assert metadata["image/png"]["alt"] == plot.alt
        assert plot.alt.endswith(".")
        assert "\n" not in plot.alt
        assert "nan" not in plot.alt
        assert data["text/plain"] == f"Plot: {plot.alt}\n\n{plot.table}"
        assert len(plot.table.splitlines()) >= 2


def test_the_same_run_gives_the_same_picture(made):
    for (first, png, _), second in zip(made, plots(), strict=False):
        assert repr(first) == repr(second)
        assert png == second.png()


def test_all_plots_have_the_ground_of_the_page_and_no_label_is_cut_off(made):
    for _, _, pixels in made:
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            assert (edge[..., 3] == 0).all()


def light_of(color):
    """Give the relative luminance of a color, as WCAG defines it."""
    values = np.array(matplotlib_module("matplotlib.colors").to_rgb(color))
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrasts(color):
    """Give its contrast to a white page and to JupyterLab's dark one."""
    dark = light_of("#111111")
    return 1.05 / (light_of(color) + 0.05), (light_of(color) + 0.05) / (dark + 0.05)


def test_text_and_lines_stand_out_on_white_pages_and_on_dark_ones():
    white, dark = contrasts(PLOT_INK)
    assert white >= 4.5 and dark >= 4.15  # both together are at most 18.9
    # what the style for dark pages does to plots: halfway up to white, by a quarter
    lifted = [
        0.25 + 0.75 * each for each in matplotlib_module("matplotlib.colors").to_rgb(PLOT_INK)
    ]
    assert contrasts(lifted)[1] >= 4.5
    for color in [*COLORS, WIRE]:
        assert min(contrasts(color)) >= 3, color


def colored(artists):
    """Give the colors of texts and lines of a figure, its grid left out."""
    for text in artists.findobj(matplotlib_module("matplotlib.text").Text):
        if text.get_text() and text.get_visible():
            yield text.get_text(), text.get_color()
    for line in artists.findobj(matplotlib_module("matplotlib.lines").Line2D):
        if line.get_linestyle() != "None":
            yield "a line", line.get_color()


def test_in_all_plots_nothing_gets_lost_on_either_ground(made):
    for plot, _, _ in made:
        for what, color in colored(plot.figure):
            assert min(contrasts(color)) >= 3, (plot.alt, what, color)


# ------------------------------------------------------------------ distributions


def test_distributions_have_a_panel_for_each_layer_and_a_ridge_for_each_step():
    plot = plot_distributions(seen_values())
    linear, relu = plot.axes
    assert [linear.get_title(loc="left"), relu.get_title(loc="left")] == ["0 Linear", "1 ReLU"]
    assert [label.get_text() for label in linear.get_yticklabels()] == ["1", "2", "3"]
    assert len(linear.collections) == 3
    # of six outputs the third unit's two are negative
    assert [text.get_text() for text in relu.texts] == ["33%"] * 3
    assert not linear.texts
    assert "1 ReLU mean 6.67, std 5.96, 33% zero" in plot.alt
    assert "in steps 1, 2, 3." in plot.alt


def test_a_ridge_is_the_histogram():
    seen = seen_values()
    axes = plot_distributions(seen).axes[0]
    (values,) = [each for step, each in seen.activations["0 Linear"].items() if step == 0]
    heights = axes.get_lines()[0].get_ydata()
    low, high = axes.get_xlim()
    counts = np.histogram(values.sample, 48, (low, high))[0]
    assert np.array_equal(np.flatnonzero(heights[:-1] > 0), np.flatnonzero(counts))


def test_distributions_of_nothing():
    with pytest.raises(ValueError, match="no activations were collected"):
        plot_distributions(Distributions(nn.ReLU()))
    with Distributions(nn.Sequential(nn.ReLU())) as silent:
        silent.model(-torch.ones(3))
    assert plot_distributions(silent).axes.texts[0].get_text() == "100%"


# ------------------------------------------------------------------ gradient flow


def network(library):
    """Give four layers whose gradients are set: some, none, zeros, and some that are not finite."""
    model = library.nn.Sequential(*(library.nn.Linear(2, 1) for _ in range(4)))
    for at, values in ((0, [[1.0, -3.0]]), (2, [[0.0, 0.0]]), (3, [[float("inf"), 1.0]])):
        model[at].weight.grad = library.tensor(values)
        model[at].bias.grad = library.zeros(1) - values[0][0]
    return model


@pytest.mark.parametrize("library", ["minigrad", "torch"])
def test_gradient_flow_has_two_bars_for_each_layer(library):
    model = network(pytest.importorskip(library))
    plot = plot_gradient_flow(model)
    largest, mean = plot.axes.containers
    assert [bar.get_width() for bar in largest] == [3.0]
    assert [bar.get_width() for bar in mean] == [pytest.approx(5 / 3, rel=1e-15)]
    labels = [label.get_text() for label in plot.axes.get_yticklabels()]
    assert labels == [f"{at} Linear" for at in range(4)]
    words = {round(text.get_position()[1]): text.get_text() for text in plot.axes.texts}
    assert words == {1: "no gradient", 2: "0", 3: "inf"}
    assert plot.axes.get_xscale() == "log"
    assert [line.split()[-2:] for line in plot.table.splitlines()[1:]] == [
        ["1.67", "3.00"],
        ["-", "-"],
        ["0", "0"],
        ["inf", "inf"],
    ]
    assert "smallest in 2 Linear, 0, and largest in 3 Linear, inf." in plot.alt
    assert plot_gradient_flow(GradientFlow(model)).table == plot.table
    by_name = plot_gradient_flow(model.named_parameters()).table
    assert by_name.split() == plot.table.replace(" Linear", "").split()


def test_gradient_flow_of_a_model_without_gradients():
    with pytest.raises(ValueError, match="no parameter has a gradient"):
        plot_gradient_flow(nn.Linear(2, 1))
    zeros = nn.Linear(2, 1)
    (zeros(torch.zeros(2)) * 0).sum().backward()
    plot = plot_gradient_flow(zeros)
    assert [text.get_text() for text in plot.axes.texts] == ["0"]
    assert plot.png()
