"""Place a graph's boxes, wires and frames on a plane, and put them together as one SVG text."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from minigrad.viz import shapes
from minigrad.viz.graph import Edge, Graph
from minigrad.viz.layout import GAP_ALONG, Box, Frame, Layout, Point, lay_out
from minigrad.viz.shapes import SMALL, Part, Place, Run, attributes, number, rect, text_line
from minigrad.viz.style import CARD, INK, RULE, WIRE
from minigrad.viz.text import SANS


def _wire(points: Sequence[Point]) -> str:
    """Write a path: straight down through layers, a smooth bend between them."""
    out = f"M{number(points[0][0])} {number(points[0][1])}"
    for at, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
        if (x0, y0) == (x1, y1) and at % 2 == 0:
            continue
        if at % 2 and x0 != x1:
            stop = y1 - 6  # the last bit is straight, for the arrowhead
            a, b = y0 + 0.6 * (stop - y0), y0 + 0.4 * (stop - y0)
            out += f"C{number(x0)} {number(a)} {number(x1)} {number(b)} {number(x1)} {number(stop)}"
        out += f"L{number(x1)} {number(y1)}"
    return out


class Canvas:
    """A laid-out graph: gradients flow down through it, and all places are known."""

    def __init__(self, graph: Graph, gap: float = GAP_ALONG) -> None:
        """Lay the graph out, its layers so far apart."""
        self.graph = graph
        self.stacks = shapes.stacks_of(graph)
        self.boxes = [_box(stack) for stack in self.stacks]
        # Of two boxes around the same nodes the later one is inside: it was called by the other.
        frames = [
            Frame(members, _label(label).width + 18)
            for label, members in reversed(graph.groups.items())
        ]
        slots = [edge.output_nr for edge in graph.edges]
        pairs = [(edge.source, edge.target) for edge in graph.edges]
        self.layout: Layout = lay_out(self.boxes, pairs, frames, slots, gap)
        self.places = [self._parts_places(node.index) for node in graph.nodes]
        self.points = list(map(self._points, graph.edges, self.layout.routes))
        self.paths = [_wire(points) for points in self.points]

    def _parts_places(self, node: int) -> list[Place]:
        x, y = self.layout.centers[node]
        y -= self.boxes[node].along / 2
        places = []
        for part in self.stacks[node]:
            places.append((x - part.width / 2, y, part.width, part.height))
            y += part.height + part.gap
        return places

    def node_place(self, node: int) -> Place:
        """Return the rectangle around a node's stack."""
        return around(self.places[node])

    def _points(self, edge: Edge, route: Sequence[Point]) -> list[Point]:
        """Give the points of an edge; several that meet at a round sign each end on its rim."""
        first = self.stacks[edge.target][0]
        x, y = route[-1]
        if first.kind == "sum":
            radius, flat = shapes.SUM_SIZE / 2, (first.width - shapes.SUM_SIZE) / 2
            offset = max(abs(x - self.layout.centers[edge.target][0]) - flat, 0.0)
            y += radius - max(radius**2 - offset**2, 0.0) ** 0.5
        return [*route[:-1], (x, y)]

    def wires(self) -> list[str]:
        """Draw the edges, arrowheads pointing the way the gradient flows."""
        line = attributes(fill="none", stroke=WIRE, stroke_width=1.5)
        out = []
        unlabeled = {(edge.target, edge.output_nr) for edge in self.graph.edges}
        outputs = Counter(target for target, _ in unlabeled)
        for edge, points, path in zip(self.graph.edges, self.points, self.paths, strict=True):
            x, y = points[-1]
            tip = shapes.polygon([(x, y), (x + 4, y - 8), (x - 4, y - 8)], fill=WIRE)
            out.append(f'<path d="{path}" {line}/>{tip}')
            arrives = edge.target, edge.output_nr
            if outputs[edge.target] > 1 and arrives in unlabeled:
                unlabeled.remove(arrives)
                run = Run(f"out {edge.output_nr}", SANS, SMALL, tone="soft")
                out.append(shapes.card([run], x + 6, y - 18))
        for places in self.places:
            for (x0, y0, w0, h0), (x1, y1, w1, h1) in pairwise(places):
                ends = f"M{number(x0 + w0 / 2)} {number(y0 + h0 / 2)}"
                out.append(f'<path d="{ends}L{number(x1 + w1 / 2)} {number(y1 + h1 / 2)}" {line}/>')
        return out

    def label_places(self) -> list[Place]:
        """Return where the labels of the boxes around groups stand."""
        frames = self.frame_places().items()
        return [(x + 4, y + 3, _label(each).width + 10, 17.0) for each, (x, y, _, _) in frames]

    def frame_places(self) -> dict[str, Place]:
        """Return the box around each group, its label included."""
        frames = zip(self.graph.groups, reversed(self.layout.frames), strict=True)
        return {label: (*corner, *size) for label, (corner, size) in frames}


def _label(group: str) -> Run:
    return Run(group, SANS, SMALL + 1, bold=True, tone="note")


def _box(stack: Sequence[Part]) -> Box:
    """Say how much room a stack needs, and how wide it is where edges leave and arrive."""
    height = sum(part.height for part in stack) + sum(part.gap for part in stack[:-1])
    arrive = stack[0].width - 5.0 if stack[0].kind == "sum" else 0.75 * stack[0].width
    return Box(max(part.width for part in stack), height, arrive, 0.75 * stack[-1].width)


