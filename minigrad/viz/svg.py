"""Put a picture together as one SVG text: no identifiers, no outside references, no chance."""

from collections.abc import Iterable, Sequence
from html import escape

from minigrad.viz.canvas import Canvas
from minigrad.viz.graph import Graph
from minigrad.viz.parts import SMALL, Part, Run
from minigrad.viz.shapes import (
    CARD,
    INK,
    PAPER,
    RULE,
    WIRE,
    Place,
    attributes,
    card,
    draw_part,
    number,
    shape,
    text_line,
)
from minigrad.viz.text import SANS

MARGIN = 16.0
LEGEND_WIDTH = 620.0
FRAME_FILL, FRAME_LINE, FRAME_CARD = "#f7f5fb", "#7a6f91", "#f1edf8"
LIT = "#faf3a0"
LEGEND = {
    "operation": "operation's node",
    "leaf": "leaf (AccumulateGrad)",
    "tensor": "tensor",
    "fold": "module folded into one box",
    "repeat": "the same several times in a row",
    "identity": "identity node of a full backward hook",
    "sum": "gradients are added",
    "arrow": "the gradient's way",
}


def _grown(place: Place, by: float) -> Place:
    return place[0] - by, place[1] - by, place[2] + 2 * by, place[3] + 2 * by


def _rect(place: Place, **look: float | str) -> str:
    x, y, width, height = place
    return f"<rect {attributes(x=x, y=y, width=width, height=height, **look)}/>"


def _frames(canvas: Canvas) -> tuple[list[str], list[str]]:
    """Draw the groups: a box, or a contour around the members where no box holds just them.

    Returns:
        The boxes, and their labels, which stand over the wires.
    """
    graph, places = canvas.graph, canvas.frame_places()
    drawn: list[str] = []
    labels: list[str] = []
    for label in sorted(places, key=lambda label: -len(graph.groups[label])):
        members, place = graph.groups[label], places[label]
        if place is None:
            drawn.append(_contour(canvas, members))
            first = canvas.node_place(min(members))
            place = (first[0] - 8, first[1] - 24, first[2], first[3])
        else:
            look = attributes(fill=FRAME_LINE, fill_opacity=0.09, stroke=FRAME_LINE)
            look += ' stroke-width="1.3" stroke-dasharray="6 3"'
            drawn.append(f"{_rect(place, rx=8.0)[:-2]} {look}/>")
        run = Run(label, SANS, SMALL + 1, bold=True, tone="note")
        labels.append(card([run], place[0] + 4, place[1] + 3, FRAME_CARD, FRAME_LINE))
    return drawn, labels


def _contour(canvas: Canvas, members: frozenset[int]) -> str:
    """Draw one region around the members and the edges between them: first rims, then fills."""
    rim, fill = [], []
    for node in sorted(members):
        place = canvas.node_place(node)
        rim.append(_rect(_grown(place, 8), rx=8.0, fill=FRAME_LINE))
        fill.append(_rect(_grown(place, 6.7), rx=7.0, fill=FRAME_FILL))
    for edge, path in zip(canvas.graph.edges, canvas.paths, strict=True):
        if edge.source in members and edge.target in members:
            rim.append(f'<path d="{path}" fill="none" stroke="{FRAME_LINE}" stroke-width="16"/>')
            fill.append(f'<path d="{path}" fill="none" stroke="{FRAME_FILL}" stroke-width="13.4"/>')
    return "".join(rim + fill)


def _legend(kinds: Iterable[str], width: float) -> tuple[str, float, float]:
    """Draw signs with their meanings in rows; return the drawing, its width and its height."""
    x, y, widest, out = 0.0, 0.0, 0.0, []
    for kind in kinds:
        run = Run(LEGEND[kind], SANS, SMALL, tone="soft")
        if x and x + 26 + run.width > width:
            x, y = 0.0, y + 19
        if kind == "arrow":
            line = attributes(x1=x, y1=y + 7, x2=x + 14, y2=y + 7, stroke=WIRE, stroke_width=1.5)
            tip = f"{number(x + 20)},{number(y + 7)}"
            wings = f"{number(x + 12)},{number(y + 3)} {number(x + 12)},{number(y + 11)}"
            out.append(f'<line {line}/><polygon points="{tip} {wings}" fill="{WIRE}"/>')
        elif kind == "sum":
            out.append(
                draw_part(
                    Part("sum", ((Run("+", SANS, 11.0, bold=True),),), 0, 0), (x + 4, y, 14, 14)
                )
            )
        else:
            out.append(shape(Part(kind, (), 20, 12), (x, y + 1, 20, 12)))
        out.append(text_line([run], x + 26, y + 11, "start"))
        x += 26 + run.width + 18
        widest = max(widest, x - 18)
    return "".join(out), widest, y + 16


def legend_kinds(graphs: Iterable[Graph], canvases: Iterable[Canvas]) -> list[str]:
    """Return the kinds of sign that occur, in the order of the legend."""
    found = {part.kind for canvas in canvases for stack in canvas.stacks for part in stack}
    if any(graph.edges for graph in graphs):
        found.add("arrow")
    return [kind for kind in LEGEND if kind in found]


