"""Hold pictures of graphs, which show in Jupyter, and put them side by side."""

from collections.abc import Iterable, Sequence
from html import escape
from os import PathLike
from pathlib import Path

from minigrad.viz.canvas import Canvas
from minigrad.viz.export import description, dot, table
from minigrad.viz.graph import Graph
from minigrad.viz.svg import LEGEND, bounds, document, legend_card, legend_kinds, panel, plate
from minigrad.viz.theme import STYLE, box, image, row


class Picture:
    """A picture of one or several graphs: SVG to look at, text to read and to compare.

    In a notebook it shows itself. The stored output has two forms: `text/html` (an image with
    alternative text, which survives in a notebook that is not trusted) and `text/plain` (a
    table). Both are the same on every run, so that a strict comparison of outputs holds.

    Attributes:
        svg: the picture as SVG text.
        alt: the alternative text.
        width: in pixels.
        height: in pixels.
    """

    def __init__(
        self,
        canvases: Sequence[Canvas],
        captions: Sequence[str | None],
        title: str | None = None,
        alt: str | None = None,
    ) -> None:
        """Draw the canvases side by side; use `draw` and `beside` instead."""
        self._canvases, self._captions, self._title = list(canvases), list(captions), title
        self._described = [
            f"{caption}: {description(canvas.graph)}" if caption else description(canvas.graph)
            for canvas, caption in zip(canvases, captions, strict=True)
        ]
        told = [f"{title}."] if title else []
        self.alt = " ".join(told + self._described) if alt is None else alt
        body, self.width, self.height = panel(self._canvases, self._captions, title)
        heading = title or " | ".join(each for each in captions if each) or "Autograd graph"
        self.svg = document(body, self.width, self.height, heading, self.alt)

    @property
    def graphs(self) -> list[Graph]:
        """The graphs as plain data, from left to right."""
        return [canvas.graph for canvas in self._canvases]

    @property
    def table(self) -> str:
        """The picture as a text table."""
        blocks = [self._title] if self._title else []
        for canvas, caption in zip(self._canvases, self._captions, strict=True):
            blocks.append((f"{caption}\n" if caption else "") + table(canvas.graph))
        return "\n\n".join(blocks)

    def dot(self) -> str:
        """Return the graph in the DOT language, for those who have Graphviz."""
        bodies = [
            dot(canvas.graph, "n" if at == 0 else f"n{at}_")
            for at, canvas in enumerate(self._canvases)
        ]
        return "digraph autograd {\n  node [fontname=monospace];\n" + "\n".join(bodies) + "\n}\n"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file.

        Args:
            path: its name; `.svg` for the picture, `.dot` or `.txt` for the text forms.

        Returns:
            The path written.

        Raises:
            ValueError: if the name ends in something else.
        """
        path = Path(path)
        texts = {".svg": lambda: self.svg, ".dot": self.dot, ".txt": lambda: self.table + "\n"}
        if path.suffix not in texts:
            raise ValueError(f"cannot write {path.name!r}: the name must end in .svg, .dot or .txt")
        path.write_text(texts[path.suffix](), encoding="utf-8", newline="\n")
        return path

    def html(self) -> str:
        """Return HTML images that carry the whole picture inside.

        Titles and captions are text of the page. Several graphs stand side by side where there is
        room for them, else below each other; a graph wider than the page scrolls in its box.
        """
        single = len(self._canvases) == 1
        pieces = [
            self._piece(at, *plate(canvas, legend=single))
            for at, canvas in enumerate(self._canvases)
        ]
        head = f"<div><strong>{escape(self._title)}</strong></div>" if self._title else ""
        shown = pieces[0][0] if single else row(pieces) + self._legend()
        notes = dict.fromkeys(graph.folded for graph in self.graphs if graph.folded)
        foot = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
        return f'<style>{STYLE}</style><div class="minigrad-picture">{head}{shown}{foot}</div>'

    def _piece(self, at: int, body: str, width: float, height: float) -> tuple[str, float]:
        """Give one graph with its caption as HTML, and its width."""
        caption, several = self._captions[at], len(self._canvases) > 1
        heading = caption or self._title or "Autograd graph"
        alt = self.alt
        if several and (at or self._described[at] in self.alt):
            alt = self._described[at]
        drawn = image(document(body, width, height, heading, alt), alt, width, height)
        head = f"<div><strong>{escape(caption)}</strong></div>" if caption else ""
        return head + box(drawn, width), width

    def _legend(self) -> str:
        """Give the legend of several graphs as HTML."""
        kinds = legend_kinds(self.graphs, self._canvases)
        body, width, height = legend_card(kinds, sum(bounds(each)[2] for each in self._canvases))
        alt = f"Legend: {', '.join(LEGEND[kind] for kind in kinds)}."
        return box(image(document(body, width, height, "Legend", alt), alt, width, height), width)

    def __repr__(self) -> str:
        """Return the table."""
        return self.table

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, str]:
        # No image/svg+xml: a notebook that is not trusted refuses it, and it would be stored twice.
        return asked_for({"text/plain": self.table, "text/html": self.html()}, include, exclude)


def asked_for(
    bundle: dict[str, str], include: Iterable[str] | None, exclude: Iterable[str] | None
) -> dict[str, str]:
    """Give the forms of an output that a notebook asks for."""
    wanted = set(bundle) if include is None else set(include)
    return {kind: bundle[kind] for kind in bundle if kind in wanted - set(exclude or ())}


def beside(
    *pictures: Picture,
    captions: Sequence[str] | None = None,
    title: str | None = None,
    alt: str | None = None,
) -> Picture:
    """Put pictures side by side in one, with one legend.

    Args:
        pictures: what `draw` returned, from left to right.
        captions: a line above each; by default their titles.
        title: a line above all.
        alt: the alternative text; by default one that describes every graph.

    Returns:
        The picture.

    Raises:
        ValueError: if there are no pictures, or not one caption for each.

    Example:
        >>> import minigrad
        >>> from minigrad.viz import draw
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> beside(draw(x * x), draw(x.exp()), captions=["square", "exponential"])
        square
        #  node            sends to  tensor
        0  MulBackward0    1 1       output () = 9.0000
        1  AccumulateGrad            leaf () = 3.0000, grad None
        <BLANKLINE>
        exponential
        #  node            sends to  tensor
        0  ExpBackward0    1         output () = 20.0855
        1  AccumulateGrad            leaf () = 3.0000, grad None
    """
    canvases = [canvas for picture in pictures for canvas in picture._canvases]
    if not canvases:
        raise ValueError("there is nothing to put side by side: give two pictures or more")
    lines: list[str | None] = list(captions or [])
    if captions is None:
        for picture in pictures:
            single = len(picture._canvases) == 1
            lines += [picture._title] if single else picture._captions
    if len(lines) != len(canvases):
        raise ValueError(f"{len(canvases)} pictures need as many captions, got {len(lines)}")
    return Picture(canvases, lines, title, alt)
