"""Make a book of the lessons: stage its sources in a folder of their own, and let Sphinx build."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

from _tools import sites
from _tools.book import accessibility, licenses, staging

HERE = Path(__file__).parent
# Parts of MathJax: without its menu, which would offer what the network has.
MATHJAX = (
    "startup.js core.js input/tex.js input/tex output/chtml.js output/chtml a11y/assistive-mml.js"
)
# The modules of the package in a book of some lessons, such as a draft, or the one in the tests.
FEW = ("minigrad.nn.init", "minigrad.optim", "minigrad.classroom", "minigrad.symbolic")


def sources(folder: Path, only: tuple[str, ...] = ()) -> None:
    """Write all that Sphinx reads.

    Args:
        folder: where to; it is empty or new.
        only: numbers of the lessons to take; all by default.
    """
    staging.stage(folder, only)
    listed = (HERE / "package.md").read_text(encoding="utf-8").splitlines(True)
    package = [each for each in listed if not only or each.strip() in FEW or each[:4] != "   m"]
    (folder / "package").mkdir()
    (folder / "package" / "index.md").write_text("".join(package), encoding="utf-8")
    (folder / "licenses.md").write_text(licenses.page(), encoding="utf-8", newline="\n")
    mathjax = distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline")
    for part in MATHJAX.split():
        path = Path(str(mathjax)) / "static/mathjax" / part
        target = folder / "extra/_static/mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if path.is_dir() else shutil.copy)(path, target)


def main(folder: Path, lessons: tuple[str, ...] = ()) -> int:
    """Build the book from scratch. A warning of Sphinx is an error.

    Args:
        folder: where to; a book that is there gives way when the new one is complete.
        lessons: numbers of the lessons to take; all by default.

    Returns:
        An exit code.
    """

    def make(staged: Path, built: Path) -> int:
        sources(staged, lessons)
        options = ["-W", "--keep-going", "-b", "html", "-d", str(staged.with_name("read"))]
        options += ["-c", str(HERE), "-D", f"html_extra_path={staged / 'extra'}"]
        command = [sys.executable, "-m", "sphinx", *options, str(staged), str(built)]
        code = subprocess.call(command)
        if code == 0:
            accessibility.mend(built)
            # megabytes for who changes the theme, and a list that nothing leads to
            for path in (*built.rglob("*.map"), built / "_modules/index.html"):
                path.unlink(missing_ok=True)
        return code

    return sites.build(folder, "objects.inv", "book", make)
