"""Move numbers and hooks on a page, and see every gradient answer: `hook_bench`."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

SOURCES = Path(__file__).with_name("bench_page")
_LINKED = r'<(?:link rel="stylesheet" href|script src)="([^"]+)">(?:</script>)?'


class hook_bench:
    """Show the hook bench: small graphs on which you place hooks and watch the gradients.

    It is one page without Python, server or network. A notebook shows it in a frame.

    Args:
        scene: What it shows first, as the part of a link after `#`: a graph, its numbers and its
            hooks, or `puzzle=` and a number from 1 to 12. By default a question to predict.

    Example:
        >>> bench = hook_bench("sum;;legacy:net:scale:2")
        >>> bench
        <hook bench: a notebook shows it; save('bench.html') writes it as a page>
        >>> bench.html().count("<script>")
        5
    """

    def __init__(self, scene: str = "") -> None:
        self._scene = scene

    def html(self) -> str:
        """Give the page as text: its sources, put together."""

        def inline(found: re.Match[str]) -> str:
            tag = "style" if found[1].endswith("css") else "script"
            return f"<{tag}>\n{(SOURCES / found[1]).read_text('utf-8')}</{tag}>"

        page = re.sub(_LINKED, inline, (SOURCES / "index.html").read_text("utf-8"))
        return page.replace("<html", f'<html data-scene="{escape(self._scene)}"', 1)

    def save(self, path: str | Path) -> None:
        """Write the page into a file, which a browser opens from the disk."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        # An untrusted notebook takes the frame out; then the words that it covers are seen.
        frame = f'<iframe title="Hook bench" srcdoc="{escape(self.html())}" style="grid-area:1/1'
        words = '<p style="grid-area:1/1">Trust this notebook to see the hook bench.</p>'
        style = "width:100%;height:900px;border:0"
        return f'<div style="display:grid">{words}{frame};{style}"></iframe></div>'

    def __repr__(self) -> str:
        return "<hook bench: a notebook shows it; save('bench.html') writes it as a page>"
