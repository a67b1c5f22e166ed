"""Give all plots one look: fixed size, colors safe for the color-blind, readable in gray."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from minigrad.viz.shapes import BLUE, GREEN, PURPLE, RULE, VERMILLION, WIRE
from minigrad.viz.theme import PLOTS

# A plot has no ground of its own: it has to be readable on white pages and on dark ones. The ink
# has a contrast of 4.5 to 1 to white and 4.2 to 1 to JupyterLab's dark #111; no color has 4.5 to
# both, for they are only 18.9 to 1 apart.
INK = "#6f7780"
# 3 to 1 or more to both: orange and sky are darker than in the palette.
AMBER, AZURE = "#b97c00", "#3d94cc"
COLORS = (BLUE, VERMILLION, GREEN, PURPLE, AMBER, AZURE, INK)
# More than seven lines go from one of these colors to the next.
RAMP = (BLUE, "#8370b8", "#c7607a", "#c98500")
# One line style for each color, so that lines differ without any color.
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))

SIZE = (6.4, 3.8)
DPI = 110


def matplotlib_module(name: str = "matplotlib") -> ModuleType:
    """Import matplotlib, or say how to get it.

    Args:
        name: the module wanted.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed. "
            "Install it with: pip install 'minigrad-lessons[viz]'"
        ) from error


def style() -> dict[str, Any]:
    """Return the look as matplotlib's settings (`rcParams`).

    Raises:
        ImportError: if matplotlib is not installed.
    """
    cycler = matplotlib_module("cycler").cycler
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": WIRE,
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.prop_cycle": cycler(color=COLORS) + cycler(linestyle=LINES),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 12,
        "axes.titleweight": "bold",
        "figure.constrained_layout.use": True,
        "figure.dpi": DPI,
        "figure.facecolor": "none",
        "figure.figsize": SIZE,
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "grid.alpha": 0.35,
        "grid.color": RULE,
        "grid.linewidth": 0.8,
        "image.cmap": "cividis",
        "legend.frameon": False,
        "lines.linewidth": 2.0,
        "lines.markersize": 7,
        "savefig.dpi": DPI,
        "savefig.facecolor": "none",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }


def use_style() -> None:
    """Give all plots from here on the lessons' look.

    In a notebook it also puts a style into the output, unseen, that lightens plots on dark pages.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    matplotlib_module().rcParams.update(style())
    if "IPython" in sys.modules:
        from IPython import get_ipython
        from IPython.display import display

        if getattr(get_ipython(), "kernel", None) is not None:
            display({"text/html": f"<style>{PLOTS}</style>", "text/plain": ""}, raw=True)


@contextmanager
def styled() -> Iterator[None]:
    """Give the plots made inside the `with` block the lessons' look.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    with matplotlib_module().rc_context(style()):
        yield
