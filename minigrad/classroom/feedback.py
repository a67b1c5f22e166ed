"""Show what a check or a comparison came to: with a sign, a color, and in words."""

from __future__ import annotations

import html
import sys
import textwrap
from collections.abc import Iterable
from typing import Any, Literal

Status = Literal["right", "wrong", "unsolved"]

_WIDTH = 88
_SIGNS: dict[Status, str] = {"right": "✓", "wrong": "✗", "unsolved": "○"}
# Teal, vermilion and grey: told apart in every kind of color vision, and on light and dark ground.
_COLORS: dict[Status, str] = {"right": "#009e73", "wrong": "#d55e00", "unsolved": "#808080"}
_GROUNDS: dict[Status, str] = {
    "right": "rgba(0, 158, 115, 0.12)",
    "wrong": "rgba(213, 94, 0, 0.12)",
    "unsolved": "rgba(128, 128, 128, 0.08)",
}


def laid_out(head: str, lines: Iterable[str]) -> str:
    """Set lines under a head, indented and broken at a width that fits a notebook.

    Args:
        head: the first line.
        lines: paragraphs.

    Example:
        >>> print(laid_out("06.2: not yet.", ["Look again."]))
        06.2: not yet.
          Look again.
    """
    body = [
        textwrap.fill(
            line, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        for line in lines
    ]
    return "\n".join([head, *body])


def as_html(status: Status, head: str, lines: Iterable[str]) -> str:
    """Write a message as a box with a colored edge; its text takes the colors of the page.

    Args:
        status: "right", "wrong" or "unsolved".
        head: the first line.
        lines: paragraphs.

    Example:
        >>> "✓" in as_html("right", "06.2: right.", ["Both of them."])
        True
    """
    color = _COLORS[status]
    box = (
        f"border-left: 5px solid {color}; background: {_GROUNDS[status]}; "
        "padding: 0.4em 0.9em; margin: 0.2em 0; max-width: 56em; line-height: 1.45"
    )
    sign = (
        f'<span aria-hidden="true" style="color: {color}; font-size: 120%">{_SIGNS[status]}</span>'
    )
    said = "".join(f"<div>{html.escape(line, quote=False)}</div>" for line in lines)
    return (
        # Of a folded output JupyterLab shows the first line, and this one tells nothing.
        f'<div class="minigrad-feedback">\n<div role="status" style="{box}">'
        f"<div>{sign} <strong>{html.escape(head, quote=False)}</strong></div>{said}</div></div>"
    )


def tell(status: Status, head: str, lines: Iterable[str] = ()) -> None:
    """Show a message: as a colored box in a notebook, else as text.

    Args:
        status: "right", "wrong" or "unsolved".
        head: the first line.
        lines: paragraphs.

    Example:
        >>> tell("right", "06.2: right.", ["Both of them."])
        ✓ 06.2: right.
          Both of them.
    """
    said = list(lines)
    text = laid_out(f"{_SIGNS[status]} {head}", said)
    shell = _notebook()
    if shell is None:
        print(_for_this_stream(text))
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": as_html(status, head, said)}, raw=True)


def _notebook() -> Any:
    """Give the shell of the notebook that runs this process, if one does."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if shell is not None and hasattr(shell, "kernel") else None


def _for_this_stream(text: str) -> str:
    """Leave out what the output stream cannot write, as on an old Windows console."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
