"""Plot in one style, with words and numbers beside each picture: `Plot` and what comes of it."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.viz import collectors, style
from minigrad.viz.collectors import Distributions, GradientFlow, Values, exploding_from, median
from minigrad.viz.style import WIRE, matplotlib_module, styled
from minigrad.viz.text import counted, format_number, significant, text_table

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">")
ZONE = (style.RULE, 0.16)  # a part of a plot that is marked by its ground


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

    Up to nine take the style's colors. More go from blue over red to amber, ever lighter, as the
    layers of a deep model go from its input to its loss.
    """
    if count <= len(style.COLORS):
        colors = list(style.COLORS[:count])
    else:
        maps = matplotlib_module("matplotlib.colors")
        ramp = maps.LinearSegmentedColormap.from_list("layers", style.RAMP)
        colors = [ramp(at / (count - 1)) for at in range(count)]
    return [
        {
            "color": color,
            "linestyle": style.LINES[at % len(style.LINES)],
            "marker": MARKERS[at % len(MARKERS)],
            "markeredgecolor": WIRE,
            "markeredgewidth": 0.6,
        }
        for at, color in enumerate(colors)
    ]


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
    points: int = 121,
    xlabel: str = "x",
    ylabel: str = "L",
    title: str | None = None,
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
    alt = f"{ylabel} as a function of {xlabel}, with its tangent at {xlabel} = {where}: "
    alt += f"{ylabel} = {value}, slope {tilt}."
    xs = [at - span + 2 * span * step / (points - 1) for step in range(points)]
    ys = [_number(function(x)) for x in xs]
    plot = Plot(alt)
    axes = plot.axes
    axes.plot(xs, ys, color=style.BLUE, linestyle="-", label=f"{ylabel}({xlabel})")
    reach = [at - 0.6 * span, at + 0.6 * span]
    line = [height + steep * (x - at) for x in reach]
    axes.plot(reach, line, color=style.VERMILLION, linestyle="--", label=f"tangent, slope {tilt}")
    axes.plot([at], [height], "o", color=style.PLOT_INK, label=f"{ylabel}({where}) = {value}")
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title or "")
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
    products, running = [], 1.0
    for _, factor in factors:
        running *= _number(factor)
        products.append(running)
    names = [name if at == 0 else f"times {name}" for at, (name, _) in enumerate(factors)]
    values = [format_number(product) for product in products]
    told = [f"after {name} {value}" for name, value in zip(names, values, strict=True)]
    plot = Plot(f"Products along the chain rule: {', '.join(told)}.")
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
_KINDS = ("activations", "gradients")


