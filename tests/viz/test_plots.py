"""Plots: in one style, described in words, with the numbers that hooks collected."""

from __future__ import annotations

import base64
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import (
    Distributions,
    Plot,
    plot_chain,
    plot_distributions,
    plot_function_and_tangent,
    styled,
    use_style,
)
from minigrad.viz import style as style_module
from minigrad.viz.style import COLORS, DPI, PLOT_INK, SIZE, WIRE, matplotlib_module

from .graphs import contrasts, told_by

matplotlib = pytest.importorskip("matplotlib")


def test_importing_the_package_does_not_import_matplotlib():
    program = "import sys, minigrad.viz; print({'matplotlib', 'sympy'} & {*sys.modules})"
    assert told_by(program) == "set()\n"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(style_module, "import_module", missing)
    for call in (use_style, lambda: Plot("nothing"), lambda: plot_chain([("a", 1.0)])):
        with pytest.raises(ImportError, match="pip install matplotlib"):
            call()


def test_styled_ends_with_the_block():
    before = matplotlib.rcParams["figure.dpi"], matplotlib.rcParams["lines.linewidth"]
    with styled():
        assert matplotlib.rcParams["figure.dpi"] == DPI
    assert (matplotlib.rcParams["figure.dpi"], matplotlib.rcParams["lines.linewidth"]) == before
    with matplotlib.rc_context():
        use_style()
        assert tuple(matplotlib.rcParams["figure.figsize"]) == SIZE
        cycle = list(matplotlib.rcParams["axes.prop_cycle"])
    assert len({entry["color"] for entry in cycle}) == 9
    assert len({str(entry["linestyle"]) for entry in cycle}) == 9


def test_in_a_notebook_the_style_lightens_plots_on_dark_pages(monkeypatch):
    display = pytest.importorskip("IPython.display")
    import IPython

    shown = []
    monkeypatch.setattr(display, "display", lambda data, raw: shown.append(data))
    with matplotlib.rc_context():
        use_style()
        assert shown == []  # not in a notebook
        monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
        use_style()
    (data,) = shown
    assert data["text/plain"] == "" and data["text/html"].startswith("<style>")
    assert '[data-jp-theme-light="false"]' in data["text/html"]


def test_the_tangent_has_the_slope_given_and_touches():
    plot = plot_function_and_tangent(
        lambda x: torch.tensor((x * x - 1) ** 2, dtype=torch.float64),
        at=0.3,
        slope=torch.tensor(-1.092, dtype=torch.float64),
        xlabel="s",
        title="L(s)",
    )
    curve, tangent, point = plot.axes.get_lines()
    (x0, x1), (y0, y1) = tangent.get_data()
    # Plain float arithmetic on numbers near one.
    assert (y1 - y0) / (x1 - x0) == pytest.approx(-1.092, rel=1e-12)
    assert point.get_data()[1][0] == pytest.approx(0.8281, rel=1e-12)
    assert y0 + (0.3 - x0) * -1.092 == pytest.approx(0.8281, rel=1e-12)
    assert len(curve.get_xdata()) == 121
    assert plot.alt == (
        "L as a function of s, with its tangent at s = 0.3000: L = 0.8281, slope -1.0920."
    )


def test_the_chain_multiplies():
    plot = plot_chain([("dL/dy", -1.847648), ("dy/ds", 0.552), ("ds/dx1", 0.4)], title="Chain")
    heights = [bar.get_height() for bar in plot.axes.patches]
    # Plain float arithmetic on numbers near one.
    assert heights == pytest.approx([-1.847648, -1.019901696, -0.4079606784], rel=1e-12)
    assert "after times ds/dx1 -0.4080" in plot.alt
    with pytest.raises(ValueError, match="no factors"):
        plot_chain([])


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
        plot_chain([("a", 2.0), ("b", -0.5)]),
    ]


@pytest.fixture(scope="module")
def made():
    """Make one of each, with its PNG."""
    return [(plot, plot.png()) for plot in plots()]


def test_all_plots_show_themselves_once_with_words_and_numbers(made):
    for plot, png in made:
        data, metadata = plot._repr_mimebundle_()
        assert base64.b64decode(data["image/png"]) == png
        assert metadata["image/png"]["alt"] == plot.alt
        assert plot.alt.endswith(".")
        assert "\n" not in plot.alt
        assert "nan" not in plot.alt
        table = f"\n\n{plot.table}" if plot.table else ""
        assert data["text/plain"] == f"Plot: {plot.alt}{table}"
    size = tuple(int.from_bytes(png[at : at + 4]) for at in (16, 20))  # of the last
    assert size == tuple(round(side * DPI) for side in SIZE)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()
    assert len(Plot("Two empty axes.", columns=2, size=(8.0, 3.0)).axes) == 2


def test_the_same_run_gives_the_same_picture(made):
    for (first, png), second in zip(made, plots(), strict=True):
        assert repr(first) == repr(second)
        assert png == second.png()


def test_all_plots_have_the_ground_of_the_page_and_no_label_is_cut_off(made):
    for _, png in made:
        pixels = matplotlib_module("matplotlib.image").imread(io.BytesIO(png), format="png")
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            assert (edge[..., 3] == 0).all()


def test_text_and_lines_stand_out_on_white_pages_and_on_dark_ones():
    white, dark = contrasts(PLOT_INK)
    assert white >= 4.5 and dark >= 4.15  # both together are at most 18.9
    # what the style for dark pages does to plots: halfway up to white, by a quarter
    to_rgb = matplotlib_module("matplotlib.colors").to_rgb
    assert contrasts(tuple(0.25 + 0.75 * each for each in to_rgb(PLOT_INK)))[1] >= 4.5
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
    to_rgb = matplotlib_module("matplotlib.colors").to_rgb
    for plot, _ in made:
        for what, color in colored(plot.figure):
            assert min(contrasts(to_rgb(color))) >= 3, (plot.alt, what, color)


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
