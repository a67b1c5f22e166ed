"""Mark on a picture of a graph how far a backward pass has come, as a layer to lay over it."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.viz.canvas import Canvas
from minigrad.viz.graph import Index
from minigrad.viz.parts import SMALL, Run
from minigrad.viz.shapes import (
    BLUE,
    PAPER,
    VERMILLION,
    Place,
    attributes,
    number,
    text_line,
)
from minigrad.viz.steps import Sent, Step
from minigrad.viz.svg import bounds, document, draw_canvas

DONE, NOW = BLUE, VERMILLION
PAD, CHIP = 12.0, 18.0


class Stage:
    """A laid-out graph with the layers that show the steps of a backward pass on it.

    Args:
        canvas: The graph.
        index: From live nodes into it.
    """

    def __init__(self, canvas: Canvas, index: Index) -> None:
        self.canvas, self.index = canvas, index
        left, top, width, height = bounds(canvas)
        room = 40.0  # for the numbers beside the outermost arrows
        self.shift = (PAD + room - left, PAD - top)
        self.width, self.height = round(width + 2 * (PAD + room)), round(height + 2 * PAD + 28)

    def picture(self, title: str, alt: str, paper: bool = True) -> str:
        """Draw the graph, with nothing marked, as a complete SVG on white paper or on none."""
        size = attributes(
            x=0.5, y=0.5, width=self.width - 1, height=self.height - 1, rx=6, fill=PAPER
        )
        behind = f"<rect {size}/>" if paper else ""
        return self._document(behind, draw_canvas(self.canvas), title, alt)

    def layer(self, steps: Sequence[Step], alt: str) -> str:
        """Draw what lies over the picture after some steps, the last of them being the current."""
        current, before = steps[-1], steps[:-1]
        sent = [self._edge(each) for step in before for each in step.sent]
        over = [self._path(edge, DONE, 3.0) for edge in dict.fromkeys(sent) if edge is not None]
        visited = [self.index.locate(step.node.node) for step in before]
        here = self.index.locate(current.node.node)
        for node in dict.fromkeys(visited):
            if node is not None and node != here:
                over += [self._frame(place, DONE, 2.0) for place in self._rule_places(node)]
        over += [self._frame(place, NOW, 3.0) for place in self._at_work(current)]
        chips: list[Place] = []
        for step in before:
            node = self.index.locate(step.node.node)
            if step.held is not None and node is not None and node != here:
                over.append(self._held(node, step.held, DONE, chips))
        for each in current.sent:
            edge = self._edge(each)
            if edge is not None:
                over.append(self._path(edge, NOW, 3.5))
                over.append(self._chip(self._near_end(edge), each.value, NOW, chips))
        if current.held is not None and here is not None:
            over.append(self._held(here, current.held, NOW, chips))
        return self._document("", "".join(over), alt, alt)

    def where(self, step: Step) -> tuple[Place, Place]:
        """Give the rectangles of the picture in which a step happens.

        Returns:
            The one around all of it, its numbers included, and the one around what is at work.
        """
        places = [(x - 5, y - 5, w + 10, h + 10) for x, y, w, h in self._at_work(step)]
        core = self._around(places)
        for each in step.sent:
            edge = self._edge(each)
            if edge is not None:
                x, y = self._near_end(edge)
                places.append((x - 30, y - CHIP / 2, 60.0, CHIP))
        here = self.index.locate(step.node.node)
        if step.held is not None and here is not None:
            x, y, width, height = self.canvas.node_place(here)
            places.append((x, y + height, width, CHIP))
        return self._around(places), core

    def _around(self, places: Sequence[Place]) -> Place:
        """Give the rectangle around some places, as it lies in the picture."""
        if not places:
            return 0.0, 0.0, 0.0, 0.0
        left, top = min(place[0] for place in places), min(place[1] for place in places)
        right = max(place[0] + place[2] for place in places)
        bottom = max(place[1] + place[3] for place in places)
        return left + self.shift[0], top + self.shift[1], right - left, bottom - top

    def _at_work(self, step: Step) -> list[Place]:
        """Give where that stands which is at work: the box of a rule, or of a hook."""
        here = self.index.locate(step.node.node)
        if here is None:
            return []
        places = self._rule_places(here)
        return (self._hook_places(here, *step.hook) if step.hook else []) or places

    def _document(self, behind: str, drawn: str, title: str, alt: str) -> str:
        shift = f"translate({number(self.shift[0])} {number(self.shift[1])})"
        body = f'{behind}<g transform="{shift}">{drawn}</g>'
        return document(body, self.width, self.height, title, alt)

    def _edge(self, sent: Sent) -> int | None:
        """Find the edge along which a gradient went."""
        way = (self.index.locate(sent.source.node), self.index.locate(sent.target.node))
        for at, edge in enumerate(self.canvas.graph.edges):
            ends = (edge.source, edge.target)
            if ends == way and (edge.input_nr, edge.output_nr) == (sent.input_nr, sent.output_nr):
                return at
        return None

    def _path(self, edge: int, color: str, width: float) -> str:
        return f'<path d="{self.canvas.paths[edge]}" ' + (
            attributes(fill="none", stroke=color, stroke_width=width, stroke_opacity=0.8) + "/>"
        )

    def _frame(self, place: Place, color: str, width: float) -> str:
        x, y, wide, high = place
        look = attributes(fill="none", stroke=color, stroke_width=width)
        size = attributes(x=x - 3, y=y - 3, width=wide + 6, height=high + 6, rx=7)
        return f"<rect {size} {look}/>"

    def _rule_places(self, node: int) -> list[Place]:
        """Give where the box of a node's own rule stands."""
        parts = zip(self.canvas.stacks[node], self.canvas.places[node], strict=True)
        found = [
            place for part, place in parts if part.kind not in ("sum", "tensor", "hook", "note")
        ]
        return found or [self.canvas.node_place(node)]

    def _hook_places(self, node: int, kind: str, name: str) -> list[Place]:
        """Give where a hook of this kind and name stands at a node."""
        parts = zip(self.canvas.stacks[node], self.canvas.places[node], strict=True)
        return [
            place
            for part, place in parts
            if part.hook == kind and any(run.text == name for line in part.lines for run in line)
        ][:1]

    def _near_end(self, edge: int) -> tuple[float, float]:
        """Give a place shortly before the arrowhead of an edge."""
        x, y = self.canvas.points[edge][-1]
        back_x, back_y = {"down": (0, -20), "up": (0, 20), "right": (-30, 0), "left": (30, 0)}[
            self.canvas.direction
        ]
        return x + back_x, y + back_y

    def _held(self, leaf: int, value: str, color: str, others: list[Place]) -> str:
        """Write the gradient that a leaf holds below it."""
        x, y, width, height = self.canvas.node_place(leaf)
        return self._chip((x + width / 2, y + height + 9), f"grad {value}", color, others)

    def _chip(self, at: tuple[float, float], text: str, color: str, others: list[Place]) -> str:
        """Write a value on a small card, within the picture, clear of the other cards."""
        run = Run(text, size=SMALL + 1, bold=True)
        width = run.width + 10
        left = min(
            max(at[0] - width / 2, 3 - self.shift[0]), self.width - 3 - width - self.shift[0]
        )
        top = at[1] - CHIP / 2
        for x, y, wide, _ in sorted(others, key=lambda place: place[1]):
            if left < x + wide and x < left + width and abs(y - top) < CHIP:
                top = y + CHIP + 2
        top = min(top, self.height - 3 - CHIP - self.shift[1])
        others.append((left, top, width, CHIP))
        look = attributes(fill=PAPER, stroke=color, stroke_width=1.5)
        size = attributes(x=left, y=top, width=width, height=CHIP, rx=5)
        return f"<rect {size} {look}/>" + text_line([run], left + width / 2, top + 13)
