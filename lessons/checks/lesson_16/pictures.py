"""Draw the three figures of lesson 16 from what the notebook has measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.viz.plots import Plot, write
from minigrad.viz.style import AMBER, BLUE, GREEN, PLOT_INK, VERMILLION, WIRE, styled

Course = Sequence[tuple[float, float, int]]


@styled()
def plot_course(usual: Course, inside: Course) -> Plot:
    """Plot the memory over the course of one step, and the part of it that gradients hold.

    Args:
        usual: for each event megabytes in all, megabytes of gradients, number of gradients.
        inside: the same with the optimizer's step in backward.
    """
    plot = Plot(
        "Memory during one training step, in two panels with the same axes. Usual "
        "loop: a level stretch in forward, then a straight rise through backward as gradients pile "
        "up. Step in backward: level all the way, with a sliver of gradient at a time.",
        2,
        (10, 3.9),
    )
    top = max(total for course in (usual, inside) for total, _, _ in course) * 1.12
    for axes, course, title in zip(
        plot.axes, (usual, inside), ("usual loop", "step inside backward"), strict=True
    ):
        total = np.array([each[0] for each in course])
        held = np.array([each[1] for each in course])
        at = np.arange(len(course))
        axes.fill_between(at, total - held, total, color=AMBER, alpha=0.75, linewidth=0)
        axes.fill_between(at, 0, total - held, color=BLUE, alpha=0.25, linewidth=0)
        axes.plot(at, total, color=BLUE, linestyle="-")
        first = next((k for k, each in enumerate(course) if each[2]), len(course))
        axes.axvline(first - 0.5, color=WIRE, linewidth=1.0, linestyle=":")
        write(axes, first - 1.2, top * 0.96, "forward", ha="right")
        write(axes, first + 0.4, top * 0.96, "backward", ha="left")
        axes.set(
            title=title,
            xlabel="event: a layer, then a gradient",
            ylim=(0, top),
            xlim=(0, len(course) - 1),
        )
        axes.grid(visible=False, axis="x")
    plot.axes[0].set_ylabel("MB")
    write(plot.axes[0], 2, top * 0.3, "parameters,\nAdam's memory,\nlayers' outputs")
    peak = int(np.argmax([each[1] for each in usual]))
    plot.axes[0].annotate(
        "gradients",
        (peak - 3, usual[peak - 3][0] - usual[peak - 3][1] / 2),
        (peak * 0.53, top * 0.87),
        fontsize=9,
        arrowprops={"arrowstyle": "-", "color": PLOT_INK},
    )
    return plot


@styled()
def plot_trade(
    costs: Mapping[str, Any],
    seconds: Mapping[str, float],
    peaks: Mapping[int, float],
    unit: float,
    blocks: int,
) -> Plot:
    """Plot memory against time for each way, and memory against the number of segments.

    Args:
        costs: for each way its peak.
        seconds: for each way how long it took.
        peaks: for each number of segments the megabytes at the peak.
        unit: megabytes of one block's output.
        blocks: how many blocks there are.
    """
    plot = Plot(
        "Left, peak memory against time of forward and backward, both relative to plain. Packing "
        "each memory once in float16 uses more than half of plain's memory, six segments about a "
        "third, and disk least. Right, peak memory against the number of segments: measured dots "
        "lie a little above the curve k + 36 / k, lowest at 6.",
        2,
        (10, 4.2),
        widths=(1.25, 1),
    )
    left, right = plot.axes
    plain = costs["plain"]
    looks = zip("osD^", (PLOT_INK, VERMILLION, BLUE, GREEN), strict=True)
    for (name, cost), (marker, color) in zip(costs.items(), looks, strict=True):
        at = seconds[name] / seconds["plain"], 100 * cost.peak / plain.peak
        left.plot(*at, marker, color=color, markeredgecolor=WIRE, markersize=9)
        below = name == "plain"
        left.annotate(
            name,
            at,
            (0, -10 if below else 9),
            textcoords="offset points",
            fontsize=9,
            ha="center",
            va="top" if below else "bottom",
        )
    left.axhline(100, color=WIRE, linewidth=1.0, linestyle=":")
    left.margins(x=0.18)
    left.set(xlabel="time, plain = 1", ylabel="peak memory, % of plain", ylim=(0, 128))
    left.set_title("memory against time", fontsize=11)
    every = np.linspace(1, blocks, 400)
    right.plot(every, (every + blocks / every) * unit, color=WIRE, label=f"k + {blocks} / k")
    right.plot(list(peaks), list(peaks.values()), "o", color=BLUE, label="measured")
    right.set(xlabel="number of segments k", ylabel="peak memory, MB", ylim=(0, None))
    right.set_xscale("log")
    right.minorticks_off()
    right.set_xticks(list(peaks), [str(k) for k in peaks])
    right.set_title("checkpoints", fontsize=11)
    right.legend(fontsize=9, loc="lower left")
    return plot


@styled()
def plot_messages(ranks: Sequence[Sequence[Sequence[Any]]], note: str = "") -> Plot:
    """Plot for each process when its gradients came, and when its buckets traveled.

    Args:
        ranks: for each process a list of events: what it was, of what, and when in seconds.
        note: where it was recorded; empty for here.
    """
    plot = Plot(
        "A timeline with a row for each process: forward, then backward from a mark on. Ticks on "
        "its line mark the gradients as backward reaches them, from layer 12 to layer 0. Below it "
        "one bar for each bucket: those of buckets 0 to 2 begin before backward is over, and that "
        "of bucket 3 when it is.",
        1,
        (10, 1.0 + 1.6 * len(ranks)),
    )
    axes = plot.axes
    zero = min(when for events in ranks for _, _, when in events)
    for rank, events in enumerate(ranks):
        base = -2.4 * rank
        at = [(what, name, (when - zero) * 1e3) for what, name, when in events]
        began, over = (
            next(when for what, _, when in at if what == each) for each in ("backward", "over")
        )
        axes.plot([at[0][2], over], [base, base], color=PLOT_INK, linestyle="-", linewidth=1.2)
        for what, name, when in at:
            if what == "gradient" and name.endswith("weight"):
                layer = name.partition(".")[0]
                axes.plot([when], [base], "|", color=PLOT_INK, markersize=13)
                last = layer == "0"  # soon after the one before it
                write(
                    axes,
                    when,
                    base + 0.42,
                    "  0" if last else layer,
                    ha="left" if last else "center",
                )
        starts = {name: when for what, name, when in at if what == "start"}
        ends = {name: when for what, name, when in at[::-1] if what == "end"}
        for bucket, start in starts.items():
            row = base - 0.45 - 0.36 * bucket
            look = {"color": (BLUE, VERMILLION, GREEN, AMBER)[bucket % 4], "edgecolor": WIRE}
            axes.barh(row, ends[bucket] - start, left=start, height=0.3, **look)
            write(axes, start, row, f"bucket {bucket} ", ha="right")
        axes.vlines(began, base - 0.5, base + 0.2, color=WIRE, linestyle=":")
        write(axes, began, base - 0.4, "backward begins ", ha="right")
        axes.vlines(over, base - 0.45 - 0.36 * len(starts), base + 0.2, color=WIRE, linestyle=":")
        write(axes, over, base, "  backward over", ha="left")
    axes.set_yticks(
        [-2.4 * rank for rank in range(len(ranks))], [f"rank {k}" for k in range(len(ranks))]
    )
    axes.set_ylim(-2.4 * len(ranks) + 0.5, 0.8)
    axes.margins(x=0.08)
    axes.set_xlabel("milliseconds since the step began")
    axes.set_title(
        f"gradients (ticks) and buckets (bars){', ' + note if note else ''}", fontsize=11
    )
    axes.grid(visible=False, axis="y")
    return plot
