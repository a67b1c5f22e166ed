"""Write `index.txt`, what waits in which file; or `stubs`, what editors read."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from minigrad.faces.face import said_in
from minigrad.faces.lazy_loading import INDEX, load_all
from minigrad.faces.stubs import STUBS, stubs

# Where functions and methods stand.
PACKAGE = Path(__file__).parents[1]
ROOMS = ("creation", "ops")


def index() -> str:
    """Give a line for each file that importing minigrad does not load, and each kind of form."""
    files = [
        f"{room}.{path.stem}"
        for room in ROOMS
        for path in sorted((PACKAGE / room).glob("[a-z]*.py"))
    ]
    late = [file for file in files if f"minigrad.{file}" not in sys.modules]
    for file in late:
        import_module(f"minigrad.{file}")
    lines = [
        " ".join([file, kind, *sorted(set(names))])
        for file in late
        for kind, names in zip(
            ("functions", "methods"), said_in.get(f"minigrad.{file}", ()), strict=False
        )
        if names
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["stubs"]:
        load_all()
        STUBS.write_text(stubs(), encoding="utf-8")
    else:
        INDEX.write_text(index(), encoding="utf-8")
