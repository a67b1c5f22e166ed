"""Put equations on a page: in columns as plain text, or in `aligned` as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.symbolic.telling.blackboard import Written


@dataclass(frozen=True)
class Row:
    """A line of equations, `left = right[0] = right[1] = ...`, and a remark.

    What would say the same twice in a row is said once.
    """

    left: Written
    right: tuple[Written, ...]
    remark: str = ""

    def __post_init__(self) -> None:
        told = [
            piece
            for place, piece in enumerate(self.right)
            if not place or piece.text != self.right[place - 1].text
        ]
        object.__setattr__(self, "right", tuple(told))


@dataclass(frozen=True)
class Section:
    """A heading and the lines under it; `words` are lines that are no equations."""

    heading: str
    rows: tuple[Row, ...]
    words: tuple[str, ...] = ()


def as_text(sections: Sequence[Section]) -> str:
    """Write sections as plain text, the equations of each in columns."""
    pages = []
    for section in sections:
        lines = [section.heading] if section.heading else []
        table = [
            [row.left.text, *(f"= {piece.text}" for piece in row.right)] for row in section.rows
        ]
        lines += _columns(table, [row.remark for row in section.rows])
        pages.append("\n".join([*lines, *(f"  {each}" for each in section.words)]))
    return "\n\n".join(pages)


_MARGIN = 90  # remarks of longer lines are not aligned
_WIDEST = 44  # a cell that is wider does not move the cells of the other lines


def _columns(table: Sequence[Sequence[str]], remarks: Sequence[str]) -> list[str]:
    """Lay cells under each other; the last cell of a line is followed by its remark."""
    count = max(map(len, table), default=0)
    widths = [
        max((len(r[k]) for r in table if k + 1 < len(r) and len(r[k]) <= _WIDEST), default=0)
        for k in range(count)
    ]
    lines = [
        "  " + " ".join([*(f"{c:<{w}}" for c, w in zip(r[:-1], widths, strict=False)), r[-1]])
        for r in table
    ]
    noted = [len(line) for line, remark in zip(lines, remarks, strict=True) if remark]
    margin = max((length for length in noted if length <= _MARGIN), default=0)
    return [
        f"{line:<{margin}}   {remark}" if remark else line
        for line, remark in zip(lines, remarks, strict=True)
    ]


def as_latex(sections: Sequence[Section]) -> str:
    """Write sections as LaTeX, the equations of each in one `aligned`."""
    pages = []
    for section in sections:
        parts = [section.heading] if section.heading else []
        lines = []
        for row in section.rows:
            line = rf"{row.left.latex} &= " + " = ".join(piece.latex for piece in row.right)
            if row.remark:
                line += rf" & \qquad \text{{{_escaped(row.remark)}}}"
            lines.append(line)
        if lines:
            body = " \\\\\n".join(lines)
            parts.append(f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$")
        parts += map(_escaped, section.words)
        pages.append("\n\n".join(parts))
    return "\n\n".join(pages)


def _escaped(words: str) -> str:
    return re.sub(r"([_%#&{}])", r"\\\1", words)


class Paper:
    """Something told in sections: printed it is text, in a notebook it shows itself as LaTeX."""

    _sections: Sequence[Section]

    def __str__(self) -> str:
        return as_text(self._sections)

    __repr__ = __str__

    def latex(self) -> str:
        """Give the page as LaTeX: headings, and equations in `aligned`."""
        return as_latex(self._sections)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/latex": self.latex()}