def around(places: Iterable[Place]) -> Place:
    """Return the rectangle that holds some rectangles."""
    corners = [(x, y, x + width, y + height) for x, y, width, height in places]
    left, top = min(c[0] for c in corners), min(c[1] for c in corners)
    return left, top, max(c[2] for c in corners) - left, max(c[3] for c in corners) - top


FRAME_LINE, FRAME_CARD = "#7a6f91", "#f1edf8"
LEGEND = {
    "operation": "operation's node",
    "leaf": "leaf (AccumulateGrad)",
    "tensor": "tensor",
    "identity": "identity node of a full backward hook",
    "sum": "gradients are added",
    "arrow": "the gradient's way",
}


def grown(place: Place, by: float) -> Place:
    """Return a rectangle with a rim around it."""
    return place[0] - by, place[1] - by, place[2] + 2 * by, place[3] + 2 * by


def legend(canvases: Sequence[Canvas], width: float) -> tuple[str, float, float, str]:
    """Draw the signs that occur with their meanings, in rows on a card.

    Returns:
        The SVG elements, the width and height of the card, and the meanings.
    """
    found = {part.kind for canvas in canvases for stack in canvas.stacks for part in stack}
    if any(canvas.graph.edges for canvas in canvases):
        found.add("arrow")
    kinds = [kind for kind in LEGEND if kind in found]
    width = min(max(width, 300.0), 620.0)
    x, y, widest, out = 0.0, 0.0, 0.0, []
    for kind in kinds:
        run = Run(LEGEND[kind], SANS, SMALL, tone="soft")
        if x and x + 26 + run.width > width:
            x, y = 0.0, y + 19
        if kind == "arrow":
            line = attributes(x1=x, y1=y + 7, x2=x + 14, y2=y + 7, stroke=WIRE, stroke_width=1.5)
            tip = shapes.polygon([(x + 20, y + 7), (x + 12, y + 3), (x + 12, y + 11)], fill=WIRE)
            out.append(f"<line {line}/>{tip}")
        elif kind == "sum":
            plus = Part("sum", ((Run("+", SANS, 11.0, bold=True),),), 0, 0)
            out.append(shapes.draw_part(plus, (x + 4, y, 14, 14)))
        else:
            out.append(shapes.shape(Part(kind, (), 20, 12), (x, y + 1, 20, 12)))
        out.append(text_line([run], x + 26, y + 11, anchor=None))
        x += 26 + run.width + 18
        widest = max(widest, x - 18)
    size = (0.5, 0.5, round(widest + 19), round(y + 27))
    inner = f'<g transform="translate(10 7)">{"".join(out)}</g>'
    drawn = rect(size, rx=5.0, fill=CARD, stroke=RULE) + inner
    return drawn, size[2] + 1.0, size[3] + 1.0, ", ".join(LEGEND[kind] for kind in kinds)


def bounds(canvas: Canvas) -> Place:
    """Return the rectangle that holds everything drawn on a canvas."""
    boxes = [grown(canvas.node_place(node.index), 6) for node in canvas.graph.nodes]
    boxes += [grown(place, 1) for place in canvas.frame_places().values()]
    boxes += [(x, y, 0.0, 0.0) for points in canvas.points for x, y in points]
    return around(boxes)


def draw_canvas(canvas: Canvas) -> str:
    """Draw frames, then wires, then the frames' labels, then boxes."""
    groups, places = canvas.graph.groups, canvas.frame_places()
    inward = sorted(places, key=lambda label: -len(groups[label]))
    look: Any = {"fill": FRAME_LINE, "fill_opacity": 0.1, "stroke": FRAME_LINE, "stroke_width": 1.3}
    out = [rect(places[label], rx=8.0, **look, stroke_dasharray="6 3") for label in inward]
    out += canvas.wires()
    for label in inward:
        x, y, _, _ = places[label]
        out.append(shapes.card([_label(label)], x + 4, y + 3, FRAME_CARD, FRAME_LINE))
    for stack, spots in zip(canvas.stacks, canvas.places, strict=True):
        out += [shapes.draw_part(part, place) for part, place in zip(stack, spots, strict=True)]
    return "\n".join(out)


def plate(canvas: Canvas, with_legend: bool) -> tuple[str, float, float]:
    """Draw one graph on no ground of its own, perhaps with its legend on a card below.

    Returns:
        The SVG elements, and the width and height of the whole.
    """
    left, upper, width, tall = bounds(canvas)
    shift = f"translate({number(4 - left)} {number(4 - upper)})"
    body = f'<g transform="{shift}">\n{draw_canvas(canvas)}\n</g>'
    total, whole = round(width + 8), round(tall + 8)
    if with_legend:
        drawn, wide, high, _ = legend([canvas], width)
        body += f'\n<g transform="translate(0 {whole + 10})">{drawn}</g>'
        total, whole = max(total, round(wide)), whole + 10 + round(high)
    return body, total, whole


def document(body: str, width: float, height: float, title: str, alt: str) -> str:
    """Wrap elements into a complete SVG document that says in words what it shows."""
    size = attributes(width=width, height=height, viewBox=f"0 0 {number(width)} {number(height)}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(alt)}" '
        f'color="{INK}">\n<title>{escape(title)}</title>\n<desc>{escape(alt)}</desc>\n{body}\n</svg>\n'
    )
