"""Plot in which order a pass runs its nodes and fires its hooks, as lanes from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minigrad.autograd.recording import (
    Event,
    GradientAccumulated,
    GradientCaptured,
    GradientSent,
    HookFired,
    Log,
    NodeStarted,
    PassStarted,
    RuleApplied,
)
from minigrad.viz.collecting_calls import Call, ForwardCalls
from minigrad.viz.plots.plot import ZONE, Plot, write
from minigrad.viz.shapes import BLUE, GREEN, ORANGE, PURPLE, RULE, SKY, VERMILLION, WIRE, YELLOW
from minigrad.viz.style import INK, styled

# What each event looks like: marker, fill, size. Every kind has a shape of its own.
_SIGNS: dict[str, tuple[str, str, float]] = {
    "pass starts": (">", INK, 8),
    "gradients have arrived": ("o", "white", 5),
    "rule": ("s", BLUE, 6),
    "adds to .grad": ("o", GREEN, 8),
    "captured by grad()": ("*", GREEN, 12),
    "tensor pre-hook": ("D", SKY, 7),
    "node pre-hook": ("v", PURPLE, 8),
    "node hook": ("^", PURPLE, 8),
    "post-accumulate": ("P", SKY, 9),
    "full backward pre": ("<", ORANGE, 9),
    "full backward": (">", ORANGE, 9),
    "legacy backward": ("X", VERMILLION, 9),
    "forward pre-hook": ("<", YELLOW, 9),
    "forward hook": (">", YELLOW, 9),
}
_KINDS: dict[type[Event], str] = {
    PassStarted: "pass starts",
    NodeStarted: "gradients have arrived",
    RuleApplied: "rule",
    GradientAccumulated: "adds to .grad",
    GradientCaptured: "captured by grad()",
}


@dataclass
class _Mark:
    place: int
    lane: str
    kind: str
    words: str = ""
    target: str = ""


@styled()
def plot_timeline(
    log: Log | None = None,
    forward: ForwardCalls | None = None,
    *,
    only_hooked: bool = False,
    title: str | None = None,
) -> Plot:
    """Plot the order of events: time goes to the right, each node or module has a lane.

    An arrow is a gradient that a node sends to another. Hooks have their names above them. Time
    counts events; it is not measured.

    Args:
        log: The backward pass, from `record()`.
        forward: The forward pass, from `ForwardCalls`; drawn in front of the other.
        only_hooked: Leave out lanes in which no hook fired.
        title: A line above.

    Returns:
        The plot. Its table lists the events.

    Raises:
        ValueError: If there are no events.
        ImportError: If matplotlib is not installed.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.viz import record
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> def double(grad):
        ...     return grad * 2
        >>> handle = x.register_hook(double)
        >>> with record({"x": x}) as log:
        ...     (x * 5).backward()
        >>> print(plot_timeline(log).alt)
        Timeline of 7 events of a backward pass in 2 lanes. Nodes in order: 0 MulBackward0, \
