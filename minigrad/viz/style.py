"""Give pictures and plots one look: colors safe for the color-blind, on light and on dark pages.

Pictures and plots have no ground of their own. The lines of a picture keep a contrast of 3 to 1 to
white and to black grounds, and its words stand on cards; so it can be read wherever it is shown, in
a notebook that is not trusted too, which refuses styles. Where styles are taken pictures turn dark
on dark pages, and plots, whose colors mean something, get lighter: in JupyterLab and in exported
notebooks (`data-jp-theme-light`), in books (`data-theme`), in VS Code and Colab.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

# The palette of Okabe and Ito (2008), which color-blind readers can tell apart.
BLUE, GREEN, ORANGE, VERMILLION = "#0072B2", "#009E73", "#E69F00", "#D55E00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"

# Lines have a contrast of 3 to 1 or more to white and to black grounds; words stand on cards.
PAPER, RULE, INK, SOFT, WIRE = "#ffffff", "#8a93a0", "#16191d", "#4d545e", "#66707c"
CARD = "#f6f7f9"
TONES = {"ink": INK, "soft": SOFT, "grad": "#8a3b00", "note": "#3d2f55"}


# A plot has no ground of its own: it has to be readable on white pages and on dark ones. The ink
# has a contrast of 4.5 to 1 to white and 4.2 to 1 to JupyterLab's dark #111; no color has 4.5 to
# both, because they are only 18.9 to 1 apart.
PLOT_INK = "#6f7780"
# 3 to 1 or more to both: orange and sky are darker than in the palette, and two are of our own.
AMBER, AZURE, VIOLET, WINE = "#b97c00", "#3d94cc", "#8a3ddb", "#c51b45"
COLORS = (BLUE, VERMILLION, GREEN, PURPLE, AMBER, AZURE, PLOT_INK, VIOLET, WINE)
# One line style for each color, so that lines differ without any color.
_DASHES = ((5, 1, 1, 1, 1, 1), (8, 2), (1, 1), (3, 4), (9, 2, 2, 2))
LINES = ("-", "--", "-.", ":", *((0, dash) for dash in _DASHES))

SIZE, DPI = (6.4, 3.8), 110


def matplotlib_module(name: str = "matplotlib") -> ModuleType:
    """Import matplotlib, or say how to get it.

    Args:
        name: the module to import.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed. "
            "Install it with: python3 -m pip install matplotlib (or: conda install matplotlib)."
        ) from error


def style() -> dict[str, Any]:
    """Return the look as matplotlib's settings (`rcParams`).

    Raises:
        ImportError: if matplotlib is not installed.
    """
    cycler = matplotlib_module("cycler").cycler
    same = {
        True: ("axes.axisbelow", "axes.grid", "figure.constrained_layout.use"),
        False: ("axes.spines.right", "axes.spines.top", "legend.frameon"),
        "none": ("axes.facecolor", "figure.facecolor", "savefig.facecolor"),
        PLOT_INK: ("axes.labelcolor", "text.color", "xtick.color", "ytick.color"),
        DPI: ("figure.dpi", "savefig.dpi"),
    }
    return {name: value for value, names in same.items() for name in names} | {
        "axes.edgecolor": WIRE,
        "axes.prop_cycle": cycler(color=COLORS) + cycler(linestyle=LINES),
        "axes.titlelocation": "left",
        "axes.titlesize": 12,
        "axes.titleweight": "bold",
        "figure.figsize": SIZE,
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "grid.alpha": 0.35,
        "grid.color": RULE,
        "grid.linewidth": 0.8,
        "image.cmap": "cividis",
        "lines.linewidth": 2.0,
        "lines.markersize": 7,
    }


def use_style() -> None:
    """Give all plots from here on the lessons' look.

    In a notebook it also puts a style into the output, unseen, that lightens plots on dark pages.

    Raises:
        ImportError: if matplotlib is not installed.

    Example:
        >>> import matplotlib
        >>> with matplotlib.rc_context():  # to undo it afterwards
        ...     use_style()
        ...     matplotlib.rcParams["image.cmap"]
        'cividis'
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

    Example:
        >>> import matplotlib
        >>> with styled():
        ...     matplotlib.rcParams["image.cmap"]
        'cividis'
    """
    with matplotlib_module().rc_context(style()):
        yield


_DARK = '[data-jp-theme-light="false"],[data-theme="dark"],html[theme="dark"],.vscode-dark'
_PERHAPS_DARK = '[data-theme="auto"],.minigrad-page'


def on_dark_pages(selector: str, rules: str) -> str:
    """Write rules of style that hold on dark pages only.

    Args:
        selector: What they are for.
        rules: The declarations.

    Example:
        >>> print(on_dark_pages("p", "color:white"))
        :is([data-jp-theme-light="false"],[data-theme="dark"],html[theme="dark"],.vscode-dark) \
p{color:white}
        @media (prefers-color-scheme:dark){:is([data-theme="auto"],.minigrad-page) p{color:white}}
    """
    perhaps = f"@media (prefers-color-scheme:dark){{:is({_PERHAPS_DARK}) {selector}{{{rules}}}}}"
    return f":is({_DARK}) {selector}{{{rules}}}\n{perhaps}"


# White becomes nearly black and black nearly white, and colors keep their hue.
PICTURES = "img.minigrad-ink{background:none!important}\n" + on_dark_pages(
    "img.minigrad-ink", "filter:invert(.9) hue-rotate(180deg)!important"
)
# Lighter by a straight line from black to white: no two colors fall together, none change places.
PLOTS = on_dark_pages(
    ':is(.jp-RenderedImage img,.cell_output img[src$=".png"])',
    "filter:invert(1) brightness(.75) invert(1)!important;background:none!important",
)
# Books put a light card under each output on their dark pages; these outputs need none.
CARDS = on_dark_pages(
    ".cell_output .text_html:has(img.minigrad-ink)",
    "background:none!important;color:inherit!important",
)
PICTURE_STYLE = f"""{PICTURES}
{CARDS}
.minigrad-row{{display:flex;flex-wrap:wrap;gap:12px 28px}}
.minigrad-wide:focus-visible{{outline:2px solid var(--jp-brand-color1,#1976d2)}}"""
