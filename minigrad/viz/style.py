"""Give all plots one look: fixed size, colors safe for the color-blind, readable in gray."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from minigrad.viz.shapes import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION

COLORS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
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
        "axes.edgecolor": "#5c6570",
        "axes.facecolor": "white",
        "axes.grid": True,
        "axes.labelcolor": "black",
        "axes.prop_cycle": cycler(color=COLORS) + cycler(linestyle=LINES),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 12,
        "axes.titleweight": "bold",
        "figure.constrained_layout.use": True,
        "figure.dpi": DPI,
        "figure.facecolor": "white",
        "figure.figsize": SIZE,
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "grid.color": "#d9dde2",
        "grid.linewidth": 0.8,
        "image.cmap": "cividis",
        "legend.frameon": False,
        "lines.linewidth": 2.0,
        "lines.markersize": 7,
        "savefig.dpi": DPI,
        "savefig.facecolor": "white",
        "text.color": "black",
        "xtick.color": "#2f353c",
        "ytick.color": "#2f353c",
    }


def use_style() -> None:
    """Give all plots from here on the lessons' look.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    matplotlib_module().rcParams.update(style())


@contextmanager
def styled() -> Iterator[None]:
    """Give the plots made inside the `with` block the lessons' look.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    with matplotlib_module().rc_context(style()):
        yield
