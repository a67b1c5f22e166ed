"""Plot in one style, with words and numbers beside each picture: `Plot` and its results."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.viz import style
from minigrad.viz.collectors import Distributions, Values
from minigrad.viz.style import WIRE, matplotlib_module, styled
from minigrad.viz.text import counted, format_number, text_table


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

    Example:
        >>> from minigrad.viz import Plot
        >>> plot = Plot("The line y = x, from 0 to 1.", size=(4, 3))
        >>> lines = plot.axes.plot([0, 1], [0, 1])
        >>> plot
        Plot: The line y = x, from 0 to 1.
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

    def png(self) -> bytes:
        """Return the plot as the bytes of a PNG file."""
        buffer = io.BytesIO()
        with styled():
            engine = self.figure.get_layout_engine()
            # Once: laid out again, all would move a little each time it is shown. To have it laid
            # out again, set its layout engine to "constrained".
            if engine is not None:
                for _ in range(2):
                    engine.execute(self.figure)
                self.figure.set_layout_engine("none")
            self.figure.savefig(buffer, format="png", metadata={"Description": self.alt})
        return buffer.getvalue()

    def __repr__(self) -> str:
        """Return the alternative text, and the table if there is one."""
        return f"Plot: {self.alt}" + (f"\n\n{self.table}" if self.table else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[Any, Any]:
        data = {"text/plain": repr(self), "image/png": base64.b64encode(self.png()).decode("ascii")}
        return data, {"image/png": {"alt": self.alt}}


def write(axes: Any, x: float, y: float, text: str, **look: Any) -> Any:
    """Write small text into a plot, by default in the coordinates of its data."""
    return axes.text(x, y, text, **{"fontsize": 9, "color": style.PLOT_INK, "va": "center", **look})


def _number(value: Any) -> float:
    return float(value.item() if hasattr(value, "item") else value)


@styled()
def plot_function_and_tangent(
    function: Callable[[float], Any],
    at: float,
    slope: Any,
    *,
    span: float = 1.0,
    xlabel: str = "x",
    title: str | None = None,
) -> Plot:
    """Plot a function of one number with the tangent that a computed gradient gives.

    If the gradient is right, the line touches the curve.

    Args:
        function: takes a float, returns a number or a tensor with one entry.
        at: where the gradient was computed.
        slope: the gradient there, a number or a tensor with one entry.
        span: how far to plot to both sides.
        xlabel: name of the argument.
        title: a line above.

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
    alt = f"L as a function of {xlabel}, with its tangent at {xlabel} = {where}: "
    alt += f"L = {value}, slope {tilt}."
    xs = [at - span + 2 * span * step / 120 for step in range(121)]
    ys = [_number(function(x)) for x in xs]
    plot = Plot(alt)
    axes = plot.axes
    axes.plot(xs, ys, color=style.BLUE, linestyle="-", label=f"L({xlabel})")
    reach = [at - 0.6 * span, at + 0.6 * span]
    line = [height + steep * (x - at) for x in reach]
    axes.plot(reach, line, color=style.VERMILLION, linestyle="--", label=f"tangent, slope {tilt}")
    axes.plot([at], [height], "o", color=style.PLOT_INK, label=f"L({where}) = {value}")
    axes.set(xlabel=xlabel, ylabel="L", title=title or "")
    axes.legend()
    return plot


@styled()
def plot_chain(factors: Sequence[tuple[str, Any]], *, title: str | None = None) -> Plot:
    """Plot how a gradient grows or shrinks as the chain rule multiplies it, factor by factor.

    Args:
        factors: pairs of a name (`"dL/dy"`) and a local derivative, from the loss on.
        title: a line above.

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
    products = np.cumprod([_number(factor) for _, factor in factors]).tolist()
    names = [name if at == 0 else f"times {name}" for at, (name, _) in enumerate(factors)]
    values = [format_number(product) for product in products]
    words = [f"after {name} {value}" for name, value in zip(names, values, strict=True)]
    plot = Plot(f"Products along the chain rule: {', '.join(words)}.")
    axes = plot.axes
    bars = axes.bar(names, products, color=style.BLUE, edgecolor=WIRE, width=0.6)
    axes.bar_label(bars, values, padding=3)
    axes.axhline(0.0, color=WIRE, linewidth=1.0, linestyle="-")
    axes.margins(y=0.15)
    axes.set(ylabel="gradient so far", title=title or "")
    axes.grid(visible=False, axis="x")
    return plot


_BINS = 48
_HEIGHT = 1.7  # of the highest ridge, when ridges stand 1 apart


@styled()
def plot_distributions(seen: Distributions, *, title: str | None = None) -> Plot:
    """Plot the values of each layer in a panel, one ridge for each of up to five steps.

    A ridge is a histogram, the first step at the top and the last at the bottom. Exact zeros are
    left out of it; their share stands at the right.

    Args:
        seen: What was collected.
        title: A line above.

    Returns:
        The plot. Its table has the means, standard deviations and shares of zeros of the steps
        shown.

    Raises:
        ValueError: If nothing was collected.
        ImportError: If matplotlib is not installed.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.ReLU()
        >>> with Distributions(layer) as seen:
        ...     layer(torch.tensor([-1.0, 2.0, 4.0, -3.0]))
        tensor([0., 2., 4., 0.])
        >>> plot_distributions(seen)
        Plot: Distribution of the activations of 1 layer in step 1. In step 1: ReLU mean 1.50, \
