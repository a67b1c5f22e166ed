"""Write the single shapes of a picture as SVG text: boxes, hooks, lines of text, legend signs."""

from collections.abc import Sequence
from html import escape

from minigrad.viz.parts import LINE, Part, Run
from minigrad.viz.text import text_width

# The palette of Okabe and Ito (2008), which color-blind readers can tell apart.
BLUE, GREEN, ORANGE, VERMILLION = "#0072B2", "#009E73", "#E69F00", "#D55E00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"

# Lines have a contrast of 3 to 1 or more to white and to black grounds; words stand on cards.
PAPER, RULE, INK, SOFT, WIRE = "#ffffff", "#8a93a0", "#16191d", "#4d545e", "#66707c"
CARD, FOLD = "#f6f7f9", "#6f6196"
TONES = {"ink": INK, "soft": SOFT, "grad": "#8a3b00", "note": "#3d2f55"}
FILLS = {
    "operation": ("#f1f3f5", "#5c6570"),
    "leaf": ("#dcedf8", BLUE),
    "tensor": ("#dff3ec", GREEN),
    "identity": ("#fdf1d6", "#a86f00"),
    "sum": (PAPER, WIRE),
    "note": ("#fffdf2", "#8b7f9e"),
    "fold": ("#e9e4f3", FOLD),
    "repeat": ("#e9e4f3", FOLD),
}
# Lighter than in the palette, so that words on them can be read when a dark page turns them dark.
_LIGHT_SKY, _LIGHT_ORANGE, _LIGHT_PURPLE = "#8ccbf0", "#f7bd4f", "#e6b0d0"
HOOK_COLORS = {
    "tensor pre-hook": _LIGHT_SKY,
    "post-accumulate": _LIGHT_SKY,
    "retain_grad": "#a3dccb",
    "full backward pre": _LIGHT_ORANGE,
    "full backward": _LIGHT_ORANGE,
    "legacy backward": _LIGHT_ORANGE,
    "saved-tensor hooks": YELLOW,
}
NODE_HOOK = _LIGHT_PURPLE
Place = tuple[float, float, float, float]  # left, top, width, height


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def attributes(**values: float | str) -> str:
    """Write attributes in the order given; an underscore in a name stands for a hyphen."""
    return " ".join(
        f'{name.replace("_", "-")}="{number(v) if isinstance(v, float | int) else escape(v)}"'
        for name, v in values.items()
    )


def text_line(runs: Sequence[Run], x: float, y: float, anchor: str = "middle") -> str:
    """Write one line of text with its baseline at y; anchor is `middle` or `start`."""
    if anchor == "middle":
        x -= sum(run.width for run in runs) / 2
    out = []
    for run in runs:
        look: dict[str, float | str] = {
            "font_family": run.family,
            "font_size": run.size,
            "fill": TONES[run.tone],
        }
        if run.bold:
            look["font_weight"] = "bold"
        lead = len(run.text) - len(run.text.lstrip(" "))
        start = x + text_width(" " * lead, run.size, run.family, run.bold)
        middle = start + text_width(run.text.strip(" "), run.size, run.family, run.bold) / 2
        # Anchored in the middle of the room kept for it: right in a narrower font as well.
        where: dict[str, float | str] = {"x": middle, "y": y, "text_anchor": "middle"}
        if anchor == "start":
            where = {"x": start, "y": y}
        out.append(f"<text {attributes(**where, **look)}>{escape(run.text.strip(' '))}</text>")
        x += run.width
    return "".join(out)


def card(runs: Sequence[Run], x: float, y: float, fill: str = CARD, line: str = RULE) -> str:
    """Write one line of text on a small card whose left upper corner is given."""
    width = sum(run.width for run in runs) + 10
    size = attributes(x=x, y=y, width=width, height=17, rx=3)
    look = attributes(fill=fill, stroke=line, stroke_width=0.8)
    return f"<rect {size} {look}/>" + text_line(runs, x + width / 2, y + 12.3)


def _hook_sign(x: float, y: float) -> str:
    """Draw a small hook in a disc."""
    path = f"M{number(x + 1.8)} {number(y - 4.4)}v5.4a2.6 2.6 0 0 1 -5.2 0v-1.4"
    line = attributes(fill="none", stroke=INK, stroke_width=1.8)
    return f'<circle {attributes(cx=x, cy=y, r=7.5, fill=PAPER)}/><path d="{path}" {line}/>'


def _sheets(place: Place, look: str, behind: int) -> str:
    """Draw a double-rimmed box, on as many others as are told."""
    x, y, width, height = place
    out, wide, high = "", width - 4.0 * behind, height - 3.0 * behind
    for at in range(behind, -1, -1):
        corner = attributes(x=x + 4.0 * at, y=y + 3.0 * at, width=wide, height=high)
        out += f'<rect {corner} rx="3" {look}/>'
    inner = attributes(x=x + 3, y=y + 3, width=wide - 6, height=high - 6)
    return out + f'<rect {inner} rx="1.5" fill="none" stroke="{FOLD}" stroke-width="0.8"/>'


def shape(part: Part, place: Place) -> str:
    """Draw the outline of a part; every kind has a shape of its own besides its color."""
    x, y, width, height = place
    fill, stroke = FILLS.get(part.kind, (PAPER, WIRE))
    if part.kind == "hook":
        fill, stroke = HOOK_COLORS.get(part.hook, NODE_HOOK), INK
    look = attributes(fill=fill, stroke=stroke, stroke_width=1.6)
    box = attributes(x=x, y=y, width=width, height=height)
    if part.kind == "sum":
        out = f'<rect {box} rx="{number(min(width, height) / 2)}" {look}/>'
    elif part.kind == "identity":
        points = [
            (x, y + height / 2),
            (x + 10, y),
            (x + width - 10, y),
            (x + width, y + height / 2),
        ]
        points += [(x + width - 10, y + height), (x + 10, y + height)]
        out = (
            f'<polygon points="{" ".join(f"{number(a)},{number(b)}" for a, b in points)}" {look}/>'
        )
    elif part.kind == "leaf":
        tray = attributes(x=x, y=y + height - 3.5, width=width, height=3.5, fill=stroke)
        out = f"<rect {box} {look}/><rect {tray}/>"
    elif part.kind == "hook":
        on_tensor = part.hook in ("tensor pre-hook", "retain_grad", "post-accumulate")
        rounding = height / 2 if on_tensor else 2.0
        out = f'<rect {box} rx="{number(rounding)}" {look}/>'
        out += _hook_sign(x + height / 2 + 1, y + height / 2)
    elif part.kind in ("fold", "repeat"):
        out = _sheets((x, y, width, height), look, 2 if part.kind == "repeat" else 0)
    elif part.kind == "note":
        out = f'<rect {box} rx="4" {look} stroke-dasharray="2 3"/>'
    else:
        out = f'<rect {box} rx="{"7" if part.kind == "operation" else "0"}" {look}/>'
    return out


def draw_part(part: Part, place: Place) -> str:
    """Draw a part with its text."""
    x, y, width, height = place
    middle = x + width / 2 + (8.5 if part.kind == "hook" else 0.0)
    first = y + height / 2 - (len(part.lines) - 1) * LINE / 2 + (4.6 if part.kind == "sum" else 4.2)
    if part.kind == "leaf":
        first -= 1.5
    if part.kind == "repeat":
        middle, first = middle - 4.0, first - 3.0
    texts = [text_line(line, middle, first + at * LINE) for at, line in enumerate(part.lines)]
    drawn = shape(part, place) + "".join(texts)
    return f"<g><title>{escape(part.whole)}</title>{drawn}</g>" if part.whole else drawn
