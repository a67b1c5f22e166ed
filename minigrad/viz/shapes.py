"""Stack up what belongs to a node in the order in which gradients meet it, and write it as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape

from minigrad.autograd.recording import HOOKS
from minigrad.viz.graph import BEFORE_RULE, Graph, Hook, Node
from minigrad.viz.style import BLUE, CARD, GREEN, INK, PAPER, RULE, TONES, WIRE, YELLOW
from minigrad.viz.text import MONOSPACE, SANS, text_width

SIZE = 12.0
SMALL = 10.5
LINE = 15.5
SUM_SIZE = 17.0


@dataclass(frozen=True)
class Run:
    """A piece of text in one style: family, size, `"bold"` or not, `"ink"` or another tone."""

    text: str
    family: str = MONOSPACE
    size: float = SIZE
    bold: bool = False
    tone: str = "ink"

    @property
    def width(self) -> float:
        """The width to be reserved for it."""
        return text_width(self.text, self.size, self.family, self.bold)


@dataclass(frozen=True)
class Part:
    """One shape of a stack with its lines of text; `gap` is the way to the next part."""

    kind: str
    lines: tuple[tuple[Run, ...], ...]
    width: float
    height: float
    gap: float = 0.0
    hook: str = ""


def hook_label(hook: Hook, several: bool = False) -> str:
    """Say what kind of hook it is.

    Example:
        >>> hook_label(Hook("full backward", "watch", 0, "global"))
        'global full backward hook'
        >>> hook_label(Hook("tensor pre-hook", "gather", 0, "multi-grad"))
        'multi-grad hook'
        >>> hook_label(Hook("saved-tensor hooks", "unpack", 0, "self"))
        'saved-tensor hooks on self'
    """
    label = HOOKS.get(hook.kind, hook.kind)
    if hook.remark == "multi-grad":
        label = "multi-grad hook"
    elif hook.kind == "saved-tensor hooks" and hook.remark:
        label += f" on {hook.remark}"
    elif hook.remark:
        label = f"{hook.remark} {label}"
    if several and hook.kind in ("tensor pre-hook", "retain_grad"):
        label += f", output {hook.output_nr}"
    return label


def _part(kind: str, lines: Sequence[Sequence[Run]], pad: float = 9.0, gap: float = 0.0) -> Part:
    width = max((sum(run.width for run in line) for line in lines), default=0.0)
    height = max(LINE * len(lines) + 9.0, 22.0)
    size = round(width + 2 * pad, 1), round(height, 1)
    return Part(kind, tuple(map(tuple, lines)), *size, gap)


def _hook_part(hook: Hook, several: bool) -> Part:
    label = hook_label(hook, several)
    named = [Run(hook.name, bold=True), Run("  " + label, SANS, SMALL)]
    runs = named if hook.name else [Run(label, SANS, SMALL)]
    on_edge = hook.kind in ("tensor pre-hook", "retain_grad")
    part = _part("hook", [runs], gap=8.0 if on_edge else 0.0)
    return replace(part, width=part.width + 17, height=21.0, hook=hook.kind)


def _tensor_lines(node: Node, several: bool = False) -> list[list[Run]]:
    lines = []
    for card in node.cards:
        shape = f" {card.shape}, out {card.output_nr}" if several else f" {card.shape}"
        lines.append([Run(card.name, bold=True), Run(shape, size=SMALL, tone="soft")])
        value = [] if card.value is None else [Run(card.value)]
        grad = []
        if card.grad is not None:
            word = Run("grad ", SANS, SMALL, tone="soft")
            grad = [word, Run(card.grad, bold=card.grad != "None", tone="grad")]
        both = [*value, Run("  grad ", SANS, SMALL, tone="soft"), *grad[1:]]
        beside = value and grad and sum(run.width for run in both) <= 190
        lines += [both] if beside else [line for line in (value, grad) if line]
    return lines


def stack_of(node: Node, summed: int, outputs: int) -> list[Part]:
    """Return a node's parts in the order in which a gradient passes them.

    Args:
        node: the node.
        summed: how many gradients arrive at its output, to be added if there are several.
        outputs: at how many of its outputs gradients arrive.
    """
    # The sign grows with the number of arrows.
    width = min(SUM_SIZE + 7.0 * max(summed - 2, 0), 120.0)
    plus = Part("sum", ((Run("+", SANS, 13.0, bold=True),),), width, SUM_SIZE, 6.0)
    parts = [plus] if summed > 1 else []
    if node.cards and node.role != "leaf":
        parts.append(_part("tensor", _tensor_lines(node, outputs > 1), gap=8.0))
    parts += [_hook_part(hook, outputs > 1) for hook in node.hooks if hook.kind in BEFORE_RULE]
    if node.role == "leaf":
        parts.append(_part("leaf", _tensor_lines(node) or [[Run("leaf", bold=True)]]))
    else:
        pad = 16.0 if node.role == "identity" else 11.0
        parts.append(_part(node.role, [[Run(node.name)]], pad))
    parts += [_hook_part(hook, outputs > 1) for hook in node.hooks if hook.kind not in BEFORE_RULE]
    if outputs > 1:  # room for an arrow to each
        parts[0] = replace(parts[0], width=max(parts[0].width, 64.0 * (outputs - 1)))
    if node.notes:
        told = "\n".join(node.notes).splitlines()
        lines = [[Run(line, SANS, SMALL + 0.5, tone="note")] for line in told]
        parts[-1] = replace(parts[-1], gap=5.0)
        parts.append(_part("note", lines, pad=7.0))
    return parts


def stacks_of(graph: Graph) -> list[list[Part]]:
    """Return the stack of every node of a graph."""
    stacks = []
    for node in graph.nodes:
        outputs = [edge.output_nr for edge in graph.edges if edge.target == node.index]
        distinct = {*outputs, *(card.output_nr for card in node.cards)}
        # A sum is drawn as a sign of its own, but where several outputs would have to share it.
        summed = len(outputs) if len(set(outputs)) == 1 else 0
        stacks.append(stack_of(node, summed, len(distinct)))
    return stacks


FILLS = {
    "operation": ("#f1f3f5", "#5c6570"),
    "leaf": ("#dcedf8", BLUE),
    "tensor": ("#dff3ec", GREEN),
    "identity": ("#fdf1d6", "#a86f00"),
    "sum": (PAPER, WIRE),
    "note": ("#fffdf2", "#8b7f9e"),
}
# Lighter than in the palette, so that words on them can be read when a dark page turns them dark.
_LIGHT_SKY, _LIGHT_ORANGE, NODE_HOOK = "#8ccbf0", "#f7bd4f", "#e6b0d0"
HOOK_COLORS = {
    "tensor pre-hook": _LIGHT_SKY,
    "post-accumulate": _LIGHT_SKY,
    "retain_grad": "#a3dccb",
    "full backward pre": _LIGHT_ORANGE,
    "full backward": _LIGHT_ORANGE,
    "legacy backward": _LIGHT_ORANGE,
    "saved-tensor hooks": YELLOW,
}
Place = tuple[float, float, float, float]  # left, top, width, height


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


@lru_cache(4096)  # most are colors, fonts and widths of lines
def _attribute(name: str, value: float | str) -> str:
    text = escape(value) if isinstance(value, str) else number(value)
    return f'{name.replace("_", "-")}="{text}"'


def attributes(**values: float | str | None) -> str:
    """Write attributes in the order given; an underscore in a name stands for a hyphen."""
    return " ".join([_attribute(name, each) for name, each in values.items() if each is not None])


def rect(place: Place, **look: float | str) -> str:
    """Write a rectangle."""
    x, y, width, height = place
    return f"<rect {attributes(x=x, y=y, width=width, height=height, **look)}/>"


def polygon(points: Sequence[tuple[float, float]], **look: float | str) -> str:
    """Write a polygon."""
    corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polygon points="{corners}" {attributes(**look)}/>'


def text_line(runs: Sequence[Run], x: float, y: float, anchor: str | None = "middle") -> str:
    """Write one line of text with its baseline at y, around x or, without an anchor, from x on."""
    if anchor:
        x -= sum(run.width for run in runs) / 2
    out = []
    for run in runs:
        text = run.text.strip(" ")
        lead = " " * (len(run.text) - len(run.text.lstrip(" ")))
        start = x + text_width(lead, run.size, run.family, run.bold)
        # Anchored in the middle of the room kept for it: right in a narrower font as well.
        middle = start + text_width(text, run.size, run.family, run.bold) / 2
        look = attributes(
            x=middle if anchor else start,
            y=y,
            text_anchor=anchor,
            font_family=run.family,
            font_size=run.size,
            fill=TONES[run.tone],
            font_weight="bold" if run.bold else None,
        )
        out.append(f"<text {look}>{escape(text)}</text>")
        x += run.width
    return "".join(out)


def card(runs: Sequence[Run], x: float, y: float, fill: str = CARD, line: str = RULE) -> str:
    """Write one line of text on a small card whose left upper corner is given."""
    width = sum(run.width for run in runs) + 10
    ground = rect((x, y, width, 17), rx=3, fill=fill, stroke=line, stroke_width=0.8)
    return ground + text_line(runs, x + width / 2, y + 12.3)


def _hook_sign(x: float, y: float) -> str:
    """Draw a small hook in a disc."""
    path = f"M{number(x + 1.8)} {number(y - 4.4)}v5.4a2.6 2.6 0 0 1 -5.2 0v-1.4"
    line = attributes(fill="none", stroke=INK, stroke_width=1.8)
    return f'<circle {attributes(cx=x, cy=y, r=7.5, fill=PAPER)}/><path d="{path}" {line}/>'


def shape(part: Part, place: Place) -> str:
    """Draw the outline of a part; every kind has a shape of its own besides its color."""
    x, y, width, height = place
    fill, stroke = FILLS.get(part.kind) or (HOOK_COLORS.get(part.hook, NODE_HOOK), INK)
    look: dict[str, float | str] = {"fill": fill, "stroke": stroke, "stroke_width": 1.6}
    if part.kind == "identity":
        middle, low, right = y + height / 2, y + height, x + width
        points = [(x, middle), (x + 10, y), (right - 10, y), (right, middle)]
        return polygon([*points, (right - 10, low), (x + 10, low)], **look)
    if part.kind == "leaf":
        return rect(place, **look) + rect((x, y + height - 3.5, width, 3.5), fill=stroke)
    if part.kind == "hook":
        on_tensor = part.hook in ("tensor pre-hook", "retain_grad", "post-accumulate")
        sign = _hook_sign(x + height / 2 + 1, y + height / 2)
        return rect(place, rx=height / 2 if on_tensor else 2.0, **look) + sign
    if part.kind == "note":
        return rect(place, rx=4, **look, stroke_dasharray="2 3")
    rounding = {"sum": min(width, height) / 2, "operation": 7}
    return rect(place, rx=rounding.get(part.kind, 0), **look)


def draw_part(part: Part, place: Place) -> str:
    """Draw a part with its text."""
    x, y, width, height = place
    middle = x + width / 2 + (8.5 if part.kind == "hook" else 0.0)
    first = y + height / 2 - (len(part.lines) - 1) * LINE / 2 + (4.6 if part.kind == "sum" else 4.2)
    if part.kind == "leaf":
        first -= 1.5
    texts = [text_line(line, middle, first + at * LINE) for at, line in enumerate(part.lines)]
    return shape(part, place) + "".join(texts)
