"""Build the lessons as a site, to read or to compute in."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import installed
from .console import Trouble, run, say
from .environment import repository

TOOLS = installed.SHIPPED / "_tools"


@dataclass(frozen=True)
class Site:
    """A kind of site.

    Args:
        kind: What it is called on the command line, in the extras, and among the locks.
        told: What to say when it is there, with places for its folder and its first page.
    """

    kind: str
    told: str


BOOK = Site("book", "The book is in {folder}. Open {index} in a browser.")
LITE = Site(
    "lite",
    "The site is in {folder}. A browser computes in it once it is published, or served from here:  "
    'python3 -m http.server --directory "{folder}"  and then  http://localhost:8000',
)


def build(site: Site, named: str, options: Sequence[str | Path] = ()) -> int:
    """Build a site.

    Args:
        site: Which.
        named: The folder for the pages; by default one of that name in `lessons`, or in the
            present folder where the lessons came with an installed package.
        options: More for the tool that builds it.

    Returns:
        0, an exit code.

    Raises:
        Trouble: If it cannot be built.
    """
    installed.require(site.kind)
    clone = (installed.SHIPPED.parent / "pyproject.toml").is_file()
    default = repository() / "lessons" / site.kind if clone else f"minigrad-{site.kind}"
    folder = Path(named or default).expanduser().resolve()
    command = [sys.executable, TOOLS, site.kind, folder, *options]
    code, lines = run(command, {**os.environ, "PYTHONUNBUFFERED": "1"})
    if code:
        marked = [line for line in lines if re.search("WARNING|ERROR|error|empty", line)]
        raise Trouble(
            f"the {site.kind} cannot be built.",
            "If it says that the folder is in use, name another. Else please report this.",
            (marked or [line for line in lines if line.strip()])[-6:],
        )
    say(site.told.format(folder=folder, index=folder / "index.html"))
    return 0
