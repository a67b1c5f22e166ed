"""Plots of what hooks collected: the numbers drawn, the words, the looks."""

from __future__ import annotations

import base64
import io
import math

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import (
    Distributions,
    GradientFlow,
    plot_dead_units,
    plot_distributions,
    plot_gradient_flow,
)
from minigrad.viz.collectors import FlowStep
from minigrad.viz.plots import looks
from minigrad.viz.style import COLORS, PLOT_INK, WIRE, matplotlib_module

pytest.importorskip("matplotlib")


def flow_of(layers=3, steps=4, **changed):
    """Make a flow of numbers that are easy to find again: 10 ** -layer, half as much each step."""
    model = nn.Sequential(*(nn.Linear(1, 1) for _ in range(layers)))
    flow = GradientFlow(model)
    flow.steps = [
        FlowStep(
            {name: 10.0 ** (at - layers + 1) / 2**step for at, name in enumerate(flow.layers)},
            {name: 1e-3 * (at + 1) for at, name in enumerate(flow.layers)},
            {"1 ReLU": 0.25 * step, "3 ReLU": 1.0},
        )
        for step in range(steps)
    ]
    for step in flow.steps:
        step.norms.update({name.replace("_", " "): value for name, value in changed.items()})
    return flow


def seen_values():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    model[0].weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    model[0].bias.data = torch.zeros(3)
    with Distributions(model) as seen:
        for scale in (1.0, 2.0, 4.0):
            model(scale * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).square().sum().backward()
    return seen


def plots():
    """Make one of each."""
    flow = flow_of()
    return [
        plot_gradient_flow(flow, title="a title"),
        plot_dead_units(flow, title="a title"),
        plot_distributions(seen_values(), title="a title"),
        plot_distributions(seen_values(), "gradients"),
    ]


# ------------------------------------------------------------------ all of them


@pytest.fixture(scope="module")
def made():
    """Make one of each, with its PNG and its pixels."""
    drawn = []
    for plot in [*plots(), plot_gradient_flow(flow_of(12))]:
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
    for color in [*COLORS, WIRE, *(look["color"] for look in looks(12))]:
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


@pytest.mark.parametrize("count", [1, 7, 9, 10])
def test_looks_differ_without_color(count):
    signs = [(look["marker"], str(look["linestyle"])) for look in looks(count)]
    assert len(set(signs)) == count
    assert len({str(look["color"]) for look in looks(count)}) == count


def test_of_many_layers_those_near_the_loss_are_lighter_in_gray():
    grays = [light_of(look["color"]) for look in looks(12)]
    assert grays == sorted(grays)
    assert grays[-1] - grays[0] > 0.12


# ------------------------------------------------------------------ flow


def test_gradient_flow_draws_the_norms_and_their_medians():
    flow = flow_of()
    plot = plot_gradient_flow(flow)
    lines, bars = plot.axes
    assert lines.get_yscale() == bars.get_xscale() == "log"
    for line, norms in zip(lines.get_lines(), flow.norms.values(), strict=True):
        assert line.get_xdata().tolist() == [1, 2, 3, 4]
        assert line.get_ydata().tolist() == norms
    ends = [bar.get_x() + bar.get_width() for bar in bars.patches[:3]]
    # floats added and taken away
    assert ends == pytest.approx([0.00375, 0.0375, 0.375], rel=1e-12)
    assert [label.get_text() for label in bars.get_yticklabels()] == flow.layers
    assert bars.yaxis_inverted()
    assert plot.alt == (
        "Gradient norm of 3 layers over 4 steps, on a log scale; median: "
        "0 Linear 0.00375, 1 Linear 0.0375, 2 Linear 0.375."
    )
    assert plot.table == flow.table


def test_gradient_flow_marks_what_is_wrong():
    flow = flow_of(5, **{"1_Linear": 0.0, "2_Linear": math.nan, "3_Linear": 1e5})
    plot = plot_gradient_flow(flow)
    lines, bars = plot.axes
    written = {text.get_text().strip() for text in bars.texts}
    assert written == {
        "3.75e-05  vanishing",
        "0  zero",
        "not finite",
        "1.00e+05  exploding",
        "0.375",
    }
    assert [text.get_text() for text in lines.texts] == ["zero in every step: 1 Linear"]
    for part in ("0 Linear 3.75e-05 (vanishing)", "1 Linear 0 (zero)", "(not finite)"):
        assert part in plot.alt
    drawn = [line.get_ydata() for line in lines.get_lines()]
    assert np.isnan(drawn[1]).all()
    assert np.isnan(drawn[2]).all()


