"""Pictures: valid, self-contained and repeatable SVG, described in words, with labels that fit."""

import base64
import random
import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest

from minigrad.viz import beside, draw
from minigrad.viz.canvas import Canvas
from minigrad.viz.graph import read_graph
from minigrad.viz.shapes import SMALL
from minigrad.viz.style import INK, WIRE
from minigrad.viz.text import SANS, text_width

from .graphs import contrasts, hooks_of, leaf, lenet, operation, output_of, random_graph
from .test_layout import disjoint, within

SVG = "{http://www.w3.org/2000/svg}"
IDENTITY = "BackwardHookFunctionBackward"


def hook(kind: str, name: str, output_nr: int = 0) -> SimpleNamespace:
    return SimpleNamespace(kind=kind, name=name, output_nr=output_nr)


def small_model(kind: str = "full"):
    """A module (w * h) ** 2 after another operation, as a full or a legacy hook leaves it."""
    w, x = leaf([0.4], (1,), grad=[-0.1938]), leaf([0.3], (1,), grad=[-0.1224])
    first = operation("SinBackward0", x)
    inward = operation(IDENTITY, first) if kind == "full" else first
    product = operation("MulBackward0", w, inward)
    square = operation("PowBackward0", product)
    outward = operation(IDENTITY, square) if kind == "full" else square
    place, label = (inward, "full backward") if kind == "full" else (square, "legacy backward")
    output = output_of(outward, [0.0762], (1,))
    hidden = output_of(first, [0.2955], (1,))
    names = {"w": w.variable, "x": x.variable, "y": output, "h": hidden}
    return SimpleNamespace(
        output=output,
        hidden=hidden,
        names=names,
        hooks=lambda node: [hook(label, "rescale_hook")] if node is place else [],
    )


def picture_of(model, **options):
    return draw(model.output, names=model.names, hooks=model.hooks, **options)


def texts(picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg)
    return [element.text for element in root.iter(f"{SVG}text")]


def test_the_picture_shows_names_values_gradients_and_hooks():
    shown = texts(picture_of(small_model()))
    for text in ("PowBackward0", IDENTITY, "w", "0.4000", "-0.1938", "rescale_hook"):
        assert text in shown
    assert shown.count(IDENTITY) == 2
    assert "full backward hook" in shown
    shown = texts(picture_of(small_model(), values=False, gradients=False))
    assert "0.4000" not in shown
    assert "-0.1938" not in shown
    model = small_model()
    assert "rescale_hook" not in texts(draw(model.output, names=model.names, hooks=False))


def test_the_table_is_the_text_form():
    assert repr(picture_of(small_model("legacy"))) == "\n".join(
        [
            "#  node            sends to  tensor                         hooks",
            "0  PowBackward0    1         y (1,) = 0.0762                "
            "legacy backward hook rescale_hook",
            "1  MulBackward0    2 3",
            "2  AccumulateGrad            w (1,) = 0.4000, grad -0.1938",
            "3  SinBackward0    4         h (1,) = 0.2955",
            "4  AccumulateGrad            x (1,) = 0.3000, grad -0.1224",
        ]
    )


