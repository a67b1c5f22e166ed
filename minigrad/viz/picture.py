"""Draw the graph that a computation left behind: as a picture, in words, and side by side."""

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import zip_longest
from pathlib import Path
from string import Template
from typing import Any

from minigrad.viz.canvas import Canvas, bounds, document, legend, plate
from minigrad.viz.folding import fold
from minigrad.viz.graph import Graph, Hook, Node, read_graph
from minigrad.viz.modules import add_groups, called, watch_modules
from minigrad.viz.shapes import hook_label
from minigrad.viz.style import PICTURE_STYLE
from minigrad.viz.text import WIDE, fitted, ranges, text_table

CLOSE = 11.0  # between the layers of pictures side by side
SMALLEST = 0.86  # of its own size, to which a picture shrinks: text of 10.5 pixels becomes 9


def hook_words(hook: Hook) -> str:
    """Name a hook in words.

    Example:
        >>> hook_words(Hook("full backward", "rescale_hook"))
        'full backward hook rescale_hook'
    """
    return f"{hook_label(hook)} {hook.name}".rstrip()


def tensor_words(node: Node) -> str:
    """Name the tensors at a node with shape, value and gradient."""
    words = []
    for card in node.cards:
        value = "" if card.value is None else f" = {card.value}"
        grad = "" if card.grad is None else f", grad {card.grad}"
        words.append(f"{card.name} {card.shape}{value}{grad}")
    return "; ".join(words)


def _targets(graph: Graph) -> list[str]:
    """Say for each node where its gradients go, a dash for an input that needs none."""
    ways = [["-"] * count for count in graph.input_counts]
    for edge in graph.edges:
        nr = f".{edge.output_nr}" if edge.output_nr else ""
        ways[edge.source][edge.input_nr] = f"{edge.target}{nr}"
    return [" ".join(way) for way in ways]


def table(graph: Graph) -> str:
    """Write the graph as a text table, a line for each node, the same every time.

    Where a terminal is too narrow for that, hooks stand below tensors, and what is long is broken.
    """
    rows = []
    for node, targets in zip(graph.nodes, _targets(graph), strict=True):
        hooks = ", ".join(map(hook_words, node.hooks))
        notes = "; ".join(note.replace("\n", " ") for note in node.notes)
        last = " | ".join(part for part in (hooks, notes) if part)
        rows.append((str(node.index), node.name, targets, tensor_words(node), last))
    head = ["#", "node", "sends to", "tensor", "hooks" if any(row[4] for row in rows) else ""]
    text = text_table(head, rows, left=range(5))
    if max(map(len, text.splitlines())) > WIDE:
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        way = min(widths[2], 20)
        room = WIDE - 6 - widths[0] - widths[1] - way
        narrow: list[Any] = []
        for at, name, targets, *words in rows:
            told = [line for each in words for line in fitted(each, 2, room)]
            narrow += zip_longest([at], [name], fitted(targets, 0, way), told, fillvalue="")
        text = text_table([*head[:3], ", ".join(filter(None, head[3:]))], narrow, left=range(4))
    lines = [text]
    for label, members in graph.groups.items():
        line = f"{label}: nodes {' '.join(map(str, sorted(members)))}"
        lines += fitted(line if len(line) <= WIDE else f"{label}: nodes {ranges(sorted(members))}")
    return "\n".join(lines)


def description(graph: Graph) -> str:
    """Describe the graph in sentences, for the alternative text of its picture."""
    operations = [node for node in graph.nodes if node.role != "leaf"]
    leaves = [node for node in graph.nodes if node.role == "leaf"]
    heads = [tensor_words(graph.nodes[root]) or graph.nodes[root].name for root in graph.roots]
    sentences = [f"Graph of {' and '.join(heads)}"]
    if operations and len(operations) <= 16:
        sentences.append(f"From the output on: {', '.join(node.name for node in operations)}")
    elif operations:
        counted = Counter(node.name for node in operations)
        sentences.append("Operations: " + ", ".join(f"{n} {name}" for name, n in counted.items()))
    if leaves and len(leaves) <= 16:
        sentences.append(f"Leaves: {'; '.join(tensor_words(node) or 'leaf' for node in leaves)}")
    elif leaves:
        sentences.append(f"{len(leaves)} leaves")
    hooks = [
        f"{hook_words(hook)} at node {node.index} ({node.name})"
        for node in graph.nodes
        for hook in node.hooks
    ]
    if hooks:
        sentences.append(f"Hooks: {', '.join(hooks)}")
    if len(graph.groups) > 6:
        sentences.append(f"Boxes: {'; '.join(graph.groups)}")
    for label, members in graph.groups.items() if len(graph.groups) <= 6 else ():
        inside = ", ".join(graph.nodes[member].name for member in sorted(members)[:12])
        sentences.append(f"A box named {label} holds {inside}")
    return ". ".join(sentences) + "."