std 1.66, 50% zero.
        <BLANKLINE>
        layer  step  mean   std  zero
        ReLU      1  1.50  1.66   50%
    """
    values = seen.activations
    if not values:
        raise ValueError("no activations were collected; run the model inside the with block")
    places = np.linspace(0, seen.steps - 1, min(5, seen.steps)).round().astype(int).tolist()
    rows = [
        [name, str(step + 1), *each[step].cells]
        for name, each in values.items()
        for step in places
        if step in each
    ]
    words = [
        "{} mean {}, std {}, {} zero".format(name, *each[places[-1]].cells)
        for name, each in values.items()
        if places[-1] in each
    ]
    numbers, noun = ", ".join(str(step + 1) for step in places), counted(len(values), "layer")
    alt = f"Distribution of the activations of {noun} in step{'s' * (len(places) > 1)} {numbers}. "
    alt += f"In step {places[-1] + 1}: {'; '.join(words)}."
    columns = min(4, len(values))
    lines = math.ceil(len(values) / columns)
    size = (max(4.8, 2.5 * columns), 0.9 + lines * (1.0 + 0.28 * len(places)))
    table = text_table(["layer", "step", "mean", "std", "zero"], rows)
    plot = Plot(alt, columns, size, rows=lines, table=table)
    panels = plot.axes if isinstance(plot.axes, list) else [plot.axes]
    for at, (axes, (name, each)) in enumerate(zip(panels, values.items(), strict=False)):
        _ridges(axes, [(step, each[step]) for step in places if step in each])
        axes.set_title(name, fontsize=10)
        if at % columns == 0:
            axes.set_ylabel("step")
    for axes in panels[len(values) :]:
        axes.set_axis_off()
    plot.figure.supxlabel("value of the output; at the right: exact zeros", fontsize=10)
    if title:
        plot.figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    return plot


def _ridges(axes: Any, shown: list[tuple[int, Values]]) -> None:
    every = np.sort(np.concatenate([*(values.sample for _, values in shown), np.zeros(1)]))
    low, high = (float(np.quantile(every, q, method="lower")) for q in (0.002, 0.998))
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, _BINS + 1)
    counts = [
        np.histogram(values.sample, edges)[0] / max(1, len(values.sample)) * (1 - values.zeros)
        for _, values in shown
    ]
    highest = max(float(count.max()) for count in counts) or 1.0
    for place, (count, (_, values)) in enumerate(zip(counts, shown, strict=True)):
        tops = -place + np.append(count, count[-1]) / highest * _HEIGHT
        look = {"step": "post", "color": style.SKY, "alpha": 0.85, "zorder": 2 + 2 * place}
        axes.fill_between(edges, -place, tops, **look)
        line = {"color": WIRE, "linewidth": 0.9, "linestyle": "-", "zorder": 2 + 2 * place}
        axes.step(edges, tops, where="post", **line)
        if values.zeros:
            transform = axes.get_yaxis_transform()
            write(axes, 1.02, 0.2 - place, values.cells[2], transform=transform, fontsize=8)
    axes.set_yticks([-place for place in range(len(shown))], [str(step + 1) for step, _ in shown])
    axes.set_ylim(1 - len(shown) - 0.15, _HEIGHT + 0.1)
    axes.set_xlim(low, high)
    axes.grid(visible=False, axis="y")
    axes.tick_params(labelsize=9)
    axes.xaxis.get_major_locator().set_params(nbins=4)
    if low < 0 < high:
        axes.axvline(0.0, color=WIRE, linewidth=0.8, linestyle=":", zorder=1)
