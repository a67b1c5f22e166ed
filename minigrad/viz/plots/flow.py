"""Plot how the gradient flows through the layers: norms, update ratios and dead units."""

from __future__ import annotations

import math
from typing import Any

from minigrad.viz.collecting import VANISHING, GradientFlow, exploding_from, median
from minigrad.viz.plots.plot import ZONE, Plot, looks, write
from minigrad.viz.shapes import RULE, WIRE
from minigrad.viz.style import INK, matplotlib_module, styled
from minigrad.viz.tables import significant, text_table

GUIDE = 1e-3  # update / weight of a network that learns at a usual pace


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
    alt = f"Gradient norm of {_count(len(layers), 'layer')} over "
    alt += f"{_count(len(flow.steps), 'step')}, on a log scale; median: {', '.join(told)}."
    height = max(3.8, 1.3 + 0.34 * len(layers))
    plot = Plot(alt, 2, (9.6, height), widths=(1.15, 1), table=flow.table)
    lines, bars = plot.axes
    steps = range(1, len(flow.steps) + 1)
    for values, look in zip(norms.values(), looks(len(layers)), strict=True):
        shown = [value if value > 0 and math.isfinite(value) else math.nan for value in values]
        lines.plot(steps, shown, markevery=_every(len(steps)), **look)
    nearest = middle[flow.reference] or 0.0
    finite = [v for row in norms.values() for v in row if v > 0 and math.isfinite(v)] or [1.0]
    zones = [VANISHING * nearest, exploding_from(nearest)] if 0 < nearest < math.inf else []
    low = max(min([*finite, *zones[:1]]) / 6, 1e-300)
    high = min(max(finite) * 4, 1e300)
    _log_limits(lines, low, high, "y")
    lines.set(xlabel="step", ylabel="norm of the gradient")
    lines.set_title("over the steps", fontsize=10)
    _few_steps(lines, len(steps))
    if zero := [name for name, values in norms.items() if all(value == 0 for value in values)]:
        words = "zero in every step: " + (
            ", ".join(zero) if len(zero) < 4 else f"{len(zero)} layers"
        )
        write(lines, 0.02, 0.04, words, transform=lines.transAxes, fontweight="bold", color=INK)
    for place, (name, look) in enumerate(zip(layers, looks(len(layers)), strict=True)):
        value = middle[name]
        at = low
        if value is not None and 0 < value < math.inf:
            at, look_of_bar = value, {"color": look["color"], "edgecolor": WIRE, "height": 0.6}
            bars.barh(place, value - low, left=low, **look_of_bar)
            bars.plot([value], [place], **{**look, "linestyle": "none"}, clip_on=False)
        words = "" if marks[name] in ("not finite", "no gradient") else f"{significant(value)}  "
        weight = "bold" if marks[name] else "normal"
        write(bars, at, place, f"   {words}{marks[name]}", fontweight=weight, color=INK)
    if zones and zones[0] < zones[1]:
        bars.axvspan(low, zones[0], color=ZONE, zorder=0)
        bars.axvline(zones[0], color=WIRE, linewidth=1.0, linestyle=":")
    if zones and high > zones[1]:
        bars.axvspan(zones[1], high * 100, color=ZONE, zorder=0)
        bars.axvline(zones[1], color=WIRE, linewidth=1.0, linestyle=":")
    _log_limits(bars, low, high * 60, "x")
    _layer_names(bars, layers)
    bars.set_xlabel("median norm")
    bars.set_title("median; gray: vanishing or exploding", fontsize=10)
    if title:
        plot.figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    return plot


