"""Read a lesson's notebook the way the rules of the lint look at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from _tools.folding import unwrapped
from _tools.stubs import without_marks

_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.M | re.S)
_DISPLAYED = re.compile(r"\$\$.*?\$\$", re.S)
_INLINE = re.compile(r"(?<![\\$])\$[^$\n]+\$")
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"<[^>]+>")
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True)
class Slip:
    """Something that a rule objects to.

    Args:
        rule: the rule's name.
        cell: the id of the cell, or "" for the whole notebook.
        says: what is wrong, and what to do.
    """

    rule: str
    cell: str
    says: str

    def __str__(self) -> str:
        """Write the slip on one line."""
        return f"[{self.rule}] {self.cell + ': ' if self.cell else ''}{self.says}"


@dataclass(frozen=True)
class Lesson:
    """A notebook on disk.

    Args:
        path: where it is.
        notebook: what was read from there.
        text: the file as it is.
    """

    path: Path
    notebook: NotebookNode
    text: str

    @property
    def number(self) -> str:
        """The number of the lesson, such as "06"."""
        return self.path.stem.partition("_")[0]

    @property
    def code(self) -> list[NotebookNode]:
        """The code cells."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def prose(self) -> list[NotebookNode]:
        """The Markdown cells."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "markdown"]


Rule = Callable[[Lesson], Iterator[tuple[str, str]]]


def without_fences(source: str) -> str:
    """Take the fenced blocks out of a Markdown source.

    Args:
        source: of a Markdown cell.
    """
    return _FENCED.sub("", source)


def sentences(source: str) -> str:
    """Take code, formulas, HTML and link targets out of a Markdown source, so that words remain.

    A piece of inline code or a formula becomes one word, because it is read as one. What is
    folded in a learner's notebook reads as it does in the solution.

    Args:
        source: of a Markdown cell.
    """
    text = without_fences(unwrapped(source))
    for pattern, by in (
        (_DISPLAYED, " formula "),
        (_CODE, " code "),
        (_INLINE, " formula "),
        (_LINK, r" \1 "),
        (_TAG, " "),
        (_ADDRESS, " "),
    ):
        text = pattern.sub(by, text)
    return text


def lines_of(cell: NotebookNode) -> int:
    """Count the lines of a code cell, without blank ones, markers and stubs.

    Args:
        cell: a code cell.
    """
    return sum(1 for line in without_marks(cell.source).split("\n") if line.strip())
