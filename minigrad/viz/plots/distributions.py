"""Plot which values the layers' outputs and gradients have, step by step, as ridgelines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.viz.collecting_values import Distributions, Values
from minigrad.viz.plots.plot import Plot, write
from minigrad.viz.shapes import ORANGE, SKY, WIRE
from minigrad.viz.style import INK, styled
from minigrad.viz.tables import significant, text_table

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
    noun = f"{len(values)} layer{'' if len(values) == 1 else 's'}"
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
            write(axes, 0.5, 0.85, "all zero", color=INK, **look)
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
        [
            name,
            str(step + 1),
            each[step].mean_text,
            significant(each[step].std),
            _zeros(each[step]),
            str(each[step].not_finite or ""),
        ]
        for name, each in values.items()
        for step in steps
        if step in each
    ]
    head = ["layer", "step", "mean", "std", "zero", "not finite"]
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return text_table(head, rows)


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
    fill = SKY if decades is None else ORANGE
    for place, (count, (_, values)) in enumerate(zip(counts, shown, strict=True)):
        base = -place
        tops = base + np.append(count, count[-1]) / highest * _HEIGHT
        order = 2 + 2 * place
        axes.fill_between(edges, base, tops, step="post", color=fill, alpha=0.85, zorder=order)
        axes.step(edges, tops, where="post", color=WIRE, linewidth=0.9, linestyle="-", zorder=order)
        if values.zeros:
            transform = axes.get_yaxis_transform()
            write(axes, 1.02, base + 0.2, _zeros(values), transform=transform, fontsize=8)
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