@styled()
def plot_update_ratios(flow: GradientFlow, *, title: str | None = None) -> Plot:
    r"""Plot $\lVert \Delta w \rVert / \lVert w \rVert$ of each layer over the steps.

    The line at 1e-3 is a guide: a network that learns at a usual pace changes about a thousandth
    of its weights' size in a step. The band is a factor of ten to both sides.

    Args:
        flow: What was collected, with an optimizer.
        title: A line above.

    Returns:
        The plot. Its table has the first, the median and the last ratio of each layer.

    Raises:
        ValueError: If no step was collected, or without an optimizer.
        ImportError: If matplotlib is not installed.
    """
    _norms(flow)
    ratios = flow.ratios
    if all(math.isnan(value) for values in ratios.values() for value in values):
        raise ValueError("there are no updates to see; give GradientFlow the optimizer")
    middle = {name: median(values) for name, values in ratios.items()}
    told = ", ".join(f"{name} {significant(value)}" for name, value in middle.items())
    alt = f"Ratio of update to weight of {_count(len(ratios), 'layer')} over "
    alt += f"{_count(len(flow.steps), 'step')}, on a log scale, with a guide at 1e-3; "
    alt += f"median: {told}."
    rows = [
        [name, *map(significant, (values[0], middle[name], values[-1]))]
        for name, values in ratios.items()
    ]
    table = text_table(["layer", "update / weight: first", "median", "last"], rows)
    plot = Plot(alt, size=(8.0, max(3.8, 1.2 + 0.26 * len(rows))), table=table)
    axes, steps = plot.axes, range(1, len(flow.steps) + 1)
    axes.axhspan(GUIDE / 10, GUIDE * 10, color=ZONE, zorder=0)
    axes.axhline(GUIDE, color=WIRE, linewidth=1.2, linestyle="--")
    for (name, values), look in zip(ratios.items(), looks(len(ratios)), strict=True):
        shown = [value if value > 0 and math.isfinite(value) else math.nan for value in values]
        never = "" if any(value > 0 for value in values) else " (never changes)"
        axes.plot(steps, shown, markevery=_every(len(steps)), label=f"{name}{never}", **look)
    finite = [v for row in ratios.values() for v in row if v > 0 and math.isfinite(v)]
    _log_limits(axes, min([*finite, GUIDE / 10]) / 2, max([*finite, GUIDE * 10]) * 2, "y")
    write(
        axes,
        1.0,
        GUIDE * 1.08,
        "1e-3 ",
        transform=axes.get_yaxis_transform(),
        ha="right",
        va="bottom",
    )
    axes.set(xlabel="step", ylabel="size of update / size of weight")
    _few_steps(axes, len(steps))
    if title:
        axes.set_title(title)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
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
    alt = f"Share of dead units of {_count(len(dead), 'ReLU')} over "
    alt += f"{_count(len(flow.steps), 'step')}; in the last: {told}."
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
        at = 1.01
        words = f"{100 * shares[-1]:.0f}%"
        transform = axes.get_yaxis_transform()
        write(axes, at, place, words, transform=transform, color=INK, fontsize=10)
    axes.set(xlabel="step", title=title or "dead units; at the right the share in the last step")
    axes.title.set_fontsize(11)
    _layer_names(axes, list(dead))
    _few_steps(axes, count)
    axes.grid(visible=False)
    bar = plot.figure.colorbar(image, ax=axes, pad=0.09, ticks=[0, 50, 100])
    bar.set_label("% dead")
    bar.outline.set_edgecolor(RULE)
    return plot


def _norms(flow: GradientFlow) -> dict[str, list[float]]:
    if not flow.steps:
        raise ValueError("no step was collected; run training steps inside the with block")
    return flow.norms


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _every(steps: int) -> int:
    """Set markers on about eight of the points only."""
    return max(1, steps // 8)


def _few_steps(axes: Any, steps: int) -> None:
    """Number the steps by whole numbers."""
    if steps <= 10:
        axes.set_xticks(range(1, steps + 1))
    else:
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlim(0.5, steps + 0.5)


def _log_limits(axes: Any, low: float, high: float, which: str) -> None:
    getattr(axes, f"set_{which}scale")("log")
    getattr(axes, f"set_{which}lim")(low, high)
    getattr(axes, f"{which}axis").set_minor_locator(_no_ticks())


def _no_ticks() -> Any:
    return matplotlib_module("matplotlib.ticker").NullLocator()


def _layer_names(axes: Any, names: list[str]) -> None:
    """Write the layers down the vertical axis, the input at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