class Picture:
    """A picture of one or several graphs: SVG to look at, text to read and to compare.

    In a notebook it shows itself. The stored output has two forms: `text/html` (an image with
    alternative text, which survives in a notebook that is not trusted) and `text/plain` (a
    table). Both are the same on every run, so that a strict comparison of outputs holds.

    Attributes:
        alt: the alternative text.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.viz import draw
        >>> picture = draw(torch.tensor(3.0, requires_grad=True).exp())
        >>> print(picture.table)
        #  node            sends to  tensor
        0  ExpBackward0    1         output () = 20.0855
        1  AccumulateGrad            leaf () = 3.0000, grad None
    """

    def __init__(
        self, canvases: list[Canvas], captions: list[str | None], title: str | None, alt: str | None
    ) -> None:
        """Draw the canvases side by side; use `draw` and `beside` instead."""
        self._canvases, self._captions, self._title = canvases, captions, title
        self._heading = title or "Autograd graph"
        starts = [f"{caption}: " if caption else "" for caption in captions]
        told = [description(canvas.graph) for canvas in canvases]
        self._described = [start + text for start, text in zip(starts, told, strict=True)]
        head = [f"{title}."] if title else []
        self.alt = " ".join(head + self._described) if alt is None else alt

    @property
    def svg(self) -> str:
        """The picture of one graph as SVG text.

        Raises:
            ValueError: If there are several: each picture that `beside` was given has its own.
        """
        if len(self._canvases) > 1:
            raise ValueError("these are several pictures, and an SVG is one; .html() has them all")
        return document(*plate(self._canvases[0], True), self._heading, self.alt)

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

    def html(self) -> str:
        """Return HTML images that carry the whole picture inside.

        Titles and captions are text of the page. Several graphs stand side by side where there is
        room for them, else below each other; a graph wider than the page scrolls in its box.
        """
        single = len(self._canvases) == 1
        plates = [plate(canvas, with_legend=single) for canvas in self._canvases]
        pieces = [self._piece(at, *drawn) for at, drawn in enumerate(plates)]
        head = f"<div><strong>{escape(self._title)}</strong></div>" if self._title else ""
        shown = pieces[0][0] if single else side_by_side(pieces) + self._legend()
        return f'<style>{PICTURE_STYLE}</style><div class="minigrad-picture">{head}{shown}</div>'

    def save(self, path: str | Path) -> None:
        """Write the picture into a file: `.html`, a page, or `.svg`, for one graph alone.

        Raises:
            ValueError: If the name ends in something else.
        """
        if Path(path).suffix == ".svg":
            Path(path).write_text(self.svg, encoding="utf-8")
        else:
            save_page(path, self._heading, self.html(), (".html", ".svg"))

    def _piece(self, at: int, body: str, width: float, height: float) -> tuple[str, float]:
        """Give one graph with its caption as HTML, and its width."""
        caption, several = self._captions[at], len(self._canvases) > 1
        heading, alt = caption or self._heading, self.alt
        if several and (at or self._described[at] in self.alt):
            alt = self._described[at]
        drawn = image(document(body, width, height, heading, alt), alt, width, height)
        head = f"<div><strong>{escape(caption)}</strong></div>" if caption else ""
        return head + box(drawn, width), width

    def _legend(self) -> str:
        """Give the legend of several graphs as HTML."""
        room = sum(bounds(each)[2] for each in self._canvases)
        body, width, height, words = legend(self._canvases, room)
        alt = f"Legend: {words}."
        return box(image(document(body, width, height, "Legend", alt), alt, width, height), width)

    def __repr__(self) -> str:
        """Return the table."""
        return self.table

    def _repr_html_(self) -> str:
        # No image/svg+xml: a notebook that is not trusted refuses it, and it would be stored twice.
        return self.html()


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
    # so that they fit one screen
    canvases = [Canvas(graph, CLOSE) for picture in pictures for graph in picture.graphs]
    if not canvases:
        raise ValueError("there is nothing to put side by side: give two pictures or more")
    own = [line for p in pictures for line in (p._captions if p._captions[1:] else [p._title])]
    lines: list[str | None] = own if captions is None else [*captions]
    if len(lines) != len(canvases):
        raise ValueError(f"{len(canvases)} pictures need as many captions, got {len(lines)}")
    return Picture(canvases, lines, title, alt)


