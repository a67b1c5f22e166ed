"""Build the lessons as a site, to read or to compute in."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from . import installed
from .console import Trouble, run, say
from .environment import repository

TOLD = {
    "book": "The book is in {folder}. Open {index} in a browser.",
    "lite": "The site is in {folder}. A browser computes in it once it is published, or served "
    'from here:  python3 -m http.server --directory "{folder}"  and then  http://localhost:8000',
}


def build(kind: str, named: str, options: Sequence[str | Path] = ()) -> int:
    """Build a site.

    Args:
        kind: "book" or "lite", as on the command line, in the extras, and among the locks.
        named: The folder for the pages; by default one of that name in `lessons`, or in the
            present folder where the lessons came with an installed package.
        options: More for the tool that builds it.

    Returns:
        0, an exit code.

    Raises:
        Trouble: If it cannot be built.
    """
    installed.require(kind)
    default = repository() / "lessons" / kind if installed.in_a_clone() else f"minigrad-{kind}"
    folder = Path(named or default).expanduser().resolve()
    command = [sys.executable, installed.SHIPPED / "_tools", kind, folder, *options]
    code, lines = run(command, {**os.environ, "PYTHONUNBUFFERED": "1"})
    if code:
        marked = [line for line in lines if re.search("WARNING|ERROR|error|empty", line)]
        raise Trouble(
            f"the {kind} cannot be built.",
            "If it says that the folder is in use, name another. Else please report this.",
            (marked or [line for line in lines if line.strip()])[-6:],
        )
    say(TOLD[kind].format(folder=folder, index=folder / "index.html"))
    return 0
