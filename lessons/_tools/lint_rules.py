"""Rules about a notebook: its form and order, its outputs, its exercises, predictions and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode

from _tools import canonical
from _tools.folding import REVEALS
from _tools.lesson import Lesson, Rule, without_fences
from _tools.outputs import said
from _tools.predictions import COMPARE, PREDICT

ALLOWED_OPT_OUTS: dict[tuple[str, str], str] = {}
"""Cells whose output nbval may ignore: (lesson, cell id) to the reason."""

_MARKER = re.compile(r"#\s*(NBVAL_\w+|PYTEST_VALIDATE_\w+)")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*$", re.M)
_LINK = re.compile(r"!?\[(?P<words>[^\]]*)\]\((?P<target>[^)\s#]*)#?(?P<anchor>[^)\s]*)[^)]*\)")
_FILE = re.compile(r"[\w/]+\.(?:py|md|ipynb|json|npz)")
_NAMED_PLACE = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
_EMBEDDED = re.compile(r"base64,[A-Za-z0-9+/=\s]+")
_ALT = re.compile(r"\balt\s*=\s*([\"'])\s*\S.*?\1", re.I | re.S)
_NAMED = re.compile(r"<title>\s*\S|aria-label\s*=\s*[\"']\s*\S", re.I)
_SILENT_IMAGE = re.compile(r"!\[\s*\]\(")
_MARKUP = ("text/html", "image/svg+xml", "application/javascript")
# What an output may not hold: where, what it looks like, what to say.
_OUTPUTS = {
    "addresses": ((), re.compile(r"\b0x[0-9a-fA-F]{4,}"), "prints a memory address"),
    "paths": (
        (),
        re.compile(
            r"/(?:home|Users|root|tmp|work|opt|usr|var|private)/|\b[A-Z]:\\|site-packages"
            r"|ipykernel_\d|file://"
        ),
        "prints a path",
    ),
    "outside-addresses": (
        _MARKUP,
        re.compile(
            r"https?://(?!www\.w3\.org/)[^\s\"'<>]+|(?:src|href)\s*=\s*[\"']//[^\"']+|@import\b"
        ),
        "reaches outside",
    ),
    "long-floats": (
        ("text/plain", "text/latex"),
        re.compile(r"\d\.\d{10,}"),
        "prints a float in full, and its last digits depend on the machine; use show()",
    ),
}

Found = Iterator[tuple[str, str]]


def canonical_form(lesson: Lesson) -> Found:
    """The file is the canonical text of its notebook: kernel, ids, tags, no versions."""
    try:
        wanted = canonical.text(lesson.notebook)
    except ValueError as error:
        yield "", str(error)
        return
    if lesson.text != wanted:
        yield "", "not in canonical form; release the lesson"


def execution_order(lesson: Lesson) -> Found:
    """Every code cell was run, once, from top to bottom; nbval skips cells that were not."""
    for expected, cell in enumerate(lesson.code, start=1):
        if not cell.source.strip():
            yield cell.id, "an empty code cell"
        if cell.execution_count != expected:
            yield cell.id, f"execution count {cell.execution_count}, not {expected}"


def opt_outs(lesson: Lesson) -> Found:
    """No output is left uncompared, except by the allow-list."""
    for cell in lesson.code:
        markers = [match[1] for match in _MARKER.finditer(cell.source)]
        markers += [tag for tag in cell.metadata.get("tags", []) if tag.startswith("nbval-")]
        if markers and (lesson.path.stem, cell.id) not in ALLOWED_OPT_OUTS:
            yield cell.id, f"{markers[0]} takes the cell out of the comparison"


def errors(lesson: Lesson) -> Found:
    """Errors are announced by a tag, and announced errors happen; warnings carry paths."""
    for cell in lesson.code:
        failed = any(output.output_type == "error" for output in cell.outputs)
        announced = "raises-exception" in cell.metadata.get("tags", [])
        if failed and not announced:
            yield cell.id, "ends in an error without the tag raises-exception"
        if announced and not failed:
            yield cell.id, "is tagged raises-exception and raises none"
        if any(output.get("name") == "stderr" for output in cell.outputs):
            yield cell.id, "writes to the error stream; show it as output, or mend it"


def headings(lesson: Lesson) -> Found:
    """One title, at the top; no level left out below it; no heading in what is folded."""
    before = 0
    for cell in lesson.prose:
        for mark, _ in _HEADING.findall(without_fences(cell.source)):
            level = len(mark)
            if REVEALS in cell.metadata.get("tags", []):
                yield cell.id, "a heading in a cell that reveals; split the cell by +++"
            if level > before + 1:
                yield cell.id, f"a heading of level {level} follows one of level {before}"
            if level == 1 and before > 0:
                yield cell.id, "a second title (# ...)"
            before = level
    if not lesson.notebook.cells or not lesson.notebook.cells[0].source.startswith("# "):
        yield "", "the first cell does not begin with a title (# ...)"


def exercises(lesson: Lesson) -> Found:
    """Each answer cell has its check after it, and the check shows its result."""
    marks = [cell.metadata.nbgrader for cell in lesson.code if "nbgrader" in cell.metadata]
    answers = [canonical.exercise_of(mark.grade_id) for mark in marks if mark.solution]
    checks = [canonical.exercise_of(mark.grade_id) for mark in marks if mark.grade]
    if answers != checks:
        yield "", f"answer cells {answers} and check cells {checks} do not pair in order"
    for cell in lesson.code:
        if not (mark := cell.metadata.get("nbgrader")):
            continue
        exercise = canonical.exercise_of(mark.grade_id)
        if not exercise.startswith(f"{lesson.number}."):
            yield cell.id, f"exercise {exercise} is not of lesson {lesson.number}"
        if mark.grade and f'check("{exercise}"' not in cell.source:
            yield cell.id, f'does not call check("{exercise}", ...)'
        if mark.grade and f"{exercise}:" not in said(cell):
            yield cell.id, f"shows no result of check {exercise}"


def predictions(lesson: Lesson) -> Found:
    """A prediction is of this lesson, written down once, and compared further down."""
    open_ones: dict[str, str] = {}
    seen: set[str] = set()
    for cell in lesson.code:
        for name in PREDICT.findall(cell.source):
            if not name.startswith(f"{lesson.number}."):
                yield cell.id, f"prediction {name} is not of lesson {lesson.number}"
            if name in seen:
                yield cell.id, f"prediction {name} is asked for twice"
            if "prediction" not in cell.metadata.get("tags", []):
                yield cell.id, f"the cell of prediction {name} has no tag 'prediction'"
            seen.add(name)
            open_ones[name] = cell.id
        for name in COMPARE.findall(cell.source):
            if name not in seen:
                yield cell.id, f"compares {name}, which nobody predicted above"
            open_ones.pop(name, None)
    for name, where in open_ones.items():
        yield where, f"prediction {name} is never compared"


def links(lesson: Lesson) -> Found:
    """Relative links lead to files and headings that are there, and to the file that they name."""
    # Both notebooks hold the same text, which is written for the learner's place.
    folder = lesson.path.parent
    folder = folder.parent if folder.name == "solutions" else folder
    for cell in lesson.prose:
        for words, target, anchor in _LINK.findall(without_fences(cell.source)):
            target = unquote(target)
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not (folder / target).exists():
                yield cell.id, f"the link to {target} leads nowhere"
            elif target.endswith(".md") and anchor and anchor not in _places(folder / target):
                yield cell.id, f"there is no #{anchor} in {target}"
            named = _FILE.fullmatch(words.replace("\\", ""))
            if named and not f"/{target}".endswith(f"/{named[0]}"):
                yield cell.id, f"the link that names {named[0]} leads to {target}"


def _places(page: Path) -> set[str]:
    """List the anchors of a page; of headings as GitHub makes them."""
    text = page.read_text(encoding="utf-8")
    heads = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head) for _, head in _HEADING.findall(text))
    slugs = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return slugs | set(_NAMED_PLACE.findall(text))


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


def _never_shown(rule: str) -> Rule:
    """Make a rule of what no output may hold."""
    kinds, pattern, says = _OUTPUTS[rule]

    def find(lesson: Lesson) -> Found:
        for cell in lesson.code:
            for output in cell.outputs:
                for kind, text in _texts(output):
                    match = pattern.search(text)
                    if match and (not kinds or kind in kinds):
                        shown = text[max(0, match.start() - 20) : match.end() + 20]
                        yield cell.id, f"{says}: {shown!r}"

    return find


def alt_text(lesson: Lesson) -> Found:
    """Every picture says in words what it shows."""
    for cell in lesson.prose:
        source = without_fences(cell.source)
        if _SILENT_IMAGE.search(source):
            yield cell.id, "an image without alternative text: ![what it shows](file)"
        yield from ((cell.id, says) for says in _silent_pictures(source))
    for cell in lesson.code:
        for output in cell.outputs:
            data = output.get("data", {})
            for kind in {"image/png", "image/jpeg"} & data.keys():
                told = output.metadata.get(kind, {}).get("alt", "").strip()
                if not told and not re.search(r"^Figure: \S", said(cell), re.M):
                    yield (
                        cell.id,
                        "a picture without alternative text: print a line that begins with "
                        '"Figure:", or display(figure, metadata={"image/png": {"alt": "..."}})',
                    )
            for kind in ("text/html", "image/svg+xml"):
                yield from ((cell.id, says) for says in _silent_pictures(data.get(kind, "")))


def _silent_pictures(text: str) -> Iterator[str]:
    if any(not _ALT.search(image) for image in re.findall(r"<img\b[^>]*>", text, re.I)):
        yield "an <img> without alt="
    if any(not _NAMED.search(svg) for svg in re.findall(r"<svg\b.*?</svg>", text, re.I | re.S)):
        yield "an <svg> without <title> or aria-label"


RULES: dict[str, Rule] = {
    "canonical-form": canonical_form,
    "execution-order": execution_order,
    "opt-outs": opt_outs,
    "errors": errors,
    "headings": headings,
    "exercises": exercises,
    "predictions": predictions,
    "links": links,
    **{name: _never_shown(name) for name in _OUTPUTS},
    "alt-text": alt_text,
}
