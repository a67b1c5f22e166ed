"""Make a plot that carries a description and its numbers in words, and shows itself: `Plot`."""

import base64
import io
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from minigrad.viz.shapes import RULE, WIRE
from minigrad.viz.style import COLORS, INK, LINES, RAMP, matplotlib_module, styled

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">")
ZONE = (RULE, 0.16)  # a part of a plot that is marked by its ground


class Plot:
    """A matplotlib figure in the lessons' look, with alternative text and its numbers.

    At the end of a notebook cell it shows itself as PNG; where there are no pictures, as its
    alternative text and the table of the numbers behind it. The text is the same on every machine,
    so that stored notebooks can be compared. It does not touch `pyplot`, so nothing is shown twice.

    Attributes:
        figure: matplotlib's Figure.
        axes: its Axes; a list of them, row by row, if there are several.
        alt: the alternative text.
        table: the numbers behind the plot as text; empty if the alternative text has them all.
    """

    def __init__(
        self,
        alt: str,
        columns: int = 1,
        size: tuple[float, float] | None = None,
        *,
        rows: int = 1,
        widths: Sequence[float] | None = None,
        table: str = "",
    ) -> None:
        """Make an empty plot.

        Args:
            alt: what the plot shows, in words, with the numbers that matter.
            columns: how many axes side by side.
            size: width and height in inches; by default the style's.
            rows: how many rows of them.
            widths: how wide the columns are against each other; by default all the same.
            table: the numbers behind the plot.

        Raises:
            ImportError: if matplotlib is not installed.
        """
        with styled():
            self.figure: Any = matplotlib_module("matplotlib.figure").Figure(figsize=size)
            grid = self.figure.add_gridspec(rows, columns, width_ratios=widths)
            axes = [self.figure.add_subplot(grid[at]) for at in range(rows * columns)]
        self.axes: Any = axes[0] if len(axes) == 1 else axes
        self.alt = alt
        self.table = table
        self._settled: Any = None

    def png(self) -> bytes:
        """Return the plot as the bytes of a PNG file."""
        buffer = io.BytesIO()
        with styled():
            self._settle()
            self.figure.savefig(buffer, format="png", metadata={"Description": self.alt})
        return buffer.getvalue()

    def _settle(self) -> None:
        """Lay the figure out once; laid out again, all would move a little each time it is shown.

        To have it laid out anew, set its layout engine to "constrained".
        """
        engine = self.figure.get_layout_engine()
        if engine is not None and engine is not self._settled:
            for _ in range(2):
                engine.execute(self.figure)
            self.figure.set_layout_engine("none")
            self._settled = self.figure.get_layout_engine()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the plot to a `.png` file and return its path.

        Raises:
            ValueError: if the name does not end in `.png`.
        """
        path = Path(path)
        if path.suffix != ".png":
            raise ValueError(f"cannot write {path.name!r}: the name must end in .png")
        path.write_bytes(self.png())
        return path

    def __repr__(self) -> str:
        """Return the alternative text, and the table if there is one."""
        return f"Plot: {self.alt}" + (f"\n\n{self.table}" if self.table else "")

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = {"text/plain": repr(self), "image/png": base64.b64encode(self.png()).decode("ascii")}
        return data, {"image/png": {"alt": self.alt}}


def looks(count: int) -> list[dict[str, Any]]:
    """Give `count` looks for lines: color, line style and marker, each telling them apart.

    Up to seven take the style's colors. More go from blue over red to amber, ever lighter, as the
    layers of a deep model go from its input to its loss.
    """
    if count <= len(COLORS):
        colors = list(COLORS[:count])
    else:
        maps = matplotlib_module("matplotlib.colors")
        ramp = maps.LinearSegmentedColormap.from_list("layers", RAMP)
        colors = [ramp(at / (count - 1)) for at in range(count)]
    return [
        {
            "color": color,
            "linestyle": LINES[at % len(LINES)],
            "marker": MARKERS[at % len(MARKERS)],
            "markeredgecolor": WIRE,
            "markeredgewidth": 0.6,
        }
        for at, color in enumerate(colors)
    ]


def write(axes: Any, x: float, y: float, text: str, **look: Any) -> Any:
    """Write small text into a plot, by default in the coordinates of its data."""
    return axes.text(x, y, text, **{"fontsize": 9, "color": INK, "va": "center", **look})
