"""Make small plots that carry a description in words and show themselves at the end of a cell."""

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from minigrad.viz.shapes import BLACK, BLUE, VERMILLION
from minigrad.viz.style import matplotlib_module, styled
from minigrad.viz.text import format_number


class Plot:
    """A matplotlib figure in the lessons' look, with alternative text.

    At the end of a notebook cell it shows itself as PNG, and as its alternative text where there
    are no pictures. It does not touch `pyplot`, so nothing is shown twice.

    Attributes:
        figure: matplotlib's Figure.
        axes: its Axes; a list of them if there are several.
        alt: the alternative text.
    """

    def __init__(self, alt: str, columns: int = 1, size: tuple[float, float] | None = None) -> None:
        """Make an empty plot.

        Args:
            alt: what the plot shows, in words, with the numbers that matter.
            columns: how many axes side by side.
            size: width and height in inches; by default the style's.

        Raises:
            ImportError: if matplotlib is not installed.
        """
        with styled():
            self.figure: Any = matplotlib_module("matplotlib.figure").Figure(figsize=size)
            axes = [self.figure.add_subplot(1, columns, at + 1) for at in range(columns)]
        self.axes: Any = axes[0] if columns == 1 else axes
        self.alt = alt

    def png(self) -> bytes:
        """Return the plot as the bytes of a PNG file."""
        buffer = io.BytesIO()
        with styled():
            self.figure.savefig(buffer, format="png", metadata={"Description": self.alt})
        return buffer.getvalue()

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
        """Return the alternative text."""
        return f"Plot: {self.alt}"

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = {"text/plain": repr(self), "image/png": base64.b64encode(self.png()).decode("ascii")}
        return data, {"image/png": {"alt": self.alt}}


def _number(value: Any) -> float:
    return float(value.item() if hasattr(value, "item") else value)


@styled()
def plot_function_and_tangent(
    function: Callable[[float], Any],
    at: float,
    slope: Any,
    *,
    span: float = 1.0,
    points: int = 121,
    xlabel: str = "x",
    ylabel: str = "L",
    title: str | None = None,
    alt: str | None = None,
) -> Plot:
    """Plot a function of one number with the tangent that a computed gradient gives.

    If the gradient is right, the line touches the curve.

    Args:
        function: takes a float, returns a number or a tensor with one entry.
        at: where the gradient was computed.
        slope: the gradient there, a number or a tensor with one entry.
        span: how far to plot to both sides.
        points: how many points of the curve.
        xlabel: name of the argument.
        ylabel: name of the value.
        title: a line above.
        alt: the alternative text; by default a description with the numbers.

    Returns:
        The plot.

    Raises:
        ImportError: if matplotlib is not installed.

    Example:
        >>> plot_function_and_tangent(lambda x: x * x, at=1.0, slope=2.0)
        Plot: L as a function of x, with its tangent at x = 1.0000: L = 1.0000, slope 2.0000.
    """
    height, steep = _number(function(at)), _number(slope)
    where, value, tilt = format_number(float(at)), format_number(height), format_number(steep)
    if alt is None:
        alt = f"{ylabel} as a function of {xlabel}, with its tangent at {xlabel} = {where}: "
        alt += f"{ylabel} = {value}, slope {tilt}."
    xs = [at - span + 2 * span * step / (points - 1) for step in range(points)]
    ys = [_number(function(x)) for x in xs]
    plot = Plot(alt)
    axes = plot.axes
    axes.plot(xs, ys, color=BLUE, linestyle="-", label=f"{ylabel}({xlabel})")
    reach = [at - 0.6 * span, at + 0.6 * span]
    line = [height + steep * (x - at) for x in reach]
    axes.plot(reach, line, color=VERMILLION, linestyle="--", label=f"tangent, slope {tilt}")
    axes.plot([at], [height], "o", color=BLACK, label=f"{ylabel}({where}) = {value}")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if title:
        axes.set_title(title)
    axes.legend()
    return plot


@styled()
def plot_chain(
    factors: Sequence[tuple[str, Any]],
    *,
    title: str | None = None,
    alt: str | None = None,
) -> Plot:
    """Plot how a gradient grows or shrinks as the chain rule multiplies it, factor by factor.

    Args:
        factors: pairs of a name (`"dL/dy"`) and a local derivative, from the loss on.
        title: a line above.
        alt: the alternative text; by default the products in words.

    Returns:
        The plot: a bar for the product after each factor, with its value.

    Raises:
        ValueError: if there are no factors.
        ImportError: if matplotlib is not installed.

    Example:
        >>> plot_chain([("dL/dy", -2.0), ("dy/ds", 0.5)])
        Plot: Products along the chain rule: after dL/dy -2.0000, after times dy/ds -1.0000.
    """
    if not factors:
        raise ValueError("the chain has no factors; give pairs of a name and a local derivative")
    products, running = [], 1.0
    for _, factor in factors:
        running *= _number(factor)
        products.append(running)
    names = [name if at == 0 else f"times {name}" for at, (name, _) in enumerate(factors)]
    values = [format_number(product) for product in products]
    if alt is None:
        pairs = zip(names, values, strict=True)
        alt = "Products along the chain rule: "
        alt += ", ".join(f"after {name} {value}" for name, value in pairs) + "."
    plot = Plot(alt)
    axes = plot.axes
    bars = axes.bar(names, products, color=BLUE, edgecolor=BLACK, width=0.6)
    axes.bar_label(bars, values, padding=3)
    axes.axhline(0.0, color=BLACK, linewidth=1.0, linestyle="-")
    axes.margins(y=0.15)
    axes.set_ylabel("gradient so far")
    axes.grid(visible=False, axis="x")
    if title:
        axes.set_title(title)
    return plot
