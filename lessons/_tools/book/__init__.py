"""Make a book of the lessons: stage its sources in a folder of their own, and let Sphinx build."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _tools import sites
from _tools.book import accessibility, licenses, packages, staging

HERE = Path(__file__).parent
MATHJAX = (
    "startup.js core.js input/tex.js input/tex output/chtml.js output/chtml a11y/assistive-mml.js"
)


def sources(folder: Path, only: tuple[str, ...] = ()) -> None:
    """Write all that Sphinx reads.

    Args:
        folder: where to; it is empty or new.
        only: numbers of the lessons to take; all by default.
    """
    staging.stage(folder, only)
    packages.stage(folder / "package", packages.FEW if only else packages.ROOMS)
    (folder / "licenses.md").write_text(licenses.page(), encoding="utf-8", newline="\n")
    for name in ("conf.py", "docstrings.py"):
        shutil.copy(HERE / name, folder)
    (folder / "_static").mkdir()
    for name in ("book.css", "book.js"):
        shutil.copy(HERE / name, folder / "_static")
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    for place in (found and found.submodule_search_locations) or ():
        for part in MATHJAX.split():
            path, target = Path(place) / "static/mathjax" / part, folder / "_static/mathjax" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if path.is_dir() else shutil.copy)(path, target)


def main(folder: Path, only: tuple[str, ...] = ()) -> int:
    """Build the book anew. What Sphinx says goes to the streams; a warning is an error.

    Args:
        folder: where to; a book that is there gives way when the new one is complete.
        only: numbers of the lessons to take; all by default.

    Returns:
        An exit code.
    """
    if sites.in_use(folder, "objects.inv", "book"):
        return 2
    with tempfile.TemporaryDirectory() as place:  # Sphinx leaves folders beside the book, too
        staged, built = Path(place) / "sources", Path(place) / "book"
        staged.mkdir()
        sources(staged, only)
        options = ["-W", "--keep-going", "-b", "html", "-d", str(Path(place) / "read")]
        command = [sys.executable, "-m", "sphinx", *options, str(staged), str(built)]
        code = subprocess.call(command)
        if code == 0:
            accessibility.mend(built)
            # megabytes for who changes the theme, and a list that nothing leads to
            for path in (*built.rglob("*.map"), built / "_modules/index.html"):
                path.unlink(missing_ok=True)
            sites.replace(folder, built)
    return code