@styled()
def plot_distributions(
    seen: Distributions, what: str = "activations", *, ridges: int = 5, title: str | None = None
) -> Plot:
    """Plot the values of each layer in a panel, one ridge for each of a few steps.

    A ridge is a histogram, the first step at the top and the last at the bottom. Exact zeros are
    left out of it; their share stands at the right. Activations have an axis of their own in each
    panel. Gradients are shown by their size, on one log scale for all panels, so that a layer
    whose gradient vanishes stands further to the left.

    Args:
        seen: What was collected.
        what: "activations", or "gradients" (with respect to those).
        ridges: For how many steps at most; evenly over those collected, with the first and last.
        title: A line above.

    Returns:
        The plot. Its table has the means, standard deviations and shares of zeros of the steps
        shown.

    Raises:
        ValueError: If `what` is something else, or nothing of it was collected.
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
    if what not in _KINDS:
        raise ValueError(f"what must be 'activations' or 'gradients', not {what!r}")
    values: dict[str, dict[int, Values]] = getattr(seen, what)
    if not values:
        raise ValueError(f"no {what} were collected; run training steps inside the with block")
    if what == "gradients":  # they came in the order of the backward pass
        values = {name: values[name] for name in seen.activations if name in values}
    steps = _spread(sorted({step for each in values.values() for step in each}), ridges)
    told = [
        f"{name} mean {last.mean_text}, std {significant(last.std)}, {_zeros(last)} zero"
        for name, each in values.items()
        if (last := each.get(steps[-1])) is not None
    ]
    numbers = ", ".join(str(step + 1) for step in steps)
    noun = counted(len(values), "layer")
    alt = f"Distribution of the {what} of {noun} in step{'s' * (len(steps) > 1)} {numbers}. "
    alt += f"In step {steps[-1] + 1}: {'; '.join(told)}."
    columns = min(4, len(values))
    rows = math.ceil(len(values) / columns)
    size = (max(4.8, 2.5 * columns), 0.9 + rows * (1.0 + 0.28 * len(steps)))
    plot = Plot(alt, columns, size, rows=rows, table=_table(values, steps))
    panels = plot.axes if isinstance(plot.axes, list) else [plot.axes]
    shared = _decades(values, steps) if what == "gradients" else None
    for at, (axes, (name, each)) in enumerate(zip(panels, values.items(), strict=False)):
        shown = [(step, each[step]) for step in steps if step in each]
        _ridges(axes, shown, shared)
        axes.set_title(name, fontsize=10)
        if not any(len(each.sample) for _, each in shown):
            look = {"transform": axes.transAxes, "ha": "center", "fontweight": "bold"}
            write(axes, 0.5, 0.85, "all zero", **look)
        if at % columns == 0:
            axes.set_ylabel("step")
    for axes in panels[len(values) :]:
        axes.set_axis_off()
    below = "size of the gradient (log scale)" if shared else "value of the output"
    plot.figure.supxlabel(f"{below}; at the right: exact zeros", fontsize=10)
    if title:
        plot.figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    return plot


def _spread(steps: list[int], most: int) -> list[int]:
    places = np.linspace(0, len(steps) - 1, min(max(most, 1), len(steps))).round().astype(int)
    return [steps[place] for place in places]


def _zeros(values: Values) -> str:
    return f"{100 * values.zeros:.0f}%"


def _table(values: dict[str, dict[int, Values]], steps: list[int]) -> str:
    rows = [
        [name, str(step + 1), *collectors.cells(each[step]), str(each[step].not_finite or "")]
        for name, each in values.items()
        for step in steps
        if step in each
    ]
    last = "not finite" if any(row[-1] for row in rows) else ""
    return text_table(["layer", "step", "mean", "std", "zero", last], rows)


def _decades(values: dict[str, dict[int, Values]], steps: list[int]) -> tuple[float, float]:
    """Give the range of the sizes of all gradients, in powers of ten, without stray ones."""
    samples = [each[step].sample for each in values.values() for step in steps if step in each]
    logs = [np.log10(np.abs(sample)) for sample in samples if len(sample)]
    if not logs:
        return -1.0, 1.0
    low = min(float(np.quantile(log, 0.01, method="lower")) for log in logs)
    return math.floor(low), math.ceil(max(float(log[-1]) for log in map(np.sort, logs)) + 0.1)


def _ridges(
    axes: Any, shown: list[tuple[int, Values]], decades: tuple[float, float] | None
) -> None:
    samples = [values.sample for _, values in shown]
    if decades is not None:
        samples = [np.log10(np.abs(sample)) for sample in samples]
        low, high = decades
    else:
        every = np.sort(np.concatenate([*samples, np.zeros(1)]))
        low, high = (float(np.quantile(every, q, method="lower")) for q in (0.002, 0.998))
        if low == high:
            low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, _BINS + 1)
    counts = [
        np.histogram(sample, edges)[0] / max(1, len(sample)) * (1 - values.zeros)
        for sample, (_, values) in zip(samples, shown, strict=True)
    ]
    highest = max(float(count.max()) for count in counts) or 1.0
    fill = style.SKY if decades is None else style.ORANGE
    for place, (count, (_, values)) in enumerate(zip(counts, shown, strict=True)):
        tops = -place + np.append(count, count[-1]) / highest * _HEIGHT
        order = 2 + 2 * place
        axes.fill_between(edges, -place, tops, step="post", color=fill, alpha=0.85, zorder=order)
        axes.step(edges, tops, where="post", color=WIRE, linewidth=0.9, linestyle="-", zorder=order)
        if values.zeros:
            transform = axes.get_yaxis_transform()
            write(axes, 1.02, 0.2 - place, _zeros(values), transform=transform, fontsize=8)
    axes.set_yticks([-place for place in range(len(shown))], [str(step + 1) for step, _ in shown])
    axes.set_ylim(1 - len(shown) - 0.15, _HEIGHT + 0.1)
    axes.set_xlim(low, high)
    axes.grid(visible=False, axis="y")
    axes.tick_params(labelsize=9)
    if decades is not None:
        few = np.unique(np.linspace(low, high, 4).round().astype(int))
        axes.set_xticks(few, [f"$10^{{{power}}}$" for power in few])
    else:
        axes.xaxis.get_major_locator().set_params(nbins=4)
        if low < 0 < high:
            axes.axvline(0.0, color=WIRE, linewidth=0.8, linestyle=":", zorder=1)


@styled()
def plot_gradient_flow(flow: GradientFlow, *, title: str | None = None) -> Plot:
    """Plot the norm of each layer's gradient: over the steps, and its median as a bar.

    Both on a log scale. The gray zone is where a gradient counts as vanishing (under 1/1000 of
    that of the layer nearest to the loss) or exploding (over 1000 times that, or over 1000); what
    the marks say stands at the bars. Norms of zero have no place on a log scale: the bar says "0".

    Args:
        flow: What was collected.
        title: A line above.

    Returns:
        The plot. Its table has the first, the median and the last norm of each layer.

    Raises:
        ValueError: If no step was collected.
        ImportError: If matplotlib is not installed.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(2, 1)
        >>> with GradientFlow(layer) as flow:
        ...     layer(torch.tensor([3.0, 4.0])).sum().backward()
        >>> print(plot_gradient_flow(flow).alt)
        Gradient norm of 1 layer over 1 step, on a log scale; median: Linear 5.10.
    """
    norms, layers = _norms(flow), flow.layers
    middle = {name: median(values) for name, values in norms.items()}
    marks = {name: flow.mark(name) for name in layers}
    told = [
        f"{name} {significant(middle[name])}" + (f" ({marks[name]})" if marks[name] else "")
        for name in layers
    ]
    alt = f"Gradient norm of {counted(len(layers), 'layer')} over "
    alt += f"{counted(len(flow.steps), 'step')}, on a log scale; median: {', '.join(told)}."
    height = max(3.8, 1.3 + 0.34 * len(layers))
    plot = Plot(alt, 2, (9.6, height), widths=(1.15, 1), table=flow.table)
    lines, bars = plot.axes
    steps = range(1, len(flow.steps) + 1)
    for values, look in zip(norms.values(), looks(len(layers)), strict=True):
        shown = [value if value > 0 and math.isfinite(value) else math.nan for value in values]
        lines.plot(steps, shown, markevery=max(1, len(steps) // 8), **look)
    nearest = middle[flow.reference] or 0.0
    finite = [v for row in norms.values() for v in row if v > 0 and math.isfinite(v)] or [1.0]
    border = collectors.VANISHING * nearest
    zones = [border, exploding_from(nearest)] if 0 < nearest < math.inf else []
    low = max(min([*finite, *zones[:1]]) / 6, 1e-300)
    high = min(max(finite) * 4, 1e300)
    _log_limits(lines, low, high, "y")
    lines.set(xlabel="step", ylabel="norm of the gradient")
    lines.set_title("over the steps", fontsize=10)
    _few_steps(lines, len(steps))
    if zero := [name for name, values in norms.items() if all(value == 0 for value in values)]:
        which = ", ".join(zero) if len(zero) < 4 else f"{len(zero)} layers"
        look = {"transform": lines.transAxes, "fontweight": "bold"}
        write(lines, 0.02, 0.04, f"zero in every step: {which}", **look)
    for place, (name, look) in enumerate(zip(layers, looks(len(layers)), strict=True)):
        value, at = middle[name], low
        if value is not None and 0 < value < math.inf:
            at, look_of_bar = value, {"color": look["color"], "edgecolor": WIRE, "height": 0.6}
            bars.barh(place, value - low, left=low, **look_of_bar)
            bars.plot([value], [place], **{**look, "linestyle": "none"}, clip_on=False)
        words = "" if marks[name] in ("not finite", "no gradient") else f"{significant(value)}  "
        weight = "bold" if marks[name] else "normal"
        write(bars, at, place, f"   {words}{marks[name]}", fontweight=weight)
    if zones and zones[0] < zones[1]:
        _zone(bars, zones[0], low)
    if zones and high > zones[1]:
        _zone(bars, zones[1], high * 100)
    _log_limits(bars, low, high * 60, "x")
    _layer_names(bars, layers)
    bars.set_xlabel("median norm")
    bars.set_title("median; gray: vanishing or exploding", fontsize=10)
    if title:
        plot.figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    return plot


@styled()
def plot_dead_units(flow: GradientFlow, *, title: str | None = None) -> Plot:
    """Plot the share of units of each ReLU that were zero for the whole batch, as a heat map.

    Args:
        flow: What was collected.
        title: A line above.

    Returns:
        The plot: a row for each ReLU, a column for each step, bright where units are dead. Its
        table has the first, the highest and the last share.

    Raises:
        ValueError: If no step was collected, or the model has no ReLU.
        ImportError: If matplotlib is not installed.
    """
    _norms(flow)
    dead = flow.dead
    if not dead:
        raise ValueError("no ReLU was seen; functional.relu is no module, nn.ReLU is one")
    told = ", ".join(f"{name} {100 * shares[-1]:.0f}%" for name, shares in dead.items())
    alt = f"Share of dead units of {counted(len(dead), 'ReLU')} over "
    alt += f"{counted(len(flow.steps), 'step')}; in the last: {told}."
    table = flow.table.partition("\n\n")[2]
    plot = Plot(alt, size=(8.0, 1.5 + 0.42 * len(dead)), table=table)
    axes, count = plot.axes, len(flow.steps)
    image = axes.imshow(
        [[100 * share for share in shares] for shares in dead.values()],
        aspect="auto",
        interpolation="nearest",
        vmin=0,
        vmax=100,
        extent=(0.5, count + 0.5, len(dead) - 0.5, -0.5),
    )
    axes.hlines([at + 0.5 for at in range(len(dead) - 1)], 0.5, count + 0.5, color="white")
    for place, shares in enumerate(dead.values()):
        words, transform = f"{100 * shares[-1]:.0f}%", axes.get_yaxis_transform()
        write(axes, 1.01, place, words, transform=transform, fontsize=10)
    axes.set(xlabel="step", title=title or "dead units; at the right the share in the last step")
    axes.title.set_fontsize(11)
    _layer_names(axes, list(dead))
    _few_steps(axes, count)
    axes.grid(visible=False)
    bar = plot.figure.colorbar(image, ax=axes, pad=0.09, ticks=[0, 50, 100])
    bar.set_label("% dead")
    bar.outline.set_edgecolor(style.RULE)
    return plot


def _norms(flow: GradientFlow) -> dict[str, list[float]]:
    if not flow.steps:
        raise ValueError("no step was collected; run training steps inside the with block")
    return flow.norms


def _zone(axes: Any, border: float, end: float) -> None:
    """Mark what lies beyond a border by its ground."""
    axes.axvspan(min(border, end), max(border, end), color=ZONE, zorder=0)
    axes.axvline(border, color=WIRE, linewidth=1.0, linestyle=":")


def _few_steps(axes: Any, steps: int) -> None:
    """Number the steps by whole numbers."""
    if steps <= 10:
        axes.set_xticks(range(1, steps + 1))
    else:
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlim(0.5, steps + 0.5)


def _log_limits(axes: Any, low: float, high: float, which: str) -> None:
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axes.minorticks_off()


def _layer_names(axes: Any, names: list[str]) -> None:
    """Write the layers down the vertical axis, the input at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
