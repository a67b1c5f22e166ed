"""Build the book of the lessons behind a progress line, and say where it is."""

from __future__ import annotations

import os
import re
from pathlib import Path

from . import installed
from .console import Trouble, run_with_progress, say
from .environment import Environment

TOOLS = Path(__file__).resolve().parents[1] / "_tools"
_STAGE = re.compile(r"(reading|writing)\b.*?\[ *(\d+)%\]")


def build(home: Environment, named: str) -> int:
    """Build the book.

    Args:
        home: What Sphinx is installed in.
        named: The folder for the pages; by default `lessons/book`, or `minigrad-book` in the
            present folder where the lessons came with an installed package.

    Returns:
        0, an exit code.

    Raises:
        Trouble: If it cannot be built.
    """
    clone = not isinstance(home, installed.Installed)
    default = home.root / "lessons" / "book" if clone else "minigrad-book"
    folder = Path(named or default).expanduser().resolve()
    command = [home.python, TOOLS, "book", folder]
    env = home.variables(os.environ) if clone else dict(os.environ)
    env["PYTHONUNBUFFERED"] = "1"  # so that each line is read when it is printed
    code, lines = run_with_progress(command, "Building the book", env, describe)
    if code:
        told = [line for line in lines if line.strip()]
        marked = [line for line in told if re.search("WARNING|ERROR|error|empty", line)]
        raise Trouble(
            "the book cannot be built.",
            "If it says that the folder is in use, name another. Else please report this.",
            (marked or told)[-6:],
        )
    say(f"The book is in {folder}. Open {folder / 'index.html'} in a browser.")
    return 0


def describe(lines: list[str]) -> str:
    """Say how far Sphinx is, from what it has printed.

    Args:
        lines: all so far.
    """
    for line in reversed(lines):
        found = _STAGE.search(line)
        if found:
            return f"{found[1]} pages, {found[2]} %"
    return "gathering the pages"