1 AccumulateGrad of x. Hooks in order: tensor pre-hook double at 1 AccumulateGrad of x.
    """
    calls = list(forward.events) if forward is not None else []
    events = list(log.events) if log is not None else []
    if not calls and not events:
        raise ValueError("there are no events; give the log of record(), or ForwardCalls")
    marks, spans = _forward_marks(calls)
    backward = _backward_marks(events, len(calls))
    marks += backward
    lanes = list(dict.fromkeys([*_span_lanes(spans), *(mark.lane for mark in marks)]))
    if only_hooked:
        hooked = {mark.lane for mark in marks if mark.words}
        lanes = [lane for lane in lanes if lane in hooked]
        if not lanes:
            raise ValueError("no hook fired; show all lanes with only_hooked=False")
    alt = _alt(calls, events, lanes, marks)
    logs = [each for each in (forward, log) if each is not None and each.table]
    table = "\n\n".join(each.table for each in logs)
    count = len(calls) + len(events)
    named = max((len(lane) for lane in lanes), default=0)
    size = (
        min(11.5, max(7.0, 2.6 + 0.075 * named + 0.24 * count)),
        1.5 + (0.42 if len(lanes) < 15 else 0.31) * len(lanes),
    )
    plot = Plot(alt, size=size, table=table)
    axes, rows = plot.axes, {lane: row for row, lane in enumerate(lanes)}
    _draw_spans(axes, spans, backward, rows)
    _draw_marks(axes, marks, rows)
    axes.set_yticks(range(len(lanes)), lanes)
    axes.set_ylim(len(lanes) - 0.4, -0.8)
    axes.set_xlim(-0.8, count - 0.2)
    axes.set_xlabel("order of events")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="x")
    if calls and events:
        axes.axvline(len(calls) - 0.5, color=WIRE, linewidth=1.0, linestyle=":")
        transform = axes.get_xaxis_transform()
        look = {"transform": transform, "fontweight": "bold", "va": "bottom"}
        write(axes, 0, 1.0, "forward", **look)
        write(axes, len(calls), 1.0, "backward", **look)
    if title:
        axes.set_title(title)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9)
    return plot


def _span_lanes(spans: list[tuple[str, int, int]]) -> list[str]:
    """Give the lanes of some spans, from left to right."""
    return [lane for lane, *_ in sorted(spans, key=lambda span: span[1])]


def _forward_marks(calls: list[Call]) -> tuple[list[_Mark], list[tuple[str, int, int]]]:
    """Give the hooks of a forward pass, and from when to when each module ran."""
    marks, spans = [], []
    running: list[tuple[str, int]] = []
    for place, call in enumerate(calls):
        if call.kind == "called":
            running.append((call.module, place))
        elif call.kind == "returned":
            lane, start = running.pop()
            spans.append((lane, start, place))
        else:
            marks.append(_Mark(place, call.module, call.kind, call.hook))
    return marks, spans


def _backward_marks(events: list[Event], start: int) -> list[_Mark]:
    marks = []
    for place, event in enumerate(events, start):
        mark = _Mark(place, str(event.node), _KINDS.get(type(event), ""))
        if isinstance(event, HookFired):
            mark.kind, mark.words = event.kind, event.name
        elif isinstance(event, GradientSent):
            mark.kind, mark.target = "sent", str(event.target)
        marks.append(mark)
    return marks


def _draw_spans(
    axes: Any, spans: list[tuple[str, int, int]], backward: list[_Mark], rows: dict[str, int]
) -> None:
    for lane, start, end in spans:
        if lane in rows:
            look = {"left": start, "height": 0.5, "color": (GREEN, 0.18), "edgecolor": GREEN}
            axes.barh(rows[lane], end - start, **look, zorder=1)
    ends: dict[str, list[int]] = {}
    for mark in backward:
        ends.setdefault(mark.lane, []).append(mark.place)
    for lane, places in ends.items():
        if lane in rows:
            look = {"left": places[0] - 0.35, "height": 0.5, "color": ZONE, "edgecolor": RULE}
            axes.barh(rows[lane], places[-1] - places[0] + 0.7, **look, zorder=1)


def _draw_marks(axes: Any, marks: list[_Mark], rows: dict[str, int]) -> None:
    labeled: set[str] = set()
    for mark in marks:
        if mark.lane not in rows:
            continue
        row = rows[mark.lane]
        if mark.kind == "sent":
            if mark.target in rows:
                arrow = {"arrowstyle": "-|>", "color": WIRE, "linewidth": 1.1, "shrinkB": 6}
                ends = (mark.place, rows[mark.target]), (mark.place, row)
                axes.annotate("", *ends, arrowprops=arrow, zorder=2)
            continue
        sign, fill, size = _SIGNS.get(mark.kind, ("D", SKY, 7))
        look = {"markersize": size, "markerfacecolor": fill, "markeredgecolor": WIRE}
        label = mark.kind if mark.kind not in labeled else None
        labeled.add(mark.kind)
        axes.plot(mark.place, row, sign, **look, markeredgewidth=0.9, label=label, zorder=4)
        if mark.words:
            write(axes, mark.place, row - 0.44, mark.words, ha="center", fontsize=9, zorder=5)


def _alt(calls: list[Call], events: list[Event], lanes: list[str], marks: list[_Mark]) -> str:
    parts = [("forward", len(calls)), ("backward", len(events))]
    told = " and ".join(
        f"{count} event{'' if count == 1 else 's'} of a {name} pass"
        for name, count in parts
        if count
    )
    alt = f"Timeline of {told} in {len(lanes)} lane{'' if len(lanes) == 1 else 's'}. "
    if modules := list(dict.fromkeys(call.module for call in calls)):
        alt += f"Modules in order: {_first(modules)}. "
    started = [str(event.node) for event in events if isinstance(event, NodeStarted)]
    if started:
        alt += f"Nodes in order: {_first(started)}. "
    hooks = [f"{mark.kind} {mark.words} at {mark.lane}" for mark in marks if mark.words]
    return alt + (f"Hooks in order: {_first(hooks, '; ')}." if hooks else "No hook fired.")


def _first(names: list[str], between: str = ", ") -> str:
    """List a dozen of them, and say how many more there are."""
    more = len(names) - 12
    return between.join(names[:12]) + (f"{between}and {more} more" if more > 0 else "")
