"""Place a graph's boxes, wires and frames on a plane, and put them together as one SVG text."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from minigrad.viz.graph import Edge, Graph
from minigrad.viz.layout import Box, Frame, Layout, Point, lay_out
from minigrad.viz.shapes import (
    SMALL,
    SUM_SIZE,
    Part,
    Place,
    Run,
    attributes,
    card,
    draw_part,
    number,
    shape,
    stacks_of,
    text_line,
)
from minigrad.viz.style import CARD, INK, PAPER, RULE, WIRE, YELLOW
from minigrad.viz.text import SANS, text_width

DIRECTIONS = ("down", "up", "right", "left")
FRAME_PAD, FRAME_LABEL = 9.0, 18.0


def _stack_extent(stack: Sequence[Part], sideways: bool) -> tuple[float, float]:
    gaps = sum(part.gap for part in stack[:-1])
    if sideways:
        return max(part.height for part in stack), sum(part.width for part in stack) + gaps
    return max(part.width for part in stack), sum(part.height for part in stack) + gaps


def _wire(points: Sequence[Point], sideways: bool) -> str:
    """Write a path: straight along the direction through layers, a smooth bend between them."""
    out = f"M{number(points[0][0])} {number(points[0][1])}"
    for at, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
        if at % 2 == 0:
            out += "" if (x0, y0) == (x1, y1) else f"L{number(x1)} {number(y1)}"
        elif (y0 == y1) if sideways else (x0 == x1):
            out += f"L{number(x1)} {number(y1)}"
        elif sideways:
            stop = x1 - (6 if x1 > x0 else -6)  # the last bit is straight, for the arrowhead
            a, b = x0 + 0.6 * (stop - x0), x0 + 0.4 * (stop - x0)
            out += f"C{number(a)} {number(y0)} {number(b)} {number(y1)} {number(stop)} {number(y1)}"
            out += f"L{number(x1)} {number(y1)}"
        else:
            stop = y1 - (6 if y1 > y0 else -6)
            a, b = y0 + 0.6 * (stop - y0), y0 + 0.4 * (stop - y0)
            out += f"C{number(x0)} {number(a)} {number(x1)} {number(b)} {number(x1)} {number(stop)}"
            out += f"L{number(x1)} {number(y1)}"
    return out


def _arrow(tip: Point, direction: str) -> str:
    x, y = tip
    dx, dy = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}[direction]
    back = (x - 8 * dx, y - 8 * dy)
    wings = [(back[0] + 4 * s * dy, back[1] + 4 * s * dx) for s in (1, -1)]
    points = " ".join(f"{number(a)},{number(b)}" for a, b in [tip, *wings])
    return f'<polygon points="{points}" fill="{WIRE}"/>'


class Canvas:
    """A laid-out graph with the mapping from (across, along) to x and y for one direction."""

    def __init__(self, graph: Graph, direction: str) -> None:
        """Lay the graph out so that gradients flow in `direction`."""
        self.graph, self.direction = graph, direction
        self.sideways = direction in ("right", "left")
        self.stacks = stacks_of(graph, self.sideways)
        self.boxes = []
        for stack in self.stacks:
            across, along = _stack_extent(stack, self.sideways)
            ends = [stack[0], stack[-1]]
            ports = [0.75 * (part.height if self.sideways else part.width) for part in ends]
            if stack[0].kind == "sum":
                ports[0] = max(stack[0].width, stack[0].height) - 5.0
            self.boxes.append(Box(across, along, ports[0], ports[1]))
        # Of two boxes around the same nodes the later one is inside: it was called by the other.
        frames = [self._frame(label, graph.groups[label]) for label in reversed(graph.groups)]
        gaps = (16.0, 30.0) if self.sideways else (24.0, 26.0)
        pairs = [(edge.source, edge.target) for edge in graph.edges]
        self.layout: Layout = lay_out(
            self.boxes,
            pairs,
            gap_across=gaps[0],
            gap_along=gaps[1],
            frames=frames,
            slots=[self._slot(edge) for edge in graph.edges],
        )
        self.places = [self._parts_places(node.index) for node in graph.nodes]
        self._trace()

    def _slot(self, edge: Edge) -> int:
        """Say at which output of its target an edge ends; those of a folded box are not told."""
        return 0 if self.graph.nodes[edge.target].role == "fold" else edge.output_nr

    def xy(self, point: Point) -> Point:
        """Turn (across, along) into (x, y)."""
        across, along = point
        if self.direction in ("up", "left"):
            along = self.layout.extent[1] - along
        return (along, across) if self.sideways else (across, along)

    def _parts_places(self, node: int) -> list[Place]:
        center, stack = self.layout.centers[node], self.stacks[node]
        along = center[1] - self.boxes[node].along / 2
        places = []
        for part in stack:
            size = part.width if self.sideways else part.height
            x, y = self.xy((center[0], along + size / 2))
            places.append((x - part.width / 2, y - part.height / 2, part.width, part.height))
            along += size + part.gap
        return places

    def node_place(self, node: int) -> Place:
        """Return the rectangle around a node's stack."""
        left = min(place[0] for place in self.places[node])
        top = min(place[1] for place in self.places[node])
        right = max(place[0] + place[2] for place in self.places[node])
        bottom = max(place[1] + place[3] for place in self.places[node])
        return left, top, right - left, bottom - top

    def _trace(self) -> None:
        """Work out the points and the path of every edge."""
        self.points: list[list[Point]] = []
        for edge, route in zip(self.graph.edges, self.layout.routes, strict=True):
            points = [self.xy(point) for point in route]
            first = self.stacks[edge.target][0]
            if first.kind == "sum":
                # Several arrows meet at the round sign: let each end on its rim.
                radius = SUM_SIZE / 2
                flat = (max(first.width, first.height) - SUM_SIZE) / 2
                offset = max(abs(route[-1][0] - self.layout.centers[edge.target][0]) - flat, 0.0)
                sink = radius - max(radius**2 - offset**2, 0.0) ** 0.5
                points[-1] = self.xy((route[-1][0], route[-1][1] + sink))
            self.points.append(points)
        self.paths = [_wire(points, self.sideways) for points in self.points]

    def wires(self) -> list[str]:
        """Draw the edges, arrowheads pointing the way the gradient flows."""
        line = attributes(fill="none", stroke=WIRE, stroke_width=1.5)
        out, nodes = [], self.graph.nodes
        outputs: dict[int, set[int]] = {}
        for edge in self.graph.edges:
            outputs.setdefault(edge.target, set()).add(edge.output_nr)
        for edge, points, path in zip(self.graph.edges, self.points, self.paths, strict=True):
            if nodes[edge.source].highlighted and nodes[edge.target].highlighted:
                out.append(f'<path d="{path}" fill="none" stroke="{YELLOW}" stroke-width="7"/>')
            out.append(f'<path d="{path}" {line}/>{_arrow(points[-1], self.direction)}')
            several = outputs[edge.target] if nodes[edge.target].role != "fold" else set()
            if len(several) > 1 and edge.output_nr in several:
                several.discard(edge.output_nr)
                several.add(-1 - edge.output_nr)  # labeled once
                run = Run(f"out {edge.output_nr}", SANS, SMALL, tone="soft")
                x, y = points[-1]
                out.append(card([run], x + 6, y - 18))
        for places in self.places:
            for (x0, y0, w0, h0), (x1, y1, w1, h1) in pairwise(places):
                ends = f"M{number(x0 + w0 / 2)} {number(y0 + h0 / 2)}"
                out.append(f'<path d="{ends}L{number(x1 + w1 / 2)} {number(y1 + h1 / 2)}" {line}/>')
        return out

    def _frame(self, label: str, members: frozenset[int]) -> Frame:
        """Say how much room a frame takes, its label included."""
        pad, head = FRAME_PAD, FRAME_PAD + FRAME_LABEL
        wide = text_width(label, SMALL + 1, SANS, bold=True) + 18
        if self.sideways:
            return Frame(members, head, pad, pad, pad, least_along=wide)
        first, last = (pad, head) if self.direction == "up" else (head, pad)
        return Frame(members, pad, pad, first, last, least_across=wide)

    def frame_places(self) -> dict[str, Place | None]:
        """Return the box around each group, its label included; None for one that is no box."""
        places: dict[str, Place | None] = dict.fromkeys(self.graph.groups)
        for label, frame in zip(reversed(self.graph.groups), self.layout.frames, strict=True):
            if frame is not None:
                (across, along), (wide, long) = frame
                one, other = self.xy((across, along)), self.xy((across + wide, along + long))
                left, right = sorted((one[0], other[0]))
                top, bottom = sorted((one[1], other[1]))
                places[label] = (left, top, round(right - left, 1), round(bottom - top, 1))
        return places


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
