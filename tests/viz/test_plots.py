"""Plots: in one style, described in words, and matplotlib only when one is made."""

import base64
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from minigrad.viz import Plot, plot_chain, plot_function_and_tangent, styled, use_style
from minigrad.viz import style as style_module

pytest.importorskip("matplotlib")


def test_importing_the_package_does_not_import_matplotlib():
    code = (
        "import sys, minigrad.viz; print([m for m in ('matplotlib', 'sympy') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(style_module, "import_module", missing)
    for call in (use_style, lambda: Plot("nothing"), lambda: plot_chain([("a", 1.0)])):
        with pytest.raises(ImportError, match="pip install matplotlib"):
            call()


def test_styled_ends_with_the_block():
    import matplotlib

    before = matplotlib.rcParams["figure.dpi"], matplotlib.rcParams["lines.linewidth"]
    with styled():
        assert matplotlib.rcParams["figure.dpi"] == style_module.DPI
    assert (matplotlib.rcParams["figure.dpi"], matplotlib.rcParams["lines.linewidth"]) == before
    with matplotlib.rc_context():
        use_style()
        assert tuple(matplotlib.rcParams["figure.figsize"]) == style_module.SIZE
        cycle = list(matplotlib.rcParams["axes.prop_cycle"])
    assert len({entry["color"] for entry in cycle}) == 9
    assert len({str(entry["linestyle"]) for entry in cycle}) == 9


def test_in_a_notebook_the_style_lightens_plots_on_dark_pages(monkeypatch):
    display = pytest.importorskip("IPython.display")
    import IPython
    import matplotlib

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
    class OneEntry:
        def __init__(self, value):
            self.value = value

        def item(self):
            return self.value

    plot = plot_function_and_tangent(
        lambda x: OneEntry((x * x - 1) ** 2),
        at=0.3,
        slope=OneEntry(-1.092),
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


def test_a_plot_shows_itself_once_as_png_with_words():
    plot = plot_chain([("a", 2.0), ("b", -0.5)])
    plot.alt = "Two bars."
    data, metadata = plot._repr_mimebundle_()
    assert data["text/plain"] == "Plot: Two bars."
    png = base64.b64decode(data["image/png"])
    assert png.startswith(b"\x89PNG")
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    assert (width, height) == tuple(round(side * style_module.DPI) for side in style_module.SIZE)
    assert metadata["image/png"]["alt"] == "Two bars."
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )


def test_several_axes():
    plot = Plot("Two empty axes.", columns=2, size=(8.0, 3.0))
    assert len(plot.axes) == 2
    assert len(plot.figure.axes) == 2
