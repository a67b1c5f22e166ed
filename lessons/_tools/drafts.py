"""Write a lesson as plain Markdown, and turn it into a solution notebook and back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from _tools.canonical import SLIDES, TAGS, canonical, exercise_of, grading_marks
from _tools.stubs import retitled

_FENCE = re.compile(r"(?P<ticks>`{3,}|~{3,})(?P<rest>.*)")
_CODE = re.compile(r"python(?:\s+(?P<words>.*))?")
_BREAK = re.compile(r"\+\+\+(?:\s+(?P<words>.*))?")
_KEYS = {"code": ("exercise", "check", "points", "slide"), "markdown": ("slide",)}


@dataclass
class _Piece:
    """A cell in the making."""

    kind: str
    words: str
    line: int
    lines: list[str] = field(default_factory=list)


def notebook_from(draft: str) -> NotebookNode:
    r"""Turn a draft into a notebook without outputs.

    Args:
        draft: Markdown. A fence opened by three backticks and `python` is a code cell; words after
            it are tags, `exercise=06.2`, `check=06.2` (with `points=2`) or `slide=skip`. A line
            `+++` starts a new Markdown cell. Other fences stay in their Markdown cell.

    Raises:
        ValueError: where a fence is not closed or a word after it is unknown, with its line.

    Example:
        >>> [cell.cell_type for cell in notebook_from("# Title\n```python\n1 + 1\n```\n").cells]
        ['markdown', 'code']
    """
    notebook = nbformat.v4.new_notebook()
    for piece in _pieces(draft.splitlines()):
        source = "\n".join(piece.lines).strip("\n")
        make = nbformat.v4.new_code_cell if piece.kind == "code" else nbformat.v4.new_markdown_cell
        cell = make(source)
        try:
            if not source.strip() and (piece.kind == "code" or piece.words):
                raise ValueError("this cell is empty")
            cell.metadata = _metadata(piece.kind, piece.words.split())
        except ValueError as error:
            raise ValueError(f"line {piece.line}: {error}") from None
        if source.strip():
            notebook.cells.append(cell)
    return canonical(notebook)


def draft_from(notebook: NotebookNode) -> str:
    """Turn a notebook into a draft, the reverse of `notebook_from`; outputs are left out.

    Args:
        notebook: a solution notebook.

    Raises:
        ValueError: where a Markdown cell holds a line that a draft would read as a new cell.
    """
    parts: list[str] = []
    before = ""
    for number, cell in enumerate(retitled(notebook, "").cells, start=1):
        words = _words(cell.metadata)
        if cell.cell_type == "code":
            longest = max((len(run) for run in re.findall(r"^`{3,}", cell.source, re.M)), default=2)
            ticks = "`" * (longest + 1)
            parts.append(f"{ticks}python {words}".rstrip() + f"\n{cell.source}\n{ticks}")
        else:
            if len(_pieces(cell.source.splitlines())) != 1:
                raise ValueError(
                    f"cell {number}: a line with +++ or a python fence inside Markdown would start "
                    "a new cell; write ```py for code that is only shown"
                )
            if before == "markdown" or words:
                parts.append(f"+++ {words}".rstrip())
            parts.append(cell.source)
        before = cell.cell_type
    return "\n\n".join(parts) + "\n"


def _pieces(lines: list[str]) -> list[_Piece]:
    """Cut a draft into cells."""
    pieces = [_Piece("markdown", "", 1)]
    closing = ""  # what closes the fence we are in; empty outside of fences
    in_code = False
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line)
        if closing and fence and fence["ticks"] == closing and not fence["rest"].strip():
            closing = ""
            if in_code:
                pieces.append(_Piece("markdown", "", number + 1))
                in_code = False
                continue
        elif not closing:
            code = _CODE.fullmatch(fence["rest"].strip()) if fence else None
            mark = code or _BREAK.fullmatch(line.rstrip())
            closing = fence["ticks"] if fence else ""
            if mark:
                in_code = code is not None
                pieces.append(_Piece(_KIND[in_code], mark["words"] or "", number))
                continue
        pieces[-1].lines.append(line)
    if closing:
        raise ValueError(f"line {pieces[-1].line}: a fence is not closed by {closing}")
    return pieces


_KIND = {True: "code", False: "markdown"}


def _metadata(kind: str, words: list[str]) -> NotebookNode:
    """Read the words after a fence or a break."""
    metadata = NotebookNode()
    values = dict(word.split("=", 1) for word in words if "=" in word)
    tags = [word for word in words if "=" not in word]
    for what, known, given in (("tag", TAGS, tags), ("key", _KEYS[kind], values)):
        if unknown := [each for each in given if each not in known]:
            raise ValueError(f"unknown {what} {unknown[0]!r}; known: {', '.join(known)}")
    if values.get("slide", "skip") not in SLIDES:
        raise ValueError(f"slide= is one of {', '.join(SLIDES)}")
    if tags:
        metadata.tags = tags
    if "slide" in values:
        metadata.slideshow = NotebookNode(slide_type=values["slide"])
    if "exercise" in values:
        metadata.nbgrader = grading_marks(values["exercise"], grade=False)
    if "check" in values:
        points = int(values.get("points", 1))
        metadata.nbgrader = grading_marks(values["check"], grade=True, points=points)
    return metadata


def _words(metadata: NotebookNode) -> str:
    """Write metadata as the words after a fence or a break."""
    words = list(metadata.get("tags", []))
    if marks := metadata.get("nbgrader"):
        words.append(f"{'check' if marks.grade else 'exercise'}={exercise_of(marks.grade_id)}")
        if marks.get("points", 1) != 1:
            words.append(f"points={marks.points}")
    if "slideshow" in metadata:
        words.append(f"slide={metadata.slideshow.slide_type}")
    return " ".join(words)