def test_the_svg_is_self_contained_and_says_what_it_shows():
    picture = picture_of(small_model(), title="Full <hook> & more")
    root = ElementTree.fromstring(picture.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == picture.alt == root.find(f"{SVG}desc").text
    assert root.find(f"{SVG}title").text == "Full <hook> & more"
    rest = picture.svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    for forbidden in ("http", "href", "url(", " id=", "<script", "<style", "font-face", "&nbsp;"):
        assert forbidden not in rest
    families = set(re.findall(r'font-family="([^"]*)"', picture.svg))
    assert families == {"monospace", "sans-serif"}


def test_a_picture_is_saved_as_svg_or_as_a_page(tmp_path):
    picture = picture_of(small_model(), title="A <net>")
    picture.save(tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text(encoding="utf-8") == picture.svg
    picture.save(tmp_path / "net.html")
    page = (tmp_path / "net.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and picture.html() in page
    assert "<h1>A &lt;net&gt;</h1>" in page
    with pytest.raises(ValueError, match=r"must end in \.html or \.svg, not 'net\.png'"):
        picture.save("net.png")
    with pytest.raises(ValueError, match="several pictures"):
        beside(picture, picture).save(tmp_path / "pair.svg")


def test_the_default_alternative_text_describes_the_graph():
    alt = picture_of(small_model()).alt
    assert alt == (
        "Graph of y (1,) = 0.0762. From the output on: BackwardHookFunctionBackward, PowBackward0, "
        "MulBackward0, BackwardHookFunctionBackward, SinBackward0. Leaves: w (1,) = 0.4000, "
        "grad -0.1938; x (1,) = 0.3000, grad -0.1224. Hooks: full backward hook rescale_hook at "
        "node 4 (BackwardHookFunctionBackward)."
    )
    assert picture_of(small_model(), alt="My words.").alt == "My words."


def test_the_notebook_gets_an_image_that_says_what_it_shows():
    picture = picture_of(small_model())
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(picture)
    assert data == {"text/plain": picture.table, "text/html": picture.html()}
    ((svg, alt, width),) = images(picture.html())
    assert alt == picture.alt
    shown = ElementTree.fromstring(svg)
    assert {element.text for element in shown.iter(f"{SVG}text")} == set(texts(picture))
    assert float(shown.get("width")) == width


def images(html: str) -> list[tuple[str, str, float]]:
    """Give the pictures in some HTML: their SVG, their alternative text and their width."""
    found = re.findall(
        r'<img class="minigrad-ink" src="data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)" '
        r'alt="([^"<>]+)" width="(\d+)" height="\d+" '
        r'style="min-width:\d+px;max-width:100%;height:auto">',
        html,
    )
    assert len(found) == html.count("<img")
    return [(base64.b64decode(data).decode(), alt, float(width)) for data, alt, width in found]


def test_lines_stand_out_on_white_pages_and_on_dark_ones():
    loss, modules = lenet()
    ((svg, _, _),) = images(draw(loss, modules=modules).html())
    lines = set(re.findall(r'stroke="(#[0-9a-fA-F]{6})"', svg)) - {INK}  # ink is on cards only
    assert WIRE in lines
    for color in lines:
        assert min(contrasts(color)) >= 3, color


def test_boxes_do_not_overlap_and_labels_fit():
    kinds = ["tensor pre-hook", "node pre-hook", "retain_grad", "node hook"]
    for seed in range(12):
        count, edges = random_graph(seed)
        nodes = [None] * count
        for at in reversed(range(count)):
            targets = [nodes[target] for source, target in edges if source == at]
            title = f"Op{at}Backward0" * (1 + at % 2)
            nodes[at] = operation(title, *targets) if targets else leaf()
            nodes[at].hooks = [hook(kinds[at % 4], "watch" * (at % 3))]
        graph, _ = read_graph([output_of(nodes[0])], hooks=hooks_of)
        inner, middle, outer = sorted(random.Random(seed).sample(range(1, count), 3))
        graph.groups["a group that holds the inner one"] = frozenset(range(outer))
        graph.groups["inner"] = frozenset(range(inner, middle))
        canvas = Canvas(graph)
        stacks = np.array([canvas.node_place(node) for node in range(count)])
        for label, (left, top, width, height) in canvas.frame_places().items():
            assert width >= text_width(label, SMALL + 1, SANS, bold=True)
            members = np.array([node in graph.groups[label] for node in range(count)])
            # clear of the label
            assert within(stacks[members], (left, top + 18, width, height - 18)).all()
            assert disjoint(stacks[~members], [(left, top, width, height)]).all()
        parts = [place for places in canvas.places for place in places]
        assert (disjoint(parts, parts) | np.eye(len(parts), dtype=bool)).all()
        for part in (part for stack in canvas.stacks for part in stack):
            assert all(sum(run.width for run in line) <= part.width for line in part.lines)


def test_several_gradients_meet_at_a_sum():
    x = leaf()
    twice = draw(output_of(operation("MulBackward0", x, x)), hooks=hooks_of)
    once = draw(output_of(operation("ExpBackward0", x)), hooks=hooks_of)
    assert texts(twice).count("+") == texts(once).count("+") + 2  # the sign and its legend
    assert "gradients are added" in texts(twice)


def test_several_outputs_are_told_apart():
    parts = operation("UnbindBackward0", leaf([1.0, 2.0], (2,)))
    output = output_of(operation("MulBackward0", (parts, 0), (parts, 1)))
    shown = texts(
        draw(output, hooks=lambda node: [hook("tensor pre-hook", "h", 1)] * (node is parts))
    )
    assert {"out 0", "out 1", "tensor hook, output 1"} <= set(shown)
    assert "+" not in shown


def test_annotations():
    model = small_model()
    marked = picture_of(model, annotations={"y": "seen here\nand here"})
    assert {"seen here", "and here"} <= set(texts(marked))
    assert "seen here and here" in marked.table
    with pytest.raises(KeyError, match="names nothing"):
        picture_of(model, annotations={"nowhere": "?"})


def test_side_by_side_has_both_and_one_legend():
    full, legacy = picture_of(small_model(), title="full"), picture_of(small_model("legacy"))
    both = beside(full, legacy, captions=["left one", "right one"], title="Both")
    assert len(both.graphs) == 2
    with pytest.raises(ValueError, match="several pictures"):
        print(both.svg)
    assert both.alt.startswith("Both. left one: Graph of y")
    assert "left one\n#  node" in both.table
    shown = images(both.html())
    assert [alt.split(":")[0] for _, alt, _ in shown] == ["left one", "right one", "Legend"]
    assert "<strong>Both</strong>" in both.html()
    named = images(beside(full, legacy, captions=["full", "legacy"], alt="In my words.").html())
    assert [alt.split(":")[0] for _, alt, _ in named] == ["In my words.", "legacy", "Legend"]
    with pytest.raises(ValueError, match="2 pictures need as many captions"):
        beside(full, legacy, captions=["one"])
    with pytest.raises(ValueError, match="nothing to put side by side"):
        beside()


def test_drawing_runs_nothing_and_keeps_no_node_alive():
    model = small_model()
    picture = picture_of(model)
    held = [value for node in picture.graphs[0].nodes for value in vars(node).values()]
    assert all(isinstance(value, int | str | bool | list | frozenset) for value in held)
