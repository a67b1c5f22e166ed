"""Stage what learners find in the browser: their notebooks, and the pages that these lead to."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from _start import copies, notebooks
from _tools import places

KERNEL = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
PAGES = ("LICENSE", "data/README.md", "reference")
_CODE_OR_LINK = re.compile(
    r"^(`{3,}).*?^\1|(`+)[^`].*?\2|(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)", re.M | re.S
)


def stage(folder: Path, only: Iterable[str] = ()) -> None:
    """Write the files. No notebook has been run, and no solution is among them.

    Args:
        folder: where to.
        only: numbers of the lessons to take; all by default.
    """
    folder.mkdir(parents=True)
    for name in PAGES:
        source, target = places.LESSONS / name, folder / name
        target.parent.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    lessons = [places.learner_of(path) for path in places.chosen(tuple(only))]
    for path in lessons:
        shutil.copy(path, folder)
    for path in lessons:
        made = copies.delivered(notebooks.read(path), moved=False)
        made["metadata"]["kernelspec"] = KERNEL
        for cell in made["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = linked(cell["source"], folder, folder)
        (folder / path.name).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for page in folder.rglob("*.md"):
        text = linked(page.read_text(encoding="utf-8"), page.parent, folder)
        page.write_text(text, encoding="utf-8", newline="\n")


def linked(text: str, place: Path, folder: Path) -> str:
    """Keep the links of a page that lead to what is there; others are no links any more.

    Args:
        text: Markdown; what it shows as code stays as it is.
        place: the folder in which the page is staged.
        folder: that of all.
    """

    def lead(match: re.Match[str]) -> str:
        parts = urlsplit(match["target"] or "")
        there = (place / parts.path).resolve()
        is_in = there.is_relative_to(folder.resolve()) and there.exists()
        return match[0] if parts.scheme or not parts.path or is_in else match["words"]

    return _CODE_OR_LINK.sub(lead, text)
