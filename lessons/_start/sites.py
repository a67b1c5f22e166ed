"""Build the lessons as a site, to read or to compute in, behind a progress line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import installed
from .console import Trouble, run_with_progress, say
from .environment import Environment

TOOLS = Path(__file__).resolve().parents[1] / "_tools"
_STAGE = re.compile(r"(reading|writing)\b.*?\[ *(\d+)%\]")


@dataclass(frozen=True)
class Site:
    """A kind of site.

    Args:
        kind: What it is called on the command line, in the extras, and among the locks.
        title: What the reader waits for.
        describe: Makes of the lines printed so far a few words about where the work stands.
        told: What to say when it is there, with places for its folder and its first page.
    """

    kind: str
    title: str
    describe: Callable[[list[str]], str]
    told: str


def build(site: Site, home: Environment, named: str, options: Sequence[str | Path] = ()) -> int:
    """Build a site.

    Args:
        site: Which.
        home: What the packages are installed in that build it.
        named: The folder for the pages; by default one of that name in `lessons`, or in the
            present folder where the lessons came with an installed package.
        options: More for the tool that builds it.

    Returns:
        0, an exit code.

    Raises:
        Trouble: If it cannot be built.
    """
    clone = not isinstance(home, installed.Installed)
    default = home.root / "lessons" / site.kind if clone else f"minigrad-{site.kind}"
    folder = Path(named or default).expanduser().resolve()
    command = [home.python, TOOLS, site.kind, folder, *options]
    env = home.variables(os.environ) if clone else dict(os.environ)
    env["PYTHONUNBUFFERED"] = "1"  # so that each line is read when it is printed
    code, lines = run_with_progress(command, site.title, env, site.describe)
    if code:
        told = [line for line in lines if line.strip()]
        marked = [line for line in told if re.search("WARNING|ERROR|error|empty", line)]
        raise Trouble(
            f"{site.title.replace('Building ', '')} cannot be built.",
            "If it says that the folder is in use, name another. Else please report this.",
            (marked or told)[-6:],
        )
    for line in lines:
        if line.startswith("Mind: "):
            say(line)
    say(site.told.format(folder=folder, index=folder / "index.html"))
    return 0


def pages(lines: list[str]) -> str:
    """Say how far Sphinx is, from what it has printed.

    Args:
        lines: all so far.
    """
    for line in reversed(lines):
        found = _STAGE.search(line)
        if found:
            return f"{found[1]} pages, {found[2]} %"
    return "gathering the pages"


def tasks(lines: list[str]) -> str:
    """Say how far JupyterLite is, from what it has printed.

    Args:
        lines: all so far.
    """
    done = sum(line.startswith(".  ") for line in lines)
    if lines and lines[-1] == "copying Pyodide":
        return lines[-1]
    return f"{done} parts" if done else "packing minigrad"


BOOK = Site(
    "book", "Building the book", pages, "The book is in {folder}. Open {index} in a browser."
)
LITE = Site(
    "lite",
    "Building the site",
    tasks,
    "The site is in {folder}. A browser computes in it once it is published, or served from here:  "
    'python3 -m http.server --directory "{folder}"  and then  http://localhost:8000',
)
