"""Place a graph's boxes, wires and frames on a plane, for one direction of the gradient's flow."""

from collections.abc import Sequence
from itertools import pairwise

from minigrad.viz.frames import Frame
from minigrad.viz.graph import Edge, Graph
from minigrad.viz.layout import Box, Layout, Point, lay_out
from minigrad.viz.parts import SMALL, SUM_SIZE, Part, Run, stacks_of
from minigrad.viz.shapes import WIRE, YELLOW, Place, attributes, card, number
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
