"""Make slides of a lesson: one for each section, its subsections below it."""

from __future__ import annotations

import re
from pathlib import Path

import nbconvert
from nbformat import NotebookNode

from _tools import canonical, places

# nbconvert's links differ from words by color alone, and some of its colors are too light to read.
STYLE = """<style>
.jp-RenderedHTMLCommon a:link, .jp-RenderedHTMLCommon a:visited { text-decoration: underline }
:root { --jp-cell-prompt-not-active-opacity: 1; --jp-mirror-editor-number-color: #060;
  --jp-mirror-editor-comment-color: #2f6666; --jp-mirror-editor-operator-color: #81c }
</style>
</head>"""


def marked(notebook: NotebookNode) -> NotebookNode:
    """Give a notebook whose cells say where a slide begins.

    A slide begins at each title and section, one below it at each subsection; a slide type that
    the author gave a cell stays.

    Args:
        notebook: a lesson; it stays as it is.
    """
    made = canonical.canonical(notebook)
    for cell in made.cells:
        if "slideshow" in cell.metadata:
            continue
        heading = re.match(r"(#+) ", cell.source) if cell.cell_type == "markdown" else None
        deep = len(heading[1]) if heading else 0
        kind = "-" if not deep else "slide" if deep <= 2 else "subslide"
        cell.metadata["slideshow"] = NotebookNode(slide_type=kind)
    return made


def main(lesson: str, folder: Path, reveal: str | None = None) -> int:
    """Write the slides of a lesson as one HTML file.

    Args:
        lesson: its number.
        folder: where to.
        reveal: where the browser finds reveal.js; by default nbconvert's address on the network.

    Returns:
        0: an exit code.
    """
    path = places.learner_of(*places.chosen([lesson]))
    exporter = nbconvert.SlidesExporter()
    exporter.reveal_scroll = True  # a section may be longer than the screen
    if reveal is not None:
        exporter.reveal_url_prefix = reveal
    notebook = marked(canonical.read(path))
    title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
    text, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{path.stem}.slides.html"
    target.write_text(text.replace("</head>", STYLE, 1), encoding="utf-8", newline="\n")
    print(f"written: {target}")
    return 0
