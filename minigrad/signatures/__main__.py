"""Write `index.txt`: what waits in which file until it is first asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from minigrad.signatures.lazy_loading import INDEX
from minigrad.signatures.variants import said_in

# Where functions and methods stand.
PACKAGE = Path(__file__).parents[1]
ROOMS = ("creation", "ops")


def index() -> str:
    """Give a line for each file that importing minigrad does not load, and each kind of form."""
    paths = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("[a-z]*.py"))]
    files = [f"{path.parent.name}.{path.stem}" for path in paths] + ["extra.composed"]
    late = [file for file in files if f"minigrad.{file}" not in sys.modules]
    for file in late:
        import_module(f"minigrad.{file}")
    lines = []
    for file in late:
        said = zip(("functions", "methods"), said_in.get(f"minigrad.{file}", ()), strict=False)
        lines += [" ".join([file, kind, *sorted(set(names))]) for kind, names in said if names]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(INDEX).write_text(index(), encoding="utf-8")