def draw(
    output: Any,
    *inputs: Any,
    names: Any = None,
    modules: watch_modules | None = None,
    depth: int | None = None,
    hooks: bool | Callable[[Any], Iterable[Any]] = True,
    values: bool = True,
    gradients: bool = True,
    annotations: Mapping[Any, str] | None = None,
    title: str | None = None,
    alt: str | None = None,
    digits: int = 4,
    limit: int = 500,
) -> Picture:
    """Draw the graph that a computation left behind.

    Each operation is a box with PyTorch's name for its node; arrows point the way the gradient
    goes, from the output to the leaves. What stands above a box happens before its rule, what hangs
    below it happens after: a gradient traveling down meets everything in the order drawn.

    Args:
        output: the tensor the graph ends in, or a list or tuple of several. Or a Module: it is
            called with `inputs`, and what comes out is drawn with all its modules.
        *inputs: what to call the module with.
        names: names for tensors: a dict `{"x": x, "s": s}`, a Module (whose
            `named_parameters()` are taken), or a list of both. An inner tensor that is named is
            drawn above its operation. Tensors that are not part of the graph are left out.
        modules: what `watch_modules` saw while the graph was made. Each call of a module becomes a
            box with its dotted name and its class, and parameters get their names.
        depth: of a large model: draw each module that is called so deep, 1 for those that the model
            itself calls, as one node, with the hooks inside.
        hooks: whether to draw the hooks; or a function that is given a node and lists its hooks as
            objects with `kind`, `name` and `output_nr`.
        values: whether to show tensors' values.
        gradients: whether to show the gradients they hold.
        annotations: notes to put under a node: `{tensor, node or name: text}`.
        title: a line above the picture.
        alt: the alternative text; by default one that describes the graph.
        digits: decimals of numbers.
        limit: how many nodes there may be to draw.

    Returns:
        The picture.

    Raises:
        ValueError: if there is no graph, or too large a graph.
        KeyError: if something named is not part of the graph.
        TypeError: if `inputs` are given for something that isn't a module.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> y.backward()
        >>> draw(y, names={"x": x, "y": y})
        #  node            sends to  tensor
        0  MulBackward0    1 1       y () = 9.0000
        1  AccumulateGrad            x () = 3.0000, grad 6.0000
        >>> draw(minigrad.nn.ReLU(), x)
        #  node            sends to  tensor
        0  ReluBackward0   1         output () = 3.0000
        1  AccumulateGrad            input () = 3.0000, grad 6.0000
        ReLU: nodes 0
    """
    if hasattr(output, "named_modules"):
        output, modules, given = called(output, inputs)
        names = [names, given]
    elif inputs:
        raise TypeError("draw() calls a Module with the inputs: give several outputs as a list")
    if modules is not None:
        names = [names, *modules.named()]
    outputs = list(output) if isinstance(output, list | tuple) else [output]
    if not outputs:
        raise ValueError("there is no graph to draw: no tensor given requires a gradient")
    most = limit if depth is None else 20 * limit
    graph, index = read_graph(outputs, names, hooks, values, gradients, digits, most)
    for thing, note in (annotations or {}).items():
        graph.nodes[index.resolve(thing)].notes.append(str(note))
    depths = add_groups(graph, index, modules)
    if depth is not None:
        graph = fold(graph, {c: graph.groups[c] for c, at in depths.items() if at == depth})
    return Picture([Canvas(graph)], [None], title, alt)


_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def save_page(path: str | Path, title: str, shown: str, kinds: Sequence[str] = (".html",)) -> None:
    """Write HTML as a page of its own that needs nothing from elsewhere, light or dark.

    Args:
        path: Where to.
        title: Its title and heading; the one in `shown` is hidden.
        shown: What is on it.
        kinds: The endings of names to speak of in an error.

    Raises:
        ValueError: If the name does not end in `.html`.
    """
    if Path(path).suffix != ".html":
        raise ValueError(f"the name must end in {' or '.join(kinds)}, not {str(path)!r}")
    Path(path).write_text(_PAGE.substitute(title=escape(title), shown=shown), encoding="utf-8")


def image(svg: str, alt: str, width: float, height: float, kind: str = "") -> str:
    """Write an image that carries the whole picture inside, and shrinks as far as it is readable.

    Args:
        svg: The picture.
        alt: Its alternative text.
        width: Its own width in pixels.
        height: Its own height.
        kind: A further class for it.
    """
    data = base64.b64encode(svg.encode()).decode("ascii")
    names = f"minigrad-ink {kind}".strip()
    least = -(-width * SMALLEST // 1)
    return (
        f'<img class="{names}" src="data:image/svg+xml;base64,{data}" alt="{escape(alt)}" '
        f'width="{width:g}" height="{height:g}" '
        f'style="min-width:{least:g}px;max-width:100%;height:auto">'
    )


def box(inner: str, width: float) -> str:
    """Put an image of some width into a box that scrolls where the page is narrower."""
    wide = ' tabindex="0" role="group" aria-label="wide picture"' if width > 900 else ""
    return f'<div class="minigrad-wide" style="overflow-x:auto"{wide}>{inner}</div>'


def side_by_side(pieces: list[tuple[str, float]]) -> str:
    """Put pieces of HTML with their widths side by side, or below each other where it is narrow."""
    items = "".join(
        f'<div style="display:inline-block;vertical-align:top;'
        f'flex:1 1 {-(-width * SMALLEST // 1):g}px;max-width:{width:g}px">{inner}</div>'
        for inner, width in pieces
    )
    return f'<div class="minigrad-row" style="overflow-x:auto">{items}</div>'