def bounds(canvas: Canvas) -> Place:
    """Return the rectangle that holds everything drawn on a canvas."""
    boxes = [_grown(canvas.node_place(node.index), 6) for node in canvas.graph.nodes]
    boxes += [_grown(place, 1) for place in canvas.frame_places().values() if place is not None]
    boxes += [(x, y, 0.0, 0.0) for route in canvas.points for x, y in route]
    left, top = min(b[0] for b in boxes), min(b[1] for b in boxes)
    return (
        left,
        top,
        max(b[0] + b[2] for b in boxes) - left,
        max(b[1] + b[3] for b in boxes) - top,
    )


def draw_canvas(canvas: Canvas) -> str:
    """Draw frames, then wires, then the frames' labels, then boxes."""
    out, labels = _frames(canvas)
    for node in canvas.graph.nodes:
        if node.highlighted:
            look: dict[str, float | str] = {"fill": LIT, "stroke": INK, "stroke_width": 1.6}
            out.append(_rect(_grown(canvas.node_place(node.index), 5), rx=9.0, **look))
    out += canvas.wires()
    out += labels
    for stack, places in zip(canvas.stacks, canvas.places, strict=True):
        out += [draw_part(part, place) for part, place in zip(stack, places, strict=True)]
    return "\n".join(out)


def legend_card(kinds: Sequence[str], width: float) -> tuple[str, float, float]:
    """Draw the legend on a card of its own; return the drawing, its width and its height."""
    drawn, wide, tall = _legend(kinds, min(max(width, 300.0), LEGEND_WIDTH))
    size = (0.5, 0.5, round(wide + 19), round(tall + 11))
    inner = f'<g transform="translate(10 7)">{drawn}</g>'
    return _rect(size, rx=5.0, fill=CARD, stroke=RULE) + inner, size[2] + 1.0, size[3] + 1.0


def plate(canvas: Canvas, legend: bool) -> tuple[str, float, float]:
    """Draw one graph on no ground of its own, perhaps with its legend on a card below.

    Returns:
        The SVG elements, and the width and height of the whole.
    """
    left, upper, width, tall = bounds(canvas)
    shift = f"translate({number(4 - left)} {number(4 - upper)})"
    body = f'<g transform="{shift}">\n{draw_canvas(canvas)}\n</g>'
    total, whole = round(width + 8), round(tall + 8)
    if legend:
        kinds = legend_kinds([canvas.graph], [canvas])
        drawn, wide, high = legend_card(kinds, width)
        body += f'\n<g transform="translate(0 {whole + 10})">{drawn}</g>'
        total, whole = max(total, round(wide)), whole + 10 + round(high)
    return body, total, whole


def panel(
    canvases: Sequence[Canvas], captions: Sequence[str | None], title: str | None
) -> tuple[str, float, float]:
    """Arrange drawings side by side on white paper under their captions, with one legend.

    Args:
        canvases: the laid-out graphs.
        captions: a line above each, or None.
        title: a line above all, or None.

    Returns:
        The SVG elements, and the width and height of the whole.
    """
    top = MARGIN + (24 if title else 0)
    heading = 22.0 if any(captions) else 0.0
    x, height, out = MARGIN, 0.0, []
    for at, (canvas, caption) in enumerate(zip(canvases, captions, strict=True)):
        left, upper, width, tall = bounds(canvas)
        run = Run(caption or "", SANS, 13.0, bold=True)
        room = max(width, run.width)
        if caption:
            out.append(text_line([run], x + room / 2, top + 13))
        if at:
            line = attributes(x1=x - 18, y1=top, x2=x - 18, y2="BOTTOM", stroke=RULE)
            out.append(f"<line {line}/>")
        shift = (
            f"translate({number(x + (room - width) / 2 - left)} {number(top + heading - upper)})"
        )
        out.append(f'<g transform="{shift}">\n{draw_canvas(canvas)}\n</g>')
        x += room + 36
        height = max(height, tall)
    right, bottom = x - 36, top + heading + height
    for note in dict.fromkeys(c.graph.folded for c in canvases if c.graph.folded):
        run = Run(note, SANS, SMALL + 0.5, tone="note")
        out.append(text_line([run], MARGIN, bottom + 22, "start"))
        right, bottom = max(right, MARGIN + run.width), bottom + 20
    kinds = legend_kinds([canvas.graph for canvas in canvases], canvases)
    legend, wide, tall = legend_card(kinds, right - MARGIN)
    out.append(f'<g transform="translate({number(MARGIN)} {number(bottom + 14)})">{legend}</g>')
    right, whole = max(right, MARGIN + wide), bottom + 14 + tall
    if title:
        run = Run(title, SANS, 15.0, bold=True)
        right = max(right, MARGIN + run.width)
        out.insert(0, text_line([run], MARGIN, MARGIN + 13, "start"))
    total, whole = round(right + MARGIN), round(whole + MARGIN - 4)
    body = "\n".join(out).replace('"BOTTOM"', f'"{number(bottom)}"')
    inner = (0.5, 0.5, total - 1.0, whole - 1.0)
    return _rect(inner, rx=6.0, fill=PAPER, stroke=RULE) + "\n" + body, total, whole


def document(body: str, width: float, height: float, title: str, alt: str) -> str:
    """Wrap elements into a complete SVG document that says in words what it shows."""
    size = attributes(width=width, height=height, viewBox=f"0 0 {number(width)} {number(height)}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(alt)}" '
        f'color="{INK}">\n<title>{escape(title)}</title>\n<desc>{escape(alt)}</desc>\n{body}\n</svg>\n'
    )