def test_gradient_flow_where_nothing_came():
    flow = flow_of(2)
    flow.steps = [FlowStep({}, {name: 0.0 for name in flow.layers}) for _ in range(2)]
    plot = plot_gradient_flow(flow)
    assert "0 Linear - (no gradient), 1 Linear - (no gradient)" in plot.alt


def test_dead_units_are_a_row_each():
    plot = plot_dead_units(flow_of())
    (image,) = plot.axes.get_images()
    assert image.get_array().tolist() == [[0.0, 25.0, 50.0, 75.0], [100.0] * 4]
    assert (image.norm.vmin, image.norm.vmax) == (0, 100)
    assert [text.get_text() for text in plot.axes.texts] == ["75%", "100%"]
    assert plot.alt == (
        "Share of dead units of 2 ReLUs over 4 steps; in the last: 1 ReLU 75%, 3 ReLU 100%."
    )
    assert plot.table.splitlines()[1].split() == ["1", "ReLU", "0.0%", "75.0%", "75.0%"]


def test_flow_plots_say_what_is_missing():
    flow = GradientFlow(nn.Linear(1, 1))
    for plot in (plot_gradient_flow, plot_dead_units):
        with pytest.raises(ValueError, match="no step was collected"):
            plot(flow)
    flow.steps = [FlowStep({"Linear": 1.0})]
    with pytest.raises(ValueError, match=r"functional\.relu is no module"):
        plot_dead_units(flow)


# ------------------------------------------------------------------ distributions


def test_distributions_have_a_panel_for_each_layer_and_a_ridge_for_each_step():
    plot = plot_distributions(seen_values(), ridges=2)
    linear, relu = plot.axes
    assert [linear.get_title(loc="left"), relu.get_title(loc="left")] == ["0 Linear", "1 ReLU"]
    assert [label.get_text() for label in linear.get_yticklabels()] == ["1", "3"]
    assert len(linear.collections) == 2
    # of six outputs the third unit's two are negative
    assert [text.get_text() for text in relu.texts] == ["33%", "33%"]
    assert not linear.texts
    assert "1 ReLU mean 6.67, std 5.96, 33% zero" in plot.alt
    assert "in steps 1, 3." in plot.alt


def test_a_ridge_is_the_histogram():
    seen = seen_values()
    axes = plot_distributions(seen, ridges=1).axes[0]
    (values,) = [each for step, each in seen.activations["0 Linear"].items() if step == 0]
    heights = axes.get_lines()[0].get_ydata()
    low, high = axes.get_xlim()
    counts = np.histogram(values.sample, 48, (low, high))[0]
    assert np.array_equal(np.flatnonzero(heights[:-1] > 0), np.flatnonzero(counts))


def test_gradients_share_a_scale_of_powers_of_ten():
    plot = plot_distributions(seen_values(), "gradients")
    first, second = plot.axes
    assert first.get_xlim() == second.get_xlim()
    low, high = first.get_xlim()
    # the gradients are 2 relu(x), from 2 to 32
    assert low <= math.log10(2) < math.log10(32) <= high
    assert all("^{" in label.get_text() for label in first.get_xticklabels())
    assert list(plot.alt.split("In step 3: ")[1].split(" mean")[:1]) == ["0 Linear"]


def test_distributions_of_nothing():
    seen = seen_values()
    with pytest.raises(ValueError, match="must be 'activations' or 'gradients', not 'weights'"):
        plot_distributions(seen, "weights")
    with pytest.raises(ValueError, match="no activations were collected"):
        plot_distributions(Distributions(nn.ReLU()))
    with Distributions(nn.Sequential(nn.ReLU())) as silent:
        silent.model(-torch.ones(3, requires_grad=True)).sum().backward()
    assert "all zero" in [text.get_text() for text in plot_distributions(silent).axes.texts]
    plot_distributions(silent, "gradients")


def test_values_that_are_not_finite_are_told():
    model = nn.Sequential(nn.Identity(), nn.ReLU())
    with Distributions(model) as seen:
        model(torch.tensor([1.0, float("inf"), float("nan")]))
    plot = plot_distributions(seen)
    assert plot.table.splitlines()[0].endswith("not finite")
    assert plot.table.splitlines()[1].split()[-1] == "2"
