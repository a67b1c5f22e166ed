"""Rules about the parts of a lesson: opening, closing, predictions, players, sizes, anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from _tools.lesson import Lesson, Rule, without_fences
from _tools.predictions import COMPARE, PREDICT

OPENING = ("The question:", "You will be able to", "You need", "Time:")
CLOSING = ("What you now know", "Test yourself", "Where to look further")
MOST_PLAYERS = 2
MOST_KB_OF_TEXT, MOST_KB_OF_PIXELS, MOST_KB = 150, 300, 800

_PLAY = re.compile(r"\bplay\(")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]*\.md)#([^)\s]+)\)")
_HEADING = re.compile(r"^#+\s+(.+?)\s*$", re.M)
_NAMED = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")

Found = Iterator[tuple[str, str]]


def opening(lesson: Lesson) -> Found:
    """It opens with its question, what one will be able to do, what one needs, and the time."""
    first = lesson.notebook.cells[0] if lesson.notebook.cells else None
    source = first.source if first is not None else ""
    for part in OPENING:
        if f"**{part}" not in source:
            yield "", f"the first cell does not say **{part}**"


def closing(lesson: Lesson) -> Found:
    """It closes with what one now knows, a self-test, and where to look further."""
    prose = "\n".join(cell.source for cell in lesson.prose)
    for part in CLOSING:
        if not re.search(rf"(?:^#+ |\*\*){part}", prose, re.M):
            yield "", f"there is no part {part!r}"


def predictions(lesson: Lesson) -> Found:
    """A prediction is of this lesson, written down once, and compared further down."""
    number = lesson.path.stem.partition("_")[0]
    open_ones: dict[str, str] = {}
    seen: set[str] = set()
    for cell in lesson.code:
        for name in PREDICT.findall(cell.source):
            if not name.startswith(f"{number}."):
                yield cell.id, f"prediction {name} is not of lesson {number}"
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
    for name, cell in open_ones.items():
        yield cell, f"prediction {name} is never compared"


def players(lesson: Lesson) -> Found:
    """One or two players are enough: each step of one is a picture."""
    shown = [cell.id for cell in lesson.code if _PLAY.search(cell.source)]
    if len(shown) > MOST_PLAYERS:
        yield shown[MOST_PLAYERS], f"{len(shown)} players; a lesson has {MOST_PLAYERS} at most"


def sizes(lesson: Lesson) -> Found:
    """Outputs and notebooks stay small enough to be read and sent."""
    for cell in lesson.code:
        for output in cell.outputs:
            parts = {"text/plain": output.get("text", ""), **output.get("data", {})}
            for kind, content in parts.items():
                pixels = kind in ("image/png", "image/jpeg")
                most = MOST_KB_OF_PIXELS if pixels else MOST_KB_OF_TEXT
                kb = len(str(content)) / 1000
                if kb > most:
                    yield cell.id, f"{kb:.0f} kB of {kind} in one output; {most} at most"
    if len(lesson.text) / 1000 > MOST_KB:
        yield "", f"the notebook has {len(lesson.text) / 1000:.0f} kB; {MOST_KB} at most"


def anchors(lesson: Lesson) -> Found:
    """Links into a page lead to a heading, or to a named place, that is there."""
    folder = lesson.path.parent
    folder = folder.parent if folder.name == "solutions" else folder
    for cell in lesson.prose:
        for target, anchor in _LINK.findall(without_fences(cell.source)):
            page = folder / unquote(target)
            if not re.match(r"[a-z]+:", target) and page.exists():
                text = page.read_text(encoding="utf-8")
                known = {_slug(head) for head in _HEADING.findall(text)} | set(_NAMED.findall(text))
                if anchor not in known:
                    yield cell.id, f"there is no #{anchor} in {target}"


def _slug(heading: str) -> str:
    """Make the address of a heading, as GitHub does."""
    plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
    return plain.strip().replace(" ", "-")


RULES: dict[str, Rule] = {
    "opening": opening,
    "closing": closing,
    "predictions": predictions,
    "players": players,
    "sizes": sizes,
    "anchors": anchors,
}
