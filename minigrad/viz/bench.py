"""Move numbers and hooks on a page, and see every gradient answer: `hook_bench`."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

SOURCES = Path(__file__).with_name("bench_page")
_LINKED = r'<link rel="stylesheet" href="([^"]+)">|<script src="([^"]+)"></script>'


class HookBench:
    """The hook bench with one scene, as a notebook shows it; `hook_bench` makes one."""

    def __init__(self, scene: str = "") -> None:
        self._scene = scene

    def html(self) -> str:
        """Give the page: one file that needs no server, no network and no Python."""

        def inline(found: re.Match[str]) -> str:
            tag, name = ("style", found[1]) if found[1] else ("script", found[2])
            return f"<{tag}>\n{(SOURCES / name).read_text(encoding='utf-8')}</{tag}>"

        page = (SOURCES / "index.html").read_text(encoding="utf-8")
        page = page.replace("<html", f'<html data-scene="{escape(self._scene)}"', 1)
        return re.sub(_LINKED, inline, page)

    def save(self, path: str | Path) -> None:
        """Write the page into a file, which a browser opens from the disk."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        note = "Trust this notebook, and the hook bench is here."
        frame = f'title="Hook bench" srcdoc="{escape(self.html())}" style="grid-area:1/1;width:100%'
        return (
            f'<div style="display:grid"><p style="grid-area:1/1">{note}</p>'
            f'<iframe {frame};height:900px;border:0"></iframe></div>'
        )

    def __repr__(self) -> str:
        return "<hook bench: needs a browser; save('bench.html') writes the page>"


def hook_bench(scene: str = "") -> HookBench:
    """Show the hook bench: small graphs on which you place hooks and watch the gradients.

    Args:
        scene: What it shows first, as the part of a link after `#`: a graph, its numbers and its
            hooks, or `puzzle=` and a number from 1 to 12. By default a question to predict.

    Returns:
        What a notebook shows as the page; its `save(path)` writes the page into a file.

    Example:
        >>> bench = hook_bench("sum;;legacy:net:scale:2")
        >>> bench
        <hook bench: needs a browser; save('bench.html') writes the page>
        >>> bench.html().count("<script>")
        5
    """
    return HookBench(scene)
