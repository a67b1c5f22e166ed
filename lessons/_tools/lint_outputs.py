"""Rules about outputs: nothing that differs between machines, nothing that a reader cannot see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from _tools.lesson import Lesson, Rule, without_fences

_EMBEDDED = re.compile(r"base64,[A-Za-z0-9+/=\s]+")
_MEMORY = re.compile(r"\b0x[0-9a-fA-F]{4,}")
_PATH = re.compile(
    r"/(?:home|Users|root|tmp|work|opt|usr|var|private)/|\b[A-Z]:\\|site-packages|ipykernel_\d|file://"
)
_OUTSIDE = re.compile(
    r"https?://(?!www\.w3\.org/)[^\s\"'<>]+|(?:src|href)\s*=\s*[\"']//[^\"']+|@import\b"
)
_LONG_FLOAT = re.compile(r"\d\.\d{10,}")
_UPDATES = re.compile(r"\b(?:clear_output|update_display|tqdm|interact|ipywidgets)\b")
_IMAGE = re.compile(r"<img\b[^>]*>", re.I)
_ALT = re.compile(r"\balt\s*=\s*([\"'])\s*\S.*?\1", re.I | re.S)
_MARKDOWN_IMAGE = re.compile(r"!\[([^\]]*)\]\(")
_SVG = re.compile(r"<svg\b.*?</svg>", re.I | re.S)
_NAMED = re.compile(r"<title>\s*\S|aria-label\s*=\s*[\"']\s*\S", re.I)

Found = Iterator[tuple[str, str]]


def _texts(output: NotebookNode) -> Iterator[tuple[str, str]]:
    """Give each text of an output with its kind, embedded files cut out."""
    if output.output_type == "stream":
        yield "text/plain", output.text
    elif output.output_type == "error":
        yield "text/plain", f"{output.ename}: {output.evalue}\n" + "\n".join(output.traceback)
    else:
        for kind, content in output.data.items():
            if isinstance(content, str) and not kind.startswith(("image/png", "image/jpeg")):
                yield kind, _EMBEDDED.sub("base64,", content)


def _every_text(lesson: Lesson) -> Iterator[tuple[str, str, str]]:
    for cell in lesson.code:
        for output in cell.outputs:
            for kind, text in _texts(output):
                yield cell.id, kind, text


def error_stream(lesson: Lesson) -> Found:
    """Nothing goes to the error stream, where warnings carry paths."""
    for cell in lesson.code:
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                start = output.text.strip().splitlines()[-1][:80]
                yield cell.id, f"writes to the error stream: {start}; show it as output, or mend it"


def widgets(lesson: Lesson) -> Found:
    """No widgets and no display updates: both are empty or unstable in stored notebooks."""
    if "widgets" in lesson.notebook.metadata:
        yield "", "widget state in the notebook's metadata"
    for cell in lesson.code:
        for output in cell.outputs:
            if any("widget" in kind for kind in output.get("data", {})):
                yield cell.id, "shows a widget"
        match = _UPDATES.search(cell.source)
        if match:
            yield cell.id, f"{match[0]} makes output that cannot be stored and compared"


def addresses(lesson: Lesson) -> Found:
    """No memory addresses, which differ on each run."""
    for cell, _, text in _every_text(lesson):
        match = _MEMORY.search(text)
        if match:
            yield cell, f"prints the memory address {match[0]}"


def paths(lesson: Lesson) -> Found:
    """No paths of the machine that ran it."""
    for cell, _, text in _every_text(lesson):
        match = _PATH.search(text)
        if match:
            yield cell, f"prints a path: {text[max(0, match.start() - 20) : match.end() + 20]!r}"


def outside_addresses(lesson: Lesson) -> Found:
    """Pictures and HTML load nothing from the network."""
    for cell, kind, text in _every_text(lesson):
        match = _OUTSIDE.search(text)
        if match and kind in ("text/html", "image/svg+xml", "application/javascript"):
            yield cell, f"reaches outside: {match[0][:80]}"


def long_floats(lesson: Lesson) -> Found:
    """No floats with all their digits; the last ones depend on the machine."""
    for cell, kind, text in _every_text(lesson):
        match = _LONG_FLOAT.search(text)
        if match and kind in ("text/plain", "text/latex"):
            yield cell, f"prints ...{match[0]} in full; print floats with show()"


def alt_text(lesson: Lesson) -> Found:
    """Every picture says in words what it shows."""
    for cell in lesson.prose:
        source = without_fences(cell.source)
        if any(not match[1].strip() for match in _MARKDOWN_IMAGE.finditer(source)):
            yield cell.id, "an image without alternative text: ![what it shows](file)"
        yield from ((cell.id, says) for says in _silent_pictures(source))
    for cell in lesson.code:
        for output in cell.outputs:
            data = output.get("data", {})
            for kind in ("image/png", "image/jpeg"):
                if kind in data and not _described(cell, output, kind):
                    yield (
                        cell.id,
                        "a picture without alternative text: print a line that begins with "
                        '"Figure:", or display(figure, metadata={"image/png": {"alt": "..."}})',
                    )
            for kind in ("text/html", "image/svg+xml"):
                yield from ((cell.id, says) for says in _silent_pictures(data.get(kind, "")))


def _silent_pictures(text: str) -> Iterator[str]:
    for image in _IMAGE.findall(text):
        if not _ALT.search(image):
            yield "an <img> without alt="
    for drawing in _SVG.findall(text):
        if not _NAMED.search(drawing):
            yield "an <svg> without <title> or aria-label"


def _described(cell: NotebookNode, output: NotebookNode, kind: str) -> bool:
    if output.metadata.get(kind, {}).get("alt", "").strip():
        return True
    printed = [
        text for other in cell.outputs for mime, text in _texts(other) if mime == "text/plain"
    ]
    return any(re.search(r"^Figure: \S", text, re.M) for text in printed)


RULES: dict[str, Rule] = {
    "error-stream": error_stream,
    "widgets": widgets,
    "addresses": addresses,
    "paths": paths,
    "outside-addresses": outside_addresses,
    "long-floats": long_floats,
    "alt-text": alt_text,
}
